"""Errors that an edit uncovers: they existed before the edit, but another finding hid them.

A rule reports nothing while a simpler finding explains the same object: for a queue whose flavor selects no node, no
other problem with nodes is reported. An edit that resolves the simpler finding shows the next one without causing it.
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
"""Ways that correct a reference, so that the rules see the intended object."""
INVALID = ("input", "configuration")
"""Families of rules whose errors the written text itself causes."""
ABOUT_NODES = ("capacity", "topology", "workloads")
"""Families of rules whose errors additional nodes or devices cannot cause."""
NOT_PACKED = "QC506"
"""The rule on pods that cannot be packed onto the nodes. A lower quota cannot cause this: it admits fewer pods."""


def uncovered(before: TrialState, new: Sequence[Finding], ways: Set[Way]) -> list[Finding]:
    """Return the new findings that an edit uncovers. `ways` are the ways of its proposals."""
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
