"""The answer to a packing question, verified independently of the search that found it."""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.cluster.views import cache_of
from qcheck.packing.greedy import place_greedily
from qcheck.packing.question import Cases, DoesNotFit, Fits, Unknown, Weights

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qcheck.cluster.cluster import Cluster
    from qcheck.packing.question import Answer, Certificate, Placement, Question
    from qcheck.packing.remaining import Posed


def solved(cluster: Cluster, asked: Question) -> Answer:
    """Return the answer to a question about a cluster, cached by question; names do not matter."""
    nodes = tuple((tuple(n.free.items()), n.count) for n in asked.nodes)
    key = (nodes, tuple((tuple(p.request.items()), p.count, p.on) for p in asked.pods))
    known = cache_of(cluster, solved)
    if key not in known:
        known[key] = solve(asked)
    found: Answer = known[key]
    return found


def solve(question: Posed) -> Answer:
    """Return whether all pods fit at once: `Fits` with a witness, `DoesNotFit` with a certificate, or `Unknown`.

    Every witness and certificate is verified here, whatever its origin; an invalid one is discarded.
    """
    answer = _found(question)
    match answer:
        case Fits() if not witness_holds(question, answer.witness):
            return Unknown("the packing that was found failed its verification")
        case DoesNotFit() if not certificate_holds(question, answer.certificate):
            return Unknown("the proof that was found failed its verification")
        case Unknown():
            return _proposed(question) or answer
    return answer


def _found(question: Posed) -> Answer:
    """Return the answer by simple rules, else that of the exact search, which few questions need."""
    witness = place_greedily(question) if any(question.wanted) else ()
    if witness is not None:
        return Fits(witness)
    from qcheck.packing.search import search  # 0.8 ms

    return search(question)


def _proposed(question: Posed) -> Fits | None:
    """Return a packing that an installed solver proposes, if it is valid."""
    from qcheck.packing.proposals import propose  # 0.1 ms

    witness = propose(question)
    return Fits(witness) if witness is not None and witness_holds(question, witness) else None


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
