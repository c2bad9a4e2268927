"""GitLab's code quality report: a JSON array, empty if there are no findings. Descriptions include related places."""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.reports.json_text import dump
from qcheck.reports.wording import editable, has_many_clusters, plain, rendered_note, title, within

if TYPE_CHECKING:
    from qcheck.findings.finding import Finding
    from qcheck.findings.result import Result
    from qcheck.reports.json_text import Json

SEVERITIES = {"error": "major", "warning": "minor", "note": "info"}


def render(result: Result) -> str:
    many = has_many_clusters(result)
    return dump([_issue(f, many) for f in result.findings])


def _issue(found: Finding, many: bool) -> Json:
    path, (line, *_) = editable(found.primary)
    return {
        "description": _description(found, many),
        "check_name": found.rule.id if found.rule else "",
        "fingerprint": found.fingerprint,
        "severity": SEVERITIES[found.severity],
        "location": {"path": path, "lines": {"begin": line}},
    }


def _description(found: Finding, many: bool) -> str:
    places = [note] if (note := rendered_note(found.primary)) else []
    places += [f"{p.caption} ({p.line})" if p.caption else p.line for p in found.related]
    return plain(
        f"{title(found)}: {found.message}{within(found, many)}" + (f" [{'; '.join(places)}]" if places else "")
    )
