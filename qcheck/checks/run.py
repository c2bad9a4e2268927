"""Running rules on a cluster.

A rule that raises becomes a finding (QC000); one that lacks facts is skipped and reported.
"""

from __future__ import annotations

from qcheck.checks.registry import check_of, import_checks
from qcheck.cluster.value import TYPE_CHECKING, Value, replace
from qcheck.cluster.views import view
from qcheck.findings.finding import Finding
from qcheck.findings.result import Skipped
from qcheck.schedulers.table import has_kai, has_kueue, has_volcano

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from qcheck.answers.cluster_changes import ClusterChange
    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.place import Place
    from qcheck.findings.catalogue import Params, Rule

CRASHED = "QC000"
CHANGE = "change"
INPUT = "input"
TRAIN_JOB = "TrainJob"
RUNTIMES = ("ClusterTrainingRuntime", "TrainingRuntime")

FACTS: dict[str, tuple[Callable[[Cluster], bool], str]] = {
    "node pools": (
        lambda c: c.has_nodes or not (c.queues or c.workloads or c.daemon_sets or c.kai_queues or c.volcano_queues),
        "no node pool or Node was read",
    ),
    "complete repository": (
        lambda c: c.policy.complete,
        "an object that is not here may be defined elsewhere (settings say `complete: false`)",
    ),
    "all queues": (
        lambda c: c.has_all("ClusterQueue", "Cohort"),
        "a queue or cohort that is not here may be defined elsewhere (settings say so, or something was not read)",
    ),
    "all priority classes": (
        lambda c: c.has_all("WorkloadPriorityClass", "PriorityClass"),
        "a priority class that is not here may be defined elsewhere (settings say so, or something was not read)",
    ),
}
"""The facts that a rule may need, a test for each, and the text if it is missing."""


SCHEDULERS: dict[str, Callable[[Cluster], bool]] = {
    "": has_kueue,
    "kai": has_kai,
    "volcano": has_volcano,
    "several": lambda c: has_kai(c) or has_volcano(c),
}
"""Tests whether a cluster uses the scheduler of some rules."""


class RuleRun(Value):
    """The findings of the rules in one cluster."""

    findings: tuple[Finding, ...]
    skipped: tuple[Skipped, ...]
    crashed: tuple[str, ...]


def run(
    cluster: Cluster,
    rules: Iterable[Rule],
    params: Mapping[str, Params],
    catalogue: Mapping[str, Rule],
    change: ClusterChange | None = None,
    is_quiet: Callable[[Rule], bool] = lambda _: False,
) -> RuleRun:
    """Apply `rules` in order. `params` holds settings by rule id; defaults come from the rule.

    Rules of the family `change` examine `change`, and are skipped without one. Rules that `is_quiet` knows to find nothing
    need not run.
    """
    findings: list[Finding] = []
    skipped: list[Skipped] = []
    crashed: list[str] = []
    imported: set[str] = set()
    present = {name for name, has in SCHEDULERS.items() if has(cluster)}
    for each in rules:
        if each.scheduler not in present:
            continue
        missing = next((text for need in each.needs for has, text in [FACTS[need]] if not has(cluster)), None)
        if missing is not None:
            skipped.append(Skipped(each, missing, cluster.name))
            continue
        if is_quiet(each):
            continue
        if each.family not in imported:
            import_checks([each.family], cluster)
            imported.add(each.family)
        check = check_of(each.id)
        subject = change if each.family == CHANGE else cluster
        if check is None or subject is None:
            continue
        try:
            found = list(check(subject, **{**each.params, **params.get(each.id, {})}))
        except Exception as error:  # noqa: BLE001  (a crash is a finding, never a traceback)
            crashed.append(f"{each.id} {each.name} crashed: {type(error).__name__}: {error}")
            found, each = [_crash(cluster, each, error)], catalogue[CRASHED]
        findings.extend(_completed(f, each, cluster) for f in found)
    return RuleRun(tuple(findings), tuple(skipped), tuple(crashed))


def _completed(found: Finding, rule: Rule, cluster: Cluster) -> Finding:
    """Return a finding with its rule, its cluster and, unless the rule names one, the object at its primary place."""
    subject = found.object or cluster.object_at(found.primary)
    found = _at_the_train_job(found, cluster)
    related = tuple(place.written() for place in found.related)
    found = found.likely(rule.family != INPUT and _is_contested(found, cluster))
    return replace(
        found, rule=rule, cluster=cluster.name, object=subject, primary=found.primary.written(), related=related
    )


def _is_contested(found: Finding, cluster: Cluster) -> bool:
    """Return whether a finding depends on an object or a Configuration that has a contradicting definition."""
    places = (found.primary, *found.related)
    manager = cluster.configuration
    if manager is not None and manager.is_contested and any(p.origin is manager.place.origin for p in places):
        return True
    contested = _contested(cluster)
    at = (cluster.object_at(place) for place in (places if contested else ()))
    return any((each.group, each.kind, each.full_name) in contested for each in at if each is not None)


@view
def _contested(cluster: Cluster) -> frozenset[tuple[str, str, str]]:
    """Return group, kind and full name of the objects that have differing definitions."""
    return frozenset((copy.id.group, copy.id.kind, copy.id.full_name) for copy in cluster.copies)


def _at_the_train_job(found: Finding, cluster: Cluster) -> Finding:
    """Return a finding about a TrainJob at its own place, not at its runtime's, which other TrainJobs may use too."""
    at = cluster.object_at(found.primary)
    if found.object is None or found.object.kind != TRAIN_JOB or at is None or at.kind not in RUNTIMES:
        return found
    job = next(w for w in cluster.workloads if w.id == found.object)
    return replace(found, primary=job.name_place, related=(found.primary.named(f"in its {at.kind}"), *found.related))


def _crash(cluster: Cluster, rule: Rule, error: Exception) -> Finding:
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    where = f" ({frame.tb_frame.f_code.co_name}, line {frame.tb_lineno})" if frame is not None else ""
    message = f"the rule {rule.id} {rule.name} stopped with {type(error).__name__}: {error}{where}"
    return Finding(_some_place(cluster), message)


def _some_place(cluster: Cluster) -> Place:
    """Return a place for a crash: that of the first object that was read."""
    for found in (cluster.queues, cluster.all_objects(), cluster.pools, cluster.problems):
        for one in found:
            return one.place
    raise ValueError("an empty cluster has nothing to check")
