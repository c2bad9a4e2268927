"""`qcheck check --suggest`: edits in the reports, as text, as a section of the summary, and as fixes in SARIF."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from qcheck.cli.entrypoint import run

ROOT = Path(__file__).resolve().parent.parent
FLEET = ROOT / "fixtures" / "clusters" / "research-fleet"
SCHEMA = json.loads((ROOT / "tests" / "schemas" / "sarif.json").read_text())


@pytest.fixture(autouse=True)
def in_the_fleet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(FLEET)


def test_sarif_has_the_edits_as_fixes_of_what_they_resolve(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "--suggest", "--format", "sarif"]) == 1
    report = json.loads(capsys.readouterr().out)
    jsonschema.validate(report, SCHEMA)
    by_rule = {r["ruleId"]: r for r in report["runs"][0]["results"]}
    offered = {
        rule: [
            (change["artifactLocation"]["uri"], [r["insertedContent"]["text"] for r in change["replacements"]])
            for fix in by_rule[rule]["fixes"]
            for change in fix["artifactChanges"]
        ]
        for rule in ("QC101", "QC201", "QC505")
    }
    assert offered == {
        "QC101": [
            ("system/gpu-health.yaml", ["0"]),
            ("queues/reserved.yaml", ["21"]),
            ("nodes/h100.yaml", ["22"]),
        ],
        "QC201": [("queues/flavors.yaml", ["l40s"])],
        "QC505": [("system/gpu-health.yaml", ["0"]), ("workloads/pretrain.yaml", ["7"])],
    }
    for fix in by_rule["QC101"]["fixes"]:
        (change,) = fix["artifactChanges"]
        (replacement,) = change["replacements"]
        region = replacement["deletedRegion"]
        line = (FLEET / change["artifactLocation"]["uri"]).read_text().splitlines()[region["startLine"] - 1]
        assert line[region["startColumn"] - 1 : region["endColumn"] - 1] in ("1", "40", "19")


def test_the_summary_has_a_section_with_patches(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "--suggest", "--format", "markdown"]) == 1
    section = capsys.readouterr().out.partition("## Suggested edits")[2].partition("## Quota and nodes")[0]
    assert "resolves 3 of 3 findings" in section
    assert section.count("   ```diff") == 4
    assert "   +            - {name: nvidia.com/gpu, nominalQuota: 21, borrowingLimit: 0}" in section
    assert "Tried and rejected: 1" in section


def test_text_shows_them_before_the_counts(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "--suggest"]) == 1
    shown = capsys.readouterr().out
    assert shown.index("QC305") < shown.index("suggested edits") < shown.index("3 errors, 2 warnings")
    assert run(["check"]) == 1
    assert "suggested edits" not in capsys.readouterr().out


def test_what_passes_gets_no_suggestions(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "--suggest", str(FLEET.parent / "research-fleet-fixed"), "--format", "markdown"]) == 0
    assert "Suggested" not in capsys.readouterr().out


def test_suggestions_are_for_what_fails(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "--suggest", "--select", "QC201", "--format", "markdown"]) == 1
    section = capsys.readouterr().out.partition("## Suggested edits")[2]
    assert "resolves 1 of 1 finding" in section
    assert "reserved.yaml" not in section.partition("## Quota")[0]


def test_it_is_for_files_only(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["--set", "h100/alignment/nvidia.com/gpu=8"], ["--add-nodes", "h100=1"], ["--live"], ["-"]):
        assert run(["check", "--suggest", *words]) == 2
        assert "--suggest cannot be combined" in capsys.readouterr().err
