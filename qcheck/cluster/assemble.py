"""Joins decoded objects into one frozen `Cluster`."""

from __future__ import annotations

from collections import Counter

from qcheck.cluster import kueue as queues
from qcheck.cluster import workloads
from qcheck.cluster.cluster import Cluster
from qcheck.cluster.nodes import Node
from qcheck.cluster.objects import Generator, Namespace, Other
from qcheck.cluster.value import TYPE_CHECKING, replace
from qcheck.cluster.workload_parts import joined

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qcheck.cluster.kueue_configuration import Configuration
    from qcheck.cluster.kueue_install import KueueInstall
    from qcheck.cluster.mig import MigLayout
    from qcheck.cluster.nodes import NodePool
    from qcheck.cluster.objects import Object
    from qcheck.cluster.policy import Policy
    from qcheck.cluster.problems import Problem, Unread
    from qcheck.cluster.running import State
    from qcheck.cluster.volcano import VolcanoScheduler

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
    workloads.TrainingRuntime: "training_runtimes",
    Namespace: "namespaces",
    Node: "nodes",
    Generator: "generators",
    Other: "others",
}

_FIELDS_BY_NAME = {
    "KaiQueue": "kai_queues",
    "KaiPodGroup": "kai_pod_groups",
    "SchedulingShard": "kai_shards",
    "KaiTopology": "kai_topologies",
    "KaiConfig": "kai_configs",
    "VolcanoQueue": "volcano_queues",
    "VolcanoPodGroup": "volcano_pod_groups",
    "VolcanoJob": "workloads",
    "HyperNode": "hyper_nodes",
    "JobFlow": "job_flows",
    "PodAutoscaler": "pod_autoscalers",
    "StaticPod": "static_pods",
}
"""Fields by class name, so that the modules of rarer kinds are imported only if a file defines their objects."""


def _field_of(found: Object) -> str:
    return _FIELDS.get(type(found)) or _FIELDS_BY_NAME[type(found).__name__]


def assemble(
    name: str,
    policy: Policy,
    objects: Iterable[Object],
    pools: Iterable[NodePool] = (),
    configuration: Configuration | None = None,
    install: KueueInstall | None = None,
    problems: Iterable[Problem] = (),
    copies: Iterable[Object] = (),
    unread: Iterable[Unread] = (),
    mig_layouts: Iterable[MigLayout] = (),
    volcano_scheduler: VolcanoScheduler | None = None,
    live: bool = False,
    state: State | None = None,
) -> Cluster:
    """Return one cluster. `copies` are later definitions of an object that differ from the first, which counts."""
    sorted_objects: dict[str, list[Object]] = {field: [] for field in (*_FIELDS.values(), *_FIELDS_BY_NAME.values())}
    for found in objects:
        sorted_objects[_field_of(found)].append(found)
    sorted_objects["workloads"] = list(joined(sorted_objects["workloads"], sorted_objects["training_runtimes"]))  # type: ignore[arg-type]
    if sorted_objects["pod_autoscalers"]:
        from qcheck.cluster.autoscalers import scaled  # 0.2 ms

        sorted_objects["workloads"] = scaled(sorted_objects["workloads"], sorted_objects["pod_autoscalers"])  # type: ignore[arg-type, assignment]
    static_pods = sorted_objects.pop("static_pods")
    if static_pods:
        sorted_objects["nodes"] = _beside(sorted_objects["nodes"], static_pods)  # type: ignore[arg-type, assignment]
    return Cluster(
        name=name,
        policy=policy,
        pools=tuple(pools),
        configuration=configuration,
        install=install,
        problems=tuple(problems),
        copies=tuple(copies),
        unread=tuple(unread),
        mig_layouts=tuple(mig_layouts),
        volcano_scheduler=volcano_scheduler,
        live=live,
        state=state,
        **{field: tuple(members) for field, members in sorted_objects.items()},  # type: ignore[arg-type]
    )


def _beside(nodes: list[Node], static_pods: list[workloads.StaticPod]) -> list[Node]:
    """Return the nodes minus the requests of their static pods and one pod slot for each."""
    taken: dict[str, Counter[str]] = {}
    for pod in static_pods:
        taken.setdefault(pod.node, Counter()).update({**pod.template.amounts(), "pods": 1})
    return [_without(n, taken[n.name]) if n.name in taken else n for n in nodes]


def _without(node: Node, taken: Counter[str]) -> Node:
    allocatable = {r: max(0, amount - taken[r]) for r, amount in node.allocatable.items()}
    return replace(node, allocatable=allocatable, capacity={r: max(0, a - taken[r]) for r, a in node.capacity.items()})


def as_fleet(clusters: Iterable[Cluster]) -> tuple[Cluster, ...]:
    """Return the clusters; each MultiKueue manager has all others, including its workers, as `fleet`."""
    alone = tuple(clusters)
    return tuple(replace(c, fleet=tuple(o for o in alone if o is not c)) if c.multikueue_configs else c for c in alone)
