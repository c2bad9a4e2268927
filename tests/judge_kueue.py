"""Recordings of the real Kueue and kube-scheduler: each Job or JobSet alone on the idle cluster of its directory.

`differences` compares whether it is admitted, with which flavors, counts and topology domains, and whether its pods run. A
witness that qcheck prints is checked against the nodes, the pods that ran on them, and the topology request.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qcheck.api import admit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.answers.verdict import Verdict

Recorded = dict[str, Any]
VERDICTS = "verdicts.json"


def recordings(path: Path) -> dict[str, list[Recorded]]:
    """What was recorded, by the directory of the cluster."""
    found: dict[str, list[Recorded]] = {}
    for each in json.loads((path / VERDICTS).read_text()):
        found.setdefault(each["cluster"], []).append(each)
    return found


def count(path: Path) -> int:
    """How many workloads are compared."""
    return sum(len(each) for each in recordings(path).values())


def differences(path: Path) -> Iterator[str]:
    """One line per recorded fact that qcheck does not share."""
    for cluster, recorded in recordings(path).items():
        verdicts = _judged(path / cluster)
        for each in recorded:
            found = verdicts.get(each["job"])
            for what in ("was not read",) if found is None else _unlike(found, each):
                yield f"{path.name}/{cluster}/{each['job']}: {what}"


def _judged(folder: Path) -> dict[str, Verdict]:
    jobs, cluster = folder / "jobs.yaml", folder / "cluster.yaml"
    asked, around = ([jobs], [cluster]) if jobs.exists() else ([cluster], [])
    return {v.workload.name: v for _, v in admit([str(p) for p in asked], [str(p) for p in around]).verdicts}


def _unlike(verdict: Verdict, recorded: Recorded) -> Iterator[str]:
    if verdict.admitted is not recorded["admitted"]:
        why = "; ".join(r.message for r in verdict.reasons)
        yield f"admitted {verdict.admitted} ({why}), recorded {recorded['admitted']} {recorded.get('message', '')}"
        return
    if not recorded["admitted"]:
        if verdict.runs:
            yield "runs, although it is not admitted"
        return
    wanted = {name: flavors or {} for name, flavors in recorded.get("flavors", {}).items()}
    if (flavors := _flavors(verdict, wanted)) != wanted:
        yield f"flavors {flavors}, recorded {wanted}"
    counts = {a.pod_set.name: a.demand.count for a in verdict.decision.assigned}
    if counts != recorded.get("count", counts):
        yield f"counts {counts}, recorded {recorded['count']}"
    if verdict.runs is not None and verdict.runs is not recorded.get("runs", verdict.runs):
        why = "; ".join(r.message for r in verdict.reasons)
        yield f"runs {verdict.runs} ({why}), recorded {recorded['runs']} {recorded.get('why', '')}"


def _flavors(verdict: Verdict, recorded: dict[str, Any]) -> dict[str, Any]:
    """The flavors in the form in which they were recorded: by pod set, or of the only one."""
    by_pod_set = {a.pod_set.name: a.flavors for a in verdict.decision.assigned}
    if not any(isinstance(of, dict) for of in recorded.values()):
        return {r: f for flavors in by_pod_set.values() for r, f in flavors.items()}
    return by_pod_set


@cache
def _documents(file: Path) -> tuple[Recorded, ...]:
    """JSON documents between `---` lines."""
    return tuple(json.loads(text) for text in file.read_text().split("\n---\n") if text.strip())
