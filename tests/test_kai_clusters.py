"""The example clusters of KAI: one that is wrong on purpose, and the same put right."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from qcheck.answers.shares import shares
from qcheck.api import admit, audit
from qcheck.pipeline.gather import gather
from qcheck.quota.shares import NO_USAGE, Demand
from qcheck.settings import Settings

if TYPE_CHECKING:
    from qcheck.quota.shares import QueueShare

CLUSTERS = Path(__file__).resolve().parent.parent / "fixtures" / "clusters"
WRONG, RIGHT = str(CLUSTERS / "kai-departments"), str(CLUSTERS / "kai-departments-fixed")
FOUND = {
    "QC101": 1, "QC104": 1, "QC505": 1, "QC901": 1, "QC903": 1, "QC907": 1, "QC908": 1, "QC909": 1, "QC912": 2, "QC913": 1,
    "QC914": 1, "QC915": 1, "QC916": 1, "QC917": 1, "QC918": 1, "QC919": 1,
}  # fmt: skip
"""The findings of the wrong one that are no notes."""


def test_every_fault_is_found_once() -> None:
    found = Counter(f.rule.id for f in audit([WRONG]).findings if f.rule and f.severity != "note")
    assert found == FOUND


def test_the_fixed_cluster_has_no_findings() -> None:
    assert [f.message for f in audit([RIGHT]).findings] == []


def test_the_jobs_of_the_fixed_cluster_run() -> None:
    judged = admit([f"{RIGHT}/workloads"], [RIGHT])
    assert {v.workload.name: (v.admitted, v.runs, v.decision.queue) for _, v in judged.verdicts} == {
        "chat": (True, True, "serving"),
        "labelling": (True, True, "vision"),
        "notebook": (True, True, "notebooks"),
        "pretraining": (True, True, "llm"),
    }


def test_jobs_of_the_wrong_cluster_are_refused_with_their_reason() -> None:
    judged = admit([f"{WRONG}/workloads"], [WRONG])
    refused = {v.workload.name: {r.cause for r in v.reasons} for _, v in judged.verdicts if v.admitted is False}
    assert refused == {"chat": {"kai-quota"}, "notebook": {"api-rejected", "kai-no-limit"}}


def _gpus(folder: str, demand: Demand) -> dict[str, QueueShare]:
    (cluster,) = gather([folder], Settings()).clusters
    pools = shares(cluster, demand, NO_USAGE)
    return {queue.queue: queue for pool in pools if pool.resource == "nvidia.com/gpu" for queue in pool}


def test_a_department_keeps_its_quota_from_others_even_where_a_limit_leaves_it_idle() -> None:
    busy = _gpus(RIGHT, Demand(busy=frozenset({"llm", "notebooks"})))
    assert {name: (q.entitled, q.share, q.limit) for name, q in busy.items()} == {
        "llm": (48, 80, 128),
        "notebooks": (16, 16, 16),
        "serving": (32, 0, 128),
        "vision": (32, 0, 128),
    }
