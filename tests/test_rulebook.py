"""Rules, their functions, fixtures and pages belong together one to one.

What can only hold once a rule is whole (its function, both kinds of cases) is judged with the slow tests.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest
from rule_cases import RULES, cases

from docs import build
from qcheck.checks import MODULES, registry
from qcheck.cli.explain import source_of
from qcheck.findings.catalogue import load_catalogue
from qcheck.findings.rulebook import read_rulebook

WITHOUT_FUNCTION = {"QC000", "QC012", "QC013"}
"""Made by the runner and while settling: a crash, a suppression's or the baseline's problem."""
FAMILY_OF_PREFIX = dict(zip("0123456789", build.FAMILIES, strict=True))
BOOK = read_rulebook()


def bound() -> set[str]:
    for family, modules in MODULES.items():
        for module in modules:
            import_module(f"qcheck.checks.{family}.{module}")
    return set(registry._checks)


@pytest.mark.slow
def test_each_rule_has_one_function_and_each_function_a_rule() -> None:
    assert bound() == set(BOOK) - WITHOUT_FUNCTION


@pytest.mark.slow
@pytest.mark.parametrize("identifier", sorted(set(BOOK) - {"QC000"}))
def test_each_rule_has_cases_of_both_kinds(identifier: str) -> None:
    kinds = {case.fails for case in cases() if case.rule == identifier}
    assert kinds == {True, False}, f"fixtures/rules/{BOOK[identifier].slug}/ needs fail-... and pass-..."


def test_cases_belong_to_rules_and_examples_exist() -> None:
    slugs = {rule.slug for rule in BOOK.values()}
    assert {case.folder.parent.name for case in cases()} <= slugs
    missing = [f"{r.slug}/{e}" for r in BOOK.values() for e in r.examples if not (RULES / r.slug / e).is_dir()]
    assert not missing


def test_names_are_unique_and_families_follow_the_id() -> None:
    assert len({rule.name for rule in BOOK.values()}) == len(BOOK)
    assert all(FAMILY_OF_PREFIX[rule.id[2]] == rule.family for rule in BOOK.values())


def test_what_is_generated_is_current() -> None:
    outdated = [
        str(path.relative_to(build.ROOT))
        for path, text in build.generated().items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]
    assert not outdated + build.stale(), "run `make docs`, or python docs/build.py"


def test_the_index_says_what_the_rulebook_says() -> None:
    catalogue = load_catalogue()
    assert list(catalogue) == list(BOOK)
    assert all(catalogue[i].fix == rule.fix for i, rule in BOOK.items())


def test_a_rule_tells_the_file_of_its_function() -> None:
    for each in load_catalogue().values():
        path, line = source_of(each).rsplit(":", 1)
        if each.id not in WITHOUT_FUNCTION:
            assert f'@rule("{each.id}")' in Path(path).read_text().splitlines()[int(line) - 1]
