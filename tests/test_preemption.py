"""The preemption matrix: what each combination of policies comes to, and what a profile holds."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from qcheck.api import audit
from qcheck.cli import entrypoint
from qcheck.findings.result import Result
from qcheck.pipeline.gather import gather
from qcheck.reports import preemption as report
from qcheck.schedulers.kueue.preemption import LendingClaim, Matrix, preemption_matrix
from qcheck.settings import Settings
from qcheck.settings.load import load_settings
from qcheck.settings.profiles import severities

FLAVOR = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: h100}
spec: {}
"""
CLASSES = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: WorkloadPriorityClass
metadata: {name: high}
value: 100
"""
SHARED_JOB = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: shared, namespace: team}
spec: {clusterQueue: shared}
---
apiVersion: batch/v1
kind: Job
metadata: {name: sweep, namespace: team, labels: {kueue.x-k8s.io/queue-name: shared}}
spec:
  template:
    spec:
      terminationGracePeriodSeconds: 120
      restartPolicy: Never
      containers:
        - {name: main, image: registry.example/sweep:1, resources: {limits: {nvidia.com/gpu: 1}}}
"""


def queue(name: str, nominal: int, preemption: str = "{}", cohort: str = "research") -> str:
    return f"""\
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {{name: {name}}}
spec:
  cohortName: {cohort}
  namespaceSelector: {{}}
  preemption: {preemption}
  resourceGroups:
    - coveredResources: [nvidia.com/gpu]
      flavors: [{{name: h100, resources: [{{name: nvidia.com/gpu, nominalQuota: {nominal}}}]}}]
"""


def matrix(folder: Path, *documents: str) -> Matrix:
    (folder / "all.yaml").write_text("---\n".join((FLAVOR, *documents)))
    return preemption_matrix(gather([str(folder)], Settings()).clusters[0])


def claim(folder: Path, preemption: str, *more: str) -> LendingClaim:
    found = matrix(folder, queue("team-a", 8, preemption), queue("shared", 0), *more)
    (only,) = found.claims
    return only


@pytest.mark.parametrize(
    ("preemption", "more", "outcome"),
    [
        ("{}", (), "never"),
        ("{withinClusterQueue: LowerPriority}", (CLASSES,), "never"),
        ("{reclaimWithinCohort: Any}", (), "always"),
        ("{reclaimWithinCohort: LowerPriority}", (), "never"),
        ("{reclaimWithinCohort: LowerPriority}", (CLASSES,), "lower priorities only"),
    ],
)
def test_whether_quota_comes_back(tmp_path: Path, preemption: str, more: tuple[str, ...], outcome: str) -> None:
    assert claim(tmp_path, preemption, *more).outcome == outcome


def test_how_long_it_takes_is_the_slowest_known_workload(tmp_path: Path) -> None:
    known = claim(tmp_path, "{reclaimWithinCohort: Any}", SHARED_JOB)
    assert (known.seconds, known.slowest, known.is_assumed) == (120, "Job team/sweep", False)


def test_without_known_workloads_the_default_grace_period_is_assumed(tmp_path: Path) -> None:
    unknown = claim(tmp_path, "{reclaimWithinCohort: Any}")
    assert (unknown.seconds, unknown.slowest, unknown.is_assumed) == (30, None, True)


def test_what_comes_back_by_itself_has_no_bound(tmp_path: Path) -> None:
    assert claim(tmp_path, "{}", SHARED_JOB).seconds is None


def effects(found: Matrix, name: str) -> str:
    return "; ".join(next(s.effects for s in found.stances if s.queue.name == name))


def test_a_queue_without_quota_in_a_flat_cohort_never_preempts_itself(tmp_path: Path) -> None:
    found = matrix(tmp_path, queue("team-a", 8), queue("shared", 0, "{withinClusterQueue: LowerPriority}"))
    assert "withinClusterQueue LowerPriority has no effect" in effects(found, "shared")
    assert "it lends no quota that others can use" in effects(found, "shared")


def test_policies_towards_a_cohort_are_inert_without_one(tmp_path: Path) -> None:
    alone = queue("team-a", 8, "{reclaimWithinCohort: Any}").replace("  cohortName: research\n", "")
    assert "only withinClusterQueue applies" in effects(matrix(tmp_path, alone), "team-a")


def test_every_format_holds_every_claim_and_lets_no_name_act(tmp_path: Path) -> None:
    found = matrix(tmp_path, queue("team-a", 8, "{reclaimWithinCohort: Any}"), queue("shared", 0))
    data = json.loads(report.render_json([found]))
    assert data["clusters"][0]["claims"][0]["holders"] == ["shared"]
    for text in (report.render_text([found]), report.render_markdown([found]), report.render_html([found])):
        assert "team-a" in text
        assert "always" in text
    assert "<script" not in report.render_html([found])


def audited(folder: Path, settings: str, *documents: str) -> Result:
    (folder / "all.yaml").write_text("---\n".join((FLAVOR, *documents)))
    (folder / "qcheck.yaml").write_text(settings)
    return audit([str(folder)], load_settings(str(folder)))


PROFILE = "profile: reserved-and-shared\n"


def told(result: Result) -> dict[str, str]:
    return {f.rule.id: f.severity for f in result.findings if f.rule and f.rule.id in ("QC308", "QC412")}


def test_the_profile_knows_owners_by_their_quota_and_is_strict(tmp_path: Path) -> None:
    queues = queue("team-a", 8, "{reclaimWithinCohort: LowerPriority}"), queue("shared", 0)
    assert told(audited(tmp_path, PROFILE, *queues)) == {"QC308": "error", "QC412": "error"}
    assert told(audited(tmp_path, "version: 1\n", *queues)) == {}


def test_parts_of_the_profile_can_be_left_out(tmp_path: Path) -> None:
    queues = queue("team-a", 8, "{reclaimWithinCohort: Any}"), queue("shared", 0)
    settings = f"{PROFILE}rules: {{severity: {{QC4: note}}}}\n"
    assert told(audited(tmp_path, settings, *queues)) == {"QC412": "note"}
    assert told(audited(tmp_path, f"{PROFILE}rules: {{ignore: [QC412]}}\n", *queues)) == {}


FLEET = Path(__file__).resolve().parent.parent / "fixtures" / "clusters" / "research-fleet"
HELD = set(severities("reserved-and-shared"))


def test_the_example_fleet_breaks_the_pattern_and_can_be_mended(tmp_path: Path) -> None:
    fleet = shutil.copytree(FLEET, tmp_path / "fleet")
    settings = (
        'profile: reserved-and-shared\nqueues: {reserved: [pretraining, alignment, multimodal], shared: ["default"]}\n'
    )
    (fleet / "qcheck.yaml").write_text(settings)
    broken = audit([str(fleet)], load_settings(str(fleet)))
    assert {f.rule.id: f.severity for f in broken.findings if f.rule and f.rule.id in HELD} == {"QC305": "error"}
    classes = fleet / "system" / "priorities.yaml"
    mended = classes.read_text().replace("name: interruptible\nvalue: 0", "name: interruptible\nvalue: -5")
    classes.write_text(mended)
    assert not [f for f in audit([str(fleet)], load_settings(str(fleet))).findings if f.rule and f.rule.id in HELD]


def test_the_command_line_shows_it_in_every_format(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.html"
    words = ["explain", "preemption", str(FLEET), "--format", "json", "--format", f"html={page}"]
    assert entrypoint.run(words) == 0
    assert json.loads(capfd.readouterr().out)["clusters"][0]["claims"]
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_a_rule_is_explained_without_paths(capfd: pytest.CaptureFixture[str]) -> None:
    assert entrypoint.run(["explain", "QC308", str(FLEET)]) == 2
    assert "qcheck explain preemption" in capfd.readouterr().err
