"""`qcheck suggest`: what is suggested works, is the smallest, and changes nothing but the values."""

from __future__ import annotations

import json
import shutil
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qcheck.api import audit
from qcheck.checks.sum_edits import cut
from qcheck.cli.entrypoint import run

if TYPE_CHECKING:
    from collections.abc import Sequence

FIXTURES = Path(__file__).parent.parent / "fixtures"
COVERED = ("QC101", "QC103", "QC107", "QC201", "QC401", "QC403", "QC410", "QC504")
WITHOUT_EDIT = {
    "fail-renamed-under-karpenter": "the machines have to be named, or the sharing removed",
    "fail-missing-label": "a label is to be added or removed, which is no value",
    "fail-other-namespace": "the queue is to be created, or the Job moved",
    "fail-no-queue-at-all": "the queues are to be created",
    "fail-queue-without-namespace": "a namespace is to be added, which is no value",
}


def suggested(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, Any]]:
    code = run(["suggest", *words, "--format", "json"])
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return code, found


def cluster(quotas: Sequence[int], nodes: int, notes: Sequence[str] = ()) -> str:
    """A flavor, a queue for each quota, and nodes of 8 GPUs."""
    parts = [
        (
            "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\nmetadata: {name: h100}\n"
            "spec: {nodeLabels: {gpu: h100}}\n"
        ),
        (
            f"apiVersion: qcheck.dev/v1\nkind: NodePool\nmetadata: {{name: h100}}\nspec:\n  count: {nodes}  # rented\n"
            "  labels: {gpu: h100}\n  allocatable: {cpu: 96, memory: 900Gi, nvidia.com/gpu: 8}\n"
        ),
    ]
    for number, quota in enumerate(quotas):
        note = notes[number] if number < len(notes) else ""
        parts.append(
            f"apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {{name: q{number}}}\nspec:\n"
            "  namespaceSelector: {}\n  resourceGroups:\n  - coveredResources: [nvidia.com/gpu]\n    flavors:\n"
            f"    - name: h100\n      resources:\n      - name: nvidia.com/gpu\n        nominalQuota: {quota}{note}\n"
        )
    return "---\n".join(parts)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.integers(1, 9).map(lambda n: n * 8), min_size=1, max_size=4), st.integers(1, 12))
def test_what_is_written_leaves_no_finding_of_the_rule_and_brings_no_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], quotas: list[int], nodes: int
) -> None:
    file = tmp_path / "all.yaml"
    file.write_text(cluster(quotas, nodes))
    before = audit([str(tmp_path)])
    code, found = suggested(capsys, str(tmp_path))
    if sum(quotas) <= nodes * 8:
        assert (code, found["alternatives"]) == (0, [])
        return
    assert code == 1
    for number, each in enumerate(found["alternatives"], 1):
        file.write_text(cluster(quotas, nodes))
        assert run(["suggest", str(tmp_path), "--write", "--pick", str(number)]) == 0
        capsys.readouterr()
        after = audit([str(tmp_path)])
        assert not [f for f in after.findings if f.rule and f.rule.id == "QC101"]
        assert {f.fingerprint for f in after.findings if f.severity == "error"} <= {
            f.fingerprint for f in before.findings
        }
        lines = list(zip(cluster(quotas, nodes).splitlines(), file.read_text().splitlines(), strict=True))
        changed = [number for number, (old, new) in enumerate(lines, 1) if old != new]
        assert changed == sorted({e["line"] for e in each["edits"]})
    file.write_text(cluster(quotas, nodes))


@pytest.mark.parametrize("rule", COVERED)
def test_fixtures_pass_once_the_first_alternative_is_written(
    rule: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for case in sorted((FIXTURES / "rules").glob(f"{rule}-*/fail-*")):
        folder = tmp_path / case.name
        shutil.copytree(case, folder)
        monkeypatch.chdir(folder)
        code = run(["suggest", ".", "--rules", rule, "--write"])
        capsys.readouterr()
        assert code == (1 if case.name in WITHOUT_EDIT else 0), case
        if code == 0:
            found = audit(["."]).findings
            assert not [f for f in found if f.rule and f.rule.id == rule and f.severity != "note"]


def test_the_example_fleet_shows_what_an_engineer_would_weigh(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(FIXTURES / "clusters" / "research-fleet")
    _, found = suggested(capsys, ".")
    assert {a["kind"] for a in found["alternatives"]} == {"quota", "nodes", "daemonset", "shape"}
    assert not found["alternatives"][0]["leaves"]
    assert any("Job pretraining/pretrain would never be admitted" in r["why"] for r in found["rejected"])


def test_locks_hold(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "all.yaml").write_text(cluster([32, 16], 5, ["  # qcheck: keep promised until May"]))
    _, found = suggested(capsys, str(tmp_path))
    (quota,) = [a for a in found["alternatives"] if a["kind"] == "quota"]
    assert [(e["old"], e["new"]) for e in quota["edits"]] == [("16", "8")]
    _, found = suggested(capsys, str(tmp_path), "--floor", "q1=16")
    assert [a["kind"] for a in found["alternatives"]] == ["nodes"]


def test_quotas_are_filled_by_shares_with_headroom(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "all.yaml").write_text(cluster([8, 8], 6))
    (tmp_path / "qcheck.yaml").write_text("version: 1\nshares: {q0: 3, q1: 1}\n")
    _, found = suggested(capsys, "--mode", "fill", "--headroom", "2-node")
    assert [(e["old"], e["new"]) for e in found["alternatives"][0]["edits"]] == [("8", "24")]


def test_many_queues_give_a_node_each_rather_than_all_they_have(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "all.yaml").write_text(cluster([16] * 8, 11))
    _, found = suggested(capsys, str(tmp_path))
    (quota,) = [a for a in found["alternatives"] if a["kind"] == "quota"]
    assert [(e["old"], e["new"]) for e in quota["edits"]] == [("16", "8")] * 5
    assert not quota["brings"]
    assert not quota["proved"], "three queues could give all they have"


def test_divisions_are_in_whole_nodes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "all.yaml").write_text(cluster([80, 64], 16))
    (tmp_path / "qcheck.yaml").write_text("version: 1\nshares: {q0: 3, q1: 1}\n")
    _, found = suggested(capsys, "--mode", "fill", "--headroom", "1-node")
    assert [[e["new"] for e in a["edits"]] for a in found["alternatives"]] == [["88", "32"], ["90", "30"]]
    assert [a["brings"] for a in found["alternatives"]] == [[], ["QC504 quota-not-node-multiple"]]
    _, found = suggested(capsys, "--mode", "proportional")
    assert [e["new"] for e in found["alternatives"][0]["edits"]] == ["72", "56"]
    assert [a["kind"] for a in found["alternatives"]] == ["quota", "nodes"]


def test_pools_that_share_nodes_are_filled_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    both = cluster([80, 64], 16).replace("labels: {gpu: h100}", "labels: {gpu: h100, kind: accelerated}")
    first, second, *queues = both.split("---\n")
    queues[1] = queues[1].replace("name: h100", "name: any")
    other = first.replace("name: h100", "name: any").replace("gpu: h100", "kind: accelerated")
    (tmp_path / "all.yaml").write_text("---\n".join([first, other, second, *queues]))
    (tmp_path / "qcheck.yaml").write_text("version: 1\nshares: {q0: 3, q1: 1}\n")
    _, found = suggested(capsys, "--mode", "fill")
    assert [e["new"] for e in found["alternatives"][0]["edits"]] == ["96", "32"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--keep", "nobody"], "there is no queue nobody"),
        (["--floor", "q0"], "write QUEUE=N"),
        (["--floor", "q0=lots"], "write QUEUE=N"),
        (["--headroom", "much"], "write a number of devices"),
        (["--rules", "QC999"], "no rule is called"),
        (["--write", "--pick", "9"], "there are 2 alternatives"),
    ],
)
def test_wishes_that_mean_nothing_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    (tmp_path / "all.yaml").write_text(cluster([32, 16], 5))
    assert run(["suggest", str(tmp_path), *words]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--set", "h100/q0"], "write POOL/QUEUE/RESOURCE=N"),
        (["--set", "h100/q9/nvidia.com/gpu=8"], "no queue q9 has quota"),
        (["--set", "h100/q0/nvidia.com/gpu=many"], "--set"),
        (["--add-nodes", "h200=1"], "there is no such node pool"),
        (["--add-nodes", "h100=some"], "write POOL=N"),
    ],
)
def test_what_ifs_that_name_nothing_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    (tmp_path / "all.yaml").write_text(cluster([32, 16], 5))
    assert run(["check", str(tmp_path), *words]) == 2
    assert said in capsys.readouterr().err


def test_what_if_changes_nothing_on_disk(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "all.yaml"
    file.write_text(cluster([32, 16], 5))
    assert run(["check", str(tmp_path)]) == 1
    assert run(["check", str(tmp_path), "--set", "h100/q1/nvidia.com/gpu=8"]) == 0
    assert run(["check", str(tmp_path), "--add-nodes", "h100=1"]) == 0
    assert file.read_text() == cluster([32, 16], 5)


def test_an_empty_folder_is_no_clean_cluster(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["suggest", str(tmp_path)]) == 2
    shown = capsys.readouterr()
    assert not shown.out
    assert "nothing relevant was found" in shown.err


def test_two_hundred_errors_are_resolved_together(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pool = (
        "apiVersion: qcheck.dev/v1\nkind: NodePool\nmetadata: {name: p@}\n"
        "spec: {count: 1, labels: {gpu: h@}, allocatable: {nvidia.com/gpu: 8}}\n---\n"
        "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\nmetadata: {name: f@}\n"
        "spec: {nodeLabels: {gpu: h@}}\n---\n"
        "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: q@}\nspec:\n"
        "  namespaceSelector: {}\n  resourceGroups:\n  - coveredResources: [nvidia.com/gpu]\n"
        "    flavors: [{name: f@, resources: [{name: nvidia.com/gpu, nominalQuota: 80}]}] # qcheck: keep\n---\n"
    )
    (tmp_path / "q.yaml").write_text("".join(pool.replace("@", str(n)) for n in range(200)))
    assert run(["suggest", str(tmp_path)]) == 1
    shown = capsys.readouterr().out
    assert "resolves 200 of 200 findings" in shown
    assert "and 180 more edits" in shown
    assert "the quota of q0 is kept" in shown


def test_a_proof_names_a_few_sums(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(9):
        text = cluster([24], 2).replace("h100", f"flavor-{number}").replace("q0", f"queue-{number}")
        (tmp_path / f"{number}.yaml").write_text(text)
    _, found = suggested(capsys, str(tmp_path))
    proofs = [each["proof"] for each in found["alternatives"]]
    assert [proof.count("the nodes can supply") for proof in proofs] == [6] * len(proofs)
    assert all(proof.endswith("; and 3 more sums") for proof in proofs)


JOB = (
    "apiVersion: kueue.x-k8s.io/v1beta2\nkind: LocalQueue\nmetadata: {name: main, namespace: ml}\nspec: {clusterQueue: q0}\n"
    "---\napiVersion: batch/v1\nkind: Job\nmetadata:\n  name: train\n  namespace: ml\n"
    "  labels: {kueue.x-k8s.io/queue-name: main}\n"
    "spec:\n  suspend: true\n  template:\n    spec:\n      restartPolicy: Never\n      containers:\n      - name: main\n"
    "        image: registry.example.com/train:1\n        resources: {limits: {nvidia.com/gpu: SIZE}}\n"
)


def hidden(size: int) -> str:
    """A misspelled label that hides two errors: the quota exceeds the nodes, and a pod exceeds a node."""
    return (
        cluster([24], 2).replace("nodeLabels: {gpu: h100}", "nodeLabels: {gpu: h1000}")
        + "---\n"
        + JOB.replace("SIZE", str(size))
    )


def test_an_edit_that_uncovers_a_hidden_error_is_combined_with_an_edit_for_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "all.yaml").write_text(hidden(8))
    _, found = suggested(capsys, str(tmp_path))
    first = found["alternatives"][0]
    assert [(e["old"], e["new"]) for e in first["edits"]] == [("h1000", "h100"), ("24", "16")]
    assert first["uncovers"] == []
    assert run(["suggest", str(tmp_path), "--write"]) == 0


def test_an_alternative_lists_a_hidden_error_that_it_uncovers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "all.yaml").write_text(
        hidden(16).replace("apiVersion: batch/v1", "# qcheck: keep\napiVersion: batch/v1")
    )
    _, found = suggested(capsys, str(tmp_path), "--floor", "q0=16")
    uncovering = [a for a in found["alternatives"] if a["uncovers"]]
    assert uncovering[0]["uncovers"][0].startswith("QC602 admitted-but-pending: q0 admits Job ml/train")
    assert run(["suggest", str(tmp_path), "--floor", "q0=16"]) == 1
    assert "     uncovers QC602" in capsys.readouterr().out
    (tmp_path / "all.yaml").write_text(hidden(16))
    pick = str(1 + found["alternatives"].index(uncovering[0]))
    assert run(["suggest", str(tmp_path), "--floor", "q0=16", "--write", "--pick", pick]) == 1


@pytest.mark.parametrize(
    ("case", "edits"),
    [
        ("QC903-kai-children-exceed-parent/fail-department-too-small", [[("8", "16")], [("8", "4"), ("8", "4")]]),
        ("QC903-kai-children-exceed-parent/fail-parts-of-gpus", [[("1.5", "1.25")]]),
        ("QC902-kai-limit-below-quota/fail-limit-below-quota", [[("8", "4")], [("4", "8")]]),
        ("QC953-volcano-amounts-out-of-order/fail-root-below-children", [[("16", "24")], [("16", "8"), ("16", "8")]]),
    ],
)
def test_sums_of_kai_and_volcano_are_lowered_or_their_bound_is_raised(
    case: str, edits: list[list[tuple[str, str]]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(FIXTURES / "rules" / case, tmp_path / "case")
    _, found = suggested(capsys, str(tmp_path / "case"))
    assert [[(e["old"], e["new"]) for e in a["edits"]] for a in found["alternatives"]] == edits
    assert run(["suggest", str(tmp_path / "case"), "--write"]) == 0


def test_no_edit_writes_a_negative_quota(tmp_path: Path) -> None:
    case = FIXTURES / "rules/QC903-kai-children-exceed-parent/fail-department-too-small"
    for file in case.glob("*.yaml"):
        (tmp_path / file.name).write_text(file.read_text().replace("quota: 8  #! QC903 primary", "quota: -5"))
    fixes = [fix for f in audit([str(tmp_path)]).findings if f.rule and f.rule.id == "QC903" for fix in f.fixes]
    assert [[edit.text for edit in fix.edits] for fix in fixes] == [["0", "0"], ["16"]]


VOLCANO = """apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: research}
spec: {reclaimable: true}
---
apiVersion: qcheck.dev/v1
kind: NodePool
metadata: {name: h100}
spec: {count: 4, labels: {gpu: h100}, allocatable: {cpu: 96, memory: 900Gi, pods: 110, nvidia.com/gpu: 8}}
---
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: train, namespace: ml}
spec:
  schedulerName: volcano
  queue: research
  minAvailable: 6
  tasks:
    - name: worker
      replicas: 6
      template:
        spec:
          restartPolicy: Never
          containers:
            - {name: main, image: registry.example.com/train:1, resources: {limits: {nvidia.com/gpu: 8}}}
"""


@pytest.mark.parametrize(
    ("text", "smaller"), [(VOLCANO, "minAvailable"), (VOLCANO.replace("  minAvailable: 6\n", ""), "the replicas")]
)
def test_a_volcano_job_larger_than_the_nodes_gets_nodes_or_starts_with_fewer_pods(
    text: str, smaller: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "all.yaml").write_text(text)
    _, found = suggested(capsys, str(tmp_path))
    assert [a["words"] for a in found["alternatives"]] == [
        "add 2 more nodes of h100, 8 nvidia.com/gpu each: 4 becomes 6",
        f"lower {smaller} of Job ml/train from 6 to 4",
    ]
    assert run(["suggest", str(tmp_path), "--write", "--pick", "2"]) == 0


def test_findings_that_no_value_resolves_show_the_advice_of_their_rule(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(FIXTURES / "rules/QC953-volcano-amounts-out-of-order/fail-order-in-one-queue", tmp_path / "case")
    assert run(["suggest", str(tmp_path / "case")]) == 1
    shown = capsys.readouterr().out
    assert "no change of a value resolves the rest\n  QC953 at " in shown
    assert "Add nvidia.com/gpu: 1 to deserved of queue c." in shown


@given(st.lists(st.integers(1, 9), min_size=1, max_size=5), st.integers(0, 40), st.sampled_from([1, 4]))
def test_cuts_add_up_to_the_total(amounts: list[int], total: int, parts: int) -> None:
    before = [Fraction(n, parts) for n in amounts]
    bound = Fraction(min(total, sum(amounts) - 1), parts)
    after = cut(before, bound)
    assert sum(after) == bound
    assert all(0 <= now <= was for was, now in zip(before, after, strict=True))
    assert parts > 1 or all(n.denominator == 1 for n in after)


def test_names_are_corrected_before_sums_are_met(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    queues = "".join(
        f"---\napiVersion: scheduling.run.ai/v2\nkind: Queue\nmetadata: {{name: {name}}}\nspec:\n{parent}  resources:\n"
        f"    gpu: {{quota: {quota}, overQuotaWeight: 1, limit: -1}}\n"
        "    cpu: {quota: -1, overQuotaWeight: 1, limit: -1}\n    memory: {quota: -1, overQuotaWeight: 1, limit: -1}\n"
        for name, parent, quota in (
            ("lab", "", 40),
            ("a", "  parentQueue: lab\n", 8),
            ("b", "  parentQueue: labb\n", 8),
        )
    )
    pool = "apiVersion: qcheck.dev/v1\nkind: NodePool\nmetadata: {name: h100}\nspec:\n  count: 4\n"
    (tmp_path / "all.yaml").write_text(f"{pool}  allocatable: {{cpu: 96, memory: 900Gi, nvidia.com/gpu: 8}}\n{queues}")
    _, found = suggested(capsys, str(tmp_path))
    nodes = next(a for a in found["alternatives"] if a["kind"] == "nodes")
    assert [(e["old"], e["new"]) for e in nodes["edits"]] == [("4", "5"), ("labb", "lab")]
