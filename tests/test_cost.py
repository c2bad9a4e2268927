"""What the nodes cost: every part is exact, and the parts are the bill."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qcheck.answers.cost import HOURS_OF_A_MONTH, Cost, cost_of
from qcheck.cli.entrypoint import run
from qcheck.documents.yaml_text import to_yaml
from qcheck.pipeline.gather import gather
from qcheck.reports.cost import cost_rows
from qcheck.settings.load import load_settings
from qcheck.sources.files import Content, Found

GPU = "nvidia.com/gpu"


def pool(nodes: int, gpus: int = 8, machine: str = "gpu-8x") -> dict[str, Any]:
    spec = {"count": nodes, "instanceType": machine, "labels": {"gpu": "h100"}}
    amounts = {"cpu": "190", "memory": "1900Gi", "pods": "110", GPU: str(gpus)}
    return {
        "apiVersion": "qcheck.dev/v1",
        "kind": "NodePool",
        "metadata": {"name": machine},
        "spec": {**spec, "allocatable": amounts},
    }


def flavor() -> dict[str, Any]:
    spec = {"nodeLabels": {"gpu": "h100"}}
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "ResourceFlavor",
        "metadata": {"name": "h100"},
        "spec": spec,
    }


def queue(name: str, nominal: int, cohort: str | None = None, lending: int | None = None) -> dict[str, Any]:
    cell = {"name": GPU, "nominalQuota": nominal, **({} if lending is None else {"lendingLimit": lending})}
    groups = [{"coveredResources": [GPU], "flavors": [{"name": "h100", "resources": [cell]}]}]
    spec = {"namespaceSelector": {}, "resourceGroups": groups, **({"cohortName": cohort} if cohort else {})}
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue", "metadata": {"name": name}, "spec": spec}


def daemon_set(gpus: int) -> dict[str, Any]:
    container = {"name": "c", "image": "x", "resources": {"limits": {GPU: str(gpus)}}}
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [container]}}
    spec = {"selector": {"matchLabels": {"a": "b"}}, "template": template}
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "health", "namespace": "x"},
        "spec": spec,
    }


def bill(folder: Path, settings: str, *objects: dict[str, Any]) -> Cost:
    (folder / "qcheck.yaml").write_text(settings)
    found = Found([Content("all.yaml", to_yaml(objects).encode())], [])
    cost = cost_of(gather(found, load_settings(str(folder))).clusters[0])
    assert cost is not None
    return cost


PRICES = "version: 1\nprices: {gpu-8x: 98.32}\n"


def test_quota_daemon_sets_and_the_rest(tmp_path: Path) -> None:
    cost = bill(tmp_path, PRICES, pool(2), flavor(), queue("team", 6), daemon_set(1))
    each = Fraction("98.32") / 8
    assert (cost.hour, cost.reserved) == (Fraction("196.64"), 6 * each)
    assert (cost.stranded, cost.unclaimed, cost.lendable) == (2 * each, 8 * each, Fraction(0))


def test_what_may_be_lent_is_a_part_of_the_reservation(tmp_path: Path) -> None:
    queues = [queue("a", 8, "c", lending=3), queue("b", 8, "c")]
    cost = bill(tmp_path, PRICES, pool(2), flavor(), *queues)
    each = Fraction("98.32") / 8
    assert [(q.queue, q.reserved, q.lendable) for q in cost.queues] == [
        ("a", 8 * each, 3 * each),
        ("b", 8 * each, 8 * each),
    ]


def test_quota_beyond_the_nodes_costs_nothing(tmp_path: Path) -> None:
    cost = bill(tmp_path, PRICES, pool(2), flavor(), queue("team", 99))
    assert cost.reserved == cost.hour == Fraction("196.64")


def test_devices_that_no_pod_can_use_are_stranded(tmp_path: Path) -> None:
    shapes = f"{PRICES}shapes: [{{name: trainer, requests: {{nvidia.com/gpu: 3, cpu: 10}}, flavors: [h100]}}]\n"
    assert bill(tmp_path, shapes, pool(1), flavor(), queue("team", 8)).stranded == 2 * Fraction("98.32") / 8
    cores = f"{PRICES}shapes: [{{name: trainer, requests: {{nvidia.com/gpu: 1, cpu: 60}}, flavors: [h100]}}]\n"
    assert bill(tmp_path, cores, pool(1), flavor(), queue("team", 8)).stranded == 5 * Fraction("98.32") / 8


def test_a_reserve_is_under_no_quota(tmp_path: Path) -> None:
    reserve = f"{PRICES}capacity: {{reserves: [{{pools: ['*'], perNode: {{nvidia.com/gpu: 1}}, reason: debug}}]}}\n"
    assert bill(tmp_path, reserve, pool(1), flavor(), queue("team", 7)).unclaimed == Fraction("98.32") / 8


def test_nodes_without_a_price_are_named(tmp_path: Path) -> None:
    cost = bill(tmp_path, PRICES, pool(1), pool(2, machine="other"), flavor(), queue("team", 1))
    assert (cost.hour, cost.unpriced) == (Fraction("98.32"), ("other",))


@given(
    nodes=st.lists(st.tuples(st.integers(0, 4), st.integers(1, 9)), min_size=1, max_size=3),
    quotas=st.lists(st.tuples(st.integers(0, 30), st.booleans()), max_size=4),
    taken=st.integers(0, 3),
    price=st.integers(1, 10**6),
)
def test_the_parts_are_the_bill(
    tmp_path_factory: pytest.TempPathFactory,
    nodes: list[tuple[int, int]],
    quotas: list[tuple[int, bool]],
    taken: int,
    price: int,
) -> None:
    names = [f"type-{at}" for at in range(len(nodes))]
    settings = "version: 1\nprices: {" + ", ".join(f"{n}: {price / 100}" for n in names) + "}\n"
    pools = [pool(count, gpus, name) for (count, gpus), name in zip(nodes, names, strict=True)]
    queues = [queue(f"q{at}", nominal, "c" if lends else None) for at, (nominal, lends) in enumerate(quotas)]
    cost = bill(tmp_path_factory.mktemp("cost"), settings, *pools, flavor(), *queues, daemon_set(taken))
    assert cost.hour == sum(count for count, _ in nodes) * Fraction(price, 100)
    assert cost.reserved + cost.stranded + cost.unclaimed == cost.hour
    assert cost.lendable <= cost.reserved
    *parts, whole = (Fraction(amount.replace(",", "")) for _, amount, _ in cost_rows(cost))
    assert sum(parts) == whole == round(cost.hour * HOURS_OF_A_MONTH, 2)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("qcheck.yaml").write_text(PRICES)
    Path("all.yaml").write_text(to_yaml([pool(2), flavor(), queue("team", 16)]))
    return tmp_path


def test_the_capacity_report_has_the_bill(repository: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert run(["capacity", "--format", "json"]) == 0
    [cluster] = json.loads(capsysbinary.readouterr().out)["clusters"]
    cost = cluster["cost"]
    assert [cost[k] for k in ("hour", "reserved", "lendable", "stranded", "unclaimed")] == [196.64, 196.64, 0, 0, 0]
    assert [f["costPerHour"] for f in cluster["flavors"]] == [196.64]
    assert run(["capacity"]) == 0
    assert "143,547.20" in capsysbinary.readouterr().out.decode()


@pytest.mark.parametrize("form", ["markdown", "html"])
def test_reports_show_the_bill(form: str, repository: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    run(["check", "--format", form])
    assert "143,547.20" in capsysbinary.readouterr().out.decode()


def test_without_prices_nothing_is_said(repository: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    Path("qcheck.yaml").unlink()
    run(["capacity", "--format", "json"])
    assert b"cost" not in capsysbinary.readouterr().out


@pytest.mark.parametrize(
    ("prices", "why"),
    [
        ("{gpu-9x: 1}", "gpu-9x"),
        ("{gpu-8x: -1}", "0 or more"),
        ("{gpu-8x: .inf}", "not a number that JSON allows"),
        ("{gpu-8x: much}", "prices"),
    ],
)
def test_a_price_of_nothing_is_refused(
    prices: str, why: str, repository: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    Path("qcheck.yaml").write_text(f"version: 1\nprices: {prices}\n")
    assert run(["capacity"]) == 2
    told = capsysbinary.readouterr().err.decode()
    assert "qcheck.yaml:2" in told
    assert why in told
