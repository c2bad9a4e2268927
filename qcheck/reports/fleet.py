"""The clusters of a report at a glance: the worst first, with the total headroom of each kind of accelerator."""

from __future__ import annotations

from qcheck.answers.accelerator_sums import cluster_summary
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.findings.fleet import over_all
from qcheck.reports.wording import WORST_FIRST, plural

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qcheck.findings.finding import Finding
    from qcheck.findings.fleet import AcceleratorSum, ClusterSummary
    from qcheck.findings.result import Result

HEADERS = ("cluster", "findings", "headroom (nodes - quota)")
ALL = "all clusters"


def fleet_of(result: Result) -> tuple[ClusterSummary, ...]:
    """Return the clusters that were judged, by this run or by the runs whose reports were merged."""
    return result.fleet or tuple(cluster_summary(c) for c in result.clusters)


def fleet_rows(result: Result) -> list[tuple[str, str, str]]:
    """Return a row for each cluster and one for all, in the order of `HEADERS`; none for a single cluster."""
    fleet = fleet_of(result)
    if len(fleet) < 2:
        return []
    of = {c.name: [f for f in result.findings if c.name in f.clusters] for c in fleet}
    rows = [
        (c.name, _counts(of[c.name]), _headroom(c.accelerators))
        for c in sorted(fleet, key=lambda c: _badness(of[c.name]))
    ]
    return [*rows, (ALL, _counts(result.findings), _headroom(over_all(fleet)))]


def _badness(findings: Iterable[Finding]) -> tuple[int, ...]:
    """Return a sort key that puts the cluster with the most errors first, then the most warnings."""
    severities = [f.severity for f in findings]
    return tuple(-severities.count(s) for s in WORST_FIRST)


def _counts(findings: Iterable[Finding]) -> str:
    severities = [f.severity for f in findings]
    return ", ".join(plural(n, s) for s in WORST_FIRST if (n := severities.count(s))) or "no findings"


def _headroom(sums: Iterable[AcceleratorSum]) -> str:
    return ", ".join(f"{_signed(s.headroom)} {s.resource} ({_held(s)} - {s.nominal:,})" for s in sums)


def _signed(headroom: int | None) -> str:
    return "unknown" if headroom is None else f"{headroom:+,}"


def _held(found: AcceleratorSum) -> str:
    return "unknown" if found.static is None else f"{found.static:,}"
