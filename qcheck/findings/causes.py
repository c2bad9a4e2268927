"""Causes and consequences among findings, so that the cause is shown first.

A finding is a consequence of another in the same cluster if the table pairs their rules and both share the same thing.
A finding is never placed below a less severe one.
"""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.findings.finding import Finding
from qcheck.findings.severity import SEVERITIES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from qcheck.findings.finding import Datum
    from qcheck.findings.result import Result

FLAVOR, DAEMON_SET, FIELD, WORKLOAD, UNREAD = "flavor", "daemon set", "field", "workload", "unread"


class Consequence(Value):
    """A pair of rules, and what two of their findings must share.

    The table lists only pairs whose second finding disappears once the first is fixed.

    `shared`: FLAVOR, if no domain of its topology has a node; DAEMON_SET, if it alone is the reason; FIELD, if both are
    about one field; WORKLOAD; UNREAD if the thing is missing and a file that could define it was not
    read; or the kind of the object that `cause` names as the intended one.
    """

    cause: str
    rules: tuple[str, ...]
    shared: str


OF_A_FIELD = ("QC007", "QC008", "QC513", "QC515", "QC604", "QC608")
MISSING = ("QC301", "QC401", "QC402", "QC403", "QC407", "QC501")
MISSING_NODES = ("QC201", "QC210", "QC211")

CONSEQUENCES = (
    Consequence("QC001", (*MISSING, *MISSING_NODES), UNREAD),
    Consequence("QC009", (*MISSING, *MISSING_NODES), UNREAD),
    Consequence("QC010", MISSING_NODES, UNREAD),
    Consequence("QC003", OF_A_FIELD, FIELD),
    Consequence("QC104", ("QC101", "QC505", "QC506"), DAEMON_SET),
    Consequence("QC301", ("QC413",), "PriorityClass"),
    Consequence("QC301", ("QC413",), "WorkloadPriorityClass"),
    Consequence("QC401", ("QC413",), "ResourceFlavor"),
    Consequence("QC402", ("QC413",), "ClusterQueue"),
    Consequence("QC403", ("QC413",), "LocalQueue"),
    Consequence("QC407", ("QC413",), "AdmissionCheck"),
    Consequence("QC501", ("QC413",), "Topology"),
    Consequence("QC502", ("QC507",), FLAVOR),
    Consequence("QC601", ("QC317",), WORKLOAD),
    Consequence("QC602", ("QC317",), WORKLOAD),
)
"""Causes and their consequences. The rules form no cycle."""


class Group(Value):
    """A finding and its consequences, worst first."""

    head: Finding
    followers: tuple[Finding, ...] = ()


def presented(result: Result) -> list[Group]:
    """Return the findings in display order: by severity, consequences with their cause unless `everything` is set."""
    if result.view.everything:
        return [Group(found) for found in causes_first(result.findings)]
    return grouped(result.findings)


def grouped(findings: Sequence[Finding]) -> list[Group]:
    """Return causes with their consequences, by severity and then in the order given."""
    roots = _roots(findings)
    members: dict[int, list[Finding]] = {}
    for position, found in enumerate(findings):
        if roots[position] != position:
            members.setdefault(roots[position], []).append(found)
    heads = sorted((p for p in range(len(findings)) if roots[p] == p), key=lambda p: _rank(findings[p]))
    return [Group(findings[p], tuple(sorted(members.get(p, ()), key=_rank))) for p in heads]


def causes_first(findings: Sequence[Finding]) -> list[Finding]:
    """Return all findings by severity; among equals each cause precedes its consequences."""
    grouping = grouped(findings)
    return sorted((f for group in grouping for f in (group.head, *group.followers)), key=_rank)


def _rank(found: Finding) -> int:
    return -SEVERITIES.index(found.severity)


def _roots(findings: Sequence[Finding]) -> list[int]:
    """Return, for each finding, the position of its root cause; its own if it has none."""
    by_topic: dict[tuple[str, str, str], list[int]] = {}
    for position, found in enumerate(findings):
        for pair in _as_cause(found):
            by_topic.setdefault(pair, []).append(position)
    parents = [_parent(findings, position, by_topic) for position in range(len(findings))]
    return [_root(parents, position) for position in range(len(findings))]


def _root(parents: Sequence[int], position: int) -> int:
    while parents[position] != position:
        position = parents[position]
    return position


def _parent(findings: Sequence[Finding], position: int, by_topic: Mapping[tuple[str, str, str], Sequence[int]]) -> int:
    found = findings[position]
    for pair in _as_consequence(found):
        for other in by_topic.get(pair, ()):
            cause = findings[other]
            if other != position and _rank(cause) <= _rank(found) and {*found.clusters} <= {*cause.clusters}:
                return other
    return position


def _as_cause(found: Finding) -> Iterator[tuple[str, str, str]]:
    """Yield cause, kind of thing and thing, for each row of the table in which the finding may be the cause."""
    shared = dict.fromkeys(c.shared for c in CONSEQUENCES if found.rule and c.cause == found.rule.id)
    for kind in shared:
        meant = found.data.get("nearest")
        names = _THINGS[kind](found) if kind in _THINGS else [meant] if isinstance(meant, str) else []
        yield from ((found.rule.id, kind, name) for name in names if found.rule)


def _as_consequence(found: Finding) -> Iterator[tuple[str, str, str]]:
    for row in CONSEQUENCES:
        if found.rule and found.rule.id in row.rules and not (row.shared == UNREAD and found.certain):
            is_named = found.object is not None and found.object.kind == row.shared
            names = [found.object.name] if is_named and found.object else []
            for name in _THINGS[row.shared](found) if row.shared in _THINGS else names:
                yield row.cause, row.shared, name


def _without_nodes(found: Finding) -> list[str]:
    """Return the flavors of a finding; none if some domain of their topology has nodes."""
    return [] if found.data.get("largest") else [n for e in ("flavor", "flavors") for n in _texts(found.data.get(e))]


def _only_daemon_set(found: Finding) -> list[str]:
    """Return the DaemonSet that a finding is about, or its cause if that is a single DaemonSet."""
    names = _texts(found.data.get("daemonSets"))
    is_about = found.object is not None and found.object.kind == "DaemonSet"
    return [str(found.object)] if is_about else names if len(names) == 1 else []


def _field(found: Finding) -> list[str]:
    place = found.primary.at()
    return [f"{place.origin.path} {place.span} {place.route}"]


def _workloads(found: Finding) -> list[str]:
    return _texts(found.data.get("workloads")) or [str(found.object)]


_THINGS: dict[str, Callable[[Finding], list[str]]] = {
    FLAVOR: _without_nodes,
    DAEMON_SET: _only_daemon_set,
    FIELD: _field,
    WORKLOAD: _workloads,
    UNREAD: lambda _: [UNREAD],
}
"""The names of the things that a finding is about, by kind. All unread inputs have one name."""


def _texts(value: Datum) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [v for v in value if isinstance(v, str)] if isinstance(value, (list, tuple)) else []
