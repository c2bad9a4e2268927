"""The two priorities of a workload: in Kueue, and of its pods in kube-scheduler.

Kueue's decides who is admitted and whose workload is suspended; the pods' decides whom kube-scheduler evicts from a
node.

Sources: Kueue 0.19 `pkg/controller/jobframework/reconciler.go` and `pkg/util/priority`; kube-apiserver's Priority
admission plugin.
"""

from __future__ import annotations

from qcheck.cluster.cluster import SYSTEM_PRIORITIES
from qcheck.cluster.place import Place
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.cluster.views import view

if TYPE_CHECKING:
    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.kueue import PriorityClass
    from qcheck.cluster.pods import PodTemplate
    from qcheck.cluster.workloads import Workload

WORKLOAD_CLASS, POD_CLASS, GLOBAL_DEFAULT, NOTHING = "workload class", "pod class", "global default", "nothing"
_DEFAULT_CLASS_SINCE = 20


class Rank(Value):
    """A priority and its origin: `source` is one of the constants above, `name` the class if there is one.

    `place` is where it is chosen, or would be. `certain` is False if a global default may exist elsewhere.
    """

    value: int
    source: str
    name: str | None
    place: Place
    certain: bool = True
    preempts: bool = True

    def __str__(self) -> str:
        return f"{self.value} ({self.name})" if self.name else f"{self.value} (the default)"


@view
def global_default(cluster: Cluster) -> PriorityClass | None:
    """Return the class of pods that name none; among several the one with the lowest value."""
    defaults = [c for c in cluster.priority_classes if c.is_global_default]
    return min(defaults, key=lambda c: c.value, default=None)


def pod_rank(cluster: Cluster, template: PodTemplate) -> Rank | None:
    """Return the priority of a template's pods in kube-scheduler; None if their class does not exist."""
    place = template.place.at("priorityClassName")
    if template.priority_class is None:
        return unnamed_rank(cluster, place)
    return _named(cluster, template.priority_class, place)


def _named(cluster: Cluster, name: str, place: Place) -> Rank | None:
    if name in SYSTEM_PRIORITIES:
        return Rank(SYSTEM_PRIORITIES[name], POD_CLASS, name, place)
    known = cluster.priority_class.get(name)
    return Rank(known.value, POD_CLASS, name, place, preempts=known.preempts) if known else None


def unnamed_rank(cluster: Cluster, place: Place) -> Rank:
    """Return the priority of pods that name no class: the global default's, or 0."""
    default, certain = _unnamed(cluster)
    if default is None:
        return Rank(value=0, source=NOTHING, name=None, place=place, certain=certain)
    return Rank(
        value=default.value,
        source=GLOBAL_DEFAULT,
        name=default.name,
        place=place,
        certain=certain,
        preempts=default.preempts,
    )


@view
def _unnamed(cluster: Cluster) -> tuple[PriorityClass | None, bool]:
    """Return the class of pods that name none, and whether it is certain (no other may exist elsewhere)."""
    return global_default(cluster), cluster.has_all("PriorityClass")


def kueue_rank(cluster: Cluster, workload: Workload) -> Rank | None:
    """Return the priority of a workload in Kueue; None if a class that it names does not exist.

    The label decides; without it the job's own scheduling policy, then the first pod set that names a PriorityClass.
    From 0.20 a WorkloadPriorityClass named `default` replaces a missing label.
    """
    named = workload.priority_class or _default_workload_class(cluster)
    if named is not None:
        known = cluster.workload_priority_class.get(named)
        return Rank(known.value, WORKLOAD_CLASS, named, workload.priority_class_place) if known else None
    if workload.job_pod_priority_class is not None:
        return _named(cluster, workload.job_pod_priority_class, workload.place.at("spec"))
    for pod_set in workload.pod_sets:
        if pod_set.template.priority_class is not None:
            return pod_rank(cluster, pod_set.template)
    return unnamed_rank(cluster, workload.priority_class_place)


@view
def _default_workload_class(cluster: Cluster) -> str | None:
    chosen = cluster.feature_gates.get("WorkloadPriorityClassDefaulting")
    is_on = cluster.policy.kueue.at_least(_DEFAULT_CLASS_SINCE) if chosen is None else chosen
    return "default" if is_on and "default" in cluster.workload_priority_class else None


def pod_ranks(cluster: Cluster, workload: Workload) -> list[Rank] | None:
    """Return the pod priorities of a workload's pod sets, lowest first; None if any is unknown."""
    ranks = [pod_rank(cluster, p.template) for p in workload.pod_sets if p.count]
    known = [r for r in ranks if r is not None]
    return sorted(known, key=lambda r: r.value) if known and len(known) == len(ranks) else None
