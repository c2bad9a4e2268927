"""QC8: the effects of a change. These rules compare a cluster before and after, and run only in `qcheck diff`."""

from __future__ import annotations

from qcheck.checks.capacity.arithmetic import names
from qcheck.checks.registry import rule
from qcheck.cluster.place import follow
from qcheck.cluster.units import scale_of, show_amounts
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.cluster.views import view
from qcheck.findings.finding import Finding, finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.answers.cluster_changes import CapacityChange, ClusterChange
    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.kueue import Quota, QuotaHolder
    from qcheck.cluster.objects import Object
    from qcheck.cluster.place import Place, Route

KUEUE = "kueue.x-k8s.io"
HOSTNAME = "kubernetes.io/hostname"
FROZEN: dict[tuple[str, str], tuple[tuple[Route, str | None], ...]] = {
    (KUEUE, "LocalQueue"): ((("spec", "clusterQueue"), None),),
    (KUEUE, "AdmissionCheck"): ((("spec", "controllerName"), None),),
    ("scheduling.k8s.io", "PriorityClass"): ((("value",), "0"), (("preemptionPolicy",), "PreemptLowerPriority")),
    ("apps", "Deployment"): ((("spec", "selector"), None),),
    ("apps", "StatefulSet"): ((("spec", "selector"), None), (("spec", "serviceName"), None)),
    ("apps", "DaemonSet"): ((("spec", "selector"), None),),
    ("batch", "Job"): ((("spec", "selector"), None), (("spec", "completionMode"), "NonIndexed")),
}
"""Fields that the API server never lets change, with their defaults."""


@rule("QC801")
def immutable_field_changed(change: ClusterChange) -> Iterator[Finding]:
    """Report changed immutable fields: the API server rejects the update, and a GitOps controller stays out of sync."""
    old = {(o.id.group, o.id.kind, o.id.full_name): o for o in change.before.all_objects()}
    for now in change.after.all_objects():
        was = old.get((now.id.group, now.id.kind, now.id.full_name))
        if was is not None:
            yield from _frozen_changes(was, now, change.after)


def _frozen_changes(was: Object, now: Object, after: Cluster) -> Iterator[Finding]:
    for route, default in FROZEN.get((now.id.group, now.id.kind), ()):
        one, other = _at(was, route, default), _at(now, route, default)
        if one != other:
            yield _refused(now, route, _words(one), _words(other))
    if (now.id.group, now.id.kind) == (KUEUE, "ResourceFlavor"):
        yield from _flavor_changes(was, now, after)
    if (now.id.group, now.id.kind) == (KUEUE, "Topology") and not _levels_may_change(was, now):
        yield _refused(now, ("spec", "levels"), "other levels", "these")


def _flavor_changes(was: Object, now: Object, after: Cluster) -> Iterator[Finding]:
    """Report changes of a flavor: topologyName is immutable once set; before Kueue 0.17 all other fields were too."""
    topology = _at(was, ("spec", "topologyName"), None)
    if topology is None:
        return
    if topology != (new := _at(now, ("spec", "topologyName"), None)):
        yield _refused(now, ("spec", "topologyName"), _words(topology), _words(new))
    elif (
        after.policy.kueue.at_least(10)
        and not after.policy.kueue.at_least(17)
        and _at(was, ("spec",), None) != _at(now, ("spec",), None)
    ):
        yield _refused(now, ("spec",), "another spec", "this one, while topologyName is set")


def _levels_may_change(was: Object, now: Object) -> bool:
    """Return whether levels may change: in v1beta2 if the hostname stays the lowest level; in earlier versions not."""
    one, other = _at(was, ("spec", "levels"), None), _at(now, ("spec", "levels"), None)
    if one == other:
        return True
    lowest = [levels[-1] if isinstance(levels, list) and levels else None for levels in (one, other)]
    return now.id.version == "v1beta2" and all(level == {"nodeLabel": HOSTNAME} for level in lowest)


def _refused(now: Object, route: Route, was: str, is_now: str) -> Finding:
    place = now.place.at(*route)
    field = ".".join(map(str, route))
    message = f"{now.id}: {field} cannot be changed ({was} to {is_now}); the API server rejects the update"
    return finding(place if place.exists else now.name_place, message).about(now.id).with_data(field=field)


def _at(one: Object, route: Route, default: str | None) -> object:
    found = follow(one.place.origin.data, (*one.place.route, *route))
    if default is None:
        return found
    return default if found is None else str(found)


def _words(value: object) -> str:
    return "nothing" if value is None else str(value) if isinstance(value, (str, int)) else "another value"


@rule("QC802")
def quota_cut_evicts_nobody(change: ClusterChange) -> Iterator[Finding]:
    """Report reduced quota, which affects only new admissions; running workloads continue."""
    for now in (*change.after.queues, *change.after.cohorts):
        was = _same(change.before, now)
        for old in was.quotas() if was else ():
            new = now.quota(old.flavor, old.resource)
            nominal = new.nominal if new else 0
            if nominal < old.nominal:
                yield _cut(
                    now, old, nominal, new.nominal_place if new else now.place.at("spec", "resourceGroups").key()
                )


def _same(cluster: Cluster, holder: QuotaHolder) -> QuotaHolder | None:
    return _holders(cluster).get((holder.id.kind, holder.name))


@view
def _holders(cluster: Cluster) -> dict[tuple[str, str], QuotaHolder]:
    """Return the ClusterQueues and cohorts by kind and name; of duplicates, the first one counts."""
    return {(h.id.kind, h.name): h for h in reversed((*cluster.queues, *cluster.cohorts))}


def _cut(holder: QuotaHolder, old: Quota, nominal: int, place: Place) -> Finding:
    was, now, gone = show_amounts(old.resource, old.nominal, nominal, old.nominal - nominal)
    return (
        finding(
            place,
            f"{holder.id}: nominalQuota of {old.resource} on {old.flavor} falls from {was} to {now}; "
            f"workloads that use the removed {gone} keep running until others need it",
            f"was {was}",
        )
        .about(holder.id)
        .with_data(flavor=old.flavor, resource=old.resource, before=old.nominal, after=nominal)
    )


@rule("QC803")
def removed_while_referenced(change: ClusterChange) -> Iterator[Finding]:
    """Report removed objects that are still referenced: their deletion is blocked, or what refers to them breaks."""
    remaining = {(o.id.group, o.id.kind, o.id.full_name) for o in change.after.all_objects()}
    for gone in change.before.all_objects():
        if (gone.id.group, gone.id.kind, gone.id.full_name) in remaining:
            continue
        users = _users(change.after, gone)
        if users:
            yield _still_named(gone, users).likely(not change.after.has_all(gone.id.kind))


def _users(after: Cluster, gone: Object) -> list[tuple[str, Place]]:
    """Return the objects that still refer to an object, and the places."""
    if gone.id.group != KUEUE:
        return []
    holders = (*after.queues, *after.cohorts)
    found = {
        "ResourceFlavor": lambda: [
            (str(h.id), f.name_place) for h in holders for f in h.flavors() if f.name == gone.name
        ],
        "ClusterQueue": lambda: [
            (str(q.id), q.place.at("spec", "clusterQueue")) for q in after.local_queues if q.cluster_queue == gone.name
        ],
        "Topology": lambda: [
            (str(f.id), f.place.at("spec", "topologyName")) for f in after.flavors if f.topology == gone.name
        ],
        "AdmissionCheck": lambda: [(str(q.id), c.place) for q in after.queues for c in q.checks if c.name == gone.name],
        "LocalQueue": lambda: [
            (str(w.id), w.queue_place)
            for w in after.workloads
            if w.queue == gone.name and w.namespace == gone.namespace
        ],
        "WorkloadPriorityClass": lambda: [
            (str(w.id), w.priority_class_place) for w in after.workloads if w.priority_class == gone.name
        ],
    }.get(gone.id.kind)
    return found() if found else []


CONSEQUENCE = {
    "ResourceFlavor": "its finalizer delays the deletion until nothing names it, and then the queues become inactive",
    "ClusterQueue": "its finalizer delays the deletion while workloads hold its quota, and it admits no more",
    "Topology": "the flavor's queues become inactive",
    "AdmissionCheck": "the queues become inactive",
    "LocalQueue": "workloads that name it are never admitted",
    "WorkloadPriorityClass": "objects that name it are rejected",
}


def _still_named(gone: Object, users: list[tuple[str, Place]]) -> Finding:
    who = names(list(dict.fromkeys(name for name, _ in users)))
    message = (
        f"{gone.id} is removed, but {who} still name{'s' if len(users) == 1 else ''} it: {CONSEQUENCE[gone.id.kind]}"
    )
    found = finding(users[0][1], message).about(gone.id)
    for _, place in users[1:]:
        found = found.near(place, "and here")
    return found.near(gone.name_place, "removed")


@rule("QC804")
def headroom_shrinks(change: ClusterChange) -> Iterator[Finding]:
    """Report a change that reduces the headroom between supply and quota, or increases the gap."""
    for pair in change.capacity:
        place = _shrinking_place(change, pair)
        if place is None or pair.before is None or pair.after is None:
            continue
        was, now = pair.before.headroom or 0, pair.after.headroom or 0
        quota, supply = (pair.before.nominal, pair.after.nominal), (pair.before.static or 0, pair.after.static or 0)
        scale = scale_of(pair.resource, (was, now, *quota, *supply))
        rows = [
            f"{word} still {scale(b)}" if a == b else f"{word} {scale(a)} to {scale(b)}"
            for word, (a, b) in (("quota", quota), ("supply", supply))
        ]
        yield finding(
            place,
            f"headroom of {pair.resource} on {pair.flavor} shrinks from {scale(was)} to {scale(now)}: "
            f"{', '.join(rows)}",
        ).with_data(flavor=pair.flavor, resource=pair.resource, before=was, after=now)


def _shrinking_place(change: ClusterChange, pair: CapacityChange) -> Place | None:
    """Return the quota that grew most, else the reduced nodes; None if headroom did not shrink."""
    before, after = pair.before, pair.after
    if before is None or after is None or before.headroom is None or after.headroom is None:
        return None
    if after.headroom >= before.headroom:
        return None
    if after.nominal > before.nominal and after.quotas:
        was = {c.holder: c.promised for c in before.quotas}
        return max(after.quotas, key=lambda c: c.promised - was.get(c.holder, 0)).place
    if after.pools:
        return after.pools[0].group.count_place
    pool = change.after.quota_pools.get(pair.pool)
    return pool.place.at("metadata", "name") if pool else None
