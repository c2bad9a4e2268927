"""QC504, QC505: quota and pods in units of whole nodes."""

from __future__ import annotations

from collections import Counter

from qcheck.checks.capacity.arithmetic import names, plural, titled
from qcheck.checks.registry import rule
from qcheck.cluster.resources import is_whole_device
from qcheck.cluster.units import name_amount, show_amount
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.cluster.views import view
from qcheck.findings.finding import Finding, finding
from qcheck.findings.severity import Severity
from qcheck.schedulers.table import asking as asking_for
from qcheck.schedulers.table import promises_of, trees_of, workload_shapes
from qcheck.supply.evictable_daemon_sets import evictable
from qcheck.supply.supply import supply_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.place import Place
    from qcheck.cluster.pods import PodTemplate
    from qcheck.cluster.workloads import DaemonSet
    from qcheck.quota.tree import Cell, CellKey
    from qcheck.supply.groups import NodeGroup


_MOST_FILLED = 1_000_000
"""The largest quota that is compared with every sum of pod sizes."""


class WholeNode(Value):
    """A request for all accelerators of a node: a declared shape, or a pod set and its template."""

    name: str
    place: Place | None
    template: PodTemplate | None


@rule("QC504")
def quota_not_node_multiple(cluster: Cluster) -> Iterator[Finding]:
    """Report nominal quota that is not a multiple of a node's devices, neither in total nor after DaemonSets.

    If pods of the queue are known, quota that their sizes can use up is not reported.
    """
    for (flavor, resource), quotas in promises_of(cluster).cells.items():
        sizes = _node_sizes(cluster, flavor, resource)
        if not is_whole_device(resource) or len(sizes) != 1:
            continue
        (whole, free), group = next(iter(sizes.items()))
        declared = _shape_sizes(cluster, flavor, resource)
        units = [u for u in declared or (whole, free) if u > 1]
        for quota in quotas:
            has_rest = quota.promised and units and all(quota.promised % u for u in units)
            asked = declared or (_asked_sizes(cluster, quota) if has_rest else [])
            if has_rest and not any(_is_completed(cluster, quota, u) for u in asked or units):
                fill = _fill(quota.promised, asked or units[:1])
                if fill is not None:
                    yield _rest(quota, asked, units[0], *fill).near(group.place, f"{group.name}: {whole} per node")


def _asked_sizes(cluster: Cluster, quota: Cell) -> list[int]:
    """Return the accelerators per pod of a queue's known workloads; for a cohort, of the workloads of all queues."""
    _, owner = promises_of(cluster).owners[id(quota)]
    known = workload_shapes(cluster).get(quota.pool, ())
    asked = (s.request.get(quota.resource, 0) for s in known if not owner.admits or s.queue == owner.name)
    return sorted({n for n in asked if n})


def _fill(amount: int, sizes: list[int]) -> tuple[int, int] | None:
    """Return the closest smaller and larger amounts that pods of these sizes use up; None if they use up the amount."""
    small = [s for s in sizes if s <= amount]
    if not small or amount > _MOST_FILLED:
        lower = max((amount // s * s for s in sizes), default=0)
        return None if lower == amount else (lower, min((amount // s + 1) * s for s in sizes))
    sums, most = 1, amount + small[0]
    for size in small:
        step = size
        while step <= most:
            sums |= sums << step
            step *= 2
        sums &= (1 << most + 1) - 1
    if sums >> amount & 1:
        return None
    lower = (sums & ((1 << amount) - 1)).bit_length() - 1
    above = sums >> amount
    return lower, min([amount + (above & -above).bit_length() - 1, *(s for s in sizes if s > amount)])


def _is_completed(cluster: Cluster, quota: Cell, unit: int) -> bool:
    """Return whether the rest can become a whole unit: the owner can borrow the difference, or lend the rest.

    The quota of a node above queues adds to theirs.
    """
    _, owner = promises_of(cluster).owners[id(quota)]
    beside: Counter[tuple[int, int | None]] = Counter(_amounts_below(cluster).get(quota.key))
    if owner.parent:
        own = owner.cell[quota.key]
        beside[own.promised, own.borrowable] -= 1
    if not owner.admits:
        return any(count and promised for (promised, _), count in beside.items())
    rest = quota.promised % unit
    if quota.borrowable is None or quota.borrowable >= unit - rest:
        return True
    takers = [n for (n, able), count in beside.items() if count and (able is None or able >= rest)]
    return quota.lendable >= rest and any((n + rest) % unit == 0 for n in takers)


@view
def _amounts_below(cluster: Cluster) -> dict[CellKey, Counter[tuple[int, int | None]]]:
    """Return the number of queues and cohorts below a parent by what they promise and can borrow of a cell."""
    found: dict[CellKey, Counter[tuple[int, int | None]]] = {}
    for node in (n for tree in trees_of(cluster) for n in tree.nodes if n.parent):
        for key, cell in node.cell.items():
            found.setdefault(key, Counter())[cell.promised, cell.borrowable] += 1
    return found


def _rest(quota: Cell, asked: list[int], unit: int, lower: int, upper: int) -> Finding:
    rest, unit = quota.promised - lower, asked[0] if len(asked) == 1 else unit
    times = quota.promised // unit
    sum_ = f" is {show_amount(quota.resource, times)} x {unit} + {rest}" if lower == times * unit else ""
    needs = " or ".join(map(str, asked))
    why = f", because pods need {needs} each" if asked else f" if each pod needs a whole node ({unit})"
    left = f"{rest} {'is' if rest == 1 else 'are'} stranded"
    found = finding(quota.place, f"{name_amount(quota.resource, quota.promised)}{sum_}: {left}{why}")
    for amount in (lower, upper) if lower else (upper,):
        words = f"Change the quota of {quota.holder} from {quota.promised} to {name_amount(quota.resource, amount)}."
        found = found.offering(quota.place, str(amount), words)
    return found.fixed_by(f"Write {lower or upper}{f' or {upper}' if lower else ''}.").with_data(
        resource=quota.resource, nominal=quota.promised, unit=unit, stranded=rest
    )


def _node_sizes(cluster: Cluster, flavor: str, resource: str) -> dict[tuple[int, int], NodeGroup]:
    """Return accelerators per node, in the machine and free, of the flavor's known groups.

    Shared devices have no size, because no pod requests all shares at once.
    """
    sizes: dict[tuple[int, int], NodeGroup] = {}
    for match in supply_of(cluster).matches(flavor):
        for node_class in match.group.classes:
            shared = resource in (node_class.machine.physical or {})
            whole = 0 if shared else node_class.machine.allocatable.get(resource, 0)
            if whole:
                sizes.setdefault((whole, node_class.free.get(resource, 0)), match.group)
    return sizes


def _shape_sizes(cluster: Cluster, flavor: str, resource: str) -> list[int]:
    wanted = (s.requests.get(resource, 0) for s in cluster.policy.shapes if not s.flavors or flavor in s.flavors)
    return sorted({n for n in wanted if n})


@rule("QC505")
def whole_node_pods_impossible(cluster: Cluster) -> Iterator[Finding]:
    """Report flavors whose machines could hold a pod of the full node size if nothing were taken from each of them."""
    for (flavor, resource), quotas in promises_of(cluster).cells.items():
        groups = [m.group for m in supply_of(cluster).matches(flavor) if m.group.advertises(resource)]
        if not is_whole_device(resource) or not groups or not any(q.promised for q in quotas):
            continue
        whole = max(c.machine.allocatable.get(resource, 0) for g in groups for c in g.classes)
        if whole > 1 and all(g.highest(resource) < whole for g in groups):
            yield _impossible(cluster, flavor, resource, whole, groups)


def _impossible(cluster: Cluster, flavor: str, resource: str, whole: int, groups: list[NodeGroup]) -> Finding:
    largest = max(promises_of(cluster).cells[flavor, resource], key=lambda q: q.promised)
    free = max(g.highest(resource) for g in groups)
    daemon_sets = _takers(groups, resource)
    asking = _asking(cluster, flavor, resource, whole)
    message = (
        f"no node of {titled(cluster, flavor)} can hold a pod of {whole} {resource}: {_takes(daemon_sets, groups)} "
        f"of the {whole} on each node, so at most {free} are free"
    )
    if asking:
        who = list(dict.fromkeys(a.name for a in asking))
        message += f"; {names(who)} {'asks' if len(who) == 1 else 'ask'} for {whole}"
    found = finding(largest.place, message).fixed_by(_help(daemon_sets, resource, free))
    for daemon_set in daemon_sets:
        found = found.near(daemon_set.template.place_of(resource), f"{daemon_set.name} takes them")
    for one in asking:
        found = found.near(one.place, f"{one.name} asks for {whole}")
    proven = any(not _may_evict(cluster, flavor, a, daemon_sets) for a in asking)
    return found.at_most(Severity.ERROR if proven else Severity.WARNING).with_data(
        flavor=flavor, resource=resource, wholeNode=whole, free=free, asking=[a.name for a in asking],
        daemonSets=[str(d.id) for d in daemon_sets] if _is_whole_without(groups, resource, whole) else [],
    )  # fmt: skip


def _is_whole_without(groups: list[NodeGroup], resource: str, whole: int) -> bool:
    """Return whether some node is whole without its DaemonSets."""
    classes = (c for g in groups for c in g.classes)
    return any(c.machine.allocatable.get(resource, 0) - c.reserved(resource) >= whole for c in classes)


def _takes(daemon_sets: list[DaemonSet], groups: list[NodeGroup]) -> str:
    if daemon_sets:
        verb = "takes" if len(daemon_sets) == 1 else "take"
        return f"{plural(len(daemon_sets), 'DaemonSet')} ({names(d.name for d in daemon_sets)}) {verb} some"
    reasons = sorted({r.reason for g in groups for c in g.classes for r in c.reserves if r.reason})
    return f"a reserve{f' ({names(reasons)})' if reasons else ''} takes some"


def _help(daemon_sets: list[DaemonSet], resource: str, free: int) -> str:
    smaller = f", or request at most {free} per pod." if free else "."
    if not daemon_sets:
        return f"Remove {resource} from `reserves` in the settings for some of these nodes{smaller}"
    listed = f"DaemonSet{'s' * (len(daemon_sets) > 1)} {names(d.name for d in daemon_sets)}"
    return f"Run {listed} without {resource} or on other nodes{smaller}"


def _takers(groups: list[NodeGroup], resource: str) -> list[DaemonSet]:
    found: dict[str, DaemonSet] = {}
    for group in groups:
        for node_class in group.classes:
            for taking in node_class.takings:
                if taking.certain and taking.amounts.get(resource, 0):
                    found.setdefault(taking.daemon_set.id.full_name, taking.daemon_set)
    return list(found.values())


def _asking(cluster: Cluster, flavor: str, resource: str, whole: int) -> list[WholeNode]:
    """Return declared shapes and pod sets of the flavor's queues that request a whole node's accelerators."""
    found = [
        WholeNode(f"shape {s.name}", None, None)
        for s in cluster.policy.shapes
        if s.requests.get(resource) == whole and (not s.flavors or flavor in s.flavors)
    ]
    queues = {n.name for t in trees_of(cluster) for n in t.nodes if n.admits and any(c.pool == flavor for c in n.cells)}
    pod_sets = asking_for(cluster, queues, resource, whole)
    return found + [WholeNode(str(w.id), p.template.place_of(resource), p.template) for w, p in pod_sets]


def _may_evict(cluster: Cluster, flavor: str, asking: WholeNode, daemon_sets: list[DaemonSet]) -> bool:
    """Return whether kube-scheduler may evict every DaemonSet pod in the way; for a declared shape it may not."""
    templates = [asking.template] if asking.template is not None else []
    return bool(daemon_sets) and len(evictable(cluster, [flavor], templates, daemon_sets)) == len(daemon_sets)
