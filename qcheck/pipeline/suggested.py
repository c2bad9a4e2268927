"""`check --suggest`: a result with suggestions, as a whole and as fixes of its findings."""

from __future__ import annotations

from qcheck.answers.constraints import Constraints
from qcheck.cluster.edits import Edit, Fix, How
from qcheck.cluster.value import TYPE_CHECKING, replace
from qcheck.pipeline.gather import collect
from qcheck.pipeline.picked import like
from qcheck.pipeline.suggest import suggestions
from qcheck.pipeline.trial import OBJECTS_JUDGED
from qcheck.pipeline.value_files import kept_places

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qcheck.cluster.place import Route
    from qcheck.findings.finding import Finding
    from qcheck.findings.result import Result
    from qcheck.findings.suggestions import Suggestions
    from qcheck.pipeline.read import Watch
    from qcheck.settings import Settings

    Written = frozenset[tuple[str, Route, str]]


def with_suggestions(result: Result, paths: Sequence[str], settings: Settings, watch: Watch) -> Result:
    """Return a result with suggestions for the findings that make it fail; for these, the files are read again.

    A finding's fixes are the changes that were seen to resolve it alone.
    """
    failing = result.failing
    if not failing:
        return result
    read = collect(paths, settings, watch)
    constraints = Constraints(kept_places=kept_places(read.loaded))
    found = suggestions(read, settings, like(failing), constraints, watch, OBJECTS_JUDGED // 2).suggestions
    if found is None:
        return result
    return replace(result, findings=tuple(_with_fixes(f, found) for f in result.findings), suggestions=found)


def _with_fixes(finding: Finding, found: Suggestions) -> Finding:
    fixes = list(finding.fixes)
    known = {_written(fix) for fix in fixes}
    for step in (s for a in found.alternatives for s in a.steps if finding.fingerprint in s.resolves):
        edits = tuple(Edit(e.place, How.REPLACE, e.text) for e in step.edits)
        fix = Fix(edits, f"{step.words[:1].upper()}{step.words[1:]}.", is_safe=False)
        if _written(fix) not in known:
            known.add(_written(fix))
            fixes.append(fix)
    return replace(finding, fixes=tuple(fixes))


def _written(fix: Fix) -> Written:
    """Return the places and texts of a fix."""
    return frozenset((e.place.origin.path, e.place.route, e.text) for e in fix.edits)
