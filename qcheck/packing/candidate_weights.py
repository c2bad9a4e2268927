"""Weights that people would try: they prove most negative answers, and are the easiest to read.

In this order: one shape alone; one resource (the usual sums, rounded to what nodes can use); slots of one size
(decisive if sizes divide each other: Coffman, Garey and Johnson 1987).
"""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.packing.question import Weights
from qcheck.packing.room import VectorRoom

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.packing.remaining import Posed

_SIZES = 12


def first_certificate(posed: Posed) -> Weights | None:
    """Return the certificate of the first of the well-known weights that proves that the pods do not fit."""
    tried: set[tuple[int, ...]] = set()
    for weights in _candidates(posed):
        if weights not in tried and any(weights):
            tried.add(weights)
            proof = weigh(posed, weights)
            if proof is not None:
                return proof
    return None


def weigh(posed: Posed, weights: tuple[int, ...]) -> Weights | None:
    """Return the certificate that `weights` give; None if they prove nothing."""
    best = [room.best(weights) if n else None for room, n in zip(posed.rooms, posed.counts, strict=True)]
    most = tuple(b.bound if b else 0 for b in best)
    wanted = sum(w * n for w, n in zip(weights, posed.wanted, strict=True))
    if wanted <= sum(m * n for m, n in zip(most, posed.counts, strict=True)):
        return None
    return Weights(weights, most, tuple(b.filling if b else (0,) * len(weights) for b in best))


def _candidates(posed: Posed) -> Iterator[tuple[int, ...]]:
    shapes = range(len(posed.wanted))
    for shape in shapes:
        if posed.wanted[shape]:
            yield tuple(int(s == shape) for s in shapes)
    for asked in _asked(posed):
        yield asked
        for size in sorted({q for q in asked if q})[:_SIZES]:
            yield tuple(q // size for q in asked)


def _asked(posed: Posed) -> list[tuple[int, ...]]:
    """Return, for each resource, what a pod of each wanted shape requests."""
    room = next((r for r in posed.rooms if isinstance(r, VectorRoom)), None)
    if room is None:
        return []
    return [
        tuple(q[r] if n else 0 for q, n in zip(room.requests, posed.wanted, strict=True)) for r in range(len(room.free))
    ]
