"""Errors that an edit uncovers, as opposed to errors that it causes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from made import over_quota, rule
from manifests import FLAVOR
from test_unprepared import NODES, PYTORCH_JOB, QUEUE, repository

from qcheck.answers.proposals import Way
from qcheck.cluster.objects import ObjectId
from qcheck.cluster.value import replace
from qcheck.pipeline.gather import collect
from qcheck.pipeline.read import unwatched
from qcheck.pipeline.trial import Trials
from qcheck.pipeline.uncovered import uncovered
from qcheck.settings.load import load_settings

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["repository"]

SETTINGS = "version: 1\nclusters: {east: {include: [east/**]}, west: {include: [west/**]}}\n"


@pytest.mark.parametrize(("cluster", "hidden"), [("east", False), ("west", True)])
def test_a_workload_that_ran_in_its_own_cluster_is_not_uncovered(repository: Path, cluster: str, hidden: bool) -> None:
    """The workload of the same name in another cluster tells nothing."""
    (repository / "qcheck.yaml").write_text(SETTINGS)
    for name, quota in (("east", "16"), ("west", "4")):
        (repository / name).mkdir()
        text = f"{FLAVOR}---\n{QUEUE.replace('AMOUNT', quota)}---\n{NODES}---\n{PYTORCH_JOB}"
        (repository / name / "all.yaml").write_text(text)
    settings = load_settings(".")
    before = Trials(collect(["."], settings, unwatched), settings, unwatched).start
    job = ObjectId("kubeflow.org", "v1", "PyTorchJob", "train", "team")
    kind = replace(rule("QC602", "admitted-but-pending"), family="workloads")
    found = replace(over_quota(), rule=kind, object=job, cluster=cluster)
    assert (uncovered(before, [found], {Way.RAISE_QUOTA}) == [found]) is hidden
    assert (uncovered(before, [found], {Way.NAME}) == [found]) is hidden
