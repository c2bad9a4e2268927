"""Eligibility of pods for node groups: equal demands share one answer, which must match the answer for each pod alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from qcheck.cluster.assemble import assemble
from qcheck.cluster.labels import Taint, Toleration, tolerated, untolerated
from qcheck.cluster.policy import Policy
from qcheck.documents.load import load
from qcheck.kinds.decode import decode, roots
from qcheck.nodepools.read import read as read_pools
from qcheck.supply.eligibility import hosts, pool_match
from qcheck.supply.groups import NONE
from qcheck.supply.supply import supply_of

if TYPE_CHECKING:
    from qcheck.cluster.cluster import Cluster

LABELS = st.fixed_dictionaries({}, optional={"zone": st.sampled_from("ab"), "disk": st.sampled_from(["ssd", "hdd"])})
TAINTS = st.lists(
    st.sampled_from(
        ["{key: nvidia.com/gpu, value: present, effect: NoSchedule}", "{key: team, value: a, effect: NoSchedule}"]
    ),
    unique=True,
)
TOLERATIONS = st.sampled_from(
    [
        "",
        "{operator: Exists, key: nvidia.com/gpu}",
        "{key: team, value: a}",
        "{key: team, value: b}",
        "{operator: Exists}",
    ]
)
SELECTORS = st.sampled_from(["{}", "{}", "{zone: a}", "{disk: ssd}"])
RESOURCES = st.sampled_from(["{cpu: 1}", "{cpu: 2}", "{cpu: 4, nvidia.com/gpu: 2}"])
OPERATORS = st.sampled_from(["{key: zone, operator: In, values: [a]}", "{key: disk, operator: DoesNotExist}"])


def mapping(fields: dict[str, str]) -> str:
    return "{" + ", ".join(f"{key}: {value}" for key, value in fields.items()) + "}"


@st.composite
def inputs(draw: st.DrawFn) -> str:
    made = []
    for number in range(draw(st.integers(1, 4))):
        spec = f"{{count: 2, labels: {mapping(draw(LABELS))}, taints: [{', '.join(draw(TAINTS))}], "
        spec += "allocatable: {cpu: 8, nvidia.com/gpu: 4, pods: 20}}"
        made.append(f"{{apiVersion: qcheck.dev/v1, kind: NodePool, metadata: {{name: pool-{number}}}, spec: {spec}}}")
    for number in range(draw(st.integers(3, 8))):
        spec = f"{{restartPolicy: Never, nodeSelector: {draw(SELECTORS)}, "
        spec += f"tolerations: [{draw(TOLERATIONS)}], "
        if draw(st.sampled_from([False, False, True])):
            terms = f"[{{matchExpressions: [{draw(OPERATORS)}]}}]"
            required = f"{{requiredDuringSchedulingIgnoredDuringExecution: {{nodeSelectorTerms: {terms}}}}}"
            spec += f"affinity: {{nodeAffinity: {required}}}, "
        spec += f"containers: [{{name: main, image: registry.example/x, resources: {{limits: {draw(RESOURCES)}}}}}]}}"
        spec = f"{{template: {{spec: {spec}}}}}"
        made.append(f"{{apiVersion: batch/v1, kind: Job, metadata: {{name: job-{number}}}, spec: {spec}}}")
    return "\n---\n".join(made)


def cluster_of(text: str) -> Cluster:
    read = [r for d in load(text, "all.yaml").documents for r in roots(d)]
    objects = [o for r in read if (o := decode(r)) is not None]
    return assemble("default", Policy(), objects, read_pools(read, {}).pools)


@settings(max_examples=150, deadline=None)
@given(inputs())
def test_pods_of_one_cluster_get_the_same_answers_as_alone(text: str) -> None:
    shared = cluster_of(text)
    for number, workload in enumerate(shared.workloads):
        alone = cluster_of(text)
        pairs = [(c, c.workloads[number].pod_sets[0].template) for c in (shared, alone)]
        mine, its = (hosts(c, supply_of(c).groups, t, t.amounts()) for c, t in pairs)
        assert [h.group.name for h in mine] == [h.group.name for h in its]
        for one, other in zip(mine, its, strict=True):
            assert (one.labels_match, one.repels, one.possible) == (other.labels_match, other.repels, other.possible)
            assert (one.takes_all, one.sure, one.enters_cordoned) == (
                other.takes_all,
                other.sure,
                other.enters_cordoned,
            )
        assert workload.id.name == f"job-{number}"


FLAVOR = "{{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {{name: f}}, spec: {{nodeLabels: {}}}}}"


@settings(max_examples=100, deadline=None)
@given(inputs(), LABELS)
def test_a_flavor_matches_the_groups_that_trying_all_finds(text: str, labels: dict[str, str]) -> None:
    cluster = cluster_of(f"{text}\n---\n{FLAVOR.format(mapping(labels))}")
    (pool,) = cluster.quota_pools.values()
    groups = supply_of(cluster).groups
    tried = [g.name for g in groups if any(pool_match(pool, c.labels, c.varying) != NONE for c in g.classes)]
    assert [m.group.name for m in supply_of(cluster).matches("f")] == tried


KEYS, VALUES = st.sampled_from(["", "a", "b"]), st.sampled_from(["", "1", "2"])
EFFECTS = st.sampled_from(["NoSchedule", "NoExecute", "PreferNoSchedule"])
OF_NODES = st.lists(st.builds(Taint, st.sampled_from("ab"), VALUES, EFFECTS), max_size=6)
OF_PODS = st.lists(
    st.builds(
        Toleration,
        KEYS,
        st.sampled_from(["", "Equal", "Exists", "Lt", "Gt", "Other"]),
        VALUES,
        EFFECTS | st.just(""),
    ),
    max_size=6,
)


@given(OF_NODES, OF_PODS)
def test_a_taint_is_tolerated_by_the_first_toleration_that_covers_it(
    taints: list[Taint], tolerations: list[Toleration]
) -> None:
    first = {t: next((at for at, a in enumerate(tolerations) if a.tolerates(t)), None) for t in taints if t.is_hard}
    covered = {t: at for t, at in first.items() if at is not None}
    assert dict(tolerated(tuple(taints), tuple(tolerations))) == covered
    left = tuple(t for t in taints if t.is_hard and t not in covered)
    assert untolerated(tuple(taints), tuple(tolerations)) == left
