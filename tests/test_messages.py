"""Every message, caption and help that a rule can give occurs in a fixture, so that `qcheck rules --messages` shows it."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from rule_cases import cases

from docs.build import ROOT, run_case
from docs.samples import samples
from qcheck.checks import registry
from qcheck.cli.rules import messages_of
from qcheck.cluster.place import Place
from qcheck.documents.load import load
from qcheck.findings.catalogue import load_catalogue, load_samples
from qcheck.findings.finding import Finding, finding

ANYWHERE = Place(load("a: 1\n", "queues.yaml").documents[0], ())
CHECKS = ROOT / "qcheck" / "checks"
METHODS = ("fixed_by",)
Site = tuple[str, int, int]
"""File, last line and last column of a call."""


def written_sites() -> Iterator[Site]:
    """Yield every call in `qcheck/checks` that puts words into a finding."""
    for path in sorted(CHECKS.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and _name(node.func) in ("finding", *METHODS):
                assert node.end_lineno is not None
                assert node.end_col_offset is not None
                yield str(path), node.end_lineno, node.end_col_offset


def _name(function: ast.expr) -> str:
    if isinstance(function, ast.Name):
        return function.id
    return function.attr if isinstance(function, ast.Attribute) else ""


class Tracer:
    """Records the calls of wrapped functions."""

    def __init__(self) -> None:
        self.reached: set[Site] = set()

    def wrap(self, function: Callable[..., Finding]) -> Callable[..., Finding]:
        def recorded(*args: Any, **keywords: Any) -> Finding:
            caller = sys._getframe(1)
            _, line, _, column = list(caller.f_code.co_positions())[caller.f_lasti // 2]
            assert line is not None
            assert column is not None
            self.reached.add((caller.f_code.co_filename, line, column))
            return function(*args, **keywords)

        return recorded


def using_finding() -> list[ModuleType]:
    registry.bound_rules()
    modules = [module for name, module in sys.modules.items() if name.startswith("qcheck.checks")]
    return [module for module in modules if getattr(module, "finding", None) is finding]


def test_every_message_caption_and_help_occurs_in_a_fixture(monkeypatch: pytest.MonkeyPatch) -> None:
    tracer = Tracer()
    for module in using_finding():
        monkeypatch.setattr(module, "finding", tracer.wrap(finding))
    for method in METHODS:
        monkeypatch.setattr(Finding, method, tracer.wrap(getattr(Finding, method)))
    for case in cases():
        run_case(case.folder)
    unseen = {f"{Path(site[0]).relative_to(ROOT)}:{site[1]}" for site in set(written_sites()) - tracer.reached}
    assert not unseen, "add fixtures that reach these calls"


def test_messages_that_differ_in_names_and_numbers_are_one_sample() -> None:
    def found(message: str, help: str) -> Finding:
        return Finding(ANYWHERE, message, help=help)

    names = frozenset(["h100", "team-a", "team-b"])
    one = found("flavor h100 promises 8 (team-a), but 1 node has 4", "Add nodes.")
    same = found("flavor h100 promises 8 (team-a) + 16 (team-b), but 2 nodes have 12", "Add nodes.")
    other = found("flavor h100 promises nothing", "Remove it.")
    assert [sample["message"] for sample in samples([one, same, other], names)] == [
        one.message,
        other.message,
    ]


def test_messages_are_printed_rule_by_rule() -> None:
    catalogue, known = load_catalogue(), load_samples()
    assert list(known) == list(catalogue)
    text = messages_of(catalogue["QC013"], known)
    [sample] = known["QC013"]
    assert text.splitlines() == [
        "QC013 baseline-stale",
        f"  note: {sample['message']}",
        f"    help: {sample['help']}",
        f"  fix: {catalogue['QC013'].fix}",
    ]
