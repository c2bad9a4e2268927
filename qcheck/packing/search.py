"""The exact search for questions that simple rules and the relaxation leave undecided.

It takes a pod that is hard to place and tries every full filling of a node that holds it: a filling that leads to a
packing gives a witness; if none does, the cases together are the proof. Both the work and the length of a proof are
bounded, because nobody can check an endless proof.
"""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.packing.candidate_weights import first_certificate
from qcheck.packing.greedy import place_greedily
from qcheck.packing.linear import relax
from qcheck.packing.question import Case, Cases, DoesNotFit, Fits, Placement, Unknown
from qcheck.packing.remaining import left_after

if TYPE_CHECKING:
    from qcheck.packing.linear import FractionalFilling
    from qcheck.packing.question import Answer, Certificate
    from qcheck.packing.remaining import Posed
    from qcheck.packing.room import Filling

LONGEST_PROOF = 12
_VISITS = 60
_FILLINGS = 400


def search(posed: Posed) -> Answer:
    """Decide a question that simple rules leave undecided; the witness or certificate is not yet verified."""
    return _CaseSearch().search(posed)


def settle(posed: Posed) -> Answer | tuple[FractionalFilling, ...]:
    """Return the answer if it needs no case distinction; else the fractional packing."""
    proof = first_certificate(posed)
    if proof is not None:
        return DoesNotFit(proof)
    relaxed = relax(posed)
    if relaxed.certificate is not None:
        return DoesNotFit(relaxed.certificate)
    return relaxed.parts or ()


class _CaseSearch:
    def __init__(self) -> None:
        self._visits = 1

    def decide(self, posed: Posed) -> Answer:
        self._visits += 1
        witness = place_greedily(posed) if any(posed.wanted) else ()
        return self.search(posed) if witness is None else Fits(witness)

    def search(self, posed: Posed) -> Answer:
        first = settle(posed)
        if not isinstance(first, tuple):
            return first
        rounded = self._rounded(posed, first)
        if rounded is not None:
            return Fits(rounded)
        return self._branch(posed)

    def _rounded(self, posed: Posed, parts: tuple[FractionalFilling, ...]) -> tuple[Placement, ...] | None:
        """Round the fractional packing down to whole nodes and place the rest by simple rules; None if that fails."""
        whole = [Placement(p.node, p.filling, p.above // p.below) for p in parts if p.above >= p.below]
        rest: Posed = posed
        for put in whole:
            rest = left_after(rest, put.node, put.filling, put.times)
        if not whole:
            return None
        others = () if not any(rest.wanted) else place_greedily(rest)
        return None if others is None else (*whole, *others)

    def _branch(self, posed: Posed) -> Answer:
        ways = self._ways(posed)
        if ways is None:
            return Unknown("a node can be filled in too many ways to try all of them")
        pod, options = ways
        cases: list[Case] = []
        for node, filling in options:
            if self._visits > _VISITS:
                return Unknown("the search was cut short")
            answer = self.decide(left_after(posed, node, filling))
            match answer:
                case Fits():
                    return Fits((Placement(node, filling, 1), *answer.witness))
                case DoesNotFit():
                    cases.append(Case(node, filling, answer.certificate))
                case _:
                    return answer
        proof = Cases(pod, tuple(cases))
        if length(proof) > LONGEST_PROOF:
            return Unknown("no packing was found, but the proof that there is none is too long to print")
        return DoesNotFit(proof)

    def _ways(self, posed: Posed) -> tuple[int, list[tuple[int, Filling]]] | None:
        """Return the wanted shape with the fewest full fillings that hold it, and those fillings by class."""
        full: list[tuple[int, Filling]] = []
        for node, (room, count) in enumerate(zip(posed.rooms, posed.counts, strict=True)):
            found = room.fillings(_FILLINGS) if count else []
            if found is None:
                return None
            full += [(node, f) for f in found]
        shapes = [s for s, wanted in enumerate(posed.wanted) if wanted]
        by_shape = {s: [(n, f) for n, f in full if f[s]] for s in shapes}
        pod = min(shapes, key=lambda s: (len(by_shape[s]), s))
        options = sorted(by_shape[pod], key=lambda way: (-way[1][pod], way[0], tuple(-n for n in way[1])))
        return pod, options


def length(proof: Certificate) -> int:
    """Return the number of sums that a reader has to check."""
    return sum(length(c.rest) for c in proof.cases) if isinstance(proof, Cases) else 1
