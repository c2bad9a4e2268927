"""Patterns as in a .gitignore, matched in bounded time for every pattern: no step is repeated, nothing backtracks.

pathspec, the library for such patterns, compiles each to a regular expression that tries every way of distributing a
path over its stars: eight stars take hours. It remains the reference in the tests.
"""

from __future__ import annotations

import re
from functools import cached_property

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    Name = str | re.Pattern[str]

ANY_DEPTH = "**"
FOLDER, FILE = 1, 2
"""The kind of a match: by a folder that contains or equals the path, or by its own name, which takes precedence."""


class Patterns:
    """The patterns of some lines, the last match of which decides; lines that git cannot parse match nothing."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._patterns = [Pattern(line) for line in reversed([*lines])]

    def decision(self, path: str) -> bool | None:
        """Return whether a relative path is included (a folder's ends with a slash); None if no pattern matches it."""
        best, included = 0, None
        for pattern in self._patterns:
            if pattern.piece in path and (found := pattern.match(path)) > best:
                best, included = found, pattern.includes
                if found == FILE:
                    break
        return included

    def includes(self, path: str) -> bool:
        return bool(self.decision(path))


class Pattern:
    """One line. `piece` is a string that every matching path contains; "" if there is none."""

    def __init__(self, line: str) -> None:
        self._text = line if line.endswith("\\ ") else line.rstrip()
        self.includes = not line.startswith("!")
        plain = re.split(r"[\[\\]", line.strip().lstrip("!"), maxsplit=1)[0]
        self.piece = max(re.split("[*?/]", plain), key=len)

    @property
    def is_valid(self) -> bool:
        """Return whether the line is a valid pattern."""
        return self._steps is not None

    def match(self, path: str) -> int:
        """Return 0, `FOLDER` or `FILE`."""
        return self._steps.match(path) if self._steps else 0

    @cached_property
    def _steps(self) -> _Steps | None:
        text = self._text[not self.includes :]
        if text in ("", "/") or self._text.startswith("#"):
            return None
        try:
            return _Steps(text)
        except (ValueError, re.error):
            return None


class _Steps:
    """The names of a pattern in runs: the first starts at the top, the others at any depth below the previous one."""

    def __init__(self, text: str) -> None:
        self.is_folder = text.endswith("/")
        names = _anchored(text.removesuffix("/"))
        self.is_everything = not self.is_folder and names in ([ANY_DEPTH], [ANY_DEPTH, "*"])
        self.is_inside = self.is_folder or names[-1] == ANY_DEPTH
        """Only paths inside the last name match."""
        if names == [ANY_DEPTH]:
            names = [ANY_DEPTH, "*"]
        elif names[-1] == ANY_DEPTH:
            names.pop()
        self.runs: list[list[Name]] = [[]]
        for name in names:
            if name != ANY_DEPTH:
                self.runs[-1].append(_name(name))
            else:
                self.runs.append([])

    def match(self, path: str) -> int:
        if self.is_everything:
            return FILE
        names = path.removesuffix("/").split("/")
        there = len(names) + path.endswith("/")
        end = self._end(names, min(there - self.is_inside, len(names)))
        if not end:
            return 0
        return FOLDER if self.is_folder or (end < there and not self.is_inside) else FILE

    def _end(self, names: list[str], most: int) -> int:
        """Return the length, in names, of the longest matching part of a path, at most `most`; 0 if none matches."""
        at = 0
        for number, run in enumerate(self.runs):
            starts = range(at, most - len(run) + 1)
            if number == 0:
                starts = starts[:1]
            elif number == len(self.runs) - 1:
                starts = starts[::-1]
            start = next((s for s in starts if all(map(_fits, run, names[s:]))), None)
            if start is None:
                return 0
            at = start + len(run)
        return at


def _anchored(text: str) -> list[str]:
    """Return the names of a pattern; a single one may be at any depth."""
    names = text.split("/")
    if names[0] == "" and len(names) > 1:
        names = names[1:]
    elif len(names) == 1:
        names = [ANY_DEPTH, *names]
    return [name for at, name in enumerate(names) if name != ANY_DEPTH or names[at - 1 : at] != [ANY_DEPTH]]


def _fits(pattern: Name, name: str) -> bool:
    return pattern == name if isinstance(pattern, str) else pattern.fullmatch(name) is not None


def _name(text: str) -> Name:
    """Return a name without wildcards as is; others as an expression in which only the last wildcard may backtrack."""
    if not re.search(r"[*?\[\\]", text):
        return text
    if text == "*":
        return re.compile(".+", re.DOTALL)
    first, *others = _between_stars(text)
    *middle, last = others or [""]
    stars = "".join(f"(?>.*?{part})" for part in middle if part)
    return re.compile(f"{first}{stars}{'.*' if others else ''}{last}", re.DOTALL)


def _between_stars(text: str) -> list[str]:
    """Return the parts of a name as expressions. Raises `ValueError` for an unfinished bracket or escape."""
    parts = [""]
    at = 0
    while at < len(text):
        sign, at = text[at], at + 1
        if sign == "*":
            parts.append("")
        elif sign == "?":
            parts[-1] += "."
        elif sign == "[":
            end = text.index("]", at + (text[at : at + 1] in ("!", "^")) + 1)
            parts[-1] += _set(text[at:end])
            at = end + 1
        else:
            if sign == "\\":
                sign, at = text[at : at + 1], at + 1
                if not sign:
                    raise ValueError("nothing is escaped")
            parts[-1] += re.escape(sign)
    return parts


def _set(text: str) -> str:
    """Return `a-z0` of `[a-z0]`, or `!a`, as a set of an expression."""
    negated = text[0] in "!^"
    members = re.findall(r".-.|.", text[negated:], re.DOTALL)
    signs = ("-".join(map(re.escape, (m[0], m[2]))) if len(m) == 3 else re.escape(m) for m in members)
    return f"[{'^' if negated else ''}{''.join(signs)}]"
