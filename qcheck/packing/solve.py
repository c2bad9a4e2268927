"""One question, one verified answer."""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.packing.answer import DoesNotFit, Fits, Unknown
from qcheck.packing.proposals import propose
from qcheck.packing.search import search
from qcheck.packing.verify import certificate_holds, witness_holds

if TYPE_CHECKING:
    from qcheck.packing.answer import Answer
    from qcheck.packing.remaining import Posed


def solve(question: Posed) -> Answer:
    """Whether all pods fit at once: `Fits` with a witness, `DoesNotFit` with a certificate, or `Unknown`.

    Witness and certificate are checked again here, whoever found them; one that does not hold is not passed on.
    """
    answer = search(question)
    match answer:
        case Fits() if not witness_holds(question, answer.witness):
            return Unknown("a packing was found that did not stand up to checking")
        case DoesNotFit() if not certificate_holds(question, answer.certificate):
            return Unknown("a proof was found that did not stand up to checking")
        case Unknown():
            return _proposed(question) or answer
    return answer


def _proposed(question: Posed) -> Fits | None:
    """A packing that an installed solver proposes, if it holds."""
    witness = propose(question)
    return Fits(witness) if witness is not None and witness_holds(question, witness) else None
