"""`qcheck suggest` on random clusters: every alternative keeps what it says, whatever the cluster looks like.

`SUGGEST_EXAMPLES=1000` tries more clusters than the normal run.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qcheck.answers.verdicts import verdicts_of
from qcheck.api import audit
from qcheck.cli.entrypoint import run
from qcheck.settings.load import load_settings

if TYPE_CHECKING:
    from qcheck.findings.result import Result

EXAMPLES = int(os.environ.get("SUGGEST_EXAMPLES", "40"))
MODELS = ("a100", "h100", "l40s")
TAINT = "{key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}"


def flavor(name: str, labels: str) -> str:
    return (
        f"apiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\nmetadata: {{name: {name}}}\n"
        f"spec: {{nodeLabels: {{{labels}}}}}\n"
    )


def pool(name: str, count: str, devices: int) -> str:
    return (
        f"apiVersion: qcheck.dev/v1\nkind: NodePool\nmetadata: {{name: {name}}}\nspec:\n  count: {count}\n"
        f"  labels: {{gpu: {name}, kind: accelerated}}\n"
        f"  allocatable: {{cpu: 96, memory: 900Gi, pods: 110, nvidia.com/gpu: {devices}}}\n"
    )


def daemon_set(model: str) -> str:
    return (
        "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: burn-in, namespace: system}\nspec:\n"
        "  selector: {matchLabels: {app: burn-in}}\n  template:\n    metadata: {labels: {app: burn-in}}\n    spec:\n"
        f"      nodeSelector: {{gpu: {model}}}\n      containers:\n      - name: main\n        image: example.com/x\n"
        "        resources: {limits: {nvidia.com/gpu: 1}}  # one of each node\n"
    )


def cluster_queue(name: str, cohort: str | None, quotas: dict[str, tuple[int, int | None, int | None]]) -> str:
    lines = [
        f"apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {{name: {name}}}\nspec:",
        "  namespaceSelector: {}",
        "  preemption: {reclaimWithinCohort: Any}",
        *([f"  cohortName: {cohort}"] if cohort else []),
        "  resourceGroups:\n  - coveredResources: [nvidia.com/gpu]\n    flavors:",
    ]
    for each, (nominal, borrowing, lending) in quotas.items():
        lines.append(f"    - name: {each}\n      resources:\n      - name: nvidia.com/gpu")
        lines.append(f"        nominalQuota: {nominal}  # of {each}")
        lines += [f"        borrowingLimit: {borrowing}"] if cohort and borrowing is not None else []
        lines += [f"        lendingLimit: {lending}"] if cohort and lending is not None else []
    return "\n".join(lines) + "\n"


def job(number: int, queue: str, pods: int, devices: int) -> str:
    return (
        f"apiVersion: kueue.x-k8s.io/v1beta2\nkind: LocalQueue\nmetadata: {{name: main, namespace: n{number}}}\n"
        f"spec: {{clusterQueue: {queue}}}\n---\n"
        f"apiVersion: batch/v1\nkind: Job\nmetadata: {{name: train, namespace: n{number}, "
        "labels: {kueue.x-k8s.io/queue-name: main}}\n"
        f"spec:\n  parallelism: {pods}\n  completions: {pods}\n  suspend: true\n  template:\n    spec:\n"
        "      restartPolicy: Never\n      containers:\n      - name: main\n        image: example.com/x\n"
        f"        resources: {{limits: {{nvidia.com/gpu: {devices}}}}}\n"
    )


@st.composite
def kueue(draw: st.DrawFn) -> dict[str, str]:
    """Several flavors, some of which share nodes, cohorts with limits, DaemonSets, workloads and declared shapes."""
    models = draw(st.lists(st.sampled_from(MODELS), min_size=1, max_size=3, unique=True))
    counts = st.integers(1, 6).map(str) | st.tuples(st.integers(0, 3), st.integers(4, 6)).map(
        lambda c: f"{{min: {c[0]}, max: {c[1]}}}"
    )
    parts = [pool(m, draw(counts), draw(st.sampled_from([4, 8]))) for m in models]
    flavors = {m: f"gpu: {m}" for m in models}
    if draw(st.booleans()):
        flavors["any"] = "kind: accelerated"
    if draw(st.integers(0, 3)) == 0:
        flavors[models[0]] = f"gpu: {models[0]}x"  # a misspelled label
    parts += [flavor(n, labels) for n, labels in flavors.items()]
    parts += [daemon_set(models[0])] if draw(st.integers(0, 2)) == 0 else []
    amounts = st.integers(0, 8).map(lambda n: n * 8) | st.integers(0, 50)
    limits = st.none() | st.integers(0, 3).map(lambda n: n * 8)
    names = []
    for number in range(draw(st.integers(1, 4))):
        mine = draw(st.lists(st.sampled_from(sorted(flavors)), min_size=1, max_size=2, unique=True))
        cohort = draw(st.sampled_from([None, "all"]))
        names.append(f"q{number}")
        parts.append(cluster_queue(names[-1], cohort, {f: (draw(amounts), draw(limits), draw(limits)) for f in mine}))
    for number in range(draw(st.integers(0, 3))):
        parts.append(
            job(number, draw(st.sampled_from(names)), draw(st.integers(1, 6)), draw(st.sampled_from([1, 4, 8])))
        )
    wishes = ""
    if draw(st.booleans()):
        shape = (
            f"{{name: trainer, requests: {{nvidia.com/gpu: {draw(st.sampled_from([2, 4, 8]))}}}, flavors: [{models[0]}]"
        )
        wishes += f"shapes:\n- {shape}, pods: {draw(st.integers(1, 8))}}}\n"
    if draw(st.booleans()):
        wishes += "queues: {reserved: [q0]}\n"
    return {"all.yaml": "---\n".join(parts), "qcheck.yaml": f"version: 1\n{wishes}"}


@st.composite
def kai(draw: st.DrawFn) -> dict[str, str]:
    """Departments and teams of KAI beside nodes."""
    parts = [pool("h100", str(draw(st.integers(1, 6))), 8)]
    parts += [daemon_set("h100")] if draw(st.booleans()) else []
    for number in range(draw(st.integers(1, 3))):
        quota = draw(st.integers(0, 6)) * 8
        for name, parent, amount in (
            (f"d{number}", None, quota),
            (f"t{number}", f"d{number}", draw(st.integers(0, quota))),
        ):
            above = f"  parentQueue: {parent}\n" if parent else ""
            terms = [
                f"    {kind}: {{quota: {quota_of}, limit: -1, overQuotaWeight: 1}}"
                for kind, quota_of in (("gpu", amount), ("cpu", -1), ("memory", -1))
            ]
            parts.append(
                f"apiVersion: scheduling.run.ai/v2\nkind: Queue\nmetadata: {{name: {name}}}\nspec:\n{above}  resources:\n"
                + "\n".join(terms)
                + "\n"
            )
    return {"all.yaml": "---\n".join(parts), "qcheck.yaml": "version: 1\n"}


@st.composite
def volcano(draw: st.DrawFn) -> dict[str, str]:
    """Queues of Volcano with guarantees and deserved amounts under the capacity plugin."""
    parts = [pool("h100", str(draw(st.integers(1, 6))), 8)]
    parts.append(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: volcano-scheduler-configmap, namespace: volcano-system}\ndata:\n"
        '  volcano-scheduler.conf: |\n    actions: "enqueue, allocate, preempt, reclaim, backfill"\n    tiers:\n'
        "    - plugins:\n"
        "      - name: priority\n      - name: gang\n    - plugins:\n      - name: capacity\n      - name: nodeorder\n"
    )
    for number in range(draw(st.integers(1, 3))):
        deserved = draw(st.integers(1, 40))
        parts.append(
            f"apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {{name: q{number}}}\nspec:\n"
            f"  reclaimable: true\n  guarantee: {{resource: {{nvidia.com/gpu: {draw(st.integers(0, deserved))}}}}}\n"
            f"  deserved: {{nvidia.com/gpu: {deserved}}}\n"
        )
    return {"all.yaml": "---\n".join(parts), "qcheck.yaml": "version: 1\n"}


@st.composite
def small(draw: st.DrawFn) -> tuple[list[str], list[tuple[str, int]]]:
    """Few nodes of one device in two pools, a flavor for each and one for both, and quotas of at most 3."""
    pools = [pool(m, str(draw(st.integers(0, 3))), 1) for m in MODELS[:2]]
    flavors = {MODELS[0]: f"gpu: {MODELS[0]}", MODELS[1]: f"gpu: {MODELS[1]}", "any": "kind: accelerated"}
    quotas = draw(st.lists(st.tuples(st.sampled_from(sorted(flavors)), st.integers(1, 3)), min_size=1, max_size=3))
    return [*pools, *(flavor(n, labels) for n, labels in flavors.items())], quotas


def with_quotas(parts: list[str], quotas: list[tuple[str, int]]) -> Result:
    queues = [cluster_queue(f"q{n}", None, {of: (amount, None, None)}) for n, (of, amount) in enumerate(quotas)]
    Path("all.yaml").write_text("---\n".join([*parts, *queues]))
    return judged()


@settings(
    max_examples=max(12, EXAMPLES // 10), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(small())
def test_no_smaller_cut_passes(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    case: tuple[list[str], list[tuple[str, int]]],
) -> None:
    """The first cut of quotas changes as few of them, and takes as little, as the best of all that there are."""
    monkeypatch.chdir(tmp_path)
    parts, quotas = case
    best: tuple[int, int] | None = None
    for amounts in product(*(range(n + 1) for _, n in quotas)):
        cuts = [n - less for (_, n), less in zip(quotas, amounts, strict=True)]
        cost = sum(map(bool, cuts)), sum(cuts)
        if best is None or cost < best:
            result = with_quotas(parts, [(of, n) for (of, _), n in zip(quotas, amounts, strict=True)])
            if not any(f.severity == "error" for f in result.findings):
                best = cost
    with_quotas(parts, quotas)
    run(["suggest", ".", "--format", "json"])
    found = json.loads(capsys.readouterr().out)["alternatives"]
    cut: list[dict[str, str]] = next((a["edits"] for a in found if a["kind"] == "quota" and not a["leaves"]), [])
    taken = sum(int(e["old"]) - int(e["new"]) for e in cut)
    assert best is not None
    assert (len(cut), taken) == best


def judged() -> Result:
    return audit(["."], load_settings("."))


def running(result: Result) -> set[str]:
    return {str(v.workload.id) for c in result.clusters for v in verdicts_of(c) if v.runs}


def graded(result: Result) -> dict[str, str]:
    return {f.fingerprint: str(f.severity) for f in result.findings}


def shown(result: Result) -> list[str]:
    return [f"{f.severity} {f.rule.id if f.rule else ''} {f.message}" for f in result.findings]


def write(files: dict[str, str]) -> None:
    for name, text in files.items():
        Path(name).write_text(text)


def all_keep_what_they_say(
    files: dict[str, str], alternatives: list[dict[str, Any]], before: Result, *words: str
) -> None:
    """Make the edits of each alternative; `--write`, which searches again, must make the same ones of the last."""
    for each in alternatives:
        lines = files["all.yaml"].splitlines()
        for edit in each["edits"]:
            lines[edit["line"] - 1] = lines[edit["line"] - 1].replace(edit["old"], edit["new"], 1)
        write({**files, "all.yaml": "\n".join(lines) + "\n"})
        keeps_what_it_says(files, each, before)
    if alternatives:
        edited = Path("all.yaml").read_text()
        write(files)
        code = run(["suggest", ".", "--write", "--pick", str(len(alternatives)), *words])
        assert Path("all.yaml").read_text() == edited
        assert code == (1 if alternatives[-1]["leaves"] or alternatives[-1]["uncovers"] else 0)


def keeps_what_it_says(files: dict[str, str], alternative: dict[str, Any], before: Result) -> None:
    """Compare what `check` says of the edited files with what an alternative promised."""
    after = judged()
    was, now = graded(before), graded(after)
    left = {mark for mark, severity in now.items() if severity == "error"}
    uncovered = left - {mark for mark, severity in was.items() if severity == "error"}
    errors = [f for f in after.findings if f.fingerprint in uncovered]
    assert Counter(f"{f.rule.id} {f.rule.name}: {f.message}" for f in errors if f.rule) == Counter(
        alternative["uncovers"]
    )
    assert left - uncovered == set(alternative["leaves"]), shown(after)
    brought = {
        f"{f.rule.id} {f.rule.name}"
        for f in after.findings
        if f.rule and f.severity == "warning" and was.get(f.fingerprint) not in ("warning", "error")
    }
    assert brought == set(alternative["brings"])
    assert running(before) <= running(after), "what ran before still runs"
    old, new = (text.splitlines() for text in (files["all.yaml"], Path("all.yaml").read_text()))
    changed = [line for line, (a, b) in enumerate(zip(old, new, strict=True), 1) if a != b]
    assert changed == sorted({e["line"] for e in alternative["edits"]})
    for edit in alternative["edits"]:
        assert edit["old"] != edit["new"]
        assert new[edit["line"] - 1] == old[edit["line"] - 1].replace(edit["old"], edit["new"], 1)


@settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.one_of(kueue(), kueue(), kai(), volcano()))
def test_every_alternative_keeps_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], files: dict[str, str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write(files)
    before = judged()
    errors = [f for f in before.findings if f.severity == "error"]
    code = run(["suggest", ".", "--format", "json"])
    found = json.loads(capsys.readouterr().out)
    assert code == (1 if errors else 0)
    for each in found["alternatives"]:
        assert each["resolves"]
        assert {*each["resolves"], *each["leaves"]} == {f.fingerprint for f in errors}
    all_keep_what_they_say(files, found["alternatives"], before)
    capsys.readouterr()
    orders = [(len(a["leaves"]), len(a["uncovers"]), len(a["edits"])) for a in found["alternatives"]]
    assert orders == sorted(orders)
    only_quotas = {f.rule.id for f in errors if f.rule} == {"QC101"}
    assert found["alternatives"] or not only_quotas or found["rejected"], "excess promises have an answer, or a reason"


@settings(
    max_examples=max(12, EXAMPLES // 4),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(kueue(), st.sampled_from(["proportional", "fill"]), st.sampled_from(["0", "1-node", "10%", "3"]))
def test_divisions_keep_what_they_say(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    files: dict[str, str],
    mode: str,
    headroom: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    write(files)
    before = judged()
    words = ("--mode", mode, "--headroom", headroom)
    run(["suggest", ".", "--format", "json", *words])
    all_keep_what_they_say(files, json.loads(capsys.readouterr().out)["alternatives"], before, *words)
    capsys.readouterr()
