"""Chooses sample messages of each rule from the findings of the fixtures, for `qcheck rules --messages`.

Two messages that differ only in names, numbers and plurals count as one; the first is the sample.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from qcheck.findings.finding import Finding

ANY = "*"
VALUE = re.compile(r"""(?:[:=[,]|^\s*-)\s*["']?([^\s"',\]]+)""", re.MULTILINE)
COMMENT = re.compile(r"(?:^|\s)#.*$", re.MULTILINE)
RUN = re.compile(r"\*(?:(?:[,:]| and| or|) \*)+")
SIGNS = frozenset(["+", "-", "x", "=", "<", ">"])
Shape = tuple[str, ...]


def names_in(files: Iterable[Path]) -> frozenset[str]:
    """Return every value in some YAML, JSON or Terraform files, with its parts: `team-a/train` gives `train` too."""
    values: set[str] = set()
    for file in files:
        text = COMMENT.sub("", file.read_text(encoding="utf-8", errors="replace"))
        values.update(part for value in VALUE.findall(text) for part in (value, *value.split("/")))
    return frozenset(values)


def samples(found: Iterable[Finding], names: frozenset[str]) -> list[dict[str, object]]:
    """Return the messages of one rule that read differently, each with the captions and the help that are new with it."""
    messages: set[Shape] = set()
    captions_seen: set[Shape] = set()
    helps: set[Shape] = set()
    chosen = []
    for finding in found:
        is_new = _is_new(finding.message, names, messages)
        marked = [place.caption for place in (finding.primary, *finding.related) if place.caption]
        captions = [caption for caption in marked if _is_new(caption, names, captions_seen)]
        help = finding.help if finding.help and _is_new(finding.help, names, helps) else None
        if is_new or captions or help:
            chosen.append({
                "severity": str(finding.severity),
                "message": finding.message,
                "captions": captions,
                "help": help,
            })  # fmt: skip
    return chosen


def _is_new(text: str, names: frozenset[str], known: set[Shape]) -> bool:
    """Add the shape of a text to those known; False if it is among them already."""
    shape = tuple(_shape(text, names))
    is_new = shape not in known
    known.add(shape)
    return is_new


def _shape(text: str, names: frozenset[str]) -> Iterator[str]:
    """The words of a text, with names and numbers as `*` and without plurals."""
    masked = (ANY + word[-1] * (word[-1] in ",.:;") if _is_value(word, names) else word for word in text.split())
    for word in RUN.sub(ANY, " ".join(masked)).split():
        yield {"are": "is", "have": "has"}.get(word, word).rstrip("s")


def _is_value(word: str, names: frozenset[str]) -> bool:
    bare = word.strip("`'\"(),.:;[]{}")
    return word in SIGNS or bare in names or any(letter.isdigit() for letter in bare) or "/" in bare or "=" in bare
