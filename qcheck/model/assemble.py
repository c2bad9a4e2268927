"""Joins what was decoded into one frozen `Cluster`."""

from __future__ import annotations

from qcheck.model import queues, workloads
from qcheck.model.cluster import Cluster
from qcheck.model.nodes import Node
from qcheck.model.objects import Namespace, Other
from qcheck.model.problems import Problem
from qcheck.model.value import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qcheck.model.configuration import Configuration
    from qcheck.model.nodes import NodePool
    from qcheck.model.objects import Object
    from qcheck.model.policy import Policy

_FIELDS: dict[type[Object], str] = {
    queues.ResourceFlavor: "flavors",
    queues.ClusterQueue: "queues",
    queues.Cohort: "cohorts",
    queues.LocalQueue: "local_queues",
    queues.Topology: "topologies",
    queues.AdmissionCheck: "admission_checks",
    queues.ProvisioningRequestConfig: "provisioning_configs",
    queues.MultiKueueConfig: "multikueue_configs",
    queues.MultiKueueCluster: "multikueue_clusters",
    queues.WorkloadPriorityClass: "workload_priority_classes",
    queues.PriorityClass: "priority_classes",
    workloads.DaemonSet: "daemon_sets",
    workloads.Workload: "workloads",
    workloads.LimitRange: "limit_ranges",
    workloads.ResourceQuota: "resource_quotas",
    workloads.RuntimeClass: "runtime_classes",
    Namespace: "namespaces",
    Node: "nodes",
    Other: "others",
}


def assemble(
    name: str,
    policy: Policy,
    objects: Iterable[Object],
    pools: Iterable[NodePool] = (),
    configuration: Configuration | None = None,
    problems: Iterable[Problem] = (),
    unread: Iterable[str] = (),
) -> Cluster:
    """One cluster. Of objects that stand twice the first one counts, and a `duplicate-object` problem names both."""
    sorted_objects: dict[str, list[Object]] = {field: [] for field in _FIELDS.values()}
    first: dict[tuple[str, str, str | None, str], Object] = {}
    doubles: list[Problem] = []
    for found in objects:
        key = (found.id.group, found.id.kind, found.id.namespace, found.id.name)
        if found.id.name and key in first:
            doubles.append(_double(first[key], found))
            continue
        first[key] = found
        sorted_objects[_FIELDS[type(found)]].append(found)
    return Cluster(
        name=name,
        policy=policy,
        pools=tuple(pools),
        configuration=configuration,
        problems=(*problems, *doubles),
        unread=tuple(unread),
        **{field: tuple(members) for field, members in sorted_objects.items()},  # type: ignore[arg-type]
    )


def _double(first: Object, again: Object) -> Problem:
    return Problem(
        "duplicate-object",
        again.name_place,
        f"{again.id} is defined twice",
        object=again.id,
        related=(first.name_place.named("first defined here"),),
    )
