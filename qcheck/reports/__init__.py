"""Reports: a settled result as text in some format. One module per format, each with `render(result) -> str`.

A report makes no decisions: neither which findings are shown nor the exit code.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from qcheck.findings.result import Result

FORMATS = {
    "text": "txt",
    "json": "json",
    "sarif": "sarif",
    "github": "github.txt",
    "gitlab": "gitlab.json",
    "junit": "junit.xml",
    "rdjson": "rdjson",
    "markdown": "md",
    "html": "html",
}
"""The values of `--format`, which are also module names, with the file name endings of their reports."""


def render(result: Result, form: str) -> str:
    """Return the report in one of `FORMATS`, without colours."""
    renderer: Callable[[Result], str] = import_module(f"qcheck.reports.{form}").render
    return renderer(result)
