"""The context of a pool's reader: the machine types in the settings, and the objects that pools refer to."""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from qcheck.cluster.nodes import Machine
    from qcheck.documents.cursor import Cursor
    from qcheck.nodepools.manifest_text import BrokenText


class PoolContext:
    """The objects of one cluster that concern nodes, by API group and kind, in the order of the files.

    `applied` are other objects that Terraform applies, each with whether it certainly does; `broken` are faults of the
    text of such objects.
    """

    def __init__(self, own: Mapping[str, Machine]) -> None:
        self.own = own
        self.applied: list[tuple[Cursor, bool]] = []
        self.broken: list[BrokenText] = []
        self._objects: dict[tuple[str, str], list[Cursor]] = {}

    def add(self, group: str, kind: str, root: Cursor) -> None:
        self._objects.setdefault((group, kind), []).append(root)

    def all_of(self, group: str, kind: str) -> list[Cursor]:
        return self._objects.get((group, kind), [])

    def of_kind(self, kind: str) -> Iterator[Cursor]:
        """Yield the objects of a kind in any group."""
        for (_, each), roots in self._objects.items():
            if each == kind:
                yield from roots

    def find(self, kind: str, name: str | None) -> Cursor | None:
        """Return the first object of a kind and name."""
        return next((r for r in self.of_kind(kind) if r["metadata"]["name"].text() == name), None)
