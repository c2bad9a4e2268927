"""The parts of a parsed document, the same for every parser."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from qcheck.cluster.problems import ProblemCode

    Entries = dict[str, int] | list[int]
    """Offsets of the entries of a container: of a list, those of its items; of a mapping, a number by key.

    The number is `offset of the key << KEY_SHIFT | offset of the value`.
    """

    class Finder(Protocol):
        """Finds the entries of a container on demand."""

        def entries(self, start: int) -> Entries:
            """Return the entries of the container that begins at offset `start`."""
            ...

    Where = dict[int, Entries] | Finder
    """The entries of each container of a document: by its `id`, or through a finder by its offset."""

KEY_SHIFT = 32
VALUE_MASK = (1 << KEY_SHIFT) - 1
LONGEST = 200
"""The most characters of an expression that are shown."""


class Composed:
    """A document's data, its start, its index, and its repeated keys as (key, first offset, second offset)."""

    __slots__ = ("data", "repeated", "start", "where")

    def __init__(self, data: object, start: int, where: Where, repeated: list[tuple[str, int, int]]) -> None:
        self.data = data
        self.start = start
        self.where = where
        self.repeated = repeated


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


class RefusedText(Exception):
    """Text that libyaml, the API server's reader or a limit refuses: its place, and the context as captioned spans.

    All offsets are relative to the file.
    """

    def __init__(
        self, code: ProblemCode, message: str, start: int, end: int, context: tuple[tuple[str, int, int], ...] = ()
    ) -> None:
        super().__init__(message)
        self.code = code
        self.start = start
        self.end = end
        self.context = context
