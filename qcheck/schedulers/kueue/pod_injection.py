"""The pods as Kueue lets them be created: with the labels and tolerations of their flavors.

Source: Kueue 0.19 `pkg/podset/podset.go`. Taints of a flavor are never injected.
"""

from __future__ import annotations

from qcheck.cluster.labels import NodeSelection
from qcheck.cluster.reasons import Reason, ReasonCode
from qcheck.cluster.value import TYPE_CHECKING, replace
from qcheck.packing.kube_scheduler import Wanted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.pods import PodTemplate
    from qcheck.schedulers.kueue.assignment import Assigned
    from qcheck.schedulers.kueue.decision import Decision


def created(cluster: Cluster, assigned: Assigned) -> PodTemplate:
    """Return the template of the pods that start once quota is granted."""
    template = assigned.pod_set.template
    flavors = [cluster.flavor[f] for f in assigned.flavor_names if f in cluster.flavor]
    selector = dict(template.selection.selector)
    for flavor in flavors:
        selector.update(flavor.node_labels)
    return replace(
        template,
        selection=NodeSelection(selector, template.selection.terms),
        tolerations=(*template.tolerations, *(t for f in flavors for t in f.tolerations)),
    )


def created_pods(cluster: Cluster, decision: Decision) -> list[Wanted]:
    """Return all pods that an admission lets be created, for all copies of the workload."""
    return [Wanted(a.pod_set, created(cluster, a), a.demand.count * decision.copies) for a in decision.assigned]


def contradictions(cluster: Cluster, assigned: Assigned) -> Iterator[Reason]:
    """Yield labels that the flavors of one pod set give different values: the pods select the value written last."""
    chosen: dict[str, tuple[str, str]] = {}
    for name in assigned.flavor_names:
        flavor = cluster.flavor.get(name)
        for key, value in flavor.node_labels.items() if flavor else ():
            before, by = chosen.setdefault(key, (value, name))
            if flavor is not None and before != value:
                message = f"flavors {by} and {name} set {key} to {before} and {value}; the pods get one of the two"
                near = (flavor.place.at("spec", "nodeLabels", key),)
                yield Reason(
                    code=ReasonCode.UNSCHEDULABLE,
                    cause="flavors-contradict",
                    message=message,
                    place=assigned.pod_set.template.place,
                    near=near,
                )
