"""Node pools and nodes: the sources of capacity, and the certainty of each figure."""

from __future__ import annotations

from enum import StrEnum

from qcheck.cluster.labels import Labels, Taint
from qcheck.cluster.objects import Object
from qcheck.cluster.place import Place
from qcheck.cluster.value import Value


class Certainty(StrEnum):
    """The source of a node's figure."""

    DECLARED = "declared"
    """Stated in the repository, or read from a Node."""
    CATALOGUE = "catalogue"
    """A fact about the machine type (accelerators per machine)."""
    ESTIMATED = "estimated"
    """Derived (cpu and memory left after the provider's reservations); never the basis of an error."""


GPU_MEMORY_LABEL = "nvidia.com/gpu.memory"
"""The label that states the memory of each GPU of a node, in MiB."""
PLENTY = 2**62
"""A stand-in for an unlimited or unknown amount: larger than any request."""


def at_most(estimate: int) -> int:
    """Return the upper bound of an estimated amount: 5 % more."""
    return estimate * 21 // 20


class LabelOrigin(Value):
    """The source of a label that the pool does not declare, and whether the label exists before the node boots.

    An autoscaler that scales from zero sees only labels that exist before boot.
    """

    by: str
    before_boot: bool


class Machine(Value):
    """One machine shape that a pool may contain.

    `allocatable` is what kube-scheduler may assign per node, in base units (milli-cpu, bytes, devices); an absent
    resource is unknown if it is listed in `unknown`, else 0. `sure` gives the certainty of each figure. `physical`
    counts devices if sharing (time-slicing, MPS, MIG) advertises more or other devices than exist. The device plugin
    rejects pods that request more than one of a resource in `one_per_pod`. `capacity` is what a Node reports before any
    reservation.
    """

    instance_type: str | None
    allocatable: dict[str, int]
    sure: dict[str, Certainty]
    unknown: frozenset[str] = frozenset()
    model: str | None = None
    nvlink_domain: int | None = None
    physical: dict[str, int] | None = None
    one_per_pod: frozenset[str] = frozenset()
    labels: Labels = {}
    source: str = ""
    capacity: dict[str, int] = {}

    def whole(self, resource: str) -> int:
        """Return the machine's total amount of a resource, including devices that are currently unhealthy."""
        return max(self.allocatable.get(resource, 0), self.capacity.get(resource, 0))


class TopologyLevel(Value):
    """The domains of one level: their number (`domains`) or their size (`nodes_per_domain`), whichever is known."""

    level: str
    domains: int | None = None
    nodes_per_domain: int | None = None
    place: Place | None = None


class NodePool(Value):
    """Nodes that share one definition in the repository.

    * `minimum`, `desired`, `maximum`: node counts in total over all zones. `maximum` None: no ceiling.
      `minimum == maximum` for a fixed pool. If the count is not known (`count_unknown`), it is 0 to no ceiling.
    * `machines`: alternatives; several if the pool may use several instance types. Empty: unknown machine type.
    * `labels`: common to every node of the pool, declared or added; `added` gives the origin of those not declared.
    * `varying`: labels that every node has, with values that differ; an empty tuple means unknown values (hostname).
    * `taints`: the taints of a running node (startup taints are excluded).
    * `limits`: ceilings on the sum over all nodes, in base units (Karpenter, cluster-autoscaler).
    * `labels_unknown`, `taints_unknown`: there may be more than could be determined.
    * `why_unknown`: what could not be resolved, naming the expression or machine type; None if everything is known.
    """

    name: str
    format: str
    place: Place
    count_place: Place
    minimum: int
    desired: int | None
    maximum: int | None
    machines: tuple[Machine, ...]
    labels: Labels
    taints: tuple[Taint, ...] = ()
    added: dict[str, LabelOrigin] = {}
    varying: dict[str, tuple[str, ...]] = {}
    zones: tuple[str, ...] = ()
    spot: bool = False
    autoscaler: str | None = None
    limits: dict[str, int] = {}
    limits_place: Place | None = None
    topology: tuple[TopologyLevel, ...] = ()
    count_unknown: bool = False
    labels_unknown: bool = False
    taints_unknown: bool = False
    why_unknown: str | None = None
    unknown_place: Place | None = None
    figures: tuple[str, ...] = ()
    group_label: tuple[str, str] | None = None

    @property
    def is_autoscaled(self) -> bool:
        return self.minimum != self.maximum


class Node(Object):
    """A Node object. `allocatable` is in base units; `physical` as in `Machine`."""

    node_labels: Labels
    taints: tuple[Taint, ...]
    allocatable: dict[str, int]
    capacity: dict[str, int]
    unschedulable: bool = False
    ready: bool = True
