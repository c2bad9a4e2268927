"""Values of which a file only says how they would be computed."""

from __future__ import annotations

LONGEST = 200
"""Characters of an expression that are shown."""


class Unresolved:
    """Stands in the data of a document for a value that cannot be told without running something.

    `expression` is how the file writes it: `var.gpu_nodes`. It is no text, number or mapping, so that whoever asks for
    one of these finds it absent; who must not mistake it for absent asks for it by this type.
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
