"""The topology constraints of KAI's jobs: where they are written, and the domain that one requires."""

from __future__ import annotations

from qcheck.cluster.kai import TopologyConstraint
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.quota.start_decision import RequiredDomain

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.place import Place
    from qcheck.cluster.workloads import Workload
    from qcheck.schedulers.kai.jobs import KaiJob

PREFIX = "kai.scheduler/"
TOPOLOGY = PREFIX + "topology"
REQUIRED, PREFERRED = PREFIX + "topology-required-placement", PREFIX + "topology-preferred-placement"


def constraints_of(workload: Workload) -> Iterator[TopologyConstraint]:
    """Yield the constraints in the annotations of an object, then in those of its pod templates."""
    owner = workload.place.at("metadata", "annotations")
    yield from _annotated(workload.annotations, owner)
    for pod_set in workload.pod_sets:
        place = pod_set.template.metadata_place.at("annotations")
        if place.route != owner.route:
            yield from _annotated(pod_set.template.annotations, place)


def _annotated(notes: Mapping[str, str], place: Place) -> Iterator[TopologyConstraint]:
    if notes.get(TOPOLOGY) or notes.get(REQUIRED) or notes.get(PREFERRED):
        required, preferred = notes.get(REQUIRED, ""), notes.get(PREFERRED, "")
        yield TopologyConstraint(place, notes.get(TOPOLOGY, ""), required, preferred)


def place_in(asked: TopologyConstraint, annotation: str, field: str) -> Place:
    """Return the place of a part of a constraint: an annotation or a field of a pod group."""
    is_field = asked.place.route[-1] == "topologyConstraint"
    return asked.place.at(field if is_field else annotation)


def required_domain(cluster: Cluster, job: KaiJob, pool: str) -> RequiredDomain | None:
    """Return the domain that all pods of a job must share; None if none is required of all, or KAI lacks the level."""
    asked = _of_all_pods(job)
    topology = next((t for t in cluster.kai_topologies if asked and t.name == asked.topology), None)
    if asked is None or topology is None:
        return None
    for at, names in enumerate(topology.levels):
        if asked.required in names:
            place = place_in(asked, REQUIRED, "requiredTopologyLevel")
            return RequiredDomain(pool, tuple(label for label, _ in topology.levels[: at + 1]), place)
    return None


def _of_all_pods(job: KaiJob) -> TopologyConstraint | None:
    """Return the first constraint that requires a level for every pod of a job."""
    workload = job.workload
    found = [job.pod_group.topology] if job.pod_group and job.pod_group.topology else list(constraints_of(workload))
    owner = workload.place.at("metadata", "annotations").route
    for each in found:
        is_of_all = job.pod_group is not None or each.place.route == owner or len(workload.pod_sets) == 1
        if each.required and is_of_all:
            return each
    return None
