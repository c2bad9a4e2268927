"""reviewdog's diagnostic format. Columns count UTF-8 bytes; ends are exclusive."""

from __future__ import annotations

from qcheck import HOME
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.findings.text_edits import text_edits
from qcheck.reports.json_text import dump
from qcheck.reports.wording import editable, has_many_clusters, help_of, plain, rendered_note, within, worst_first

if TYPE_CHECKING:
    from qcheck.cluster.place import Origin, Place, Span
    from qcheck.findings.finding import Finding
    from qcheck.findings.result import Result
    from qcheck.reports.json_text import Json

SEVERITIES = {"error": "ERROR", "warning": "WARNING", "note": "INFO"}


def render(result: Result) -> str:
    worst = worst_first(result)
    many = has_many_clusters(result)
    return dump(
        {
            "source": {"name": "qcheck", "url": HOME},
            **({"severity": SEVERITIES[worst[0].severity]} if worst else {}),
            "diagnostics": [_diagnostic(f, many) for f in result.findings],
        }
    )


def _diagnostic(found: Finding, many: bool) -> Json:
    assert found.rule is not None
    parts = (found.message + within(found, many), rendered_note(found.primary), help_of(found))
    return {
        "message": "\n".join(filter(None, map(plain, parts))),
        "location": _location(found.primary),
        "severity": SEVERITIES[found.severity],
        "code": {"value": found.rule.id, "url": found.rule.url},
        **_suggestions(found),
        "related_locations": [{"message": plain(p.caption), "location": _location(p)} for p in found.related],
    }


def _suggestions(found: Finding) -> dict[str, Json]:
    """Return the fixes that reviewdog can offer: those that are a single edit in the file of the finding."""
    origin = found.primary.origin
    single = [edits[0] for _, edits in text_edits(found.fixes) if len(edits) == 1 and edits[0].path == origin.path]
    offered: list[Json] = [{"range": _range(origin, e.span), "text": plain(e.new)} for e in single]
    return {"suggestions": offered} if offered else {}


def _range(origin: Origin, span: Span) -> Json:
    line, column, end_line, end_column = span
    return {
        "start": {"line": line, "column": _byte_column(origin, line, column)},
        "end": {"line": end_line, "column": _byte_column(origin, end_line, end_column)},
    }


def _location(place: Place) -> Json:
    path, span = editable(place)
    if place.origin.source:
        return {"path": path, "range": {"start": {"line": span[0]}}}
    return {"path": path, "range": _range(place.origin, span)}


def _byte_column(origin: Origin, line: int, column: int) -> int:
    return len(origin.line(line)[: column - 1].encode("utf-8", "replace")) + 1
