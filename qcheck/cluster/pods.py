"""Pod templates: the requests of a pod, its constraints on nodes, and the arithmetic of its resources.

Source of the arithmetic: k8s.io/component-helpers `resource`, as Kueue and kube-scheduler both use it.
"""

from __future__ import annotations

from functools import cached_property

from qcheck.cluster.labels import NodeSelection, Toleration
from qcheck.cluster.place import Place
from qcheck.cluster.quantity import Quantity
from qcheck.cluster.value import TYPE_CHECKING, Value

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping

Quantities = dict[str, Quantity]
Amounts = dict[str, int]
"""Amounts in base units (milli-cpu, bytes, devices, pods) by resource name."""

NEVER_PREEMPTS = "Never"
"""The preemption policy of pods that wait and never preempt others."""
POD_LEVEL = ("cpu", "memory")
"""The resources that pod-level `spec.resources` covers, besides hugepages."""


class Container(Value):
    """A container with its requests and limits as written; `is_sidecar`: an init container that keeps running."""

    name: str
    place: Place
    requests: Quantities
    limits: Quantities
    is_sidecar: bool = False

    @property
    def ask(self) -> Hashable:
        """Return the requests as a comparable value."""
        return exactly(self.requests), exactly(self.limits), self.is_sidecar

    def effective_requests(self) -> Quantities:
        """Return the requests, with the limit used for each resource without a request."""
        return {**self.limits, **self.requests}


class Injected(Value):
    """A container that an operator adds to the pods and that is in no manifest; Kueue counts it from release 0.`since`.

    With `is_floor` no container is added: the pod's first container then requests at least this.
    """

    since: int
    container: Container
    is_floor: bool = False


class HostPort(Value):
    """A node port that a container uses; pods with the same port cannot share a node. Without `ip`: all addresses."""

    protocol: str
    port: int
    ip: str = ""

    def clashes(self, other: HostPort) -> bool:
        same = (self.protocol, self.port) == (other.protocol, other.port)
        return same and (not self.ip or not other.ip or self.ip == other.ip)

    def __str__(self) -> str:
        return f"{self.protocol} {self.ip}{':' if self.ip else ''}{self.port}"


class Spread(Value):
    """A topologySpreadConstraint with DoNotSchedule. `counts_own`: its selector matches the pods' own labels.

    `is_plain`: the options that decide which nodes and pods count have their defaults, so nothing else affects the
    result.
    """

    key: str
    max_skew: int
    minimum_domains: int | None
    counts_own: bool
    is_plain: bool
    place: Place

    @property
    def ask(self) -> Hashable:
        """Return the constraint as a comparable value."""
        return self.key, self.max_skew, self.minimum_domains, self.counts_own, self.is_plain


class DevicePart(Value):
    """A part of each of some devices; pods with the same part can share a device.

    The part is a `share` above 0 and below 1, or `memory` in MiB.
    """

    resource: str
    devices: int
    place: Place
    share: float = 0.0
    memory: int = 0

    @property
    def ask(self) -> Hashable:
        """Return the part as a comparable value."""
        return self.resource, self.devices, self.share, self.memory


class PodTemplate(Value, cached=True):
    """The parts of a pod (template) that admission, scheduling and eviction use. `place` is the pod's `spec`.

    `is_wrapped`: Kueue sees it through an AppWrapper, which does not pass on the sidecar property of init containers,
    the RuntimeClass or pod-level resources.
    """

    place: Place
    labels: dict[str, str]
    annotations: dict[str, str]
    metadata_place: Place
    selection: NodeSelection
    tolerations: tuple[Toleration, ...]
    containers: tuple[Container, ...]
    init_containers: tuple[Container, ...] = ()
    overhead: Quantities = {}
    pod_requests: Quantities = {}
    pod_limits: Quantities = {}
    has_pod_resources: bool = False
    runtime_class: str | None = None
    priority_class: str | None = None
    priority: int | None = None
    preemption_policy: str | None = None
    termination_grace_seconds: int | None = None
    node_name: str | None = None
    host_network: bool = False
    scheduling_gates: tuple[str, ...] = ()
    claim_templates: tuple[str, ...] = ()
    claims: tuple[str, ...] = ()
    one_per_node: bool = False
    has_pod_affinity: bool = False
    injected: tuple[Injected, ...] = ()
    scheduler_name: str | None = None
    host_ports: tuple[HostPort, ...] = ()
    spreads: tuple[Spread, ...] = ()
    is_wrapped: bool = False
    device_part: DevicePart | None = None

    @cached_property
    def ask(self) -> Hashable:
        """Everything that admission, scheduling and eviction depend on, as a comparable value.

        Pods with equal values get equal results. Only places, labels and annotations are omitted.
        """
        return (
            self.selection.ask,
            tuple([t.ask for t in self.tolerations]),
            tuple([c.ask for c in self.containers]),
            tuple([c.ask for c in self.init_containers]),
            tuple([(i.since, i.is_floor, i.container.ask) for i in self.injected]),
            (exactly(self.overhead), exactly(self.pod_requests), exactly(self.pod_limits)),
            (self.scheduler_name, self.has_pod_resources, self.runtime_class, self.node_name, self.host_network),
            (self.priority_class, self.priority, self.preemption_policy, self.termination_grace_seconds),
            (self.scheduling_gates, self.claim_templates, self.claims, self.one_per_node, self.has_pod_affinity),
            tuple(map(str, self.host_ports)),
            tuple([s.ask for s in self.spreads]),
            self.is_wrapped,
            self.device_part and self.device_part.ask,
        )

    def requests(self) -> Quantities:
        """Return one pod's requests: those of its containers or its largest initialisation need, whichever is larger.

        Sidecars declared before an init container run beside it. Pod-level requests override cpu, memory and hugepages.
        Overhead is added. The result is exact; `amounts` rounds it to base units.
        """
        running: Quantities = {}
        for container in (*self.containers, *(c for c in self.init_containers if c.is_sidecar)):
            running = add(running, container.effective_requests())
        beside: Quantities = {}
        for container in self.init_containers:
            if container.is_sidecar:
                beside = add(beside, container.effective_requests())
                running = larger(running, beside)
            else:
                running = larger(running, add(beside, container.effective_requests()))
        for resource, quantity in {**self.pod_limits, **self.pod_requests}.items():
            if resource in POD_LEVEL or resource.startswith("hugepages-"):
                running[resource] = quantity
        return add(running, self.overhead)

    def amounts(self) -> Amounts:
        """Return `requests` in base units, rounded up per pod; zero amounts are kept."""
        return in_base_units(self.requests())

    def all_containers(self) -> Iterable[Container]:
        return (*self.init_containers, *self.containers)

    def place_of(self, resource: str) -> Place:
        """Return the place that first requests or limits `resource`; the template itself if there is none."""
        for container in (*self.containers, *self.init_containers):
            for side, written in (("requests", container.requests), ("limits", container.limits)):
                if resource in written:
                    return container.place.at("resources", side, resource)
        return self.place


def add(left: Mapping[str, Quantity], right: Mapping[str, Quantity]) -> Quantities:
    """Return the sum, resource by resource."""
    total = dict(left)
    for resource, quantity in right.items():
        total[resource] = (
            Quantity(total[resource].nanos + quantity.nanos, quantity.family, "") if (resource in total) else quantity
        )
    return total


def larger(left: Mapping[str, Quantity], right: Mapping[str, Quantity]) -> Quantities:
    """Return the maximum, resource by resource."""
    result = dict(left)
    for resource, quantity in right.items():
        if resource not in result or quantity.nanos > result[resource].nanos:
            result[resource] = quantity
    return result


def smaller(left: Mapping[str, Quantity], right: Mapping[str, Quantity]) -> Quantities:
    """Return the minimum, resource by resource; a resource that only one side has is kept."""
    result = dict(left)
    for resource, quantity in right.items():
        if resource not in result or quantity.nanos < result[resource].nanos:
            result[resource] = quantity
    return result


def exactly(quantities: Quantities) -> Hashable:
    """Return quantities as comparable values, regardless of spelling."""
    return tuple([(r, q.nanos) for r, q in quantities.items()])


def in_base_units(quantities: Mapping[str, Quantity]) -> Amounts:
    """Return quantities as integers in base units, each rounded up."""
    return {r: q.milli if r == "cpu" else q.units for r, q in quantities.items()}


def fits_times(free: Mapping[str, int], request: Mapping[str, int]) -> int | None:
    """Return how many pods of `request` fit into `free`; None if the request is empty (any number)."""
    counts = [free.get(r, 0) // q for r, q in request.items() if q > 0]
    return max(0, min(counts)) if counts else None
