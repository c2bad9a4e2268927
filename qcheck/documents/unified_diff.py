"""The change of a file as a unified diff, also for long files with many similar documents."""

from __future__ import annotations

from difflib import Match, SequenceMatcher
from itertools import pairwise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

CONTEXT = 3
"""The number of unchanged lines around a change."""
MARKER = "---"


def unified_diff(path: str, before: str, after: str) -> str:
    """Return the lines that differ as a unified diff; empty if none does."""
    matcher = _ByDocument(_lines(before), _lines(after))
    hunks = [line for group in matcher.get_grouped_opcodes(CONTEXT) for line in _hunk(matcher, group)]
    head = [f"--- {_quoted(f'a/{path}')}\n", f"+++ {_quoted(f'b/{path}')}\n"] if hunks else []
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in (*head, *hunks)
    )


def _quoted(path: str) -> str:
    """Return a path as git writes it in a patch: in quotes and with octal escapes if it has unusual characters."""
    if path.isprintable() and not {'"', "\\"} & {*path}:
        return path
    raw = path.encode("utf-8", "surrogateescape")
    return '"' + "".join(chr(b) if 32 <= b < 127 and chr(b) not in '"\\' else f"\\{b:03o}" for b in raw) + '"'


class _ByDocument(SequenceMatcher[str]):
    """Matches lines within the same document only: the time for long files is not quadratic.

    An edit changes no marker of a document. If the files differ in their number of documents, they count as one.
    """

    def __init__(self, before: list[str], after: list[str]) -> None:
        super().__init__(None, before, after, autojunk=False)
        self.before, self.after = before, after

    def get_matching_blocks(self) -> list[Match]:
        ones, others = _documents(self.before), _documents(self.after)
        if len(ones) != len(others):
            ones, others = [self.before], [self.after]
        blocks: list[Match] = []
        old = new = 0
        for one, other in zip(ones, others, strict=True):
            for a, b, size in _equal(one, other):
                last = blocks[-1] if blocks else Match(0, 0, 0)
                if blocks and (last.a + last.size, last.b + last.size) == (old + a, new + b):
                    blocks[-1] = Match(last.a, last.b, last.size + size)
                elif size:
                    blocks.append(Match(old + a, new + b, size))
            old, new = old + len(one), new + len(other)
        return [*blocks, Match(old, new, 0)]


def _equal(one: list[str], other: list[str]) -> list[tuple[int, int, int]]:
    if one == other:
        return [(0, 0, len(one))]
    return [(m.a, m.b, m.size) for m in SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks()]


def _documents(lines: list[str]) -> list[list[str]]:
    starts = [0, *(at for at, line in enumerate(lines) if at and line.startswith(MARKER)), len(lines)]
    return [lines[start:end] for start, end in pairwise(starts)]


def _hunk(matcher: _ByDocument, group: list[tuple[str, int, int, int, int]]) -> Iterator[str]:
    _, a, _, b, _ = group[0]
    _, _, a_end, _, b_end = group[-1]
    yield f"@@ -{_range(a, a_end)} +{_range(b, b_end)} @@\n"
    for tag, old, old_end, new, new_end in group:
        if tag == "equal":
            yield from (f" {line}" for line in matcher.before[old:old_end])
            continue
        yield from (f"-{line}" for line in matcher.before[old:old_end])
        yield from (f"+{line}" for line in matcher.after[new:new_end])


def _range(start: int, end: int) -> str:
    size = end - start
    first = start + 1 if size else start
    return str(first) if size == 1 else f"{first},{size}"


def _lines(text: str) -> list[str]:
    """Split text as patch(1) does: other line separators are ordinary characters."""
    return [f"{line}\n" for line in text.split("\n")[:-1]] + [line for line in text.split("\n")[-1:] if line]
