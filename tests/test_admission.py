"""The verdict on single workloads: each file below `fixtures/admission` says in its second line what must come out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from qcheck.answers.verdict import Verdict
from qcheck.api import admit
from qcheck.reports.admission import render_json, render_text

FOLDER = Path(__file__).resolve().parent.parent / "fixtures" / "admission"
WORDS = {True: "true", False: "false", None: "null"}


def expected(file: Path) -> dict[str, str]:
    marks = file.read_text(encoding="utf-8").splitlines()[1].removeprefix("#! ")
    return dict(word.split("=", 1) for word in marks.split())


def told(verdict: Verdict) -> dict[str, str]:
    found = {"admitted": WORDS[verdict.admitted], "runs": WORDS[verdict.runs]}
    if verdict.reasons:
        found |= {"code": verdict.reasons[0].code, "cause": verdict.reasons[0].cause}
    return found


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.yaml")), ids=lambda f: f.stem)
def test_the_verdict_is_the_one_that_is_marked(file: Path) -> None:
    judged = admit([str(file)], [str(file)])
    (_, verdict), *more = judged.verdicts
    wanted = expected(file)
    shown = render_text(judged)
    assert not more
    assert {k: v for k, v in told(verdict).items() if k in wanted} == wanted, shown
    assert judged.exit_code == {True: 0, False: 1, None: 2}[verdict.runs]
    assert bool(verdict.witness) is bool(verdict.runs), "what runs carries a witness, and nothing else does"
    assert all(p.nodes for p in verdict.witness), "pods are on nodes"
    assert verdict.runs or verdict.reasons, "what does not run says why"


CHANGES = {
    "exceeds-quota": "run 4 pods of main at once instead of 5",
    "does-not-pack": "run 2 pods of main at once instead of 3",
    "larger-than-any-node": "ask for 8 nvidia.com/gpu per pod instead of 12",
    "daemonset-takes-the-eighth": "ask for 7 nvidia.com/gpu per pod instead of 8",
    "taint-that-nothing-tolerates": "tolerate dedicated=ml:NoSchedule in the pod template",
    "selector-that-kueue-ignores": "remove disk from the nodeSelector",
    "resource-not-covered": "remove the request for rdma/ib",
    "topology-domain-too-small": "run 2 pods of main at once instead of 3",
    "deployment-runs-in-part": "run 4 pods of main at once instead of 5",
    "queue-stopped": "",
}


@pytest.mark.parametrize("name", sorted(CHANGES))
def test_the_smallest_change_is_one_that_was_tried(name: str) -> None:
    file = str(FOLDER / f"{name}.yaml")
    ((_, verdict),) = admit([file], [file]).verdicts
    assert verdict.change == CHANGES[name]


def test_the_json_report_keeps_its_contract() -> None:
    file = str(FOLDER / "runs.yaml")
    (found,) = json.loads(render_json(admit([file], [file])))["workloads"]
    assert (found["queue"], found["clusterQueue"], found["admitted"], found["runs"]) == ("main", "training", True, True)
    assert found["flavors"] == {"cpu": "h100", "memory": "h100", "nvidia.com/gpu": "h100"}
    assert found["placement"] == [{"pool": "h100", "nodes": 1, "names": [], "podsPerNode": {"main": 2}}]
    assert found["reasons"] == []


def test_a_file_without_workloads_cannot_be_judged() -> None:
    judged = admit([str(FOLDER.parent / "clusters" / "research-fleet" / "queues")], [])
    assert judged.exit_code == 2
    assert "no workload was found" in judged.unjudged[-1]


def test_a_given_workload_counts_before_one_of_the_same_name(tmp_path: Path) -> None:
    large = (FOLDER / "exceeds-quota.yaml").read_text(encoding="utf-8").rpartition("---\n")[2]
    (tmp_path / "z.yaml").write_text(large, encoding="utf-8")
    judged = admit([str(tmp_path / "z.yaml")], [str(FOLDER / "runs.yaml")])
    assert [v.admitted for _, v in judged.verdicts] == [False]
