"""Node pools, whatever teams keep them in: which documents describe them, and what they say."""

from __future__ import annotations

from qcheck.model.value import TYPE_CHECKING
from qcheck.nodepools import own

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qcheck.documents.document import Document
    from qcheck.model.nodes import Node, NodePool
    from qcheck.model.problems import Problem

RECOGNISED = {("qcheck.dev/v1", "NodePool")}


def recognises(api_version: str, kind: str) -> bool:
    """Whether documents of this apiVersion and kind describe nodes."""
    return (api_version, kind) in RECOGNISED


def read(documents: Iterable[Document]) -> tuple[tuple[NodePool, ...], tuple[Node, ...], tuple[Problem, ...]]:
    """Every pool and node that some documents describe, and what could not be understood of them."""
    return tuple(own.read(d) for d in documents if own.is_own(d)), (), ()
