"""Every format of node pools against hand-written twins in the project's own format, and the traps of each."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import pytest

from qcheck.api import audit
from qcheck.cluster.nodes import NodePool
from qcheck.cluster.resources import GPU, is_compute
from qcheck.documents.cursor import Cursor
from qcheck.documents.load import load
from qcheck.nodepools.formats import READERS
from qcheck.nodepools.read import read
from qcheck.nodepools.terraform.pools import READERS as TERRAFORM
from qcheck.pipeline.gather import gather
from qcheck.settings import Settings
from qcheck.supply.supply import supply_of

FORMATS = Path(__file__).parent.parent / "fixtures" / "formats"
CASES = sorted(p.name for p in FORMATS.iterdir())
Shape = dict[str, object]


def pools(*paths: Path) -> tuple[NodePool, ...]:
    return gather([str(p) for p in paths], Settings()).clusters[0].pools


def originals(case: str) -> tuple[NodePool, ...]:
    """The pools of a case without their twins."""
    return pools(*(p for p in sorted((FORMATS / case).rglob("*")) if p.is_file() and p.name != "twin.yaml"))


def shape(pool: NodePool) -> Shape:
    """What two descriptions of one pool must have in common."""
    return {
        "count": (pool.minimum, pool.desired, pool.maximum),
        "labels": pool.labels,
        "taints": {str(t) for t in pool.taints},
        "machines": [
            (m.instance_type, m.model, {r: n for r, n in m.allocatable.items() if is_compute(r)}) for m in pool.machines
        ],
    }


def joined(twins: tuple[NodePool, ...]) -> dict[str, Shape]:
    """Twins by name; those of one name are the machines of one pool."""
    found: dict[str, Shape] = {}
    for name, alike in itertools.groupby(twins, lambda p: p.name):
        first, *more = (shape(p) for p in alike)
        machines = [m for s in (first, *more) for m in s["machines"]]  # type: ignore[attr-defined]
        found[name] = {**first, "machines": machines}
    return found


@pytest.mark.parametrize("name", CASES)
def test_a_pool_is_its_twin(name: str) -> None:
    read = originals(name)
    assert {p.name: shape(p) for p in read} == joined(pools(FORMATS / name / "twin.yaml"))
    assert not any(p.why_unknown for p in read)


def test_every_reader_has_a_case() -> None:
    text = "\n".join(p.read_text() for p in FORMATS.rglob("*.yaml"))
    modules = {module for (group, kind), module in READERS.items() if f"{group}/" in text and f"kind: {kind}\n" in text}
    assert modules == set(READERS.values())


def test_every_terraform_resource_has_a_case() -> None:
    """As HCL, as JSON, or in a plan."""
    text = "\n".join(p.read_text() for p in FORMATS.rglob("*") if p.name.endswith((".tf", ".json")))
    assert [kind for kind in TERRAFORM if f'"{kind}"' not in text] == []


@pytest.mark.parametrize(
    ("case", "pool", "zones", "spot", "count_line"),
    [
        ("terraform-gke", "h100", 3, False, "node_count     = var.h100_per_zone"),
        ("terraform-gke", "l4", 2, True, "max_node_count = 4"),
        ("terraform-gke", "cpu", 2, False, "total_max_node_count = 7"),
        ("terraform-plan", "a100-blue", 2, False, '"max_node_count": 3,'),
        ("terraform-eks-module", "l40s", 0, True, "max_size       = 6"),
        ("terraform-for-each", "h100", 0, False, "node_count  = each.value.count"),
        ("terraform-neoclouds", "l40s", 2, False, "worker_count     = 2"),
        ("terraform-json", "a100", 0, False, '"node_count": "${var.nodes + 1}",'),
        ("config-connector", "t4", 2, False, "autoscaling: {minNodeCount: 1, maxNodeCount: 3}"),
        ("eksctl", "t4", 0, True, "desiredCapacity: 3"),
        ("gardener", "gpu", 2, False, "maximum: 6"),
        ("hyperpod", "h100", 0, False, '"InstanceCount": 16,'),
        ("cluster-api", "aks-a100", 0, False, "scaling: {minSize: 1, maxSize: 5}"),
        ("openshift", "prod-gpu-us-east-2a", 1, False, "maxReplicas: 4"),
        ("karpenter-static", "reserved", 0, False, "replicas: 6"),
    ],
)
def test_zones_spot_and_where_the_count_is_written(
    case: str, pool: str, zones: int, spot: bool, count_line: str
) -> None:
    found = next(p for p in originals(case) if p.name == pool)
    assert (len(found.zones), found.spot) == (zones, spot)
    place = found.count_place
    assert place.origin.line(place.span[0]).strip() == count_line


def test_shared_gpus_keep_their_physical_number() -> None:
    shared = {p.name: p.machines[0] for c in ("config-connector", "terraform-plan") for p in originals(c)}
    assert shared["t4"].physical == {"nvidia.com/gpu": 4}
    assert shared["a100-blue"].physical == {"nvidia.com/gpu": 1}


ATTACHED = """\
variable "gpus" {}
resource "google_container_node_pool" "a" {
  name       = "a"
  location   = "us-central1-a"
  node_count = 2
  node_config {
    machine_type = "n1-standard-16"
    guest_accelerator {
      type  = "nvidia-tesla-t4"
      count = NUMBER
    }
  }
}
"""


@pytest.mark.parametrize(("number", "gpus", "unknown"), [("4", 4, set()), ("var.gpus", 0, {GPU}), ("-2", 0, {GPU})])
def test_devices_attached_by_a_block_are_counted(tmp_path: Path, number: str, gpus: int, unknown: set[str]) -> None:
    (tmp_path / "main.tf").write_text(ATTACHED.replace("NUMBER", number))
    (machine,) = pools(tmp_path)[0].machines
    assert (machine.allocatable.get(GPU, 0), set(machine.unknown)) == (gpus, unknown)


def test_figures_say_where_they_come_from() -> None:
    (pool,) = pools(FORMATS / "kops" / "groups.yaml")
    assert "2 to 5 nodes: spec.maxSize" in pool.figures
    assert any(f.startswith("8 nvidia.com/gpu per g5.48xlarge node: catalogue, Karpenter") for f in pool.figures)
    assert any("191.45 cores, " in f and "per g5.48xlarge node: estimated" in f for f in pool.figures)


UNKNOWN = {
    "a variable without a value": (
        "main.tf",
        (
            'variable "n" {}\nresource "google_container_node_pool" "a" {\n  name = "a"\n  node_locations = ["x-y1-a"]\n'
            '  node_count = var.n\n  node_config {\n    machine_type = "a3-highgpu-8g"\n  }\n}\n'
        ),
        "node_count is var.n, which has no value here",
    ),
    "the zones of a regional pool": (
        "main.tf",
        'resource "google_container_node_pool" "a" {\n  name = "a"\n  location = "us-central1"\n  node_count = 2\n}\n',
        "the number of zones",
    ),
    "an instance type from data": (
        "main.tf",
        (
            'resource "aws_eks_node_group" "a" {\n  node_group_name = "a"\n  instance_types = [data.x.y.type]\n'
            "  scaling_config {\n    min_size = 1\n    desired_size = 1\n    max_size = 1\n  }\n}\n"
        ),
        "data.x.y.type",
    ),
    "whether it exists": (
        "main.tf",
        (
            'variable "on" {}\nresource "azurerm_kubernetes_cluster_node_pool" "a" {\n  count = var.on ? 1 : 0\n'
            '  name = "a"\n  vm_size = "Standard_D8s_v5"\n  node_count = 3\n}\n'
        ),
        "count is var.on",
    ),
    "a negative count": (
        "p.yaml",
        "apiVersion: qcheck.dev/v1\nkind: NodePool\nmetadata: {name: a}\nspec: {count: -3, allocatable: {cpu: 8}}\n",
        "count is -3",
    ),
    "a variable without a value in JSON": (
        "main.tf.json",
        (
            '{"variable": {"n": {}}, "resource": {"azurerm_kubernetes_cluster_node_pool": {"a": {\n'
            '"name": "a", "vm_size": "Standard_D8s_v5", "node_count": "${var.n}"}}}}\n'
        ),
        "node_count is var.n, which has no value here",
    ),
    "how often a resource in JSON exists": (
        "main.tf.json",
        (
            '{"resource": {"azurerm_kubernetes_cluster_node_pool": {"a": {\n'
            '"count": "${var.on}", "name": "a", "vm_size": "Standard_D8s_v5", "node_count": 3}}}}\n'
        ),
        "count is var.on",
    ),
    "a machine type of the future": (
        "c.yaml",
        (
            "apiVersion: eksctl.io/v1alpha5\nkind: ClusterConfig\nmetadata: {name: c}\nmanagedNodeGroups:\n"
            "  - {name: a, instanceType: p99.48xlarge, desiredCapacity: 2}\n"
        ),
        "p99.48xlarge",
    ),
}


@pytest.mark.parametrize("case", UNKNOWN)
def test_what_cannot_be_told_is_unknown_and_named(case: str, tmp_path: Path) -> None:
    name, text, why = UNKNOWN[case]
    (tmp_path / name).write_text(text)
    (pool,) = pools(tmp_path)
    assert pool.why_unknown is not None
    assert why in pool.why_unknown
    assert pool.count_unknown or not pool.machines
    assert pool.unknown_place is not None


def test_the_text_of_a_broken_configuration_is_named(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text('resource "aws_eks_node_group" "b" {\n  x = [\n}\n')
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "main.tf").write_text('resource "aws_s3_bucket" "nobody cares" {\n  x = [\n}\n')
    (problem,) = gather([str(tmp_path)], Settings()).clusters[0].problems
    assert problem.code == "yaml-syntax"
    assert problem.place.span[0] == 3


def test_broken_json_of_a_configuration_is_named(tmp_path: Path) -> None:
    (tmp_path / "main.tf.json").write_text('{"resource": {\n"aws_eks_node_group": ]}}\n')
    (problem,) = gather([str(tmp_path)], Settings()).clusters[0].problems
    assert problem.code == "yaml-syntax"
    assert problem.place.span[0] == 2


@pytest.mark.parametrize("text", ["[]", "3", '{"resource": 3}', '{"resource": {"aws_eks_node_group": [1, {"b": []}]}}'])
def test_json_of_another_shape_holds_no_pools(text: str, tmp_path: Path) -> None:
    (tmp_path / "main.tf.json").write_text(text + " " * 8 + "\n")
    (tmp_path / "more.tf").write_text("# aws_eks_node_group\n")
    assert not any(p.machines for p in pools(tmp_path))


def test_what_a_dynamic_block_in_json_makes_is_unknown(tmp_path: Path) -> None:
    (tmp_path / "main.tf.json").write_text(
        '{"resource": {"aws_eks_node_group": {"a": {"node_group_name": "a", "instance_types": ["p5.48xlarge"],'
        '"scaling_config": {"min_size": 1, "desired_size": 1, "max_size": 1},'
        '"dynamic": {"taint": {"for_each": "${var.taints}", "content": {}}}}}}}'
    )
    (pool,) = pools(tmp_path)
    assert pool.taints_unknown
    assert pool.why_unknown is not None


HOSTILE = {
    "doubling": "".join(f"  l{n + 1} = concat(local.l{n}, local.l{n})\n" for n in range(60)),
    "doubling text": "".join(f'  l{n + 1} = "${{local.l{n}}}${{local.l{n}}}"\n' for n in range(60)),
    "flattening": "".join(f"  l{n + 1} = [local.l{n}, local.l{n}]\n" for n in range(60))
    + "  l61 = flatten(local.l60)\n",
    "a circle": "  l60 = local.l61\n  l61 = local.l60\n",
    "a huge number": "  l60 = 1e999999999\n",
    "no key": "  l60 = { (null) = 1 }\n",
    "division by zero": "  l60 = element([], 1 / 0)\n",
    "depth": f"  l60 = {'(' * 5000}1{')' * 5000}\n",
    "width": '  l60 = format("%0999999999d", 1)\n',
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_configurations_end(case: str, tmp_path: Path) -> None:
    last = "l61" if case == "flattening" else "l60"
    text = f"locals {{\n  l0 = {chr(34) + 'x' + chr(34) if 'text' in case else '[1]'}\n{HOSTILE[case]}}}\n"
    text += f'resource "azurerm_kubernetes_cluster_node_pool" "a" {{\n  name = "a"\n  node_count = local.{last}\n}}\n'
    (tmp_path / "main.tf").write_text(text)
    found = pools(tmp_path)
    assert all(p.count_unknown for p in found)
    assert len(found) == 1 or case == "depth"


def test_pools_of_one_name_are_told_apart(tmp_path: Path) -> None:
    twin = (FORMATS / "kops" / "twin.yaml").read_text()
    for name, mark in (("a.yaml", "one"), ("b.yaml", "two"), ("c.yaml", "two")):
        (tmp_path / name).write_text(twin.replace("  labels:\n", f"  labels:\n    mark: {mark}\n"))
    cluster = gather([str(tmp_path)], Settings()).clusters[0]
    assert len({g.name for g in supply_of(cluster).groups}) == 2


ODD: tuple[object, ...] = (None, True, 5, -3, 1.5, "x", "${A}", [], {}, [None], [[]])


def spoilt(value: object, chance: random.Random) -> object:
    """The same data with some values of other types."""
    if chance.random() < 0.08:
        return chance.choice(ODD)
    if isinstance(value, dict):
        return {k: spoilt(v, chance) for k, v in value.items()}
    return [spoilt(v, chance) for v in value] if isinstance(value, list) else value


@pytest.mark.parametrize("seed", range(12))
def test_fields_of_another_type_never_raise(seed: int) -> None:
    files = [p for p in sorted(FORMATS.rglob("*")) if p.suffix in (".yaml", ".json")]
    documents = [d for p in files for d in load(p.read_text(), str(p)).documents]
    chance = random.Random(seed)
    roots = [
        Cursor(d, (), {**d.data, "spec": spoilt(d.data.get("spec"), chance)})
        for d in documents
        if isinstance(d.data, dict)
    ]
    whole = [Cursor(d, (), spoilt(d.data, chance)) for d in documents]
    for pool in read([*roots, *whole], {}).pools:
        assert pool.count_place.span
        assert pool.maximum is None or pool.maximum >= 0


def test_pools_that_a_compute_class_names_are_reached_by_its_label(tmp_path: Path) -> None:
    (tmp_path / "class.yaml").write_text(
        "apiVersion: cloud.google.com/v1\nkind: ComputeClass\nmetadata: {name: gpu}\nspec: {priorities: [{nodepools: [a]}]}\n"
    )
    text = 'resource "google_container_node_pool" "NAME" {\n  name = "NAME"\n  node_count = 1\n  node_locations = ["z"]\n}\n'
    (tmp_path / "main.tf").write_text(text.replace("NAME", "a") + text.replace("NAME", "b"))
    labels = {p.name: p.labels.get("cloud.google.com/compute-class") for p in pools(tmp_path)}
    assert labels == {"a": "gpu", "b": None}


@pytest.mark.parametrize(
    ("accelerator", "count", "machine"),
    [
        ("tpu-v5-lite-podslice", 4, "ct5lp-hightpu-4t"),
        ("tpu-v5p-slice", 4, "ct5p-hightpu-4t"),
        ("tpu-v6e-slice", 8, "ct6e-standard-8t"),
        ("tpu7x", 4, "tpu7x-standard-4t"),
    ],
)
def test_the_tpus_of_a_compute_class_determine_its_machines(
    tmp_path: Path, accelerator: str, count: int, machine: str
) -> None:
    tpu = f"{{type: {accelerator}, count: {count}, topology: 2x2}}"
    (tmp_path / "class.yaml").write_text(
        "apiVersion: cloud.google.com/v1\nkind: ComputeClass\nmetadata: {name: tpu}\n"
        f"spec: {{priorities: [{{spot: true, tpu: {tpu}}}, {{tpu: {tpu}}}]}}\n"
    )
    (pool,) = pools(tmp_path)
    assert {(m.instance_type, m.allocatable["google.com/tpu"]) for m in pool.machines} == {(machine, count)}
    assert pool.labels["cloud.google.com/gke-tpu-accelerator"] == accelerator
    assert pool.labels["cloud.google.com/gke-tpu-topology"] == "2x2"
    assert "google.com/tpu" in {t.key for t in pool.taints}


@pytest.mark.parametrize(
    ("flavor", "model", "gpus"),
    [("gx3d.160x1792.8h100", "H100", 8), ("gx3.16x80.l4", "L4", 1), ("gx3-16x80x1l4", "L4", 1)],
)
def test_ibm_flavors_name_machine_profiles(tmp_path: Path, flavor: str, model: str, gpus: int) -> None:
    (tmp_path / "main.tf").write_text(
        'resource "ibm_container_vpc_worker_pool" "gpu" {\n  worker_pool_name = "gpu"\n'
        f'  flavor = "{flavor}"\n  worker_count = 2\n}}\n'
    )
    (machine,) = pools(tmp_path)[0].machines
    assert (machine.instance_type, machine.model, machine.allocatable["nvidia.com/gpu"]) == (flavor, model, gpus)


@pytest.mark.parametrize(
    ("accelerator", "count", "machine"),
    [
        ("nvidia-h200-141gb", 8, "a3-ultragpu-8g"),
        ("nvidia-h100-mega-80gb", 8, "a3-megagpu-8g"),
        ("nvidia-h100-80gb", 8, "a3-highgpu-8g"),
        ("nvidia-tesla-a100", 2, "a2-highgpu-2g"),
        ("nvidia-l4", 1, None),
        ("nvidia-l4", 8, "g2-standard-96"),
        ("nvidia-tesla-t4", 1, None),
    ],
)
def test_the_gpus_of_a_compute_class_determine_its_machines(
    tmp_path: Path, accelerator: str, count: int, machine: str | None
) -> None:
    """Machines with one L4 have several sizes. A T4 can be attached to machines of any size."""
    (tmp_path / "class.yaml").write_text(
        "apiVersion: cloud.google.com/v1\nkind: ComputeClass\nmetadata: {name: gpu}\n"
        f"spec: {{priorities: [{{gpu: {{type: {accelerator}, count: {count}}}}}]}}\n"
    )
    (pool,) = pools(tmp_path)
    assert [m.instance_type for m in pool.machines] == ([machine] if machine else [])


MAP_OF_FILES = """\
for_each = { for f in fileset(path.module, "pool*.yaml") : f => templatefile(f, {a = var.b}) }
  yaml_body = each.value"""


@pytest.mark.parametrize(
    ("text", "is_unknown"),
    [
        ('for_each = fileset("${path.module}/pools", "*.yaml")\n  yaml_body = templatefile(each.value, {})', False),
        (MAP_OF_FILES, False),
        ('for_each = fileset("${path.module}/pools", "*.tftpl")\n  yaml_body = templatefile(each.value, {})', True),
    ],
    ids=["files", "a map of files", "other files"],
)
def test_manifests_in_files_that_are_read_anyway_are_not_unknown(tmp_path: Path, text: str, is_unknown: bool) -> None:
    (tmp_path / "main.tf").write_text(f'variable "b" {{}}\nresource "kubectl_manifest" "node_pools" {{\n  {text}\n}}\n')
    found = [f for f in audit([str(tmp_path)]).findings if f.rule and f.rule.id == "QC010"]
    assert bool(found) is is_unknown
