"""Parses JSON with the standard library's C parser; positions are computed on demand."""

from __future__ import annotations

import json
import re

from qcheck.cluster.problems import ProblemCode
from qcheck.documents.composed import KEY_SHIFT, RefusedText
from qcheck.documents.extent import closing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.documents.composed import Entries
    from qcheck.documents.limits import Limits

SPACE = re.compile(r"[ \t\r\n]*")
TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"|[\[\]{}]', re.DOTALL)
ATOM = re.compile(r"[^\s,\]}]*")
NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
STRING = re.compile(r'"(?:[^"\\]++|\\.)*+"', re.DOTALL)


class JsonIndex:
    """Offsets of the entries of a document's containers, computed for each container on demand."""

    __slots__ = ("_known", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._known: dict[int, Entries] = {}

    def entries(self, start: int) -> Entries:
        """Return the entries of the container at `start`; of members with the same name, the last counts."""
        if start not in self._known:
            found = entries(self._text, start)
            self._known[start] = (
                {_key(self._text, key): key << KEY_SHIFT | value for key, value in found}
                if self._text[start] == "{"
                else [value for _, value in found]
            )
        return self._known[start]


def entries(text: str, start: int) -> Iterator[tuple[int, int]]:
    """Yield the offsets of key and value of each member of the object at `start`; for a list, each item's twice."""
    is_object = text[start] == "{"
    at = skip_space(text, start + 1)
    while text[at] not in "]}":
        key = value = at
        if is_object:
            value = skip_space(text, skip_space(text, _end(text, at)) + 1)
        yield key, value
        at = skip_space(text, _end(text, value))
        if text[at] == ",":
            at = skip_space(text, at + 1)


def skip_space(text: str, at: int) -> int:
    match = SPACE.match(text, at)
    return match.end() if match else at


def _key(text: str, at: int) -> str:
    return str(json.JSONDecoder().raw_decode(text, at)[0])


def _end(text: str, at: int) -> int:
    """Return the end of the valid JSON value at `at`."""
    pattern = STRING if text[at] == '"' else ATOM
    if text[at] not in "[{":
        match = pattern.match(text, at)
        return match.end() if match else at
    return closing(TOKEN, text, at)


def read(text: str, at: int, limits: Limits) -> tuple[object, int, list[tuple[str, int, int]]]:
    """Return the value at offset `at`, its end, and the repeated keys as (key, first offset, second offset).

    Raises `RefusedText`.
    """
    repeats = False

    def pairs(members: list[tuple[str, object]]) -> dict[str, object]:
        nonlocal repeats
        made = dict(members)
        repeats = repeats or len(made) < len(members)
        return made

    try:
        data, end = json.JSONDecoder(object_pairs_hook=pairs, parse_constant=_refuse_constant).raw_decode(text, at)
    except json.JSONDecodeError as error:
        raise RefusedText(ProblemCode.YAML_SYNTAX, f"not valid JSON: {error.msg}", error.pos, error.pos + 1) from None
    except RecursionError:
        raise RefusedText(ProblemCode.LIMIT, f"nested deeper than {limits.depth} levels", at, at + 1) from None
    except ValueError as error:
        raise RefusedText(ProblemCode.YAML_SYNTAX, f"not valid JSON: {error}", at, at + 1) from None
    if _deeper(text[at:end] if end - at < len(text) else text, limits.depth):
        raise RefusedText(ProblemCode.LIMIT, f"nested deeper than {limits.depth} levels", at, at + 1)
    return data, end, list(_repeated(text, at)) if repeats else []


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is not a number in JSON")


def _deeper(text: str, depth: int) -> bool:
    """Return whether valid JSON nests deeper than `depth`. Strings are skipped only if their brackets could matter."""
    brackets = text.encode().translate(None, NO_BRACKETS)
    return _left_over(brackets, depth) and _left_over(
        "".join(match for match in TOKEN.findall(text) if match[0] != '"').encode(), depth
    )


def _left_over(brackets: bytes, depth: int) -> bool:
    """Return whether any bracket remains after `depth` passes that each cancel the innermost pairs."""
    for _ in range(depth):
        if not brackets:
            return False
        brackets = brackets.replace(b"[]", b"").replace(b"{}", b"")
    return bool(brackets)


def _repeated(text: str, start: int) -> Iterator[tuple[str, int, int]]:
    ahead = [start]
    while ahead:
        at = ahead.pop()
        first: dict[str, int] = {}
        for key, value in entries(text, at):
            if text[value] in "[{":
                ahead.append(value)
            if text[at] == "{":
                name = _key(text, key)
                if name in first:
                    yield name, first[name], key
                first.setdefault(name, key)
