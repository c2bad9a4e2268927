"""Every row of the catalogue is plausible; names of general-purpose types tell their size."""

from __future__ import annotations

import pytest

from qcheck.cluster.resources import is_compute
from qcheck.nodepools import machine_catalogue
from qcheck.nodepools.machine_capacity import of_type
from qcheck.nodepools.machine_type import GIB, MachineType
from qcheck.nodepools.provider_labels import GKE_ACCELERATORS

PROVIDERS = {
    "aws": 90, "azure": 60, "gcp": 50, "oci": 25, "nebius": 17, "crusoe": 10, "lambda": 10, "coreweave": 9, "ibm": 7,
    "sagemaker-hyperpod": 45,
}  # fmt: skip
"""The clouds and how many accelerator types of each there are at the least."""


def rows() -> list[MachineType]:
    return [row for provider in PROVIDERS for row in machine_catalogue.all_of(provider)]


@pytest.mark.parametrize("provider", PROVIDERS)
def test_the_accelerator_types_of_each_cloud_are_there(provider: str) -> None:
    assert sum(row.resource is not None for row in machine_catalogue.all_of(provider)) >= PROVIDERS[provider]


def test_names_are_unique_within_a_cloud() -> None:
    keys = [(row.provider, row.name) for row in rows()]
    assert len(keys) == len(set(keys))


def test_every_row_names_its_source() -> None:
    assert not [row.name for row in rows() if not row.source]


def test_a_gpu_has_a_resource_and_a_resource_has_a_model() -> None:
    wrong = [row.name for row in rows() if (row.resource is None) != (row.model is None)]
    wrong += [row.name for row in rows() if row.resource is not None and not is_compute(row.resource)]
    wrong += [row.name for row in rows() if row.count and row.resource is None]
    assert not wrong


def test_cores_and_memory_are_plausible() -> None:
    for row in rows():
        if row.vcpu is not None and row.memory is not None:
            assert 1 <= row.vcpu <= 2048, row.name
            assert GIB // 4 <= row.memory <= 64 * 1024 * GIB, row.name
            assert GIB // 4 <= row.memory // row.vcpu <= 64 * GIB, row.name
        if row.count is not None:
            assert 0 <= row.count <= 16, row.name


def test_an_nvlink_domain_divides_the_gpus_or_is_divided_by_them() -> None:
    for row in rows():
        if row.nvlink_domain and row.count:
            assert row.nvlink_domain % row.count == 0 or row.count % row.nvlink_domain == 0, row.name


def test_what_is_left_for_pods_is_less_than_there_is() -> None:
    for row in rows():
        machine = of_type(row)
        for resource in ("cpu", "memory"):
            if resource in machine.allocatable:
                assert 0 <= machine.allocatable[resource] <= machine.capacity[resource], row.name
                assert machine.sure[resource] == "estimated"
        if row.resource and row.count:
            assert machine.allocatable[row.resource] == row.count
            assert machine.sure[row.resource] == "catalogue"


def test_gke_knows_the_label_of_every_gpu_it_sells() -> None:
    for row in machine_catalogue.all_of("gcp"):
        whole = row.gpu_memory is not None and row.gpu_memory not in (12 * GIB, 48 * GIB)
        if row.resource == "nvidia.com/gpu" and row.model != "RTX PRO 6000" and whole:
            assert (row.model, (row.gpu_memory or 0) >> 30) in GKE_ACCELERATORS, row.name


@pytest.mark.parametrize(
    ("provider", "name", "vcpu", "gib"),
    [
        ("gcp", "e2-standard-4", 4, 16),
        ("gcp", "n2-highmem-32", 32, 256),
        ("gcp", "n1-standard-16", 16, 60),
        ("gcp", "n2-custom-8-16384", 8, 16),
        ("azure", "Standard_D16s_v5", 16, 64),
        ("azure", "standard_e32-8s_v5", 8, 256),
        ("azure", "Standard_F8s_v2", 8, 16),
        ("nebius", "cpu-d3/16vcpu-64gb", 16, 64),
        ("aws", "m5.2xlarge", 8, 32),
    ],
)
def test_sizes_of_general_purpose_types(provider: str, name: str, vcpu: int, gib: int) -> None:
    found = machine_catalogue.find(name, provider)
    assert found is not None
    assert (found.vcpu, found.memory, found.resource) == (vcpu, gib * GIB, None)


@pytest.mark.parametrize(
    ("provider", "name"),
    [
        ("gcp", "n1-standard-0"),
        ("gcp", "custom-0-4096"),
        ("gcp", "ct5p-hightpu-0t"),
        ("azure", "Standard_D0s_v5"),
        ("nebius", "cpu-d3/0vcpu-0gb"),
    ],
)
def test_a_type_with_0_cores_or_chips_is_unknown(provider: str, name: str) -> None:
    assert machine_catalogue.find(name, provider) is None


def test_azure_does_not_care_about_case() -> None:
    assert machine_catalogue.find("standard_nd96isr_h100_v5", "azure") == machine_catalogue.find(
        "Standard_ND96isr_H100_v5", "azure"
    )
    assert machine_catalogue.find("P5.48xlarge", "aws") is None


@pytest.mark.parametrize(
    ("name", "chips"),
    [("ct4p-hightpu-4t", 4), ("ct5p-hightpu-2t", 2), ("tpu7x-ultra-4t", None), ("tpu8-standard-8t", 8)],
)
def test_the_name_of_a_tpu_type_states_its_chips(name: str, chips: int | None) -> None:
    found = machine_catalogue.find(name, "gcp")
    assert (found and (found.resource, found.count)) == (chips and ("google.com/tpu", chips))
