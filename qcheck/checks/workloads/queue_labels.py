"""QC606, QC607: labels and integrations that decide whether Kueue manages a workload."""

from __future__ import annotations

from qcheck.checks.capacity.arithmetic import names
from qcheck.checks.registry import rule
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.cluster.workloads import QUEUE_NAME
from qcheck.findings.finding import Finding, finding
from qcheck.schedulers.kueue.routing import is_integrated

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.place import Place
    from qcheck.cluster.workloads import Workload

ON_TEMPLATE = "on the pod template"
_HANDS_DOWN = ("deployment", "statefulset", "pod")
"""Integrations for which the label on the pods is decisive."""


@rule("QC606")
def integration_disabled(cluster: Cluster) -> Iterator[Finding]:
    """Report workloads with a queue, of kinds that the Configuration does not enable."""
    manager = cluster.configuration
    if manager is None:
        return
    for workload in cluster.workloads:
        if not workload.queue or workload.framework is None or is_integrated(cluster, workload):
            continue
        enabled = names(manager.frameworks) if manager.frameworks else "batch/job only, as the list is empty"
        message = (
            f"{workload.id} names the queue {workload.queue}, but the integration {workload.framework} is not enabled: "
            "it starts at once, outside the quota"
        )
        yield (
            finding(workload.queue_place, message)
            .about(workload.id)
            .near(manager.place.at("integrations", "frameworks").key(), f"enabled: {enabled}")
            .fixed_by(f"Add {workload.framework} to integrations.frameworks of Kueue's Configuration.")
            .with_data(framework=workload.framework)
        )


@rule("QC607")
def queue_label_misplaced(cluster: Cluster) -> Iterator[Finding]:
    """Report queue names in places where Kueue does not read them."""
    for workload in cluster.workloads:
        if workload.queue or (workload.framework is None and workload.id.group != "apps"):
            continue
        found = _misplaced(workload)
        if found is not None:
            place, where, queue = found
            yield _finding(workload, place, where, queue)


def _misplaced(workload: Workload) -> tuple[Place, str, str] | None:
    """Return the place of the name, the place in words, and the name."""
    if QUEUE_NAME in workload.annotations:
        at = workload.place.at("metadata", "annotations", QUEUE_NAME)
        return at.key(), "as an annotation", workload.annotations[QUEUE_NAME]
    if QUEUE_NAME in workload.labels:
        return workload.place.at("metadata", "labels", QUEUE_NAME).key(), "on the CronJob", workload.labels[QUEUE_NAME]
    for pod_set in workload.pod_sets:
        template = pod_set.template
        for field, written in (("labels", template.labels), ("annotations", template.annotations)):
            if QUEUE_NAME in written and (field == "annotations" or workload.framework not in _HANDS_DOWN):
                what = ON_TEMPLATE if field == "labels" else "as an annotation of the pods"
                return template.metadata_place.at(field, QUEUE_NAME).key(), what, written[QUEUE_NAME]
    return None


def _finding(workload: Workload, place: Place, where: str, queue: str) -> Finding:
    right = "spec.jobTemplate.metadata.labels" if workload.id.kind == "CronJob" else "metadata.labels"
    message = f"{workload.id} names the queue {queue} {where}, where it does not queue the {workload.id.kind}"
    if where == ON_TEMPLATE:
        message += "; with the pod integration each pod is admitted separately, otherwise none is queued"
    return finding(place, message).about(workload.id).fixed_by(f"Write the label in {right} of the {workload.id.kind}.")
