"""One packing question, one verified answer."""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.cluster.views import cache_of
from qcheck.packing.answer import DoesNotFit, Fits, Unknown
from qcheck.packing.greedy import place_greedily
from qcheck.packing.verify import certificate_holds, witness_holds

if TYPE_CHECKING:
    from qcheck.cluster.cluster import Cluster
    from qcheck.packing.answer import Answer
    from qcheck.packing.question import Question
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
