"""Targets of `make fuzz` for broken questions and running clusters: scenarios, demands, edits, and the output of kubectl."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any
from unittest.mock import patch

import running_fleet
from fuzz_commands import judged, told
from fuzz_readers import Broken, Target, laid_out
from mutations import Case, read_case
from rule_cases import FIXTURES

from qcheck.documents.load import load
from qcheck.sources import kubectl

SCENARIO = "scenario.yaml"
DEMAND = "demand.yaml"
USAGE = "usage.yaml"
QUEUES = {"research-fleet": "pretraining", "kai-departments": "llm", "volcano-lab": "vision"}
"""A queue of each of the example clusters."""
ADMITTED = b"""\
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata: {name: job-train, namespace: pretraining, uid: "7", creationTimestamp: "2026-01-01T00:00:00Z"}
spec:
  queueName: reserved
  priority: 10
  podSets:
  - name: main
    count: 2
    template:
      spec:
        containers: [{name: c, resources: {requests: {nvidia.com/gpu: "7", cpu: "4"}}}]
status:
  admission:
    clusterQueue: pretraining
    podSetAssignments:
    - {name: main, count: 2, flavors: {nvidia.com/gpu: h100, cpu: h100}, resourceUsage: {nvidia.com/gpu: "14", cpu: "8"}}
  conditions:
  - {type: QuotaReserved, status: "True", reason: QuotaReserved, message: "", lastTransitionTime: "2026-01-01T00:00:01Z"}
  - {type: Admitted, status: "True", reason: Admitted, message: "", lastTransitionTime: "2026-01-01T00:00:01Z"}
---
apiVersion: v1
kind: Pod
metadata: {name: train-0, namespace: pretraining}
spec:
  nodeName: h100-0
  containers: [{name: c, resources: {limits: {nvidia.com/gpu: "7"}}}]
status: {phase: Running}
---
"""


def simulate(case: Case, dice: random.Random) -> None:
    """Run a scenario on its cluster; either may be damaged."""
    form = dice.choice(("json", "text", "html", "svg"))
    full = ["--full-with", "nvidia.com/gpu=1"] if dice.random() < 0.2 else []
    with laid_out(case):
        name = next(n for n in case if n.endswith(SCENARIO))
        judged(form, *told("simulate", f"./{name}", "--in", ".", "--format", form, *full))


def shares(case: Case, dice: random.Random) -> None:
    """Divide the quota by the demand and past usage of the case."""
    form = dice.choice(("json", "text", "markdown", "html"))
    files = [w for name, option in ((DEMAND, "--demand"), (USAGE, "--usage")) if name in case for w in (option, name)]
    with laid_out(case):
        judged(form, *told("shares", ".", "--format", form, *files))


def suggest(case: Case, dice: random.Random) -> None:
    """Suggest edits that make the check pass; files must remain readable after edits are written."""
    form, mode = dice.choice(("json", "text", "patch")), dice.choice(("minimal", "proportional", "fill"))
    writes = ["--write"] if dice.random() < 0.3 else []
    with laid_out(case):
        before = {name: load(raw, name).faults for name, raw in case.items()}
        code, report, complaints = told("suggest", ".", "--format", form, "--mode", mode, *writes)
        judged(form, code, report or "nothing" * (form == "patch" and code != 2), complaints)
        for name in (n for n in case if os.path.isfile(n)):
            if not before[name] and (faults := load(Path(name).read_bytes(), name).faults):
                raise Broken(f"{name} cannot be read after it was written: {faults[0].message}")


def running(case: Case, dice: random.Random) -> None:
    """Run the commands that read a cluster on one that lists the objects of the case."""
    form = dice.choice(("json", "text"))
    one = dice.choice(list(case))
    words = dice.choice(
        (
            ("check", "--live", "--format", form),
            ("check", ".", "--live", "--format", form),
            ("capacity", "--live", "--format", form),
            ("shares", "--live", "--format", form),
            ("admit", f"./{one}", "--live", "--busy", "--format", form),
            ("drift", ".", "--live", "--format", form),
            ("snapshot", "--live", "--redact"),
            ("snapshot", "--live"),
        )
    )
    with laid_out(case), patch.object(kubectl, "list_cluster", lambda *_: kubectl.Listed(listed(case))):
        code, report, complaints = told(*words)
        if words[0] == "snapshot" and load(report.encode(), "snapshot.yaml").faults:
            raise Broken(f"the snapshot cannot be read: {report[:300]}")
        judged(form if words[0] != "snapshot" else "text", code, report, complaints)


def listed(case: Case) -> dict[str, list[dict[str, Any]]]:
    """Return the objects of a case by kind, as in kubectl's JSON."""
    found: dict[str, list[dict[str, Any]]] = {kubectl.CONFIG_MAP: []}
    for name, raw in case.items():
        for document in load(raw, name).documents:
            each = json.loads(json.dumps(document.data, default=str))
            for item in each.get("items") or [] if isinstance(each, dict) and each.get("kind") == "List" else [each]:
                if isinstance(item, dict) and isinstance(item.get("kind"), str):
                    found.setdefault(item["kind"], []).append(item)
    return found


def first_questions() -> list[Case]:
    """Return the cases with questions: a scenario, a demand and past usage for each example cluster, and the live fleet."""
    return [*(_asked(name, queue) for name, queue in QUEUES.items()), {"cluster.yaml": ADMITTED + _running_fleet()}]


def _asked(name: str, queue: str) -> Case:
    pod_sets = "podSets: [{count: 2, requests: {nvidia.com/gpu: 4}}]"
    scenario = f"""\
version: 1
start: 0
evictionDelay: 5m
workloads:
- {{name: first, clusterQueue: {queue}, created: 0, priority: 5, {pod_sets}, duration: 1h}}
- {{name: next, clusterQueue: {queue}, created: 60, {pod_sets}, duration: 30m, repeat: {{count: 5, every: 10m}}}}
"""
    amounts = f"version: 1\nqueues:\n  {queue}: {{nvidia.com/gpu: 48, cpu: 100}}\n"
    files = read_case(FIXTURES / "clusters" / name)
    return {**files, SCENARIO: scenario.encode(), DEMAND: amounts.encode(), USAGE: amounts.encode()}


def _running_fleet() -> bytes:
    return "---\n".join(json.dumps(each) + "\n" for each in running_fleet.running()).encode()


TARGETS = {
    "simulate": Target(simulate, (SCENARIO,)),
    "shares": Target(shares),
    "suggest": Target(suggest),
    "running": Target(running),
}
