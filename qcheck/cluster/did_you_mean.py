"""The name that was probably meant."""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

FAR = 0.5
"""Names that differ in more than this part of their letters are not suggested."""


def nearest(word: str, names: Iterable[str]) -> str | None:
    """Return the name with the smallest edit distance to `word`, whatever its case; None if it is far, or if two are as near.

    Swapped neighbours count as one edit.
    """
    ranked = sorted((distance(word.lower(), name.lower()), name) for name in {*names} if name != word)
    if not ranked or ranked[0][0] > max(1, FAR * max(len(word), len(ranked[0][1]))):
        return None
    is_tied = len(ranked) > 1 and ranked[1][0] == ranked[0][0]
    return None if is_tied and ranked[0][0] else ranked[0][1]


def distance(one: str, other: str) -> int:
    """Return how many letters have to be inserted, removed, replaced or swapped to make one word the other."""
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
