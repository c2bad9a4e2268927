"""Choice of the findings that suggestions address."""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.findings.catalogue import choose, load_catalogue
from qcheck.findings.severity import Severity

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from qcheck.findings.finding import Finding
    from qcheck.findings.result import Result


def errors(result: Result) -> list[Finding]:
    """Return the errors."""
    return [f for f in result.findings if f.severity is Severity.ERROR]


def of_rules(rules: Sequence[str]) -> Callable[[Result], list[Finding]]:
    """Return a function that picks the findings of some rules, given by id, name or prefix."""
    chosen, _ = choose(load_catalogue().values(), rules)
    return lambda result: [f for f in result.findings if f.rule is not None and f.rule.id in chosen]


def like(findings: Sequence[Finding]) -> Callable[[Result], list[Finding]]:
    """Return a function that picks the same findings, with the same severity, in other results."""
    asked = {(f.fingerprint, f.severity) for f in findings}
    return lambda result: [f for f in result.findings if (f.fingerprint, f.severity) in asked]
