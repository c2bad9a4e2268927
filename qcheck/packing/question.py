"""The question: classes of equal nodes, and pods of a few shapes that want to be on them at the same time.

Amounts are integers in base units (milli-cpu, bytes, devices, pods). A node that lacks a resource has 0 of it.
"""

from __future__ import annotations

from functools import cached_property

from qcheck.cluster.resources import BASIC
from qcheck.cluster.units import show_amounts
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.packing.room import VectorRoom

if TYPE_CHECKING:
    from qcheck.cluster.pods import Amounts
    from qcheck.packing.room import Room


def devices_first(resource: str) -> tuple[bool, str]:
    """An order of resources: what people count their nodes by comes first."""
    return resource in BASIC, resource


class Nodes(Value):
    """`count` nodes that are all alike: each has `free` for pods. `label` names them in messages ("h100")."""

    label: str
    free: Amounts
    count: int


class Pods(Value):
    """`count` pods that each ask `request`. `on`: the indices of the nodes they may use; None for all."""

    label: str
    request: Amounts
    count: int
    on: frozenset[int] | None = None

    def may_use(self, index: int) -> bool:
        return self.on is None or index in self.on


class Question(Value, cached=True):
    """Do all `pods` fit on `nodes` at the same time? Where whole domains are filled with gangs, `nodes` are domains."""

    nodes: tuple[Nodes, ...]
    pods: tuple[Pods, ...]
    node_word: str = "node"
    pod_word: str = "pod"

    @cached_property
    def rooms(self) -> tuple[Room, ...]:
        """Return what one node of each class can hold."""
        return tuple(self._room(i) for i in range(len(self.nodes)))

    def _room(self, index: int) -> VectorRoom:
        asked = sorted({r for p in self.pods for r, amount in p.request.items() if amount > 0}, key=devices_first)
        free = tuple(self.nodes[index].free.get(r, 0) for r in asked)
        requests = tuple(tuple(p.request.get(r, 0) for r in asked) for p in self.pods)
        allowed = tuple(p.count if p.may_use(index) else 0 for p in self.pods)
        return VectorRoom(free, requests, allowed)

    @property
    def counts(self) -> tuple[int, ...]:
        """Nodes per class."""
        return tuple(n.count for n in self.nodes)

    @property
    def wanted(self) -> tuple[int, ...]:
        """Pods per shape."""
        return tuple(p.count for p in self.pods)

    def why_no_more(self, node: int, pod: int, most: int) -> str:
        """Explain why a node holds no more than `most` pods of a shape: `nvidia.com/gpu: 7 free, 2 x 4 = 8 needed for 2`."""
        free, request = self.nodes[node].free, self.pods[pod].request
        counts = {r: free.get(r, 0) // q for r, q in request.items() if q > 0}
        scarce = min(counts, key=lambda r: (counts[r], devices_first(r)), default=None)
        if scarce is None or counts[scarce] > most:
            return ""
        has, asked, needed = show_amounts(scarce, free.get(scarce, 0), request[scarce], (most + 1) * request[scarce])
        if most == 0:
            return f"{scarce}: {has} free, {asked} asked"
        return f"{scarce}: {has} free, {most + 1} x {asked} = {needed} needed for {most + 1}"
