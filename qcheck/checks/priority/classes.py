"""QC301 to QC304, QC316: the priority classes of Kueue and of kube-scheduler."""

from __future__ import annotations

from qcheck.checks.capacity.arithmetic import names
from qcheck.checks.missing_references import Reference, by_name, missing, users
from qcheck.checks.registry import rule
from qcheck.cluster.cluster import SYSTEM_PRIORITIES
from qcheck.cluster.pods import NEVER_PREEMPTS
from qcheck.cluster.policy import KAI_CLASSES, KAI_SCHEDULER
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.findings.finding import Finding, finding
from qcheck.schedulers.kueue.competitors import contention_of, daemon_grounds
from qcheck.schedulers.kueue.loans import loans_of
from qcheck.schedulers.kueue.priorities import global_default

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.kueue import ClusterQueue, PriorityClass, WorkloadPriorityClass
    from qcheck.cluster.objects import ObjectId
    from qcheck.cluster.pods import PodTemplate
    from qcheck.cluster.workloads import DaemonSet, Workload

HIGHEST, LOWEST = 1_000_000_000, -(2**31)
RESERVED_PREFIX = "system-"
POLICIES = ("PreemptLowerPriority", NEVER_PREEMPTS)


@rule("QC301")
def priority_class_missing(cluster: Cluster) -> Iterator[Finding]:
    """Report workloads and pods whose priority class does not exist: they are not created, and there is no fallback."""
    labels = [Reference(w.priority_class, w.priority_class_place, w.id) for w in cluster.workloads if w.priority_class]
    for name, uses in by_name(labels).items():
        if name not in cluster.workload_priority_class:
            found = missing(
                cluster,
                "WorkloadPriorityClass",
                uses,
                cluster.workload_priority_class,
                f"Kueue creates no Workload for {users(uses)}",
                sure=_has_queues(cluster),
            )
            if name in cluster.priority_class:
                found = found.near(
                    cluster.priority_class[name].name_place, "a PriorityClass of this name does not apply in Kueue"
                )
            yield found
    for name, uses in by_name(_pod_classes(cluster)).items():
        if name not in cluster.priority_class and name not in SYSTEM_PRIORITIES:
            consequence = f"the API server rejects the pods of {users(uses)}"
            found = missing(cluster, "PriorityClass", uses, cluster.priority_class, consequence)
            if name in cluster.workload_priority_class:
                found = found.near(
                    cluster.workload_priority_class[name].name_place, "a WorkloadPriorityClass does not apply to pods"
                )
            yield found


def _has_queues(cluster: Cluster) -> bool:
    """Return whether any Kueue object was read; otherwise, all of them are probably defined elsewhere."""
    return bool(cluster.workload_priority_classes or cluster.queues or cluster.local_queues)


def _pod_classes(cluster: Cluster) -> Iterator[Reference]:
    for template, by in _templates(cluster):
        is_of_chart = template.scheduler_name == KAI_SCHEDULER and template.priority_class in KAI_CLASSES
        if template.priority_class and not is_of_chart:
            yield Reference(template.priority_class, template.place.at("priorityClassName"), by)
    for workload in cluster.workloads:
        named = workload.job_pod_priority_class
        if named and not any(p.template.priority_class == named for p in workload.pod_sets):
            yield Reference(named, workload.place.at("spec"), workload.id)


def _templates(cluster: Cluster) -> Iterator[tuple[PodTemplate, ObjectId]]:
    """Yield every pod template with its owner."""
    for workload in cluster.workloads:
        yield from ((p.template, workload.id) for p in workload.pod_sets)
    yield from ((d.template, d.id) for d in cluster.daemon_sets)


@rule("QC302")
def priority_class_invalid(cluster: Cluster) -> Iterator[Finding]:
    """Report PriorityClasses that the API server rejects, and pods that contradict theirs."""
    for each in cluster.priority_classes:
        yield from _invalid_class(each)
    for template, by in _templates(cluster):
        known = cluster.priority_class.get(template.priority_class or "")
        value = known.value if known else SYSTEM_PRIORITIES.get(template.priority_class or "")
        if value is not None and template.priority not in (None, value):
            message = (
                f"the pods set priority {template.priority}, but their class {template.priority_class} has {value}"
            )
            found = finding(template.place.at("priority"), f"{message}: the API server rejects them").about(by)
            yield found.near(known.place.at("value") if known else None, f"value {value}")
        if known and template.preemption_policy not in (None, known.preemption_policy):
            message = f"the pods set preemptionPolicy {template.preemption_policy}, but their class {known.name} has "
            place = template.place.at("preemptionPolicy")
            found = finding(place, f"{message}{known.preemption_policy}: the API server rejects them").about(by)
            yield found.near(known.place.at("preemptionPolicy"), f"preemptionPolicy {known.preemption_policy}")


def _invalid_class(each: PriorityClass) -> Iterator[Finding]:
    if each.name in SYSTEM_PRIORITIES and each.value == SYSTEM_PRIORITIES[each.name]:
        return
    if each.name.startswith(RESERVED_PREFIX):
        message = f"the name {each.name} begins with {RESERVED_PREFIX}, which is reserved for Kubernetes' own classes"
        yield finding(each.name_place, message).about(each.id)
    elif not LOWEST <= each.value <= HIGHEST:
        message = f"PriorityClass {each.name} has the value {each.value}, outside the range {LOWEST}..{HIGHEST}"
        yield finding(each.place.at("value"), message).about(each.id).with_data(value=each.value)
    if each.preemption_policy not in POLICIES:
        message = f"PriorityClass {each.name} has the preemptionPolicy {each.preemption_policy}, but must be "
        yield finding(each.place.at("preemptionPolicy"), message + " or ".join(POLICIES)).about(each.id)


@rule("QC303")
def several_global_defaults(cluster: Cluster) -> Iterator[Finding]:
    """Report several global default classes for pods that name none."""
    defaults = [c for c in cluster.priority_classes if c.is_global_default]
    wins = global_default(cluster)
    if len(defaults) < 2 or wins is None:
        return
    first, second, *others = defaults
    found = finding(
        second.place.at("globalDefault"),
        f"{second.name} and {first.name} are both globalDefault: the API server rejects the second, and if both exist "
        f"{wins.name} ({wins.value}) applies because its value is the lowest",
    ).about(second.id)
    for each in (first, *others):
        found = found.near(each.place.at("globalDefault"), f"{each.name} (value {each.value}) is a global default too")
    yield found.with_data(defaults=[c.name for c in defaults])


@rule("QC304")
def global_default_surprise(cluster: Cluster) -> Iterator[Finding]:
    """Report a global default that changes the priority of important pods: node agents, owners of quota."""
    default = global_default(cluster)
    if default is None or default.value == 0:
        return
    agents = [d for d in cluster.daemon_sets if d.template.priority_class is None and _is_on_accelerators(cluster, d)]
    owners = [
        (workload, queue)
        for queue in cluster.queues
        for workload in (contention_of(cluster).workloads_of.get(queue.name, ()) if _is_owner(cluster, queue) else ())
        if _unnamed(workload)
    ]
    if not agents and not owners:
        return
    touched = [str(d.id) for d in agents] + [str(w.id) for w, _ in owners]
    found = finding(
        default.place.at("globalDefault"),
        f"{default.name} gives priority {default.value} to every new pod without a class, including {names(touched)}; "
        f"running pods keep 0",
    ).about(default.id)
    for agent in agents:
        found = found.near(agent.template.place.at("priorityClassName").key(), f"{agent.id} names no class")
    for workload, queue in owners:
        found = found.near(workload.name_place, f"{workload.id} of {queue.name} names no class")
    yield found.with_data(value=default.value, objects=[*touched])


def _unnamed(workload: Workload) -> bool:
    return all(p.template.priority_class is None for p in workload.pod_sets)


def _is_on_accelerators(cluster: Cluster, daemon_set: DaemonSet) -> bool:
    """Return whether it has pods on accelerator nodes; if no nodes are known, any DaemonSet may."""
    return not cluster.has_nodes or bool(daemon_grounds(cluster, daemon_set))


def _is_owner(cluster: Cluster, queue: ClusterQueue) -> bool:
    """Return whether settings declare a queue reserved, or it lends quota that others may hold."""
    return loans_of(cluster).is_reserved(queue) or loans_of(cluster).main(queue) is not None


@rule("QC316")
def same_priority_value(cluster: Cluster) -> Iterator[Finding]:
    """Report workload priority classes that differ only in name."""
    by_value: dict[int, list[WorkloadPriorityClass]] = {}
    for each in cluster.workload_priority_classes:
        by_value.setdefault(each.value, []).append(each)
    for value, (first, *others) in by_value.items():
        if others:
            found = finding(
                others[0].place.at("value"),
                f"the WorkloadPriorityClasses {names(c.name for c in (first, *others))} have the same value {value}: "
                f"none of them preempts another",
            ).about(others[0].id)
            for each in (first, *others[1:]):
                found = found.near(each.place.at("value"), f"{each.name} has {value} too")
            yield found.with_data(value=value, classes=[c.name for c in (first, *others)])
