"""Suggestions: edits that were applied and judged, for whoever shows or writes them."""

from __future__ import annotations

from qcheck.answers.proposals import Kind
from qcheck.cluster.value import TYPE_CHECKING, Value

if TYPE_CHECKING:
    from qcheck.cluster.place import Place
    from qcheck.findings.finding import Finding
    from qcheck.findings.result import Result


class ValueEdit(Value):
    """A value as it is written in a file, quotes included, and what to write instead."""

    place: Place
    old: str
    new: str

    @property
    def file(self) -> str:
        return self.place.origin.path

    @property
    def line(self) -> int:
        return self.place.span[0]


class Alternative(Value):
    """Edits that were applied and judged: fingerprints of what they resolve and leave, the rules
    whose warnings they bring, and the sum that shows it.

    `patch` is the same as a unified diff. `proved`: no smaller edit of this kind would do.
    """

    kind: Kind
    edits: tuple[ValueEdit, ...]
    words: tuple[str, ...]
    resolves: tuple[str, ...]
    leaves: tuple[str, ...]
    brings: tuple[str, ...]
    proof: str
    proved: bool
    patch: str


class Rejected(Value):
    """An edit that suggests itself and was tried in vain, and why."""

    words: str
    why: str


class Suggestions(Value):
    """What can be done about `asked`, the findings in question, the best first; `result` is the check that found them."""

    asked: tuple[Finding, ...]
    alternatives: tuple[Alternative, ...]
    rejected: tuple[Rejected, ...]
    result: Result

    @property
    def exit_code(self) -> int:
        """0: nothing was asked about; 1: something was, whether or not it can be helped; 2: the input could not be judged."""
        return 2 if self.result.inputs.unjudged else 1 if self.asked or self.alternatives else 0
