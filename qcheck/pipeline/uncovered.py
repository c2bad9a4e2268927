"""Errors that an edit uncovers: they were there in substance, but another finding hid them.

A rule reports nothing while a simpler one explains the same object: a queue whose flavor selects no node has no other
problem with nodes yet. An edit that resolves the simpler finding then shows the next one, without causing it.
"""

from __future__ import annotations

from qcheck.answers.proposals import Way
from qcheck.answers.verdicts import verdicts_of
from qcheck.cluster.value import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence, Set

    from qcheck.findings.finding import Finding
    from qcheck.pipeline.trial import TrialState

CORRECTED = (Way.LABEL, Way.NAME)
"""Ways that correct a reference, after which the rules see what it was meant to name."""
INVALID = ("input", "configuration")
"""Families of rules that reject what an edit has written."""
ABOUT_NODES = ("capacity", "topology", "workloads")
"""Families of rules whose errors more nodes or devices cannot cause."""
NOT_PACKED = "QC506"
"""The rule on pods that do not pack, of which a lower quota only admits fewer."""


def uncovered(before: TrialState, new: Sequence[Finding], ways: Set[Way]) -> list[Finding]:
    """Return those of the new findings of an edit that it uncovers; `ways` are the ways of its proposals."""
    return [f for f in new if all(_uncovers(before, f, way) for way in ways)]


def _uncovers(before: TrialState, found: Finding, way: Way) -> bool:
    family = found.rule.family if found.rule else ""
    if family in INVALID:
        return False
    if way is Way.LOWER_QUOTA:
        return found.rule is not None and found.rule.id == NOT_PACKED
    if way in CORRECTED or (way in (Way.ADD_NODES, Way.FREE_DEVICES) and family in ABOUT_NODES):
        return not _did_run(before, found)
    return family == "workloads" and _did_not_run(before, found)


def _did_run(before: TrialState, found: Finding) -> bool:
    return any(v.runs is True and v.workload.id == found.object for c in before.clusters for v in verdicts_of(c))


def _did_not_run(before: TrialState, found: Finding) -> bool:
    return any(v.runs is False and v.workload.id == found.object for c in before.clusters for v in verdicts_of(c))
