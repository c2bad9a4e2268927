"""Edits that may resolve findings: proposals, best first, for whoever applies and judges them.

A proposal is only an idea: nothing here says that it works. `qcheck.pipeline.suggest` applies each to what was read and runs
the rules again before anybody sees it.
"""

from __future__ import annotations

from enum import StrEnum

from qcheck.cluster.place import Place, follow
from qcheck.cluster.quantity import written_amount
from qcheck.cluster.quota_pool import SchedulerName
from qcheck.cluster.resources import is_compute
from qcheck.cluster.units import name_amount, named, show_amounts
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.quota.lowering import Adjustable, GroupCapacity, divided, lowerings
from qcheck.quota.tree import Cell
from qcheck.schedulers.table import promises_of
from qcheck.supply.supply import supply_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from qcheck.cluster.cluster import Cluster
    from qcheck.quota.max_flow import Overdraft
    from qcheck.supply.groups import NodeGroup

MEGABYTE = 10**6
MOST_QUOTAS = 6
"""How many ways to lower quotas are tried for one cause."""


class Kind(StrEnum):
    """What a proposal changes, in the order in which alternatives are tried."""

    QUOTA = "quota"
    NODES = "nodes"
    DAEMON_SET = "daemonset"
    SHAPE = "shape"
    LABEL = "label"
    NAME = "name"


class Mode(StrEnum):
    """How quotas are lowered: the fewest, all in proportion, or set from what the nodes have."""

    MINIMAL = "minimal"
    PROPORTIONAL = "proportional"
    FILL = "fill"


class Headroom(Value):
    """What `fill` leaves free: a number of devices, of nodes, or a part of the whole in percent."""

    devices: int = 0
    nodes: int = 0
    percent: int = 0


class Wishes(Value):
    """What the user asks of suggestions.

    `kept` queues and the cells at `kept_places` (path, line) keep their quota; `floors` are the least of a queue's
    accelerators.
    """

    mode: Mode = Mode.MINIMAL
    kept: frozenset[str] = frozenset()
    kept_places: frozenset[tuple[str, int]] = frozenset()
    floors: dict[str, int] = {}
    headroom: Headroom = Headroom()

    def keeps(self, cell: Cell) -> bool:
        """Return whether a cell's amount must stay."""
        return cell.holder in self.kept or (cell.place.origin.path, cell.place.span[0]) in self.kept_places

    def floor(self, cell: Cell) -> int | None:
        """Return the least that a cell may be lowered to; None where it is kept."""
        if self.keeps(cell):
            return None
        return self.floors.get(cell.holder, 0) if is_compute(cell.resource) else 0


class Proposal(Value):
    """Other values at some places, and in words what they do. `proved`: no smaller edit of this kind would do."""

    kind: Kind
    values: tuple[tuple[Place, str], ...]
    words: str
    proved: bool = True


def overdraft_proposals(cluster: Cluster, resource: str, wishes: Wishes) -> Iterator[Proposal]:
    """Yield what may resolve promises of a resource beyond what the nodes can ever supply."""
    for tree in promises_of(cluster).trees:
        overdrafts = promises_of(cluster).overdrafts(resource, at_best=True, schedulers=(tree.scheduler,))
        if overdrafts:
            yield from _lower(cluster, tree.scheduler, resource, wishes)
            for over in overdrafts:
                yield from _more_nodes(cluster, resource, over)
                yield from _no_daemon_sets(cluster, resource, over)


def filling_proposals(cluster: Cluster, wishes: Wishes) -> Iterator[Proposal]:
    """Yield the quotas that use what the nodes of each pool have, but for the headroom."""
    for (pool, resource), cells in promises_of(cluster).cells.items():
        supply = supply_of(cluster)
        if not is_compute(resource) or not supply.matches(pool) or not supply.is_known(pool, resource):
            continue
        total = max(0, supply.static(pool, resource) - _kept_free(cluster, pool, resource, wishes.headroom))
        values = _divided(cluster, cells, total, wishes)
        if values:
            words = f"divide {name_amount(resource, total)} of {cluster.quota_pools[pool].title}"
            yield Proposal(Kind.QUOTA, values, words)


def _kept_free(cluster: Cluster, pool: str, resource: str, headroom: Headroom) -> int:
    each = max((m.group.lowest(resource) for m in supply_of(cluster).matches(pool)), default=0)
    whole = supply_of(cluster).static(pool, resource)
    return headroom.devices + headroom.nodes * each - (-whole * headroom.percent // 100)


def _divided(cluster: Cluster, cells: Sequence[Cell], total: int, wishes: Wishes) -> tuple[tuple[Place, str], ...]:
    """The cells that change where a total is divided by the shares of the settings, else as it is divided now."""
    floors = [c.promised if (f := wishes.floor(c)) is None else f for c in cells]
    shares = cluster.policy.shares
    weights = [0 if wishes.keeps(c) else shares.get(c.holder, 0) if shares else c.promised for c in cells]
    amounts = divided(
        total,
        weights,
        [f if w or wishes.keeps(c) else c.promised for c, w, f in zip(cells, weights, floors, strict=True)],
    )
    return tuple((c.place, written(cluster, c, n)) for c, n in zip(cells, amounts, strict=True) if n != c.promised)


def _lower(cluster: Cluster, scheduler: SchedulerName, resource: str, wishes: Wishes) -> Iterator[Proposal]:
    _, reach, capacity = promises_of(cluster).demand_and_supply(resource, scheduler)
    cells = [
        c
        for (pool, name), held in promises_of(cluster).cells.items()
        if name == resource and pool in reach
        for c in held
    ]
    if wishes.mode is not Mode.MINIMAL:
        whole = GroupCapacity(reach, capacity)
        by_pool: dict[str, int] = {}
        for cell in cells:
            by_pool[cell.pool] = by_pool.get(cell.pool, 0) + cell.promised
        values = _divided(cluster, cells, whole.met(by_pool), wishes)
        if values:
            yield Proposal(Kind.QUOTA, values, f"lower all quotas of {resource} in proportion")
        return
    adjustable = [
        Adjustable(cell=c, floor=wishes.floor(c), yields_last=cluster.policy.is_reserved(c.holder))
        for c in cells
        if c.promised
    ]
    for count, found in enumerate(lowerings(adjustable, GroupCapacity(reach, capacity))):
        if count == MOST_QUOTAS:
            return
        exact = tuple((c, n) for c, n in found.amounts)
        rounded = tuple(
            (c, n - n % unit) for (c, n), unit in zip(exact, [_unit(cluster, c) for c, _ in exact], strict=True)
        )
        for amounts in dict.fromkeys((exact, rounded)):
            if all(n >= (wishes.floor(c) or 0) for c, n in amounts):
                yield Proposal(
                    kind=Kind.QUOTA,
                    values=tuple((c.place, written(cluster, c, n)) for c, n in amounts),
                    words="lower " + " and ".join(_cut(c, n) for c, n in amounts),
                    proved=found.proved,
                )


def _cut(cell: Cell, amount: int) -> str:
    was, now = show_amounts(cell.resource, cell.promised, amount)
    return f"the quota of {cell.holder} from {was} to {named(cell.resource, now)}"


def _unit(cluster: Cluster, cell: Cell) -> int:
    """The devices that a node of the cell's pool leaves for pods; memory and cores come in any amount."""
    if not is_compute(cell.resource):
        return 1
    return max(1, min((m.group.lowest(cell.resource) for m in supply_of(cluster).matches(cell.pool)), default=1))


def written(cluster: Cluster, cell: Cell, amount: int) -> str:
    """Return an amount as its scheduler's manifests write it: a quantity, or a plain number in KAI's units. Rounds down."""
    pool = cluster.quota_pools.get(cell.pool)
    if pool is not None and pool.scheduler is SchedulerName.KAI:
        return str(amount // MEGABYTE if cell.resource == "memory" else amount)
    return written_amount(cell.resource, amount)


def _more_nodes(cluster: Cluster, resource: str, over: Overdraft) -> Iterator[Proposal]:
    """As many nodes more of one pool as make up for what is missing."""
    short = over.wanted - over.supply
    for group in supply_of(cluster).groups:
        each, count = group.highest(resource), count_of(group)
        if group.name in over.groups and each > 0 and count is not None:
            place, value = count
            more = -(-short // each)
            nodes = f"{more} more node{'s' * (more != 1)} of {group.name}, {each} {resource} each"
            yield Proposal(Kind.NODES, ((place, str(value + more)),), f"add {nodes}: {value} becomes {value + more}")


def count_of(group: NodeGroup) -> tuple[Place, int] | None:
    """Return the number that says how many nodes a group has at most, and where it is written as one."""
    for place in (group.count_place, group.count_place.at("max")):
        value = follow(place.origin.data, place.route)
        if isinstance(value, int) and not isinstance(value, bool):
            return place, value
    return None


def _no_daemon_sets(cluster: Cluster, resource: str, over: Overdraft) -> Iterator[Proposal]:
    """The DaemonSets that take the resource without it."""
    groups = [g for g in supply_of(cluster).groups if g.name in over.groups]
    found = {
        t.daemon_set.id: t.daemon_set
        for g in groups
        for c in g.classes
        for t in c.takings
        if t.amounts.get(resource, 0)
    }
    for daemon_set in found.values():
        places = list(_requests(daemon_set.template.place, resource))
        if places:
            words = f"run DaemonSet {daemon_set.name} without {resource}"
            yield Proposal(Kind.DAEMON_SET, tuple((p, "0") for p in places), words)


def _requests(template: Place, resource: str) -> Iterator[Place]:
    """Where the containers of a pod template write a request or limit."""
    for containers in ("containers", "initContainers"):
        found = follow(template.origin.data, (*template.route, containers))
        for index in range(len(found) if isinstance(found, list) else 0):
            for part in ("requests", "limits"):
                place = template.at(containers, index, "resources", part, resource)
                if place.exists:
                    yield place
