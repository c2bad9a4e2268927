"""QC107, QC111: accelerator quota with too little cpu or memory, and guarantees that need every node to be healthy."""

from __future__ import annotations

from collections import Counter

from qcheck.checks.capacity.arithmetic import names, plural
from qcheck.checks.registry import rule
from qcheck.cluster.quantity import written_amount
from qcheck.cluster.quota_pool import is_flavor, pool_name
from qcheck.cluster.resources import is_compute
from qcheck.cluster.units import name_amount, named, show_amount, show_amounts
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.findings.finding import Finding, finding
from qcheck.packing.flavor_question import Without, groups_behind, judge, label_of
from qcheck.packing.question import Fits
from qcheck.schedulers.guarantees import (
    counted_guarantees,
    declared_guarantees,
    demands,
    holders,
    largest_per_queue,
    sharing,
    workload_guarantees,
)
from qcheck.schedulers.table import declared_shapes, queue_shapes
from qcheck.supply.supply import supply_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.packing.flavor_question import PackingVerdict
    from qcheck.packing.pod_shape import PodShape
    from qcheck.quota.tree import Cell, QuotaNode
    from qcheck.schedulers.guarantees import Guarantee
    from qcheck.supply.groups import NodeGroup

CO_RESOURCES = ("cpu", "memory")
SUSPICIOUS = 2**20
"""The memory quota below which QC007 reports a missing suffix."""


class CoResourceShortage(Value):
    """A quota of another resource that suffices for only `usable` of the accelerators promised with it."""

    devices: Cell
    beside: Cell
    needed: int
    usable: int
    by: str


class LostDomain(Value):
    """A domain that may fail as a whole: its level, a name for messages, and its number of nodes."""

    level: str
    label: str
    nodes: int


@rule("QC107")
def co_resource_short(cluster: Cluster, percent: int = 50) -> Iterator[Finding]:
    """Report cpu or memory quota that is too small to use the accelerator quota.

    KAI's queues take cpu and memory by weight (QC919 reports queues without both); Volcano's reclaim by any resource
    that they deserve.
    """
    for node in holders(cluster):
        for devices in node.cells if node.admits else ():
            if is_compute(devices.resource) and devices.entitled > 0 and is_flavor(devices.pool):
                for beside in CO_RESOURCES:
                    cell = node.cell.get((devices.pool, beside))
                    if cell is not None:
                        yield from _short(cluster, node, devices, cell, percent)


def _short(cluster: Cluster, node: QuotaNode, devices: Cell, beside: Cell, percent: int) -> Iterator[Finding]:
    if beside.resource == "memory" and 0 < beside.entitled < SUSPICIOUS:
        return
    shapes = _shapes(cluster, node.name, devices)
    short = _by_shapes(shapes, devices, beside) if shapes else _by_nodes(cluster, devices, beside, percent)
    if beside.entitled == 0:
        needed = short.needed if short is not None else 0
        short = CoResourceShortage(devices=devices, beside=beside, needed=needed, usable=0, by="")
    if short is not None:
        found = _co_resource(node.name, short)
        yield found if node.id is None else found.about(node.id)


def _co_resource(name: str, short: CoResourceShortage) -> Finding:
    devices, beside, resource = short.devices, short.beside, short.beside.resource
    promised = f"{name} is promised {name_amount(devices.resource, devices.entitled)} in {pool_name(devices.pool)}"
    if beside.entitled == 0:
        message = (
            f"{promised} and 0 {resource}: every pod must borrow its {resource}, so the queue cannot reclaim its "
            f"accelerators from borrowers"
        )
    else:
        has, needs = show_amounts(resource, beside.entitled, short.needed)
        usable = f"only {short.usable}" if short.usable else "none"
        message = f"{promised} with {named(resource, has)}: {short.by} they need {needs}, so {usable} can be used"
    found = finding(beside.place, message)
    if short.needed:
        was, now = show_amounts(resource, beside.entitled, short.needed)
        words = f"Raise the quota of {name} from {was} to {named(resource, now)}."
        found = found.offering(beside.place, written_amount(resource, short.needed, up=True), words)
    return found.near(devices.place, f"{name_amount(devices.resource, devices.entitled)}").with_data(
        queue=name, flavor=pool_name(devices.pool), resource=resource, quota=beside.entitled, needed=short.needed,
        accelerators=devices.entitled, usable=short.usable,
    )  # fmt: skip


def _shapes(cluster: Cluster, queue: str, devices: Cell) -> list[PodShape]:
    """Return the shapes of this queue's pods.

    These are the flavor's declared shapes, else those of known workloads that would use at least half of the
    accelerators.
    """
    resource, most = devices.resource, devices.entitled
    known = declared_shapes(cluster, devices.pool) or [
        s
        for s in queue_shapes(cluster).get((devices.pool, queue), ())
        if s.accelerator == resource and 2 * s.count * s.request[resource] >= most
    ]
    return [s for s in known if s.accelerator == resource and s.request[resource] <= most]


def _by_shapes(shapes: list[PodShape], devices: Cell, beside: Cell) -> CoResourceShortage | None:
    """Return a shortage for every known shape; pods of any other shape would use up the accelerators."""
    worst: list[CoResourceShortage] = []
    for shape in shapes:
        asked, size = shape.request.get(beside.resource, 0), shape.request[devices.resource]
        pods = devices.entitled // size
        if asked * pods <= beside.entitled:
            return None
        by = f"as {plural(pods, 'pod')} of {shape.name}, {show_amount(beside.resource, asked)} each,"
        worst.append(
            CoResourceShortage(
                devices=devices, beside=beside, needed=asked * pods, usable=beside.entitled // asked * size, by=by
            )
        )
    return max(worst, key=lambda s: s.usable, default=None)


def _by_nodes(cluster: Cluster, devices: Cell, beside: Cell, percent: int) -> CoResourceShortage | None:
    """Return a shortage far below the nodes' own ratio per accelerator, if no shape is known."""
    ratios = [
        (c.free.get(beside.resource, 0), c.machine.allocatable[devices.resource], m.group)
        for m in supply_of(cluster).matches(devices.pool)
        for c in m.group.classes
        if c.machine.allocatable.get(devices.resource, 0) and c.knows(beside.resource)
    ]
    if not ratios:
        return None
    held, count, group = min(ratios, key=lambda r: r[0] * 10**6 // r[1])
    needed = held * devices.entitled // count
    if beside.entitled * 100 >= needed * percent:
        return None
    by = f"at {show_amount(beside.resource, held)} per {count}, as on {group.name},"
    return CoResourceShortage(
        devices=devices, beside=beside, needed=needed, usable=beside.entitled * count // max(1, held), by=by
    )


@rule("QC111")
def no_failure_headroom(cluster: Cluster) -> Iterator[Finding]:
    """Report guarantees that fit, but not if any one node of a pool, or one domain that gangs require, is lost."""
    for guarantees in _guarantees(cluster):
        for part in sharing(cluster, guarantees):
            found = next(_without_a_node(cluster, part), None) or next(_without_a_domain(cluster, part), None)
            if found is not None:
                yield found


def _guarantees(cluster: Cluster) -> list[list[Guarantee]]:
    """Return guarantees by declared shape, and for the largest pods of workloads that need half of their quota.

    Shapes that state a number of pods are combined, except shapes for several flavors.
    """
    if not cluster.policy.shapes and not cluster.workloads:
        return []
    counted = [given for given, pools in counted_guarantees(cluster).values() if len(pools) == 1]
    known = [g for g in largest_per_queue(workload_guarantees(cluster)) if 2 * g.shape.count >= g.pods]
    return [*declared_guarantees(cluster).values(), counted, known]


def _without_a_node(cluster: Cluster, part: list[Guarantee]) -> Iterator[Finding]:
    asked = demands(part)
    groups = _bounded_groups(cluster, part)
    for group in _without_spare(groups, judge(cluster, asked)):
        less = judge(cluster, asked, Without({group.name: 1}))
        if group.ceiling and less is not None and less.fails:
            yield _no_headroom(part, group, less.why()).likely(not less.certain)


def _without_spare(groups: tuple[NodeGroup, ...], now: PackingVerdict | None) -> Iterator[NodeGroup]:
    """Yield the groups all of whose nodes the placement found uses: it is valid without an unused node."""
    used = Counter[int]()
    names = [label_of(g) for g in groups]
    if now is not None and isinstance(now.answer, Fits) and names == [n.label for n in now.question.nodes]:
        for put in now.answer.witness:
            used[put.node] += put.times * any(put.filling)
        counts = now.question.counts
        groups = tuple(g for at, g in enumerate(groups) if used[at] >= counts[at])
    yield from groups


def _bounded_groups(cluster: Cluster, part: list[Guarantee]) -> tuple[NodeGroup, ...]:
    """Return the nodes on which guarantees fit now; none if they do not fit, or if more nodes can always be added."""
    groups = groups_behind(cluster, sorted({g.pool for g in part})) or ()
    now = judge(cluster, demands(part))
    fits = now is not None and not now.fails
    return groups if fits and all(g.ceiling is not None for g in groups) else ()


def _without_a_domain(cluster: Cluster, part: list[Guarantee]) -> Iterator[Finding]:
    """Report the loss of a rack or NVLink domain, if pods of the guarantees require such a level."""
    required = sorted({(g.pool, g.shape.level) for g in part if g.shape.level})
    groups = {g.name: g for g in _bounded_groups(cluster, part)} if required else {}
    if not groups:
        return
    from qcheck.packing.required_domain import domains_to_lose  # 1 ms

    asked = demands(part)
    for flavor, level in required:
        for label, nodes in domains_to_lose(cluster, flavor, level).items():
            less = judge(cluster, asked, Without(nodes))
            if less is not None and less.fails:
                largest = groups[max(nodes, key=lambda name: nodes[name])]
                domain = LostDomain(level, label, sum(nodes.values()))
                yield _no_headroom(part, largest, less.why(), domain).likely(not less.certain)


def _no_headroom(part: list[Guarantee], group: NodeGroup, why: str, domain: LostDomain | None = None) -> Finding:
    largest = max(part, key=lambda g: g.cell.promised)
    flavors = sorted({pool_name(g.pool) for g in part})
    healthy, less = f"node of {group.name}", "with one fewer"
    if domain is not None:
        healthy, less = f"domain of {domain.level}", f"without one ({plural(domain.nodes, 'node')} of {domain.label})"
    message = f"the guaranteed quota of {names(flavors)} fits only while every {healthy} is healthy; {less}, {why}"
    found = finding(group.count_place, message).near(largest.cell.place, "guaranteed here")
    return found.with_data(
        flavors=list(flavors), pool=group.name, shapes=sorted({g.shape.name for g in part}),
        level=domain.level if domain else None, nodes=domain.nodes if domain else 1,
    )  # fmt: skip
