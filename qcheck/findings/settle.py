"""Settles findings: determines their severity and order, and whether they are suppressed or accepted."""

from __future__ import annotations

from itertools import compress
from operator import not_

from qcheck.cluster.value import TYPE_CHECKING, Value, replace
from qcheck.findings.catalogue import choose
from qcheck.findings.finding import Finding
from qcheck.findings.result import Inputs, Result
from qcheck.findings.severity import SEVERITIES, Severity
from qcheck.findings.suppressions import SuppressionIndex, problems, read_suppressions

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import TypeVar

    from qcheck.findings.baseline import Baseline
    from qcheck.findings.catalogue import Rule
    from qcheck.findings.suppressions import Marker

    T = TypeVar("T")
    from qcheck.cluster.cluster import Cluster

SUPPRESSION_PROBLEM = "QC012"
BASELINE_STALE = "QC013"


class SettleTerms(Value):
    """The terms of settling: severities by cluster and rule id, threshold, suppressions, baseline, today's ISO date.

    Fingerprints use paths relative to `root`.
    """

    catalogue: Mapping[str, Rule] = {}
    severity: Mapping[str, Mapping[str, Severity]] = {}
    fail_on: Severity = Severity.ERROR
    strict: bool = False
    markers: tuple[Marker, ...] = ()
    baseline: Baseline | None = None
    today: str | None = None
    root: str = "."


def overrides(catalogue: Mapping[str, Rule], named: Mapping[str, T]) -> dict[str, T]:
    """Return settings by rule id; they may name rules by id, name or prefix, and an exact match overrides a prefix."""
    exact = {word for r in catalogue.values() for word in (r.id, r.name)}
    found: dict[str, T] = {}
    for word in sorted(named, key=lambda w: (w in exact, len(w))):
        for identifier in choose(catalogue.values(), [word])[0]:
            found[identifier] = named[word]
    return found


def severity_of(found: Finding, severity: Mapping[str, Severity]) -> Severity:
    """Return the severity from settings, else the rule's or the finding's floor, capped by ceiling and certainty."""
    assert found.rule is not None
    level = severity.get(found.rule.id) or max(found.rule.severity, found.floor, key=SEVERITIES.index)
    cap = found.ceiling if found.certain else min(found.ceiling, Severity.WARNING, key=SEVERITIES.index)
    return min(level, cap, key=SEVERITIES.index)


def settle(
    findings: Iterable[Finding], inputs: Inputs, rules: Sequence[Rule], clusters: Sequence[Cluster], terms: SettleTerms
) -> Result:
    """Return the result of a run: three piles, each sorted by file, line and rule. `rules` are the requested rules."""
    graded = _graded(findings, terms)
    shown, suppressed = _suppress(graded, inputs, rules, clusters, terms)
    known = terms.baseline.entries if terms.baseline else {}
    names = [c.name for c in clusters]
    accepted = [bool(known) and f.fingerprint in known and known[f.fingerprint].covers(f) for f in shown]
    result = Result(
        findings=_merged(compress(shown, map(not_, accepted)), names),
        suppressed=_merged(suppressed, names),
        baselined=_merged(compress(shown, accepted), names),
        inputs=inputs,
        rules=tuple(rules),
        clusters=tuple(clusters),
        fail_on=terms.fail_on,
        strict=terms.strict,
    )
    return _with_stale(result, terms)


def _merged(findings: Iterable[Finding], clusters: Sequence[str]) -> tuple[Finding, ...]:
    """Return each finding once, with the clusters that have it."""
    found = tuple(findings)
    if len({f.cluster for f in found}) < 2:
        return found
    from qcheck.findings.same_in_clusters import merged  # 0.1 ms

    return merged(found, clusters)


def _graded(findings: Iterable[Finding], terms: SettleTerms) -> list[Finding]:
    """Return findings with severity and identity, in order."""
    found = list(findings)
    if not found:
        return []
    from qcheck.findings.fingerprint import identities  # 0.2 ms

    graded = [
        replace(f, severity=severity_of(f, terms.severity.get(f.cluster, {})), identity=identity)
        for f, identity in zip(found, identities(found, terms.root), strict=True)
    ]
    return sorted(graded, key=reading_order)


def reading_order(found: Finding) -> tuple[object, ...]:
    """Return the sort key: file, line and rule, then everything else that distinguishes findings."""
    line, column, _, _ = found.primary.span
    rule = found.rule.id if found.rule else ""
    return (found.primary.origin.path, line, rule, column, found.cluster, found.message)


def _suppress(
    graded: list[Finding], inputs: Inputs, rules: Sequence[Rule], clusters: Sequence[Cluster], terms: SettleTerms
) -> tuple[list[Finding], tuple[Finding, ...]]:
    """Return the remaining findings (with QC012 for wrong suppressions), and the suppressed ones."""
    suppressions = read_suppressions(terms.markers, clusters, terms.catalogue, terms.today)
    if not suppressions:
        return graded, ()
    index = SuppressionIndex(suppressions)
    covering = [index.covering(f) for f in graded]
    used = {i for indexes in covering for i in indexes}
    judged = {r.id for r in rules} - {s.rule.id for s in inputs.skipped}
    mistakes = list(problems(suppressions, used, judged))
    readers = _readers(clusters) if mistakes else {}
    wrong = [f for each in mistakes for f in _in_clusters(each, readers.get(each.primary.origin.path, ()), clusters)]
    faults = _own(SUPPRESSION_PROBLEM, wrong, rules, terms)
    shown = [f for f, by in zip(graded, covering, strict=True) if not by]
    silenced = tuple(f for f, by in zip(graded, covering, strict=True) if by)
    return sorted([*shown, *faults], key=reading_order), silenced


def _readers(clusters: Sequence[Cluster]) -> dict[str, list[str]]:
    """Return by path the names of the clusters that have objects from the file."""
    readers: dict[str, list[str]] = {}
    for cluster in clusters:
        for path in {
            p.origin.path for p in (*(o.place for o in cluster.all_objects()), *(n.place for n in cluster.pools))
        }:
            readers.setdefault(path, []).append(cluster.name)
    return readers


def _in_clusters(found: Finding, reading: Iterable[str], clusters: Sequence[Cluster]) -> list[Finding]:
    """Return one finding for each cluster that reads the file; for the first cluster if none has objects from it."""
    names = [*reading] or [c.name for c in clusters[:1]] or [found.cluster]
    return [replace(found, cluster=name) for name in names]


def _with_stale(result: Result, terms: SettleTerms) -> Result:
    """Return the result with QC013 for baseline entries that no longer occur."""
    if terms.baseline is None:
        return result
    from qcheck.findings.baseline import stale_findings  # 0.4 ms

    faults = _own(BASELINE_STALE, stale_findings(terms.baseline, result), result.rules, terms)
    return replace(result, findings=tuple(sorted([*result.findings, *faults], key=reading_order)))


def _own(identifier: str, findings: Iterable[Finding], rules: Sequence[Rule], terms: SettleTerms) -> list[Finding]:
    """Return findings of a rule that is judged here; none if the rule was not requested."""
    rule = next((r for r in rules if r.id == identifier), None)
    return _graded((replace(f, rule=rule) for f in findings), terms) if rule else []
