"""QC916: topologies that KAI rejects, and requests for levels that it does not know."""

from __future__ import annotations

from qcheck.checks.capacity.arithmetic import names
from qcheck.checks.problems import of_problems
from qcheck.checks.registry import rule
from qcheck.cluster.did_you_mean import nearest
from qcheck.cluster.kai import KaiTopology, TopologyConstraint
from qcheck.cluster.problems import ProblemCode
from qcheck.cluster.quantity import integer
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.findings.finding import Finding, finding
from qcheck.schedulers.kai.constraints import PREFERRED, PREFIX, REQUIRED, TOPOLOGY, constraints_of, place_in
from qcheck.schedulers.kai.jobs import jobs_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.objects import ObjectId
    from qcheck.cluster.workloads import Workload

SEGMENT_SIZE = PREFIX + "segment-size"
SEGMENT_LEVELS = (PREFIX + "segment-topology-required-placement", PREFIX + "segment-topology-preferred-placement")
SEGMENTED = (("kubeflow.org", "PyTorchJob"), ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"))
"""Kinds whose pods KAI groups into segments."""


@rule("QC916")
def topology_invalid(cluster: Cluster) -> Iterator[Finding]:
    """Report topologies in a wrong order, and constraints that KAI cannot satisfy."""
    yield from of_problems(cluster, ProblemCode.KAI_TOPOLOGY_INVALID)
    for identity, constraint in _constraints(cluster):
        yield from _unresolved(cluster, identity, constraint)
    for job in jobs_of(cluster):
        if job.is_scheduled:
            yield from _segments(job.workload)


def _constraints(cluster: Cluster) -> Iterator[tuple[ObjectId, TopologyConstraint]]:
    for group in cluster.kai_pod_groups:
        for each in (group.topology, *(s.topology for s in group.sub_groups)):
            if each is not None:
                yield group.id, each
    for job in jobs_of(cluster):
        if not job.is_scheduled:
            continue
        for each in constraints_of(job.workload):
            yield job.workload.id, each


def _unresolved(cluster: Cluster, identity: ObjectId, asked: TopologyConstraint) -> Iterator[Finding]:
    known = {t.name: t for t in cluster.kai_topologies}
    topology = known.get(asked.topology)
    if topology is None:
        yield _unknown_topology(cluster, identity, asked, known)
        return
    for level in asked.levels():
        if not topology.knows(level):
            yield _unknown_level(identity, asked, topology, level)


def _unknown_topology(
    cluster: Cluster, identity: ObjectId, asked: TopologyConstraint, known: Mapping[str, KaiTopology]
) -> Finding:
    place = place_in(asked, TOPOLOGY, "topology")
    if not asked.topology:
        message = f"{identity} asks for a topology level but names no Topology: KAI ignores the request"
        return finding(place, message).about(identity).fixed_by(f"Add {TOPOLOGY} with the name of a Topology.")
    near = nearest(asked.topology, known)
    message = f"Topology {asked.topology} does not exist: KAI ignores the placement that {identity} asks for"
    found = (
        finding(place, message).about(identity).likely(not cluster.has_all("Topology") or cluster.generates("Topology"))
    )
    found = found.fixed_by(f"Write {near} instead, or create Topology {asked.topology}.") if near else found
    return found.with_data(missing=asked.topology, nearest=near)


def _unknown_level(identity: ObjectId, asked: TopologyConstraint, topology: KaiTopology, level: str) -> Finding:
    is_required = level == asked.required
    place = place_in(
        asked, REQUIRED if is_required else PREFERRED, f"{'required' if is_required else 'preferred'}TopologyLevel"
    )
    levels = [label for label, _ in topology.levels]
    message = (
        f"{identity} asks for level {level}, which Topology {topology.name} does not have: KAI ignores the request; its "
        f"levels are {names(levels)}"
    )
    near = nearest(level, [*levels, *(alias for _, alias in topology.levels if alias)])
    found = finding(place, message).near(topology.place.at("spec", "levels"), "the levels").about(identity)
    found = found.fixed_by(f"Write {near}.") if near else found
    return found.with_data(topology=topology.name, level=level, nearest=near)


def _segments(workload: Workload) -> Iterator[Finding]:
    """Report invalid segments: they need a size from two to the number of pods, and a kind that has segments."""
    owner = workload.place.at("metadata", "annotations")
    notes = [(workload.annotations, owner, sum(p.count for p in workload.pod_sets))]
    notes += [
        (p.template.annotations, place, p.count)
        for p in workload.pod_sets
        if (place := p.template.metadata_place.at("annotations")).route != owner.route
    ]
    for written, place, count in notes:
        size = written.get(SEGMENT_SIZE)
        if size is None:
            for level in SEGMENT_LEVELS:
                if level in written and not any(SEGMENT_SIZE in other for other, _, _ in notes):
                    message = (
                        f"{workload.id} names a topology level for segments but sets no {SEGMENT_SIZE}: KAI ignores it"
                    )
                    yield finding(place.at(level), message).about(workload.id).fixed_by(f"Add {SEGMENT_SIZE}.")
            continue
        why = _wrong_segment(workload, size, count)
        if why:
            message = f"{workload.id} asks for segments of {size} pods: {why}"
            yield finding(place.at(SEGMENT_SIZE), message).about(workload.id).with_data(size=size)


def _wrong_segment(workload: Workload, size: str, count: int) -> str:
    number = integer(size)
    if (workload.id.group, workload.id.kind) not in SEGMENTED:
        return f"KAI makes segments of the workers of a PyTorchJob or LeaderWorkerSet only, not of a {workload.id.kind}"
    if number is None or number < 2:
        return "a segment is a whole number of at least 2 pods"
    return f"there are only {count}" if number > count else ""
