"""Rules without findings, which a second process determines for some families."""

from __future__ import annotations

from functools import cache

from qcheck.checks.run import run
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.pipeline.second_process import beside

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from qcheck.cluster.cluster import Cluster
    from qcheck.findings.catalogue import Params, Rule

APART = frozenset({"priority", "queues"})
"""Families of rules that share few intermediate results with the other rules, so little is computed twice."""


def quiet_rules(
    cluster: Cluster, rules: Sequence[Rule], params: Mapping[str, Params], catalogue: Mapping[str, Rule]
) -> Callable[[Rule], bool]:
    """Return a function that tells whether a rule is known to have no findings.

    A second process runs the rules of the families `APART`; the function waits for it when it is called for the first of
    them. Rules with findings run again in this process, because findings refer to documents.
    """
    apart = [rule for rule in rules if rule.family in APART]
    if not apart:
        return lambda _: False
    wait = beside(lambda: _quiet(cluster, apart, params, catalogue))

    @cache
    def quiet() -> frozenset[str]:
        return frozenset(wait() or ())

    return lambda rule: rule.family in APART and rule.id in quiet()


def _quiet(
    cluster: Cluster, rules: Sequence[Rule], params: Mapping[str, Params], catalogue: Mapping[str, Rule]
) -> list[str]:
    """Return the rules that ran without a finding; none if one crashed."""
    ran = run(cluster, rules, params, catalogue)
    others = {f.rule.id for f in ran.findings if f.rule is not None} | {s.rule.id for s in ran.skipped}
    return [] if ran.crashed else [rule.id for rule in rules if rule.id not in others]
