"""QC6: will this workload run."""

from __future__ import annotations

from qcheck.checks.refusals import of_problems
from qcheck.checks.registry import rule
from qcheck.model.value import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.findings.finding import Finding
    from qcheck.model.cluster import Cluster


@rule("QC604")
def requests_invalid(cluster: Cluster) -> Iterator[Finding]:
    """Requests and limits that the API server or Kueue refuses."""
    return of_problems(cluster, "requests-invalid")
