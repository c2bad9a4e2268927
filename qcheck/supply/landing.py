"""Where pods may land: kube-scheduler's and the DaemonSet controller's view of a class of nodes.

Source: reference semantics of `nodeSelector`, required node affinity, taints and the DaemonSet controller's predicates.
Answers are three-valued because some labels differ from node to node in ways a repository does not tell.
"""

from __future__ import annotations

from qcheck.cluster.labels import Labels, NodeSelection, Taint, Toleration, untolerated
from qcheck.cluster.value import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qcheck.cluster.pods import PodTemplate

NONE, SOME, ALL = 0, 1, 2
"""How many nodes of a class match: none, some or perhaps some, all."""

_VARIETY = 256

DAEMON_TOLERATIONS = (
    Toleration("node.kubernetes.io/not-ready", "Exists", "", "NoExecute"),
    Toleration("node.kubernetes.io/unreachable", "Exists", "", "NoExecute"),
    Toleration("node.kubernetes.io/disk-pressure", "Exists", "", "NoSchedule"),
    Toleration("node.kubernetes.io/memory-pressure", "Exists", "", "NoSchedule"),
    Toleration("node.kubernetes.io/pid-pressure", "Exists", "", "NoSchedule"),
    Toleration("node.kubernetes.io/unschedulable", "Exists", "", "NoSchedule"),
)
"""What the DaemonSet controller adds to its pods; network-unavailable as well for those on the host network."""

_HOST_NETWORK = Toleration("node.kubernetes.io/network-unavailable", "Exists", "", "NoSchedule")

PASSING_TAINTS = (
    "node.kubernetes.io/", "node.cloudprovider.kubernetes.io/", "node.cilium.io/", "karpenter.sh/",
    "ToBeDeletedByClusterAutoscaler", "DeletionCandidateOfClusterAutoscaler",
)  # fmt: skip
"""Prefixes of taints that come and go with a node's health; no flavor needs to tolerate them."""


DISCOVERED_LABELS = (
    "nvidia.com/", "amd.com/", "beta.amd.com/", "gpu.intel.com/", "gpu.nvidia.com/", "feature.node.kubernetes.io/",
    "node.coreweave.cloud/", "backend.coreweave.cloud/", "ib.coreweave.cloud/", "ds.coreweave.com/",
    "oci.oraclecloud.com/", "topology.k8s.aws/", "cloud.google.com/gce-topology", "network.topology.nvidia.com/",
    "fabric.topograph.run/", "accelerator.topograph.run/", "topology.kubernetes.io/", "failure-domain.beta.kubernetes.io/",
    "sagemaker.amazonaws.com/", "karpenter.k8s.aws/instance-", "eks.amazonaws.com/instance-", "karpenter.azure.com/sku-",
    "karpenter.k8s.gcp/instance-",
)  # fmt: skip
"""Prefixes of labels that agents, autoscalers and clouds put on nodes, with values that no definition of a pool shows."""


GKE_NODE = "cloud.google.com/gke-nodepool"
"""A label of every GKE node."""


def devices_are_tolerated(labels: Mapping[str, str]) -> bool:
    """Whether pods that request a device surely tolerate the taint named like it.

    That is the ExtendedResourceToleration admission plugin's doing: off by default, on at GKE.
    """
    return GKE_NODE in labels


def is_discovered(key: str) -> bool:
    return key.startswith(DISCOVERED_LABELS)


def lasting(taints: tuple[Taint, ...]) -> tuple[Taint, ...]:
    """Taints that are part of a node's purpose, not of its health."""
    return tuple(t for t in taints if not t.key.startswith(PASSING_TAINTS))


def select(selection: NodeSelection, labels: Labels, varying: Mapping[str, tuple[str, ...]]) -> int:
    """How many nodes with these labels a selection matches: `NONE`, `SOME` or `ALL`.

    `varying` are labels that all nodes carry with differing values; an empty tuple means that the values are unknown.
    """
    keys = sorted(selection.keys & varying.keys() - labels.keys())
    has_fields = any(t.fields for t in selection.terms or ())
    if any(not varying[k] for k in keys) or has_fields:
        return SOME if _may_match(selection, labels, varying) else NONE
    answers = {selection.matches(case) for case in _cases(labels, varying, keys)}
    if answers == {True}:
        return ALL
    return SOME if True in answers else NONE


def _cases(labels: Labels, varying: Mapping[str, tuple[str, ...]], keys: list[str]) -> list[Labels]:
    """Every combination of the varying values that matter, up to a bound beyond which they are not told apart."""
    cases = [labels]
    for key in keys:
        cases = [{**c, key: value} for c in cases for value in varying[key]][:_VARIETY]
    return cases


def _may_match(selection: NodeSelection, labels: Labels, varying: Mapping[str, tuple[str, ...]]) -> bool:
    """Whether some value of the varying labels could satisfy the selection (an upper bound)."""

    def could(key: str, holds: bool) -> bool:
        return holds or (key in varying and key not in labels)

    if not all(could(k, labels.get(k) == v) for k, v in selection.selector.items()):
        return False
    return selection.terms is None or any(
        (t.expressions or t.fields) and all(could(e.key, e.matches(labels)) for e in t.expressions)
        for t in selection.terms
    )


def label_match(wanted: Labels, labels: Labels, varying: Mapping[str, tuple[str, ...]]) -> int:
    """`select` for plain labels, as a ResourceFlavor's nodeLabels are."""
    return select(NodeSelection(wanted), labels, varying)


def daemon_lands(
    template: PodTemplate, labels: Labels, varying: Mapping[str, tuple[str, ...]], taints: tuple[Taint, ...]
) -> int:
    """On how many nodes of a class the DaemonSet controller puts a pod. Resources are not consulted."""
    tolerations = (*template.tolerations, *DAEMON_TOLERATIONS, *((_HOST_NETWORK,) if template.host_network else ()))
    if untolerated(lasting(taints), tolerations):
        return NONE
    return select(template.selection, labels, varying)
