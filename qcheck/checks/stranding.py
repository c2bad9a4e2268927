"""QC509, QC511 and QC512: accelerators that are there and cannot be used."""

from __future__ import annotations

from qcheck.checks.packing import overpromised
from qcheck.checks.registry import rule
from qcheck.checks.sums import names, plural
from qcheck.findings.finding import Finding, finding
from qcheck.model.placing import LENIENT, PLAIN, nodes_of
from qcheck.model.pods import fits_times
from qcheck.model.quantity import show_amount
from qcheck.model.resources import is_compute
from qcheck.model.value import TYPE_CHECKING, Value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.model.cluster import Cluster
    from qcheck.model.packing.adversary import Blocked
    from qcheck.model.packing.question import Nodes
    from qcheck.model.place import Place
    from qcheck.model.queues import Quota
    from qcheck.model.shapes import PodShape
    from qcheck.model.supply import NodeGroup


class Idle(Value):
    """Accelerators of a group that no pod can use: `pods` fit per node, `left` stay idle on each, `by` what runs out."""

    group: NodeGroup
    nodes: Nodes
    pods: int
    left: int
    by: str


def shapes_on(cluster: Cluster, flavor: str, resource: str) -> list[PodShape]:
    """The shapes that use a resource of a flavor: the declared ones, else those of workloads."""
    from qcheck.model.shapes import declared_shapes

    known = declared_shapes(cluster, flavor) or cluster.workload_shapes.get(flavor, ())
    return [s for s in known if s.accelerator == resource]


def _cells(cluster: Cluster) -> Iterator[tuple[str, str, Quota, tuple[NodeGroup, ...]]]:
    """Flavors and accelerators with quota and known nodes, with the largest cell."""
    from qcheck.model.placing import groups_behind

    if not cluster.policy.shapes and not cluster.workloads:
        return
    for (flavor, resource), quotas in cluster.supply.demands.items():
        if not is_compute(resource) or not any(q.nominal for q in quotas):
            continue
        groups = [g for g in groups_behind(cluster, [flavor]) or () if g.advertises(resource)]
        if groups:
            yield flavor, resource, max(quotas, key=lambda q: q.nominal), tuple(groups)


@rule("QC509")
def co_resource_strands_accelerators(cluster: Cluster) -> Iterator[Finding]:
    """Shapes whose cores or memory fill a node while accelerators of it are still free."""
    for flavor, resource, largest, groups in _cells(cluster):
        for shape in shapes_on(cluster, flavor, resource):
            idle = [i for g in groups if (i := _idle(cluster, g, flavor, shape, resource)) is not None]
            if idle and not _fails_to_pack(cluster, flavor, shape):
                yield _strands(flavor, resource, largest, shape, idle)


def _idle(cluster: Cluster, group: NodeGroup, flavor: str, shape: PodShape, resource: str) -> Idle | None:
    """What a co-resource leaves idle on a group's nodes, beyond what an estimate may be wrong by."""
    if not shape.may_use(cluster, group, flavor):
        return None
    lenient = nodes_of(group, sorted(shape.request), LENIENT, 1)
    by_device = lenient.free[resource] // shape.request[resource]
    if (fits_times(lenient.free, shape.request) or 0) >= by_device:
        return None
    nodes = nodes_of(group, sorted(shape.request), PLAIN, 1)
    pods = fits_times(nodes.free, shape.request) or 0
    if not shape.is_declared and not 0 < pods <= shape.count:
        return None
    scarce = min((r for r, q in shape.request.items() if q), key=lambda r: (nodes.free[r] // shape.request[r], r))
    return Idle(group, nodes, pods, (by_device - pods) * shape.request[resource], scarce)


def _fails_to_pack(cluster: Cluster, flavor: str, shape: PodShape) -> bool:
    """Whether QC506 tells it already: some queue's quota is more of these pods than fit."""
    from qcheck.model.guarantees import guarantee, holders
    from qcheck.model.placing import judge

    for name, holder in holders(cluster):
        given = guarantee(name, holder, flavor, shape) if shape.queue in (None, name) else None
        verdict = judge(cluster, [given.wish()]) if given is not None and given.pods else None
        if verdict is not None and verdict.fails:
            return True
    return False


def _strands(flavor: str, resource: str, largest: Quota, shape: PodShape, idle: list[Idle]) -> Finding:
    worst = max(idle, key=lambda i: i.left)
    count = sum(i.group.ceiling or i.group.static for i in idle)
    total = sum(i.left * (i.group.ceiling or i.group.static) for i in idle)
    asked, free = shape.request[worst.by], worst.nodes.free[worst.by]
    sum_ = f"{worst.pods + 1} x {show_amount(worst.by, asked)} > {show_amount(worst.by, free)}"
    ceiling = free // worst.nodes.free[resource]
    message = (
        f"pods of {shape.name} ({shape.request[resource]} {resource}, {show_amount(worst.by, asked)} {worst.by}) fill a "
        f"node of {worst.group.name} with {worst.pods}: {worst.by} runs out ({sum_}) and {worst.left} {resource} stay "
        f"idle, {total} on {plural(count, 'node')}; up to {show_amount(worst.by, ceiling)} {worst.by} per {resource} "
        f"would leave none idle"
    )
    place: Place = largest.nominal_place
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
    """Accelerators per pod that do not divide a node, so that a rest stays on each, and pods straddle its links."""
    for flavor, resource, largest, groups in _cells(cluster):
        wholes = sorted({c.machine.allocatable.get(resource, 0) for g in groups for c in g.classes} - {0})
        for shape in shapes_on(cluster, flavor, resource):
            size = shape.request[resource]
            if not wholes or size >= min(wholes) or any(whole % size == 0 for whole in wholes):
                continue
            rests = names(f"{whole} is {whole // size} x {size} + {whole % size}" for whole in wholes)
            found = finding(
                shape.place or largest.nominal_place,
                f"pods of {shape.name} with {size} {resource} do not divide the nodes of flavor {flavor}: {rests}",
            )
            for group in groups:
                found = found.near(group.place, f"{names(map(str, wholes))} {resource} per node")
            yield found.with_data(flavor=flavor, shape=shape.name, resource=resource, size=size, nodes=list(wholes))


class Duel(Value):
    """Large pods of one queue, small pods of others in the same flavor, and how many of each quota allows."""

    flavor: str
    owner: str
    cell: Quota
    large: PodShape
    small: PodShape
    wanted: int
    against: int
    cells: tuple[Quota, ...]


@rule("QC511")
def neighbours_can_block(cluster: Cluster) -> Iterator[Finding]:
    """Queues whose large pods find no slot once others place their own small ones badly, within their own quota."""
    from qcheck.model.packing.adversary import pods_to_block, worst_case
    from qcheck.model.packing.fragmentation import placeable

    broken = overpromised(cluster) if cluster.policy.shapes or cluster.workloads else frozenset()
    for flavor, resource, _, groups in _cells(cluster):
        duel = _duel(cluster, flavor, resource)
        if duel is None or (flavor, resource) in broken:
            continue
        asked = sorted({*duel.large.request, *duel.small.request})
        nodes = [nodes_of(g, asked, PLAIN, duel.wanted) for g in groups if g.ceiling is not None]
        if len(nodes) < len(groups):
            continue
        enough = pods_to_block(nodes, duel.large.request, duel.small.request)
        worst = worst_case(nodes, duel.large.request, duel.small.request, duel.against)
        if worst.slots < duel.wanted <= placeable(nodes, duel.large.request):
            yield _blocked(duel, resource, enough, worst, groups)


def _duel(cluster: Cluster, flavor: str, resource: str) -> Duel | None:
    """The hardest such pair of a flavor: largest pods against the smallest that cannot be preempted for them."""
    shapes = sorted(shapes_on(cluster, flavor, resource), key=lambda s: s.request[resource])
    if len(shapes) < 2:
        return None
    large, small = shapes[-1], next((s for s in shapes if _stays(cluster, s, shapes[-1])), None)
    if small is None or small.request[resource] >= large.request[resource]:
        return None
    cells = {q.name: c for q in cluster.queues if (c := q.quota(flavor, resource)) is not None and c.nominal}
    owners = [n for n, c in cells.items() if large.queue in (None, n) and c.nominal >= large.request[resource]]
    if not owners:
        return None
    owner = max(owners, key=lambda n: (cells[n].nominal, n))
    others = {n: c for n, c in cells.items() if n != owner and small.queue in (None, n)}
    against = sum(c.nominal // small.request[resource] for c in others.values())
    wanted = cells[owner].nominal // large.request[resource]
    return Duel(flavor, owner, cells[owner], large, small, wanted, against, tuple(others.values())) if against else None


def _stays(cluster: Cluster, small: PodShape, large: PodShape) -> bool:
    """Whether the small pods are another queue's and kube-scheduler will not preempt them for the large ones."""
    if small is large or (small.queue is not None and small.queue == large.queue):
        return False
    if small.template is None or large.template is None:
        return small.template is None and large.template is None
    mine, theirs = cluster.pod_priority(large.template), cluster.pod_priority(small.template)
    return mine is not None and theirs is not None and (theirs >= mine or large.template.preemption_policy == "Never")


def _blocked(duel: Duel, resource: str, enough: int | None, worst: Blocked, groups: tuple[NodeGroup, ...]) -> Finding:
    large, small = duel.large.request[resource], duel.small.request[resource]
    message = (
        f"{duel.owner} is promised {plural(duel.wanted, 'pod')} of {duel.large.name} ({large} {resource} each) in "
        f"{duel.flavor}; {plural(duel.against, 'pod')} of {duel.small.name} ({small} each), which others may run within "
        f"their quota, can lie so that {worst.slots} fit"
    )
    if enough is not None and enough <= duel.against:
        message += f", and {enough} well-placed ones are enough to leave no slot at all"
    found = finding(duel.cell.nominal_place, message)
    for cell in duel.cells:
        found = found.near(cell.nominal_place, f"{cell.nominal // small} pods of {duel.small.name}")
    for group in groups:
        found = found.near(group.count_place, f"nodes of {group.name}")
    return found.with_data(
        flavor=duel.flavor, queue=duel.owner, large=duel.large.name, small=duel.small.name, promised=duel.wanted,
        neighbours=duel.against, slots=worst.slots, enough=enough,
    )  # fmt: skip
