"""The most likely intended name for a misspelled one."""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

FAR = 0.5
"""The maximum edit distance of a suggestion, as a fraction of the name's length."""


def nearest(word: str, names: Iterable[str]) -> str | None:
    """Return the name closest to `word` by edit distance, ignoring case; None if none is close or two tie.

    A swap of adjacent letters counts as one edit.
    """
    ranked = sorted((distance(word.lower(), name.lower()), name) for name in {*names} if name != word)
    if not ranked or ranked[0][0] > max(1, FAR * max(len(word), len(ranked[0][1]))):
        return None
    is_tied = len(ranked) > 1 and ranked[1][0] == ranked[0][0]
    return None if is_tied and ranked[0][0] else ranked[0][1]


def distance(one: str, other: str) -> int:
    """Return the number of insertions, deletions, replacements and adjacent swaps that turn one word into the other."""
    before: list[int] = []
    last = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        row = [i]
        for j, theirs in enumerate(other, 1):
            best = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (letter != theirs))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == theirs:
                best = min(best, before[j - 2] + 1)
            row.append(best)
        before, last = last, row
    return last[-1]
