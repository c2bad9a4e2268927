"""The three possible answers, and the proofs for two of them."""

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
