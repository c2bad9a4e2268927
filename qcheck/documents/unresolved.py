"""Values that a file gives only as an expression."""

from __future__ import annotations

LONGEST = 200
"""The most characters of an expression that are shown."""


class Unresolved:
    """A value in a document's data that cannot be known without running something.

    `expression` is how the file writes it: `var.gpu_nodes`. It is not a string, number or mapping, so code that expects
    one of these finds it absent; code that must not mistake it for absent checks for this type.
    """

    __slots__ = ("expression",)

    def __init__(self, expression: str) -> None:
        self.expression = expression if len(expression) <= LONGEST else f"{expression[: LONGEST - 1]}…"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Unresolved) and self.expression == other.expression

    def __hash__(self) -> int:
        return hash(self.expression)

    def __repr__(self) -> str:
        return f"Unresolved({self.expression})"
