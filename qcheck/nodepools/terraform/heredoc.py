"""The text of a heredoc and the expressions in it, which the HCL parser returns as one piece."""

from __future__ import annotations

import re
from textwrap import dedent

from qcheck.cluster.value import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

OPENING = re.compile(r"\$\$\{|%%\{|\$\{|%\{")
BRACE = re.compile(r"[{}]")


def body_of(written: str) -> str:
    """Return the lines between the marks; for `<<-` without their common indentation."""
    first, *lines = written.splitlines()
    body = "\n".join(lines[:-1]) + "\n"
    return dedent(body) if first.startswith("<<-") else body


def template_parts(body: str) -> list[tuple[str, bool]]:
    """Return the pieces of a template in order: text or the expression of an interpolation, and whether it is one.

    A directive such as `%{ if ... }` is an expression that cannot be parsed.
    """
    return list(_parts(body))


def _parts(body: str) -> Iterator[tuple[str, bool]]:
    at = 0
    while (opening := OPENING.search(body, at)) is not None:
        yield body[at : opening.start()], False
        if len(opening[0]) == len("$${"):
            yield opening[0][1:], False
            at = opening.end()
        else:
            at = _closing(body, opening.end())
            written = body[opening.end() : at - 1].strip()
            yield (written if opening[0] == "${" else f"%{{{written}}}"), True
    yield body[at:], False


def _closing(body: str, at: int) -> int:
    """Return the offset after the brace that closes the one open at `at`."""
    depth = 1
    for brace in BRACE.finditer(body, at):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return brace.end()
    return len(body) + 1
