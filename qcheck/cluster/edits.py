"""Edits at places in documents, as symbolic as the places themselves.

`qcheck.findings.text_edits` reads the text of a file only when an edit is shown or applied.
"""

from __future__ import annotations

from enum import StrEnum

from qcheck.cluster.place import Place
from qcheck.cluster.value import Value


class How(StrEnum):
    """The effect of an edit on the value at its place. Each member states the meaning of the edit's `text`."""

    REPLACE = "replace"
    """Replace the scalar with `text`."""
    RENAME = "rename"
    """Rename the key to `text`."""
    NEST = "nest"
    """Move the key and its value one level down, under the key `text`."""
    WRAP = "wrap"
    """Replace the scalar with a mapping of the single key `text` to that scalar."""
    REMOVE = "remove"
    """Remove the value; `text` is unused."""


class Edit(Value):
    place: Place
    how: How
    text: str = ""


class Fix(Value):
    """Edits to be applied together. `is_safe`: they do not change how the cluster interprets the object."""

    edits: tuple[Edit, ...]
    description: str
    is_safe: bool = True
