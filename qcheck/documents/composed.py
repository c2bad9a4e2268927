"""What a document becomes when it is read, whichever way it is read."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Where = dict[int, dict[str, int] | list[int]]
    """By `id` of each container: where its entries are written.

    For a list the offsets of its items; for a mapping, by key, `offset of the key << KEY_SHIFT | offset of the value`.
    """

KEY_SHIFT = 32
VALUE_MASK = (1 << KEY_SHIFT) - 1


class Composed:
    """A document's data, where it starts, its index or what works it out, and the keys written twice as (key, first offset,
    second offset)."""

    __slots__ = ("data", "repeated", "start", "where")

    def __init__(
        self, data: object, start: int, where: Where | Callable[[], Where], repeated: list[tuple[str, int, int]]
    ) -> None:
        self.data = data
        self.start = start
        self.where = where
        self.repeated = repeated


class Refused(Exception):
    """Text that libyaml, the API server's reader or a limit refuses: where, and what led to it as captioned spans.

    All offsets are those of the file.
    """

    def __init__(
        self, code: str, message: str, start: int, end: int, context: tuple[tuple[str, int, int], ...] = ()
    ) -> None:
        super().__init__(message)
        self.code = code
        self.start = start
        self.end = end
        self.context = context
