"""QC509, QC511 and QC512: accelerators that are there and cannot be used."""

from __future__ import annotations

from qcheck.checks.capacity.arithmetic import names, plural, titled
from qcheck.checks.registry import rule
from qcheck.checks.topology.packing import overpromised
from qcheck.cluster.pods import NEVER_PREEMPTS, fits_times
from qcheck.cluster.resources import is_compute
from qcheck.cluster.units import name_amount, show_amounts
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.findings.finding import Finding, finding
from qcheck.packing.adversary import pods_to_block, worst_case
from qcheck.packing.flavor_question import LENIENT, PLAIN, groups_behind, judge, nodes_of
from qcheck.schedulers.guarantees import guarantee, holders, pods_within
from qcheck.schedulers.shapes import declared_shapes
from qcheck.schedulers.table import promises_of, workload_shapes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.place import Place
    from qcheck.packing.pod_shape import PodShape
    from qcheck.packing.question import Nodes
    from qcheck.quota.tree import Cell
    from qcheck.supply.groups import NodeGroup


CO_RESOURCES = ("cpu", "memory")
TRIED = 4
"""The number of kinds of pods without an accelerator that are tried against a flavor's large pods, most frequent first."""


class Idle(Value):
    """Accelerators of a group that no pod can use: `pods` fit per node, `left` stay idle on each, `by` what runs out."""

    group: NodeGroup
    nodes: Nodes
    pods: int
    left: int
    by: str


def shapes_on(cluster: Cluster, flavor: str, resource: str) -> list[PodShape]:
    """The shapes that use a resource of a flavor: the declared ones, else those of workloads."""
    known = declared_shapes(cluster, flavor) or workload_shapes(cluster).get(flavor, ())
    return [s for s in known if s.accelerator == resource]


def _cells(cluster: Cluster) -> Iterator[tuple[str, str, Cell, tuple[NodeGroup, ...]]]:
    """Flavors and accelerators with quota and known nodes, with the largest cell."""
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
    """Shapes whose cores or memory fill a node while accelerators of it are still free."""
    for flavor, resource, largest, groups in _cells(cluster):
        for shape in shapes_on(cluster, flavor, resource):
            idle = [i for g in groups if (i := _idle(cluster, g, flavor, shape, resource)) is not None]
            if idle and not _fails_to_pack(cluster, flavor, shape):
                yield _strands(flavor, resource, largest, shape, idle)


def _idle(cluster: Cluster, group: NodeGroup, flavor: str, shape: PodShape, resource: str) -> Idle | None:
    """Return what a co-resource leaves idle on a group's nodes, beyond what an estimate may be wrong by."""
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
    return Idle(group=group, nodes=nodes, pods=pods, left=(by_device - pods) * shape.request[resource], by=scarce)


def _fails_to_pack(cluster: Cluster, flavor: str, shape: PodShape) -> bool:
    """Return whether QC506 tells it already: some queue's quota is more of these pods than fit."""
    for node in holders(cluster):
        given = guarantee(node, flavor, shape) if shape.queue in (None, node.name) else None
        verdict = judge(cluster, [given.demand()]) if given is not None and given.pods else None
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
    """Accelerators per pod that do not divide a node, so that a rest stays on each, and pods straddle its links.

    One finding for all shapes of one size in a flavor.
    """
    for flavor, resource, largest, groups in _cells(cluster):
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


class Contention(Value):
    """Large pods of one queue, small pods of others in the same flavor, and how many of each quota allows.

    `others`: the neighbours' cells, each with its number of small pods.
    """

    flavor: str
    owner: str
    cell: Cell
    large: PodShape
    small: PodShape
    wanted: int
    against: int
    others: tuple[tuple[Cell, int], ...]


@rule("QC511")
def neighbours_can_block(cluster: Cluster) -> Iterator[Finding]:
    """Queues whose large pods find no slot once others place their own small ones badly, within their own quota."""
    broken = overpromised(cluster) if cluster.policy.shapes or cluster.workloads else frozenset()
    for flavor, resource, _, groups in _cells(cluster):
        if (flavor, resource) not in broken and all(g.ceiling is not None for g in groups):
            fought = (
                _contended(cluster, contention, resource, groups)
                for contention in _contentions(cluster, flavor, resource)
            )
            found = next((f for f in fought if f is not None), None)
            if found is not None:
                yield found


def _contended(cluster: Cluster, rivals: Contention, resource: str, groups: tuple[NodeGroup, ...]) -> Finding | None:
    """The worst placement of the small pods on the nodes that let them in."""
    from qcheck.packing.fragmentation import placeable  # 2 ms, with fractions

    large, small = rivals.large.request, rivals.small.request
    asked = sorted({*large, *small})
    exposed = {g.name for g in groups if rivals.small.may_use(cluster, g, rivals.flavor)}
    nodes = {g.name: nodes_of(g, asked, LENIENT, rivals.wanted) for g in groups}
    safe = placeable([n for name, n in nodes.items() if name not in exposed], large)
    open_ = [n for name, n in nodes.items() if name in exposed]
    slots = safe + worst_case(open_, large, small, rivals.against).slots
    if not slots < rivals.wanted <= safe + placeable(open_, large):
        return None
    enough = None if safe else pods_to_block(open_, large, small)
    return _blocked(rivals, resource, enough, slots, groups)


def _contentions(cluster: Cluster, flavor: str, resource: str) -> Iterator[Contention]:
    """The largest pods of a flavor against the smallest that cannot be preempted for them, and against those that take
    only cores and memory.
    """
    shapes = sorted(shapes_on(cluster, flavor, resource), key=lambda s: s.request[resource])
    if not shapes:
        return
    large = shapes[-1]
    smaller = [s for s in shapes if s.request[resource] < large.request[resource] and _stays(cluster, s, large)]
    bare = [s for s in _without_device(cluster, flavor) if _stays(cluster, s, large)]
    for small in (*smaller[:1], *sorted(bare, key=lambda s: (-s.count, s.name))[:TRIED]):
        contention = _contention(cluster, flavor, resource, large, small)
        if contention is not None:
            yield contention


def _without_device(cluster: Cluster, flavor: str) -> list[PodShape]:
    """Shapes that ask for no accelerator: those declared for this very flavor, else those of workloads that get it."""
    named = {s.name for s in cluster.policy.shapes if flavor in s.flavors}
    known = [s for s in declared_shapes(cluster, flavor) if s.name in named]
    return [s for s in known or workload_shapes(cluster).get(flavor, ()) if s.accelerator is None and _basic(s)]


def _basic(shape: PodShape) -> list[str]:
    return [r for r in CO_RESOURCES if shape.request.get(r)]


def _contention(cluster: Cluster, flavor: str, resource: str, large: PodShape, small: PodShape) -> Contention | None:
    """None if no queue is promised large pods, or no other one small pods.

    Of pods without an accelerator the known ones count, no more: their quota is mostly meant for pods with one.
    """
    queues = [n for n in holders(cluster) if n.admits]
    cells = [(q, c) for q in queues if (c := q.cell.get((flavor, resource))) is not None and c.entitled]
    owners = [(q, c) for q, c in cells if large.queue in (None, q.name) and c.entitled >= large.request[resource]]
    if not owners:
        return None
    owner, cell = max(owners, key=lambda owned: (owned[1].entitled, owned[0].name))
    asked = small.accelerator or _basic(small)[0]
    held = [(q, q.cell.get((flavor, asked))) for q in queues if q is not owner and small.queue in (None, q.name)]
    others = [(c, pods) for q, c in held if c is not None and c.entitled and (pods := pods_within(q, flavor, small))]
    against = sum(pods for _, pods in others)
    if small.accelerator is None and not small.is_declared:
        against = min(against, small.count)
    if not against:
        return None
    wanted = pods_within(owner, flavor, large)
    return Contention(
        flavor=flavor,
        owner=owner.name,
        cell=cell,
        large=large,
        small=small,
        wanted=wanted,
        against=against,
        others=tuple(others),
    )


def _stays(cluster: Cluster, small: PodShape, large: PodShape) -> bool:
    """Return whether the small pods are another queue's and kube-scheduler will not preempt them for the large ones."""
    if small is large or (small.queue is not None and small.queue == large.queue):
        return False
    if small.template is None or large.template is None:
        return small.template is None and large.template is None
    mine, theirs = cluster.pod_priority(large.template), cluster.pod_priority(small.template)
    return (
        mine is not None
        and theirs is not None
        and (theirs >= mine or large.template.preemption_policy == NEVER_PREEMPTS)
    )


def _blocked(
    rivals: Contention, resource: str, enough: int | None, slots: int, groups: tuple[NodeGroup, ...]
) -> Finding:
    large = rivals.large.request[resource]
    room = f"only {slots} fit" if slots else "none fits"
    message = (
        f"{rivals.owner} is promised {plural(rivals.wanted, 'pod')} of {rivals.large.name} ({large} {resource} each) in "
        f"{rivals.flavor}; {plural(rivals.against, 'pod')} of {rivals.small.name} ({_small(rivals.small, resource)}), which "
        f"others may run within their quota, can be placed so that {room}"
    )
    if enough is not None and enough <= rivals.against:
        message += f"; {enough} of them are enough to block all nodes"
    found = finding(rivals.cell.place, message)
    for cell, pods in rivals.others:
        found = found.near(cell.place, f"{pods} pods of {rivals.small.name}")
    for group in groups:
        found = found.near(group.count_place, f"nodes of {group.name}")
    return found.with_data(
        flavor=rivals.flavor, queue=rivals.owner, large=rivals.large.name, small=rivals.small.name, promised=rivals.wanted,
        neighbours=rivals.against, slots=slots, enough=enough,
    )  # fmt: skip


def _small(shape: PodShape, resource: str) -> str:
    if shape.accelerator is not None:
        return f"{shape.request[resource]} each"
    return f"{names(f'{name_amount(r, shape.request[r])}' for r in _basic(shape))} each, no {resource}"
