"""The most likely intended name for a misspelled one."""

from __future__ import annotations

import re
from functools import lru_cache

from qcheck.cluster.value import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

FAR = 0.5
"""The maximum edit distance of a suggestion, as a fraction of the name's length."""
MISSPELLED = 0.36
"""The same fraction for a field, unless the names begin with the same word or one contains the other."""
FIRST_WORD = r"[A-Za-z][a-z0-9]*"
MOST_COMPARED = 300
"""Among more names, only those one edit away are suggested: an index finds them without comparing all."""


def nearest(word: str, names: Iterable[str]) -> str | None:
    """Return the name closest to `word` by edit distance, ignoring case; None if none is close or two tie.

    A swap of adjacent letters counts as one edit.
    """
    return _nearest(word, _once(frozenset(names)))


def nearest_field(word: str, names: Iterable[str]) -> str | None:
    """Return the closest field name. Unrelated fields often share their last word, as `podSpec` and `jobSpec` do."""
    near = nearest(word, names)
    if near is None:
        return None
    one, other = word.lower(), near.lower()
    is_related = one in other or other in one or _first_word(word) == _first_word(near)
    return near if is_related or distance(one, other) <= MISSPELLED * max(len(one), len(other)) else None


def _first_word(name: str) -> str:
    """Return the first word of a camel-case name, in lower case."""
    found = re.match(FIRST_WORD, name)
    return found[0].lower() if found else name


@lru_cache(maxsize=64)
def _once(names: frozenset[str]) -> frozenset[str]:
    """Return one object for equal sets, so that cached answers share it."""
    return names


@lru_cache(maxsize=10_000)
def _nearest(word: str, names: frozenset[str]) -> str | None:
    from_word = Distances(word.lower())
    near = names if len(names) <= MOST_COMPARED else _one_edit_away(from_word, names)
    ranked = sorted((from_word.to(name.lower()), name) for name in near if name != word)
    if not ranked or ranked[0][0] > max(1, FAR * max(len(word), len(ranked[0][1]))):
        return None
    is_tied = len(ranked) > 1 and ranked[1][0] == ranked[0][0]
    return None if is_tied and ranked[0][0] else ranked[0][1]


def _one_edit_away(from_word: Distances, names: frozenset[str]) -> set[str]:
    index = _by_variant(names)
    found = {name for variant in _variants(from_word.word) for name in index.get(variant, ())}
    return {name for name in found if from_word.to(name.lower()) <= 1}


@lru_cache(maxsize=16)
def _by_variant(names: frozenset[str]) -> dict[str, list[str]]:
    """Index names by themselves and by each text that deleting one letter leaves: words one edit apart share an entry."""
    found: dict[str, list[str]] = {}
    for name in names:
        for variant in _variants(name.lower()):
            found.setdefault(variant, []).append(name)
    return found


def _variants(word: str) -> Iterator[str]:
    yield word
    for at in range(len(word)):
        yield word[:at] + word[at + 1 :]


class Distances:
    """Edit distances from one word: insertions, deletions, replacements and swaps of adjacent letters.

    A column of the usual table is two integers, with a bit for each letter of the word (Hyyrö, "A bit-vector algorithm for
    computing Levenshtein and Damerau edit distances", 2003).
    """

    def __init__(self, word: str) -> None:
        self.word = word
        self._at: dict[str, int] = {}
        for index, letter in enumerate(word):
            self._at[letter] = self._at.get(letter, 0) | 1 << index

    def to(self, other: str) -> int:
        """Return the distance to another word."""
        if not self.word:
            return len(other)
        found = len(self.word)
        last = 1 << found - 1
        every = (last << 1) - 1
        up, down, same, before = every, 0, 0, 0
        for letter in other:
            here = self._at.get(letter, 0)
            swapped = ((~same & here) << 1) & before
            same = ((((here & up) + up) ^ up) | here | down | swapped) & every
            right = down | (every & ~(same | up))
            left = same & up
            found += bool(right & last) - bool(left & last)
            right, left = right << 1 | 1, left << 1
            up, down = (left | ~(same | right)) & every, right & same
            before = here
        return found


def distance(one: str, other: str) -> int:
    """Return the number of insertions, deletions, replacements and adjacent swaps that turn one word into the other."""
    return Distances(one).to(other)
