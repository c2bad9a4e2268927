"""The heap in which KAI keeps queues: when holdings change, only the first entry moves.

Source: KAI 0.17 `pkg/scheduler/scheduler_util/priority_queue.go`, which uses Go's `container/heap`. The positions of
equal and of outdated entries depend on these steps.
"""

from __future__ import annotations

from typing import Generic, TypeVar

from qcheck.cluster.value import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


class QueueHeap(Generic[T]):
    """A heap with the least entry first, as of the last comparison of each entry."""

    def __init__(self, is_less: Callable[[T, T], bool]) -> None:
        self._is_less = is_less
        self._entries: list[T] = []

    def __bool__(self) -> bool:
        return bool(self._entries)

    @property
    def first(self) -> T:
        """The first entry."""
        return self._entries[0]

    def push(self, entry: T) -> None:
        """Add an entry."""
        self._entries.append(entry)
        self._up(len(self._entries) - 1)

    def pop(self) -> None:
        """Remove the first entry."""
        entries = self._entries
        entries[0], entries[-1] = entries[-1], entries[0]
        entries.pop()
        self.fix_first()

    def fix_first(self) -> None:
        """Move the first entry behind entries that are now less."""
        entries, at = self._entries, 0
        while (child := 2 * at + 1) < len(entries):
            if child + 1 < len(entries) and self._is_less(entries[child + 1], entries[child]):
                child += 1
            if not self._is_less(entries[child], entries[at]):
                return
            entries[at], entries[child] = entries[child], entries[at]
            at = child

    def _up(self, at: int) -> None:
        entries = self._entries
        while at and self._is_less(entries[at], entries[(at - 1) // 2]):
            above = (at - 1) // 2
            entries[at], entries[above] = entries[above], entries[at]
            at = above
