"""QC915: requests for fractions of GPUs that KAI's admission rejects."""

from __future__ import annotations

from qcheck.checks.registry import rule
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.findings.finding import finding
from qcheck.schedulers.kai.gpu_sharing import sharing_faults, sharing_is_on, sharing_place
from qcheck.schedulers.kai.jobs import jobs_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.place import Place
    from qcheck.findings.finding import Finding


@rule("QC915")
def gpu_sharing_invalid(cluster: Cluster) -> Iterator[Finding]:
    """Report pods with annotations for fractions of GPUs that are out of range, combined, or not allowed."""
    for job in jobs_of(cluster):
        for pod_set in job.workload.pod_sets if job.is_scheduled else ():
            faults = list(sharing_faults(pod_set.template))
            for fault in faults[:1]:
                message = f"KAI's admission rejects the pods of {job.workload.id}: {fault.why}"
                found = finding(fault.place, message).about(job.workload.id).fixed_by(fault.fix)
                for other in faults[1:]:
                    found = found.near(other.place, other.why)
                yield found.with_data(annotation=str(fault.place.route[-1]))
            place = sharing_place(pod_set.template)
            if not faults and place is not None and not sharing_is_on(cluster):
                yield _off(cluster, place, str(job.workload.id))


def _off(cluster: Cluster, place: Place, who: str) -> Finding:
    """Return the finding for sharing that is off: the settings or the operator's configuration must turn it on."""
    is_known = sharing_is_on(cluster) is not None
    unless = ": GPU sharing is off" if is_known else " unless GPU sharing is enabled, which KAI's chart does not do"
    found = finding(place, f"KAI's admission rejects the pods of {who}{unless}")
    if cluster.kai_configs and cluster.policy.kai.gpu_sharing is None:
        config = cluster.kai_configs[0]
        found = found.near(config.place.at("spec", "admission", "gpuSharing"), "disabled unless this is true")
    return (
        found.likely(not is_known)
        .fixed_by("Set global.gpuSharing of the chart, and kai.gpuSharing: true in qcheck.yaml so that qcheck knows.")
        .with_data(annotation=str(place.route[-1]))
    )
