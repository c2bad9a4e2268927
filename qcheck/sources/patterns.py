"""Patterns as in a .gitignore, compared in time that a hostile pattern cannot blow up.

pathspec makes one regular expression of each, which tries every way of spreading a name over its stars: eight of them take
hours. Wildcards need no second try, though: where what follows one is found first, there it may stay, up to the last one.
"""

from __future__ import annotations

import re
import warnings

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pathspec import GitIgnoreSpec

_CHARACTERS = r"(?:\[\^/\](?!\*)|\[(?!\^/\])[^\]/]*\]|\\.|[^/\\\[\]()*?])+"
"""A part of a name without stars, in pathspec's words."""
_STARS = re.compile(r"(?:\[\^/\]\*){2,}")
_STAR = re.compile(rf"\[\^/\]\*({_CHARACTERS})(?=\[\^/\]\*)")
_FOLDERS = re.compile(r"\(\?:/\.\+\)\?((?:(?!\(\?:/\.\+\)\?)(?!\(\?P?).)+)(?=\(\?:/\.\+\)\?)", re.DOTALL)


def specification(lines: Iterable[str]) -> GitIgnoreSpec:
    """The patterns of some lines; those that git would not understand either are left out."""
    from pathspec import GitIgnoreSpec

    return GitIgnoreSpec([pattern for line in lines for pattern in _of_line(line).patterns])


def is_pattern(line: str) -> bool:
    """Whether a line says anything."""
    return any(pattern.include is not None for pattern in _of_line(line).patterns)


def _of_line(line: str) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec

    try:
        with warnings.catch_warnings(action="ignore"):
            found = GitIgnoreSpec.from_lines([line])
            for pattern in found.patterns:
                if pattern.regex is not None:
                    pattern.regex = re.compile(settled(pattern.regex.pattern))
    except (ValueError, re.error):
        return GitIgnoreSpec([])
    return found


def settled(expression: str) -> str:
    """A regular expression of pathspec's in which no wildcard but the last is tried again."""
    single = _STARS.sub("[^/]*", expression)
    folders = _FOLDERS.sub(r"(?>(?:/.+?)??\1(?=/))", single)
    return _STAR.sub(r"(?>[^/]*?\1)", folders)
