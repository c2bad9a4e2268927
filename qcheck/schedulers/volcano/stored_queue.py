"""Queues as stored by the API server, and the conditions that Volcano's webhook checks."""

from __future__ import annotations

from enum import Enum

from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.cluster.volcano import ROOT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qcheck.cluster.quantity import Quantity

    Quantities = Mapping[str, Quantity]


class Check(Enum):
    """The conditions of the webhook. The value is the id under which a rejection is reported."""

    QUANTITY = "VQ-W01"
    GUARANTEE_WITHOUT_DESERVED = "VQ-W02"
    DESERVED_BELOW_GUARANTEE = "VQ-W03"
    DESERVED_ABOVE_CAPABILITY = "VQ-W04"
    STATE = "VQ-W05"
    HIERARCHY_ANNOTATIONS = "VQ-W06"
    PARENT_IS_SELF = "VQ-W07"
    DEPTH = "VQ-W08"
    PARENT_MISSING = "VQ-W09"
    PARENT_HAS_PODS = "VQ-W10"
    CAPABILITY_ABOVE_ANCESTOR = "VQ-W11"
    CHILDREN_ABOVE_PARENT = "VQ-W12"
    CAPABILITY_BELOW_DESCENDANT = "VQ-W13"
    ROOT_CHANGED = "VQ-W14"
    DELETED = "VQ-W15"


class StoredQueue(Value):
    """A queue as the webhook sees it; `pods` is the number of its allocated pods."""

    name: str
    parent: str = ""
    capability: Quantities = {}
    deserved: Quantities = {}
    guarantee: Quantities = {}
    annotations: Mapping[str, str] = {}
    state: str = ""
    pods: int = 0

    @property
    def is_below_another(self) -> bool:
        """Return whether it has a parent whose amounts bound it; `root` has none."""
        return self.parent not in ("", ROOT)


class Violation(Value):
    """One condition that a queue violates. `other` is the queue that it conflicts with.

    For an amount, `field` and `resource` name it; `found` is too large and `bound` is the maximum, in base units.
    """

    check: Check
    queue: str
    field: str = ""
    resource: str = ""
    other: str = ""
    found: int = 0
    bound: int = 0
