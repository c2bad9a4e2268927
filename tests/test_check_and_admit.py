"""`check` reports every workload that `admit` says never runs: at the workload, or by a rule in `ELSEWHERE`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from rule_cases import FIXTURES, RULES

from qcheck.answers.verdict import Verdict
from qcheck.answers.verdicts import verdicts_of
from qcheck.findings.finding import Finding
from qcheck.pipeline.check import checked
from qcheck.pipeline.gather import gather
from qcheck.pipeline.read import unwatched
from qcheck.settings import Settings
from qcheck.settings.load import load_settings

ELSEWHERE = {
    "flavor-matches-no-nodes": {"QC201"},
    "taint": {"QC202"},
    "selector": {"QC201", "QC202", "QC210"},
    "priority-class-missing": {"QC301"},
    "flavor-missing": {"QC401"},
    "cluster-queue-missing": {"QC402"},
    "local-queue-missing": {"QC403"},
    "namespace-not-selected": {"QC404"},
    "queue-inactive": {"QC401", "QC405", "QC407", "QC414"},
    "queue-stopped": {"QC414"},
    "local-queue-stopped": {"QC414"},
    "larger-than-node": {"QC104", "QC505"},
    "domain": {"QC202", "QC502", "QC507"},
    "quota": {"QC003"},
    "resource-not-covered": {"QC419"},
    "pod-group": {"QC608"},
    "kai-no-limit": {"QC901"},
    "kai-queue": {"QC906", "QC907"},
    "volcano-queue": {"QC956"},
}
"""The rules that report a cause once, at the queue, flavor or class, and not at each workload."""


def folders() -> Iterator[tuple[Path, str]]:
    yield from ((folder, ".") for folder in sorted(RULES.glob("*/*")) if not (folder / "before").is_dir())
    yield from ((FIXTURES / "admission", file.name) for file in sorted((FIXTURES / "admission").glob("*.yaml")))


def refused(folder: Path, name: str) -> Iterator[tuple[Verdict, tuple[Finding, ...]]]:
    with contextlib.chdir(folder):
        settings = load_settings(explicit="qcheck.yaml") if (folder / "qcheck.yaml").exists() else Settings()
        gathered = gather([name], settings, unwatched)
        never = [v for c in gathered.clusters for v in verdicts_of(c) if v.runs is False]
        if never:
            findings = checked(gathered, settings, unwatched).findings
            yield from ((verdict, findings) for verdict in never)


def is_reported(verdict: Verdict, findings: tuple[Finding, ...]) -> bool:
    serious = [f for f in findings if f.rule is not None and f.severity != "note"]
    if any(f.object == verdict.workload.id for f in serious):
        return True
    rules = {f.rule.id for f in serious if f.rule is not None}
    causes = [reason.cause for reason in verdict.reasons if reason.cause != "unmanaged"]
    return any(ELSEWHERE.get(cause, set()) & rules for cause in causes)


def is_queued(verdict: Verdict) -> bool:
    """Return whether a queue manages the workload: the rules judge no others, and no jobs that wait for a queue name."""
    return all(reason.cause not in ("unmanaged", "no-queue") for reason in verdict.reasons)


@pytest.mark.parametrize(("folder", "name"), [*folders()], ids=lambda given: getattr(given, "name", given))
def test_workloads_that_never_run_are_reported(folder: Path, name: str) -> None:
    silent = [
        f"{verdict.workload.id}: {[(r.cause, r.message) for r in verdict.reasons]}"
        for verdict, findings in refused(folder, name)
        if is_queued(verdict) and not is_reported(verdict, findings)
    ]
    assert not silent
