"""The example fleet on a real API server: the same findings as on its files, no drift, and nothing asked for but reads.

Kueue's CRDs are taken from the folder that QCHECK_KUEUE_CRDS names; without it the definitions take anything and have
Kueue's defaults.
"""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import running_fleet
from api_server import AUDITOR, Server, api_server, find_tools
from running_fleet import Object

from docs import build
from qcheck.cli.entrypoint import run

TOOLS = find_tools()
MISSING = sorted({"etcd", "kube-apiserver", "kubectl"} - TOOLS.keys())
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(MISSING), reason=f"{', '.join(MISSING)} not found on the PATH or in QCHECK_KUBERNETES"),
]
ROLE = Path(__file__).parent.parent / "docs" / "read-only-role.yaml"
OPEN: Object = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
OF_KUEUE = ("ClusterQueue", "ResourceFlavor", "Cohort", "Topology", "WorkloadPriorityClass", "AdmissionCheck")
CLUSTER_SCOPED = (*OF_KUEUE, "NodePool")
NEVER: Object = {"type": "string", "default": "Never"}
QUEUE_DEFAULTS: Object = {
    "queueingStrategy": {"type": "string", "default": "BestEffortFIFO"},
    "stopPolicy": {"type": "string", "default": "None"},
    "flavorFungibility": {
        **OPEN,
        "default": {},
        "properties": {
            "whenCanBorrow": {"type": "string", "default": "MayStopSearch"},
            "whenCanPreempt": {"type": "string", "default": "TryNextFlavor"},
        },
    },
    "preemption": {
        **OPEN,
        "default": {},
        "properties": {
            "withinClusterQueue": NEVER,
            "reclaimWithinCohort": NEVER,
            "borrowWithinCohort": {**OPEN, "default": {}, "properties": {"policy": NEVER}},
        },
    },
}


def permissive(kind: str, group: str = "kueue.x-k8s.io", served: str = "v1beta2") -> Object:
    """A definition of a kind that takes anything."""
    plural = build.plural(kind)
    spec = {**OPEN, "properties": QUEUE_DEFAULTS} if kind == "ClusterQueue" else OPEN
    schema = {**OPEN, "properties": {"spec": spec, "status": OPEN}}
    version = {"name": served, "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": f"{plural}.{group}",
            "annotations": {"api-approved.kubernetes.io": "https://qcheck.test"},
        },
        "spec": {
            "group": group,
            "names": {"kind": kind, "plural": plural, "listKind": f"{kind}List", "singular": kind.lower()},
            "scope": "Cluster" if kind in CLUSTER_SCOPED else "Namespaced",
            "versions": [{**version, "subresources": {"status": {}}}],
        },
    }


def install_kueue(server: Server) -> None:
    server.apply(permissive("NodePool", "karpenter.sh", "v1"))
    folder = os.environ.get("QCHECK_KUEUE_CRDS")
    if folder:
        server.kubectl("apply", "--server-side", "--filename", folder)
    else:
        server.apply(*(permissive(kind) for kind in (*OF_KUEUE, "LocalQueue", "Workload")))
    server.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=60s")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """An API server with the example fleet applied, one Node for each node of its pools, and the audit role."""
    with api_server(TOOLS, tmp_path_factory.mktemp("cluster")) as made:
        install_kueue(made)
        objects = running_fleet.objects()
        spaces = {o["metadata"]["namespace"] for o in objects if "namespace" in o["metadata"]}
        spaces -= {o["metadata"]["name"] for o in objects if o["kind"] == "Namespace"}
        extra = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}} for name in sorted(spaces)]
        made.apply(*(o for o in (*extra, *objects) if o["kind"] in ("Namespace", "PriorityClass")))
        made.apply(*(o for o in objects if o["kind"] not in ("Namespace", "PriorityClass")))
        nodes = running_fleet.nodes()
        made.apply(*({key: value for key, value in node.items() if key != "status"} for node in nodes))
        for node in nodes:
            made.set_status("node", node["metadata"]["name"], node["status"])
        made.kubectl("taint", "nodes", "--all", "node.kubernetes.io/not-ready-")
        made.kubectl("apply", "--filename", str(ROLE))
        made.kubectl("create", "clusterrolebinding", "audit", "--clusterrole=qcheck-audit", "--user=auditor")
        made.kubectl("create", "secret", "generic", "password", "--from-literal=token=hunter2")
        yield made


@pytest.fixture
def auditor(server: Server, monkeypatch: pytest.MonkeyPatch) -> Server:
    """The environment of somebody with the rights of the audit role."""
    monkeypatch.setenv("KUBECONFIG", str(server.kubeconfig(AUDITOR)))
    monkeypatch.setenv("PATH", f"{Path(TOOLS['kubectl']).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.chdir(running_fleet.FLEET)
    return server


def report(capsysbinary: pytest.CaptureFixture[bytes], *words: str) -> tuple[int, dict[str, Any]]:
    code = run([*words, "--format", "json"])
    return code, json.loads(capsysbinary.readouterr().out)


def told(found: dict[str, Any]) -> list[tuple[str, ...]]:
    return sorted((f["rule"], f["severity"], str(f["object"] and f["object"]["name"])) for f in found["findings"])


def serious(found: dict[str, Any]) -> list[tuple[str, ...]]:
    """Without notes: some compare names by their spelling, which made-up names do not keep."""
    return [t[:2] for t in told(found) if t[1] != "note"]


def test_the_findings_are_those_of_the_files(auditor: Server, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    code, on_files = report(capsysbinary, "check", ".")
    live_code, live = report(capsysbinary, "check", ".", "--live")
    assert live["inputs"]["unjudged"] == []
    assert (live_code, told(live)) == (code, told(on_files))


def test_the_cluster_alone_has_its_errors(auditor: Server, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    _, on_files = report(capsysbinary, "check", ".")
    _, live = report(capsysbinary, "check", "--live")
    errors = [found for found in told(on_files) if found[1] == "error"]
    assert [found for found in told(live) if found[1] == "error"] == errors


def test_there_is_no_drift_until_something_changes(auditor: Server, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    code, found = report(capsysbinary, "drift", ".", "--live")
    assert (code, found["changed"], found["onlyInFiles"], found["onlyLive"], found["nodes"]) == (0, [], [], [], [])
    queue = next(o for o in running_fleet.objects() if o["kind"] == "ClusterQueue")
    changed = copy.deepcopy(queue)
    changed["spec"]["resourceGroups"][0]["flavors"][0]["resources"][0]["nominalQuota"] = 3
    auditor.apply(changed)
    code, found = report(capsysbinary, "drift", ".", "--live")
    auditor.apply(queue)
    assert code == 1
    assert [c["object"]["name"] for c in found["changed"]] == [queue["metadata"]["name"]]


def test_a_forbidden_kind_is_named(
    auditor: Server, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    auditor.kubectl("delete", "clusterrolebinding", "audit")
    try:
        code, found = report(capsysbinary, "check", "--live")
    finally:
        auditor.kubectl("create", "clusterrolebinding", "audit", "--clusterrole=qcheck-audit", "--user=auditor")
    assert code == 2
    refused = {n["path"]: n["why"] for n in found["inputs"]["notRead"]}
    assert 'cannot list resource "nodes"' in refused["live:Node"]


def test_a_snapshot_repeats_the_check(
    auditor: Server, tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    _, live = report(capsysbinary, "check", "--live")
    for redact in ((), ("--redact",)):
        path = str(tmp_path / "snapshot.yaml")
        assert run(["snapshot", "--live", "--output", path, *redact]) == 0
        first = Path(path).read_bytes()
        assert run(["snapshot", "--live", "--output", path, *redact]) == 0
        assert Path(path).read_bytes() == first
        assert b"hunter2" not in first
        _, again = report(capsysbinary, "check", path)
        assert serious(again) == serious(live)


def test_nothing_but_reads_was_asked_for(auditor: Server, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    """After all commands: what the audit log has of the auditor."""
    for words in (["check", "--live"], ["capacity", "--live"], ["drift", ".", "--live"], ["snapshot", "--live"]):
        run(words)
    asked = [r for r in auditor.requests() if r["user"]["username"] == "auditor"]
    assert asked
    assert {r["verb"] for r in asked} <= {"get", "list"}
    resources = {r["objectRef"]["resource"] for r in asked if "objectRef" in r}
    assert "secrets" not in resources
    assert "clusterqueues" in resources
    maps = [r["objectRef"] for r in asked if r.get("objectRef", {}).get("resource") == "configmaps"]
    assert maps
    assert all(m.get("name") for m in maps)
