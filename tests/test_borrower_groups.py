"""Claims on lent quota, summed over groups of borrowers: compared with the sum over all pairs of queues."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from qcheck.cluster.assemble import assemble
from qcheck.cluster.kueue import PreemptionPolicy
from qcheck.cluster.policy import Policy
from qcheck.documents.load import load
from qcheck.kinds.decode import decode, roots
from qcheck.schedulers.kueue.cohort_tree import cohort_tree
from qcheck.schedulers.kueue.competitors import contention_of
from qcheck.schedulers.kueue.loans import loans_of
from qcheck.schedulers.kueue.preemption import ComesBack, claims_on, differs
from qcheck.schedulers.kueue.preemption_cost import DEFAULT_GRACE, preemption_cost

if TYPE_CHECKING:
    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.kueue import ClusterQueue, Quota
    from qcheck.schedulers.kueue.loans import Loan

KUEUE = "apiVersion: kueue.x-k8s.io/v1beta2"
CLASSES = {"low": 0, "middle": 10, "high": 20}
PARENTS: dict[str, tuple[str, ...]] = {"top": (), "left": ("top",), "right": ("top", "left"), "apart": ()}
LIMIT = st.none() | st.integers(0, 6)


def written(**fields: object) -> str:
    return ", ".join(f"{key}: {value}" for key, value in fields.items() if value is not None)


def groups(nominal: int, borrowing: int | None, lending: int | None) -> str:
    cell = written(name="nvidia.com/gpu", nominalQuota=nominal, borrowingLimit=borrowing, lendingLimit=lending)
    return f"[{{coveredResources: [nvidia.com/gpu], flavors: [{{name: h100, resources: [{{{cell}}}]}}]}}]"


@st.composite
def cohorts(draw: st.DrawFn, name: str) -> str:
    parent = draw(st.sampled_from([*PARENTS[name], None]))
    limits = (draw(LIMIT), draw(LIMIT)) if parent else (None, None)
    spec = written(parentName=parent, resourceGroups=groups(draw(st.integers(0, 4)), *limits))
    return f"{{{KUEUE}, kind: Cohort, metadata: {{name: {name}}}, spec: {{{spec}}}}}"


@st.composite
def queues(draw: st.DrawFn, name: str) -> list[str]:
    """A ClusterQueue, its LocalQueue, and up to three jobs."""
    cohort = draw(st.sampled_from([None, *PARENTS, "top", "top", "top"]))
    limits = (draw(LIMIT), draw(LIMIT)) if cohort else (None, None)
    spec = written(
        cohortName=cohort,
        namespaceSelector="{}",
        preemption=f"{{reclaimWithinCohort: {draw(st.sampled_from(['Any', 'Never', *['LowerPriority'] * 4]))}}}",
        stopPolicy=draw(st.sampled_from([None, None, "Hold"])),
        resourceGroups=groups(draw(st.integers(0, 8)), *limits),
    )
    made = [
        f"{{{KUEUE}, kind: ClusterQueue, metadata: {{name: {name}}}, spec: {{{spec}}}}}",
        f"{{{KUEUE}, kind: LocalQueue, metadata: {{name: main, namespace: {name}}}, spec: {{clusterQueue: {name}}}}}",
    ]
    for number in range(draw(st.sampled_from([1, 1, 2, 0, 3]))):
        labels = written(
            **{
                "kueue.x-k8s.io/queue-name": "main",
                "kueue.x-k8s.io/priority-class": draw(st.sampled_from(list(CLASSES))),
            }
        )
        pod = written(
            restartPolicy="Never",
            terminationGracePeriodSeconds=draw(st.sampled_from([None, 10, 60, 90])),
            containers="[{name: main, image: registry.example/x, resources: {limits: {nvidia.com/gpu: 1}}}]",
        )
        meta = written(name=f"job-{number}", namespace=name, labels=f"{{{labels}}}")
        made.append(
            f"{{apiVersion: batch/v1, kind: Job, metadata: {{{meta}}}, spec: {{template: {{spec: {{{pod}}}}}}}}}"
        )
    return made


@st.composite
def clusters(draw: st.DrawFn) -> Cluster:
    classes = draw(st.sampled_from([list(CLASSES), list(CLASSES), ["low"]]))
    texts = [
        f"{{{KUEUE}, kind: WorkloadPriorityClass, metadata: {{name: {name}}}, value: {CLASSES[name]}}}"
        for name in classes
    ]
    texts += [f"{{{KUEUE}, kind: ResourceFlavor, metadata: {{name: h100}}}}"]
    texts += [draw(cohorts(name)) for name in PARENTS if draw(st.booleans())]
    for number in range(draw(st.integers(2, 7))):
        texts += draw(queues(f"team-{number}"))
    loaded = load("\n---\n".join(texts), "all.yaml")
    return assemble(
        "default", Policy(), [o for d in loaded.documents for r in roots(d) if (o := decode(r)) is not None]
    )


def outcome_of(cluster: Cluster, loan: Loan) -> tuple[ComesBack, str]:
    """Return the effect of one owner on one borrower, and the part of Kueue's rule that decides it."""
    if loan.owner.preemption.reclaim is PreemptionPolicy.NEVER:
        return ComesBack.NEVER, "policy"
    if loan.owner.preemption.reclaim is PreemptionPolicy.ANY:
        return ComesBack.ALWAYS, "policy"
    ranks = contention_of(cluster).ranks
    mine, theirs = ranks.get(loan.owner.name), ranks.get(loan.borrower.name)
    if mine and theirs and mine[1] <= theirs[0]:
        return ComesBack.NEVER, "priorities"
    if mine and theirs and mine[0] > theirs[1]:
        return ComesBack.ALWAYS, "priorities"
    return (ComesBack.FROM_LOWER if differs(cluster) else ComesBack.NEVER), "any"


def claims_by_pairs(cluster: Cluster, owner: ClusterQueue, quota: Quota) -> list[tuple[object, ...]]:
    outcomes: dict[tuple[ComesBack, str], list[Loan]] = {}
    for loan in loans_of(cluster).of(owner, quota):
        outcomes.setdefault(outcome_of(cluster, loan), []).append(loan)
    claims: list[tuple[object, ...]] = []
    for (outcome, _), loans in outcomes.items():
        names = sorted(loan.borrower.name for loan in loans)
        lent = min(cohort_tree(cluster).lent(owner.name, quota.key), sum(loan.amount for loan in loans))
        queued = contention_of(cluster).queued
        known = [preemption_cost(w, {}).seconds for w, queue in queued if queue.name in names]
        seconds = None if outcome is ComesBack.NEVER else max(known, default=DEFAULT_GRACE)
        claims.append((outcome, tuple(names), lent, seconds))
    return claims


@settings(max_examples=200, deadline=None)
@given(clusters())
def test_claims_of_groups_equal_those_of_all_pairs(cluster: Cluster) -> None:
    for owner in cluster.queues:
        for quota in owner.quotas():
            found = [(c.outcome, c.holders, c.amount, c.seconds) for c in claims_on(cluster, owner, quota)]
            assert found == claims_by_pairs(cluster, owner, quota)
