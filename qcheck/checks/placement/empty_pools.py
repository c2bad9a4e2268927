"""QC208, QC212: labels and taints of pools that are empty, or that any pod may use."""

from __future__ import annotations

from qcheck.checks.capacity.arithmetic import names
from qcheck.checks.registry import rule
from qcheck.checks.repelling_taints import has_open_taints
from qcheck.cluster.labels import is_discovered
from qcheck.cluster.resources import is_compute
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.findings.finding import Finding, finding
from qcheck.schedulers.table import promises_of
from qcheck.supply.eligibility import lasting
from qcheck.supply.supply import supply_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.supply.groups import NodeGroup

KNOWN_BEFORE = (
    "topology.kubernetes.io/", "failure-domain.beta.kubernetes.io/", "karpenter.k8s.aws/", "eks.amazonaws.com/",
    "karpenter.azure.com/", "karpenter.k8s.gcp/",
)  # fmt: skip
"""Prefixes of labels for zones, regions and machines: autoscalers know these for nodes that do not exist yet."""


@rule("QC208")
def label_only_after_boot(cluster: Cluster) -> Iterator[Finding]:
    """Report flavors that depend on labels unknown to an autoscaler for a pool without nodes."""
    for flavor, _ in promises_of(cluster).used_pools:
        empty = [m.group for m in supply_of(cluster).matches(flavor.key) if _starts_empty(m.group)]
        for key in flavor.node_labels:
            late = [g for g in empty if _appears_late(g, key)]
            if late:
                by = next((o.by for g in late if g.pool and (o := g.pool.added.get(key))), "an agent on the node")
                found = finding(
                    flavor.labels_place.at(key),
                    f"{flavor.title} selects by {key}, which {by} adds only once a node runs; "
                    f"{names(sorted(g.name for g in late))} {'scales' if len(late) == 1 else 'scale'} from zero, "
                    f"so no autoscaler will start a node for it",
                )
                for group in late:
                    found = found.near(group.count_place, f"{group.name} starts with no node")
                yield found.with_data(flavor=flavor.name, label=key, pools=sorted(g.name for g in late))


def _starts_empty(group: NodeGroup) -> bool:
    pool = group.pool
    return pool is not None and pool.minimum == 0 and pool.is_autoscaled and not pool.count_unknown


def _appears_late(group: NodeGroup, key: str) -> bool:
    """Return whether the nodes have the key, but only after they boot."""
    assert group.pool is not None
    if key in group.pool.added:
        return not group.pool.added[key].before_boot
    declared = key in group.pool.labels or any(key in c.machine.labels for c in group.classes)
    return not declared and key not in group.pool.varying and is_discovered(key) and not key.startswith(KNOWN_BEFORE)


@rule("QC212")
def accelerator_pool_untainted(cluster: Cluster) -> Iterator[Finding]:
    """Report nodes with accelerators but without a taint."""
    for group in supply_of(cluster).groups:
        devices = sorted({r for c in group.classes for r, n in c.machine.allocatable.items() if n and is_compute(r)})
        taints = [t for c in group.classes for t in lasting(c.taints) if t.is_hard]
        if devices and not taints and group.ceiling != 0 and not has_open_taints(group):
            found = finding(
                group.place,
                f"the nodes of {group.name} have {names(devices)} and no taint: pods that need none "
                f"can use up their cpu, memory and pod slots",
            ).with_data(pool=group.name, resources=devices)
            yield found if cluster.flavors else found.fixed_by("Taint the pool, and tolerate the taint in the pods.")
