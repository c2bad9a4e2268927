"""Node pools and nodes: where capacity comes from, and how sure each figure is."""

from __future__ import annotations

from enum import StrEnum

from qcheck.cluster.labels import Labels, Taint
from qcheck.cluster.objects import Object
from qcheck.cluster.place import Place
from qcheck.cluster.value import Value


class Certainty(StrEnum):
    """The source of a figure of a node."""

    DECLARED = "declared"
    """Written down in the repository, or read from a Node."""
    CATALOGUE = "catalogue"
    """A fact of the machine type (accelerators per machine)."""
    ESTIMATED = "estimated"
    """Derived (cpu and memory left after the provider's reservations); never the base of an error."""


PLENTY = 2**62
"""An amount that nothing asked for exceeds, where there is no bound or none is known."""


def at_most(estimate: int) -> int:
    """Return what an estimated amount may turn out to be: up to 5 % more."""
    return estimate * 21 // 20


class LabelOrigin(Value):
    """The origin of a label that the pool does not declare, and whether it exists before the node boots.

    An autoscaler that scales from zero knows only labels that exist before boot.
    """

    by: str
    before_boot: bool


class Machine(Value):
    """One shape of node that a pool may consist of.

    `allocatable` is what kube-scheduler may hand out per node, in base units (milli-cpu, bytes, devices); a resource
    that is absent is unknown if it is in `unknown`, else 0. `sure` says how each figure is known. `physical` counts
    devices where sharing (time-slicing, MPS, MIG) advertises more or other ones than exist. `capacity` is what a Node
    reports before anything is held back.
    """

    instance_type: str | None
    allocatable: dict[str, int]
    sure: dict[str, Certainty]
    unknown: frozenset[str] = frozenset()
    model: str | None = None
    nvlink_domain: int | None = None
    physical: dict[str, int] | None = None
    labels: Labels = {}
    source: str = ""
    capacity: dict[str, int] = {}

    def whole(self, resource: str) -> int:
        """Return what the machine has of a resource, devices that are unhealthy now included."""
        return max(self.allocatable.get(resource, 0), self.capacity.get(resource, 0))


class TopologyLevel(Value):
    """The domains of one level: their number in total (`domains`) or their size (`nodes_per_domain`), whichever is known."""

    level: str
    domains: int | None = None
    nodes_per_domain: int | None = None
    place: Place | None = None


class NodePool(Value):
    """Nodes of one definition, in one place of the repository.

    * `minimum`, `desired`, `maximum`: node counts in total over all zones. `maximum` None: no ceiling.
      `minimum == maximum` for a fixed pool. Where the count is not known (`count_unknown`), it is 0..no ceiling.
    * `machines`: the alternatives; more than one when several instance types may come. Empty: unknown machine type.
    * `labels`: the same on every node of the pool, declared and added; `added` tells the origin of those not declared.
    * `varying`: labels that every node has, with values that differ; an empty tuple means values unknown (hostname).
    * `taints`: those a running node carries (startup taints are left out).
    * `limits`: ceilings on the sum over all nodes, in base units (Karpenter, cluster-autoscaler).
    * `labels_unknown`, `taints_unknown`: there may be more of them than could be told.
    * `why_unknown`: what could not be resolved, naming the expression or machine type; None when all is known.
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
    """A node as a dump shows it. `allocatable` in base units; `physical` as in `Machine`."""

    node_labels: Labels
    taints: tuple[Taint, ...]
    allocatable: dict[str, int]
    capacity: dict[str, int]
    unschedulable: bool = False
    ready: bool = True
