"""What each framework's objects ask for: the totals here were worked out by hand from the manifests."""

from __future__ import annotations

from pathlib import Path

import pytest

from qcheck.cluster.assemble import assemble
from qcheck.cluster.cluster import Cluster
from qcheck.cluster.policy import Policy, Release
from qcheck.cluster.workloads import Workload
from qcheck.documents.cursor import root
from qcheck.documents.load import load
from qcheck.kinds.decode import decode
from qcheck.supply.pod_requests import UNBOUNDED, charged, scheduled

FOLDER = Path(__file__).resolve().parent.parent / "fixtures" / "frameworks"
GPU = "nvidia.com/gpu"
MI, GI = 2**20, 2**30

PodSets = list[tuple[str, int, dict[str, int]]]

TOTALS: list[tuple[str, str, PodSets]] = [
    # The init container `warm` runs beside `proxy`: 7 + 0.5 cpu, more than 4 + 0.25 + 0.5 while the pod runs.
    ("job", "job", [("main", 4, {"cpu": 7500, "memory": 16 * GI + 384 * MI, GPU: 2})]),
    ("job", "cron", [("main", 1, {"cpu": 1500})]),
    ("job", "partial", [("main", 8, {"cpu": 3000, "memory": 2 * GI, GPU: 1})]),
    ("apps", "server", [("main", 3, {"cpu": 2000, GPU: 1})]),
    ("apps", "shards", [("main", 4, {"cpu": 2000, "memory": 4 * GI})]),
    ("apps", "serving", [("leader", 1, {"cpu": 1000}), ("worker", 4, {"cpu": 8000, GPU: 8})]),
    ("apps", "leaderless", [("main", 4, {GPU: 4})]),
    ("pods", "alone", [("main", 1, {GPU: 1})]),
    ("pods", "ring-0", [("ring-0", 1, {"cpu": 1000}), ("ring-1", 2, {GPU: 4})]),
    ("pods", "fast-0", [("main", 16, {GPU: 8})]),
    ("pods", "built", [("main", 3, {"cpu": 5000})]),
    ("pods", "user-of-built", [("main", 3, {"cpu": 5000})]),
    ("jobset", "slices", [("leader", 1, {"cpu": 1000}), ("workers", 24, {"cpu": 10000, GPU: 8})]),
    ("ray", "tune", [
        ("head", 1, {"cpu": 2000, "memory": 4 * GI}),
        ("gpu", 6, {"cpu": 8000, GPU: 4}),
        ("submitter", 1, {"cpu": 500, "memory": 200 * MI}),
    ]),
    # The submitter runs beside the head: 1 + 0.5 cpu, 1Gi + 200Mi.
    ("ray", "sidecar", [("head", 1, {"cpu": 1500, "memory": 1224 * MI})]),
    # The head's 100m are raised to 200m for fault tolerance; the autoscaler adds 500m and 512Mi.
    ("ray", "shared", [("head", 1, {"cpu": 700, "memory": GI + 512 * MI}), ("cpu", 2, {"cpu": 4000})]),
    ("ray", "answers", [("head", 1, {"cpu": 1000}), ("gpu", 1, {GPU: 1})]),
    ("ray", "named-alike", [
        ("head", 1, {"cpu": 1500, "memory": 512 * MI}),
        ("head", 2, {"cpu": 4000}),
        ("submitter", 3, {}),
    ]),
    ("training", "torch", [("master", 1, {GPU: 8}), ("worker", 3, {GPU: 8})]),
    ("training", "tf", [("chief", 1, {"cpu": 1000}), ("ps", 2, {"cpu": 2000}), ("worker", 4, {"cpu": 4000})]),
    ("training", "xgb", [("master", 1, {"cpu": 1000}), ("worker", 2, {"cpu": 2000})]),
    ("training", "paddle", [("worker", 2, {"cpu": 2000})]),
    ("training", "jax", [("worker", 5, {"cpu": 3000})]),
    ("training", "mpi", [("launcher", 1, {}), ("worker", 2, {GPU: 8})]),
    ("trainjob", "finetune", [("dataset-initializer", 1, {"cpu": 500}), ("node", 4, {"cpu": 16000, GPU: 8})]),
    ("appwrapper", "wrapped", [("wrapped-0", 1, {GPU: 1}), ("wrapped-1", 2, {GPU: 2}), ("wrapped-2", 3, {"cpu": 7000})]),
    ("appwrapper", "found", [
        ("found-0", 1, {"cpu": 1000}),
        ("found-1", 1, {"cpu": 2000}),
        ("found-2", 6, {"cpu": 3000}),
        ("found-3", 1, {"cpu": 5000}),
    ]),
    # Spark's 512m are mebibytes; without coreRequest the limit stands in; the sidecar adds 100m.
    ("spark", "pi", [
        ("driver", 1, {"cpu": 500, "memory": 512 * MI}),
        ("executor", 3, {"cpu": 2100, "memory": 4 * GI, GPU: 1}),
    ]),
]  # fmt: skip


def read(name: str, release: Release = Release()) -> Cluster:  # noqa: B008  (a frozen value)
    documents = load((FOLDER / f"{name}.yaml").read_bytes(), f"{name}.yaml").documents
    return assemble("default", Policy(kueue=release), [o for d in documents if (o := decode(root(d))) is not None])


def find(cluster: Cluster, name: str) -> Workload:
    return next(w for w in cluster.workloads if w.name == name)


def pod_sets(cluster: Cluster, workload: Workload) -> PodSets:
    as_pod = workload.framework in ("pod", "deployment")
    return [(p.name, p.count, charged(cluster, p.template, UNBOUNDED, as_pod)) for p in workload.pod_sets]


@pytest.mark.parametrize(("file", "name", "expected"), TOTALS, ids=[f"{f}/{n}" for f, n, _ in TOTALS])
def test_pod_sets_and_requests(file: str, name: str, expected: PodSets) -> None:
    cluster = read(file)
    workload = find(cluster, name)
    assert workload.queue == "main"
    assert workload.not_read is None
    assert pod_sets(cluster, workload) == expected


def test_older_releases_do_not_count_what_kuberay_adds_but_the_scheduler_does() -> None:
    cluster = read("ray", Release(0, 17))
    head = find(cluster, "shared").pod_sets[0].template
    assert charged(cluster, head, UNBOUNDED) == {"cpu": 100, "memory": GI}
    assert scheduled(cluster, head, UNBOUNDED) == {"cpu": 700, "memory": GI + 512 * MI, "pods": 1}


def test_counts_that_may_change() -> None:
    assert find(read("job"), "partial").pod_sets[0].minimum == 2
    assert find(read("ray"), "shared").pod_sets[1].maximum == 5
    assert find(read("training"), "torch").pod_sets[1].maximum == 6
    serving = find(read("apps"), "serving")
    assert (serving.groups, serving.each_pod_alone) == (3, False)
    assert find(read("apps"), "server").each_pod_alone


def test_what_kueue_leaves_alone_or_cannot_be_told() -> None:
    assert find(read("ray"), "guest").framework is None
    assert find(read("training"), "mpi-v1").framework is None
    elsewhere = find(read("trainjob"), "elsewhere")
    assert (
        elsewhere.not_read == "its ClusterTrainingRuntime not-here was not found in the files, so its pods are unknown"
    )


def test_a_train_job_changes_its_runtime() -> None:
    first, node = find(read("trainjob"), "finetune").pod_sets
    assert first.template.selection.selector == {}
    assert node.template.selection.selector == {"pool": "h100"}


@pytest.mark.parametrize(
    ("name", "count", "maximum"),
    [("served", 2, 6), ("asleep", 3, 8), ("zero", 0, None), ("contested", 1, None), ("capped", 4, 4)],
)
def test_autoscalers_set_the_number_of_pods(name: str, count: int, maximum: int | None) -> None:
    (pods,) = find(read("autoscaled"), name).pod_sets
    assert (pods.count, pods.maximum) == (count, maximum)
