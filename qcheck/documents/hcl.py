"""Parses HCL to blocks and expressions with positions. The only user of the HCL parser; nothing is evaluated here."""

from __future__ import annotations

import re
from functools import lru_cache

from qcheck.documents.document import Document
from qcheck.documents.hcl_interpolation import on_one_line
from qcheck.documents.heredoc import heredoc_document
from qcheck.documents.text import Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from lark import Tree
    from lark.lexer import Token

    from qcheck.documents.text import Route

    Node = Tree[Token]


MOST_WORDS = 150_000
"""The most names, numbers and signs in a file: some seconds of parsing."""

LITERAL = re.compile(r"\d+|\"[^\"$%\\]*\"", re.ASCII)
YAML_LITERAL = re.compile(r"[^$%]*")
"""A value without expressions or escapes, in HCL or in YAML inside HCL."""
ENCODERS = ("jsonencode", "yamlencode")
"""Functions that return an object as text."""


class HclError(ValueError):
    """The text is not valid HCL from `offset` on."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.offset = offset


class Expression:
    """An expression of a file, unevaluated."""

    __slots__ = ("text", "tree")

    def __init__(self, tree: Node, text: Text) -> None:
        self.tree = tree
        self.text = text

    def __str__(self) -> str:
        return " ".join(self.text.text[self.tree.meta.start_pos : self.tree.meta.end_pos].split())


class Block:
    """`type "label" "label" { ... }`; the body of a file is a block without a type."""

    __slots__ = ("_attributes", "body", "labels", "text", "tree", "type")

    def __init__(self, kind: str, labels: tuple[str, ...], body: Node, tree: Node, text: Text) -> None:
        self.type = kind
        self.labels = labels
        self.body = body
        self.tree = tree
        self.text = text
        self._attributes: dict[str, Expression] | None = None

    def attributes(self) -> dict[str, Expression]:
        """Return the block's own attributes by name, without those of inner blocks."""
        if self._attributes is None:
            self._attributes = {
                _word(tree.children[0]): Expression(_tree(tree.children[-1]), self.text)
                for tree in _trees(self.body)
                if tree.data == "attribute"
            }
        return self._attributes

    def document(self, data: object) -> tuple[Document, Route]:
        """Return the block as a document with `data`, and the route to the block in that document."""
        return HclDocument(self, 0, data), ()

    def blocks(self) -> Iterator[Block]:
        for tree in _trees(self.body):
            if tree.data == "block":
                yield _block(tree, self.text)


def parse(text: Text) -> Block:
    """Return the body of a file. Raises `HclError`, also for a file that would take too long."""
    if len(text.text) > MOST_WORDS and sum(1 for _ in re.finditer(r"\w+|\S", text.text)) > MOST_WORDS:
        raise HclError(f"the file has more than {MOST_WORDS:,} words of HCL, the limit", 0)
    try:
        return _parsed(text, text.text)
    except HclError:
        if "${" not in text.text and "%{" not in text.text:
            raise
        joined = on_one_line(text.text)
        if joined == text.text:
            raise
        return _parsed(text, joined)


@lru_cache(maxsize=1024)
def parse_expression(written: str) -> Expression | None:
    """Return a stand-alone expression; None if the text is not one."""
    try:
        return parse(Text("", f"x = {written}\n")).attributes().get("x")
    except HclError:
        return None


def _parsed(text: Text, written: str) -> Block:
    """Return the body of a file; `written` is its text, perhaps with other line ends."""
    from hcl2.api import parses_to_tree  # 35 ms
    from lark.exceptions import LarkError, UnexpectedInput  # part of it

    try:
        tree = parses_to_tree(written if written.endswith("\n") else written + "\n")
    except UnexpectedInput as error:
        raise HclError("this is not valid HCL", _offset(error.pos_in_stream, len(text.text))) from None
    except (LarkError, RecursionError):
        raise HclError("this is not valid HCL", 0) from None
    return Block(kind="", labels=(), body=_tree(tree.children[0]), tree=tree, text=text)


def _offset(at: int | None, end: int) -> int:
    """Return the offset at which the parser stopped; it reports none if the text ends too early."""
    return end if at is None or at < 0 else min(at, end)


def _tree(node: Node | Token) -> Node:
    assert not isinstance(node, str)
    return node


def _trees(node: Node) -> Iterator[Node]:
    return (c for c in node.children if not isinstance(c, str))


def _word(node: Node | Token) -> str:
    """Return the text of an identifier, keyword or plain string."""
    while not isinstance(node, str):
        inner = [c for c in node.children if not (isinstance(c, str) and c == '"')]
        if not inner:
            return ""
        node = inner[0]
    return str(node)


def _block(tree: Node, text: Text) -> Block:
    names = [c for c in tree.children if not isinstance(c, str) and c.data not in ("new_line_or_comment", "body")]
    body = next(c for c in tree.children if not isinstance(c, str) and c.data == "body")
    kind, *labels = (_word(n) for n in names)
    return Block(kind=kind, labels=tuple(labels), body=body, tree=tree, text=text)


class HclDocument(Document):
    """A block as a document: routes go through attributes, inner blocks (by type and index), objects and lists.

    They also go through functions that turn an object into text, and through YAML in a heredoc.
    """

    __slots__ = ("_block", "_heredocs")

    def __init__(self, block: Block, index: int, data: object) -> None:
        super().__init__(text=block.text, index=index, data=data, start=block.tree.meta.start_pos, where={})
        self._block = block
        self._heredocs: dict[int, Document | None] = {}

    def written(self, route: Route) -> str:
        """Return the text of the value at a route, or of the nearest value around it."""
        start, end = self._extent(route)
        return self._block.text.text[start:end]

    def has(self, route: Route) -> bool:
        inside = self.inside_heredoc(route)
        return self._seek(route)[0] == len(route) if inside is None else inside[0].has(inside[1])

    def is_literal(self, route: Route) -> bool:
        """Return whether the value at a route is written without expressions."""
        written = self.written(route)
        return (YAML_LITERAL if self.inside_heredoc(route) else LITERAL).fullmatch(written) is not None

    def inside_heredoc(self, route: Route) -> tuple[Document, Route] | None:
        """Return the document in the heredoc that contains a route, and the route inside that document."""
        found, _, tree = self._seek(route)
        tree = _unwrapped(tree)
        if found == len(route) or not tree.data.startswith("heredoc_template"):
            return None
        start = tree.meta.start_pos
        if start not in self._heredocs:
            self._heredocs[start] = heredoc_document(self.text, start, tree.meta.end_pos)
        document = self._heredocs[start]
        return None if document is None else (document, route[found:])

    def _extent(self, route: Route, on_key: bool = False) -> tuple[int, int]:
        inside = self.inside_heredoc(route)
        if inside is not None:
            spot = inside[0].spot(inside[1], on_key)
            return spot.start, spot.end
        found, key, tree = self._seek(route)
        if key is not None and (on_key or found < len(route)):
            return key.meta.start_pos, key.meta.end_pos
        if tree is self._block.tree:
            start = tree.meta.start_pos
            line = self._block.text.text.find("{", start, tree.meta.end_pos)
            return start, line if line > start else tree.meta.end_pos
        return tree.meta.start_pos, tree.meta.end_pos

    def _seek(self, route: Route) -> tuple[int, Node | None, Node]:
        """Return how many steps of a route are written, the key of the last of them, and its tree."""
        here: Block | None = self._block
        key: Node | None = None
        tree = self._block.tree
        at = 0
        while at < len(route):
            step, below = route[at], route[at + 1] if at + 1 < len(route) else None
            if here is not None:
                written = _attribute(here, step)
                inner = None if written is not None else _inner(here, step, below)
                if written is not None:
                    key, tree, here, at = *written, None, at + 1
                elif inner is not None:
                    key, tree, here = None, inner.tree, inner
                    at += 2 if isinstance(below, int) else 1
                else:
                    break
            else:
                found = _member(tree, step)
                if found is None:
                    break
                key, tree = found
                at += 1
        return min(at, len(route)), key, tree


def _attribute(block: Block, name: str | int) -> tuple[Node, Node] | None:
    """Return the key and value of an attribute."""
    for tree in _trees(block.body):
        if tree.data == "attribute" and _word(tree.children[0]) == name:
            return _tree(tree.children[0]), _tree(tree.children[-1])
    return None


def _inner(block: Block, name: str | int, index: str | int | None) -> Block | None:
    """Return the block of a type; a `dynamic` block represents all the blocks that it generates."""
    same = [b for b in block.blocks() if b.type == name or (b.type == "dynamic" and b.labels == (name,))]
    if not same:
        return None
    found = same[min(index, len(same) - 1) if isinstance(index, int) else 0]
    if found.type == "dynamic":
        return next((b for b in found.blocks() if b.type == "content"), found)
    return found


def _member(tree: Node, step: str | int) -> tuple[Node | None, Node] | None:
    """Return the value at a key of an object or an index of a list; None if the value is computed."""
    tree = _unwrapped(tree)
    if tree.data == "object":
        for each in _trees(tree):
            if each.data == "object_elem" and _word(each.children[0]) == step:
                return _tree(each.children[0]), _tree(each.children[-1])
    if tree.data == "tuple" and isinstance(step, int):
        values = [c for c in _trees(tree) if c.data != "new_line_or_comment"]
        if step < len(values):
            return None, values[step]
    return None


def _unwrapped(tree: Node) -> Node:
    """Return the value without the parentheses and the encoding function around it."""
    while True:
        inner = list(_trees(tree))
        if tree.data == "expr_term" and len(inner) == 1:
            tree = inner[0]
        elif tree.data == "function_call" and _word(tree.children[0]) in ENCODERS and inner[-1].data == "arguments":
            tree = next(_trees(inner[-1]))
        else:
            return tree
