"""The GPUs of a shard's nodes, and the placement of pods on them."""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.schedulers.kai.simulation.gang import GPU

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qcheck.schedulers.kai.simulation.gang import Held, Vector

NOWHERE = -1
"""The node of a pod that requests no GPU."""


class Floor:
    """The free GPUs by node: `idle` is available now, `room` also includes what leaving pods still hold."""

    def __init__(self, idle: Sequence[float], room: Sequence[float]) -> None:
        self.idle = list(idle)
        self.room = list(room)

    def copy(self) -> Floor:
        """Return an independent copy."""
        return Floor(self.idle, self.room)

    def place(self, pods: Sequence[Vector], *, later: bool) -> tuple[int, ...] | None:
        """Take GPUs for pods, from nodes with little room first; None, with nothing taken, if they do not all fit.

        `later` also uses what leaving pods hold.
        """
        taken: list[int] = []
        for pod in pods:
            node = self._best(pod[GPU], later=later) if pod[GPU] else NOWHERE
            if node is None:
                self._give_back(pods, taken, later=later)
                return None
            self._take(node, pod[GPU], later=later)
            taken.append(node)
        return tuple(taken)

    def hold(self, held: Held) -> None:
        """Take the GPUs of a running gang."""
        for node, pod in zip(held.nodes, held.gang.pods, strict=True):
            self._take(node, pod[GPU], later=False)

    def leave(self, held: Held) -> None:
        """Free a gang's GPUs for later use: its pods begin to leave."""
        for node, pod in zip(held.nodes, held.gang.pods, strict=True):
            self._take(node, -pod[GPU], later=True)

    def withdraw(self, held: Held) -> None:
        """Free the GPUs that a gang was promised. KAI counts its pods as leaving, although they hold nothing yet."""
        for node, pod in zip(held.nodes, held.gang.pods, strict=True):
            if node != NOWHERE:
                self.room[node] += pod[GPU]
                self.idle[node] -= pod[GPU]

    def release(self, held: Held) -> None:
        """Free a gang's GPUs: its pods are gone."""
        for node, pod in zip(held.nodes, held.gang.pods, strict=True):
            self._take(node, -pod[GPU], later=False)

    def _best(self, asked: float, *, later: bool) -> int | None:
        found, least = None, (0, 0.0)
        for node, room in enumerate(self.room):
            idle = self.idle[node]
            fits_now = asked <= min(idle, room)
            if fits_now or (later and asked <= room):
                rank = (int(not fits_now), room)
                if found is None or rank < least:
                    found, least = node, rank
        return found

    def _take(self, node: int, amount: float, *, later: bool) -> None:
        if node != NOWHERE:
            self.room[node] -= amount
            if not later:
                self.idle[node] -= amount

    def _give_back(self, pods: Sequence[Vector], nodes: list[int], *, later: bool) -> None:
        for node, pod in zip(nodes, pods, strict=False):
            self._take(node, -pod[GPU], later=later)
