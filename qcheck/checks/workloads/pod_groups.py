"""QC608: the pods of a group, and the number of them that they state."""

from __future__ import annotations

from qcheck.checks.capacity.sums import names, plural
from qcheck.checks.registry import rule
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.cluster.workload_parts import FAST_ADMISSION, GROUP_NAME, GROUP_TOTAL, declared_total, group_of
from qcheck.findings.finding import Finding, finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.place import Place
    from qcheck.cluster.workloads import Workload


@rule("QC608")
def pod_group_inconsistent(cluster: Cluster) -> Iterator[Finding]:
    """Pod groups whose number of pods is not the one they state."""
    for workload in cluster.workloads:
        if workload.members:
            yield from _group(cluster, workload)
        elif workload.framework == "pod" and GROUP_TOTAL in workload.annotations:
            message = f"{workload.id} states {GROUP_TOTAL} without the label {GROUP_NAME}, so it is in no group"
            yield finding(_total_place(workload), message).about(workload.id)


def _group(cluster: Cluster, group: Workload) -> Iterator[Finding]:
    members, name = group.members, group_of(group)
    for member in members:
        if declared_total(member) is None:
            message = f"{member.id} belongs to the pod group {name} without a number of pods in {GROUP_TOTAL}"
            place = _total_place(member) if GROUP_TOTAL in member.annotations else _name_place(member)
            yield finding(place, message).about(member.id)
            return
    first = members[0]
    odd = next((m for m in members if declared_total(m) != declared_total(first)), None)
    if odd is not None:
        message = f"pods of group {name} state different totals: {declared_total(first)} and {declared_total(odd)}"
        yield finding(_total_place(odd), message).about(odd.id).near(_total_place(first), f"{first.name} says")
        return
    yield from _counted(cluster, group, name or "")


def _counted(cluster: Cluster, group: Workload, name: str) -> Iterator[Finding]:
    """The total against the pods that are here. Generated names stand for any number of pods."""
    members, total = group.members, declared_total(group)
    if total is None or any(m.id.is_generated for m in members) or group.annotations.get(FAST_ADMISSION) == "true":
        return
    if len(members) == total or (len(members) < total and not cluster.has_all("Pod")):
        return
    message = f"the pod group {name} states {plural(total, 'pod')}, and there are {len(members)}"
    waits = "Kueue waits for the others" if len(members) < total else "Kueue deletes the excess pods"
    found = finding(_total_place(group), f"{message} ({names(m.name for m in members)}): {waits}").about(group.id)
    for member in members[1:3]:
        found = found.near(member.name_place, "also of this group")
    yield found.with_data(group=name, stated=total, found=len(members))


def _total_place(member: Workload) -> Place:
    return member.place.at("metadata", "annotations", GROUP_TOTAL)


def _name_place(member: Workload) -> Place:
    for field in ("labels", "annotations"):
        at = member.place.at("metadata", field, GROUP_NAME)
        if at.exists:
            return at
    return member.name_place
