"""Suggestions: edits that were applied and judged, for display or for writing to files."""

from __future__ import annotations

from enum import StrEnum

from qcheck.cluster.value import TYPE_CHECKING, Value

if TYPE_CHECKING:
    from qcheck.cluster.place import Place
    from qcheck.findings.finding import Finding


class Kind(StrEnum):
    """The kind of value that an alternative changes."""

    QUOTA = "quota"
    NODES = "nodes"
    DAEMON_SET = "daemonset"
    SHAPE = "shape"
    LABEL = "label"
    NAME = "name"


class ValueEdit(Value):
    """A value as written in a file, quotes included, and its replacement. `text` is the replacement without quotes."""

    place: Place
    old: str
    new: str
    text: str

    @property
    def file(self) -> str:
        return self.place.origin.path

    @property
    def line(self) -> int:
        return self.place.span[0]


class Step(Value):
    """One change of an alternative in words, with its edits. `resolves`: the findings that it alone resolves."""

    words: str
    edits: tuple[ValueEdit, ...]
    resolves: tuple[str, ...] = ()


class Alternative(Value):
    """Edits that were applied and judged.

    `resolves` and `leaves` are fingerprints of findings; `brings` are the rules whose warnings the edits introduce;
    `uncovers` are errors, one line each, that existed before the edits but that another finding hid.
    `proof` is the sum that shows it. `patch` is the edits as a unified diff. `proved`: no smaller edit of this kind
    works.
    """

    kind: Kind
    steps: tuple[Step, ...]
    edits: tuple[ValueEdit, ...]
    resolves: tuple[str, ...]
    leaves: tuple[str, ...]
    brings: tuple[str, ...]
    uncovers: tuple[str, ...]
    proof: str
    proved: bool
    patch: str

    @property
    def words(self) -> str:
        """The changes in one line."""
        return "; ".join(step.words for step in self.steps)


class Rejected(Value):
    """An obvious edit that was tried and rejected, with the reason."""

    words: str
    why: str


class Suggestions(Value):
    """Alternatives that resolve the findings in `asked`, best first. `stopped`: why the search ended early."""

    asked: tuple[Finding, ...]
    alternatives: tuple[Alternative, ...]
    rejected: tuple[Rejected, ...] = ()
    stopped: str = ""
