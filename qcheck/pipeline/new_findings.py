"""New findings of an edit, and the names of findings in comparisons of edits."""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.findings.severity import Severity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qcheck.findings.finding import Finding
    from qcheck.findings.result import Result

DO_NOT_RUN = ("QC601", "QC602")
"""Rules about workloads that do not run: a new warning of these also counts against an edit."""


def name(found: Finding) -> str:
    """Return the id and name of a finding's rule."""
    return f"{found.rule.id} {found.rule.name}" if found.rule else found.message


def broken_workloads(before: Result, brought: Sequence[Finding]) -> list[Finding]:
    """Return the new findings about workloads that did run before, according to the rules."""
    known = {f.object for f in before.findings if f.rule and f.rule.id in DO_NOT_RUN}
    return [f for f in brought if f.rule and f.rule.id in DO_NOT_RUN and f.object not in known]


def gone(resolved: Sequence[Finding]) -> str:
    """Return the rules that no longer report anything, in words."""
    named = ", ".join(dict.fromkeys(map(name, resolved)))
    return f"check no longer reports {named}" if named else "check reports no new error"


def shown(found: Finding) -> str:
    """Return a finding in one line."""
    return f"{name(found)}: {found.message}"


def new_findings(before: Result, after: Result) -> list[Finding]:
    """Return the errors and warnings that are new or more severe than before."""
    known = {(f.fingerprint, f.severity) for f in before.findings}
    known |= {(fingerprint, Severity.WARNING) for fingerprint, severity in known if severity is Severity.ERROR}
    return [f for f in after.findings if f.severity is not Severity.NOTE and (f.fingerprint, f.severity) not in known]
