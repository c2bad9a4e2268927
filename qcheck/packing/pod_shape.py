"""Pods to be placed: their size, their number, and the nodes that accept them."""

from __future__ import annotations

from functools import cached_property

from qcheck.cluster.resources import is_compute, looks_like_accelerator
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.cluster.views import answered_once
from qcheck.supply.eligibility import host
from qcheck.supply.node_demand import demand_of
from qcheck.supply.pod_requests import bounds, scheduled

if TYPE_CHECKING:
    from collections.abc import Hashable

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.place import Place
    from qcheck.cluster.pods import Amounts, PodTemplate
    from qcheck.cluster.workloads import PodSet, Workload
    from qcheck.supply.groups import NodeGroup
    from qcheck.supply.node_demand import NodeDemand

KEPT_APART = "pods of one kind per node"
"""A pseudo-resource: every node has one, and pods with anti-affinity on the hostname request one."""


class PodShape(Value, cached=True):
    """Pods of one kind. `request` is what one pod needs on a node, including its pod slot.

    * `pods`: how many must be placeable at once, if given; `level`: within one domain of that topology level.
    * For a workload: its ClusterQueue (`queue`), and the `template`, `count` and `place` of the pods.
    """

    name: str
    request: Amounts
    pods: int | None = None
    level: str | None = None
    queue: str | None = None
    template: PodTemplate | None = None
    count: int = 0
    place: Place | None = None

    @property
    def is_declared(self) -> bool:
        return self.template is None

    @cached_property
    def ask(self) -> tuple[Hashable, ...]:
        """Return a pod's requests and node selection as a comparable value."""
        return tuple(sorted(self.request.items())), None if self.template is None else self.template.ask

    @property
    def strictness(self) -> tuple[bool, int, int, tuple[tuple[str, int], ...], str]:
        """A sort key for shapes: those with fewer constraints on nodes come first, then those with smaller requests."""
        keys = self.template.selection.keys if self.template else ()
        tolerations = self.template.tolerations if self.template else ()
        return self.level is not None, len(keys), -len(tolerations), tuple(sorted(self.request.items())), self.name

    @cached_property
    def accelerator(self) -> str | None:
        """The accelerator that these pods compute on: the one of which they request most."""
        devices = sorted((r for r, n in self.request.items() if n and is_compute(r)), key=lambda r: -self.request[r])
        return devices[0] if devices else None

    def may_use(self, cluster: Cluster, group: NodeGroup, pool: str) -> bool:
        """Return whether some node of a group accepts these pods, including what the quota pool adds to them."""
        if self.template is None or not group.classes:
            return True
        demand = _demand(cluster, self.template, self._devices, pool)
        return host(cluster, demand, group).possible

    @cached_property
    def _devices(self) -> frozenset[str]:
        return frozenset(r for r in self.request if looks_like_accelerator(r))


@answered_once
def _demand(cluster: Cluster, template: PodTemplate, devices: frozenset[str], pool: str) -> NodeDemand:
    return demand_of(cluster, template, devices, cluster.quota_pools.get(pool))


def pod_request(cluster: Cluster, workload: Workload, pod_set: PodSet) -> Amounts:
    """Return what one pod of a pod set needs on a node."""
    request = scheduled(cluster, pod_set.template, bounds(cluster, workload.namespace))
    return {**request, KEPT_APART: 1} if pod_set.template.one_per_node else request
