"""Workflow commands: annotations on a pull request.

GitHub shows ten annotations of a kind per step and silently drops the others, so the worst come first and the others
are counted. Text is escaped as `@actions/core` does it, so that no name can inject a command.
"""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.findings.causes import causes_first
from qcheck.reports.wording import (
    counted,
    editable,
    has_many_clusters,
    help_of,
    plain,
    plural,
    rendered_note,
    title,
    within,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.findings.finding import Finding
    from qcheck.findings.result import Result

MOST_OF_A_KIND = 10
KINDS = {"error": "error", "warning": "warning", "note": "notice"}


def render(result: Result) -> str:
    many = has_many_clusters(result)
    lines = [line for severity in KINDS for line in _kind(result, severity, many)]
    lines += [error_command("qcheck could not judge", why) for why in result.inputs.unjudged[:1]]
    return "\n".join([*lines, f"qcheck: {counted(result)}"]) + "\n"


def error_command(title: str, message: str) -> str:
    """Return an error that belongs to no line of a file."""
    text = "\n".join(map(plain, message.splitlines()))
    return f"::error title={_property(title)}::{_data(text)}"


def _kind(result: Result, severity: str, many: bool) -> Iterator[str]:
    found = [f for f in causes_first(result.findings) if f.severity == severity]
    is_cut = len(found) > MOST_OF_A_KIND
    shown = found[: MOST_OF_A_KIND - 1] if is_cut else found
    yield from (_command(f, many) for f in shown)
    if is_cut:
        left = plural(len(found) - len(shown), f"more {severity}")
        yield f"::{KINDS[severity]} title=qcheck::… and {left}: see the log or the summary"


def _command(found: Finding, many: bool) -> str:
    path, (line, column, end_line, end_column) = editable(found.primary)
    properties = {"file": path, "line": line, "endLine": end_line}
    if line == end_line:
        properties |= {"col": column, "endColumn": end_column}
    properties["title"] = title(found)
    shown = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items())
    return f"::{KINDS[found.severity]} {shown}::{_data(_message(found, many))}"


def _message(found: Finding, many: bool) -> str:
    places = [f"{p.line}: {p.caption}" if p.caption else p.line for p in found.related[:MOST_OF_A_KIND]]
    rendered = [note] if (note := rendered_note(found.primary)) else []
    return "\n".join(map(plain, (found.message + within(found, many), *rendered, *places, help_of(found))))


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(plain(text)).replace(":", "%3A").replace(",", "%2C")
