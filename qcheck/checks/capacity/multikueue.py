"""QC113: the quota of a MultiKueue manager and of its workers."""

from __future__ import annotations

from qcheck.checks.capacity.arithmetic import names
from qcheck.checks.registry import rule
from qcheck.cluster.resources import is_compute
from qcheck.cluster.units import scale_of
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.findings.finding import Finding, finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.kueue import ClusterQueue, MultiKueueConfig, Quota


@rule("QC113")
def multikueue_quota_mismatch(cluster: Cluster) -> Iterator[Finding]:
    """Report queues whose quota differs from the sum of the queues that run their workloads on the workers."""
    for queue in cluster.queues:
        config = _config(cluster, queue)
        workers = {c.name: c for c in cluster.fleet}
        if config is None or config.is_automated or not set(config.clusters) <= workers.keys():
            continue
        theirs = [
            (name, quota)
            for name in config.clusters
            for serving in _serving(cluster, queue, workers[name])
            for quota in serving.quotas()
        ]
        differing = [
            r for r in _resources(queue) if _total(queue, r) != sum(q.nominal for _, q in theirs if q.resource == r)
        ]
        if differing and theirs:
            yield _mismatch(queue, differing, theirs)


def _config(cluster: Cluster, queue: ClusterQueue) -> MultiKueueConfig | None:
    for use in queue.checks:
        check = cluster.admission_check.get(use.name)
        if check is not None and check.is_multikueue:
            return next((c for c in cluster.multikueue_configs if c.name == check.parameters_name), None)
    return None


def _serving(manager: Cluster, queue: ClusterQueue, worker: Cluster) -> list[ClusterQueue]:
    """Return the worker's queues that receive the manager's workloads, by local queues of equal namespace and name."""
    locals_ = (worker.local_queue.get((q.namespace, q.name)) for q in manager.local_queues_of.get(queue.name, ()))
    reached = {q.cluster_queue for q in locals_ if q is not None} or {queue.name}
    return [q for q in worker.queues if q.name in reached]


def _resources(queue: ClusterQueue) -> list[str]:
    """Return the resources that a queue covers, accelerators first."""
    return sorted(dict.fromkeys(q.resource for q in queue.quotas()), key=lambda r: not is_compute(r))


def _total(queue: ClusterQueue, resource: str) -> int:
    return sum(q.nominal for q in queue.quotas() if q.resource == resource)


def _mismatch(queue: ClusterQueue, differing: list[str], theirs: list[tuple[str, Quota]]) -> Finding:
    resource = differing[0]
    cells = [(name, q) for name, q in theirs if q.resource == resource]
    total, own = sum(q.nominal for _, q in cells), _total(queue, resource)
    scale = scale_of(resource, (total, own, *(q.nominal for _, q in cells)))
    parts = " + ".join(f"{scale.bare(q.nominal)} ({name})" for name, q in cells) or "0"
    effect = "the difference stays idle" if own < total else "the workers cannot run the difference"
    first = max((q for q in queue.quotas() if q.resource == resource), key=lambda q: q.nominal)
    found = finding(
        first.nominal_place,
        f"{queue.name} has a quota of {scale.name(own)}, but its workers have {parts} = {scale(total)}: {effect}"
        + (f" (and {names(differing[1:])} differ too)" if differing[1:] else ""),
    ).about(queue.id)
    for name, quota in cells:
        found = found.near(quota.nominal_place, f"{scale(quota.nominal)} on {name}")
    return found.with_data(queue=queue.name, resource=resource, manager=own, workers=total)
