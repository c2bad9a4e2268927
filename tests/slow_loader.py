"""The slow twin of `qcheck.documents.events`: ruamel.yaml's pure composer, nodes, marks, and one plain walk over them.

It shares only the meaning of scalars with the fast loader. It gives, for each route, the value and the offsets of its key
and its extent, so that tests can compare everything that the fast loader and `extent` work out differently.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.nodes import ScalarNode, SequenceNode

from qcheck.documents import scalars

Route = tuple[str | int, ...]
Extents = dict[Route, tuple[int, int, int | None]]
"""Start and end of the value, start of the key."""


def load(text: str) -> tuple[Any, Extents]:
    """The data and extents of a text with one document. Raises `YAMLError` and `scalars.Unreadable`."""
    yaml = YAML(typ="safe", pure=True)
    yaml.version = (1, 1)
    node = yaml.compose(text)
    if node is None:
        return None, {}
    found: Extents = {}
    return _value(node, text, (), found, None), found


def _value(node: Any, text: str, route: Route, found: Extents, key: int | None) -> Any:
    data: Any
    if isinstance(node, ScalarNode):
        data = _scalar(node)
    elif isinstance(node, SequenceNode):
        data = [_value(item, text, (*route, at), found, None) for at, item in enumerate(node.value)]
    else:
        data = {}
        for name, inner, key_at in _entries(node):
            data[name] = _value(inner, text, (*route, name), found, key_at)
    found[route] = (node.start_mark.index, _end(node, text), key)
    return data


def _entries(node: Any) -> Iterator[tuple[str, Any, int]]:
    """Members in the order in which they are set; merged ones stand for those of their source."""
    for key, value in node.value:
        if key.tag == "tag:yaml.org,2002:merge":
            sources = value.value[::-1] if isinstance(value, SequenceNode) else [value]
            for source in sources:
                yield from _entries(source)
        else:
            if not isinstance(key, ScalarNode):
                raise ValueError("a key that is no scalar")
            yield scalars.key(_scalar(key)), value, key.start_mark.index


def _scalar(node: Any) -> Any:
    if node.start_mark.buffer[node.start_mark.pointer] == "!":
        return scalars.tagged(node.tag, node.value)
    return node.value if node.style else scalars.resolve(node.value)


def _end(node: Any, text: str) -> int:
    """Block collections and block scalars end, for people, with the last thing that is written in them."""
    if isinstance(node, ScalarNode):
        end = node.end_mark.index
        return len(text[:end].rstrip(" \t\r\n")) if node.style in ("|", ">") else end
    if node.flow_style or not node.value:
        return int(node.end_mark.index)
    last = node.value[-1]
    return _end(last[1] if isinstance(last, tuple) else last, text)
