"""A running cluster as an input: what is asked of it, what is kept, and what a check makes of it."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML
from standin_kubectl import install

from qcheck.cli.entrypoint import run
from qcheck.documents.load import load
from qcheck.documents.yaml_text import to_yaml
from qcheck.kinds import core, decode, kueue
from qcheck.kinds.snapshot.trimmed import trimmed
from qcheck.nodepools import formats
from qcheck.sources import kubectl

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)
METADATA = {"uid": "1", "resourceVersion": "7", "managedFields": [{"manager": "kubectl"}]}


def thing(api_version: str, kind: str, name: str, namespace: str | None = None, **more: Any) -> dict[str, Any]:
    metadata = {"name": name, **METADATA, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": api_version, "kind": kind, "metadata": {**metadata, **more.pop("metadata", {})}, **more}


def queue(nominal: str = "24", name: str = "team") -> dict[str, Any]:
    cell = {"name": "nvidia.com/gpu", "nominalQuota": nominal}
    groups = [{"coveredResources": ["nvidia.com/gpu"], "flavors": [{"name": "h100", "resources": [cell]}]}]
    return thing(
        "kueue.x-k8s.io/v1beta2", "ClusterQueue", name, spec={"namespaceSelector": {}, "resourceGroups": groups}
    )


def node(name: str, gpus: str = "8") -> dict[str, Any]:
    figures = {"cpu": "190", "memory": "1900Gi", "pods": "110", "nvidia.com/gpu": gpus}
    labels = {"gpu": "h100", "kubernetes.io/hostname": name}
    status = {"allocatable": figures, "capacity": figures, "conditions": [{"type": "Ready", "status": "True"}]}
    return thing("v1", "Node", name, metadata={"labels": labels}, spec={"providerID": f"metal://{name}"}, status=status)


def cluster() -> list[dict[str, Any]]:
    container = {"name": "c", "image": "x", "env": [{"name": "TOKEN", "value": "hunter2"}]}
    container["resources"] = {"limits": {"nvidia.com/gpu": "1"}}  # type: ignore[assignment]
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "train", "controller": True}
    pod = {"containers": [container]}
    return [
        thing("kueue.x-k8s.io/v1beta2", "ResourceFlavor", "h100", spec={"nodeLabels": {"gpu": "h100"}}),
        queue(),
        thing("kueue.x-k8s.io/v1beta2", "LocalQueue", "lq", "ml", spec={"clusterQueue": "team"}),
        thing("v1", "Namespace", "ml"),
        node("node-0"),
        node("node-1"),
        thing(
            "batch/v1", "Job", "train", "ml", metadata={"labels": {"kueue.x-k8s.io/queue-name": "lq"}},
            spec={"template": {"spec": {**pod, "restartPolicy": "Never"}}},
        ),
        thing("v1", "Pod", "train-a", "ml", metadata={"ownerReferences": [owner]}, spec=pod, status={"phase": "Running"}),
        thing("v1", "Pod", "train-b", "ml", metadata={"ownerReferences": [owner]}, spec=pod, status={"phase": "Failed"}),
        thing("v1", "ConfigMap", "secrets-of-others", "ml", data={"password": "hunter2"}),
    ]  # fmt: skip


def calls(here: Path) -> list[str]:
    return (here / "bin" / "calls.txt").read_text().splitlines()


def findings(capsysbinary: pytest.CaptureFixture[bytes]) -> list[tuple[str, str, str]]:
    report = json.loads(capsysbinary.readouterr().out)
    return sorted((f["rule"], f["severity"], f["message"]) for f in report["findings"])


def test_a_cluster_alone_is_judged(here: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    install(here / "bin", cluster())
    assert run(["check", "--live", "--format", "json"]) == 1
    report = json.loads(capsysbinary.readouterr().out)
    [found] = [f for f in report["findings"] if f["severity"] == "error"]
    assert (found["rule"], found["primary"]["file"]) == ("QC101", "live:ClusterQueue")
    assert found["primary"]["line"] > 1


def test_only_reads_are_asked_for(here: Path) -> None:
    install(here / "bin", cluster())
    run(["check", "--live=prod", "--quiet"])
    assert {c.split()[0] for c in calls(here)} == {"api-resources", "get"}
    assert all(c.endswith("--context=prod") for c in calls(here))
    assert not any("secret" in c.lower() for c in calls(here))
    assert all("--namespace=" in c and c.split()[2][0] != "-" for c in calls(here) if c.startswith("get configmaps"))


def test_files_count_where_both_define_an_object(here: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    install(here / "bin", cluster())
    Path("queue.json").write_text(json.dumps(queue("16")))
    assert run(["check", ".", "--live", "--format", "json"]) == 0
    assert "QC101" not in [rule for rule, *_ in findings(capsysbinary)]


def test_what_may_not_be_listed_is_named(here: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    install(here / "bin", cluster(), forbidden=["Node"])
    assert run(["check", "--live", "--format", "json"]) == 2
    told = capsysbinary.readouterr()
    assert "live:Node" in [n["path"] for n in json.loads(told.out)["inputs"]["notRead"]]
    assert b"live:Node" in told.err
    assert b"is forbidden" in told.err


def test_kubectl_speaks_for_itself(here: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    install(here / "bin", [], broken="E1129 23:00:00.1 memcache.go:1] tried\nThe connection to the server was refused")
    assert run(["check", "--live", "--format", "json"]) == 2
    told = capsysbinary.readouterr().err
    assert b"The connection to the server was refused" in told
    assert b"memcache" not in told


def test_without_kubectl_nothing_is_judged(here: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    (here / "bin").mkdir()
    assert run(["capacity", "--live"]) == 2
    assert b"kubectl is not installed" in capsysbinary.readouterr().err


def test_a_snapshot_repeats_the_check_offline(here: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    install(here / "bin", cluster())
    run(["check", "--live", "--format", "json"])
    live = findings(capsysbinary)
    for redact in ((), ("--redact",)):
        assert run(["snapshot", "--live", "--output", "snapshot.yaml", *redact]) == 0
        run(["check", "snapshot.yaml", "--format", "json"])
        offline = findings(capsysbinary)
        assert [f[:2] for f in offline] == [f[:2] for f in live]
        assert redact or offline == live


def test_a_snapshot_is_not_a_template(here: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    config = thing("kai.scheduler/v1", "Config", "kai-config", spec={"admission": "..."})
    install(here / "bin", [*cluster(), config])
    assert run(["snapshot", "--live", "--output", "snapshot.yaml"]) == 0
    text = Path("snapshot.yaml").read_text()
    assert 'admission: "..."' in text
    assert not load(text, "snapshot.yaml").faults
    assert load(text.partition("---")[2], "config.yaml").faults


def test_a_snapshot_has_no_secrets_and_no_noise(here: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    install(here / "bin", cluster())
    assert run(["snapshot", "--live"]) == 0
    text = capsysbinary.readouterr().out.decode()
    for word in ("hunter2", "secrets-of-others", "managedFields", "resourceVersion", "metal://", "train-b"):
        assert word not in text
    assert "train-a" in text


def test_a_redacted_snapshot_has_none_of_the_names(here: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    install(here / "bin", cluster())
    assert run(["snapshot", "--live", "--redact"]) == 0
    text = capsysbinary.readouterr().out.decode()
    for word in ("team", "h100", "node-0", "node-1", "lq", "train", " ml"):
        assert word not in text


def test_a_snapshot_needs_a_cluster(here: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert run(["snapshot"]) == 2
    assert b"--live" in capsysbinary.readouterr().err


def test_the_order_of_answers_does_not_matter(here: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    texts = []
    for objects in (cluster(), copy.deepcopy(cluster())[::-1]):
        install(here / "bin", objects)
        assert run(["snapshot", "--live"]) == 0
        texts.append(capsysbinary.readouterr().out)
    assert texts[0] == texts[1]


def test_every_kind_that_is_read_is_asked_for() -> None:
    """But for kinds that describe the machines of other clusters, and definitions, whose objects the server has judged."""
    asked = {(a.group, a.kind) for a in kubectl.EVERYTHING}
    known = {(group, kind) for group, (_, kinds) in decode.MODULES.items() for kind in kinds}
    known |= core.DECODERS.keys() | {(kueue.GROUP, kind) for kind in kueue.DECODERS} | {decode.EVENT, ("", "Node")}
    assert known <= asked
    elsewhere = ("qcheck.dev", "eksctl.io", "cnrm.cloud.google.com", "cluster.x-k8s.io", "kops.k8s.io", "gardener.cloud",
                 "upbound.io", "services.k8s.aws", "provisioning.cattle.io")  # fmt: skip
    pools = {key for key in (*formats.READERS, *formats.REFERRED) if not key[0].endswith(elsewhere)}
    assert pools <= asked


@given(st.lists(JSON, min_size=1, max_size=3))
def test_what_is_written_is_read_by_the_library(objects: list[Any]) -> None:
    assert list(YAML(typ="safe", pure=True).load_all(to_yaml(objects))) == objects


def test_a_job_keeps_no_selector_that_the_server_made_up(
    here: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    objects = cluster()
    job = next(o for o in objects if o["kind"] == "Job")
    job["spec"]["selector"] = {"matchLabels": {"batch.kubernetes.io/controller-uid": "1"}}
    install(here / "bin", objects)
    assert run(["snapshot", "--live", "--output", "snapshot.yaml"]) == 0
    Path("dump.json").write_text(json.dumps(job))
    for path in ("snapshot.yaml", "dump.json"):
        run(["check", path, "--select", "QC003", "--format", "json"])
        assert findings(capsysbinary) == []


def test_nodes_that_may_not_be_listed_are_not_zero(here: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    install(here / "bin", cluster(), forbidden=["Node"])
    assert run(["capacity", "--live", "--format", "json"]) == 2
    [line] = json.loads(capsysbinary.readouterr().out)["clusters"][0]["flavors"]
    assert (line["static"], line["headroom"]) == (None, None)


def test_one_of_several_clusters_is_the_live_one(here: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    install(here / "bin", cluster())
    Path("qcheck.yaml").write_text("version: 1\nclusters: {a: {include: ['a/**']}, b: {include: ['b/**']}}\n")
    assert run(["check", "--live"]) == 2
    assert b"--cluster" in capsysbinary.readouterr().err
    for words in (["--live=b"], ["--live", "--cluster", "b"]):
        assert run(["check", *words, "--select", "QC101", "--format", "json"]) == 1
        [found] = json.loads(capsysbinary.readouterr().out)["findings"]
        assert found["cluster"] == "b"


ANSWERS = {
    "nothing": "",
    "garbage": 'printf "\\033[31ma b c d\\n"',
    "no list": 'case $1 in api-resources) echo "nodes no v1 false Node";; *) echo "{\\"kind\\": \\"Status\\"}";; esac',
    "items that are no list": 'case $1 in api-resources) echo "nodes no v1 false Node";; *) echo "{\\"items\\": {}}";; esac',
}


@pytest.mark.parametrize("name", ANSWERS)
@pytest.mark.parametrize("command", ["check", "shares", "snapshot", "drift"])
def test_what_is_no_kubectl_is_not_believed(
    here: Path, capsys: pytest.CaptureFixture[str], command: str, name: str
) -> None:
    (here / "bin").mkdir()
    (here / "bin" / "kubectl").write_text(f"#!/bin/sh\n{ANSWERS[name]}\n")
    (here / "bin" / "kubectl").chmod(0o755)
    assert run([command, "--live"]) == 2
    said = capsys.readouterr()
    assert "kubectl" in said.out + said.err
    assert "\x1b" not in said.out + said.err
    assert list((here / "repo").iterdir()) == []


def test_a_kubectl_that_hangs_is_asked_once(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    install(here / "bin", cluster())
    script = here / "bin" / "kubectl"
    script.write_text(
        script.read_text().replace("    name = words[2]", "    __import__('time').sleep(60)\n    name = words[2]")
    )
    monkeypatch.setattr(kubectl, "SECONDS", 1)
    assert run(["snapshot", "--live"]) == 2
    assert "kubectl get did not answer within 2 s" in capsys.readouterr().err
    assert len(calls(here)) <= 1 + kubectl.AT_ONCE


@pytest.mark.parametrize(
    ("key", "is_kept"),
    [("gpu-fraction", True), ("gpu-memory", True), ("kueue.x-k8s.io/podset-required-topology", True), ("note", False)],
)
def test_annotations_that_something_acts_on_are_kept(key: str, is_kept: bool) -> None:
    pod: dict[str, object] = {"kind": "Pod", "metadata": {"name": "a", "annotations": {key: "0.5"}}, "spec": {}}
    kept = trimmed(pod, "Pod")["metadata"]
    assert isinstance(kept, dict)
    assert ("annotations" in kept) is is_kept
