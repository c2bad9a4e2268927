"""Problems of reading and decoding as findings, for the rules of every family that report them."""

from __future__ import annotations

from qcheck.cluster.problems import ProblemCode
from qcheck.cluster.value import TYPE_CHECKING, replace
from qcheck.findings.finding import Finding, finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.place import Place
    from qcheck.cluster.problems import Problem


def of_problems(cluster: Cluster, *codes: ProblemCode) -> Iterator[Finding]:
    """Yield findings for the problems with one of some codes, in order."""
    return (finding_of(p) for p in cluster.problems if p.code in codes)


def is_refused(cluster: Cluster, place: Place) -> bool:
    """Return whether the API server rejects the value at a place, so that its meaning is undefined."""
    return any(
        p.code is ProblemCode.API_REJECTED
        and p.place.origin is place.origin
        and p.place.route[: len(place.route)] == place.route
        for p in cluster.problems
    )


def finding_of(problem: Problem) -> Finding:
    found = finding(problem.place, problem.message, problem.place.caption)
    return replace(
        found,
        related=problem.related,
        object=problem.object,
        data=dict(problem.data),
        help=problem.help or None,
        fixes=problem.fixes,
        certain=problem.certain,
    )
