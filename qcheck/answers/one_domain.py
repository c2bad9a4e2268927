"""Placement of pods that a scheduler other than Kueue starts in one topology domain."""

from __future__ import annotations

from qcheck.cluster.problems import NODES
from qcheck.cluster.reasons import Reason, ReasonCode
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.packing.domains import at_level
from qcheck.packing.flavor_domains import layout
from qcheck.packing.flavor_question import PLAIN
from qcheck.packing.gangs import Gang, GangQuestion, pack_gangs
from qcheck.packing.kube_scheduler import Schedule, schedule
from qcheck.packing.question import Fits, Pods
from qcheck.packing.required_domain import GangRequest, misfit
from qcheck.quota.start_decision import RequiredNodeSet
from qcheck.supply.eligibility import hosts
from qcheck.supply.pod_requests import scheduled
from qcheck.supply.supply import supply_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qcheck.cluster.cluster import Cluster
    from qcheck.packing.kube_scheduler import Wanted
    from qcheck.packing.required_domain import Misfit
    from qcheck.quota.start_decision import RequiredDomain
    from qcheck.supply.pod_requests import LimitRangeBounds


def in_one_domain(
    cluster: Cluster,
    limits: LimitRangeBounds,
    wanted: Sequence[Wanted],
    domain: RequiredDomain | RequiredNodeSet,
    anywhere: Schedule,
) -> Schedule:
    """Return the placement of pods in one domain, given that of the same pods without this requirement."""
    if isinstance(domain, RequiredNodeSet):
        return _in_one_set(cluster, limits, wanted, domain)
    return _in_one_level(cluster, limits, wanted, domain, anywhere)


def _in_one_set(
    cluster: Cluster, limits: LimitRangeBounds, wanted: Sequence[Wanted], asked: RequiredNodeSet
) -> Schedule:
    tried: list[bool | None] = []
    for each in asked.sets:
        answer = schedule(cluster, limits, wanted, each.groups) if each.groups else None
        if answer is not None and answer.runs:
            return answer
        tried += [answer.runs] if answer is not None else []
    is_certain = asked.is_known and all(runs is False for runs in tried) and (bool(tried) or not asked.sets)
    need = f"needs its {sum(w.count for w in wanted)} pods in one {asked.words}"
    if not is_certain:
        message = f"{need}, but {'it is not known whether one can hold them' if asked.sets else 'none was read'}"
        return Schedule(None, reasons=(Reason(ReasonCode.NODES_UNKNOWN, "uncertain", message, asked.place),))
    if not asked.sets:
        message = f"{need}, but none exists"
        return Schedule(False, reasons=(Reason(ReasonCode.UNSCHEDULABLE, "domain", message, asked.place),))
    sizes = {each.name: sum(group.ceiling or 0 for group in each.groups) for each in asked.sets}
    largest = max(sizes, key=lambda name: sizes[name])
    message = f"{need}, but none holds them: the largest, {largest}, has {sizes[largest]} nodes"
    return Schedule(False, reasons=(Reason(ReasonCode.UNSCHEDULABLE, "domain", message, asked.place),))


def _in_one_level(
    cluster: Cluster, limits: LimitRangeBounds, wanted: Sequence[Wanted], domain: RequiredDomain, anywhere: Schedule
) -> Schedule:
    """Return the placement of pods in one domain of a level.

    If no node has the level's label, it may still come from an unread source; then nothing is proved.
    """
    requests = [scheduled(cluster, w.template, limits) for w in wanted]
    members = tuple(Pods(w.pod_set.name, r, w.count) for w, r in zip(wanted, requests, strict=True))
    party = GangRequest("gang", members, domain.levels[-1])
    groups = [m.group for m in supply_of(cluster).matches(domain.pool)]
    found = [hosts(cluster, groups, w.template, r) for w, r in zip(wanted, requests, strict=True)]
    possible = {h.group.name for each in found for h in each if h.possible}
    why = misfit(cluster, domain.pool, domain.levels, party, lambda group: group.name in possible)
    if why is not None:
        is_certain = why.certain and why.most != 0 and cluster.has_all(NODES)
        return Schedule(False if is_certain else None, reasons=(_no_domain(party, why, domain),))
    sure = set.intersection(*({h.group.name for h in each if h.sure} for each in found))
    if anywhere.runs and _fits(cluster, party, domain, sure):
        is_whole = len({p.group for p in anywhere.witness}) == 1 and sum(p.nodes for p in anywhere.witness) == 1
        return Schedule(True, anywhere.witness if is_whole else ())
    return Schedule(None, reasons=anywhere.reasons or (_unclear(party, domain),))


def _fits(cluster: Cluster, party: GangRequest, domain: RequiredDomain, sure: set[str]) -> bool:
    """Return whether a domain holds all pods on nodes that are sure to accept them."""
    laid = layout(cluster, domain.pool, domain.levels, party.asked, PLAIN, party.size, lambda group: group.name in sure)
    if laid is None or set(domain.levels) & laid.unclear:
        return False
    gangs = (Gang(party.name, party.members, 1),)
    answer, _ = pack_gangs(GangQuestion(at_level(laid.domains, domain.levels[-1]), gangs))
    return isinstance(answer, Fits)


def _no_domain(party: GangRequest, why: Misfit, domain: RequiredDomain) -> Reason:
    message = f"needs its {party.size} pods in one domain of {domain.levels[-1]}, but {why.why}"
    return Reason(ReasonCode.UNSCHEDULABLE, "domain", message, domain.place)


def _unclear(party: GangRequest, domain: RequiredDomain) -> Reason:
    message = f"whether one domain of {domain.levels[-1]} holds its {party.size} pods is not known"
    return Reason(ReasonCode.NODES_UNKNOWN, "uncertain", message, domain.place)
