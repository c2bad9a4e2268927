"""What is worked out once for all that ask the same is what each would be told alone."""

from __future__ import annotations

from pathlib import Path

import bench_inputs
import pytest
from rule_cases import FIXTURES

from qcheck.answers.judge import judge, place_pods
from qcheck.answers.verdicts import verdicts_of
from qcheck.cluster.cluster import Cluster
from qcheck.cluster.value import replace
from qcheck.cluster.views import answered_once, cache_of
from qcheck.cluster.workloads import Workload
from qcheck.pipeline.gather import gather
from qcheck.schedulers.kueue.workload_classes import representative, workload_classes
from qcheck.settings import Settings

WITH_WORKLOADS = ("QC5*", "QC6*", "QC3*", "QC105*", "QC107*", "QC111*")
FOLDERS = [
    folder for kind in WITH_WORKLOADS for rule in sorted((FIXTURES / "rules").glob(kind)) for folder in rule.iterdir()
]


def clusters(folder: Path) -> tuple[Cluster, ...]:
    return gather([str(folder)], Settings()).clusters


def differ(cluster: Cluster, workload: Workload) -> bool:
    """Whether a cluster that has judged others says something else of a workload than one that has not."""
    return judge(cluster, workload) != judge(replace(cluster), workload)


@pytest.mark.parametrize("folder", [FIXTURES / "admission", FIXTURES / "frameworks", *FOLDERS], ids=lambda f: f.name)
def test_workloads_and_their_doubles(folder: Path) -> None:
    for cluster in clusters(folder):
        for workload in cluster.workloads:
            double = replace(workload)
            assert not differ(cluster, workload)
            assert not differ(cluster, double)


@pytest.mark.parametrize("folder", [FIXTURES / "admission", FIXTURES / "frameworks", *FOLDERS], ids=lambda f: f.name)
def test_classes_of_workloads(folder: Path) -> None:
    for cluster in clusters(folder):
        more = tuple(replace(w, id=replace(w.id, name=f"{w.name}-too")) for w in cluster.workloads)
        doubled = replace(cluster, workloads=(*cluster.workloads, *more))
        members = [w for each in workload_classes(doubled) for w in each]
        assert sorted(map(id, members)) == sorted(map(id, doubled.workloads))
        assert verdicts_of(doubled) == tuple(judge(replace(doubled), w) for w in doubled.workloads)


def test_many_alike(tmp_path: Path) -> None:
    bench_inputs.repository(str(tmp_path), 120, 6)
    (cluster,) = clusters(tmp_path)
    verdicts = verdicts_of(cluster)
    assert len(cache_of(cluster, place_pods)) < len(workload_classes(cluster)) < len(verdicts)
    assert not [w for w in cluster.workloads if differ(cluster, w)]


def test_the_key_of_an_answer_has_all_arguments() -> None:
    @answered_once
    def total(_: Cluster, first: int, second: int = 0) -> int:
        return first + second

    cluster = Cluster("default")
    assert (total(cluster, 1, 2), total(cluster, 1, 3)) == (3, 4)
    with pytest.raises(TypeError):
        total(cluster, 1, second=2)  # type: ignore[call-arg]


def test_what_is_not_in_the_cluster_stands_for_itself(tmp_path: Path) -> None:
    bench_inputs.repository(str(tmp_path), 120, 6)
    (cluster,) = clusters(tmp_path)
    double = replace(cluster.workloads[-1])
    assert representative(cluster, cluster.workloads[-1]) is not cluster.workloads[-1]
    assert representative(cluster, double) is double
