"""Workflow commands: annotations on a pull request.

GitHub shows ten of a kind per step and drops the rest in silence, so the worst come first and the rest is counted. Text
is escaped as `@actions/core` does it, so that no name can give commands.
"""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.reports.wording import counted, editable, help_of, plain, plural, rendered_note, title

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.findings.finding import Finding
    from qcheck.findings.result import Result

MOST_OF_A_KIND = 10
KINDS = {"error": "error", "warning": "warning", "note": "notice"}


def render(result: Result) -> str:
    lines = [line for severity in KINDS for line in _kind(result, severity)]
    lines += [f"::error title=qcheck could not judge::{_data(plain(why))}" for why in result.inputs.unjudged[:1]]
    return "\n".join([*lines, f"qcheck: {counted(result)}"]) + "\n"


def _kind(result: Result, severity: str) -> Iterator[str]:
    found = [f for f in result.findings if f.severity == severity]
    many = len(found) > MOST_OF_A_KIND
    shown = found[: MOST_OF_A_KIND - 1] if many else found
    yield from (_command(f) for f in shown)
    if many:
        left = plural(len(found) - len(shown), f"more {severity}")
        yield f"::{KINDS[severity]} title=qcheck::… and {left}: see the log or the summary"


def _command(found: Finding) -> str:
    path, (line, column, end_line, end_column) = editable(found.primary)
    properties = {"file": path, "line": line, "endLine": end_line}
    if line == end_line:
        properties |= {"col": column, "endColumn": end_column}
    properties["title"] = title(found)
    shown = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items())
    return f"::{KINDS[found.severity]} {shown}::{_data(_message(found))}"


def _message(found: Finding) -> str:
    places = [f"{p.line}: {p.caption}" if p.caption else p.line for p in found.related[:MOST_OF_A_KIND]]
    rendered = [note] if (note := rendered_note(found.primary)) else []
    return "\n".join(map(plain, (found.message, *rendered, *places, help_of(found))))


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(plain(text)).replace(":", "%3A").replace(",", "%2C")
