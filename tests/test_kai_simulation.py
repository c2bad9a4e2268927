"""KAI's cycles: what must hold on any shard, and stories with known ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import judge_kai
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qcheck.cli import entrypoint
from qcheck.cluster.kai import Dimension
from qcheck.reports.simulation_schema import json_schema
from qcheck.schedulers.kai.hierarchy import Hierarchy, HierarchyQueue, Share
from qcheck.schedulers.kai.history import Window
from qcheck.schedulers.kai.simulation.clock import cycles
from qcheck.schedulers.kai.simulation.gang import DIMENSIONS, GPU, NOTHING, SimulatedGang, Vector
from qcheck.schedulers.kai.simulation.run import Run, ShardState
from qcheck.schedulers.kai.simulation.usage_history import Past

STORY = Path(__file__).parent.parent / "fixtures" / "scenarios" / "kai-large-job"
UNBOUNDED = Share(quota=-1.0, limit=-1.0, weight=1.0)


def gpus(amount: float, rest: float = 0.0) -> Vector:
    return tuple(amount if dimension is Dimension.GPU else rest for dimension in DIMENSIONS)


def queue(name: str, quota: float = 0.0, weight: float = 1.0, limit: float = -1.0, parent: str = "") -> HierarchyQueue:
    share = Share(quota=quota, weight=weight, limit=limit)
    terms = {dimension: share if dimension is Dimension.GPU else UNBOUNDED for dimension in Dimension}
    return HierarchyQueue(name=name, parent=parent, terms=terms)


def world(
    *queues: HierarchyQueue, nodes: tuple[float, ...], k: float = 0.0, window: Window | None = None
) -> ShardState:
    past = Past(window, gpus(sum(nodes))) if window else None
    return ShardState(tree=Hierarchy(queues), total=gpus(sum(nodes), 1e9), nodes=nodes, k=k, past=past)


def gang(
    name: str, of: str, *pods: float, since: int = 0, priority: int = 50, runs_for: int | None = None
) -> SimulatedGang:
    return SimulatedGang(
        name=name,
        queue=of,
        pods=tuple(gpus(each) for each in pods),
        priority=priority,
        is_preemptible=priority < 100,
        since=since,
        runs_for=runs_for,
    )


def evictions(run: Run, seconds: int) -> list[str]:
    """Who is evicted in which cycle, with a cycle and a sample in every second."""
    found = []
    for at in range(seconds):
        cycle = run.cycle(at)
        if run.past is not None:
            run.past.add(run.held())
        found += [f"{at} {name}" for name in sorted(cycle.evicted)]
    return found


# What a scheduler of this kind does -------------------------------------------------------------------------------


def test_the_quota_of_an_owner_comes_back_and_no_more() -> None:
    place = world(queue("owner", quota=8), queue("guest"), nodes=(8.0, 8.0))
    run = Run(place, [*(gang(f"guest-{n}", "guest", 8) for n in range(2)), gang("mine", "owner", 8, since=1)])
    assert evictions(run, 5) == ["1 guest-1"]
    assert sorted(run.running) == ["guest-0", "mine"]


def test_a_job_above_its_share_starts_only_with_history() -> None:
    def swapped(k: float) -> bool:
        place = world(queue("steady"), queue("large"), nodes=(4.0,) * 4, k=k, window=Window(size=20))
        small = [gang(f"small-{n}", "steady", 4) for n in range(4)]
        run = Run(place, [*small, gang("large", "large", 4, 4, 4, since=10)])
        evictions(run, 40)
        return "large" in run.running

    assert (swapped(0.0), swapped(1.0)) == (False, True)


def test_of_three_equal_queues_with_jobs_for_the_whole_node_two_wait() -> None:
    queues = [queue(name) for name in "abc"]
    run = Run(world(*queues, nodes=(8.0,), k=3.0, window=Window(size=10)), [gang(name, name, 8) for name in "abc"])
    assert evictions(run, 100) == []


def test_two_equal_queues_take_turns() -> None:
    place = world(queue("a"), queue("b"), nodes=(8.0,), k=1.0, window=Window(size=10))
    found = evictions(Run(place, [gang("a", "a", 8), gang("b", "b", 8)]), 40)
    assert found == ["1 a", "12 b", "23 a", "34 b"]


def test_a_higher_priority_of_the_same_queue_preempts_and_an_equal_one_waits() -> None:
    def run_with(priority: int) -> list[str]:
        waiting = [gang("first", "a", 8), gang("second", "a", 8, since=1, priority=priority)]
        return evictions(Run(world(queue("a"), nodes=(8.0,)), waiting), 4)

    assert (run_with(50), run_with(75)) == ([], ["1 first"])


def test_what_cannot_be_preempted_stays_within_quota() -> None:
    place = world(queue("a", quota=4), nodes=(8.0,))
    run = Run(place, [gang("first", "a", 4, priority=125), gang("second", "a", 4, priority=125)])
    evictions(run, 2)
    assert sorted(run.running) == ["first"]
    assert run.refusal(run.waiting["second"], 2).value == "NonPreemptibleOverQuota"


def test_a_gang_needs_nodes_for_each_pod() -> None:
    run = Run(world(queue("a"), nodes=(4.0, 4.0)), [gang("wide", "a", 8), gang("two", "a", 4, 4, since=1)])
    evictions(run, 3)
    assert sorted(run.running) == ["two"]


# What holds on any shard -------------------------------------------------------------------------------------------


@st.composite
def runs(draw: st.DrawFn) -> tuple[ShardState, list[SimulatedGang]]:
    numbers = st.integers(0, 8).map(float)
    names = ["a", "b", "c"]
    members = [queue("top", quota=-1, limit=draw(st.sampled_from([-1.0, 12.0])))]
    members += [
        queue(
            name,
            draw(numbers),
            draw(numbers),
            draw(st.sampled_from([-1.0, 4.0, 8.0])),
            draw(st.sampled_from(["", "top"])),
        )
        for name in names
    ]
    window = Window(size=draw(st.integers(1, 12))) if draw(st.booleans()) else None
    place = world(
        *members, nodes=tuple(draw(st.lists(st.just(8.0), min_size=1, max_size=3))), k=draw(numbers), window=window
    )
    gangs = [
        gang(
            f"job-{number}",
            draw(st.sampled_from(names)),
            *draw(st.lists(st.sampled_from([1.0, 4.0, 8.0]), min_size=1, max_size=3)),
            since=draw(st.integers(0, 10)),
            priority=draw(st.sampled_from([50, 75, 100])),
            runs_for=draw(st.sampled_from([None, 3, 9])),
        )
        for number in range(draw(st.integers(1, 8)))
    ]
    return place, gangs


@settings(max_examples=150, deadline=None)
@given(runs())
def test_no_cycle_exceeds_nodes_or_limits_and_nobody_is_lost(given: tuple[ShardState, list[SimulatedGang]]) -> None:
    place, gangs = given
    run = Run(place, gangs)
    done: set[str] = set()
    for cycle in cycles(run, -1, 1):
        done.update(cycle.ended)
        held = run.held()
        for member in place.tree.queues.values():
            limit = member.terms[Dimension.GPU].limit
            assert limit == -1 or held.get(member.name, NOTHING)[GPU] <= limit
        used = [0.0] * len(place.nodes)
        for each in run.running.values():
            for node, pod in zip(each.nodes, each.gang.pods, strict=True):
                used[node] += pod[GPU]
        assert all(amount <= whole for amount, whole in zip(used, place.nodes, strict=True))
        assert not any(
            name in cycle.evicted and priority >= 100 for name, priority in ((g.name, g.priority) for g in gangs)
        )
        assert not run.running.keys() & run.waiting.keys()
        assert not done & (run.running.keys() | run.waiting.keys())


def test_samples_far_beyond_the_half_life_have_no_weight() -> None:
    past = Past(Window(size=7, half_life=0.0001), gpus(16))
    past.add({"a": gpus(8)})
    assert past.usage() == {"a": {}}


@settings(max_examples=40, deadline=None)
@given(runs(), st.integers(1, 5))
def test_the_history_of_equal_samples_is_that_of_single_ones(
    given: tuple[ShardState, list[SimulatedGang]], times: int
) -> None:
    _, gangs = given
    window = Window(size=7, half_life=2.5)
    samples = [{g.queue: g.total} for g in gangs for _ in range(times)]
    past = Past(window, gpus(16))
    for g in gangs:
        past.add({g.queue: g.total}, times)
    single = window.usage([{name: amounts[GPU] for name, amounts in sample.items()} for sample in samples], 16.0)
    assert {name: each[Dimension.GPU] for name, each in past.usage().items()} == pytest.approx(single)


# The command -------------------------------------------------------------------------------------------------------


def simulated(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = entrypoint.run(["simulate", *arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def as_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    code, out, err = simulated(capsys, *arguments, "--format", "json")
    assert (code, err) == (0, "")
    found: dict[str, Any] = json.loads(out)
    jsonschema.validate(found, json_schema())
    return found


def test_the_story_of_the_large_job(capsys: pytest.CaptureFixture[str]) -> None:
    found = as_json(capsys, str(STORY / "scenario.yaml"), "--in", str(STORY))
    taken = [p for cycle in found["cycles"] for p in cycle["preempted"]]
    assert {p["by"] for p in taken} == {"large"}
    assert {p["reason"] for p in taken} == {"Reclaim"}
    assert len(taken) == 15
    assert {"at": 3600, "shares": {"steady": 40, "bursty": 60}} in found["shares"]


def test_without_history_the_large_job_waits_for_the_small_ones(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for each in (STORY / "cluster").iterdir():
        text = each.read_text()
        (tmp_path / each.name).write_text(text.replace("kValue: 1\n", "kValue: 0\n"))
    found = as_json(capsys, str(STORY / "scenario.yaml"), "--in", str(tmp_path))
    assert not any(cycle["preempted"] for cycle in found["cycles"])
    started = next(c["at"] for c in found["cycles"] if any(a["workload"] == "large" for a in c["admitted"]))
    assert started > 3 * 3600


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (
            "{name: x, clusterQueue: absent, podSets: [{}]}",
            "there is no ClusterQueue and no Queue absent; there are: bursty, steady",
        ),
        ("{name: x, clusterQueue: steady, priorityClass: none, podSets: [{}]}", "there is no PriorityClass none"),
        ("{name: x, clusterQueue: steady, podSets: [{count: 0}]}", "x has no pods"),
        (
            "{name: x, clusterQueue: steady, podSets: [{requests: {nvidia.com/gpu: 5}}], admitted: {at: 0}}",
            "x does not fit on the nodes",
        ),
        (
            "{name: x, clusterQueue: steady, podSets: [{count: 9223372036854775807}]}",
            "with x, the workloads have more than",
        ),
    ],
)
def test_wrong_scenarios(capsys: pytest.CaptureFixture[str], tmp_path: Path, entry: str, message: str) -> None:
    scenario = tmp_path / "scenario.yaml"
    scenario.write_text(f"version: 1\nworkloads:\n- {entry}\n")
    code, _, err = simulated(capsys, str(scenario), "--in", str(STORY / "cluster"))
    assert code == 2
    assert message in err
    assert f"{scenario}:3" in err


def test_more_nodes_than_a_simulation_supports_are_rejected(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for each in (STORY / "cluster").iterdir():
        (tmp_path / each.name).write_text(each.read_text().replace("count: 25\n", "count: 9999999\n"))
    code, _, err = simulated(capsys, str(STORY / "scenario.yaml"), "--in", str(tmp_path))
    assert code == 2
    assert "has 9999999 nodes; a simulation supports at most 100000" in err


def test_a_page_has_a_lane_for_each_queue(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = simulated(capsys, str(STORY / "scenario.yaml"), "--in", str(STORY), "--format", "html")
    assert code == 0
    assert "KAI 0.17, shard default" in out
    assert out.count('class="lane"') == 2


RECORDED = Path(__file__).resolve().parent / "data" / "kai_traces.json"
"""Traces of KAI 0.17's own actions; each depends on one detail of KAI's queue order."""


def test_recorded_traces_are_repeated() -> None:
    compared = [*judge_kai.compared(RECORDED)]
    assert len(compared) > 2000
    assert [line for _, line in compared if line] == []
