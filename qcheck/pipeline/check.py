"""From models to a settled result: run the rules, and settle their findings."""

from __future__ import annotations

import os

from qcheck.checks.run import CHANGE, RuleRun, run
from qcheck.cluster.cluster import Cluster
from qcheck.cluster.value import TYPE_CHECKING, replace
from qcheck.documents.cursor import Cursor
from qcheck.documents.document import Document
from qcheck.findings.catalogue import choose, load_catalogue
from qcheck.findings.settle import SettleTerms, overrides, settle
from qcheck.findings.severity import Severity
from qcheck.kinds.validation.target import Target
from qcheck.pipeline.gather import Gathered
from qcheck.pipeline.read import unwatched
from qcheck.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from qcheck.answers.cluster_changes import ClusterChange, WrittenObject
    from qcheck.documents.load import Loaded
    from qcheck.findings.catalogue import Params, Rule
    from qcheck.findings.result import Result
    from qcheck.pipeline.read import Watch
    from qcheck.settings import RuleChoice

OF_SETTINGS = "QC014"
MANY = 1000
"""From this number of objects on, a second process saves more time than it takes to start."""


def checked(gathered: Gathered, settings: Settings, watch: Watch = unwatched, before: Gathered | None = None) -> Result:
    """Return the settled result for what was read; rules about changes run only if `before` is given."""
    catalogue = load_catalogue()
    choices = {s.name: settings.rules.with_own(s.rules) for s in settings.scopes}
    rules = {name: chosen_rules(catalogue, c, with_changes=before is not None) for name, c in choices.items()}
    params = {name: overrides(catalogue, c.params) for name, c in choices.items()}
    watch("check", 0, 0)
    between = changes(before, gathered) if before else {}
    outcomes = [_run(c, rules[c.name], params[c.name], catalogue, between.get(c.name)) for c in gathered.clusters]
    watch("settle", 0, 0)
    inputs = replace(
        gathered.inputs,
        skipped=tuple(s for o in outcomes for s in o.skipped),
        unjudged=(*gathered.inputs.unjudged, *(c for o in outcomes for c in o.crashed)),
    )
    findings = [f for o in outcomes for f in o.findings]
    chosen = {rule.id for some in rules.values() for rule in some}
    asked = tuple(rule for rule in catalogue.values() if rule.id in chosen)
    severity = {name: _severities(catalogue, settings.policy.profile, c) for name, c in choices.items()}
    return settle(findings, inputs, asked, gathered.clusters, _terms(catalogue, settings, severity, gathered.loaded))


def _run(
    cluster: Cluster,
    rules: tuple[Rule, ...],
    params: dict[str, Params],
    catalogue: dict[str, Rule],
    change: ClusterChange | None,
) -> RuleRun:
    """Apply the rules to a cluster; with many objects, a second process determines which rules have no findings."""
    if cluster.size < MANY:
        return run(cluster, rules, params, catalogue, change)
    from qcheck.pipeline.quiet_rules import quiet_rules  # 0.3 ms

    return run(cluster, rules, params, catalogue, change, quiet_rules(cluster, rules, params, catalogue))


def changes(before: Gathered, after: Gathered) -> dict[str, ClusterChange]:
    """Return each cluster before and after, by name; a new cluster was empty before."""
    from qcheck.answers.cluster_changes import ClusterChange  # 0.5 ms

    old = {c.name: c for c in before.clusters}
    return {c.name: ClusterChange(old.get(c.name, Cluster(c.name)), c, _newest(c)) for c in after.clusters}


def _newest(cluster: Cluster) -> Callable[[WrittenObject], object]:
    """Return a function that converts an object to the newest version that a cluster's release serves."""
    from qcheck.kinds.rewrite import as_newest  # 1 ms

    target = Target((cluster.policy.kueue.major, cluster.policy.kueue.minor))

    def newest(written: WrittenObject) -> object:
        document = written.place.origin
        at = Cursor(document, written.place.route, written.data) if isinstance(document, Document) else None
        return written.data if at is None else as_newest(at, target) or written.data

    return newest


def _terms(
    catalogue: dict[str, Rule], settings: Settings, severity: dict[str, dict[str, Severity]], loaded: Iterable[Loaded]
) -> SettleTerms:
    """Return the terms of settling: settings, comments in the files, baseline."""
    baseline = None
    if settings.baseline is not None:
        from qcheck.findings.baseline import read_baseline  # 0.4 ms

        baseline = read_baseline(os.path.normpath(os.path.join(settings.root, settings.baseline)))
    return SettleTerms(
        catalogue,
        severity,
        markers=tuple((c.line, c.text, c.stands_alone, c.spot) for f in loaded for c in f.comments("qcheck:")),
        baseline=baseline,
        root=settings.root,
    )


def _severities(catalogue: dict[str, Rule], profile: str | None, choice: RuleChoice) -> dict[str, Severity]:
    """Return severities by rule id from a profile, overridden by settings."""
    chosen: dict[str, str] = {}
    if profile:
        from qcheck.settings.profiles import severities  # 0.1 ms

        chosen = severities(profile)
    if choice.severity:
        chosen = chosen | overrides(catalogue, choice.severity)
    return {rule: Severity(severity) for rule, severity in chosen.items()}


def chosen_rules(catalogue: dict[str, Rule], choice: RuleChoice, with_changes: bool = False) -> tuple[Rule, ...]:
    """Return the rules that settings select and do not ignore; an empty selection means all rules.

    The rule on faults of the settings is always included; otherwise a misspelled selection would hide its own finding.
    """
    selected, _ = choose(catalogue.values(), choice.select) if choice.select else (set(catalogue), [])
    ignored, _ = choose(catalogue.values(), choice.ignore)
    asked = (selected | {OF_SETTINGS}) - ignored
    return tuple([r for r in catalogue.values() if r.id in asked and (with_changes or r.family != CHANGE)])
