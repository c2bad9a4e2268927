"""Files that git ignores, which are not read: `.gitignore` files from the repository's root down to each directory."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from qcheck.sources.patterns import Patterns


class Ignored:
    """The patterns that apply in a directory, each with the directory of its file, the nearest last."""

    __slots__ = ("patterns",)

    def __init__(self, border: str, real: str) -> None:
        """Read the patterns of `border`, the repository's root, and of all directories from it to `real`, exclusive."""
        self.patterns: tuple[tuple[str, Patterns], ...] = ()
        self._add(border, os.path.join(border, ".git", "info", "exclude"))
        at = border
        for step in os.path.relpath(real, border).split(os.sep) if real != border else []:
            self._add(at, os.path.join(at, ".gitignore"))
            at = os.path.join(at, step)

    def within(self, real: str, has_file: bool) -> Ignored:
        """Return the patterns inside the directory `real`, which may have its own `.gitignore`."""
        if not has_file:
            return self
        inner = Ignored.__new__(Ignored)
        inner.patterns = self.patterns
        inner._add(real, os.path.join(real, ".gitignore"))
        return inner

    def matches(self, path: str) -> bool:
        """Return whether git ignores a real path (with a final slash for a directory); the nearest match decides."""
        for base, patterns in reversed(self.patterns):
            decided = patterns.decision(path[len(base) + 1 :].replace(os.sep, "/"))
            if decided is not None:
                return decided
        return False

    def _add(self, base: str, file: str) -> None:
        if not os.path.isfile(file):
            return
        try:
            with open(file, encoding="utf-8", errors="replace") as stream:
                lines = [line for line in stream.read().splitlines() if line.strip() and not line.startswith("#")]
        except OSError:
            return
        if lines:
            from qcheck.sources.patterns import Patterns  # 0.2 ms

            self.patterns = (*self.patterns, (base, Patterns(lines)))
