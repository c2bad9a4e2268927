"""What the decoders take for a field that is left out is what the descriptions, and so the CRDs, give it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from qcheck.cluster.kueue import ClusterQueue, LocalQueue
from qcheck.cluster.workloads import Workload
from qcheck.documents.cursor import root
from qcheck.documents.load import load
from qcheck.kinds.decode import decode
from qcheck.kinds.schema.catalogue import KUEUE, described


def default(kind: str, version: str, *steps: str) -> object:
    found = described(KUEUE, version, kind, (0, 19))
    assert found is not None
    node = found.tree
    for step in steps:
        node = node.innermost.children[step]
    return node.default


def decoded(kind: str, version: str, spec: dict[str, Any]) -> object:
    data = {"apiVersion": f"{KUEUE}/{version}", "kind": kind, "metadata": {"name": "a"}, "spec": spec}
    return decode(root(load(json.dumps(data), "a.json").documents[0]))


@pytest.mark.parametrize("version", ["v1beta1", "v1beta2"])
def test_a_queue_that_says_nothing(version: str) -> None:
    queue = decoded("ClusterQueue", version, {})
    assert isinstance(queue, ClusterQueue)
    preemption, fungibility = queue.preemption, queue.fungibility
    for found, *steps in (
        (queue.strategy, "queueingStrategy"),
        (queue.stop_policy, "stopPolicy"),
        (preemption.within_queue, "preemption", "withinClusterQueue"),
        (preemption.reclaim, "preemption", "reclaimWithinCohort"),
        (preemption.borrow, "preemption", "borrowWithinCohort", "policy"),
        (fungibility.when_can_borrow, "flavorFungibility", "whenCanBorrow"),
        (fungibility.when_can_preempt, "flavorFungibility", "whenCanPreempt"),
    ):
        assert found == default("ClusterQueue", version, "spec", *steps), steps


def test_the_other_kinds() -> None:
    local = decoded("LocalQueue", "v1beta2", {"clusterQueue": "a"})
    workload = decoded("Workload", "v1beta2", {"podSets": [{"template": {}}]})
    assert isinstance(local, LocalQueue)
    assert isinstance(workload, Workload)
    assert local.stop_policy == default("LocalQueue", "v1beta2", "spec", "stopPolicy")
    assert workload.pod_sets[0].name == default("Workload", "v1beta2", "spec", "podSets", "name")
    assert workload.pod_sets[0].count == default("Workload", "v1beta2", "spec", "podSets", "count")


def test_conversion_takes_the_old_spellings() -> None:
    spec = {
        "cohort": "all",
        "admissionChecks": ["a"],
        "flavorFungibility": {"whenCanBorrow": "Borrow", "whenCanPreempt": "Preempt"},
    }
    queue = decoded("ClusterQueue", "v1beta1", spec)
    assert isinstance(queue, ClusterQueue)
    assert queue.parent == "all"
    assert [c.name for c in queue.checks] == ["a"]
    assert (queue.fungibility.when_can_borrow, queue.fungibility.when_can_preempt) == ("MayStopSearch", "MayStopSearch")


def test_what_the_other_version_calls_otherwise_is_lost() -> None:
    queue = decoded("ClusterQueue", "v1beta2", {"cohort": "all", "admissionChecks": ["a"]})
    assert isinstance(queue, ClusterQueue)
    assert queue.parent is None
    assert queue.checks == ()
