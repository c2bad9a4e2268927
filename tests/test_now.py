"""The state of a running cluster: what is used, what waits, what runs outside; and admission beside what runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from standin_kubectl import install
from test_live import METADATA, node, queue, thing

from qcheck.cli.entrypoint import run

GPU = "nvidia.com/gpu"
KUEUE = "kueue.x-k8s.io/v1beta2"
EVENT = "0/2 nodes are available: 2 Insufficient nvidia.com/gpu."


def spec(gpus: int, **more: Any) -> dict[str, Any]:
    container = {"name": "c", "image": "x", "resources": {"limits": {GPU: str(gpus)}, "requests": {GPU: str(gpus)}}}
    return {"containers": [container], "restartPolicy": "Never", **more}


def owner(kind: str, name: str, api_version: str = "batch/v1") -> dict[str, Any]:
    return {"ownerReferences": [{"apiVersion": api_version, "kind": kind, "name": name, "controller": True}]}


def job(name: str, pods: int, gpus: int) -> dict[str, Any]:
    labels = {"labels": {"kueue.x-k8s.io/queue-name": "lq"}}
    body = {"parallelism": pods, "completions": pods, "suspend": True, "template": {"spec": spec(gpus)}}
    return thing("batch/v1", "Job", name, "ml", metadata=labels, spec=body)


def workload(name: str, pods: int, gpus: int, admitted: bool = True, priority: int = 0) -> dict[str, Any]:
    usage = {"name": "main", "count": pods, "flavors": {GPU: "h100"}, "resourceUsage": {GPU: str(pods * gpus)}}
    conditions = [
        {"type": t, "status": str(admitted), "reason": t, "message": ""} for t in ("QuotaReserved", "Admitted")
    ]
    status = {
        "conditions": conditions,
        **({"admission": {"clusterQueue": "team", "podSetAssignments": [usage]}} if admitted else {}),
    }
    pod_sets = [{"name": "main", "count": pods, "template": {"spec": spec(gpus)}}]
    body = {"queueName": "lq", "priority": priority, "podSets": pod_sets}
    return thing(KUEUE, "Workload", f"job-{name}", "ml", metadata=owner("Job", name), spec=body, status=status)


def pod(name: str, gpus: int, on: str | None, of: str | None, **more: Any) -> dict[str, Any]:
    blocked = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "from the condition"}
    status = {"phase": "Running"} if on else {"phase": "Pending", "conditions": [blocked]}
    body = spec(gpus, **({"nodeName": on} if on else {}))
    metadata = owner("Job", of) if of else {}
    return thing("v1", "Pod", name, "ml", metadata={**metadata, **more}, spec=body, status=status)


def busy_cluster(quota: str = "24") -> list[dict[str, Any]]:
    """Two nodes of 8: job a runs on the first, job b waits for nodes, somebody's pod holds 2 of the second."""
    active = {"type": "Active", "status": "False", "reason": "CheckNotFound", "message": "no such check"}
    usage = [{"name": "h100", "resources": [{"name": GPU, "total": "24"}]}]
    team = {**queue(quota), "status": {"flavorsUsage": usage, "flavorsReservation": usage, "conditions": []}}
    idle = {**queue("0", "idle"), "status": {"conditions": [active], "pendingWorkloads": 3}}
    event = {
        "involvedObject": {"kind": "Pod", "namespace": "ml", "name": "b-0"},
        "reason": "FailedScheduling",
        "message": EVENT,
    }
    return [
        thing(KUEUE, "ResourceFlavor", "h100", spec={"nodeLabels": {"gpu": "h100"}}),
        team,
        idle,
        thing(KUEUE, "LocalQueue", "lq", "ml", spec={"clusterQueue": "team"}),
        thing("v1", "Namespace", "ml"),
        node("node-0"),
        node("node-1"),
        job("a", 1, 8),
        job("b", 2, 8),
        workload("a", 1, 8),
        workload("b", 2, 8),
        pod("a-0", 8, "node-0", "a"),
        pod("b-0", 8, None, "b"),
        pod("b-1", 8, None, "b"),
        pod("notebook", 2, "node-1", None),
        {"apiVersion": "v1", "kind": "Event", "metadata": {"name": "e", "namespace": "ml", **METADATA}, **event},
    ]  # fmt: skip


def state(capsysbinary: pytest.CaptureFixture[bytes], *words: str) -> dict[str, Any]:
    run(["capacity", *words, "--format", "json"])
    [cluster] = json.loads(capsysbinary.readouterr().out)["clusters"]
    found: dict[str, Any] = cluster["live"]
    return found


def test_capacity_tells_what_goes_on(here: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    install(here / "bin", busy_cluster())
    found = state(capsysbinary, "--live")
    assert found["usage"] == [
        {"queue": "team", "flavor": "h100", "resource": GPU, "used": 24, "reserved": 24, "nominal": 24}
    ]
    assert found["over"] == [{"flavor": "h100", "resource": GPU, "used": 24, "static": 16}]
    assert found["outside"] == [
        {"object": {"kind": "Pod", "namespace": "ml", "name": "notebook"}, "pods": 1, "devices": {GPU: 2}}
    ]
    assert found["inactive"] == [{"queue": "idle", "reason": "CheckNotFound", "message": "no such check", "pending": 3}]
    [pending] = found["pending"]
    assert (pending["object"]["name"], pending["pods"], pending["event"]) == ("b", ["b-0", "b-1"], EVENT)
    assert GPU in pending["reason"]


def test_a_snapshot_tells_the_same(here: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    install(here / "bin", busy_cluster())
    live = state(capsysbinary, "--live")
    assert run(["snapshot", "--live", "--output", "snapshot.yaml"]) == 0
    assert state(capsysbinary, "snapshot.yaml") == live


def test_the_text_has_both_reasons(here: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    install(here / "bin", busy_cluster())
    assert run(["capacity", "--live"]) == 0
    text = capsysbinary.readouterr().out.decode()
    for part in (EVENT, "qcheck: ", "notebook", "CheckNotFound", "24 of 24", "its ready nodes hold 16"):
        assert part in text


def test_files_have_no_state(here: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    Path("queue.json").write_text(json.dumps(queue()))
    run(["capacity", ".", "--format", "json"])
    assert "live" not in json.loads(capsysbinary.readouterr().out)["clusters"][0]


def verdict(capsysbinary: pytest.CaptureFixture[bytes], *words: str) -> tuple[int, dict[str, Any]]:
    code = run(["admit", "new.json", *words, "--format", "json"])
    [found] = json.loads(capsysbinary.readouterr().out)["workloads"]
    return code, found


@pytest.mark.parametrize(
    ("quota", "pods", "gpus", "admitted", "runs", "told"),
    [
        ("24", 1, 4, False, False, "WaitingForQuota"),
        ("32", 1, 8, True, False, "Unschedulable"),
        ("32", 1, 6, True, True, ""),
        ("8", 2, 8, False, False, "ExceedsMaxQuota"),
    ],
)
def test_admission_beside_what_runs(
    quota: str,
    pods: int,
    gpus: int,
    admitted: bool,
    runs: bool,
    told: str,
    here: Path,
    capsysbinary: pytest.CaptureFixture[bytes],
) -> None:
    install(here / "bin", busy_cluster(quota))
    Path("new.json").write_text(json.dumps(job("new", pods, gpus)))
    code, found = verdict(capsysbinary, "--live", "--busy")
    assert (found["admitted"], found["runs"], code) == (admitted, runs, 0 if runs else 1)
    assert [r["code"] for r in found["reasons"]][:1] == ([told] if told else [])


def test_a_workload_is_not_in_its_own_way(here: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    install(here / "bin", [o for o in busy_cluster() if o["metadata"]["name"] not in ("b", "job-b", "b-0", "b-1")])
    Path("new.json").write_text(json.dumps(job("a", 1, 8)))
    _, found = verdict(capsysbinary, "--live", "--busy")
    assert (found["admitted"], found["runs"]) == (True, True)


def test_what_has_to_go_is_named(here: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    objects = [o for o in busy_cluster("8") if o["metadata"]["name"] not in ("b", "job-b", "b-0", "b-1")]
    team = next(o for o in objects if o["metadata"]["name"] == "team")
    team["spec"]["preemption"] = {"withinClusterQueue": "LowerPriority"}
    urgent = thing(KUEUE, "WorkloadPriorityClass", "urgent", value=1000)
    install(here / "bin", [*objects, urgent])
    new = job("new", 1, 8)
    new["metadata"]["labels"]["kueue.x-k8s.io/priority-class"] = "urgent"
    Path("new.json").write_text(json.dumps(new))
    code, found = verdict(capsysbinary, "--live", "--busy")
    assert (code, found["admitted"], found["runs"]) == (0, True, True)
    assert "preempts ml/job-a" in found["reasons"][0]["message"]


def since(found: dict[str, Any], at: str) -> dict[str, Any]:
    """Return a Workload with the second at which it got its quota."""
    for condition in found["status"]["conditions"]:
        condition["lastTransitionTime"] = f"2026-05-01T08:00:{at}Z"
    return found


@pytest.mark.parametrize(("first", "second", "victim"), [("10", "20", "ml/job-z"), ("20", "10", "ml/job-a")])
def test_the_last_to_get_quota_is_preempted_first(
    first: str, second: str, victim: str, here: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    given = [o for o in busy_cluster("16") if o["kind"] not in ("Workload", "Pod", "Job", "Event")]
    team = next(o for o in given if o["metadata"]["name"] == "team")
    team["spec"]["preemption"] = {"withinClusterQueue": "LowerPriority"}
    urgent = thing(KUEUE, "WorkloadPriorityClass", "urgent", value=1000)
    install(here / "bin", [*given, since(workload("a", 1, 8), first), since(workload("z", 1, 8), second), urgent])
    new = job("new", 1, 8)
    new["metadata"]["labels"]["kueue.x-k8s.io/priority-class"] = "urgent"
    Path("new.json").write_text(json.dumps(new))
    _, found = verdict(capsysbinary, "--live", "--busy")
    assert [r["message"] for r in found["reasons"]] == [f"preempts {victim}"]


def test_partial_admission_at_the_current_load(here: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    given = [o for o in busy_cluster("16") if o["metadata"]["name"] not in ("b", "job-b", "b-0", "b-1", "notebook")]
    install(here / "bin", given)
    new = job("new", 4, 4)
    new["metadata"]["annotations"] = {"kueue.x-k8s.io/job-min-parallelism": "1"}
    Path("new.json").write_text(json.dumps(new))
    _, idle = verdict(capsysbinary, "--live")
    code, found = verdict(capsysbinary, "--live", "--busy")
    assert (idle["admitted"], code, found["admitted"], found["runs"]) == (True, 0, True, True)
    assert sum(n["nodes"] * n["podsPerNode"]["main"] for n in found["placement"]) == 2


def test_the_flavor_is_the_one_that_has_quota_now(here: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    given = [o for o in busy_cluster("8") if o["metadata"]["name"] not in ("b", "job-b", "b-0", "b-1", "notebook")]
    team = next(o for o in given if o["metadata"]["name"] == "team")
    other = {"name": "spare", "resources": [{"name": GPU, "nominalQuota": "8"}]}
    team["spec"]["resourceGroups"][0]["flavors"].append(other)
    spare = thing(KUEUE, "ResourceFlavor", "spare", spec={"nodeLabels": {"gpu": "h100"}})
    install(here / "bin", [*given, spare])
    Path("new.json").write_text(json.dumps(job("new", 1, 4)))
    _, idle = verdict(capsysbinary, "--live")
    _, found = verdict(capsysbinary, "--live", "--busy")
    assert (idle["flavors"], found["flavors"]) == ({GPU: "h100"}, {GPU: "spare"})
    assert found["runs"] is True


def test_busy_needs_a_state(here: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    Path("new.json").write_text(json.dumps(job("new", 1, 8)))
    assert run(["admit", "new.json", "--busy"]) == 2
    assert b"--live" in capsysbinary.readouterr().out


SCENARIO = """version: 1
workloads:
- {name: new, queue: ml/lq, created: 5, podSets: [{name: main, count: 1, requests: {nvidia.com/gpu: 8}}]}
"""


@pytest.mark.parametrize(("busy", "admitted"), [(["--busy"], ["ml/job-a", "ml/job-b"]), ([], ["new"])])
def test_a_simulation_starts_from_what_runs(
    busy: list[str], admitted: list[str], here: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    install(here / "bin", busy_cluster())
    Path("scenario.yaml").write_text(SCENARIO)
    assert run(["simulate", "scenario.yaml", "--live", *busy, "--format", "json"]) == 0
    found = json.loads(capsysbinary.readouterr().out)
    assert [w["workload"] for w in found["admitted"]] == admitted
