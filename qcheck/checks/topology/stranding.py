"""QC509, QC512: accelerators that exist but cannot be used."""

from __future__ import annotations

from qcheck.checks.capacity.arithmetic import names, plural, titled
from qcheck.checks.registry import rule
from qcheck.cluster.pods import fits_times
from qcheck.cluster.resources import is_compute
from qcheck.cluster.units import name_amount, show_amounts
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.findings.finding import Finding, finding
from qcheck.packing.flavor_question import LENIENT, PLAIN, groups_behind, judge, nodes_of
from qcheck.packing.pod_shape import KEPT_APART
from qcheck.schedulers.guarantees import guarantee, holders, is_sample
from qcheck.schedulers.table import declared_shapes, promises_of, workload_shapes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.place import Place
    from qcheck.packing.pod_shape import PodShape
    from qcheck.packing.question import Nodes
    from qcheck.quota.tree import Cell
    from qcheck.supply.groups import NodeGroup


CO_RESOURCES = ("cpu", "memory")


class Idle(Value):
    """Accelerators of a group that no pod can use: `pods` fit per node, `left` stay idle on each, `by` is exhausted."""

    group: NodeGroup
    nodes: Nodes
    pods: int
    left: int
    by: str


def shapes_on(cluster: Cluster, flavor: str, resource: str) -> list[PodShape]:
    """Return the shapes that use a resource of a flavor: the declared ones, else those of workloads."""
    known = declared_shapes(cluster, flavor) or workload_shapes(cluster).get(flavor, ())
    return [s for s in known if s.accelerator == resource]


def known_cells(cluster: Cluster) -> Iterator[tuple[str, str, Cell, tuple[NodeGroup, ...]]]:
    """Yield flavors and accelerators with quota and known nodes, with the largest cell."""
    if not cluster.policy.shapes and not cluster.workloads:
        return
    for (flavor, resource), quotas in promises_of(cluster).cells.items():
        if not is_compute(resource) or not any(q.promised for q in quotas):
            continue
        groups = [g for g in groups_behind(cluster, [flavor]) or () if g.advertises(resource)]
        if groups:
            yield flavor, resource, max(quotas, key=lambda q: q.promised), tuple(groups)


@rule("QC509")
def co_resource_strands_accelerators(cluster: Cluster) -> Iterator[Finding]:
    """Report shapes whose cpu or memory fills a node while some of its accelerators are still free."""
    for flavor, resource, largest, groups in known_cells(cluster):
        for shape in shapes_on(cluster, flavor, resource):
            idle = [i for g in groups if (i := _idle(cluster, g, flavor, shape, resource)) is not None]
            if idle and not _fails_to_pack(cluster, flavor, shape):
                yield _strands(flavor, resource, largest, shape, idle)


def _idle(cluster: Cluster, group: NodeGroup, flavor: str, shape: PodShape, resource: str) -> Idle | None:
    """Return what a co-resource leaves idle on a group's nodes, beyond the possible error of an estimate."""
    if not shape.may_use(cluster, group, flavor):
        return None
    asked = tuple(sorted(shape.request))
    lenient = nodes_of(cluster, group, asked, LENIENT, 1)
    by_device = lenient.free[resource] // shape.request[resource]
    if (fits_times(lenient.free, shape.request) or 0) >= by_device:
        return None
    nodes = nodes_of(cluster, group, asked, PLAIN, 1)
    pods = fits_times(nodes.free, shape.request) or 0
    if not shape.is_declared and not 0 < pods <= shape.count:
        return None
    scarce = min((r for r, q in shape.request.items() if q), key=lambda r: (nodes.free[r] // shape.request[r], r))
    if scarce == KEPT_APART:
        return None
    return Idle(group=group, nodes=nodes, pods=pods, left=(by_device - pods) * shape.request[resource], by=scarce)


def _fails_to_pack(cluster: Cluster, flavor: str, shape: PodShape) -> bool:
    """Return whether QC506 already reports it: the quota of some queue holds more of these pods than fit."""
    for node in holders(cluster):
        given = guarantee(node, flavor, shape) if shape.queue in (None, node.name) else None
        is_judged = given is not None and given.pods and not is_sample(given)
        verdict = judge(cluster, [given.demand()]) if given is not None and is_judged else None
        if verdict is not None and verdict.fails:
            return True
    return False


def _strands(flavor: str, resource: str, largest: Cell, shape: PodShape, idle: list[Idle]) -> Finding:
    worst = max(idle, key=lambda i: i.left)
    count = sum(i.group.ceiling or i.group.static for i in idle)
    total = sum(i.left * (i.group.ceiling or i.group.static) for i in idle)
    asked, free = shape.request[worst.by], worst.nodes.free[worst.by]
    one, has = show_amounts(worst.by, asked, free)
    sum_ = f"{worst.pods + 1} x {one} > {has}"
    ceiling = free // worst.nodes.free[resource]
    message = (
        f"pods of {shape.name} ({shape.request[resource]} {resource}, {name_amount(worst.by, asked)}) fill a "
        f"node of {worst.group.name} at {worst.pods}: {worst.by} runs out ({sum_}) and {worst.left} {resource} stay "
        f"idle, {total} on {plural(count, 'node')}; at most {name_amount(worst.by, ceiling)} per {resource} "
        f"leaves none idle"
    )
    place: Place = largest.place
    if shape.template is not None:
        written = shape.template.place_of(worst.by)
        place = written if written is not shape.template.place else (shape.place or written)
    found = finding(place, message)
    for each in idle:
        found = found.near(each.group.place, f"{each.group.name}: {each.pods} pods per node, {each.left} idle")
    return found.with_data(
        flavor=flavor, shape=shape.name, resource=resource, scarce=worst.by, perNode=worst.pods, stranded=total,
        ceiling=ceiling,
    )  # fmt: skip


@rule("QC512")
def shape_splits_domain(cluster: Cluster) -> Iterator[Finding]:
    """Report accelerators per pod that do not divide a node, so that some stay idle and pods straddle its links.

    There is one finding for all shapes of one size in a flavor.
    """
    for flavor, resource, largest, groups in known_cells(cluster):
        wholes = sorted({c.machine.allocatable.get(resource, 0) for g in groups for c in g.classes} - {0})
        by_size: dict[int, list[PodShape]] = {}
        for shape in shapes_on(cluster, flavor, resource):
            size = shape.request[resource]
            if wholes and size < min(wholes) and all(whole % size for whole in wholes):
                by_size.setdefault(size, []).append(shape)
        for size, shapes in by_size.items():
            rests = names(f"{whole} is {whole // size} x {size} + {whole % size}" for whole in wholes)
            who = names(dict.fromkeys(s.name for s in shapes))
            found = finding(
                shapes[0].place or largest.place,
                f"pods of {who} with {size} {resource} do not divide the nodes of {titled(cluster, flavor)}: {rests}",
            )
            for other in shapes[1:]:
                found = found.near(other.place, f"{other.name} asks for {size} too")
            for group in groups:
                found = found.near(group.place, f"{names(map(str, wholes))} {resource} per node")
            first = shapes[0].name
            yield found.with_data(flavor=flavor, shape=first, resource=resource, size=size, nodes=list(wholes))
