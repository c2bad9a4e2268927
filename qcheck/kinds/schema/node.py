"""Parses the notation to a tree of nodes for one version and release."""

from __future__ import annotations

import re

from qcheck.kinds.schema.formats import FORMATS

TYPE_CHECKING = False
if TYPE_CHECKING:
    FieldLines = tuple[str, list[str]]
    """The line of a field, and the lines below it, one level less indented."""

INDENT = "  "
MARKS = "!?"
"""Ends of names of required fields."""
REQUIRED = "required"
OPEN = "open"
"""The line for an object that may have further fields."""
CHECK = re.compile(r"[A-Z]+-[A-Z]\d\d")
SCALARS = frozenset(
    {"string", "bool", "int32", "int64", "number", "quantity", "int-or-string", "time", "duration", "any"}
)
WITHOUT_QUANTITIES = SCALARS - {"quantity"}
INT_RANGE = {"int32": (-(2**31), 2**31 - 1), "int64": (-(2**63), 2**63 - 1)}


class VersionScope:
    """The target of a description: an API version, a Kueue release, and whether built-in types decode it."""

    __slots__ = ("is_builtin", "release", "version")

    def __init__(self, version: str, release: tuple[int, int], is_builtin: bool = False) -> None:
        self.version = version
        self.release = release
        self.is_builtin = is_builtin

    def has(self, line: str) -> bool:
        """Return whether a line applies, by its conditions."""
        return all(":" in word or self.holds(word) for word in line.split() if word[0] in "@<>")

    def holds(self, condition: str) -> bool:
        if condition.startswith("@"):
            return self.version in condition[1:].split(",")
        bound = condition.lstrip("<>=").split(".")
        return (self.release < (int(bound[0]), int(bound[1]))) is condition.startswith("<")


class SchemaNode:
    """One field, or the items of a list or map. `kind` is a scalar type, "object", "list", "map" or "named".

    `is_open`: other fields are allowed, as in an object that is described without fields.
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

    def __init__(self, name: str, scope: VersionScope, check: str | None = None, required: bool = False) -> None:
        self.name = name
        self.scope = scope
        self.check = check
        self.required = required
        self._lines: dict[str, FieldLines] = {}
        self._parsed: dict[str, SchemaNode] = {}

    @property
    def innermost(self) -> SchemaNode:
        """The node that the lines below describe: itself, or the items of its list or map."""
        return self.item.innermost if self.item else self

    @property
    def children(self) -> dict[str, SchemaNode]:
        """The fields by name."""
        return {name: self.child(name) for name in self._lines}

    @property
    def required_children(self) -> list[SchemaNode]:
        """The fields that a value must have."""
        marked = [name for name, (line, _) in self._lines.items() if "!" in line or "?" in line or REQUIRED in line]
        return [c for c in map(self.child, marked) if c.required and c.default is None]

    def __contains__(self, name: str) -> bool:
        """Return whether there is a field of this name."""
        return name in self._lines

    def child(self, name: str) -> SchemaNode:
        """Return a field. It is parsed on demand, because objects use few of the described fields."""
        if name not in self._parsed:
            line, below = self._lines[name]
            self._parsed[name] = _field(line.split(), below, self.check, self.scope)
        return self._parsed[name]

    def describe(self, lines: list[str]) -> None:
        """Set the lines that describe the fields, except those for other versions and releases."""
        below: list[str] = []
        for line in lines:
            if line.startswith(INDENT):
                below.append(line[len(INDENT) :])
            elif line and line != OPEN:
                below = []
                if not ("@" in line or "<" in line or ">" in line) or self.scope.has(line):
                    self._lines[line.split(None, 1)[0].rstrip(MARKS)] = line, below
        self.is_open = self.is_open or not self._lines or OPEN in lines


def parse(text: str, scope: VersionScope) -> SchemaNode:
    """Return the root of a description."""
    root = SchemaNode("", scope)
    root.describe(text.splitlines())
    return root


def _field(words: list[str], below: list[str], inherited: str | None, scope: VersionScope) -> SchemaNode:
    """Return the node of a line and the lines below it."""
    is_required = words[0].endswith("!") or (words[0].endswith("?") and not scope.is_builtin)
    node = SchemaNode(words[0].rstrip(MARKS), scope, inherited, is_required)
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
            outer, at.item = at, SchemaNode("", scope, at.check)
            at = at.item
        elif word.startswith("="):
            node.default = _json(word[1:])
        elif word == REQUIRED:
            node.required = True
        else:
            _apply(word, at, outer, scope.is_builtin)
    at.describe(below)
    return node


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
