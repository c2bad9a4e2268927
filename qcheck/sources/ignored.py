"""What git ignores is not looked at: `.gitignore` files from the repository's root down to each directory."""

from __future__ import annotations

import os
import re
from functools import cached_property

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec


class Patterns:
    """The lines of one file, which hold below the directory `base`.

    Most of them are about files that are not there, and importing pathspec takes longer than reading a small repository:
    it is asked only of paths that hold a piece of some pattern.
    """

    def __init__(self, base: str, lines: list[str]) -> None:
        self.base = base
        self.lines = lines
        self.pieces = [piece(line) for line in lines]

    def decision(self, path: str) -> bool | None:
        """Whether a path below `base` is ignored; None where no pattern matches it."""
        if not any(each in path for each in self.pieces):
            return None
        return self._specification.check_file(path).include

    @cached_property
    def _specification(self) -> GitIgnoreSpec:
        from qcheck.sources.patterns import specification

        return specification(self.lines)


def piece(line: str) -> str:
    """A text that is in every path that a pattern matches; "" where none is sure to be."""
    plain = re.split(r"[\[\\]", line.strip().lstrip("!"), maxsplit=1)[0]
    return max(re.split("[*?/]", plain), key=len)


class Ignored:
    """The patterns that hold in a directory, the nearest last."""

    __slots__ = ("patterns",)

    def __init__(self, border: str, real: str) -> None:
        """The patterns of `border`, the repository's root, and all directories between it and `real`, exclusive."""
        self.patterns: tuple[Patterns, ...] = ()
        self._add(border, os.path.join(border, ".git", "info", "exclude"))
        at = border
        for step in os.path.relpath(real, border).split(os.sep) if real != border else []:
            self._add(at, os.path.join(at, ".gitignore"))
            at = os.path.join(at, step)

    def within(self, real: str, has_file: bool) -> Ignored:
        """The patterns inside the directory `real`, which may have a `.gitignore` of its own."""
        if not has_file:
            return self
        inner = Ignored.__new__(Ignored)
        inner.patterns = self.patterns
        inner._add(real, os.path.join(real, ".gitignore"))
        return inner

    def matches(self, path: str) -> bool:
        """Whether git ignores a real path (a directory ends in a slash); the nearest file with an opinion decides."""
        for each in reversed(self.patterns):
            decided = each.decision(path[len(each.base) + 1 :].replace(os.sep, "/"))
            if decided is not None:
                return decided
        return False

    def _add(self, base: str, file: str) -> None:
        try:
            with open(file, encoding="utf-8", errors="replace") as stream:
                lines = [line for line in stream.read().splitlines() if line.strip() and not line.startswith("#")]
        except OSError:
            return
        if lines:
            self.patterns = (*self.patterns, Patterns(base, lines))
