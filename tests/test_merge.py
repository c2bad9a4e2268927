"""`merge`: reports of several runs as one, the same as that of one run over everything."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rule_cases import RULES

from qcheck.cli.entrypoint import run
from qcheck.cluster.place import read_route, show_route
from qcheck.reports import FORMATS

STEPS = st.lists(st.integers(0, 99) | st.text(min_size=1), max_size=5).map(tuple)


@pytest.fixture
def fleet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three clusters, of which two have the same files."""
    monkeypatch.chdir(tmp_path)
    cases = sorted(RULES.glob("QC101-*/*"))
    fail = next(c for c in cases if c.name == "fail-one-node-short")
    good = next(c for c in cases if c.name.startswith("pass-"))
    shutil.copytree(fail, "bad")
    shutil.copytree(good, "good")
    include = {"east": "bad/**", "west": "good/**", "twin": "bad/**"}
    clusters = "".join(f"  {name}: {{include: ['{pattern}']}}\n" for name, pattern in include.items())
    Path("qcheck.yaml").write_text(f"version: 1\nclusters:\n{clusters}")
    return tmp_path


def report(capsysbinary: pytest.CaptureFixture[bytes], *words: str) -> dict[str, Any]:
    run([*words, "--format", "json"])
    found: dict[str, Any] = json.loads(capsysbinary.readouterr().out)
    return found


def shards(capsysbinary: pytest.CaptureFixture[bytes]) -> list[str]:
    names = []
    for name in ("east", "west", "twin"):
        Path(f"{name}.report").write_text(json.dumps(report(capsysbinary, "check", "--cluster", name)))
        names.append(f"{name}.report")
    return names


def test_shards_are_the_whole(fleet: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    whole = report(capsysbinary, "check")
    together = report(capsysbinary, "merge", *shards(capsysbinary))
    for key in ("summary", "findings", "clusters", "tool", "schema"):
        assert together[key] == whole[key], key
    assert sorted(f["path"] for f in together["inputs"].pop("read")) == sorted(
        f["path"] for f in whole["inputs"].pop("read")
    )
    assert together["inputs"] == whole["inputs"]


def test_a_report_merged_with_itself_is_itself(fleet: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    whole = report(capsysbinary, "check")
    Path("whole.report").write_text(json.dumps(whole))
    for files in (["whole.report"], ["whole.report", "whole.report"]):
        again = report(capsysbinary, "merge", *files)
        for key in ("findings", "clusters", "inputs"):
            assert again[key] == whole[key], key


def test_reports_that_do_not_list_their_files_are_added_up(
    fleet: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    whole = report(capsysbinary, "check")
    old = {**whole, "inputs": {k: v for k, v in whole["inputs"].items() if k != "read"}}
    old["clusters"] = [{k: v for k, v in c.items() if k != "objects"} for c in whole["clusters"]]
    Path("old.report").write_text(json.dumps(old))
    again = report(capsysbinary, "merge", "old.report", "old.report")["inputs"]
    assert all(again[key] == 2 * whole["inputs"][key] for key in ("files", "documents", "objects"))


def test_the_worst_cluster_is_first(fleet: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    names = shards(capsysbinary)
    assert run(["merge", *names]) == 1
    text = capsysbinary.readouterr().out.decode()
    table = text[text.index("cluster  ") :]
    assert table.index("west") > max(table.index("east"), table.index("twin"))
    assert "all clusters" in text


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_is_written(form: str, fleet: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    names = shards(capsysbinary)
    assert run(["merge", *names, "--format", form]) == 1
    assert "QC101" in capsysbinary.readouterr().out.decode()


def test_the_threshold_decides(fleet: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    [_, west, _] = shards(capsysbinary)
    before = report(capsysbinary, "check", "--cluster", "west")["summary"]
    assert run(["merge", west]) == 0
    assert run(["merge", west, "--fail-on", "note"]) == int(any(before[s] for s in ("error", "warning", "note")))


def test_what_a_report_hides_still_counts(fleet: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    shown = report(capsysbinary, "check", "--min-severity", "error")
    Path("errors.report").write_text(json.dumps(shown))
    assert report(capsysbinary, "merge", "errors.report")["summary"] == shown["summary"]


def test_a_run_that_could_not_judge_makes_it_2(fleet: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    Path("bad/broken.yaml").write_text("apiVersion: v1\nkind: [")
    run(["check", "bad", "missing", "--format", "json=bad.report"])
    assert run(["merge", "bad.report", "--format", "json"]) == 2
    assert b"missing" in capsysbinary.readouterr().err


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("{", "is not JSON"),
        ("[]", "is not a report"),
        ('{"schema": 1, "clusters": []}', "is not a report"),
        ('{"schema": 2, "summary": {}, "inputs": {}, "findings": []}', "schema 2"),
        ('{"schema": 1, "summary": {}, "inputs": {}, "findings": []}', "is not a complete report"),
        ('{"schema": 1, "summary": {}, "inputs": {}, "findings": [3]}', "is not a complete report"),
    ],
)
def test_what_is_no_report_is_named(
    content: str, why: str, tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    path = tmp_path / "x.json"
    path.write_text(content)
    assert run(["merge", str(path)]) == 2
    told = capsysbinary.readouterr().err.decode()
    assert str(path) in told
    assert why in told


@given(STEPS)
def test_a_route_is_read_as_it_is_shown(route: tuple[str | int, ...]) -> None:
    assert show_route(read_route(show_route(route))) == show_route(route)


WRONG: dict[str, str | dict[str, Any]] = {
    "deep": "[" * 100_000,
    "deep inside": '{"schema": 1, "summary": {}, "inputs": {}, "findings": ' + "[" * 5000 + "]" * 5000 + "}",
    "no count": {"summary": {"error": float("inf")}},
    "no reason": {"inputs": {"notRead": [{"path": "\u001b[31m", "why": 5}]}},
    "unjudged": {"inputs": {"unjudged": [5]}},
    "findings": {"findings": {"a": 1}},
    "clusters": {"clusters": 7},
}


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("form", ["text", "json"])
def test_what_is_no_report_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, name: str, form: str
) -> None:
    monkeypatch.chdir(tmp_path)
    inputs = {"files": 1, "documents": 1, "objects": 1, "notRead": [], "skippedRules": []}
    text = WRONG[name]
    if isinstance(text, dict):
        whole: dict[str, Any] = {"schema": 1, "summary": {}, "inputs": {}, "findings": [], **text}
        text = json.dumps({**whole, "inputs": {**inputs, **whole["inputs"]}})
    Path("a.report").write_text(text)
    assert run(["merge", "a.report", "--format", form]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert "error: a.report: " in told.err
    assert "bug in qcheck" not in told.err
