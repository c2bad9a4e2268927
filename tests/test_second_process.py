"""The second process: the same answers as without one, whatever becomes of it."""

from __future__ import annotations

import json
import marshal
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import bench_inputs
import pytest

from qcheck.checks.run import run
from qcheck.documents.load import load
from qcheck.documents.transfer import as_plain, from_plain
from qcheck.findings.catalogue import load_catalogue
from qcheck.pipeline import quiet_rules, second_process
from qcheck.pipeline.gather import gather
from qcheck.settings import Settings

PROJECT = Path(__file__).parent.parent
FIXTURES = sorted((PROJECT / "fixtures").rglob("*.yaml"))
ALONE = "from qcheck.pipeline import second_process; second_process._may_fork = lambda: False; "
EARLY = (
    "import qcheck.pipeline.read as r, qcheck.pipeline.validation as a, qcheck.pipeline.check as c; "
    "r.LARGE, a.MANY, c.MANY = 1, 2, 2; "
)
CHECK = "from qcheck.cli.entrypoint import run; run(['check', '.', '--format', 'json'])"


@pytest.fixture(autouse=True)
def _forks(monkeypatch: pytest.MonkeyPatch) -> None:
    """The threads of the test runner do nothing that a fork could disturb."""
    monkeypatch.setattr(second_process, "_may_fork", lambda: True)


def test_work_is_answered() -> None:
    here = os.getpid()
    answer = second_process.beside(lambda: [os.getpid(), "text", {"a": None}])()
    assert answer is not None
    assert answer[0] != here
    assert answer[1:] == ["text", {"a": None}]


def test_without_a_process_to_spare_there_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> int:
        raise BlockingIOError("Resource temporarily unavailable")

    monkeypatch.setattr(os, "fork", refuse)
    assert second_process.beside(lambda: [1])() is None
    mine, theirs = second_process.shared(lambda portion: portion, lambda portion: portion)()
    assert (mine, theirs) == ({portion: portion for portion in range(second_process.PORTIONS)}, {})


def test_answers_larger_than_a_pipe() -> None:
    assert second_process.beside(lambda: list(range(500_000)))() == list(range(500_000))


def test_work_that_fails_has_no_answer(capfd: pytest.CaptureFixture[str]) -> None:
    def fails() -> list[int]:
        raise ValueError("a fault")

    assert second_process.beside(fails)() is None
    assert second_process.beside(object)() is None
    assert capfd.readouterr() == ("", "")


def test_without_a_second_process_there_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(second_process, "_may_fork", lambda: False)
    assert second_process.beside(lambda: [1])() is None


ALL = set(range(second_process.PORTIONS))


def test_each_portion_is_done_once() -> None:
    mine, theirs = second_process.shared(slowly, lambda portion: portion**2)()
    assert theirs
    assert not mine.keys() & theirs.keys()
    assert {**mine, **theirs} == {portion: portion**2 for portion in ALL}


def slowly(portion: int) -> int:
    time.sleep(0.01)
    return portion**2


def test_what_the_second_process_leaves_is_done_here() -> None:
    def fails(portion: int) -> int:
        raise ValueError("a fault")

    mine, theirs = second_process.shared(lambda portion: portion**2, fails)()
    assert mine.keys() == ALL
    assert not theirs


def test_all_is_done_here_without_a_second_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(second_process, "_may_fork", lambda: False)
    mine, theirs = second_process.shared(str, str)()
    assert list(mine.items()) == [(portion, str(portion)) for portion in sorted(ALL)]
    assert not theirs


@pytest.mark.parametrize("path", FIXTURES, ids=lambda p: f"{p.parent.name}/{p.name}")
def test_plain_data_is_the_file_again(path: Path) -> None:
    raw = path.read_bytes()
    loaded = load(raw, path.name)
    told = as_plain(loaded)
    if told is None:
        return
    again = from_plain(marshal.loads(marshal.dumps(told)), raw, path.name)
    assert [d.data for d in again.documents] == [d.data for d in loaded.documents]
    for mine, theirs in zip(again.documents, loaded.documents, strict=True):
        assert (mine.index, mine.rendered_from) == (theirs.index, theirs.rendered_from)
        for route in routes(mine.data):
            assert mine.span(route) == theirs.span(route)
    assert again.comments("qcheck:") == loaded.comments("qcheck:") or all(
        a.line == b.line for a, b in zip(again.comments("qcheck:"), loaded.comments("qcheck:"), strict=True)
    )


def routes(value: object, route: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [route, *(found for step, below in inner for found in routes(below, (*route, step)))]


def report(code: str, folder: Path) -> dict[str, Any]:
    """What a check says that begins with some code."""
    command, environment = [sys.executable, "-c", code + CHECK], {**os.environ, "PYTHONPATH": str(PROJECT)}
    said = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)
    found: dict[str, Any] = json.loads(said.stdout)
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="there is no second process elsewhere")
def test_a_repository_is_judged_alike_by_one_and_by_two(tmp_path: Path) -> None:
    bench_inputs.repository(str(tmp_path), 150, 12)
    (tmp_path / "wrong.yaml").write_text("a: [\n---\nkind: ClusterQueue\napiVersion: kueue.x-k8s.io/v1beta2\n")
    (tmp_path / "odd.yaml").write_text(bench_inputs.queue(3, 1, 2).replace("team-3", "&name odd").replace("8", "-8"))
    reports = [report(code, tmp_path) for code in (EARLY, EARLY + ALONE, "")]
    assert reports[0] == reports[1] == reports[2]
    assert len(reports[0]["findings"]) > 3


@pytest.mark.skipif(sys.platform != "linux", reason="there is no second process elsewhere")
@pytest.mark.parametrize(("case", "told"), [("fail-same-priority", True), ("pass-below", False)])
def test_rules_with_findings_run_in_the_first_process(case: str, told: bool) -> None:
    catalogue = load_catalogue()
    rules = list(catalogue.values())
    (cluster,) = gather([str(PROJECT / "fixtures/rules/QC305-borrower-not-below-owner" / case)], Settings()).clusters
    is_quiet = quiet_rules.quiet_rules(cluster, rules, {}, catalogue)
    assert is_quiet(catalogue["QC305"]) is not told
    assert not is_quiet(catalogue["QC101"])
    here, both = run(cluster, rules, {}, catalogue), run(cluster, rules, {}, catalogue, None, is_quiet)
    assert [(f.rule, f.message, f.primary) for f in both.findings] == [
        (f.rule, f.message, f.primary) for f in here.findings
    ]
    assert both.skipped == here.skipped
