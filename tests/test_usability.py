"""The topology part of `qcheck capacity`: 16 nodes of 8 GPUs, of which a DaemonSet takes one each; and racks."""

from __future__ import annotations

import json
from pathlib import Path

from qcheck.api import audit
from qcheck.cluster.cluster import Cluster
from qcheck.reports.capacity import render_json, render_text
from qcheck.settings.load import load_settings

FIXTURES = Path("fixtures/rules")
SEVEN = FIXTURES / "QC506-shapes-do-not-pack" / "fail-daemonset-leaves-seven"
RACKS = FIXTURES / "QC507-gang-exceeds-domain" / "fail-shape"
CORES = FIXTURES / "QC509-co-resource-strands-accelerators" / "fail-cores"


def clusters(case: Path) -> tuple[Cluster, ...]:
    return audit([str(case)], load_settings(explicit=str(case / "qcheck.yaml"))).clusters


def text(case: Path) -> str:
    return render_text(clusters(case))


def as_list(value: object) -> list[dict[str, object]]:
    assert isinstance(value, list)
    return value


def topology(case: Path) -> dict[str, object]:
    data = json.loads(render_json(clusters(case)))
    found = data["clusters"][0]["flavors"][0]["topology"]
    assert isinstance(found, dict)
    return found


def use(size: int, **figures: object) -> dict[str, object]:
    """Pods of one size, without a topology."""
    return {"name": str(size), "size": size, "largestGangs": {}, **figures}


def test_what_a_daemon_set_strands() -> None:
    found = topology(SEVEN)
    taken = [{"pool": "h100", "amount": 112, "by": "DaemonSets and reserves"}]
    assert found["free"] == 112
    assert found["sizes"] == [
        use(1, pods=112, idle=0, fragmentation=[0, 1], stranded=[]),
        use(2, pods=48, idle=16, fragmentation=[1, 7], stranded=[{**taken[0], "amount": 16}]),
        use(4, pods=16, idle=48, fragmentation=[3, 7], stranded=[{**taken[0], "amount": 48}]),
        use(8, pods=0, idle=112, fragmentation=[1, 1], stranded=taken),
    ]
    assert found["expectedFragment"] == [0, 1]


def test_what_cores_strand() -> None:
    found = topology(CORES)
    stranded = [{"pool": "h100", "amount": 4, "by": "cpu"}]
    assert found["shapes"] == [use(1, pods=12, idle=4, fragmentation=[1, 4], stranded=stranded) | {"name": "trainer"}]
    assert found["perAccelerator"] == {"cpu": 11_500, "memory": 980 * 2**30 // 8}


def test_the_largest_domain_of_each_level() -> None:
    assert topology(RACKS)["largestDomains"] == {"example.com/rack": {"nodes": 18, "accelerators": 72}}


def test_the_largest_gang_of_each_level() -> None:
    found = topology(RACKS)
    uses = [*as_list(found["sizes"]), *as_list(found["shapes"])]
    gangs = {u["name"]: u["largestGangs"] for u in uses}
    racks = {"1": 72, "2": 36, "4": 18, "giant": 18}
    assert gangs == {name: {"example.com/rack": pods} for name, pods in racks.items()}
    assert "largest gang in one domain of example.com/rack, in pods: 72 of 1, 36 of 2, 18 of 4, 18 of giant" in text(
        RACKS
    )


def test_a_rate_that_is_no_whole_percentage_is_shown_exactly_too() -> None:
    assert "  fragmentation rate: 42.9 % (3/7) for pods of worker\n" in text(SEVEN)


def test_a_domain_is_full_size_where_the_pool_may_grow_without_end(tmp_path: Path) -> None:
    for file in RACKS.iterdir():
        (tmp_path / file.name).write_text(file.read_text().replace("count: 36", "count: {min: 2}"))
    assert topology(tmp_path)["largestDomains"] == {"example.com/rack": {"nodes": 18, "accelerators": 72}}


def test_in_words() -> None:
    shown, _, _ = text(CORES).partition("\n\nwhere the figures come from")
    assert shown.splitlines()[-6:] == [
        "h100: 16 nvidia.com/gpu free",
        "  pods that fit, by size: 16 of 1, 8 of 2, 4 of 4, 2 of 8",
        "  trainer (1 each): 12 pods (4 idle: cpu)",
        "  fragmentation rate: 25 % for pods of trainer",
        "  no accelerator is stranded up to 11.5 cores and 122 GiB of memory per nvidia.com/gpu",
        "  expected fragment for the declared shapes: 0 of 16",
    ]
