"""QC0: problems of reading and decoding, as findings."""

from __future__ import annotations

from qcheck.checks.problems import finding_of, of_problems
from qcheck.checks.registry import rule
from qcheck.cluster.policy import Release
from qcheck.cluster.problems import ProblemCode
from qcheck.cluster.resources import is_accelerator
from qcheck.cluster.units import show_amounts
from qcheck.cluster.value import TYPE_CHECKING, replace
from qcheck.findings.finding import Finding, finding
from qcheck.schedulers.kueue.cohort_tree import cohort_tree
from qcheck.schedulers.kueue.rejected_workloads import autoscaled_elsewhere

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.kueue import Quota
    from qcheck.cluster.problems import Problem
    from qcheck.cluster.workloads import Workload


BATCH_GROUPS = ("kueue.x-k8s.io", "volcano.sh", "run.ai", "kai.scheduler")
"""The API groups of schedulers that have queues."""
FAR = 10**4
"""The minimum ratio at which quotas seem to be written in different scales."""
MEBIBYTE = 2**20


@rule("QC001")
def yaml_syntax(cluster: Cluster) -> Iterator[Finding]:
    """Report a document that does not parse, is not text or exceeds a limit; the file's other documents are read."""
    return of_problems(cluster, ProblemCode.YAML_SYNTAX, ProblemCode.LIMIT, ProblemCode.NOT_TEXT)


@rule("QC002")
def duplicate_key(cluster: Cluster) -> Iterator[Finding]:
    """Report a mapping that repeats a key; the API server keeps the last value or rejects the document."""
    return of_problems(cluster, ProblemCode.DUPLICATE_KEY)


@rule("QC003")
def api_rejected(cluster: Cluster) -> Iterator[Finding]:
    """Report objects that the API server or a webhook of Kueue rejects.

    What is only rejected in some cases is reported for queues and for workloads that matter to them.
    """
    rejected = [p for p in cluster.problems if p.code is ProblemCode.API_REJECTED]
    doubtful = {p.object for p in rejected if not p.certain}
    known = {w.id for w in cluster.workloads if w.id in doubtful and _matters(w)} if doubtful else frozenset()
    for problem in rejected:
        about = problem.object
        if problem.certain or about is None or about in known or about.group.endswith(BATCH_GROUPS):
            yield finding_of(problem)
    for workload in cluster.workloads:
        reason = autoscaled_elsewhere(cluster, workload)
        if reason is not None and reason.place is not None:
            field = reason.message.partition(":")[0]
            found = finding(reason.place, reason.message).about(workload.id)
            found = found.fixed_by(f"Remove {field}, or use a queue without the admission check.")
            for place in reason.near:
                found = found.near(place, "the check")
            yield found


def _matters(workload: Workload) -> bool:
    """Return whether a workload is queued or uses accelerators."""
    return workload.queue is not None or any(is_accelerator(r) for p in workload.pod_sets for r in p.template.amounts())


@rule("QC004")
def unknown_field(cluster: Cluster) -> Iterator[Finding]:
    """Report a field that the object's version does not have."""
    return of_problems(cluster, ProblemCode.UNKNOWN_FIELD)


@rule("QC005")
def api_version_gone(cluster: Cluster) -> Iterator[Finding]:
    """Report an apiVersion that the target release of Kueue does not serve."""
    return of_problems(cluster, ProblemCode.API_VERSION_GONE)


@rule("QC006")
def api_version_deprecated(cluster: Cluster) -> Iterator[Finding]:
    """Report an apiVersion that is deprecated but served; one finding for all objects that use it."""
    users: dict[str, list[Problem]] = {}
    for problem in cluster.problems:
        if problem.code is ProblemCode.API_VERSION_DEPRECATED and problem.object is not None:
            users.setdefault(problem.object.api_version, []).append(problem)
    for version, problems in users.items():
        found = finding_of(problems[0])
        for other in problems[1:]:
            found = found.near(other.place, f"{other.object} too")
            found = replace(found, fixes=(*found.fixes, *other.fixes))
        if len(problems) > 1:
            message = f"{version} is deprecated in Kueue {cluster.policy.kueue}; {len(problems)} objects use it"
            found = replace(found, message=message)
        install = cluster.install
        if install is not None and install.release is not None and found.certain:
            older = Release(*install.release)
            if not older.at_least(cluster.policy.kueue.minor, cluster.policy.kueue.major):
                found = found.near(install.place, f"this installs Kueue {older}").likely()
        yield found


@rule("QC007")
def quantity_suspicious(cluster: Cluster) -> Iterator[Finding]:
    """Report a valid quantity that is probably a mistake, alone or compared with others of the same cohort."""
    yield from of_problems(cluster, ProblemCode.QUANTITY_SUSPICIOUS)
    yield from _scales_apart(cluster)


@rule("QC008")
def quantity_not_canonical(cluster: Cluster) -> Iterator[Finding]:
    """Report a quantity that the API server rewrites, in objects of a scheduler with queues or in queued workloads."""
    queued = {w.id for w in cluster.workloads if w.queue}
    for found in of_problems(cluster, ProblemCode.QUANTITY_NOT_CANONICAL):
        if found.object in queued or (found.object is not None and found.object.group.endswith(BATCH_GROUPS)):
            yield found


@rule("QC009")
def template_not_rendered(cluster: Cluster) -> Iterator[Finding]:
    """Report a file with placeholders that was therefore not read."""
    return of_problems(cluster, ProblemCode.TEMPLATE_NOT_RENDERED, ProblemCode.QUEUES_ELSEWHERE)


@rule("QC014")
def settings_match_nothing(cluster: Cluster) -> Iterator[Finding]:
    """Report keys of the settings that match nothing that was read."""
    return of_problems(cluster, ProblemCode.SETTINGS_MATCH_NOTHING)


@rule("QC011")
def duplicate_object(cluster: Cluster) -> Iterator[Finding]:
    """Report the same object twice in one cluster."""
    return of_problems(cluster, ProblemCode.DUPLICATE_OBJECT)


def _scales_apart(cluster: Cluster) -> Iterator[Finding]:
    """Report the smallest and the largest nominal quota of a cohort tree for a resource, if far apart."""
    for (root, resource), quotas in sorted(_by_cohort(cluster).items()):
        least, most = min(quotas, key=lambda q: q.nominal), max(quotas, key=lambda q: q.nominal)
        if least.nominal * FAR < most.nominal:
            times = most.nominal // least.nominal
            here, elsewhere = show_amounts(resource, least.nominal, most.nominal)
            message = (
                f"cohort {root} has quotas for {resource} on two scales: {here} here and "
                f"{elsewhere} elsewhere, {times:,} times as much"
            )
            yield finding(least.nominal_place, message).near(most.nominal_place, "the largest quota of the cohort")


def _by_cohort(cluster: Cluster) -> dict[tuple[str, str], list[Quota]]:
    """Return nonzero quotas by root cohort and resource, without memory below 1Mi, which is reported on its own."""
    found: dict[tuple[str, str], list[Quota]] = {}
    for queue in cluster.queues:
        root = cohort_tree(cluster).root(queue.name)
        for quota in queue.quotas() if root else ():
            is_tiny = quota.resource == "memory" and quota.nominal < MEBIBYTE
            if root and quota.nominal > 0 and not is_tiny:
                found.setdefault((root, quota.resource), []).append(quota)
    return found
