"""GKE node pools in Config Connector: `container.cnrm.cloud.google.com` ContainerNodePool. Counts are per zone."""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.nodepools import gke
from qcheck.nodepools.cloud_fields import Fields

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.nodes import NodePool
    from qcheck.documents.cursor import Cursor
    from qcheck.nodepools.pool import PoolContext

CLUSTER = ("container.cnrm.cloud.google.com", "ContainerCluster")


def read_pools(root: Cursor, context: PoolContext) -> Iterator[NodePool]:
    """Yield the pool; if it names no zones, it has those of the cluster that it refers to."""
    spec = Fields(root["spec"], camel=True)
    name = spec["resourceID"].text() or root["metadata"]["name"].text() or ""
    cluster = context.find(CLUSTER[1], spec["clusterRef"]["name"].text())
    home = gke.home_of(Fields(cluster["spec"], camel=True)) if cluster is not None else None
    yield gke.read_pool(spec, name, "Config Connector ContainerNodePool", home, context.own)
