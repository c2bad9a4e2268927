"""The three answers, and the proofs that come with two of them."""

from __future__ import annotations

from qcheck.cluster.value import Value
from qcheck.packing.room import Filling


class Placement(Value):
    """`times` nodes of class `node` (an index), each filled with the same pods."""

    node: int
    filling: Filling
    times: int


class Fits(Value):
    """All pods can be placed: `witness` is a verified placement."""

    witness: tuple[Placement, ...]


class Weights(Value):
    """A proof that pods do not fit: a pod of each shape has a weight, and no node of class c can hold more than `most[c]`.

    Sum of weights wanted > sum over classes of nodes x most. `example` is a filling that reaches `most` where one was
    found.
    """

    weights: tuple[int, ...]
    most: tuple[int, ...]
    example: tuple[Filling, ...]


class Case(Value):
    """One of the ways to fill a node that holds the pod in question, and the reason why the rest does not fit."""

    node: int
    filling: Filling
    rest: Certificate


class Cases(Value):
    """A pod of shape `pod` must be on some node; however that node is filled up, the rest does not fit."""

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
