"""A certificate as sentences that can be checked by hand."""

from __future__ import annotations

from qcheck.cluster.units import scale_of
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.packing.question import Cases, Weights
from qcheck.packing.remaining import left_after

if TYPE_CHECKING:
    from typing import Protocol

    from qcheck.packing.question import Certificate, Nodes, Pods
    from qcheck.packing.remaining import Posed
    from qcheck.packing.room import Filling

    class Named(Posed, Protocol):
        """A question whose rooms and shapes have names."""

        @property
        def nodes(self) -> tuple[Nodes, ...]: ...

        @property
        def pods(self) -> tuple[Pods, ...]: ...

        @property
        def node_word(self) -> str: ...

        @property
        def pod_word(self) -> str: ...

        def why_no_more(self, node: int, pod: int, most: int) -> str:
            """Return why a node holds `most` pods of a shape and no more; "" if there is nothing to add."""
            ...


def explain(question: Named, certificate: Certificate) -> str:
    """Return why the pods of `question` do not fit, with every sum."""
    return _Words(question).certificate(question, certificate)


class _Words:
    def __init__(self, question: Named) -> None:
        self._question = question

    def certificate(self, posed: Posed, certificate: Certificate) -> str:
        if isinstance(certificate, Cases):
            return self._cases(posed, certificate)
        if sum(certificate.weights) == max(certificate.weights) == 1:
            return self._one_shape(posed, certificate, certificate.weights.index(1))
        resource = self._resource(posed, certificate)
        return self._resource_sum(posed, certificate, resource) if resource else self._weighted(posed, certificate)

    def _cases(self, posed: Posed, proof: Cases) -> str:
        pod, word = self._question.pods[proof.pod].label, self._question.node_word
        cases = [
            f"({i}) {self._question.nodes[c.node].label} with {self._filling(c.filling)}: then "
            + self.certificate(left_after(posed, c.node, c.filling), c.rest)
            for i, c in enumerate(proof.cases, 1)
        ]
        return f"some {word} must hold a {pod} {self._question.pod_word}; when it is full, it is one of: " + "; ".join(
            cases
        )

    def _one_shape(self, posed: Posed, proof: Weights, shape: int) -> str:
        pods, pod = self._question.pods[shape], self._question.pod_word
        wanted, room = posed.wanted[shape], self._room(posed, proof)
        alike: dict[str, list[int]] = {}
        for node, count in enumerate(posed.counts):
            if count:
                alike.setdefault(self._at_most(node, shape, proof.most[node], count), []).append(node)
        held = [self._they_hold(posed, nodes, most) for most, nodes in alike.items()]
        where = ", ".join(held) or f"there is no {self._question.node_word}"
        return f"{where}: room for {room} {_many(room, f'{pods.label} {pod}')}, {wanted} {_are(wanted)} needed"

    def _they_hold(self, posed: Posed, nodes: list[int], most: str) -> str:
        """Return `8 nodes of a, 4 of b and 4 of c hold at most 1 each`, for classes that share a bound."""
        first, *more = [(posed.counts[n], self._question.nodes[n].label) for n in nodes]
        shown = [f"{first[0]} {_many(first[0], self._question.node_word)} of {first[1]}"]
        shown += [f"{count} of {label}" for count, label in more]
        one = not more and first[0] == 1
        return f"{' and '.join([*([', '.join(shown[:-1])] if more else []), shown[-1]])} {'holds' if one else 'hold'} {most}"

    def _at_most(self, node: int, shape: int, most: int, count: int) -> str:
        each = "" if count == 1 else " each"
        if not self._question.pods[shape].may_use(node):
            return "none (not eligible)"
        reason = self._question.why_no_more(node, shape, most)
        shown = f"at most {most}{each}" if most else "none"
        return f"{shown} ({reason})" if reason else shown

    def _resource(self, posed: Posed, proof: Weights) -> str | None:
        """Return the resource whose requests are the weights, if there is one."""
        pods = self._question.pods
        named = sorted({r for p in pods for r in p.request})
        for resource in named:
            asked = [p.request.get(resource, 0) if n else 0 for p, n in zip(pods, posed.wanted, strict=True)]
            if asked == list(proof.weights):
                return resource
        return None

    def _resource_sum(self, posed: Posed, proof: Weights, resource: str) -> str:
        total, room = _weight(proof, posed.wanted), self._room(posed, proof)
        scale = scale_of(resource, (*proof.weights, *proof.most, total, room))
        asked = [
            f"{n} x {scale(w)} ({p.label})"
            for p, n, w in zip(self._question.pods, posed.wanted, proof.weights, strict=True)
            if n and w
        ]
        given = [
            f"{self._nodes(c, n)} can supply at most {scale(proof.most[c])}{'' if n == 1 else ' each'}"
            for c, n in enumerate(posed.counts)
            if n
        ]
        return f"{' + '.join(asked)} = {scale.name(total)} are needed, but {', '.join(given)}: {scale(room)}"

    def _weighted(self, posed: Posed, proof: Weights) -> str:
        worth = [
            f"{p.label} as {w}"
            for p, n, w in zip(self._question.pods, posed.wanted, proof.weights, strict=True)
            if w and n
        ]
        carried = [
            f"{self._nodes(c, n)} {'carries' if n == 1 else 'carry'} at most {proof.most[c]}{'' if n == 1 else ' each'}"
            + (f" (for example {self._filling(proof.example[c])})" if any(proof.example[c]) else "")
            for c, n in enumerate(posed.counts)
            if n
        ]
        wanted = [f"{n} x {w}" for n, w in zip(posed.wanted, proof.weights, strict=True) if n and w]
        return (
            f"count each {', each '.join(worth)}: {', '.join(carried)}, {self._room(posed, proof)} in total; "
            f"needed {' + '.join(wanted)} = {_weight(proof, posed.wanted)}"
        )

    def _room(self, posed: Posed, proof: Weights) -> int:
        return sum(m * n for m, n in zip(proof.most, posed.counts, strict=True))

    def _nodes(self, node: int, count: int) -> str:
        return f"{count} {_many(count, self._question.node_word)} of {self._question.nodes[node].label}"

    def _filling(self, filling: Filling) -> str:
        return " + ".join(f"{n} {p.label}" for n, p in zip(filling, self._question.pods, strict=True) if n)


def _weight(proof: Weights, wanted: tuple[int, ...]) -> int:
    return sum(w * n for w, n in zip(proof.weights, wanted, strict=True))


def _many(count: int, word: str) -> str:
    return word if count == 1 else f"{word}s"


def _are(count: int) -> str:
    return "is" if count == 1 else "are"
