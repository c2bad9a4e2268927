"""QC511: small pods of one queue that can make the large pods of another unplaceable."""

from __future__ import annotations

from qcheck.checks.capacity.arithmetic import names, plural
from qcheck.checks.registry import rule
from qcheck.checks.topology.packing import overpromised
from qcheck.checks.topology.stranding import CO_RESOURCES, known_cells, shapes_on
from qcheck.cluster.pods import NEVER_PREEMPTS
from qcheck.cluster.units import name_amount
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.findings.finding import Finding, finding
from qcheck.packing.flavor_question import LENIENT, nodes_of
from qcheck.schedulers.guarantees import holders, pods_within
from qcheck.schedulers.table import declared_shapes, workload_shapes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.packing.pod_shape import PodShape
    from qcheck.quota.tree import Cell
    from qcheck.supply.groups import NodeGroup

TRIED = 4
"""The number of kinds of pods without an accelerator to try against a flavor's large pods, most frequent first."""


class Rivals(Value):
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
    """Report queues whose large pods find no slot if others, within their own quota, place small pods badly."""
    broken = overpromised(cluster) if cluster.policy.shapes or cluster.workloads else frozenset()
    for flavor, resource, _, groups in known_cells(cluster):
        if (flavor, resource) not in broken and all(g.ceiling is not None for g in groups):
            fought = (_contended(cluster, rivals, resource, groups) for rivals in _rivals_on(cluster, flavor, resource))
            found = next((f for f in fought if f is not None), None)
            if found is not None:
                yield found


def _contended(cluster: Cluster, rivals: Rivals, resource: str, groups: tuple[NodeGroup, ...]) -> Finding | None:
    """Return a finding for the worst placement of the small pods on the nodes that accept them."""
    from qcheck.packing.adversary import pods_to_block, worst_case  # 0.2 ms
    from qcheck.packing.fragmentation import placeable  # 2 ms, with fractions

    large, small = rivals.large.request, rivals.small.request
    asked = tuple(sorted({*large, *small}))
    exposed = {g.name for g in groups if rivals.small.may_use(cluster, g, rivals.flavor)}
    nodes = {g.name: nodes_of(cluster, g, asked, LENIENT, rivals.wanted) for g in groups}
    safe = placeable([n for name, n in nodes.items() if name not in exposed], large)
    open_ = [n for name, n in nodes.items() if name in exposed]
    slots = safe + worst_case(open_, large, small, rivals.against).slots
    if not slots < rivals.wanted <= safe + placeable(open_, large):
        return None
    enough = None if safe else pods_to_block(open_, large, small)
    return _blocked(rivals, resource, enough, slots, groups)


def _rivals_on(cluster: Cluster, flavor: str, resource: str) -> Iterator[Rivals]:
    """Yield the largest pods of a flavor with their rivals.

    Rivals are the smallest pods that cannot be preempted for them, and pods that request only cpu and memory.
    """
    shapes = sorted(shapes_on(cluster, flavor, resource), key=lambda s: s.request[resource])
    if not shapes:
        return
    large = shapes[-1]
    smaller = [s for s in shapes if s.request[resource] < large.request[resource] and _stays(cluster, s, large)]
    bare = [s for s in _without_device(cluster, flavor) if _stays(cluster, s, large)]
    for small in (*smaller[:1], *sorted(bare, key=lambda s: (-s.count, s.name))[:TRIED]):
        rivals = _rivals(cluster, flavor, resource, large, small)
        if rivals is not None:
            yield rivals


def _without_device(cluster: Cluster, flavor: str) -> list[PodShape]:
    """Return shapes without accelerators: those declared for this flavor, else those of workloads that get it."""
    named = {s.name for s in cluster.policy.shapes if flavor in s.flavors}
    known = [s for s in declared_shapes(cluster, flavor) if s.name in named]
    return [s for s in known or workload_shapes(cluster).get(flavor, ()) if s.accelerator is None and _basic(s)]


def _basic(shape: PodShape) -> list[str]:
    return [r for r in CO_RESOURCES if shape.request.get(r)]


def _rivals(cluster: Cluster, flavor: str, resource: str, large: PodShape, small: PodShape) -> Rivals | None:
    """Return the rivals; None if no queue is promised large pods, or no other queue small pods.

    Only known pods without an accelerator count: their quota is mostly intended for pods with one.
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
    return Rivals(
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
    """Return whether the small pods are another queue's and kube-scheduler does not preempt them for the large ones."""
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


def _blocked(rivals: Rivals, resource: str, enough: int | None, slots: int, groups: tuple[NodeGroup, ...]) -> Finding:
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
