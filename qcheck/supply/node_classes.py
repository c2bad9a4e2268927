"""Pools and dumped nodes, reduced to a few groups.

A dump is more exact than a definition, but only a definition has the ceiling: nodes with a pool's label belong to that
pool, and the pool itself then represents only nodes that may still appear.
"""

from __future__ import annotations

from qcheck.cluster.labels import is_discovered
from qcheck.cluster.nodes import GPU_MEMORY_LABEL, Certainty, Machine, NodePool
from qcheck.cluster.policy import matches_any
from qcheck.cluster.resources import is_whole_device
from qcheck.cluster.value import TYPE_CHECKING, replace
from qcheck.cluster.views import view
from qcheck.supply.eligibility import daemon_lands
from qcheck.supply.groups import ALL, NONE, NodeClass, NodeGroup, Taking
from qcheck.supply.pod_requests import bounds, scheduled
from qcheck.supply.pool_members import pool_of_each_node

if TYPE_CHECKING:
    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.labels import Labels
    from qcheck.cluster.nodes import Node
    from qcheck.cluster.pods import Amounts
    from qcheck.cluster.policy import Policy, Reserve
    from qcheck.supply.groups import Varying

MACHINE_LABELS = (
    "node.kubernetes.io/instance-type", "nvidia.com/gpu.product", "nvidia.com/gpu.count", "cloud.google.com/gke-accelerator",
    "karpenter.sh/capacity-type", "kubernetes.io/arch",
)  # fmt: skip
"""Labels that distinguish machines even if no selector names them."""

MACHINE_TYPE = "node.kubernetes.io/instance-type"
CONFIGURED = ("nvidia.com/device-plugin.config", "nvidia.com/mig.config", "nvidia.com/gpu.replicas")
"""Labels of nodes whose devices are divided or shared, so that nodes of one machine type may differ."""
GROUP_LABELS = (
    "karpenter.sh/nodepool", "cloud.google.com/gke-nodepool", "eks.amazonaws.com/nodegroup", "alpha.eksctl.io/nodegroup-name",
    "kubernetes.azure.com/agentpool", "agentpool", "compute.coreweave.com/node-pool", "kops.k8s.io/instancegroup",
    "worker.gardener.cloud/pool", "sagemaker.amazonaws.com/instance-group-name", "oke.oraclecloud.com/pool.name",
)  # fmt: skip
"""Labels by which providers name a node's group."""


def group_nodes(cluster: Cluster) -> tuple[NodeGroup, ...]:
    """Return all node groups of the cluster, dumped nodes first."""
    owners = pool_of_each_node(cluster)
    groups = _dumped(cluster, owners)
    owned: dict[int, list[Node]] = {}
    for node in cluster.nodes:
        if node.name in owners:
            owned.setdefault(id(owners[node.name]), []).append(node)
    for pool in cluster.pools:
        group = _group_of_pool(cluster, pool, owned.get(id(pool), []))
        if group is not None:
            groups.append(group)
    return tuple(_with_distinct_names(groups))


def _with_distinct_names(groups: list[NodeGroup]) -> list[NodeGroup]:
    """Return groups with unique names: a pool name that several files use is followed by its place of definition."""
    counts: dict[str, int] = {}
    for group in groups:
        counts[group.name] = counts.get(group.name, 0) + 1
    distinct: list[NodeGroup] = []
    taken: set[str] = set()
    numbers: dict[str, int] = {}
    for group in groups:
        where = f"{group.name} ({group.place.origin.path}"
        name = group.name if counts[group.name] == 1 else f"{where})"
        while name in taken:
            numbers[where] = numbers.get(where, 1) + 1
            name = f"{where} #{numbers[where]})"
        taken.add(name)
        distinct.append(group if name == group.name else replace(group, name=name))
    return distinct


def _dumped(cluster: Cluster, owners: dict[str, NodePool]) -> list[NodeGroup]:
    keys, named = _telling_keys(cluster), _named_nodes(cluster)
    alike: dict[tuple[object, ...], list[Node]] = {}
    for node in cluster.nodes:
        distinct = tuple(node.node_labels.get(k) for k in keys)
        group = next((node.node_labels[k] for k in GROUP_LABELS if k in node.node_labels), None)
        shape = tuple(sorted(node.allocatable.items()))
        owner = owners[node.name].name if node.name in owners else group
        name = node.name if node.name in named else None
        alike.setdefault((owner, distinct, node.taints, shape, name), []).append(node)
    groups = [_group_of_nodes(cluster, owner, nodes) for (owner, *_), nodes in alike.items()]
    return _distinct(groups)


def _named_nodes(cluster: Cluster) -> set[str]:
    """Return the names of nodes that some pods request by name."""
    templates = [d.template for d in cluster.daemon_sets]
    templates += [p.template for w in cluster.workloads for p in w.pod_sets]
    fields = [f for t in templates for term in t.selection.terms or () for f in term.fields]
    return {t.node_name for t in templates if t.node_name} | {name for f in fields for name in f.values}


@view
def _telling_keys(cluster: Cluster) -> list[str]:
    """Return the label keys that some selector or affinity uses, and those that distinguish machines."""
    keys: set[str] = set(MACHINE_LABELS)
    for pool in cluster.quota_pools.values():
        keys |= {*pool.node_labels, *pool.absent_labels}
    for runtime_class in cluster.runtime_classes:
        keys |= runtime_class.node_selector.keys()
    for daemon_set in cluster.daemon_sets:
        keys |= daemon_set.template.selection.keys
    if cluster.kai_queues:
        keys.add(GPU_MEMORY_LABEL)
    for workload in cluster.workloads:
        for pod_set in workload.pod_sets:
            keys |= pod_set.template.selection.keys
            keys |= {s.key for s in pod_set.template.spreads if s.key != "kubernetes.io/hostname"}
    return sorted(keys)


def _group_of_nodes(cluster: Cluster, owner: object, nodes: list[Node]) -> NodeGroup:
    from qcheck.supply.device_sharing import seen_physical  # 0.1 ms

    first = nodes[0]
    labels, varying = _shared_labels(nodes)
    machine = Machine(
        labels.get("node.kubernetes.io/instance-type"),
        first.allocatable,
        dict.fromkeys(first.allocatable, Certainty.DECLARED),
        model=labels.get("nvidia.com/gpu.product"),
        source="node dump",
        capacity={**first.capacity, **_missing_devices(cluster, first)},
        physical=seen_physical(labels, first.allocatable),
    )
    name = owner if isinstance(owner, str) else _name_nodes(nodes)
    usable = sum(n.ready and not n.unschedulable for n in nodes)
    bare = NodeClass(machine, labels, varying, first.taints, names=tuple(n.name for n in nodes))
    node_class = _node_class(cluster, name, bare)
    place = first.name_place
    return NodeGroup(
        name=name,
        place=place,
        count_place=place,
        static=usable,
        ceiling=len(nodes),
        classes=(node_class,),
        pool=None,
        nodes=tuple(nodes),
    )


def _missing_devices(cluster: Cluster, node: Node) -> dict[str, int]:
    """Return devices missing on a node: other nodes of its machine type have more, and none divides or shares them."""
    kind = node.node_labels.get(MACHINE_TYPE)
    if kind is None or _is_configured(node):
        return {}
    most, devices = _most_of_type(cluster)[kind], {r for r, n in node.allocatable.items() if n and is_whole_device(r)}
    return {r: most[r] for r in devices if most[r] > node.allocatable[r]}


def _is_configured(node: Node) -> bool:
    """Return whether the devices of a node may be divided or shared."""
    return any(key in node.node_labels for key in CONFIGURED)


@view
def _most_of_type(cluster: Cluster) -> dict[str, Amounts]:
    """Return the most of each resource that a node of a machine type has, by type; without nodes that divide devices."""
    found: dict[str, Amounts] = {}
    for node in cluster.nodes:
        kind = node.node_labels.get(MACHINE_TYPE)
        if kind is not None and not _is_configured(node):
            most = found.setdefault(kind, {})
            most.update({r: n for r, n in node.allocatable.items() if r not in most or n > most[r]})
    return found


def _shared_labels(nodes: list[Node]) -> tuple[Labels, Varying]:
    labels: Labels = {}
    varying: Varying = {}
    for key in {k for n in nodes for k in n.node_labels}:
        values = {n.node_labels.get(key) for n in nodes}
        if values == {nodes[0].node_labels.get(key)}:
            labels[key] = nodes[0].node_labels[key]
        elif None not in values:
            varying[key] = tuple(sorted(v for v in values if v is not None))
    return labels, varying


def _name_nodes(nodes: list[Node]) -> str:
    names = sorted(n.name for n in nodes)
    if len(names) <= 2:
        return ", ".join(names)
    return f"{names[0]} ... {names[-1]} ({len(names)} nodes)"


def _distinct(groups: list[NodeGroup]) -> list[NodeGroup]:
    """Distinguish groups of the same name by their first nodes."""
    seen: dict[str, int] = {}
    for group in groups:
        seen[group.name] = seen.get(group.name, 0) + 1
    return [g if seen[g.name] == 1 else replace(g, name=f"{g.name} ({_name_nodes(list(g.nodes))})") for g in groups]


def _group_of_pool(cluster: Cluster, pool: NodePool, present: list[Node]) -> NodeGroup | None:
    """Return the nodes that a pool may have beyond those of the dump; None if the dump contains all it can have."""
    ceiling = counted_ceiling(pool, cluster.policy)
    machines = pool.machines
    name = pool.name
    if present:
        ceiling = None if ceiling is None else ceiling - len(present)
        if ceiling is not None and ceiling <= 0:
            return None
        machines = _seen_machines(present)
        pool = replace(pool, limits=_limits_left(pool, present))
        name = f"{pool.name} (further nodes)"
    static = 0 if present or cluster.live else pool.minimum
    classes = tuple(_pool_class(cluster, pool, m) for m in machines)
    return NodeGroup(
        name=name,
        place=pool.place,
        count_place=pool.count_place,
        static=static,
        ceiling=ceiling,
        classes=classes,
        pool=pool,
    )


def _pool_class(cluster: Cluster, pool: NodePool, machine: Machine) -> NodeClass:
    """Return a machine of a pool as a class.

    Labels that only running nodes have may have any value, as may unknown ones.
    """
    labels = {**pool.labels, **machine.labels}
    unseen = {k: () for k in _telling_keys(cluster) if (pool.labels_unknown or is_discovered(k)) and k not in labels}
    return _node_class(cluster, pool.name, NodeClass(machine, labels, {**unseen, **pool.varying}, pool.taints))


def counted_ceiling(pool: NodePool, policy: Policy) -> int | None:
    """Return how many nodes a pool counts as at most, by the setting `capacity.autoscaled`."""
    if policy.autoscaled == "min":
        return pool.minimum
    if policy.autoscaled == "desired" and pool.desired is not None:
        return pool.desired
    return pool.maximum


def _seen_machines(nodes: list[Node]) -> tuple[Machine, ...]:
    """Return the machines that a pool's nodes are known to have; further nodes are assumed to be equal to them."""
    shapes: dict[tuple[tuple[str, int], ...], Node] = {}
    for node in nodes:
        shapes.setdefault(tuple(sorted(node.allocatable.items())), node)
    return tuple(
        Machine(
            n.node_labels.get("node.kubernetes.io/instance-type"),
            n.allocatable,
            dict.fromkeys(n.allocatable, Certainty.DECLARED),
            model=n.node_labels.get("nvidia.com/gpu.product"),
            source="node dump",
            capacity=n.capacity,
        )
        for n in shapes.values()
    )


def _limits_left(pool: NodePool, present: list[Node]) -> dict[str, int]:
    return {r: max(0, limit - sum(n.capacity.get(r, 0) for n in present)) for r, limit in pool.limits.items()}


def _node_class(cluster: Cluster, name: str, bare: NodeClass) -> NodeClass:
    """Return a class with the DaemonSets that run on it and the reserves of a pool of that name."""
    reserves: tuple[Reserve, ...] = tuple(r for r in cluster.policy.reserves if matches_any(name, r.pools))
    return replace(bare, takings=takings(cluster, bare), reserves=reserves)


def takings(cluster: Cluster, nodes: NodeClass) -> tuple[Taking, ...]:
    """Return the DaemonSets that run on nodes of a class and what each takes: its pod's requests and one pod slot."""
    found = []
    for daemon_set in cluster.daemon_sets:
        lands = daemon_lands(cluster, daemon_set.template, nodes)
        if lands != NONE:
            asked = scheduled(cluster, daemon_set.template, bounds(cluster, daemon_set.namespace))
            found.append(Taking(daemon_set, asked, lands == ALL))
    return tuple(found)
