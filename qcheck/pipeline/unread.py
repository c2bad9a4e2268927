"""What was not read, and which kinds of objects it may define, as far as its text tells."""

from __future__ import annotations

import re

from qcheck import nodepools
from qcheck.cluster.unread import NODES, Unread
from qcheck.cluster.value import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from qcheck.cluster.problems import Problem
    from qcheck.documents.load import Loaded

KIND = re.compile(r"""(?m)^[ \t-]*["']?kind["']?[ \t]*:[ \t]*["']?([^\s"',}]+)""")
NAME = re.compile(r"[A-Z][A-Za-z]+")
INCLUDED = re.compile(r"\{\{-?\s*(?:include|template|tpl)\b")
"""Text of other templates, which may be whole objects."""
LEAVES_NOTHING_OUT = "duplicate-key"


def unread_files(loaded: Iterable[Loaded], problems: Iterable[Problem]) -> Iterator[Unread]:
    """Files of which something could not be read; `problems` are those of node pools."""
    for file in loaded:
        if any(fault.code != LEAVES_NOTHING_OUT for fault in file.faults):
            yield Unread(file.text.path, kinds_in(file.text.text))
    for problem in problems:
        if problem.code in ("yaml-syntax", "limit"):
            yield Unread(problem.place.origin.path, frozenset({NODES}))


def kinds_in(text: str) -> frozenset[str] | None:
    """The kinds of the objects that a text may hold; None where it does not tell."""
    written = KIND.findall(text)
    if not all(NAME.fullmatch(kind) for kind in written) or (not written and INCLUDED.search(text)) or not text:
        return None
    pools = {kind for _, kind in nodepools.READERS}
    return frozenset(written) | ({NODES} if pools & set(written) else frozenset())
