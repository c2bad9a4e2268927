"""QC406, QC415, QC416, QC420: cohorts, their quota and their weights."""

from __future__ import annotations

from qcheck.checks.capacity.arithmetic import names, plural
from qcheck.checks.registry import rule
from qcheck.cluster.kueue import AdmissionMode
from qcheck.cluster.units import name_amount, named, scale_of, show_amount
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.findings.finding import Finding, finding
from qcheck.schedulers.kueue.cohort_tree import cohort_tree
from qcheck.schedulers.table import promises_of
from qcheck.supply.supply import supply_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.kueue import Cohort, Quota
    from qcheck.cluster.objects import ObjectId
    from qcheck.cluster.place import Place

TYPO = 2
"""The maximum number of letters by which a misspelled name differs."""


@rule("QC406")
def cohort_lonely(cluster: Cluster) -> Iterator[Finding]:
    """Report names of cohorts that are mentioned only once and resemble another cohort's name."""
    users: dict[str, list[tuple[Place, ObjectId]]] = {}
    for member in (*cluster.queues, *cluster.cohorts):
        if member.parent:
            users.setdefault(member.parent, []).append((member.parent_place, member.id))
    lonely = [name for name, by in users.items() if len(by) == 1 and name not in cluster.cohort]
    for name in lonely:
        near = next((o for o in sorted({*users, *cluster.cohort} - set(lonely)) if looks_mistyped(name, o)), None)
        if near is not None:
            place, by = users[name][0]
            found = finding(
                place, f"only {by} names the cohort {name}, so it has no other members; there is a cohort {near}"
            )
            known = cluster.cohort.get(near)
            other = known.name_place if known else users[near][0][0]
            yield (
                found.about(by)
                .near(other, f"cohort {near}")
                .fixed_by(f"Write {near} instead of {name}; if {name} is intended, create a Cohort of that name.")
                .with_data(cohort=name, nearest=near)
            )


def looks_mistyped(name: str, other: str) -> bool:
    """Return whether a name is probably a misspelling of another: a few letters differ, not a part such as -a and -b."""
    if _plain(name) == _plain(other):
        return True
    mine, theirs = _parts(name), _parts(other)
    differing = [(x, y) for x, y in zip(mine, theirs, strict=False) if x != y]
    if len(mine) != len(theirs) or not all(len(x) > 3 and x.isalpha() and y.isalpha() for x, y in differing):
        return False
    from difflib import SequenceMatcher  # 0.7 ms

    edits = SequenceMatcher(None, name, other, autojunk=False).get_opcodes()
    changed = [(name[a:b], other[c:d]) for tag, a, b, c, d in edits if tag != "equal"]
    return sum(max(len(x), len(y)) for x, y in changed) <= min(TYPO, len(name) // 4)


def _plain(name: str) -> str:
    return "".join(_parts(name)).lower()


def _parts(name: str) -> list[str]:
    return name.replace("_", "-").replace(".", "-").split("-")


@rule("QC415")
def cohort_quota_adds_up(cluster: Cluster) -> Iterator[Finding]:
    """Report cohort quota that looks like a ceiling over its members' quota, but is added to it.

    If nodes for both exist, it is not meant as a ceiling.
    """
    for cohort in cluster.cohorts:
        members = [cluster.queue[m] for m in sorted(cohort_tree(cluster).members(cohort.name))]
        doubled = []
        for quota in cohort.quotas():
            theirs = [q for m in members if (q := m.quota(*quota.key)) is not None and q.nominal]
            total = sum(q.nominal for q in theirs)
            if total and quota.nominal >= total and not _is_there(cluster, quota):
                doubled.append((quota, theirs, total))
        if doubled:
            yield _adds_up(cohort, doubled)


def _is_there(cluster: Cluster, quota: Quota) -> bool:
    """Return whether nodes for all quota of a cell exist."""
    supply = supply_of(cluster)
    if not supply.matches(quota.flavor) or not supply.is_known(quota.flavor, quota.resource):
        return False
    ceiling = supply.ceiling(quota.flavor, quota.resource)
    return ceiling is None or promises_of(cluster).total(quota.key) <= ceiling


def _adds_up(cohort: Cohort, doubled: list[tuple[Quota, list[Quota], int]]) -> Finding:
    (quota, theirs, total), *others = doubled
    both = quota.nominal + total
    scale = scale_of(quota.resource, (quota.nominal, total, both))
    own, members = scale(quota.nominal), scale(total)
    found = finding(
        quota.nominal_place,
        f"cohort {cohort.name} has {named(quota.resource, own)} of flavor {quota.flavor} in addition to the "
        f"{members} of its members: {own} + {members} = {scale(both)}; a cohort's quota does not limit its members",
    ).about(cohort.id)
    for each in theirs:
        found = found.near(each.nominal_place, f"{show_amount(each.resource, each.nominal)} of a member")
    for other, _, _ in others:
        found = found.near(other.nominal_place, f"{other.resource} in {other.flavor} too")
    return found.with_data(cohort=cohort.name, resource=quota.resource, own=quota.nominal, members=total)


@rule("QC416")
def cohort_flavor_mismatch(cluster: Cluster) -> Iterator[Finding]:
    """Report cohort quota that no queue below can use, because none lists the cell. QC401 reports missing flavors."""
    for cohort in cluster.cohorts if cluster.queues else ():
        members = [cluster.queue[m] for m in sorted(cohort_tree(cluster).members(cohort.name))]
        listed = {q.key for m in members for q in m.quotas()}
        unused = [q for q in cohort.quotas() if q.nominal and q.key not in listed and q.flavor in cluster.flavor]
        if unused:
            first, *others = unused
            flavors = sorted({f for f, _ in listed})
            has = (
                f"; {plural(len(members), 'queue')} below it {'has' if len(members) == 1 else 'have'} quota of "
                f"{names(flavors)}"
                if flavors
                else ""
            )
            found = finding(
                first.nominal_place,
                f"cohort {cohort.name} has {name_amount(first.resource, first.nominal)} of flavor "
                f"{first.flavor}, which no queue below it lists, so no queue can use it{has}",
            ).about(cohort.id)
            for other in others:
                found = found.near(other.nominal_place, f"nor {other.resource} in {other.flavor}")
            yield found.with_data(cohort=cohort.name, flavor=first.flavor, resource=first.resource)


@rule("QC420")
def fair_sharing_weight_zero(cluster: Cluster) -> Iterator[Finding]:
    """Report weight 0 if weights decide: such a queue comes last when it borrows."""
    manager = cluster.configuration
    if manager is None:
        return
    if manager.fair_sharing:
        for holder in (*cluster.queues, *cluster.cohorts):
            if holder.weight is not None and holder.weight.nanos == 0 and holder.parent:
                place = holder.place.at("spec", "fairSharing", "weight")
                message = f"{holder.name} has fair sharing weight 0: while it borrows, it comes last, is "
                found = finding(place, f"{message}preempted first, and never preempts").about(holder.id)
                yield found.near(manager.place.at("fairSharing").key(), "fair sharing is on")
    if manager.admission_fair_sharing:
        for local in cluster.local_queues:
            queue = cluster.queue.get(local.cluster_queue or "")
            by_usage = queue is not None and queue.admission_mode is AdmissionMode.USAGE_BASED
            if by_usage and local.weight is not None and local.weight.nanos <= 0:
                place = local.place.at("spec", "fairSharing", "weight")
                message = f"LocalQueue {local.id.full_name} has weight 0: its workloads are always considered last"
                found = finding(place, message).about(local.id)
                yield found.near(
                    manager.place.at("admissionFairSharing").key(), "past usage decides the order of admission"
                )
