"""Compares simulated runs with recordings of the real scheduler, cycle by cycle.

A recording is JSON with `scenarios`: `input` (queues, cohorts, workloads), `result`, and, where an older release differs,
its result. Every scenario is compared on both releases.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qcheck.api import simulate
from qcheck.cluster.value import replace
from qcheck.reports.simulation import as_data
from qcheck.settings import Settings
from qcheck.settings.build import release

if TYPE_CHECKING:
    from collections.abc import Iterator

    Recording = dict[str, Any]

MAIN, OLD = "0.20", "0.19"
API, CONFIG = "kueue.x-k8s.io/v1beta2", "config.kueue.x-k8s.io/v1beta2"


def count(path: Path) -> int:
    """The number of runs that are compared."""
    return 2 * len(_recordings(path))


def differences(path: Path) -> Iterator[str]:
    """A line for each difference between a recorded run and the simulated one."""
    for recording in _recordings(path):
        yield from _differences(recording)


def _recordings(path: Path) -> list[Recording]:
    found: list[Recording] = json.loads(path.read_text(encoding="utf-8"))["scenarios"]
    return found


def _differences(recording: Recording) -> Iterator[str]:
    name = f"scenario {recording['id']} ({recording['mode']})"
    with tempfile.TemporaryDirectory() as folder:
        _write(recording, Path(folder))
        yield from (f"{name}, main: {d}" for d in _compared(_run(folder, MAIN), recording["result"], with_reasons=True))
        older = recording["result"] if recording["sameInV0_19_2"] else recording["v0_19_2"]
        yield from (f"{name}, {OLD}: {d}" for d in _compared(_run(folder, OLD), older, with_reasons=False))


def _write(recording: Recording, folder: Path) -> None:
    """A cluster and a scenario as files."""
    given = recording["input"]
    fair: Recording = {"fairSharing": {}} if recording["mode"] == "fair" else {}
    objects = [{"apiVersion": CONFIG, "kind": "Configuration", **fair}]
    objects += [_object("ResourceFlavor", name) for name in given["resourceFlavors"]]
    objects += [_object("WorkloadPriorityClass", n, value=v) for n, v in given["priorityClasses"].items()]
    objects += [_object("Cohort", c["name"], spec=c["spec"]) for c in given["cohorts"]]
    objects += [
        _object("ClusterQueue", q["name"], spec={"namespaceSelector": {}, **q["spec"]}) for q in given["clusterQueues"]
    ]
    scenario = {"version": 1, "start": given["start"], "workloads": given["workloads"]}
    (folder / "cluster").mkdir()
    (folder / "cluster" / "all.yaml").write_text("\n---\n".join(map(json.dumps, objects)), encoding="utf-8")
    (folder / "scenario.yaml").write_text(json.dumps(scenario), encoding="utf-8")


def _object(kind: str, name: str, **fields: object) -> Recording:
    return {"apiVersion": API, "kind": kind, "metadata": {"name": name}, **fields}


def _run(folder: str, kueue: str) -> Recording:
    settings = Settings()
    policy = replace(settings.policy, kueue=release(kueue))
    scopes = tuple(replace(s, policy=policy) for s in settings.scopes)
    run = simulate(f"{folder}/scenario.yaml", [f"{folder}/cluster"], replace(settings, policy=policy, scopes=scopes))
    return as_data(run)


def _compared(run: Recording, recorded: Recording, with_reasons: bool) -> Iterator[str]:
    if run["end"] != recorded["end"]:
        yield f"ends {run['end']}, recorded {recorded['end']}"
    cycles = {c["cycle"]: c for c in run["cycles"]}
    for cycle in recorded["cycles"]:
        mine = cycles.get(cycle["cycle"], {"heads": [], "admitted": [], "preempted": []})
        for key in ("heads", "admitted", "preempted"):
            if mine[key] != cycle.get(key, []):
                yield f"cycle {cycle['cycle']}, {key}: {mine[key]}, recorded {cycle.get(key, [])}"
    if run["admitted"] != recorded["admitted"]:
        yield f"admitted: {_names(run['admitted'])}, recorded {_names(recorded['admitted'])}"
    ours, theirs = (_pending(side["pending"], with_reasons) for side in (run, recorded))
    if ours != theirs:
        yield f"pending: {[p for p in ours if p not in theirs]}, recorded {[p for p in theirs if p not in ours]}"


def _pending(pending: list[Any], with_reasons: bool) -> list[Any]:
    """Names alone, or with the place and the reason; the recording of the older release has names only."""
    if with_reasons:
        return [{k: p[k] for k in ("workload", "place", "reason")} for p in pending]
    return [p if isinstance(p, str) else p["workload"] for p in pending]


def _names(admitted: list[Recording]) -> list[str]:
    return [a["workload"] for a in admitted]
