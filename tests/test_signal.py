"""What people see first: the worst, causes before consequences, and one finding where several clusters share it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from made import CATALOGUE, over_quota, place, rule, settled

from qcheck.api import audit
from qcheck.cli.entrypoint import run
from qcheck.cluster.objects import ObjectId
from qcheck.cluster.value import replace
from qcheck.findings.causes import CONSEQUENCES, causes_first, grouped
from qcheck.findings.finding import Finding
from qcheck.findings.result import View
from qcheck.findings.same_in_clusters import apart, merged
from qcheck.findings.severity import Severity
from qcheck.findings.worsening import amounts, is_worse
from qcheck.reports import FORMATS, render
from qcheck.settings.load import load_settings

JOB = ObjectId(group="batch", version="v1", kind="Job", name="train", namespace="ml")


def of(identifier: str, severity: str, line: str = "a.yaml", **data: Any) -> Finding:
    found = over_quota(place(path=line))
    return replace(
        found, rule=rule(identifier, "some-rule", severity), severity=severity, object=JOB, data=data, identity=line
    )


def test_the_table_of_causes_has_no_cycle_and_names_rules() -> None:
    from qcheck.findings.catalogue import load_catalogue

    edges = {(c.cause, r) for c in CONSEQUENCES for r in c.rules}
    assert not {r for edge in edges for r in edge} - set(load_catalogue()) - {"QC213", "QC514", "QC515"}
    left = set(edges)
    while leaves := {(a, b) for a, b in left if not any(x == b for x, _ in left)}:
        left -= leaves
    assert left == set()


def test_consequences_are_folded_into_their_first_cause() -> None:
    first, second = of("QC502", "error", "a", flavor="h100"), of("QC507", "error", "b", flavors=["h100"], largest=0)
    third, fourth = of("QC602", "error", "c"), of("QC317", "error", "d")
    other = of("QC507", "error", "e", flavors=["h100"], largest=3)
    groups = grouped([other, third, second, first, fourth])
    assert [(g.head.fingerprint, [f.fingerprint for f in g.followers]) for g in groups] == [
        ("e", []),
        ("c", ["d"]),
        ("a", ["b"]),
    ]


def test_what_is_missing_follows_from_what_was_not_read() -> None:
    template = of("QC009", "warning", "a")
    unsure, sure = of("QC403", "warning", "b").likely(), of("QC403", "warning", "c")
    assert [len(g.followers) for g in grouped([template, unsure, sure])] == [1, 0]


def test_no_finding_hides_below_a_milder_one() -> None:
    cause, worse = of("QC104", "warning", "a"), of("QC505", "error", "b", daemonSets=["DaemonSet system/probe"])
    cause = replace(cause, object=ObjectId("apps", "v1", "DaemonSet", "probe", "system"))
    mild = replace(worse, severity=Severity.WARNING)
    assert [g.followers for g in grouped([mild, cause])] == [(mild,)]
    assert [g.head for g in grouped([cause, worse])] == [worse, cause]
    assert causes_first([of("QC206", "note", "n"), cause, worse])[0] == worse


def test_what_holds_in_another_cluster_does_not_follow() -> None:
    cause = of("QC602", "error", "a")
    assert len(grouped([cause, of("QC317", "error", "b")])) == 1
    elsewhere = replace(of("QC317", "error", "b"), cluster="west")
    assert [len(g.followers) for g in grouped([cause, elsewhere])] == [0, 0]


RULES = Path(__file__).parent.parent / "fixtures" / "rules"
UNTOLERATED = "  taints:\n    - {key: example.com/blocked, effect: NoSchedule}\n"


def folded(folder: Path, cause: str) -> set[str]:
    groups = grouped(audit([str(folder)]).findings)
    return {f.rule.id for g in groups if g.head.rule and g.head.rule.id == cause for f in g.followers if f.rule}


@pytest.mark.parametrize(
    ("case", "remaining"),
    [
        ("QC102-quota-needs-autoscaling/fail-minimum-too-small", "QC102"),
        ("QC505-whole-node-pods-impossible/fail-topology-does-not-evict", "QC505"),
        ("QC507-gang-exceeds-domain/fail-larger-than-a-rack", "QC507"),
    ],
)
def test_findings_that_a_toleration_does_not_resolve_are_not_folded(case: str, remaining: str, tmp_path: Path) -> None:
    for file in (RULES / case).glob("*.yaml"):
        (tmp_path / file.name).write_text(file.read_text().replace("  taints:\n", UNTOLERATED))
    found = {f.rule.id for f in audit([str(tmp_path)]).findings if f.rule}
    assert {"QC202", remaining} <= found
    assert remaining not in folded(tmp_path, "QC202")


def test_the_same_finding_in_two_clusters_is_one() -> None:
    east, west = replace(over_quota(), cluster="east"), replace(over_quota(), cluster="west")
    only = replace(over_quota(place(path="b.yaml")), cluster="west")
    found = merged([west, east, only], ["east", "west"])
    assert [(f.cluster, f.data.get("clusters")) for f in found] == [("east", ["east", "west"]), ("west", None)]
    assert sorted(f.cluster for f in apart(found)) == ["east", "west", "west"]
    assert len(merged([west, west, east], ["east", "west"])) == 2


def test_every_format_names_the_clusters_of_a_shared_finding() -> None:
    east, west = replace(over_quota(), cluster="east"), replace(over_quota(), cluster="west")
    result = settled(east, west)
    for form in FORMATS:
        shown = render(result, form)
        assert "east" in shown, form
        assert "west" in shown, form
    assert len(json.loads(render(result, "json"))["findings"]) == 1


def test_a_baseline_of_one_cluster_does_not_cover_another(tmp_path: Path) -> None:
    from qcheck.findings.baseline import read_baseline, write_text
    from qcheck.findings.settle import SettleTerms

    east, west = replace(over_quota(), cluster="east"), replace(over_quota(), cluster="west")
    (tmp_path / "b.json").write_text(write_text(settled(east)))
    baseline = read_baseline(str(tmp_path / "b.json"))
    again = settled(east, west, terms=SettleTerms(baseline=baseline))
    assert [f.cluster for f in again.findings if f.rule and f.rule.id == "QC101"] == ["west"]
    (tmp_path / "b.json").write_text(write_text(settled(east, west)))
    both = settled(east, west, terms=SettleTerms(baseline=read_baseline(str(tmp_path / "b.json"))))
    assert both.findings == ()
    assert both.baselined[0].clusters == ("east", "west")


def test_what_is_hidden_counts() -> None:
    result = settled(over_quota(), replace(over_quota(), rule=CATALOGUE["QC206"])).from_severity(Severity.ERROR)
    assert [f.severity for f in result.findings] == ["error"]
    assert json.loads(render(result, "json"))["summary"]["note"] == 1
    assert "1 error, 1 note; 1 not shown" in render(result, "text")
    assert (
        replace(settled(replace(over_quota(), rule=CATALOGUE["QC206"])), fail_on=Severity.NOTE)
        .from_severity(Severity.ERROR)
        .exit_code
    )


def test_statistics_count_by_rule() -> None:
    result = replace(settled(over_quota(), over_quota(place(path="b.yaml"))), view=View(statistics=True))
    assert re.search(r"^2  error    QC101 quota-exceeds-capacity$", render(result, "text"), re.MULTILINE)
    assert json.loads(render(result, "json"))["statistics"][0]["count"] == 2
    assert "By rule" in render(result, "markdown")
    assert "By rule" in render(result, "html")


@pytest.mark.parametrize(
    ("before", "severity", "worse"),
    [({"short": 32}, "error", False), ({"short": 31}, "error", True), ({}, "", False), ({}, "warning", True)],
)
def test_more_of_the_same_is_worse(before: dict[str, int], severity: str, worse: bool) -> None:
    assert is_worse(severity, before, over_quota()) is worse


@pytest.mark.parametrize(
    ("data", "amount"),
    [
        ({"reserved": 40, "supply": 32}, {"reserved-supply": 8}),
        ({"requested": 24, "limit": 16}, {"requested-limit": 8}),
        ({"found": 16, "bound": 8}, {"found-bound": 8}),
        ({"excess": {"gpu": 8, "cpu": "half"}}, {"excess.gpu": 8}),
        ({"short": {"h100 nvidia.com/gpu": 8}}, {"short.h100 nvidia.com/gpu": 8}),
    ],
)
def test_amounts_of_all_schedulers_are_compared(data: dict[str, Any], amount: dict[str, int]) -> None:
    assert amounts(replace(over_quota(), data=data)) == amount


NODES = """\
apiVersion: qcheck.dev/v1
kind: NodePool
metadata: {name: h100}
spec: {count: NODES, labels: {gpu: h100}, allocatable: {cpu: 64, memory: 512Gi, nvidia.com/gpu: 8}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: h100}
spec: {nodeLabels: {gpu: h100}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: a}
spec:
  namespaceSelector: {}
  resourceGroups:
    - coveredResources: [nvidia.com/gpu]
      flavors: [{name: h100, resources: [{name: nvidia.com/gpu, nominalQuota: QUOTA}]}]
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: probe, namespace: d}
spec:
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}}
    spec: {containers: [{name: c, image: x, resources: {limits: {nvidia.com/gpu: TAKEN}}}]}
"""


@pytest.mark.parametrize(
    ("rule", "before", "after", "back"),
    [
        ("QC104", (2, 4, 1), (2, 4, 2), True),
        ("QC104", (2, 4, 2), (2, 4, 1), False),
        ("QC104", (2, 4, 1), (3, 4, 1), False),
        ("QC106", (4, 8, 1), (4, 4, 1), True),
        ("QC106", (4, 8, 1), (4, 12, 1), False),
        ("QC106", (4, 8, 1), (5, 8, 1), True),
        ("QC101", (2, 16, 1), (2, 17, 1), True),
        ("QC101", (2, 16, 1), (2, 15, 1), False),
    ],
)
def test_a_baselined_finding_comes_back_if_its_amount_grows(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    rule: str,
    before: tuple[int, int, int],
    after: tuple[int, int, int],
    back: bool,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("qcheck.yaml").write_text("baseline: known.json\n")
    for numbers in (before, after):
        text = NODES
        for name, number in zip(("NODES", "QUOTA", "TAKEN"), numbers, strict=True):
            text = text.replace(name, str(number))
        Path("all.yaml").write_text(text)
        if numbers is before:
            run(["baseline", "write", "--config", "qcheck.yaml", "."])
    result = audit(["."], load_settings("."))
    assert any(f.rule and f.rule.id == rule for f in result.findings) is back
    assert any(f.rule and f.rule.id == rule for f in (*result.findings, *result.baselined))


QUEUES = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: one, namespace: ml}
spec: {clusterQueue: nobody}
"""


def test_a_shared_file_is_told_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("base.yaml").write_text(QUEUES)
    Path("qcheck.yaml").write_text(
        "version: 1\nclusters: {west: {include: [base.yaml]}, east: {include: [base.yaml]}}\n"
    )
    missing = [f for f in audit(["."], load_settings(".")).findings if f.rule and f.rule.id == "QC402"]
    assert [(f.cluster, f.data["clusters"]) for f in missing] == [("west", ["west", "east"])]
