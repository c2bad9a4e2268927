"""QC608: pod groups whose stated and actual number of pods differ."""

from __future__ import annotations

from qcheck.checks.registry import rule
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.cluster.workload_parts import group_of
from qcheck.findings.finding import Finding, finding
from qcheck.schedulers.kueue.rejected_workloads import group_faults

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster


@rule("QC608")
def pod_group_inconsistent(cluster: Cluster) -> Iterator[Finding]:
    """Report pod groups whose number of pods differs from the number that they state."""
    for workload in cluster.workloads:
        for fault in group_faults(cluster, workload):
            found = finding(fault.place, fault.message).about(fault.object)
            for place, caption in fault.near:
                found = found.near(place, caption)
            if fault.found is not None:
                found = found.with_data(group=group_of(workload) or "", stated=fault.stated, found=fault.found)
            yield found
