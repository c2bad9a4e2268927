"""Settles what was found: how severe it is and in which order it is shown."""

from __future__ import annotations

from qcheck.findings.finding import SEVERITIES, Finding
from qcheck.findings.result import Inputs, Result
from qcheck.model.value import TYPE_CHECKING, Value, replace

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from qcheck.findings.catalogue import Rule
    from qcheck.model.cluster import Cluster


class Terms(Value):
    """What decides about findings."""

    catalogue: Mapping[str, Rule] = {}
    severity: Mapping[str, str] = {}
    fail_on: str = "error"
    strict: bool = False


def settle(
    findings: Iterable[Finding], inputs: Inputs, rules: Sequence[Rule], clusters: Sequence[Cluster], terms: Terms
) -> Result:
    """The result of a run, sorted by file, line and rule."""
    graded = [replace(f, severity=_severity(f)) for f in findings]
    return Result(
        tuple(sorted(graded, key=_order)), (), (), inputs, tuple(rules), tuple(clusters), terms.fail_on, terms.strict
    )


def _severity(found: Finding) -> str:
    assert found.rule is not None
    cap = found.ceiling if found.certain else min(found.ceiling, "warning", key=SEVERITIES.index)
    return min(found.rule.severity, cap, key=SEVERITIES.index)


def _order(found: Finding) -> tuple[object, ...]:
    line, column, _, _ = found.primary.span
    return (found.primary.origin.path, line, found.rule.id if found.rule else "", column, found.message)
