"""Karpenter: `karpenter.sh/v1` (and v1beta1) NodePool.

A dynamic pool has no nodes of its own: 0 now, and at most as many whole nodes as its limits allow. A static one
(`replicas`, Karpenter 1.8 and later) has a fixed number. Requirements become labels; limits count capacity, not
allocatable.
"""

from __future__ import annotations

from qcheck.cluster.labels import Requirement
from qcheck.cluster.nodes import LabelOrigin, Machine, NodePool
from qcheck.cluster.resources import looks_like_accelerator
from qcheck.cluster.value import TYPE_CHECKING, replace
from qcheck.nodepools import karpenter_labels, karpenter_node_class, machine_catalogue
from qcheck.nodepools.automatic_labels import UNSEEN
from qcheck.nodepools.figures import Count, amounts, place, taints, texts
from qcheck.nodepools.machine_capacity import machine, of_type
from qcheck.nodepools.pool import described, figures

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from qcheck.cluster.labels import Labels, Taint
    from qcheck.cluster.place import Place
    from qcheck.documents.cursor import Cursor
    from qcheck.nodepools.karpenter_node_class import CloudNodeClass
    from qcheck.nodepools.pool import PoolContext

INSTANCE_TYPE = "node.kubernetes.io/instance-type"
CAPACITY_TYPE = "karpenter.sh/capacity-type"
CAPACITY_TYPES = ("on-demand", "spot", "reserved")
POOL_LABEL = "karpenter.sh/nodepool"
KARPENTER = LabelOrigin("Karpenter", before_boot=True)
ALIASES = {
    "beta.kubernetes.io/instance-type": INSTANCE_TYPE,
    "beta.kubernetes.io/arch": "kubernetes.io/arch",
    "beta.kubernetes.io/os": "kubernetes.io/os",
    "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
}
PROVIDERS = {
    "karpenter.k8s.aws": "aws",
    "eks.amazonaws.com": "aws",
    "karpenter.azure.com": "azure",
    "karpenter.k8s.gcp": "gcp",
}
PREFIXES = {
    "karpenter.k8s.aws": karpenter_labels.AWS,
    "eks.amazonaws.com": karpenter_labels.AUTO_MODE,
    "karpenter.azure.com": karpenter_labels.AZURE,
    "karpenter.k8s.gcp": karpenter_labels.GCP,
}
"""The prefix of a machine type's labels, by the API group of the node class."""
MANY = 40
"""The number of machine types beyond which the machines of a pool count as unknown."""


def read_pools(root: Cursor, context: PoolContext) -> tuple[NodePool]:
    """Return the only pool of a document."""
    return (_pool(root, context),)


def _pool(root: Cursor, context: PoolContext) -> NodePool:
    spec = root["spec"]
    template = spec["template"]["spec"]
    name = root["metadata"]["name"].text() or ""
    wanted = tuple(_requirement(r) for r in template["requirements"].items())
    group = template["nodeClassRef"]["group"].text() or _group(template)
    provider, node_class = PROVIDERS.get(group), karpenter_node_class.referred(template, group, context)
    machines, why = _machines(wanted, provider, context.own)
    if node_class is not None and provider is not None:
        machines = tuple(m if m.instance_type in context.own else node_class.on(m, provider) for m in machines)
    limits = amounts(spec["limits"])
    low, high = _count(spec["replicas"].integer(), spec["limits"], limits, machines)
    fixed, varying = _labels(spec, template, wanted, name, node_class)
    pool = NodePool(
        name=name,
        format="Karpenter NodePool",
        place=place(root),
        count_place=place(spec["replicas"] if spec["replicas"].exists else spec["limits"]),
        minimum=low,
        desired=None,
        maximum=high,
        machines=machines,
        labels=fixed,
        taints=_taints(template, node_class, machines),
        added={k: KARPENTER for k in fixed if k not in spec["template"]["metadata"]["labels"].strings()},
        varying=varying,
        zones=_values(wanted, "topology.kubernetes.io/zone"),
        spot=fixed.get(CAPACITY_TYPE) == "spot",
        autoscaler="Karpenter",
        limits={r: n for r, n in limits.items() if r != "nodes"},
        limits_place=place(spec["limits"]),
        why_unknown=why,
        unknown_place=place(template["requirements"]),
        group_label=(POOL_LABEL, name),
    )
    declared_at = node_class.place if node_class else pool.unknown_place or pool.place
    declared = spec["template"]["metadata"]["labels"].strings()
    return _with_machine_labels(pool, declared, declared_at, provider or "", PREFIXES.get(group, ""))


def _taints(template: Cursor, node_class: CloudNodeClass | None, machines: tuple[Machine, ...]) -> tuple[Taint, ...]:
    declared = taints(template["taints"])
    more = node_class.taints(machines) if node_class else ()
    return declared + tuple(t for t in more if not any((t.key, t.effect) == (d.key, d.effect) for d in declared))


def _group(template: Cursor) -> str:
    return (template["nodeClassRef"]["apiVersion"].text() or "").partition("/")[0]


def _requirement(at: Cursor) -> Requirement:
    key = at["key"].text() or ""
    return Requirement(ALIASES.get(key, key), at["operator"].text() or "", texts(at["values"]))


def _values(wanted: Sequence[Requirement], key: str) -> tuple[str, ...]:
    """Return the values of a key that all In requirements allow."""
    kept: tuple[str, ...] | None = None
    for each in wanted:
        if each.key == key and each.operator == "In":
            kept = each.values if kept is None else tuple(v for v in kept if v in each.values)
    return kept or ()


def _machines(
    wanted: tuple[Requirement, ...], provider: str | None, own: Mapping[str, Machine]
) -> tuple[tuple[Machine, ...], str | None]:
    """Return the machines that the requirements allow, and what could not be determined."""
    types = _values(wanted, INSTANCE_TYPE) or _values(wanted, f"{karpenter_labels.AZURE}name")
    if types:
        known = [(t, machine(t, provider, own)) for t in types]
        missing = [t for t, m in known if m is None]
        if missing:
            return (), f"the machine type {missing[0]} is in no catalogue"
        return tuple(m for _, m in known if m is not None), None
    fitting = karpenter_labels.fitting(provider or "", wanted)
    if fitting is None:
        return (), "its requirements name no machine type"
    if not fitting or len(fitting) > MANY:
        return (), f"its requirements allow {len(fitting)} machine types"
    return tuple(of_type(t) for t in fitting), None


def _count(
    replicas: int | None, written: Cursor, limits: dict[str, int], machines: tuple[Machine, ...]
) -> tuple[int, int | None]:
    """Return the number of nodes now, and the maximum."""
    nodes = limits.get("nodes") if written["nodes"].exists else None
    if replicas is not None:
        fixed = max(0, replicas if nodes is None else min(replicas, nodes))
        return fixed, fixed
    bounds = [b for m in machines if (b := _launchable(m, limits)) is not None]
    by_limits = max(bounds) if machines and len(bounds) == len(machines) else None
    known = [n for n in (nodes, by_limits) if n is not None]
    return 0, max(0, min(known)) if known else None


def _launchable(each: Machine, limits: dict[str, int]) -> int | None:
    """Return how many whole nodes of one machine the limits allow, counted by capacity; None if no limit applies."""
    has = _capacity(each)
    return min((limit // has[r] for r, limit in limits.items() if has.get(r)), default=None)


def _capacity(each: Machine) -> dict[str, int]:
    """Return the machine's capacity before any reservation, as far as known."""
    return {**each.allocatable, **each.capacity}


def _labels(
    spec: Cursor, template: Cursor, wanted: tuple[Requirement, ...], name: str, node_class: CloudNodeClass | None
) -> tuple[dict[str, str], dict[str, tuple[str, ...]]]:
    """Return the labels that all nodes share, and those whose values differ from node to node."""
    reference = template["nodeClassRef"]
    group, kind = reference["group"].text() or _group(template), reference["kind"].text()
    fixed = {POOL_LABEL: name, "karpenter.sh/registered": "true", "karpenter.sh/initialized": "true"}
    if group and kind:
        fixed[f"{group}/{kind.lower()}"] = reference["name"].text() or ""
    varying: dict[str, tuple[str, ...]] = {**UNSEEN, **(node_class.varying_labels() if node_class else {})}
    by_key: dict[str, list[Requirement]] = {}
    for each in wanted:
        by_key.setdefault(each.key, []).append(each)
    allowed = {key: _possible(key, _values(some, key), node_class) for key, some in by_key.items()}
    for each in wanted:
        values = allowed[each.key]
        if len(values) == 1:
            fixed[each.key] = values[0]
        elif each.operator != "DoesNotExist":
            varying[each.key] = values
    if CAPACITY_TYPE not in fixed:
        varying.setdefault(CAPACITY_TYPE, _possible(CAPACITY_TYPE, CAPACITY_TYPES, node_class))
    fixed |= spec["template"]["metadata"]["labels"].strings()
    return fixed, {k: v for k, v in varying.items() if k not in fixed}


def _possible(key: str, values: tuple[str, ...], node_class: CloudNodeClass | None) -> tuple[str, ...]:
    """Return possible values: nodes never come from a reservation that their class does not select."""
    if key != CAPACITY_TYPE or node_class is None or node_class.group != karpenter_node_class.EC2 or len(values) < 2:
        return values
    return tuple(v for v in values if v in node_class.capacity_types())


def _with_machine_labels(pool: NodePool, declared: Labels, declared_at: Place, provider: str, prefix: str) -> NodePool:
    """Add the labels that nodes derive from each machine; labels that the template declares take precedence."""
    named = []
    for each in pool.machines:
        kind = machine_catalogue.find(each.instance_type, provider) if each.instance_type else None
        mine = karpenter_labels.node_labels(kind, provider, prefix) if kind else {}
        named.append(replace(each, labels={**mine, **each.labels}))
    machines, origins = described(tuple(named), declared)
    keys = {k for each in machines for k in each.labels}
    by_karpenter = dict.fromkeys((k for k in keys if prefix and k.startswith(prefix)), KARPENTER)
    gpus = not machines or any(looks_like_accelerator(r) for m in machines for r in (*m.allocatable, *m.unknown))
    varying = {**karpenter_labels.unseen(provider, prefix, gpus), **pool.varying}
    if not machines:
        varying.setdefault(INSTANCE_TYPE, ())
    always = set(pool.labels).union(set.intersection(*(set(m.labels) for m in machines)) if machines else ())
    varying = {k: v for k, v in varying.items() if k not in always}
    count = Count(pool.count_place, pool.minimum, None, pool.maximum)
    return replace(
        pool,
        machines=machines,
        added={**origins, **by_karpenter, **pool.added},
        varying=varying,
        figures=figures(count, machines, declared_at),
    )
