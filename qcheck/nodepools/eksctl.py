"""eksctl: `eksctl.io/v1alpha5` ClusterConfig with managed and self-managed node groups. Counts are totals over zones."""

from __future__ import annotations

from qcheck.model.nodes import LabelOrigin, Machine, NodePool
from qcheck.model.value import TYPE_CHECKING, replace
from qcheck.nodepools.added import HOSTNAME, added
from qcheck.nodepools.machines import machine
from qcheck.nodepools.scalars import labels, place, taints, texts, written_taint

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from qcheck.documents.cursor import Cursor
    from qcheck.model.labels import Taint
    from qcheck.nodepools.world import World

EKS = LabelOrigin("EKS", before_boot=True)
EKSCTL = LabelOrigin("eksctl", before_boot=True)
DEFAULT_TYPE = "m5.large"


def read_pools(root: Cursor, world: World) -> Iterator[NodePool]:
    cluster = root["metadata"]["name"].text() or ""
    for field, is_managed in (("managedNodeGroups", True), ("nodeGroups", False)):
        for group in root[field].items():
            yield _pool(group, cluster, is_managed, world.own)


def _pool(group: Cursor, cluster: str, is_managed: bool, own: Mapping[str, Machine]) -> NodePool:
    name = group["name"].text() or ""
    low, desired, high = _count(group, is_managed)
    declared = labels(group["labels"])
    automatic = {"alpha.eksctl.io/cluster-name": cluster, "alpha.eksctl.io/nodegroup-name": name}
    origins = dict.fromkeys(automatic, EKSCTL)
    spot = group["spot"].boolean() or False
    if is_managed:
        provided = {
            "eks.amazonaws.com/nodegroup": name,
            "eks.amazonaws.com/capacityType": "SPOT" if spot else "ON_DEMAND",
        }
        automatic |= provided
        origins |= dict.fromkeys(provided, EKS)
    zones = texts(group["availabilityZones"])
    pool = NodePool(
        name=name,
        format="eksctl managed node group" if is_managed else "eksctl node group",
        place=place(group),
        count_place=place(_count_field(group)),
        minimum=low,
        desired=desired,
        maximum=high,
        machines=(),
        labels={**automatic, **declared},
        taints=_taints(group["taints"]),
        added=origins,
        varying={HOSTNAME: (), "topology.kubernetes.io/zone": zones},
        zones=zones,
        spot=spot,
        autoscaler=None if low == high else "Auto Scaling group",
        group_label=("alpha.eksctl.io/nodegroup-name", name),
    )
    return _with_machines(pool, group, own)


def _count(group: Cursor, is_managed: bool) -> tuple[int, int, int]:
    """Minimum, desired, maximum with eksctl's defaults: each stands in for the ones that are missing."""
    low, desired, high = (group[f].integer() for f in ("minSize", "desiredCapacity", "maxSize"))
    if low is None:
        low = desired if desired is not None else 2
    if high is None:
        high = desired if desired is not None else low
    if is_managed:
        high = max(high, 1)
    return low, desired if desired is not None else low, high


def _count_field(group: Cursor) -> Cursor:
    return next((group[f] for f in ("maxSize", "desiredCapacity", "minSize") if group[f].exists), group)


def _taints(at: Cursor) -> tuple[Taint, ...]:
    """A list, or the older map of `key: "value:Effect"`."""
    if isinstance(at.data, dict):
        return tuple(written_taint(f"{key}={c.text() or ''}") for key, c in at.mapping())
    return taints(at)


def _with_machines(pool: NodePool, group: Cursor, own: Mapping[str, Machine]) -> NodePool:
    types, at = _types(group)
    if not types:
        return replace(pool, why_unknown="its machine types are chosen when it is created", unknown_place=place(at))
    known = [(t, machine(t, "aws", own)) for t in types]
    missing = next((t for t, m in known if m is None), None)
    if missing is not None:
        return replace(pool, why_unknown=f"the machine type {missing} is in no catalogue", unknown_place=place(at))
    machines, origins = [], dict(pool.added)
    for _, found in known:
        assert found is not None
        extra, by = added(found)
        machines.append(replace(found, labels={**extra, **found.labels}))
        origins = {**by, **origins}
    return replace(pool, machines=tuple(machines), added=origins)


def _types(group: Cursor) -> tuple[tuple[str, ...], Cursor]:
    """The machine types and where they are written; none where a selector or a launch template decides."""
    mixed = group["instancesDistribution"]["instanceTypes"]
    for at in (group["instanceTypes"], mixed):
        if at.items():
            return texts(at), at
    single = group["instanceType"]
    if single.text():
        return (single.text() or "",), single
    if group["instanceSelector"].exists or group["launchTemplate"].exists:
        return (), group["instanceSelector"] if group["instanceSelector"].exists else group["launchTemplate"]
    return (DEFAULT_TYPE,), group
