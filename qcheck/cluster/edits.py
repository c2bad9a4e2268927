"""Edits at places of documents, as symbolic as the places are.

The text of the files is asked only when somebody wants to see or apply an edit (`qcheck.findings.text_edits`).
"""

from __future__ import annotations

from enum import StrEnum

from qcheck.cluster.place import Place
from qcheck.cluster.value import Value


class How(StrEnum):
    """The effect of an edit on the value at its place; `text` of the edit is what is named here."""

    REPLACE = "replace"
    """Another scalar: `text`."""
    RENAME = "rename"
    """Another key: `text`."""
    NEST = "nest"
    """The key and its value one level further in, under the key `text`."""
    WRAP = "wrap"
    """A mapping of one key, `text`, that holds the scalar."""
    REMOVE = "remove"
    """Nothing."""


class Edit(Value):
    place: Place
    how: How
    text: str = ""


class Fix(Value):
    """Edits that belong together. `is_safe`: they change nothing of what the cluster makes of the object."""

    edits: tuple[Edit, ...]
    description: str
    is_safe: bool = True
