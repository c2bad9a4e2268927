"""KAI's fair shares against recordings of its own code: the division, and the share in each cycle of a trace."""

from __future__ import annotations

import json
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from qcheck.cluster.kai import Dimension
from qcheck.cluster.value import replace
from qcheck.schedulers.kai.hierarchy import Hierarchy, HierarchyQueue, Share
from qcheck.schedulers.kai.history import Window
from qcheck.schedulers.kai.simulation.gang import DIMENSIONS, GPU, NOTHING, SimulatedGang, Vector
from qcheck.schedulers.kai.simulation.run import Run, ShardState
from qcheck.schedulers.kai.simulation.usage_history import Past

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

Record = dict[str, Any]
NEAR = 1e-6
"""Recorded shares are rounded to nine places."""
MEGABYTE = 1_000_000.0
RUN_LAG = 12
"""How many samples the released simulator's shares may lie behind its allocations (see the recording's meta)."""


def differences(path: Path) -> Iterator[str]:
    """Yield one line for each recorded value that qcheck computes differently."""
    return (line for _, line in compared(path) if line)


def count(path: Path) -> int:
    """How many recorded values are compared."""
    return sum(1 for _ in compared(path))


def compared(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the name of each recorded value, with a line about the difference or an empty one."""
    recorded = json.loads(path.read_text())
    kinds: list[tuple[str, Callable[[Record], Iterator[tuple[str, str]]]]] = [
        ("scenarios", _scenario),
        ("traces", _trace),
        ("traces", _rerun),
        ("runs", _run),
    ]
    for key, judged in kinds:
        for record in recorded.get(key, []):
            yield from judged(record)


def _differs(name: str, ours: float, theirs: float) -> tuple[str, str]:
    near = abs(ours - theirs) <= NEAR * max(1.0, abs(theirs))
    return name, "" if near else f"{name}: {ours}, recorded: {theirs}"


# One division -------------------------------------------------------------------------------------------------------


def _scenario(record: Record) -> Iterator[tuple[str, str]]:
    tree = Hierarchy(_member(queue) for queue in record["queues"])
    shares = tree.fair_shares(
        _amounts(record["total"]),
        {name: _amounts(asked) for name, asked in record["requests"].items()},
        {name: _amounts(used) for name, used in record["usage"].items()},
        _k(record["kValue"]),
    )
    expected = record["fair_share"]
    yield record["name"], "" if set(shares) == set(expected) else f"{record['name']}: queues {sorted(shares)}"
    for queue, amounts in expected.items():
        for dimension in Dimension:
            name = f"{record['name']}: {queue} {dimension.value}"
            yield _differs(name, shares.get(queue, {}).get(dimension, 0.0), amounts[dimension.value])


def _k(text: object) -> float:
    return 1.0 if text is None else float(str(text))


def _amounts(given: Mapping[str, float]) -> dict[Dimension, float]:
    return {Dimension(name): float(amount) for name, amount in given.items()}


def _member(queue: Record) -> HierarchyQueue:
    spec = queue["spec"]
    resources = spec.get("resources") or {}
    return HierarchyQueue(
        name=queue["name"],
        parent=spec.get("parentQueue", ""),
        terms={d: _terms(resources.get(d.value) or {}, d) for d in Dimension},
        priority=spec.get("priority", 100),
        created=float(queue.get("created", 0)),
    )


def _terms(given: Mapping[str, float], dimension: Dimension) -> Share:
    quota, limit = float(given.get("quota", 0)), float(given.get("limit", 0))
    if dimension is Dimension.MEMORY:
        quota, limit = max(-1.0, quota * MEGABYTE), max(-1.0, limit * MEGABYTE)
    return Share(quota=quota, limit=limit, weight=float(given.get("overQuotaWeight", 0)))


# Traces of KAI's actions --------------------------------------------------------------------------------------------


def _trace(record: Record) -> Iterator[tuple[str, str]]:
    given = record["input"]
    tree = Hierarchy(_traced_queues(given["queues"]))
    held = {name: _unfolded(each["allocated"]) for name, each in record["trace"].items()}
    recorded = {name: _unfolded(each["fair_share"]) for name, each in record["trace"].items()}
    total = float(sum(node["gpus"] * node["count"] for node in given["nodes"]))
    window = Window(size=int(given["windowSize"]), half_life=given["halfLife"])
    samples = [{name: held[name][cycle] for name in held} for cycle in range(given["cycles"])]
    asked = _demand(record, held)
    for cycle in range(given["cycles"]):
        used = {} if given["timeBasedOff"] else window.usage(samples[:cycle], total)
        shares = _gpu_shares(tree, total, asked[cycle], used, _k(given["kValue"]))
        for name, theirs in recorded.items():
            yield _differs(f"{record['name']}: {name} cycle {cycle}", shares[name], theirs[cycle])
            if name in used:
                theirs_used = record["trace"][name]["usage"][cycle]
                yield _usage(f"{record['name']}: usage of {name} cycle {cycle}", used[name], theirs_used)


def _rerun(record: Record) -> Iterator[tuple[str, str]]:
    """The same jobs on qcheck's own cycles: what each queue holds after each, and who is evicted."""
    given = record["input"]
    nodes = tuple(float(node["gpus"]) for node in given["nodes"] for _ in range(node["count"]))
    window = Window(size=int(given["windowSize"]), half_life=given["halfLife"])
    world = ShardState(
        tree=Hierarchy(_traced_queues(given["queues"])),
        total=_of_gpus(sum(nodes), UNBOUNDED),
        nodes=nodes,
        k=_k(given["kValue"]),
        past=None if given["timeBasedOff"] else Past(window, _of_gpus(sum(nodes), 0.0)),
    )
    held = {name: _unfolded(each["allocated"]) for name, each in record["trace"].items()}
    run = Run(world, _gangs(given["jobs"]))
    lost: set[tuple[int, str]] = set()
    events = {(event["cycle"], _numbered(*event["job"][1:].split("-"))) for event in record["evictions"]}
    theirs_lost: set[tuple[int, str]] = set()
    for cycle in range(given["cycles"]):
        before = set(run.running)
        done = run.cycle(cycle)
        lost |= {(cycle, name) for name in done.evicted}
        # KAI also records gangs that did not run yet and lost their promise to another gang.
        theirs_lost |= {(cycle, name) for name in before.union(done.started) if (cycle, name) in events}
        now = run.held()
        if world.past is not None:
            world.past.add(now)
        for name, theirs in held.items():
            ours = now.get(name, NOTHING)[GPU]
            yield _differs(f"{record['name']}: held by {name} after cycle {cycle}", ours, theirs[cycle])
    for cycle, job in sorted(lost | theirs_lost):
        by = [who for who, events in (("qcheck", lost), ("KAI", theirs_lost)) if (cycle, job) in events]
        yield (
            f"{record['name']}: {job}",
            "" if len(by) == 2 else f"{record['name']}: {by[0]} evicts {job} in cycle {cycle}",
        )


UNBOUNDED = 1e9


def _of_gpus(gpus: float, rest: float) -> Vector:
    return tuple(gpus if dimension is Dimension.GPU else rest for dimension in DIMENSIONS)


def _numbered(group: str, number: str) -> str:
    """A name that sorts in the order of creation."""
    return f"g{int(group):03}-{number}"


class TracedGang(SimulatedGang):
    """A job of the recording's driver, which creates all jobs in order, regardless of when it submits them."""

    @cached_property
    def order(self) -> tuple[int, int, str]:
        return (-self.priority, 0, self.name)


def _gangs(jobs: list[Record]) -> Iterator[TracedGang]:
    for group, job in enumerate(jobs):
        priority = job["priorityClassValue"] or 50
        for number in range(job["count"]):
            yield TracedGang(
                name=_numbered(str(group), f"{number:03}"),
                queue=job["queue"],
                pods=(_of_gpus(float(job["gpusPerPod"]), 0.0),) * job["pods"],
                priority=priority,
                is_preemptible=priority < 100,
                since=job["submitAtCycle"],
                runs_for=job["durationCycles"] or None,
            )


def _usage(name: str, ours: float, theirs: float) -> tuple[str, str]:
    """Usage is recorded with five places."""
    return name, "" if abs(ours - theirs) < 2e-5 else f"{name}: {ours}, recorded: {theirs}"


def _traced_queues(queues: list[Record]) -> Iterator[HierarchyQueue]:
    """Return the queues as the recording's driver creates them: one after the other."""
    return (replace(_traced_queue(queue), created=float(at)) for at, queue in enumerate(queues))


def _traced_queue(queue: Record) -> HierarchyQueue:
    terms = Share(quota=float(queue["deservedGPUs"]), limit=float(queue["limit"]), weight=float(queue["weight"]))
    unbounded = Share(quota=-1.0, limit=-1.0, weight=1.0)
    return HierarchyQueue(
        name=queue["name"],
        parent=queue["parent"],
        terms={d: terms if d is Dimension.GPU else unbounded for d in Dimension},
        priority=queue["priority"] or 100,
    )


def _gpu_shares(
    tree: Hierarchy, total: float, asked: Mapping[str, float], used: Mapping[str, float], k: float
) -> dict[str, float]:
    def gpus(amounts: Mapping[str, float]) -> dict[str, dict[Dimension, float]]:
        return {name: {Dimension.GPU: amount} for name, amount in amounts.items()}

    shares = tree.fair_shares({Dimension.GPU: total}, gpus(asked), gpus(used), k)
    return {name: each[Dimension.GPU] for name, each in shares.items()}


def _unfolded(runs: list[list[float]]) -> list[float]:
    return [value for value, cycles in runs for _ in range(int(cycles))]


class _Job:
    def __init__(self, name: str, given: Record) -> None:
        self.name, self.queue = name, given["queue"]
        self.size = given["gpusPerPod"] * given["pods"]
        self.duration: int | None = given["durationCycles"] or None
        self.left = self.duration
        self.submitted = given["submitAtCycle"]


def _demand(record: Record, held: Mapping[str, list[float]]) -> list[dict[str, float]]:
    """What each leaf queue asks for at the start of each cycle.

    Recorded are the sums of queues and who is evicted; jobs start in their order, and end when their cycles are over.
    """
    given = record["input"]
    jobs = [
        _Job(f"g{group}-{number:03}", each)
        for group, each in enumerate(given["jobs"])
        for number in range(each["count"])
    ]
    asked = []
    running: list[_Job] = []
    done: set[str] = set()
    lost = {(event["cycle"], event["job"]) for event in record["evictions"]}
    for cycle in range(given["cycles"]):
        for job in running:
            if job.left is not None:
                job.left -= 1
        done |= {job.name for job in running if job.left == 0}
        running = [job for job in running if job.left != 0]
        here = [job for job in jobs if job.submitted <= cycle and job.name not in done]
        sums: dict[str, float] = {}
        for job in here:
            sums[job.queue] = sums.get(job.queue, 0.0) + job.size
        asked.append(sums)
        for job in [job for job in running if (cycle, job.name) in lost]:
            running.remove(job)
            job.left = job.duration
        for job in here:
            holding = sum(other.size for other in running if other.queue == job.queue)
            if job not in running and (cycle, job.name) not in lost and holding + job.size <= held[job.queue][cycle]:
                running.append(job)
    return asked


# Runs of the released simulator -------------------------------------------------------------------------------------


def _run(record: Record) -> Iterator[tuple[str, str]]:
    if "trace" not in record:
        return
    given, trace = record["input"], record["trace"]
    tree = Hierarchy(_simulated_queue(queue) for queue in given["Queues"])
    held = {name: _unfolded(each["allocated"]) for name, each in trace.items()}
    recorded = {name: _unfolded(each["fair_share"]) for name, each in trace.items()}
    length = len(next(iter(held.values())))
    samples = [{name: held[name][at] for name in held} for at in range(length)]
    window = Window(size=int(given["WindowSize"]), half_life=given["HalfLifePeriod"])
    total = record["observed_total_gpus"]

    def shares(at: int) -> dict[str, float]:
        used = window.usage(samples[:at], total)
        return _gpu_shares(tree, total, _left_over(given["Jobs"], held, at), used, _k(given["KValue"]))

    ours = [shares(at) for at in range(length + 1)]
    for at in range(length):
        name = f"{record['name']}: sample {at}"
        theirs = {queue: recorded[queue][at] for queue in recorded}
        near = ours[max(0, at - RUN_LAG) : at + 2]
        yield name, "" if any(each == theirs for each in near) else f"{name}: {ours[at]}, recorded: {theirs}"


def _simulated_queue(queue: Record) -> HierarchyQueue:
    terms = Share(quota=float(queue.get("DeservedGPUs", 0)), limit=-1.0, weight=float(queue.get("Weight", 1)))
    priority = queue.get("Priority") or 100
    return HierarchyQueue(name=queue["Name"], parent=queue["Parent"], terms={Dimension.GPU: terms}, priority=priority)


def _left_over(jobs: Mapping[str, Record], held: Mapping[str, list[float]], at: int) -> dict[str, float]:
    """What the queues ask for: the simulator deletes an evicted pod and nothing submits it again."""
    asked = {}
    for queue, job in jobs.items():
        seen = [0.0, *held[queue][:at]]
        evicted = sum(max(0.0, before - after) for before, after in pairwise(seen))
        asked[queue] = job["GPUs"] * job["NumPods"] * job["NumJobs"] - evicted
    return asked
