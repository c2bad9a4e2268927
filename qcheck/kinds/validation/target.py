"""The release and feature gates for which an object is validated, and helpers that create failures."""

from __future__ import annotations

from qcheck.cluster.kueue_gates import is_on
from qcheck.cluster.place import Place
from qcheck.cluster.policy import KaiPolicy, VolcanoPolicy
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.kinds.schema.catalogue import KAI, VOLCANO
from qcheck.kinds.schema.failure import Failure, show

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from qcheck.documents.cursor import Cursor

    Route = tuple[str | int, ...]
    FieldCheck = Callable[[Cursor], Iterator[Failure]]
    """A function that yields the failures of one field's value."""


NEWEST: dict[str, tuple[int, int]] = {
    **dict.fromkeys(KAI, KaiPolicy().release),
    **dict.fromkeys(VOLCANO, VolcanoPolicy().release),
}
"""The newest described releases of other schedulers, by API group."""


class ServedVersions(Value):
    """The versions of Kueue's kinds that an installed release, or definitions in the files, provide.

    `release` is the installed release; `by_kind` holds the versions in the definitions.
    """

    place: Place
    release: tuple[int, int] | None = None
    by_kind: dict[str, tuple[str, ...]] = {}


class Target(Value):
    """`gates` are the feature gates that the manager's Configuration sets; others have the release's default.

    `release` is Kueue's; `others` are the releases of other schedulers, by API group. `installed` is what the files
    install, which may be older than `release`.
    """

    release: tuple[int, int]
    gates: dict[str, bool] = {}
    others: dict[str, tuple[int, int]] = NEWEST
    installed: tuple[ServedVersions, ...] = ()

    def release_of(self, group: str) -> tuple[int, int]:
        """Return the release for which the objects of an API group are validated."""
        return self.others.get(group, self.release)

    def at_least(self, minor: int) -> bool:
        return self.release >= (0, minor)

    def has_gate(self, name: str) -> bool:
        return self.gates.get(name, is_on(name, self.release))


def refuse(
    at: Cursor, check: str, text: str, fix: str = "", on_key: bool = False, related: tuple[Route, ...] = ()
) -> Failure:
    """Return a failure at a cursor. `related` are routes of the values that it conflicts with."""
    failure = Failure(check, text, reversed(at.route), fix=fix, on_key=on_key)
    failure.related = related
    return failure


def one_of(at: Cursor, check: str, values: tuple[str, ...], allow_empty: bool = True) -> Iterator[Failure]:
    """Refuse a text that is not one of `values`. An empty one means the default, unless `allow_empty` is False."""
    text = at.text()
    if text is not None and text not in values and not (allow_empty and text == ""):
        shown = ", ".join(show(v) for v in values)
        yield refuse(at, check, f"Unsupported value: {show(text)}: supported values: {shown}")


def by_field(at: Cursor, checks: Mapping[str, FieldCheck]) -> Iterator[Failure]:
    """Check the fields of an object that are written and have a check: most objects omit most of them."""
    for name, value in at.data.items() if isinstance(at.data, dict) else ():
        if value is not None and (check := checks.get(name)) is not None:
            yield from check(at[name])


def in_range(at: Cursor, check: str, low: int, high: int | None = None) -> Iterator[Failure]:
    """Refuse a number that is too small or too large."""
    number = at.integer()
    if number is None or (low <= number and (high is None or number <= high)):
        return
    bounds = f"greater than or equal to {low}" if high is None else f"between {low} and {high}, inclusive"
    yield refuse(at, check, f"Invalid value: {number}: must be {bounds}")


def named(at: Cursor, check: str, fault_of: Callable[[str], str | None]) -> Iterator[Failure]:
    """Refuse a name, unless it is empty, in which `fault_of` finds a fault."""
    name = at.text()
    if name and (fault := fault_of(name)):
        yield refuse(at, check, f"Invalid value: {show(name)}: {fault}")
