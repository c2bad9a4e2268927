"""Parses the notation to a tree of nodes for one version and release."""

from __future__ import annotations

import re

from qcheck.kinds.schema.formats import FORMATS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

CHECK = re.compile(r"[A-Z]+-[A-Z]\d\d")
SCALARS = frozenset(
    {"string", "bool", "int32", "int64", "number", "quantity", "int-or-string", "time", "duration", "any"}
)
INT_RANGE = {"int32": (-(2**31), 2**31 - 1), "int64": (-(2**63), 2**63 - 1)}


class VersionScope:
    """The target of a description: an API version, a Kueue release, and whether built-in types decode it."""

    __slots__ = ("is_builtin", "release", "version")

    def __init__(self, version: str, release: tuple[int, int], is_builtin: bool = False) -> None:
        self.version = version
        self.release = release
        self.is_builtin = is_builtin

    def holds(self, condition: str) -> bool:
        if condition.startswith("@"):
            return self.version in condition[1:].split(",")
        bound = condition.lstrip("<>=").split(".")
        return (self.release < (int(bound[0]), int(bound[1]))) is condition.startswith("<")


class SchemaNode:
    """One field, or the items of a list or map. `kind` is a scalar type, "object", "list", "map" or "named".

    `is_loose`: items may repeat their keys, although server-side apply then has to choose one of them.
    """

    kind = "object"
    type_name = ""
    bounds: tuple[int, int | None] = (0, None)
    length: tuple[int, int | None] = (0, None)
    minimum: int | None = None
    maximum: int | None = None
    format = ""
    values: tuple[str, ...] = ()
    default: object = None
    keys: tuple[str, ...] = ()
    unique = False
    is_loose = False
    is_open = False
    item: SchemaNode | None = None

    def __init__(self, name: str, check: str | None = None, required: bool = False) -> None:
        self.name = name
        self.check = check
        self.required = required
        self.children: dict[str, SchemaNode] = {}

    @property
    def innermost(self) -> SchemaNode:
        """The node that the lines below describe: itself, or the items of its list or map."""
        return self.item.innermost if self.item else self


def parse(text: str, scope: VersionScope) -> SchemaNode:
    """Return the tree of a description, without lines, and the lines below them, for other versions and releases."""
    root = SchemaNode("")
    stack = [root]
    skipped: int | None = None
    for depth, words, may_be_left_out in _lines(text):
        if skipped is not None and depth > skipped:
            continue
        skipped = None
        if may_be_left_out and any(w[0] in "@<>" and ":" not in w and not scope.holds(w) for w in words):
            skipped = depth
            continue
        del stack[depth + 1 :]
        parent = stack[depth]
        if words == ["open"]:
            parent.is_open = True
            continue
        node, innermost = _field(words, parent.check, scope)
        parent.children[node.name] = node
        stack.append(innermost)
    return root


def _lines(text: str) -> Iterator[tuple[int, list[str], bool]]:
    """Yield the depth and words of each line, and whether a word may be a condition."""
    for line in text.splitlines():
        words = line.split()
        if words:
            yield (len(line) - len(line.lstrip())) // 2, words, "@" in line or "<" in line or ">" in line


def _field(words: list[str], inherited: str | None, scope: VersionScope) -> tuple[SchemaNode, SchemaNode]:
    """Return the node of a line, and the node that the lines below it describe."""
    is_required = words[0].endswith("!") or (words[0].endswith("?") and not scope.is_builtin)
    node = SchemaNode(words[0].rstrip("!?"), inherited, is_required)
    at = outer = node
    for word in words[1:]:
        if word in SCALARS:
            at.kind = word
            continue
        if word[0] in "@<>":
            condition, _, word = word.partition(":")
            if not word or not scope.holds(condition):
                continue
        if word[0] in "[{":
            at.kind, at.bounds = ("list" if word[0] == "[" else "map"), _bounds(word[1:-1])
            outer, at.item = at, SchemaNode("", at.check)
            at = at.item
        elif word.startswith("="):
            node.default = _json(word[1:])
        elif word == "required":
            node.required = True
        else:
            _apply(word, at, outer, scope.is_builtin)
    return node, at


def _apply(word: str, at: SchemaNode, outer: SchemaNode, is_builtin: bool) -> None:
    """Apply one token: `at` is the innermost node so far, `outer` the list or map around it."""
    if word in SCALARS:
        at.kind = word
        return
    head, _, rest = word.partition(":")
    if word[0].isupper() and CHECK.fullmatch(word):
        at.check = word
    elif head in ("by", "by?"):
        outer.keys = tuple(rest.split(","))
        outer.is_loose = head == "by?" and is_builtin
    elif head == "size":
        outer.bounds = _bounds(rest)
    elif head == "len":
        at.length = _bounds(rest)
    elif head == "min":
        at.minimum = int(rest)
    elif head == "max":
        at.maximum = int(rest)
    elif word == "set":
        outer.unique = True
    elif word == "open":
        at.is_open = True
    else:
        _set_type(word, at)


def _set_type(word: str, at: SchemaNode) -> None:
    if "|" in word:
        at.kind, at.values = "string", tuple("" if v == '""' else v for v in word.split("|"))
    elif word in FORMATS:
        at.kind, at.format = "string", word
        at.length = (at.length[0], FORMATS[word].longest)
    elif word[0].isupper():
        at.kind, at.type_name = "named", word
    else:
        raise ValueError(f"{word!r} is no word of the notation")


def _bounds(text: str) -> tuple[int, int | None]:
    low, _, high = text.partition("..")
    return int(low or 0), int(high) if high else None


def _json(text: str) -> object:
    """Return a default: JSON, or a bare word as a string."""
    if text == "{}":
        return {}
    if text in ("true", "false"):
        return text == "true"
    if text.lstrip("-").isdigit():
        return int(text)
    return "" if text == '""' else text
