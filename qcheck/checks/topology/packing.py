"""QC506: quota that the nodes cover in total, but whose pods do not fit."""

from __future__ import annotations

from qcheck.checks.capacity.arithmetic import SHOWN, names, plural
from qcheck.checks.registry import rule
from qcheck.cluster.quota_pool import pool_name
from qcheck.cluster.units import name_amount, show_amount
from qcheck.cluster.value import TYPE_CHECKING, replace
from qcheck.findings.finding import Finding, finding
from qcheck.findings.severity import Severity
from qcheck.packing.flavor_question import PodDemand, Without, judge
from qcheck.schedulers.guarantees import (
    Guarantee,
    counted_guarantees,
    declared_guarantees,
    demands,
    holders,
    largest_per_queue,
    reach,
    sharing,
    workload_guarantees,
)
from qcheck.schedulers.table import asking, promises_of
from qcheck.supply.evictable_daemon_sets import evictable
from qcheck.supply.supply import supply_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.pods import PodTemplate
    from qcheck.cluster.workloads import DaemonSet
    from qcheck.packing.flavor_question import PackingVerdict, PodDemand
    from qcheck.packing.pod_shape import PodShape
    from qcheck.quota.tree import CellKey
    from qcheck.schedulers.guarantees import Guarantee
    from qcheck.supply.groups import Taking

    Judged = list[tuple[Guarantee, PackingVerdict]]


LISTED = 4
"""The number of guarantees that a message lists individually."""


@rule("QC506")
def shapes_do_not_pack(cluster: Cluster) -> Iterator[Finding]:
    """Report pods within guaranteed quota that do not fit on the nodes, alone or all together."""
    if not cluster.policy.shapes and not cluster.workloads:
        return
    yield from _asked_for(cluster)
    for guarantees in declared_guarantees(cluster).values():
        yield from _packed(cluster, guarantees, Severity.ERROR)
    yield from _packed(cluster, largest_per_queue(workload_guarantees(cluster)), Severity.WARNING)


def _packed(cluster: Cluster, guarantees: list[Guarantee], severity: Severity) -> Iterator[Finding]:
    """Report guarantees that fail alone, then those that fail together on shared nodes, then borrowing out of reach."""
    broken = overpromised(cluster)
    held = [g for g in guarantees if is_left_to_packing(cluster, g.pool, g.shape, broken)]
    alone = [(g, v) for g in held if (v := judge(cluster, [g.demand()])) is not None]
    yield from _each_alone(cluster, [(g, v) for g, v in alone if v.fails], severity)
    for part in sharing(cluster, [g for g, v in alone if not v.fails]):
        is_listed = 1 < len(part) <= SHOWN
        asked = [g.demand(f"{g.shape.name} of {g.holder}") for g in part] if is_listed else demands(part)
        together = judge(cluster, asked)
        if together is not None and together.fails:
            yield _too_much(cluster, part, together, severity)
        elif severity is Severity.ERROR:
            yield from _out_of_reach(cluster, part)


def _each_alone(cluster: Cluster, failing: Judged, severity: Severity) -> Iterator[Finding]:
    """Report one finding per shape and flavor, with the other queues that are affected."""
    for kind in dict.fromkeys((g.shape.name, g.pool) for g, _ in failing):
        (worst, verdict), *others = sorted(
            ((g, v) for g, v in failing if (g.shape.name, g.pool) == kind), key=lambda gv: -gv[0].pods
        )
        found = _too_much(cluster, [worst], verdict, severity)
        for each, _ in others:
            found = found.near(each.cell.place, _promise(each))
        yield found


def overpromised(cluster: Cluster) -> frozenset[CellKey]:
    """Return cells whose sums already exceed the nodes, which QC101 reports."""
    resources = {r for _, r in promises_of(cluster).cells if not supply_of(cluster).is_virtual(r)}
    return frozenset(
        (f, r) for r in resources for over in promises_of(cluster).overdrafts(r, at_best=True) for f in over.pools
    )


def is_left_to_packing(cluster: Cluster, flavor: str, shape: PodShape, broken: frozenset[CellKey]) -> bool:
    """Return whether no simpler rule applies: QC101 for sums, QC505 for whole nodes that a DaemonSet reduces."""
    if any((flavor, resource) in broken for resource in shape.request):
        return False
    accelerator = shape.accelerator or ""
    groups = [m.group for m in supply_of(cluster).matches(flavor) if m.group.advertises(accelerator)]
    whole = max((c.machine.allocatable.get(accelerator, 0) for g in groups for c in g.classes), default=0)
    taken = all(g.highest(accelerator) < whole for g in groups)
    return bool(groups) and not (taken and shape.request[accelerator] == whole)


def _too_much(cluster: Cluster, short: list[Guarantee], verdict: PackingVerdict, severity: Severity) -> Finding:
    largest = max(short, key=lambda g: g.cell.promised)
    promises = names(_promise(g) for g in short) if len(short) <= LISTED else _promises(short)
    message = f"{promises}, which do not fit{' together' if len(short) > 1 else ''}: {verdict.why()}"
    found = finding(largest.cell.place, message)
    for each in short:
        found = found if each is largest else found.near(each.cell.place, _promise(each))
    found = _as_settled(cluster, found, short, verdict).at_most(severity).with_data(declared=severity is Severity.ERROR)
    return _by_eviction(cluster, found, short, [g.demand() for g in short])


def _promises(short: list[Guarantee]) -> str:
    """Return many guarantees in one sum."""
    resource = short[0].cell.resource
    total, pods = sum(g.cell.promised for g in short), sum(g.pods for g in short)
    flavors, shapes = sorted({pool_name(g.pool) for g in short}), dict.fromkeys(g.shape.name for g in short)
    quota = f"{name_amount(resource, total)} of {len(short)} queues in {names(flavors)}"
    return f"{quota} is {plural(pods, 'pod')} of {names(shapes)}"


def _promise(given: Guarantee) -> str:
    resource = given.cell.resource
    quota = f"{name_amount(resource, given.cell.promised)} of {given.holder} in {pool_name(given.pool)}"
    return f"{quota} is {plural(given.pods, 'pod')} of {given.shape.name} ({show_amount(resource, given.size)} each)"


def _as_settled(cluster: Cluster, found: Finding, short: list[Guarantee], verdict: PackingVerdict) -> Finding:
    for each in short:
        found = found.near(each.shape.place, f"one pod of {each.shape.name}")
    resource = short[0].cell.resource
    for taking in _takings(cluster, short, {resource}):
        caption = f"DaemonSet {taking.daemon_set.name} takes {taking.amounts[resource]} on each node"
        found = found.near(taking.daemon_set.template.place_of(resource), caption)
    return found.likely(not verdict.certain).with_data(
        flavors=sorted({pool_name(g.pool) for g in short}),
        queues=[g.holder for g in short],
        shapes=sorted({g.shape.name for g in short}),
        pods=sum(g.pods for g in short),
        together=len(short) > 1,
    )


def _takings(cluster: Cluster, short: list[Guarantee], resources: set[str]) -> list[Taking]:
    """Return the DaemonSets that take some of the resources of the nodes in question, each once."""
    classes = [c for g in short for m in supply_of(cluster).matches(g.pool) for c in m.group.classes]
    found = {t.daemon_set.id: t for c in classes for t in c.takings if t.certain and any(map(t.amounts.get, resources))}
    return list(found.values())


def _by_eviction(cluster: Cluster, found: Finding, short: list[Guarantee], demands: list[PodDemand]) -> Finding:
    """Lower a finding to a warning if the pods fit once kube-scheduler evicts DaemonSets of lower priority."""
    flavors, templates = {f for w in demands for f in w.flavors}, _templates(cluster, short)
    for resources in ({short[0].cell.resource}, {r for g in short for r in g.shape.request}):
        in_the_way = [t.daemon_set for t in _takings(cluster, short, resources)]
        daemon_sets = evictable(cluster, flavors, templates, in_the_way)
        rest = judge(cluster, demands, Without(evicted=frozenset(d.id for d in daemon_sets))) if daemon_sets else None
        if rest is not None and not rest.fails:
            message = (
                f"{found.message}; they fit only if kube-scheduler evicts {_ranked(cluster, daemon_sets)} for them"
            )
            return (
                replace(found, message=message)
                .at_most(Severity.WARNING)
                .with_data(evicted=[d.name for d in daemon_sets], daemonSets=[str(d.id) for d in daemon_sets])
            )
    return found


def _ranked(cluster: Cluster, daemon_sets: list[DaemonSet]) -> str:
    ranks = [(d, cluster.pod_priority(d.template)) for d in daemon_sets]
    return names(
        f"DaemonSet {d.name} ({'of unknown priority' if rank is None else f'of lower priority, {rank}'})"
        for d, rank in ranks
    )


def _templates(cluster: Cluster, short: list[Guarantee]) -> list[PodTemplate]:
    """Return the known pods behind guarantees; for a declared shape, the queue's pods with equally many devices."""
    everyone = frozenset(n.name for n in holders(cluster) if n.admits)
    found = [g.shape.template for g in short if g.shape.template is not None]
    for given in (g for g in short if g.shape.is_declared):
        queues = frozenset({given.node.name} if given.node.admits else ()) & everyone or everyone
        known = [p.template for _, p in asking(cluster, queues, given.cell.resource, given.size)]
        if not known:
            return []
        found += known
    return found


def _out_of_reach(cluster: Cluster, part: list[Guarantee]) -> Iterator[Finding]:
    """Report borrowing that quota allows but nodes do not, even if all other queues are idle."""
    for given in part:
        most = replace(given, pods=reach(given))
        verdict = judge(cluster, [most.demand()]) if most.pods > given.pods else None
        if verdict is not None and verdict.fails:
            limit = given.cell.limit_place
            message = (
                f"with all that {given.holder} may borrow in {pool_name(given.pool)}, "
                f"it admits {plural(most.pods, 'pod')} of {given.shape.name}, which do not fit even "
                f"if the other queues are idle: {verdict.why()}"
            )
            found = finding(limit or given.cell.place, message)
            yield _as_settled(cluster, found, [most], verdict).at_most(Severity.WARNING).with_data(declared=True)


def _asked_for(cluster: Cluster) -> Iterator[Finding]:
    """Report declared shapes with a number of pods if those that share nodes do not fit at once."""
    demanded = counted_guarantees(cluster)
    first = [given for given, _ in demanded.values()]
    for part in sharing(cluster, first):
        demands = [PodDemand(g.shape.name, g.shape, g.pods, demanded[g.shape.name][1]) for g in part]
        verdict = judge(cluster, demands)
        if verdict is not None and verdict.fails:
            flavors = sorted({f for g in part for f in demanded[g.shape.name][1]})
            asked = names(f"{plural(g.pods, 'pod')} of {g.shape.name}" for g in part)
            message = (
                f"the settings require that {asked} fit in {names(map(pool_name, flavors))} at once: {verdict.why()}"
            )
            found = finding(max(part, key=lambda g: g.cell.promised).cell.place, message)
            found = _as_settled(cluster, found, part, verdict).with_data(declared=True, flavors=list(flavors))
            yield _by_eviction(cluster, found, part, demands)
