"""What a change does: two revisions of a real git repository, and two directories."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from qcheck.answers.finding_changes import Comparison
from qcheck.cli.entrypoint import run
from qcheck.pipeline.diff import check_since, compare, sides
from qcheck.reports.diff import render_json, render_markdown, render_text
from qcheck.settings import Settings
from qcheck.settings.load import load_settings

FLEET = Path("fixtures/clusters/research-fleet").resolve()


def git(*words: str) -> None:
    own = ["-c", "user.name=somebody", "-c", "user.email=somebody@example.com", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *own, *words], check=True, capture_output=True)


def replace_in(path: str, old: str, new: str) -> None:
    text = Path(path).read_text()
    assert old in text
    Path(path).write_text(text.replace(old, new))


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The example fleet on `main`, with a branch `change` checked out."""
    shutil.copytree(FLEET, tmp_path / "fleet")
    monkeypatch.chdir(tmp_path / "fleet")
    git("init", "-q", "-b", "main")
    git("add", "-A")
    git("commit", "-qm", "as it is")
    git("checkout", "-qb", "change")
    return tmp_path / "fleet"


def ids(findings: tuple[object, ...]) -> list[str]:
    return sorted(f.rule.id for f in findings)  # type: ignore[attr-defined]


def now(head: str | None = None) -> Comparison:
    return compare(*sides("main", head, ["."], Settings()))


def test_no_change_brings_nothing(repository: Path) -> None:
    comparison = now()
    assert (comparison.new, comparison.fixed, comparison.exit_code) == ((), (), 0)
    assert len(comparison.remaining) >= 3
    assert check_since("main", ["."], Settings()).exit_code == 0


def test_a_repair_is_seen_as_one(repository: Path) -> None:
    replace_in("queues/reserved.yaml", "nominalQuota: 80", "nominalQuota: 61")
    replace_in("workloads/pretrain.yaml", "parallelism: 10", "parallelism: 7")
    comparison = now()
    assert "QC101" in ids(comparison.fixed)
    assert ids(comparison.new) == ["QC504", "QC802"]
    assert comparison.exit_code == 0


def test_what_gets_worse_counts_as_new(repository: Path) -> None:
    replace_in("nodes/h100.yaml", "count: 19", "count: 18")
    comparison = now()
    assert "QC101" in ids(comparison.new)
    assert comparison.exit_code == 1
    result = check_since("main", ["."], Settings())
    assert result.exit_code == 1
    assert not any(f.rule and f.rule.family == "change" for f in result.findings)
    assert len(result.older) > 0


def test_moved_lines_and_files_are_no_change(repository: Path) -> None:
    replace_in("queues/reserved.yaml", "# Three teams", "# A line more.\n# Three teams")
    Path("queues/shared.yaml").rename("queues/everybody.yaml")
    comparison = now()
    assert (comparison.new, comparison.fixed) == ((), ())
    assert [c.objects for c in comparison.clusters] == [()]


def test_what_others_changed_meanwhile_is_not_held_against_a_change(repository: Path) -> None:
    git("checkout", "-q", "main")
    replace_in("nodes/h100.yaml", "count: 19", "count: 22")
    git("commit", "-qam", "more nodes")
    git("checkout", "-q", "change")
    assert now().new == ()


def test_objects_are_added_removed_renamed_and_changed(repository: Path) -> None:
    Path("workloads/sweep.yaml").unlink()
    replace_in("queues/flavors.yaml", "  name: h100\n", "  name: hopper\n")
    Path("more.yaml").write_text("apiVersion: kueue.x-k8s.io/v1beta2\nkind: Cohort\nmetadata: {name: all}\n")
    replace_in("nodes/h100.yaml", "count: 19", "count: 20")
    told = {(c.how, str(c.object)) for change in now().clusters for c in change.objects}
    assert told == {
        ("removed", "Job alignment/sweep"),
        ("renamed", "ResourceFlavor hopper"),
        ("added", "Cohort all"),
        ("changed", "node pool h100"),
    }


def test_a_removed_object_that_is_still_named_is_told_once(repository: Path) -> None:
    replace_in("queues/flavors.yaml", "  name: h100\n", "  name: hopper\n")
    new = ids(now().new)
    assert "QC803" in new
    assert "QC401" not in new


def test_two_revisions_are_read_without_touching_the_checkout(repository: Path) -> None:
    replace_in("nodes/h100.yaml", "count: 19", "count: 20")
    git("commit", "-qam", "one more")
    replace_in("nodes/h100.yaml", "count: 20", "count: 1")
    assert "QC101" not in ids(now("change").new)
    assert Path("nodes/h100.yaml").read_text().count("count: 1\n") == 1


def test_the_reports_say_it(repository: Path) -> None:
    replace_in("nodes/h100.yaml", "count: 19", "count: 18")
    comparison = now()
    text = render_text(comparison)
    assert "~ node pool h100 (nodes/h100.yaml:2)\n    spec.count: 19 -> 18\n" in text
    assert "h100 nvidia.com/gpu 152 133 -> 126" in " ".join(text.split())
    assert "| h100 | nvidia.com/gpu | 152 | 133 -&gt; 126 |" in render_markdown(comparison)
    data = json.loads(render_json(comparison))
    assert data["clusters"][0]["capacity"][0]["static"] == {"before": 133, "after": 126}
    assert data["clusters"][0]["objects"][0]["fields"] == [{"route": "spec.count", "before": "19", "after": "18"}]
    assert data["summary"]["new"]["error"] == sum(f.severity == "error" for f in comparison.new)


def test_fields_are_named_not_numbered(repository: Path) -> None:
    replace_in("queues/reserved.yaml", "nominalQuota: 80", "nominalQuota: 72")
    field = "spec.resourceGroups[cpu,memory,nvidia.com/gpu].flavors[h100].resources[nvidia.com/gpu].nominalQuota"
    assert f"{field}: 80 -> 72" in render_text(now())


def test_a_removed_list_item_has_its_own_name(repository: Path) -> None:
    replace_in(
        "queues/reserved.yaml", "            - {name: nvidia.com/gpu, nominalQuota: 80, borrowingLimit: 0}\n", ""
    )
    group = "spec.resourceGroups[cpu,memory,nvidia.com/gpu]"
    item = "{name: nvidia.com/gpu, nominalQuota: 80, borrowingLimit: 0}"
    assert f"{group}.flavors[h100].resources[nvidia.com/gpu]: {item} -> (not there)" in render_text(now())


def test_two_directories(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(FLEET, "old")
    shutil.copytree(FLEET, "new")
    assert compare(*sides("old", "new", (), Settings())).new == ()
    replace_in("new/nodes/h100.yaml", "count: 19", "count: 20")
    assert ids(compare(*sides("old", "new", (), Settings())).new) == []


def test_the_command(repository: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert run(["diff", "main"]) == 0
    assert capfdbinary.readouterr().out.splitlines()[-1].startswith(b"new: nothing; fixed: 0; remaining: ")
    assert run(["diff", "nowhere"]) == 2
    assert b"git has no commit 'nowhere'" in capfdbinary.readouterr().err
    assert run(["check", "--since", "main"]) == 0
    assert b"older than the change" in capfdbinary.readouterr().out
    assert run(["check", "--since", "nowhere"]) == 2


def test_what_is_rendered_is_rendered_from_each_revision(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tools = repository.parent / "bin"
    tools.mkdir()
    (tools / "kustomize").write_text('#!/bin/sh\ncat "$3"/*.yaml\n')
    (tools / "kustomize").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    only = {"clusters": {"prod": {"include": ["nodes/**", "system/**"], "render": [{"kustomize": "queues"}]}}}
    Path("qcheck.yaml").write_text(json.dumps({"version": 1, **only}))
    assert compare(*sides("main", None, ["."], load_settings())).new == ()
    replace_in("queues/reserved.yaml", "nominalQuota: 80", "nominalQuota: 96")
    comparison = compare(*sides("main", None, ["."], load_settings()))
    assert "QC101" in ids(comparison.new)
    assert comparison.clusters[0].objects[0].fields[0].before == "80"
    assert not comparison.after.inputs.unjudged


OLD = """apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata: {name: team-z}
spec:
  cohort: lab
  namespaceSelector: {}
  admissionChecks: [provision]
  flavorFungibility: {whenCanBorrow: Borrow}
  resourceGroups:
    - coveredResources: [cpu]
      flavors: [{name: cpu, resources: [{name: cpu, nominalQuota: 8}]}]
"""
NEW = """apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: team-z}
spec:
  cohortName: lab
  namespaceSelector: {}
  admissionChecksStrategy: {admissionChecks: [{name: provision}]}
  flavorFungibility: {whenCanBorrow: MayStopSearch}
  resourceGroups:
    - coveredResources: [cpu]
      flavors: [{name: cpu, resources: [{name: cpu, nominalQuota: QUOTA}]}]
"""


@pytest.mark.parametrize(("quota", "fields"), [("8", []), ("4", ["nominalQuota"])])
def test_the_newer_version_of_an_object_is_compared_by_meaning(quota: str, fields: list[str], tmp_path: Path) -> None:
    for name, text in (("before", OLD), ("after", NEW.replace("QUOTA", quota))):
        (tmp_path / name).mkdir()
        (tmp_path / name / "queues.yaml").write_text(text)
    comparison = compare(*sides(str(tmp_path / "before"), str(tmp_path / "after"), (), Settings()))
    changed = [field.route[-1] for c in comparison.clusters for o in c.objects for field in o.fields]
    assert changed == fields
