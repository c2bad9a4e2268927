"""Edits that may resolve findings, as values. The code that applies an edit judges whether it does."""

from __future__ import annotations

from enum import StrEnum

from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.findings.suggestions import Kind

if TYPE_CHECKING:
    from qcheck.cluster.place import Place

    Values = tuple[tuple[Place, str], ...]


class Way(StrEnum):
    """A way to resolve findings, in the order in which ways are tried."""

    LOWER_QUOTA = "lower quotas"
    RAISE_QUOTA = "raise quotas"
    ADD_NODES = "add nodes"
    SMALLER_PODS = "smaller pods"
    FEWER_PODS = "fewer pods"
    MORE_SMALLER_PODS = "more and smaller pods"
    FREE_DEVICES = "free devices"
    LABEL = "another label"
    NAME = "another name"

    @property
    def kind(self) -> Kind:
        """Return the kind of value that it changes."""
        return KINDS[self]


KINDS = {
    Way.LOWER_QUOTA: Kind.QUOTA,
    Way.RAISE_QUOTA: Kind.QUOTA,
    Way.ADD_NODES: Kind.NODES,
    Way.SMALLER_PODS: Kind.SHAPE,
    Way.FEWER_PODS: Kind.SHAPE,
    Way.MORE_SMALLER_PODS: Kind.SHAPE,
    Way.FREE_DEVICES: Kind.DAEMON_SET,
    Way.LABEL: Kind.LABEL,
    Way.NAME: Kind.NAME,
}


class Proposal(Value):
    """New values at some places, and their effect in words.

    `proved`: no smaller edit of this kind works. `objection`: why it is known not to work without a trial.
    """

    way: Way
    values: Values
    words: str
    proved: bool = True
    objection: str = ""
