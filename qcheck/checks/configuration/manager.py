"""QC7: settings of the manager's Configuration that contradict the queues."""

from __future__ import annotations

from qcheck.checks.problems import of_problems
from qcheck.checks.registry import rule
from qcheck.cluster.problems import ProblemCode
from qcheck.cluster.resources import looks_like_accelerator
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.findings.finding import Finding, finding
from qcheck.schedulers.kueue.namespaces import is_managed_namespace

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.kueue import Quota
    from qcheck.cluster.kueue_configuration import Configuration
    from qcheck.cluster.place import Place

MOST_PLACES = 10


@rule("QC701")
def configuration_rejected(cluster: Cluster) -> Iterator[Finding]:
    """Report an unknown key or an invalid value, with which the manager does not start."""
    return of_problems(cluster, ProblemCode.CONFIGURATION_REJECTED)


@rule("QC702")
def pods_ready_not_awaited(cluster: Cluster) -> Iterator[Finding]:
    """Report a missing waitForPodsReady: workloads whose pods never run keep their quota."""
    manager = cluster.configuration
    if manager is not None and not manager.waits_for_pods_ready:
        message = "waitForPodsReady is off: an admitted workload whose pods stay Pending holds its quota permanently"
        yield finding(manager.place.at("waitForPodsReady"), message)


@rule("QC703")
def accelerator_not_counted(cluster: Cluster) -> Iterator[Finding]:
    """Report accelerators with quota that the Configuration excludes from workloads' requests."""
    manager = cluster.configuration
    if manager is None:
        return
    outputs = {name for t in manager.transformations for name in t.outputs}
    quotas = [q for queue in cluster.queues for q in queue.quotas() if looks_like_accelerator(q.resource)]
    for place, hidden, how in _hidden(manager, quotas):
        resources = sorted({q.resource for q in hidden})
        message = (
            f"{how} {' and '.join(resources)}, for which {len(hidden)} quota{'s' * (len(hidden) > 1)} "
            f"exist{'s' * (len(hidden) == 1)}: workloads use any number of them without consuming quota"
        )
        found = finding(place, message).likely(outputs.issuperset(resources)).with_data(resources=list(resources))
        for quota in hidden[:MOST_PLACES]:
            found = found.near(quota.place, f"quota for {quota.resource}")
        yield found


def _hidden(manager: Configuration, quotas: list[Quota]) -> Iterator[tuple[Place, list[Quota], str]]:
    """Yield each setting that hides a resource of some quotas: its place, those quotas, and its effect."""
    for at, prefix in enumerate(manager.exclude_prefixes):
        hidden = [q for q in quotas if q.resource.startswith(prefix)]
        if hidden:
            place = manager.place.at("resources", "excludeResourcePrefixes", at)
            yield place, hidden, f"the prefix {prefix!r} excludes"
    for change in manager.transformations:
        hidden = [q for q in quotas if q.resource == change.input]
        if hidden and change.is_replaced and change.input not in change.outputs:
            yield change.place, hidden, "this transformation replaces"


@rule("QC704")
def device_class_uncovered(cluster: Cluster) -> Iterator[Finding]:
    """Report a mapping of device classes to a resource that no queue covers."""
    manager = cluster.configuration
    if manager is None or manager.ignore_undeclared or not cluster.queues:
        return
    covered = sorted({name for queue in cluster.queues for group in queue.groups for name in group.covered})
    for mapping in manager.device_classes:
        if mapping.name not in covered:
            message = (
                f"device class{'es' * (len(mapping.classes) > 1)} {', '.join(mapping.classes)} "
                f"count{'s' * (len(mapping.classes) == 1)} as {mapping.name}, which no ClusterQueue covers: "
                f"a workload that claims one is never admitted (covered: {', '.join(covered) or 'none'})"
            )
            yield finding(mapping.place.at("name"), message).likely(not cluster.has_all("ClusterQueue"))


@rule("QC705")
def unqueued_jobs_stuck(cluster: Cluster) -> Iterator[Finding]:
    """Report namespaces whose jobs Kueue suspends until they name a queue, but that have no queue."""
    manager = cluster.configuration
    if manager is None or not manager.manage_without_queue_name:
        return
    with_queue = {q.namespace for q in cluster.local_queues}
    places = {n.name: n.name_place for n in cluster.namespaces}
    for workload in cluster.workloads:
        places.setdefault(workload.namespace, workload.name_place)
    stuck = sorted(n for n in places if n not in with_queue and is_managed_namespace(cluster, n))
    if not stuck:
        return
    message = (
        f"manageJobsWithoutQueueName suspends every job without a queue, and {len(stuck)} managed "
        f"namespace{'s have' if len(stuck) > 1 else ' has'} no LocalQueue: {', '.join(stuck)}"
    )
    found = finding(manager.place.at("manageJobsWithoutQueueName"), message).with_data(namespaces=list(stuck))
    for name in stuck[:MOST_PLACES]:
        found = found.near(places[name], f"{name} has no LocalQueue")
    yield found
