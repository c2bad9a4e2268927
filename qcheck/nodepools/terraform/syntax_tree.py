"""Steps through the syntax trees of HCL."""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.documents.hcl import Node


def parts(tree: Node) -> Iterator[Node]:
    """Yield the subtrees that have meaning."""
    return (c for c in tree.children if not isinstance(c, str) and c.data != "new_line_or_comment")


def attribute_name(tree: Node) -> str:
    return str(next(parts(tree)).children[0])
