"""Views of a cluster: answers that the module that needs them computes once.

A cluster is a plain value and knows none of its views. Each answer lives as long as its cluster.
"""

from __future__ import annotations

from functools import wraps

from qcheck.cluster.value import TYPE_CHECKING, Value

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable
    from typing import Any, TypeVar, TypeVarTuple

    from qcheck.cluster.cluster import Cluster

    T = TypeVar("T")
    Arguments = TypeVarTuple("Arguments")


class ByIdentity:
    """A key that compares an object by identity and keeps it alive."""

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ByIdentity) and self.value is other.value


def cache_of(cluster: Cluster, by: object) -> dict[Hashable, Any]:
    """Return the cache of the function `by` for a cluster, for functions that cache only some of their answers."""
    if by not in cluster.views:
        cluster.views[by] = {}
    found: dict[Hashable, Any] = cluster.views[by]
    return found


def view(make: Callable[[Cluster], T]) -> Callable[[Cluster], T]:
    """Decorate a function of a cluster so that it is computed once per cluster."""

    @wraps(make)
    def ask(cluster: Cluster) -> T:
        views = cluster.views
        if make not in views:
            views[make] = make(cluster)
        found: T = views[make]
        return found

    return ask


def answered_once(
    make: Callable[[Cluster, *Arguments], T],
) -> Callable[[Cluster, *Arguments], T]:
    """Decorate a function of a cluster and other arguments so that equal arguments are computed once.

    All arguments are positional, because they form the key. Values among them are compared by identity, which is cheap
    even for those with many fields.
    """

    @wraps(make)
    def ask(cluster: Cluster, /, *args: *Arguments) -> T:
        answers = cache_of(cluster, make)
        key = tuple([id(a) if isinstance(a, Value) else a for a in args])
        if key not in answers:
            answers[key] = args, make(cluster, *args)  # the id of an object that is kept alive stays unique
        found: T = answers[key][1]
        return found

    return ask
