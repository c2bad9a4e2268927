"""The table of node-pool formats: the documents that describe nodes.

`READERS` lists the Kubernetes-style formats by API group and kind; each entry names the module that reads it.
"""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING

if TYPE_CHECKING:
    from qcheck.documents.cursor import Cursor

NODE = ("", "Node")
READERS = {
    ("qcheck.dev", "NodePool"): "qcheck_format",
    ("karpenter.sh", "NodePool"): "karpenter",
    ("eksctl.io", "ClusterConfig"): "eksctl",
    ("container.cnrm.cloud.google.com", "ContainerNodePool"): "config_connector",
    ("cluster.x-k8s.io", "MachineDeployment"): "machine_sets",
    ("cluster.x-k8s.io", "MachineSet"): "machine_sets",
    ("cluster.x-k8s.io", "MachinePool"): "machine_sets",
    ("cluster.x-k8s.io", "Cluster"): "machine_sets",
    ("machine.openshift.io", "MachineSet"): "machine_sets",
    ("compute.coreweave.com", "NodePool"): "coreweave",
    ("cloud.google.com", "ComputeClass"): "gke_compute_class",
    ("kops.k8s.io", "InstanceGroup"): "kops",
    ("core.gardener.cloud", "Shoot"): "gardener",
    ("provisioning.cattle.io", "Cluster"): "rancher",
    ("eks.aws.upbound.io", "NodeGroup"): "crossplane",
    ("eks.aws.m.upbound.io", "NodeGroup"): "crossplane",
    ("container.gcp.upbound.io", "NodePool"): "crossplane",
    ("container.gcp.m.upbound.io", "NodePool"): "crossplane",
    ("containerservice.azure.upbound.io", "KubernetesClusterNodePool"): "crossplane",
    ("containerservice.azure.m.upbound.io", "KubernetesClusterNodePool"): "crossplane",
    ("eks.services.k8s.aws", "Nodegroup"): "crossplane",
}
"""The module that reads objects of a group and kind as pools; imported only if one occurs."""
REFERRED: frozenset[tuple[str, str]] = frozenset(
    {
        ("container.cnrm.cloud.google.com", "ContainerCluster"),
        ("container.gcp.upbound.io", "Cluster"),
        ("kops.k8s.io", "Cluster"),
        ("core.gardener.cloud", "CloudProfile"),
        ("autoscaling.openshift.io", "MachineAutoscaler"),
        ("karpenter.k8s.aws", "EC2NodeClass"),
        ("eks.amazonaws.com", "NodeClass"),
        ("karpenter.azure.com", "AKSNodeClass"),
        ("karpenter.k8s.gcp", "GCENodeClass"),
    }
)
"""Objects that pools refer to."""
TEMPLATES = (
    "infrastructure.cluster.x-k8s.io",
    "bootstrap.cluster.x-k8s.io",
    "controlplane.cluster.x-k8s.io",
    "rke-machine-config.cattle.io",
)
"""Groups of Cluster API and Rancher with objects of any kind to which machines refer."""
PLAIN_READERS = (("terraform_version", "terraform.read"), ("InstanceGroups", "hyperpod"))
"""Modules that read documents without apiVersion and kind, by a word that these contain."""
CONFIG_MAP, CLUSTER_POLICY = ("", "ConfigMap"), ("nvidia.com", "ClusterPolicy")
PLUGIN_WORDS = ("timeSlicing", "mps:", "mig-configs", "migManager", "migStrategy", "devicePlugin")
"""Words of which every configuration of NVIDIA's device plugin contains at least one."""
BLUEPRINT = "gke-node-pool"
UNREAD_TYPES = ("AWS::", "Microsoft.ContainerService/", ":NodeGroup", ":NodePool", ":AgentPool", ":ManagedNode")
"""Signs of node pools in recognised formats that are not read: parts of their types, or of a blueprint."""
HCL = (".tf", ".tfvars", ".tf.json", ".tfvars.json")


def recognises(api_version: str, kind: str) -> bool:
    """Return whether documents of this apiVersion and kind describe only nodes, or something that pools refer to."""
    key = (api_version.rpartition("/")[0], kind)
    return key in (NODE, CLUSTER_POLICY) or key in READERS or key in REFERRED or key[0] in TEMPLATES


def recognises_text(text: str) -> bool:
    """Return the same for the text of ConfigMaps and of documents without apiVersion and kind."""
    return any(mark in text for mark, _ in PLAIN_READERS) or any(word in text for word in PLUGIN_WORDS)


def may_be_unread(text: str) -> bool:
    """Return whether a text may define node pools in a recognised but unsupported format."""
    return BLUEPRINT in text or ("ype" in text and any(word in text for word in UNREAD_TYPES))


def describes_nodes(root: Cursor) -> bool:
    """Return whether an object only describes nodes."""
    return recognises(root.text_at("apiVersion"), root.text_at("kind"))
