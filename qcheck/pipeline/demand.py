"""Reading of what queues want (`--demand`) and what they consumed (`--usage`)."""

from __future__ import annotations

from fractions import Fraction

from qcheck.answers.question import QuestionError
from qcheck.cluster.quantity import NANO, Quantity
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.pipeline.question_file import Amount, FormatVersion, QuestionPart, at, read_question
from qcheck.quota.shares import Demand, Usage

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qcheck.documents.document import Document


class DemandFilePart(QuestionPart):
    """Amounts by queue and resource."""

    version: FormatVersion
    queues: dict[str, dict[str, Amount]]


class NamedQueues:
    """The queues that a file names, to be compared with those that exist."""

    def __init__(self, document: Document, names: Iterable[str]) -> None:
        self._document = document
        self._names = tuple(names)

    def check(self, known: set[str]) -> None:
        """Raise `QuestionError` for names of unknown queues."""
        there = ", ".join(sorted(known)) or "none"
        unknown = [name for name in self._names if name not in known]
        if unknown:
            messages = {name: f"there is no queue {name!r}; there are: {there}" for name in unknown}
            raise QuestionError([at(self._document, ("queues", name), m) for name, m in messages.items()])


def read_demand(path: str) -> tuple[Demand, NamedQueues]:
    """Return what queues want, in base units; queues that are not listed want nothing. Raises `QuestionError`."""
    document, part = read_question(path, DemandFilePart)
    wanted: dict[str, dict[str, int | Fraction | None]] = {
        name: {r: _exactly(r, q) for r, q in amounts.items() if isinstance(q, Quantity)}
        for name, amounts in part.queues.items()
    }
    return Demand(wanted), NamedQueues(document, part.queues)


def _exactly(resource: str, quantity: Quantity) -> int | Fraction:
    """Return exact base units; fractions of a device, which KAI assigns, are kept."""
    exact = Fraction(quantity.nanos, NANO) * (1000 if resource == "cpu" else 1)
    return int(exact) if exact.denominator == 1 else exact


def read_usage(path: str) -> tuple[Usage, NamedQueues]:
    """Return what queues consumed, exactly as written. Raises `QuestionError`."""
    document, part = read_question(path, DemandFilePart)
    consumed = {
        name: {r: Fraction(q.nanos, NANO) for r, q in amounts.items() if isinstance(q, Quantity)}
        for name, amounts in part.queues.items()
    }
    return Usage(consumed, is_given=True), NamedQueues(document, part.queues)
