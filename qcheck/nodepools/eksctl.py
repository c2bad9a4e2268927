"""eksctl: `eksctl.io/v1alpha5` ClusterConfig with managed and self-managed node groups.

Counts are totals over zones.
"""

from __future__ import annotations

from qcheck.cluster.nodes import LabelOrigin, Machine, NodePool
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.nodepools.figures import Count, Figures, place, unresolved_keys, written_taint
from qcheck.nodepools.pool import PoolDraft, PoolMachineTypes, finished, look_up
from qcheck.nodepools.provider_labels import Provided, eks

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from qcheck.cluster.labels import Taint
    from qcheck.documents.cursor import Cursor
    from qcheck.nodepools.pool import PoolContext

EKSCTL = LabelOrigin("eksctl", before_boot=True)
DEFAULT_TYPE = "m5.large"
GROUP_LABEL = "alpha.eksctl.io/nodegroup-name"
HINT = "substitute the variables and check the result"


def read_pools(root: Cursor, context: PoolContext) -> Iterator[NodePool]:
    cluster = root["metadata"]["name"].text() or ""
    for field, is_managed in (("managedNodeGroups", True), ("nodeGroups", False)):
        for group in root[field].items():
            yield _pool(group, cluster, is_managed, context.own)


def _pool(group: Cursor, cluster: str, is_managed: bool, own: Mapping[str, Machine]) -> NodePool:
    name = group["name"].text() or ""
    figures, kind = Figures(), Figures()
    spot = figures.flag(group["spot"])
    block = group["instanceMarketOptions"]["marketType"].text() == "capacity-block"
    provided = [Provided(EKSCTL, {"alpha.eksctl.io/cluster-name": cluster, GROUP_LABEL: name})]
    if is_managed:
        provided.append(eks(name, "SPOT" if spot else "CAPACITY_BLOCK" if block else "ON_DEMAND"))
    labels, taints = figures.labels(group["labels"]), _taints(group["taints"], figures)
    types, at = _types(group, kind, own)
    return finished(
        PoolDraft(
            name=name,
            format="eksctl managed node group" if is_managed else "eksctl node group",
            place=place(group),
            count=_count(group, is_managed),
            machines=types.machines,
            type_place=place(at),
            machine_doubt=f"{kind.doubt}; {HINT}" if kind.doubt else types.doubt,
            labels=labels,
            taints=taints,
            open_labels=tuple(unresolved_keys(group["labels"])),
            provided=tuple(provided),
            zones=_zones(group),
            spot=spot or _all_spot(group["instancesDistribution"]),
            autoscaler="Auto Scaling group",
            group_label=(GROUP_LABEL, name),
            other=figures,
            hint=HINT,
        )
    )


def _zones(group: Cursor) -> tuple[str, ...]:
    """Return the named zones; none if any is a placeholder."""
    figures = Figures()
    zones = figures.texts(group["availabilityZones"])
    return zones if figures.doubt is None else ()


def _all_spot(distribution: Cursor) -> bool:
    """Return whether the on-demand base and the on-demand share above it are both zero."""
    figures = Figures()
    share = figures.whole(distribution["onDemandPercentageAboveBaseCapacity"])
    return share == 0 and not figures.whole(distribution["onDemandBaseCapacity"])


def _count(group: Cursor, is_managed: bool) -> Count:
    """Return minimum, desired and maximum with eksctl's defaults: each replaces missing ones."""
    figures = Figures()
    low, desired, high = (figures.whole(group[f]) for f in ("minSize", "desiredCapacity", "maxSize"))
    if low is None:
        low = desired if desired is not None else 2
    if high is None:
        high = desired if desired is not None else low
    if is_managed:
        high = max(high, 1)
    at = next((group[f] for f in ("maxSize", "desiredCapacity", "minSize") if group[f].exists), group)
    if figures.doubt is not None:
        return Count(place=figures.doubt.place, minimum=0, desired=None, maximum=None, doubt=figures.doubt)
    return Count(place(at), low, desired if desired is not None else low, high)


def _taints(at: Cursor, figures: Figures) -> tuple[Taint, ...]:
    """Return taints from a list, or from the older map of `key: "value:Effect"`."""
    if isinstance(at.data, dict):
        return tuple(written_taint(f"{key}={c.text() or ''}") for key, c in at.mapping())
    return figures.taints(at)


def _types(group: Cursor, figures: Figures, own: Mapping[str, Machine]) -> tuple[PoolMachineTypes, Cursor]:
    """Return the machines and the place of their types; a doubt if a selector or a launch template decides."""
    mixed = group["instancesDistribution"]["instanceTypes"]
    for at in (group["instanceTypes"], mixed):
        if at.items():
            return _known(figures.texts(at), figures, own), at
    single = group["instanceType"]
    if single.exists and single.text() != "mixed":
        name = figures.text(single)
        return _known((name,) if name else (), figures, own), single
    for field in ("instanceSelector", "launchTemplate"):
        if group[field].exists:
            return PoolMachineTypes((), f"its machine types come from its {field}"), group[field]
    return look_up((DEFAULT_TYPE,), "aws", own), group


def _known(names: tuple[str, ...], figures: Figures, own: Mapping[str, Machine]) -> PoolMachineTypes:
    return PoolMachineTypes() if figures.doubt is not None else look_up(names, "aws", own)
