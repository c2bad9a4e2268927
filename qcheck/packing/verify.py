"""Verification of proofs, independent of how they were found."""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.packing.answer import Cases, Weights

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qcheck.packing.answer import Certificate, Placement
    from qcheck.packing.remaining import Posed


def witness_holds(question: Posed, witness: Iterable[Placement]) -> bool:
    """Return whether the placements use no more nodes than there are, overfill none, and place every pod."""
    used = [0] * len(question.counts)
    placed = [0] * len(question.wanted)
    for put in witness:
        if put.times < 0 or not question.rooms[put.node].holds(put.filling):
            return False
        used[put.node] += put.times
        placed = [n + put.times * more for n, more in zip(placed, put.filling, strict=True)]
    enough = all(n >= wanted for n, wanted in zip(placed, question.wanted, strict=True))
    return enough and all(n <= count for n, count in zip(used, question.counts, strict=True))


def certificate_holds(question: Posed, certificate: Certificate) -> bool:
    """Return whether the certificate proves that the pods do not fit."""
    match certificate:
        case Weights():
            return _outweighs(question, certificate)
        case Cases():
            return _covers(question, certificate)


def _outweighs(question: Posed, certificate: Weights) -> bool:
    if any(w < 0 for w in certificate.weights):
        return False
    for room, most, count in zip(question.rooms, certificate.most, question.counts, strict=True):
        if count and room.best(certificate.weights).bound > most:
            return False
    wanted = sum(w * n for w, n in zip(certificate.weights, question.wanted, strict=True))
    return wanted > sum(m * n for m, n in zip(certificate.most, question.counts, strict=True))


def _covers(question: Posed, certificate: Cases) -> bool:
    """Return whether every full filling that holds the pod has a case, and every case is closed."""
    if question.wanted[certificate.pod] <= 0:
        return False
    seen = {(case.node, case.filling) for case in certificate.cases}
    for node, room in enumerate(question.rooms):
        fillings = room.fillings(len(seen) + 1000) if question.counts[node] else []
        if fillings is None or any(f[certificate.pod] and (node, f) not in seen for f in fillings):
            return False
    from qcheck.packing.remaining import left_after  # 0.1 ms

    return all(certificate_holds(left_after(question, c.node, c.filling), c.rest) for c in certificate.cases)
