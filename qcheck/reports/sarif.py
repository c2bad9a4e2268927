"""SARIF 2.1.0, for code scanning.

Suppressed and accepted findings are omitted but counted, because GitHub ignores `suppressions`. GitHub computes its own
fingerprint (`primaryLocationLineHash`) and warns about others, so qcheck's has a key of its own. Limits: GitHub keeps
5,000 results per run and 100 related places per result.
"""

from __future__ import annotations

from itertools import groupby
from urllib.parse import quote

from qcheck import HOME, __version__
from qcheck.cluster.place import show_route
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.findings.text_edits import text_edits
from qcheck.reports.json_text import dump
from qcheck.reports.wording import (
    editable,
    has_many_clusters,
    help_of,
    not_judged,
    plain,
    rendered_note,
    within,
    worst_first,
)

if TYPE_CHECKING:
    from qcheck.cluster.place import Place
    from qcheck.findings.catalogue import Rule
    from qcheck.findings.finding import Finding
    from qcheck.findings.result import Result
    from qcheck.findings.text_edits import TextEdit
    from qcheck.reports.json_text import Json

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
MOST_RESULTS = 5000
MOST_RELATED = 100
_PROBLEM = {"error": "error", "warning": "warning", "note": "recommendation"}


def render(result: Result) -> str:
    rules = _rules(result)
    positions = {r.id: i for i, r in enumerate(rules)}
    many = has_many_clusters(result)
    kept = worst_first(result)[:MOST_RESULTS]
    run: dict[str, Json] = {
        "tool": {"driver": _driver(rules)},
        "automationDetails": {"id": "qcheck/"},
        "columnKind": "unicodeCodePoints",
        "invocations": [_invocation(result, len(kept))],
        "results": [_result(f, positions, many) for f in kept],
        "properties": {"suppressed": result.suppressed_count, "baselined": result.baselined_count},
    }
    return dump({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]})


def _rules(result: Result) -> list[Rule]:
    """Return every requested rule, including those without findings: this closes old alerts."""
    known = {r.id: r for r in result.rules}
    known.update({f.rule.id: f.rule for f in result.findings if f.rule})
    return [known[key] for key in sorted(known)]


def _driver(rules: list[Rule]) -> Json:
    return {
        "name": "qcheck",
        "version": __version__,
        "semanticVersion": __version__,
        "informationUri": HOME,
        "rules": [_rule(r) for r in rules],
    }


def _rule(rule: Rule) -> Json:
    return {
        "id": rule.id,
        "name": rule.name,
        "shortDescription": {"text": rule.name},
        "fullDescription": {"text": rule.summary[:1024]},
        "help": {"text": rule.fix, "markdown": f"{rule.fix}\n\n[{rule.id}]({rule.url})"},
        "helpUri": rule.url,
        "defaultConfiguration": {"level": rule.severity},
        "properties": {"tags": [rule.family], "precision": "very-high", "problem.severity": _PROBLEM[rule.severity]},
    }


def _invocation(result: Result, kept: int) -> Json:
    notes = [f"not judged: {what}: {why}" for what, why in not_judged(result)]
    notes += [f"could not judge: {why}" for why in result.inputs.unjudged]
    if kept < len(result.findings):
        notes.append(f"only the {kept:,} worst of {len(result.findings):,} findings are listed")
    return {
        "executionSuccessful": not result.inputs.unjudged,
        "toolExecutionNotifications": [{"level": "note", "message": {"text": plain(n)}} for n in notes],
    }


def _result(found: Finding, positions: dict[str, int], many: bool) -> Json:
    assert found.rule is not None
    related = found.related[:MOST_RELATED]
    return {
        "ruleId": found.rule.id,
        "ruleIndex": positions[found.rule.id],
        "level": found.severity,
        "message": {"text": _message(found, many)},
        "locations": [_location(found.primary)],
        "relatedLocations": [{"id": i, **_location(p)} for i, p in enumerate(related, 1)],
        **_fixes(found),
        "partialFingerprints": {"qcheckFingerprint/v1": found.fingerprint},
        "properties": {
            "cluster": found.cluster,
            "clusters": list(found.clusters),
            "confidence": "certain" if found.certain else "likely",
        },
    }


def _fixes(found: Finding) -> dict[str, Json]:
    fixes: list[Json] = [
        {
            "description": {"text": plain(fix.description)},
            "artifactChanges": [
                {"artifactLocation": {"uri": _uri(path)}, "replacements": [_replacement(e) for e in same]}
                for path, same in groupby(edits, key=lambda e: e.path)
            ],
        }
        for fix, edits in text_edits(found.fixes)
    ]
    return {"fixes": fixes} if fixes else {}


def _replacement(edit: TextEdit) -> Json:
    line, column, end_line, end_column = edit.span
    region = {"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column}
    return {"deletedRegion": region, "insertedContent": {"text": edit.new}}


def _message(found: Finding, many: bool) -> str:
    """Return the message, links to the related places, and the help.

    Brackets in user text are escaped: they form links.
    """
    links = "".join(f"\n[{_escaped(p.caption or p.line)}]({i})" for i, p in enumerate(found.related[:MOST_RELATED], 1))
    rendered = f"\n{_escaped(note)}" if (note := rendered_note(found.primary)) else ""
    return f"{_escaped(found.message + within(found, many))}{rendered}{links}\n{_escaped(help_of(found))}"


def _escaped(text: str) -> str:
    return plain(text).replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")


def _location(place: Place) -> dict[str, Json]:
    path, (line, column, end_line, end_column) = editable(place)
    if (end_line, end_column) <= (line, column):
        end_line, end_column = line, column + 1
    region = {"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column}
    location: dict[str, Json] = {
        "physicalLocation": {"artifactLocation": {"uri": _uri(path)}, "region": region},
        "logicalLocations": [{"fullyQualifiedName": show_route(place.route)}],
    }
    if place.caption:
        location["message"] = {"text": plain(place.caption)}
    return location


def _uri(path: str) -> str:
    whole = path.encode("utf-8", "replace")
    return f"file://{quote(whole)}" if path.startswith("/") else quote(whole)
