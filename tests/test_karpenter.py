"""What the class of nodes of a Karpenter pool changes: figures computed by hand from the providers' formulas."""

from __future__ import annotations

from pathlib import Path

import pytest

from qcheck.cluster.nodes import NodePool
from qcheck.pipeline.gather import gather
from qcheck.settings import Settings

FORMATS = Path(__file__).parent.parent / "fixtures" / "formats"
MIB, GIB = 2**20, 2**30
P4D = 1152 * GIB - 1152 * GIB * 75 // 1000
"""What a p4d.24xlarge shows of its memory."""


def pools(path: Path) -> dict[str, NodePool]:
    return {p.name: p for p in gather([str(path)], Settings()).clusters[0].pools}


def left(path: Path, name: str) -> dict[str, int]:
    return pools(path)[name].machines[0].allocatable


def a_pool(folder: Path, node_class: str, requirements: str = "") -> Path:
    """A pool of p4d.24xlarge nodes of a class whose spec is given as flow YAML."""
    (folder / "pool.yaml").write_text(
        f"apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {{name: c}}\nspec: {node_class}\n---\n"
        "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: a}\nspec:\n  template:\n    spec:\n"
        "      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: c}\n      requirements:\n"
        f"        - {{key: node.kubernetes.io/instance-type, operator: In, values: [p4d.24xlarge]}}\n{requirements}"
    )
    return folder


def test_what_the_kubelet_keeps_replaces_the_formula() -> None:
    machine = pools(FORMATS / "karpenter-node-class" / "pools.yaml")["training"].machines[0]
    assert machine.allocatable["cpu"] == 93_500
    assert machine.allocatable["memory"] == P4D - 7 * GIB
    assert machine.allocatable["pods"] == 40
    assert (machine.sure["pods"], machine.sure["cpu"]) == ("declared", "estimated")


KUBELETS = {
    "{}": (737, P4D - (255 + 11 * 737 + 100) * MIB),
    "{kubelet: {maxPods: 110}}": (110, P4D - (255 + 11 * 110 + 100) * MIB),
    "{kubelet: {podsPerCore: 3}}": (288, P4D - (255 + 11 * 288 + 100) * MIB),
    "{kubelet: {podsPerCore: 3, maxPods: 200}}": (200, P4D - (255 + 11 * 200 + 100) * MIB),
    "{kubelet: {maxPods: 110, kubeReserved: {memory: 1Gi}}}": (110, P4D - 1024 * MIB - 100 * MIB),
    "{kubelet: {maxPods: 110, evictionHard: {memory.available: 2%}}}": (
        110,
        P4D - (255 + 11 * 110) * MIB - -(-P4D * 2 // 100),
    ),
}


@pytest.mark.parametrize("node_class", KUBELETS)
def test_pods_and_memory_by_class(node_class: str, tmp_path: Path) -> None:
    found = left(a_pool(tmp_path, node_class), "a")
    assert (found["pods"], found["memory"]) == KUBELETS[node_class]


def test_pods_that_are_no_number_are_unknown(tmp_path: Path) -> None:
    (machine,) = pools(a_pool(tmp_path, "{kubelet: {maxPods: many}}"))["a"].machines
    assert "pods" in machine.unknown
    assert "pods" not in machine.allocatable


def test_interfaces_are_the_efa_devices(tmp_path: Path) -> None:
    wires = "{networkInterfaces: [{interfaceType: interface}, {interfaceType: efa-only}, {interfaceType: efa}]}"
    assert left(a_pool(tmp_path, wires), "a")["vpc.amazonaws.com/efa"] == 2


def test_a_class_that_is_elsewhere_changes_nothing() -> None:
    machine = pools(FORMATS / "karpenter" / "pools.yaml")["training"].machines[0]
    assert machine.allocatable["pods"] == 110


ANY = ("on-demand", "spot", "reserved")
CAPACITY_TYPES = {
    "of a class with reservations": ("{capacityReservationSelectorTerms: [{id: cr-1}]}", "", ANY),
    "of a class without": ("{role: x}", "", ("on-demand", "spot")),
    "asked for": (
        "{capacityReservationSelectorTerms: [{id: cr-1}]}",
        "        - {key: karpenter.sh/capacity-type, operator: In, values: [reserved, spot]}\n",
        ("reserved", "spot"),
    ),
}


@pytest.mark.parametrize("case", CAPACITY_TYPES)
def test_nodes_may_be_reserved_where_reservations_are_selected(case: str, tmp_path: Path) -> None:
    node_class, requirements, types = CAPACITY_TYPES[case]
    pool = pools(a_pool(tmp_path, node_class, requirements))["a"]
    assert pool.varying["karpenter.sh/capacity-type"] == types
    assert ("karpenter.k8s.aws/capacity-reservation-id" in pool.varying) == ("reserved" in types)


def test_a_placement_group_shows_on_nodes(tmp_path: Path) -> None:
    pool = pools(a_pool(tmp_path, "{placementGroupSelector: {name: x}}"))["a"]
    assert "karpenter.k8s.aws/placement-group-id" in pool.varying


def narrowed(folder: Path, group: str, *requirements: str) -> NodePool:
    """A pool of a provider with requirements of the form `key operator values`."""
    lines = []
    for each in requirements:
        key, operator, *values = each.split()
        lines.append(f"        - {{key: {key}, operator: {operator}, values: {[*values]}}}\n")
    (folder / "pool.yaml").write_text(
        "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: a}\nspec:\n  template:\n    spec:\n"
        f"      nodeClassRef: {{group: {group}, kind: C, name: c}}\n      requirements:\n" + "".join(lines)
    )
    return pools(folder)["a"]


AZURE, GCP, GKE = "karpenter.azure.com", "karpenter.k8s.gcp", "cloud.google.com/gke-accelerator"
NARROWED = {
    "sizes that Azure counts no GPUs for": (AZURE, ["sku-gpu-count In 4", "sku-cpu Gt 96"], set()),
    "as many cores as asked for": (
        AZURE,
        ["sku-gpu-count In 8", "sku-cpu In 40 96"],
        {
            "Standard_ND40rs_v2", "Standard_ND96amsr_A100_v4", "Standard_ND96asr_v4", "Standard_ND96isr_H100_v5",
            "Standard_ND96isr_H200_v5", "Standard_ND96isr_MI300X_v5",
        },
    ),
    "cores alone say nothing of GPUs": (AZURE, ["sku-cpu In 96"], set()),
    "a family that Google sells without GPUs": (GCP, ["instance-family In n2"], set()),
    "a family and its shape": (GCP, ["instance-family In a2-megagpu"], {"a2-megagpu-16g"}),
    "eight GPUs, rightly counted": (GCP, ["instance-family In a4", "instance-gpu-count In 8"], {"a4-highgpu-8g"}),
}  # fmt: skip


@pytest.mark.parametrize("case", NARROWED)
def test_requirements_leave_the_types_that_may_satisfy_them(case: str, tmp_path: Path) -> None:
    group, wanted, types = NARROWED[case]
    pool = narrowed(tmp_path, group, *(f"{group}/{each}" for each in wanted))
    assert {m.instance_type for m in pool.machines} == types
    assert (pool.why_unknown is None) == bool(types)


def test_labels_whose_value_is_not_known_may_have_any(tmp_path: Path) -> None:
    pool = narrowed(tmp_path, GCP, f"{GKE} In nvidia-h200-141gb")
    assert pool.varying["karpenter.k8s.gcp/instance-gpu-count"] == ()
    assert pool.machines[0].labels["karpenter.k8s.gcp/instance-cpu"] == "224"


def test_labels_of_machines_that_cannot_be_told_may_have_any_value(tmp_path: Path) -> None:
    pool = narrowed(tmp_path, "karpenter.k8s.aws", "karpenter.k8s.aws/instance-gpu-manufacturer In nvidia")
    assert not pool.machines
    for label in ("node.kubernetes.io/instance-type", "karpenter.k8s.aws/instance-family"):
        assert pool.varying[label] == ()
