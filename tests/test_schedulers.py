"""A scheduler is a peer: one that only these tests know is judged by the same rules and reports as the others."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from qcheck.answers.capacity import capacity_lines
from qcheck.checks.capacity.quota import quota_exceeds_capacity
from qcheck.checks.placement.selectors import flavor_matches_no_nodes
from qcheck.cluster.assemble import assemble
from qcheck.cluster.place import Place
from qcheck.cluster.policy import Policy
from qcheck.cluster.quota_pool import QuotaPool, SchedulerName
from qcheck.documents.cursor import root
from qcheck.documents.load import load
from qcheck.nodepools.read import read
from qcheck.quota.tree import Cell, QuotaNode, QuotaTree
from qcheck.reports.capacity import render_json
from qcheck.schedulers import table

if TYPE_CHECKING:
    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.workloads import Workload
    from qcheck.packing.pod_shape import PodShape
    from qcheck.quota.start_decision import StartDecision

NODES = """\
apiVersion: qcheck.dev/v1
kind: NodePool
metadata: {name: h100}
spec: {count: 2, labels: {part: gpu}, allocatable: {nvidia.com/gpu: 8}}
"""
QUEUES = "red: 10\nblue: 8\n"
GPU = "nvidia.com/gpu"


def a_cluster(label: str) -> Cluster:
    """Two nodes with 8 GPUs each, and a pool of a scheduler that nobody has heard of."""
    found = read([root(d) for d in load(NODES, "nodes.yaml").documents], {})
    cluster = assemble("default", Policy(), found.nodes, found.pools)
    place = Place(load(QUEUES, "queues.yaml").documents[0], ())
    cluster.__dict__["quota_pools"] = {
        "toy/all": QuotaPool(
            key="toy/all",
            name="all",
            word="heap",
            scheduler=SchedulerName.KAI,
            node_labels={"part": label},
            place=place,
            labels_place=place,
        )
    }
    return cluster


def a_tree(cluster: Cluster) -> QuotaTree:
    """The queues `red` and `blue`, which promise 10 and 8 GPUs."""
    pool = cluster.quota_pools["toy/all"]
    nodes = []
    for name, amount in (("red", 10), ("blue", 8)):
        place = pool.place.at(name)
        cell = Cell(
            pool=pool.key,
            resource=GPU,
            promised=amount,
            entitled=amount,
            lendable=0,
            limit=None,
            holder=name,
            place=place,
            name_place=place,
        )
        nodes.append(QuotaNode(name=name, word="queue", parent=None, admits=True, cells=(cell,)))
    return QuotaTree(SchedulerName.KAI, tuple(nodes), (pool,))


class Toy:
    """The functions of that scheduler."""

    def quota_tree(self, cluster: Cluster) -> QuotaTree:
        return a_tree(cluster)

    def queue_of(self, cluster: Cluster, workload: Workload) -> str | None:
        return workload.queue

    def decide(self, cluster: Cluster, workload: Workload) -> StartDecision | None:
        return None

    def workload_shapes(self, cluster: Cluster) -> dict[str, tuple[PodShape, ...]]:
        return {}


@pytest.fixture(autouse=True)
def _toy(monkeypatch: pytest.MonkeyPatch) -> None:
    toy = table.Scheduler(SchedulerName.KAI, "Toy", lambda _: True, Toy)
    monkeypatch.setattr(table, "SCHEDULERS", (toy,))


def test_its_promises_are_compared_with_the_nodes() -> None:
    (found,) = quota_exceeds_capacity(a_cluster("gpu"))
    assert found.message.startswith(f"heap all promises 10 (red) + 8 (blue) = 18 {GPU}, but the nodes can supply 16")
    assert (found.primary.span[0], found.data["excess"]) == (1, 2)


def test_its_selectors_are_compared_with_the_labels() -> None:
    (found,) = flavor_matches_no_nodes(a_cluster("cpu"))
    assert "heap all selects no node: part=cpu; the nearest is h100" in found.message


def test_its_rows_stand_in_the_capacity_view() -> None:
    cluster = a_cluster("gpu")
    (line,) = capacity_lines(cluster)
    assert (line.nominal, line.static, line.headroom) == (18, 16, -2)
    (row,) = json.loads(render_json([cluster]))["clusters"][0]["flavors"]
    assert (row["flavor"], row["scheduler"], row["nominal"]) == ("all", "kai", 18)
