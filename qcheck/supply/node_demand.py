"""The demands of pods on a node other than capacity: labels, taints, a name.

Many pods differ only in their requests, so few demands are distinct.
"""

from __future__ import annotations

from qcheck.cluster.labels import NodeSelection, NodeSelectorTerm, Requirement, Toleration
from qcheck.cluster.resources import looks_like_accelerator
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.cluster.views import cache_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.pods import PodTemplate
    from qcheck.cluster.quota_pool import QuotaPool
    from qcheck.cluster.workloads import RuntimeClass


class NodeDemand(Value):
    """The demands of pods on a node other than capacity. `devices` are the extended resources that they request.

    `compares`: tolerations that compare values apply. They do in Kueue, but in kube-scheduler only with a feature
    gate.
    """

    selection: NodeSelection
    tolerations: tuple[Toleration, ...] = ()
    node_name: str | None = None
    devices: frozenset[str] = frozenset()
    compares: bool = False

    @property
    def ask(self) -> Hashable:
        """Return the demand as a comparable value."""
        tolerations = tuple(t.ask for t in self.tolerations)
        return self.selection.ask, tolerations, self.node_name, self.devices, self.compares


def demand_of(
    cluster: Cluster, template: PodTemplate, asked: Iterable[str] = (), pool: QuotaPool | None = None
) -> NodeDemand:
    """Return the demands of a template's pods after the API server's defaults, with the additions of a quota pool.

    Equal demands are one object, so that answers can be cached by identity.
    """
    added = runtime_class(cluster, template)
    selector = {**template.selection.selector, **(pool.node_labels if pool else {})}
    tolerations = (*template.tolerations, *(pool.tolerations if pool else ()))
    demand = NodeDemand(
        NodeSelection({**(added.node_selector if added else {}), **selector}, _terms(template)),
        (*tolerations, *(added.tolerations if added else ())),
        template.node_name,
        frozenset(r for r in asked if looks_like_accelerator(r)),
    )
    known: dict[Hashable, NodeDemand] = cache_of(cluster, demand_of)
    return known.setdefault(demand.ask, demand)


def _terms(template: PodTemplate) -> tuple[NodeSelectorTerm, ...] | None:
    """Return the required affinity plus the labels that a node must have to take a pod with spread constraints."""
    terms = template.selection.terms
    spread = tuple(Requirement(s.key, "Exists") for s in template.spreads)
    if not spread:
        return terms
    whole = [t for t in terms or (NodeSelectorTerm(),) if terms is None or t.expressions or t.fields]
    return tuple(NodeSelectorTerm((*t.expressions, *spread), t.fields) for t in whole)


def runtime_class(cluster: Cluster, template: PodTemplate) -> RuntimeClass | None:
    """Return the RuntimeClass of a template's pods, if it is known."""
    if template.runtime_class is None:
        return None
    return next((c for c in cluster.runtime_classes if c.name == template.runtime_class), None)
