"""Node pools as Crossplane (Upbound) and ACK resources. Their fields mirror the cloud APIs that Terraform uses."""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.nodepools import gke
from qcheck.nodepools.cloud_fields import Fields
from qcheck.nodepools.terraform.pools import azure_pool, eks_group

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.nodes import NodePool
    from qcheck.documents.cursor import Cursor
    from qcheck.nodepools.pool import PoolContext

HINT = "add the nodes (`kubectl get nodes -o yaml`) to the paths"


def read_pools(root: Cursor, context: PoolContext) -> Iterator[NodePool]:
    """Yield the pool of an EKS NodeGroup (Upbound, ACK), a GKE NodePool or an AKS node pool."""
    group, kind = (root["apiVersion"].text() or "").partition("/")[0], root["kind"].text() or ""
    if group == "eks.services.k8s.aws":
        spec = Fields(root["spec"], camel=True)
        yield eks_group(
            spec, spec.block("scaling_config"), _name(root, spec), "ACK Nodegroup", context.own, HINT, spec["taints"]
        )
        return
    spec = Fields(root["spec"]["forProvider"], camel=True)
    name, shown = _name(root, spec), f"Crossplane {kind}"
    if group.startswith("eks.aws."):
        yield eks_group(spec, spec.block("scaling_config"), name, shown, context.own, HINT, spec["taint"])
    elif group.startswith("container.gcp."):
        cluster = context.find("Cluster", spec["clusterRef"]["name"].text())
        home = gke.home_of(Fields(cluster["spec"]["forProvider"], camel=True)) if cluster is not None else None
        yield gke.read_pool(spec, name, shown, home, context.own)
    else:
        yield azure_pool(spec, name, shown, context.own, HINT)


def _name(root: Cursor, spec: Fields) -> str:
    """Return the pool's name in the cloud: from the annotation, else a field, else the object's name."""
    external = root["metadata"]["annotations"]["crossplane.io/external-name"].text()
    return external or spec["name"].text() or root["metadata"]["name"].text() or ""
