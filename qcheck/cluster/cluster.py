"""The cluster: every fact that was read, and every reference between objects. Views live where they are used."""

from __future__ import annotations

from functools import cached_property

from qcheck.cluster.policy import KAI_CLASSES, KAI_SCHEDULER, Policy
from qcheck.cluster.value import TYPE_CHECKING, Value

if TYPE_CHECKING:
    from typing import Any

    from qcheck.cluster.autoscalers import PodAutoscaler
    from qcheck.cluster.kai import KaiConfig, KaiNames, KaiPodGroup, KaiQueue, KaiTopology, SchedulingShard
    from qcheck.cluster.kueue import (
        AdmissionCheck,
        ClusterQueue,
        Cohort,
        LocalQueue,
        MultiKueueCluster,
        MultiKueueConfig,
        PriorityClass,
        ProvisioningRequestConfig,
        ResourceFlavor,
        Topology,
        WorkloadPriorityClass,
    )
    from qcheck.cluster.kueue_configuration import Configuration
    from qcheck.cluster.kueue_install import KueueInstall
    from qcheck.cluster.mig import MigLayout
    from qcheck.cluster.nodes import Node, NodePool
    from qcheck.cluster.objects import Generator, Namespace, Object, ObjectId, Other
    from qcheck.cluster.place import Place, Route
    from qcheck.cluster.pods import PodTemplate
    from qcheck.cluster.problems import Problem, Unread
    from qcheck.cluster.quota_pool import QuotaPool
    from qcheck.cluster.running import State
    from qcheck.cluster.volcano import HyperNode, JobFlow, VolcanoPodGroup, VolcanoQueue, VolcanoScheduler
    from qcheck.cluster.workloads import DaemonSet, LimitRange, ResourceQuota, RuntimeClass, TrainingRuntime, Workload

SYSTEM_PRIORITIES = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
"""Priority classes that every cluster has."""


class Cluster(Value, cached=True):
    """All known facts about one cluster. Tuples keep the order of the files; lookups use names.

    `copies` are differing redefinitions of objects, and objects that may not exist. `unread` lists inputs that might
    define more objects but could not be read. `fleet` holds the other clusters in the settings, in which a MultiKueue
    manager finds its workers. `live`: the nodes were read from the running cluster, so pools only add nodes that may
    still appear. `state` is the runtime state, set if the inputs come from an API server.
    """

    name: str = "default"
    policy: Policy = Policy()
    pools: tuple[NodePool, ...] = ()
    nodes: tuple[Node, ...] = ()
    flavors: tuple[ResourceFlavor, ...] = ()
    queues: tuple[ClusterQueue, ...] = ()
    cohorts: tuple[Cohort, ...] = ()
    local_queues: tuple[LocalQueue, ...] = ()
    topologies: tuple[Topology, ...] = ()
    admission_checks: tuple[AdmissionCheck, ...] = ()
    provisioning_configs: tuple[ProvisioningRequestConfig, ...] = ()
    multikueue_configs: tuple[MultiKueueConfig, ...] = ()
    multikueue_clusters: tuple[MultiKueueCluster, ...] = ()
    workload_priority_classes: tuple[WorkloadPriorityClass, ...] = ()
    priority_classes: tuple[PriorityClass, ...] = ()
    daemon_sets: tuple[DaemonSet, ...] = ()
    workloads: tuple[Workload, ...] = ()
    namespaces: tuple[Namespace, ...] = ()
    pod_autoscalers: tuple[PodAutoscaler, ...] = ()
    limit_ranges: tuple[LimitRange, ...] = ()
    resource_quotas: tuple[ResourceQuota, ...] = ()
    runtime_classes: tuple[RuntimeClass, ...] = ()
    training_runtimes: tuple[TrainingRuntime, ...] = ()
    kai_queues: tuple[KaiQueue, ...] = ()
    kai_pod_groups: tuple[KaiPodGroup, ...] = ()
    kai_shards: tuple[SchedulingShard, ...] = ()
    kai_topologies: tuple[KaiTopology, ...] = ()
    kai_configs: tuple[KaiConfig, ...] = ()
    volcano_queues: tuple[VolcanoQueue, ...] = ()
    volcano_pod_groups: tuple[VolcanoPodGroup, ...] = ()
    hyper_nodes: tuple[HyperNode, ...] = ()
    job_flows: tuple[JobFlow, ...] = ()
    volcano_scheduler: VolcanoScheduler | None = None
    configuration: Configuration | None = None
    install: KueueInstall | None = None
    mig_layouts: tuple[MigLayout, ...] = ()
    generators: tuple[Generator, ...] = ()
    others: tuple[Other, ...] = ()
    problems: tuple[Problem, ...] = ()
    copies: tuple[Object, ...] = ()
    unread: tuple[Unread, ...] = ()
    fleet: tuple[Cluster, ...] = ()
    live: bool = False
    state: State | None = None

    def has_all(self, *kinds: str) -> bool:
        """Return whether objects of these kinds that were not read do not exist. Nodes and pools are of kind `Node`."""
        return self.policy.complete and not any(u.may_define(kind) for u in self.unread for kind in kinds)

    def generates(self, kind: str) -> bool:
        """Return whether a generator in the repository may create objects of a kind that no file contains."""
        return any(kind in g.kinds for g in self.generators)

    @property
    def has_nodes(self) -> bool:
        return bool(self.pools or self.nodes)

    @cached_property
    def feature_gates(self) -> dict[str, bool]:
        """The feature gates of Kueue that are set: in the Configuration, else on the manager's command line."""
        written = self.configuration.feature_gates if self.configuration else {}
        return {**(self.install.gates if self.install else {}), **written}

    @cached_property
    def flavor(self) -> dict[str, ResourceFlavor]:
        return {f.name: f for f in self.flavors}

    @cached_property
    def kai_names(self) -> KaiNames:
        """The scheduler name and the label keys that KAI uses in this cluster."""
        from qcheck.cluster.kai import names_of  # 2 ms

        return names_of(self.policy.kai, self.kai_configs)

    @cached_property
    def quota_pools(self) -> dict[str, QuotaPool]:
        """The node sets for which quota is stated, by key, for all schedulers."""
        pools = {f.name: f.quota_pool(self.topology.get(f.topology or "")) for f in self.flavors}
        if self.kai_queues or self.kai_shards:
            from qcheck.cluster.kai import shard_pools  # 2 ms

            pools.update((pool.key, pool) for pool in shard_pools(self.kai_shards, self.kai_queues, self.kai_names))
        if self.volcano_queues:
            from qcheck.cluster.volcano import volcano_pools  # 0.4 ms

            pools.update((pool.key, pool) for pool in volcano_pools(self.volcano_queues, self.volcano_scheduler))
        return pools

    @cached_property
    def queue(self) -> dict[str, ClusterQueue]:
        return {q.name: q for q in self.queues}

    @cached_property
    def cohort(self) -> dict[str, Cohort]:
        return {c.name: c for c in self.cohorts}

    @cached_property
    def topology(self) -> dict[str, Topology]:
        return {t.name: t for t in self.topologies}

    @cached_property
    def admission_check(self) -> dict[str, AdmissionCheck]:
        return {c.name: c for c in self.admission_checks}

    @cached_property
    def local_queue(self) -> dict[tuple[str, str], LocalQueue]:
        """Local queues by namespace and name."""
        return {(q.namespace, q.name): q for q in self.local_queues}

    @cached_property
    def namespace(self) -> dict[str, Namespace]:
        return {n.name: n for n in self.namespaces}

    @cached_property
    def workload_priority_class(self) -> dict[str, WorkloadPriorityClass]:
        return {c.name: c for c in self.workload_priority_classes}

    @cached_property
    def priority_class(self) -> dict[str, PriorityClass]:
        return {c.name: c for c in self.priority_classes}

    @cached_property
    def local_queues_of(self) -> dict[str, list[LocalQueue]]:
        """Local queues by the name of their ClusterQueue."""
        found: dict[str, list[LocalQueue]] = {}
        for local in self.local_queues:
            if local.cluster_queue:
                found.setdefault(local.cluster_queue, []).append(local)
        return found

    @cached_property
    def local_queue_names(self) -> dict[str, list[str]]:
        """The sorted names of local queues by namespace."""
        found: dict[str, list[str]] = {}
        for local in self.local_queues:
            found.setdefault(local.namespace, []).append(local.name)
        return {namespace: sorted(names) for namespace, names in found.items()}

    @cached_property
    def local_queues_named(self) -> dict[str, list[LocalQueue]]:
        """Local queues by name, regardless of namespace."""
        found: dict[str, list[LocalQueue]] = {}
        for local in self.local_queues:
            found.setdefault(local.name, []).append(local)
        return found

    @cached_property
    def objects(self) -> dict[tuple[str, str, str | None, str], ObjectId]:
        """Every object by group, kind, namespace and name."""
        return {(o.id.group, o.id.kind, o.id.namespace, o.id.name): o.id for o in self.all_objects()}

    def all_objects(self) -> list[Object]:
        """Return every object of the cluster except node pools."""
        kinds = (
            self.nodes, self.flavors, self.queues, self.cohorts, self.local_queues, self.topologies,
            self.admission_checks, self.provisioning_configs, self.multikueue_configs, self.multikueue_clusters,
            self.workload_priority_classes, self.priority_classes, self.daemon_sets, self.workloads, self.namespaces,
            self.pod_autoscalers, self.limit_ranges, self.resource_quotas, self.runtime_classes, self.training_runtimes,
            self.kai_queues, self.kai_pod_groups, self.kai_shards, self.kai_topologies, self.kai_configs,
            self.volcano_queues, self.volcano_pod_groups, self.hyper_nodes, self.job_flows,
            self.generators, self.others,
        )  # fmt: skip
        of_groups = [m for w in self.workloads for m in w.members[1:]]
        return [*(o for objects in kinds for o in objects), *of_groups]

    @property
    def size(self) -> int:
        """Return the number of objects and node pools."""
        return len(self.all_objects()) + len(self.pools)

    @cached_property
    def _by_place(self) -> dict[tuple[int, Route], ObjectId]:
        return {(id(o.place.origin), o.place.route): o.id for o in self.all_objects()}

    def object_at(self, place: Place) -> ObjectId | None:
        """Return the object that contains a place; None outside any object, such as in a node pool's definition."""
        for length in range(len(place.route), -1, -1):
            found = self._by_place.get((id(place.origin), place.route[:length]))
            if found is not None:
                return found
        return None

    def pod_priority(self, template: PodTemplate) -> int | None:
        """Return the priority that kube-scheduler gives a pod; None if its class is not known here.

        Pods without a class get the priority of the globalDefault class (the lowest if there are several), else 0.
        """
        if template.priority_class is None:
            defaults = [c.value for c in self.priority_classes if c.is_global_default]
            return min(defaults, default=0) if template.priority is None else template.priority
        if template.priority_class in SYSTEM_PRIORITIES:
            return SYSTEM_PRIORITIES[template.priority_class]
        known = self.priority_class.get(template.priority_class)
        if known is None and template.scheduler_name == KAI_SCHEDULER:
            return KAI_CLASSES.get(template.priority_class)
        return None if known is None else known.value

    @cached_property
    def views(self) -> dict[object, Any]:
        """The cached views of this cluster, by view; see `qcheck.cluster.views`."""
        return {}
