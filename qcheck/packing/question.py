"""The packing question and its three possible answers; two of them include a proof.

The question: classes of equal nodes, and pods of a few shapes to be placed on them at the same time. Amounts are
integers in base units (milli-cpu, bytes, devices, pods). A resource that a node lacks counts as 0.
"""

from __future__ import annotations

from functools import cached_property

from qcheck.cluster.resources import BASIC
from qcheck.cluster.units import show_amounts
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.packing.room import Filling, VectorRoom

if TYPE_CHECKING:
    from qcheck.cluster.pods import Amounts
    from qcheck.packing.room import Room


def devices_first(resource: str) -> tuple[bool, str]:
    """Return a sort key for resources: devices, by which people count their nodes, come first."""
    return resource in BASIC, resource


class Nodes(Value):
    """`count` equal nodes, each with `free` for pods. `label` names them in messages ("h100")."""

    label: str
    free: Amounts
    count: int


class Pods(Value):
    """`count` pods that each request `request`. `on`: the indices of the nodes that they may use; None for all."""

    label: str
    request: Amounts
    count: int
    on: frozenset[int] | None = None

    def may_use(self, index: int) -> bool:
        return self.on is None or index in self.on


class Question(Value, cached=True):
    """The question whether all `pods` fit on `nodes` at once. For gangs that fill domains, `nodes` are domains."""

    nodes: tuple[Nodes, ...]
    pods: tuple[Pods, ...]
    node_word: str = "node"
    pod_word: str = "pod"

    @cached_property
    def rooms(self) -> tuple[Room, ...]:
        """The capacity of one node of each class."""
        asked = sorted({r for p in self.pods for r, amount in p.request.items() if amount > 0}, key=devices_first)
        requests = tuple(tuple(p.request.get(r, 0) for r in asked) for p in self.pods)
        return tuple(
            VectorRoom(
                tuple([nodes.free.get(r, 0) for r in asked]),
                requests,
                tuple([p.count if p.may_use(i) else 0 for p in self.pods]),
            )
            for i, nodes in enumerate(self.nodes)
        )

    @property
    def counts(self) -> tuple[int, ...]:
        """The number of nodes of each class."""
        return tuple(n.count for n in self.nodes)

    @property
    def wanted(self) -> tuple[int, ...]:
        """The number of pods of each shape."""
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


class Placement(Value):
    """`times` nodes of class `node` (an index), each filled with the same pods."""

    node: int
    filling: Filling
    times: int


class Fits(Value):
    """All pods can be placed: `witness` is a verified placement."""

    witness: tuple[Placement, ...]


class Weights(Value):
    """A proof that pods do not fit: each shape's pods have a weight, and a node of class c holds at most `most[c]`.

    The sum of the weights wanted exceeds the sum over all classes of nodes x most. `example` is a filling that reaches
    `most`, if one was found.
    """

    weights: tuple[int, ...]
    most: tuple[int, ...]
    example: tuple[Filling, ...]


class Case(Value):
    """One way to fill a node that holds the pod in question, and the reason why the rest does not fit."""

    node: int
    filling: Filling
    rest: Certificate


class Cases(Value):
    """A proof by cases: a pod of shape `pod` must be on some node, but beside no filling with it does the rest fit."""

    pod: int
    cases: tuple[Case, ...]


Certificate = Weights | Cases


class DoesNotFit(Value):
    """The pods cannot all be placed: `certificate` proves it in integers."""

    certificate: Certificate


class Unknown(Value):
    """The search ended at its limit without an answer. Never a finding."""

    why: str


Answer = Fits | DoesNotFit | Unknown
