"""A scenario: workloads that hold quota, wait or arrive, for the simulation of a scheduler."""

from __future__ import annotations

from qcheck.cluster.labels import NodeSelection
from qcheck.cluster.objects import ObjectId
from qcheck.cluster.place import Place
from qcheck.cluster.pods import Container, PodTemplate, Quantities
from qcheck.cluster.value import Value
from qcheck.cluster.workloads import PodSet, Workload

MOST_WORKLOADS = 100_000
"""The most workloads of one scenario, repetitions included."""


class Admitted(Value):
    """Quota that a workload holds from the start: since second `at`, with flavors by pod set and resource."""

    at: int
    flavors: dict[str, dict[str, str]]
    place: Place


class ScenarioWorkload(Value):
    """A workload of a scenario. `place` is its entry.

    `workload` has the pod sets; its own queue and priority count if the entry gives neither: `cluster_queue` or
    `local_queue` (namespace, name), `priority` or `priority_class`. Times are in seconds; `runs_for` None: until the
    end.
    """

    name: str
    place: Place
    workload: Workload
    cluster_queue: str | None
    local_queue: tuple[str, str] | None
    priority: int | None
    priority_class: str | None
    created: int
    admitted: Admitted | None
    runs_for: int | None


class Scenario(Value):
    """A scenario. `is_fair` None: fair sharing if the Configuration enables it.

    `eviction_delay`: seconds until a victim's quota is free. `files` are the manifests of its workloads.
    """

    place: Place
    is_fair: bool | None
    start: int
    eviction_delay: int
    workloads: tuple[ScenarioWorkload, ...]


def pods(name: str, count: int, requests: Quantities, place: Place) -> PodSet:
    """Return a pod set of which only the requests are known."""
    template = PodTemplate(
        place=place,
        labels={},
        annotations={},
        metadata_place=place,
        selection=NodeSelection({}, ()),
        tolerations=(),
        containers=(Container(name=name, place=place, requests=requests, limits={}),),
    )
    return PodSet(name, template, count, place.at("count"))


def written_workload(name: str, namespace: str | None, place: Place, pod_sets: tuple[PodSet, ...]) -> Workload:
    """Return a workload that a scenario itself describes."""
    return Workload(
        id=ObjectId(group="kueue.x-k8s.io", version="v1beta2", kind="Workload", name=name, namespace=namespace),
        place=place,
        labels={},
        annotations={},
        framework=None,
        queue=None,
        queue_place=place,
        priority_class=None,
        priority_class_place=place,
        pod_sets=pod_sets,
    )
