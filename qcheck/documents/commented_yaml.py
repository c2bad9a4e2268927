"""New YAML text with comments, written by ruamel.yaml's round-trip mode. `edits.py` edits existing text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from io import StringIO
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.scalarstring import DoubleQuotedScalarString

from qcheck.documents import scalars

WIDTH = 100
"""Maximum length in characters of a list on one line; a longer one gets a line per item."""
PLAIN = re.compile(r"[A-Za-z][\w./*-]*")


class YamlEntry:
    """A top-level key: its value, the comment lines above it, and the comment beside it.

    In the value, mappings are written as blocks, and anything inside a list on one line. An empty line above stays
    empty. A comment beside a mapping or list is written above it: ruamel.yaml misplaces items below a comment.
    """

    __slots__ = ("above", "beside", "key", "value")

    def __init__(self, key: str, value: object, *, above: Iterable[str] = (), beside: str = "") -> None:
        self.key = key
        self.value = value
        is_block = isinstance(value, (Mapping, list, tuple))
        self.above = (*above, beside) if beside and is_block else tuple(above)
        self.beside = "" if is_block else beside


def to_yaml(entries: Iterable[YamlEntry]) -> str:
    """Return the text of a document, which `documents.load` reads back as the same values."""
    document = CommentedMap()
    for entry in entries:
        key = _value(entry.key)
        document[key] = _value(entry.value)
        if entry.above:
            document.yaml_set_comment_before_after_key(key, before="\n".join(entry.above))
        if entry.beside:
            document.yaml_add_eol_comment(entry.beside, key)
    yaml = YAML()
    yaml.width = 1_000_000  # a broken line would get trailing spaces
    yaml.indent(mapping=2, sequence=4, offset=2)
    stream = StringIO()
    yaml.dump(document, stream)
    return stream.getvalue()


def comment(lines: Iterable[str]) -> str:
    """Return lines, such as an example that `to_yaml` wrote, as comments; an empty line stays empty."""
    return "".join(f"# {line}\n" if line else "\n" for line in lines)


def _value(value: object, in_list: bool = False) -> Any:
    if isinstance(value, Mapping):
        mapping = CommentedMap({_value(key): _value(inner, in_list) for key, inner in value.items()})
        if in_list:
            mapping.fa.set_flow_style()
        return mapping
    if isinstance(value, (list, tuple)):
        items = CommentedSeq(_value(item, in_list=True) for item in value)
        if in_list or len(str(value)) <= WIDTH:
            items.fa.set_flow_style()
        return items
    return DoubleQuotedScalarString(value) if isinstance(value, str) and not _means_itself(value) else value


def _means_itself(text: str) -> bool:
    """Return whether YAML 1.1 and 1.2 both read this text, written as a plain scalar, as this string."""
    return PLAIN.fullmatch(text) is not None and scalars.resolve(text) == text
