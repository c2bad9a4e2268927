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
    ran = _ran(before, found)
    if way in CORRECTED or (way in (Way.ADD_NODES, Way.FREE_DEVICES) and family in ABOUT_NODES):
        return True not in ran
    return family == "workloads" and False in ran and True not in ran


def _ran(before: TrialState, found: Finding) -> set[bool | None]:
    """Return whether the workload of a finding ran before the edit, in the clusters that the finding is about."""
    verdicts = (v for c in before.clusters if c.name in found.clusters for v in verdicts_of(c))
    return {v.runs for v in verdicts if v.workload.id == found.object}
