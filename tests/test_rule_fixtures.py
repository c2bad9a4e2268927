"""Every rule against its fixtures: what is marked is found, and nothing else."""

from __future__ import annotations

from collections import Counter

import pytest
from rule_cases import Case, Spot, cases

from docs.build import run_case
from qcheck.cluster.place import Place
from qcheck.findings.finding import Finding


def spots(findings: tuple[Finding, ...]) -> Counter[Spot]:
    found: Counter[Spot] = Counter()
    for each in findings:
        assert each.rule is not None
        found[(each.rule.id, "primary", *where(each.primary))] += 1
        for spot in {where(place) for place in each.related}:
            found[(each.rule.id, "related", *spot)] = 1
    return found


def where(place: Place) -> tuple[str, int]:
    return place.origin.path.removeprefix("./"), place.span[0]


def relevant(case: Case, findings: tuple[Finding, ...], marks: Counter[Spot]) -> Counter[Spot]:
    """What must be marked: of the case's rule everything, of others the primary places of errors and warnings.

    A note of another rule may go unmarked; a mark that is there is compared all the same.
    """
    optional = {f.rule.id for f in findings if f.rule and f.severity == "note"} - {rule for rule, *_ in marks}
    return Counter({
        spot: count
        for spot, count in spots(findings).items()
        if spot[0] == case.rule or (spot[1] == "primary" and spot[0] not in optional) or spot in marks
    })  # fmt: skip


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.title)
def test_what_is_marked_is_found_and_nothing_else(case: Case) -> None:
    marks = case.marks()
    own = any(rule == case.rule and role == "primary" for rule, role, *_ in marks)
    assert own is case.fails, f"a fail case marks a primary place of {case.rule}, a pass case none"
    findings = run_case(case.folder)
    told = "\n".join(f"{f.rule and f.rule.id} {f.severity} {f.primary.line}: {f.message}" for f in findings)
    assert relevant(case, findings, marks) == marks, told
    safe = {each.rule.id for each in findings if each.rule and any(fix.is_safe for fix in each.fixes)}
    assert all(identifier.startswith("QC0") for identifier in safe), "test_fix.py runs these rules alone"
