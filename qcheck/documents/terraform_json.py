"""Terraform's JSON syntax as HCL blocks and expressions: values are expressions, strings are templates."""

from __future__ import annotations

import json

from qcheck.documents import json_text, limits
from qcheck.documents.composed import RefusedText
from qcheck.documents.document import Document
from qcheck.documents.hcl import Block, Expression, HclError, parse, parse_expression
from qcheck.documents.text import Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.documents.text import Route

ENDINGS = (".tf.json", ".tfvars.json")
LABELS = {"variable": 1, "locals": 0, "resource": 2, "module": 1}
"""The number of labels after the type of a block."""
COMMENT = "//"


class JsonBlock:
    """An object of the file that represents a block; the file itself is one without a type."""

    def __init__(self, kind: str, labels: tuple[str, ...], document: Document, route: Route, data: object) -> None:
        self.type = kind
        self.labels = labels
        self._document = document
        self._route = route
        self._data = data if isinstance(data, dict) else {}

    def attributes(self) -> dict[str, Expression]:
        """Return all members; a member that a `dynamic` block would generate has no known value."""
        found = {k: _expression(json.dumps(v, ensure_ascii=False)) for k, v in self._data.items() if _counts(k)}
        made = self._data.get("dynamic")
        found |= {k: _expression(f"dynamic.{k}") for k in (made if isinstance(made, dict) else {}) if k.isidentifier()}
        written = self._data.get("type")
        if self.type == "variable" and isinstance(written, str):
            found["type"] = _expression(written)
        return found

    def blocks(self) -> Iterator[JsonBlock]:
        """Yield the blocks of a file; inside a block, blocks and attributes look alike."""
        if not self.type:
            for kind, labels in LABELS.items():
                yield from self._named(kind, labels, (), (kind,), self._data.get(kind))

    def _named(self, kind: str, more: int, labels: tuple[str, ...], route: Route, data: object) -> Iterator[JsonBlock]:
        if isinstance(data, list):
            for at, each in enumerate(data):
                yield from self._named(kind, more, labels, (*route, at), each)
        elif more and isinstance(data, dict):
            for name, inner in data.items():
                yield from self._named(kind, more - 1, (*labels, name), (*route, name), inner)
        elif isinstance(data, dict):
            yield JsonBlock(kind=kind, labels=labels, document=self._document, route=route, data=data)

    def document(self, data: object) -> tuple[Document, Route]:  # noqa: ARG002 (one signature for both syntaxes)
        """Return the file as a document, and the route to the block in it."""
        return self._document, self._route


Body = Block | JsonBlock


def parse_body(text: Text) -> Body:
    """Return the body of a file in either syntax. Raises `HclError`."""
    return _parse(text) if text.path.endswith(ENDINGS) else parse(text)


def _parse(text: Text) -> JsonBlock:
    try:
        start = json_text.skip_space(text.text, 0)
        data = json_text.read(text.text, start, limits.DEFAULT)[0]
    except RefusedText as refusal:
        raise HclError(str(refusal), refusal.start) from None
    return JsonBlock(
        kind="",
        labels=(),
        document=Document(text=text, index=0, data=data, start=start, where=json_text.JsonIndex(text.text)),
        route=(),
        data=data,
    )


def _counts(key: str) -> bool:
    return key not in (COMMENT, "dynamic")


def _expression(written: str) -> Expression:
    """Return a stand-alone expression; one that is not valid HCL never has a value."""
    found = parse_expression(written) or parse_expression("unreadable.text")
    assert found is not None
    return found
