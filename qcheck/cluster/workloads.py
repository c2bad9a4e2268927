"""Workloads: queued ones, other pods, and the namespace rules that change their requests."""

from __future__ import annotations

from functools import cached_property

from qcheck.cluster.labels import Labels, NodeSelection, Toleration
from qcheck.cluster.objects import Object
from qcheck.cluster.place import Place
from qcheck.cluster.pods import PodTemplate, Quantities
from qcheck.cluster.value import TYPE_CHECKING, Value, replace

if TYPE_CHECKING:
    from collections.abc import Hashable

QUEUE_NAME = "kueue.x-k8s.io/queue-name"
PRIORITY_CLASS = "kueue.x-k8s.io/priority-class"


class TopologySlice(Value):
    """A constraint that every `size` pods share a domain of `level`."""

    level: str
    size: int


class TopologyRequest(Value):
    """The `podset-*-topology` annotations of a pod template. `unconstrained` None: the annotation is absent.

    `slices` are nested, the largest first; `slice_level` and `slice_size` hold a slice annotation that lacks its
    counterpart.
    """

    place: Place
    required: str | None = None
    preferred: str | None = None
    unconstrained: bool | None = None
    slice_level: str | None = None
    slice_size: int | None = None
    slices: tuple[TopologySlice, ...] = ()
    group: str | None = None

    @property
    def is_explicit(self) -> bool:
        """Return whether Kueue treats the annotations as a request at all; some of them alone are not one."""
        return bool(self.required or self.preferred or self.unconstrained is not None or self.slices)

    @property
    def levels(self) -> tuple[str, ...]:
        """The levels that the request names."""
        return tuple(level for level in (self.required, self.preferred, *(s.level for s in self.slices)) if level)

    @property
    def ask(self) -> Hashable:
        """Return the request as a comparable value."""
        slices = tuple((s.level, s.size) for s in self.slices)
        return self.required, self.preferred, self.unconstrained, slices, self.group


class PodSet(Value):
    """Pods of one template. `minimum` is set if partial admission allows fewer pods, `maximum` if the set may grow.

    `maximum_place` is where the maximum is written, if that is another object.
    """

    name: str
    template: PodTemplate
    count: int
    count_place: Place
    minimum: int | None = None
    maximum: int | None = None
    maximum_place: Place | None = None
    topology: TopologyRequest | None = None

    @property
    def ask(self) -> Hashable:
        """Return the pods' requests and number as a comparable value."""
        topology = None if self.topology is None else self.topology.ask
        return self.name, self.template.ask, self.count, self.minimum, self.maximum, topology


class TemplateOverride(Value):
    """A TrainJob's changes to the pods of some replicated jobs (of all if `jobs` is empty)."""

    jobs: tuple[str, ...]
    selection: NodeSelection
    tolerations: tuple[Toleration, ...]


class TrainRecipe(Value):
    """The part of a TrainJob that describes its pods; their templates are in the runtime that it names."""

    runtime: str
    runtime_kind: str
    nodes: int | None
    nodes_place: Place
    requests: Quantities
    limits: Quantities
    overrides: tuple[TemplateOverride, ...] = ()


class Workload(Object, cached=True):
    """A top-level object with pods: one that Kueue may queue, or one that runs outside Kueue.

    `framework` is the integration's name in Kueue's Configuration (`batch/job`, `ray.io/rayjob`, `pod` ...), None for
    kinds that Kueue does not manage. `each_pod_alone`: each pod is a workload of its own (Deployment); `groups`: the
    number of equal workloads (LeaderWorkerSet). `not_read` explains why pod sets could not be determined (a TrainJob
    whose runtime is elsewhere). `members` are the Pods of a pod group. `retries`: the number of failed pods it
    survives, if written; `on_disruption`: the action of its podFailurePolicy for evicted pods (`Ignore`, `Count`,
    `FailJob`).
    """

    framework: str | None
    queue: str | None
    queue_place: Place
    priority_class: str | None
    priority_class_place: Place
    pod_sets: tuple[PodSet, ...]
    groups: int = 1
    each_pod_alone: bool = False
    elastic: bool = False
    job_pod_priority_class: str | None = None
    retries: int | None = None
    retries_place: Place | None = None
    on_disruption: str | None = None
    not_read: str | None = None
    recipe: TrainRecipe | None = None
    members: tuple[Workload, ...] = ()

    @cached_property
    def ask(self) -> Hashable:
        """Return what admission and scheduling depend on once the queue is known; equal values have equal results."""
        pod_sets = tuple([p.ask for p in self.pod_sets])
        return self.framework, pod_sets, self.groups, self.each_pod_alone, self.elastic, self.not_read

    @cached_property
    def unit(self) -> tuple[PodSet, ...]:
        """The pod sets of one of the equal workloads that the object creates."""
        return tuple(replace(p, count=1) for p in self.pod_sets) if self.each_pod_alone else self.pod_sets


class TrainingRuntime(Object):
    """The pod sets of TrainJobs. `trainer`: the indices of the pod sets that the TrainJob's own settings apply to."""

    pod_sets: tuple[PodSet, ...]
    trainer: tuple[int, ...]
    nodes: int | None


class DaemonSet(Object):
    template: PodTemplate


class StaticPod(Object):
    """A static pod of `node`, known from its mirror pod. The kubelet runs static pods from local files."""

    node: str
    template: PodTemplate


class LimitRange(Object):
    """Defaults and bounds of type Container (`container_*`) and Pod, as quantities by resource."""

    default_requests: Quantities
    default_limits: Quantities
    container_max: Quantities
    container_min: Quantities
    pod_max: Quantities
    pod_min: Quantities
    pod_default_requests: Quantities = {}
    pod_default_limits: Quantities = {}


class ResourceQuota(Object):
    """A ResourceQuota. `hard` uses its own names: `requests.nvidia.com/gpu`, `cpu`, `pods` ...

    A scoped quota applies to some pods only.
    """

    hard: Quantities
    is_scoped: bool = False


class RuntimeClass(Object):
    """A RuntimeClass and what it adds to pods: overhead, and the node selector and tolerations of its `scheduling`."""

    overhead: Quantities
    node_selector: Labels = {}
    tolerations: tuple[Toleration, ...] = ()
