"""QC413: objects that nothing refers to."""

from __future__ import annotations

from qcheck.checks.registry import rule
from qcheck.cluster.kueue import AdmissionCheck, ClusterQueue, Cohort, LocalQueue, ResourceFlavor
from qcheck.cluster.problems import ProblemCode
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.findings.finding import Finding, finding
from qcheck.schedulers.kueue.loans import loans_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.objects import Object

DEFAULT = "default"
"""The name of a LocalQueue or WorkloadPriorityClass that is used without a reference."""
HERE = "here"
"""The parameter's value for repositories that contain every workload, which few do."""


@rule("QC413")
def unused_object(cluster: Cluster, workloads: str) -> Iterator[Finding]:
    """Report objects that nothing refers to, if the repository contains objects of a kind that could refer to them."""
    copies = cluster.copies
    queues = [*cluster.queues, *(c for c in copies if isinstance(c, ClusterQueue))]
    if (
        queues
        and cluster.has_all("ClusterQueue", "Cohort")
        and not any(p.code is ProblemCode.API_VERSION_GONE for p in cluster.problems)
    ):
        holders = [*queues, *cluster.cohorts, *(c for c in copies if isinstance(c, Cohort))]
        yield from _unused(cluster.flavors, {f.name for h in holders for f in h.flavors()})
        yield from _unused(cluster.admission_checks, {c.name for q in queues for c in q.checks})
    if cluster.flavors and cluster.has_all("ResourceFlavor"):
        flavors = [*cluster.flavors, *(c for c in copies if isinstance(c, ResourceFlavor))]
        yield from _unused(cluster.topologies, {f.topology for f in flavors})
    if cluster.admission_checks and cluster.has_all("AdmissionCheck"):
        yield from _unused_parameters(cluster)
    if cluster.local_queues and cluster.has_all("LocalQueue") and not cluster.generates("LocalQueue"):
        lenders = {q.name for q in cluster.queues if holds_quota_for_others(cluster, q)}
        named = {c.cluster_queue for c in copies if isinstance(c, LocalQueue)}
        yield from _unused(cluster.queues, {*cluster.local_queues_of, *lenders, *named})
    if workloads == HERE:
        yield from _unused_by_workloads(cluster)


def _unused(objects: Iterable[Object], named: Iterable[str | None]) -> Iterator[Finding]:
    used = set(named)
    return (_says(o) for o in objects if o.name not in used)


def holds_quota_for_others(cluster: Cluster, queue: ClusterQueue) -> bool:
    """Return whether nobody can submit to a queue, and others of its cohort may use its quota."""
    are_known = cluster.local_queues and cluster.has_all("LocalQueue") and not cluster.generates("LocalQueue")
    has_users = not are_known or queue.name in cluster.local_queues_of
    return not has_users and loans_of(cluster).main(queue) is not None


def _unused_parameters(cluster: Cluster) -> Iterator[Finding]:
    checks = [*cluster.admission_checks, *(c for c in cluster.copies if isinstance(c, AdmissionCheck))]
    named = {(c.parameters_kind, c.parameters_name) for c in checks}
    for config in (*cluster.provisioning_configs, *cluster.multikueue_configs):
        if (config.id.kind, config.name) not in named:
            yield _says(config)


def _unused_by_workloads(cluster: Cluster) -> Iterator[Finding]:
    used = {(w.namespace, w.queue) for w in cluster.workloads}
    for local in cluster.local_queues:
        if (local.namespace, local.name) not in used and local.name != DEFAULT:
            yield _says(local)
    classes = (c for c in cluster.workload_priority_classes if c.name != DEFAULT)
    yield from _unused(classes, {w.priority_class for w in cluster.workloads})


def _says(unused: Object) -> Finding:
    return finding(unused.name_place, f"nothing refers to {unused.id}").about(unused.id)
