"""The pods to be placed on a quota pool's nodes, as declared in the settings.

Pod sizes decide whether a quota can be used up, but queues do not state them. So they are declared, taken from the
queue's workloads, or unknown.
"""

from __future__ import annotations

from qcheck.cluster.resources import is_compute
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.packing.pod_shape import PodShape
from qcheck.schedulers.table import promises_of
from qcheck.supply.pod_requests import PODS

if TYPE_CHECKING:
    from qcheck.cluster.cluster import Cluster


def declared_shapes(cluster: Cluster, pool: str) -> tuple[PodShape, ...]:
    """Return the settings' shapes for a pool: those that name it, or name none and request what it has."""
    found = []
    name = cluster.quota_pools[pool].name if pool in cluster.quota_pools else pool
    for shape in cluster.policy.shapes:
        asked = PodShape(
            shape.name, {PODS: 1, **{r: n for r, n in shape.requests.items() if n}}, shape.pods, shape.level
        )
        devices = [r for r in asked.request if is_compute(r)]
        covered = all((pool, r) in promises_of(cluster).cells for r in devices)
        if name in shape.flavors or (not shape.flavors and covered):
            found.append(asked)
    return tuple(found)
