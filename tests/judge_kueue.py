"""Recordings of the real Kueue and kube-scheduler: each Job or JobSet alone on the idle cluster of its directory.

`differences` compares whether it is admitted, with which flavors, counts and topology domains, and whether its pods run. A
witness that qcheck prints is checked against the nodes, the pods that ran on them, and the topology request.
"""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qcheck.api import admit
from qcheck.documents.cursor import root
from qcheck.documents.load import load
from qcheck.kinds.pods import pod_template
from qcheck.pipeline.gather import gather
from qcheck.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.answers.verdict import Verdict
    from qcheck.cluster.nodes import Node
    from qcheck.cluster.pods import PodTemplate

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
            for what in _misplaced(found, each, path / cluster) if found is not None else ():
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


def _misplaced(verdict: Verdict, recorded: Recorded, folder: Path) -> Iterator[str]:
    """What is wrong with the witness: nodes that are overfull, and pods outside of the domains that Kueue chose."""
    used: dict[str, dict[str, int]] = {}
    placed: dict[str, Counter[str]] = {}
    for put in verdict.witness:
        for node in put.names:
            for name, count in put.pods.items():
                pod_set = next(p for p in verdict.workload.pod_sets if p.name == name)
                placed.setdefault(name, Counter())[node] += count
                _take(used.setdefault(node, {}), pod_set.template, count)
    for pod in _templates(folder / "pods.yaml"):
        if pod.node_name in used:
            _take(used[pod.node_name], pod, 1)
    nodes = {n.name: n for n in _nodes(folder / "cluster.yaml")}
    for name, taken in used.items():
        for resource, amount in taken.items():
            if amount > nodes[name].allocatable.get(resource, 0):
                yield f"the witness puts {amount} {resource} on {name}"
    for name, chosen in recorded.get("topology", {}).items():
        wanted = Counter({tuple(d["values"]): d["pods"] for d in chosen["domains"]})
        found: Counter[tuple[str, ...]] = Counter()
        for node, count in placed.get(name, Counter()).items():
            found[tuple(nodes[node].node_labels[level] for level in chosen["levels"])] += count
        if verdict.witness and found != wanted:
            yield f"the witness puts {name} into {dict(found)}, recorded {dict(wanted)}"


def _take(used: dict[str, int], template: PodTemplate, count: int) -> None:
    for resource, amount in {**template.amounts(), "pods": 1}.items():
        used[resource] = used.get(resource, 0) + amount * count


@cache
def _nodes(file: Path) -> tuple[Node, ...]:
    return gather([str(file)], Settings()).clusters[0].nodes


@cache
def _templates(file: Path) -> tuple[PodTemplate, ...]:
    """The pods that ran on the nodes."""
    if not file.exists():
        return ()
    return tuple(pod_template(root(d)) for d in load(file.read_bytes(), file.name).documents)
