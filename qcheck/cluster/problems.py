"""Problems found while reading, and inputs that were not read: facts for the rules of family QC0."""

from __future__ import annotations

from enum import StrEnum

from qcheck.cluster.objects import ObjectId
from qcheck.cluster.place import Place
from qcheck.cluster.value import TYPE_CHECKING, Value

if TYPE_CHECKING:
    from qcheck.cluster.edits import Fix

    Data = dict[str, str | int | bool | None]

NODES = "Node"
"""The kind that represents nodes and node pools, in whatever format."""
QUOTA_KINDS = ("ClusterQueue", "Cohort", "ResourceFlavor")
"""Kinds of which another object could let a queue admit more."""
QUEUE_KINDS = frozenset(
    {
        "ClusterQueue",
        "LocalQueue",
        "ResourceFlavor",
        "Cohort",
        "WorkloadPriorityClass",
        "Topology",
        "AdmissionCheck",
        "Queue",
    }
)
"""The kinds that a chart or module of queues may define."""


class ProblemCode(StrEnum):
    """The kind of a problem: usually the kebab-case name of the rule that reports it."""

    YAML_SYNTAX = "yaml-syntax"
    LIMIT = "limit"
    NOT_TEXT = "not-text"
    DUPLICATE_KEY = "duplicate-key"
    API_REJECTED = "api-rejected"
    UNKNOWN_FIELD = "unknown-field"
    API_VERSION_GONE = "api-version-gone"
    API_VERSION_DEPRECATED = "api-version-deprecated"
    QUANTITY_SUSPICIOUS = "quantity-suspicious"
    QUANTITY_NOT_CANONICAL = "quantity-not-canonical"
    TEMPLATE_NOT_RENDERED = "template-not-rendered"
    SETTINGS_MATCH_NOTHING = "settings-match-nothing"
    DUPLICATE_OBJECT = "duplicate-object"
    CAPACITY_UNKNOWN = "capacity-unknown"
    NODES_ELSEWHERE = "nodes-elsewhere"
    QUEUES_ELSEWHERE = "queues-elsewhere"
    REQUESTS_INVALID = "requests-invalid"
    CONFIGURATION_REJECTED = "configuration-rejected"
    KAI_TOPOLOGY_INVALID = "kai-topology-invalid"
    VOLCANO_HYPERNODE_INVALID = "volcano-hypernode-invalid"


class Problem(Value):
    """A problem found while reading or decoding.

    `object` is None if the object could not be identified; `certain` is False if unread inputs could change the answer.
    """

    code: ProblemCode
    place: Place
    message: str
    help: str = ""
    object: ObjectId | None = None
    related: tuple[Place, ...] = ()
    data: Data = {}
    fixes: tuple[Fix, ...] = ()
    certain: bool = True


class Unread(Value):
    """An input that was not read. `kinds`: the kinds of objects that it may define; None means any kind.

    `place` is where it is referenced, None for a whole file; `what` names it if no other finding does.
    """

    path: str
    kinds: frozenset[str] | None = None
    place: Place | None = None
    what: str = ""

    def may_define(self, kind: str) -> bool:
        """Return whether the input may contain an object of the kind."""
        return self.kinds is None or kind in self.kinds
