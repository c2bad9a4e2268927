"""Settings that match nothing: names of files, queues, node pools, flavors and rules are compared with the inputs.

A misspelled pattern has no effect, so each is a problem of the settings file (QC014). If unread inputs may contain what
a pattern names, the problem is not certain.
"""

from __future__ import annotations

import os

from qcheck.cluster.did_you_mean import nearest
from qcheck.cluster.policy import matches_any
from qcheck.cluster.problems import NODES, Problem, ProblemCode
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.findings.catalogue import choose, load_catalogue
from qcheck.schedulers.table import trees_of
from qcheck.settings import below
from qcheck.settings.read import place_of
from qcheck.supply.supply import supply_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import TypeVar

    T = TypeVar("T")
    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.place import Place, Route
    from qcheck.settings import ClusterScope, RuleChoice, Settings


class NamedSetting(Value):
    """A key of the settings whose patterns name things of a kind; `names` returns the names in a cluster."""

    key: Route
    patterns: tuple[str, ...]
    what: str
    kind: str
    names: Callable[[Cluster], Iterable[str]]


def unmatched(settings: Settings, clusters: Sequence[Cluster], files: Iterable[str]) -> dict[str, list[Problem]]:
    """Return problems by cluster; those of common keys belong to the first cluster."""
    if settings.path is None:
        return {}
    paths = tuple(files)
    belows = {root: [below(path, root) for path in paths] for root in {s.root for s in settings.scopes}}
    found: dict[str, list[Problem]] = {c.name: [] for c in clusters}
    for scope, cluster in zip(settings.scopes, clusters, strict=True):
        at: Route = ("clusters", scope.name)
        found[cluster.name] += _files(settings.path, scope, at, belows[scope.root])
        found[cluster.name] += _names(settings, at, scope, [cluster])
        found[cluster.name] += _rules(settings.path, (*at, "rules"), scope.rules)
    if clusters and not settings.narrowed:
        found[clusters[0].name] += _names(settings, (), None, clusters)
        found[clusters[0].name] += _prices(settings, clusters)
        found[clusters[0].name] += _rules(settings.path, ("rules",), settings.rules)
        found[clusters[0].name] += _volcano(settings, clusters)
    return found


def covers(paths: Sequence[str], root: str) -> bool:
    """Return whether some paths contain everything below the folder of the settings, so that absence is certain."""
    top = os.path.realpath(root)
    return any(os.path.commonpath([top, real]) == real for p in paths if os.path.isdir(real := os.path.realpath(p)))


def _files(path: str, scope: ClusterScope, at: Route, files: list[str]) -> Iterator[Problem]:
    if scope.include == ("**",):
        return
    for index, pattern in enumerate(scope.include):
        if not any(scope.includes(pattern, file) for file in files):
            message = f"cluster {scope.name} includes {pattern}, which matches no file"
            yield _problem(path, (*at, "include", index), message, "Correct the pattern, or remove it.")


def _names(settings: Settings, at: Route, scope: ClusterScope | None, clusters: Sequence[Cluster]) -> Iterator[Problem]:
    """Yield problems of patterns in one cluster's part of the settings, or in the common part."""
    for each in _named(settings, scope):
        for index, pattern in enumerate(each.patterns):
            names = {name for c in clusters for name in each.names(c)}
            if not any(matches_any(name, (pattern,)) for name in names):
                sure = all(c.has_all(each.kind) for c in clusters)
                message = f"{_dotted(each.key)} names {pattern}, but there is no {each.what} of that name"
                yield _problem(_path(settings), (*at, *each.key, index), message, _known(each.what, names), sure)
    yield from _shares(settings, at, scope, clusters)


def _shares(
    settings: Settings, at: Route, scope: ClusterScope | None, clusters: Sequence[Cluster]
) -> Iterator[Problem]:
    """Yield problems of weights for queues that no scheduler has."""
    common = settings.policy.shares
    mine = common if scope is None else {q: n for q, n in scope.policy.shares.items() if common.get(q) != n}
    queues = {name for c in clusters for tree in trees_of(c) for name in tree.queue}
    for queue in mine.keys() - queues:
        message = f"shares names {queue}, but there is no queue of that name"
        yield _problem(_path(settings), (*at, "shares", queue), message, _known("queue", queues))


def _named(settings: Settings, scope: ClusterScope | None) -> Iterator[NamedSetting]:
    """Yield the patterns of the common settings, or those that a cluster adds to them."""
    base, mine = settings.policy, settings.policy if scope is None else scope.policy
    for key, common, all_queues in (
        ("reserved", base.reserved_queues, mine.reserved_queues),
        ("shared", base.shared_queues, mine.shared_queues),
    ):
        yield NamedSetting(
            key=("queues", key),
            patterns=_added(all_queues, common, scope),
            what="ClusterQueue",
            kind="ClusterQueue",
            names=_queue_names,
        )
    for at, reserve in enumerate(_added(mine.reserves, base.reserves, scope)):
        if reserve.pools != ("*",):
            yield NamedSetting(
                key=("capacity", "reserves", at, "pools"),
                patterns=reserve.pools,
                what="node pool",
                kind=NODES,
                names=_pool_names,
            )
    for at, shape in enumerate(_added(mine.shapes, base.shapes, scope)):
        yield NamedSetting(
            key=("shapes", at, "flavors"),
            patterns=shape.flavors,
            what="ResourceFlavor",
            kind="ResourceFlavor",
            names=_flavor_names,
        )


def _prices(settings: Settings, clusters: Sequence[Cluster]) -> Iterator[Problem]:
    """Yield problems of prices for machine types that no node has."""
    types = {t for c in clusters for g in supply_of(c).groups for n in g.classes if (t := n.machine_type)}
    sure = all(c.has_all(NODES) for c in clusters)
    for name in settings.policy.prices:
        if name not in types:
            message = f"prices names {name}, but no node pool has that machine type"
            yield _problem(_path(settings), ("prices", name), message, _known("machine type", types), sure)


def _added(every: tuple[T, ...], common: tuple[T, ...], scope: ClusterScope | None) -> tuple[T, ...]:
    """Return what a cluster adds to a common list, which comes first; without a cluster, the common list itself."""
    return every[len(common) :] if scope is not None else common


def _queue_names(cluster: Cluster) -> Iterable[str]:
    return (q.name for q in cluster.queues)


def _pool_names(cluster: Cluster) -> Iterable[str]:
    return (g.name for g in supply_of(cluster).groups)


def _flavor_names(cluster: Cluster) -> Iterable[str]:
    return (f.name for f in cluster.flavors)


def _rules(path: str, at: Route, choice: RuleChoice) -> Iterator[Problem]:
    named: list[tuple[Route, str]] = [
        *(((*at, "select", i), word) for i, word in enumerate(choice.select)),
        *(((*at, "ignore", i), word) for i, word in enumerate(choice.ignore)),
        *(((*at, "severity", word), word) for word in choice.severity),
        *(((*at, "params", word), word) for word in choice.params),
    ]
    if not named:
        return
    catalogue = load_catalogue()
    known = [name for r in catalogue.values() for name in (r.id, r.name)]
    for route, word in named:
        if choose(catalogue.values(), [word])[1]:
            message = f"{_dotted(route[: len(at) + 1])} names {word}, but there is no such rule"
            yield _problem(path, route, message, _known("rule", known, word))


def _volcano(settings: Settings, clusters: Sequence[Cluster]) -> Iterator[Problem]:
    """Yield a problem if the file of the scheduler's configuration is missing or contains none."""
    named = settings.policy.volcano.scheduler
    if named is None:
        return
    wanted = os.path.normpath(os.path.join(settings.root, named))
    used = (c.volcano_scheduler for c in clusters)
    if not any(s is not None and s.place is not None and os.path.normpath(s.place.origin.path) == wanted for s in used):
        message = f"volcano.scheduler names {named}, which is not a configuration of Volcano's scheduler"
        yield _problem(_path(settings), ("volcano", "scheduler"), message, "Name the file with its actions and tiers.")


def _known(what: str, names: Iterable[str], word: str = "") -> str:
    """Return help with names that may be the intended one."""
    known = sorted(names)
    near = nearest(word, known) if word else None
    if near is not None:
        return f"Write {near}."
    if what == "rule":
        return "`qcheck rules` lists the rules."
    return f"Known: {', '.join(known[:5])}{' ...' if len(known) > 5 else ''}." if known else f"No {what} was read."


def _dotted(route: Route) -> str:
    return ".".join(str(step) for step in route if isinstance(step, str) and step != "clusters")


def _path(settings: Settings) -> str:
    assert settings.path is not None
    return settings.path


def _problem(path: str, route: Route, message: str, help: str, certain: bool = True) -> Problem:
    return Problem(ProblemCode.SETTINGS_MATCH_NOTHING, _place(path, route), message, help, certain=certain)


def _place(path: str, route: Route) -> Place:
    return place_of(path, route)
