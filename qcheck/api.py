"""The line, joined once: discover, load, decode, model, check, settle.

from qcheck.api import audit
result = audit(["clusters/prod"])
"""

from __future__ import annotations

import os

from qcheck.checks.run import CHANGE, run
from qcheck.cluster.assemble import as_fleet
from qcheck.cluster.value import TYPE_CHECKING, Value, replace
from qcheck.documents.load import load
from qcheck.findings.catalogue import choose, load_catalogue
from qcheck.findings.result import Inputs, NotRead
from qcheck.findings.settle import Terms, overrides, settle
from qcheck.pipeline.model import left_out, model, unjudged_rules
from qcheck.pipeline.raw import raw
from qcheck.pipeline.read import is_wanted, read, unwatched
from qcheck.settings import Settings
from qcheck.sources import files

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence, Set

    from qcheck.answers.changes import ClusterChange
    from qcheck.answers.drift import Drift
    from qcheck.answers.simulate import Simulated
    from qcheck.answers.verdict import Judged
    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.problems import Problem
    from qcheck.documents.load import Loaded
    from qcheck.findings.catalogue import Rule
    from qcheck.findings.result import Result
    from qcheck.pipeline.live import Live
    from qcheck.pipeline.raw import Raw
    from qcheck.pipeline.read import Watch
    from qcheck.pipeline.render import Renders
    from qcheck.settings import ClusterScope, RuleChoice


NOTHING_FOUND = "nothing relevant was found: no Kueue object, node pool or workload"
NOTHING_HELD = "nothing was looked at: no cluster of the settings includes these files"


class Gathered(Value):
    """What was read and what it came to: one model per cluster. No rule has looked at it yet."""

    loaded: tuple[Loaded, ...]
    clusters: tuple[Cluster, ...]
    inputs: Inputs


def audit(
    paths: Sequence[str], settings: Settings | None = None, watch: Watch = unwatched, live: Live | None = None
) -> Result:
    """Checks everything under `paths`, and a live cluster; returns the settled result. Never raises for what they hold.

    Raises `BaselineError` where settings name a baseline that cannot be read.
    """
    settings = settings or Settings()
    return checked(gather(paths, settings, watch, live=live), settings, watch)


def checked(gathered: Gathered, settings: Settings, watch: Watch = unwatched, before: Gathered | None = None) -> Result:
    """The settled result for what was read; with the rules about changes where a reading from `before` is given."""
    catalogue = load_catalogue()
    choices = {s.name: settings.rules.with_own(s.rules) for s in settings.scopes}
    rules = {name: chosen_rules(catalogue, c, with_changes=before is not None) for name, c in choices.items()}
    params = {name: overrides(catalogue, c.params) for name, c in choices.items()}
    watch("check", 0, 0)
    between = changes(before, gathered) if before else {}
    outcomes = [run(c, rules[c.name], params[c.name], catalogue, between.get(c.name)) for c in gathered.clusters]
    watch("settle", 0, 0)
    inputs = replace(
        gathered.inputs,
        skipped=tuple(s for o in outcomes for s in o.skipped),
        unjudged=(*gathered.inputs.unjudged, *(c for o in outcomes for c in o.crashed)),
    )
    findings = [f for o in outcomes for f in o.findings]
    asked = tuple(r for r in catalogue.values() if any(r in chosen for chosen in rules.values()))
    severity = {name: _severities(catalogue, settings.policy.profile, c) for name, c in choices.items()}
    return settle(findings, inputs, asked, gathered.clusters, _terms(catalogue, settings, severity, gathered.loaded))


def changes(before: Gathered, after: Gathered) -> dict[str, ClusterChange]:
    """Each cluster before and after, by name; one that is new began empty."""
    from qcheck.answers.changes import ClusterChange
    from qcheck.cluster.cluster import Cluster

    old = {c.name: c for c in before.clusters}
    return {c.name: ClusterChange(old.get(c.name, Cluster(c.name)), c) for c in after.clusters}


def admit(
    workloads: Sequence[str],
    paths: Sequence[str],
    settings: Settings | None = None,
    watch: Watch = unwatched,
    live: Live | None = None,
) -> Judged:
    """The verdict on every workload in the files `workloads`, in the clusters that `paths` and `live` describe."""
    from qcheck.answers.smallest_change import remedy
    from qcheck.answers.verdict import Judged, judge

    settings = settings or Settings()
    asked = {f.path for f in files.discover(workloads).files}
    gathered = gather((*workloads, *paths), settings, watch, asked, live=live)
    wanted = [(c, w) for c in gathered.clusters for w in c.workloads if w.place.origin.path in asked]
    verdicts = []
    for done, (cluster, workload) in enumerate(wanted):
        watch("judge", done, len(wanted))
        verdict = judge(cluster, workload)
        verdicts.append((cluster.name, replace(verdict, change=remedy(cluster, verdict))))
    unjudged = list(gathered.inputs.unjudged)
    unjudged += [f"{n.path}: {n.why}" for n in gathered.inputs.not_read if n.path in asked]
    if not wanted:
        unjudged.append(f"no workload was found in {', '.join(workloads)}")
    return Judged(tuple(verdicts), tuple(unjudged))


def simulate(
    scenario: str, paths: Sequence[str], settings: Settings | None = None, watch: Watch = unwatched
) -> Simulated:
    """What Kueue's scheduler does with the workloads in the file `scenario`, in the cluster that `paths` describe.

    Raises `QuestionError` for a scenario that cannot be read or names what the cluster does not have.
    """
    from qcheck.answers.question import QuestionError
    from qcheck.answers.simulate import simulate as run
    from qcheck.pipeline.scenario import read_scenario

    settings = settings or Settings()
    written = read_scenario(scenario)
    asked = set(written.manifests)
    present = [p for p in written.manifests if os.path.exists(p)]
    gathered = gather((*present, *paths), settings, watch, asked)
    if len(gathered.clusters) != 1:
        names = ", ".join(c.name for c in gathered.clusters)
        raise QuestionError([f"{scenario}: the paths hold several clusters ({names}); name one with --cluster"])
    cluster = gathered.clusters[0]
    found = [w for w in cluster.workloads if w.place.origin.path in asked]
    return run(cluster, written.scenario(found), lambda number, _: watch("simulate", number, 0))


def drift(paths: Sequence[str], live: Live, settings: Settings, watch: Watch = unwatched) -> Drift:
    """How a running cluster differs from the files under `paths`. The settings have one cluster."""
    from qcheck.pipeline.drift import Reading, differences

    written, running = gather(paths, settings, watch), gather((), settings, watch, live=live)
    ours, theirs = Reading(written.loaded, written.clusters[0]), Reading(running.loaded, running.clusters[0])
    return differences(ours, theirs, live, written.inputs.unjudged)


def gather(
    paths: Sequence[str] | files.Found,
    settings: Settings,
    watch: Watch = unwatched,
    first: Set[str] = frozenset(),
    within: str = ".",
    live: Live | None = None,
) -> Gathered:
    """Everything up to the model: for those who ask it questions of their own. `paths` may be files found already.

    Files in `first` come before the others, so that their objects count where one is defined twice; those that belong to
    no cluster belong to each, as does standard input. Renderers run in the directory `within`, where it holds another state
    of the files. A `live` cluster is every cluster of the settings; where files define an object too, the files count.
    """
    if settings.crds and not isinstance(paths, files.Found):
        brought = [os.path.normpath(os.path.join(settings.root, p)) for p in settings.crds]
        paths, first = (*paths, *brought), {*first, *(f.path for f in files.discover(brought).files)}
    found = paths if isinstance(paths, files.Found) else files.discover(paths)
    also = live.found() if live else files.Found((), [])
    both = files.Found((*found.files, *also.files), [*found.not_read, *also.not_read])
    loaded, not_read = read(both, settings.limits, watch)
    loaded.sort(key=lambda f: f.text.path not in first)
    belong_to_all = (*first, files.STDIN_NAME, *(f.path for f in also.files))
    homeless = {p for p in belong_to_all if not any(scope.holds(p) for scope in settings.scopes)}
    held = [f for f in loaded if f.text.path in homeless or any(scope.holds(f.text.path) for scope in settings.scopes)]
    is_left_out, loaded = bool(loaded) and not held, held
    mine = [[f for f in loaded if f.text.path in homeless or s.holds(f.text.path)] for s in settings.scopes]
    as_is = [raw(scope, held, within) for scope, held in zip(settings.scopes, mine, strict=True)]
    renders = [
        _rendered(scope, each, settings, watch, within) for scope, each in zip(settings.scopes, as_is, strict=True)
    ]
    not_read = [n for n in not_read if n.failed or not any(n.path in each.rendered for each in as_is)]
    watch("model", 0, 0)
    clusters = as_fleet(
        model(scope, each, settings.instance_types, made, live.unread() if live else ())
        for scope, each, made in zip(settings.scopes, as_is, renders, strict=True)
    )
    astray = _astray(paths, settings, clusters, [f.text.path for f in loaded])
    clusters = tuple(replace(c, problems=(*c.problems, *astray[c.name])) if c.name in astray else c for c in clusters)
    seen = {f.text.path for f in loaded}
    loaded += [f for made in renders if made for f in (*made.loaded, *made.origins) if f.text.path not in seen]
    not_read += [n for made in renders if made for n in made.failed]
    objects = sum(len(c.all_objects()) + len(c.pools) for c in clusters)
    unjudged = [f"{n.path}: {n.why}" for n in not_read if n.failed]
    if (
        not objects
        and not also.not_read
        and all(p.code == "template-not-rendered" for c in clusters for p in c.problems)
    ):
        unjudged.append(NOTHING_HELD if is_left_out else NOTHING_FOUND)
    unjudged += [f"{p.place.line}: {p.message}" for some in astray.values() for p in some if p.certain]
    inputs = Inputs(
        files=len(loaded),
        documents=sum(len(f.documents) + f.passed_over for f in loaded),
        objects=objects,
        not_read=(*(NotRead(n.path, n.why) for n in not_read), *left_out(loaded), *unjudged_rules(loaded, settings)),
        unjudged=tuple(unjudged),
        paths=tuple(f.text.path for f in loaded),
    )
    return Gathered(tuple(loaded), clusters, inputs)


def _astray(
    paths: Sequence[str] | files.Found, settings: Settings, clusters: Sequence[Cluster], read_paths: list[str]
) -> dict[str, list[Problem]]:
    """Settings that name nothing, by cluster; they are not judged where only a part of the repository is read."""
    if settings.path is None or isinstance(paths, files.Found):
        return {}
    from qcheck.pipeline.unmatched import covers, unmatched

    if not covers(paths, settings.root):
        return {}
    return {name: found for name, found in unmatched(settings, clusters, read_paths).items() if found}


def _rendered(scope: ClusterScope, as_is: Raw, settings: Settings, watch: Watch, within: str) -> Renders | None:
    """What renderers make of a cluster's directories; None where nothing is to be rendered."""
    if not as_is.wishes:
        return None
    from functools import partial

    from qcheck.pipeline.render import rendered

    return rendered(scope, as_is, settings, partial(load, limit=settings.limits, wanted=is_wanted), watch, within)


def _terms(
    catalogue: dict[str, Rule], settings: Settings, severity: dict[str, dict[str, str]], loaded: Iterable[Loaded]
) -> Terms:
    """What decides about findings: the settings, comments in the files, the baseline."""
    baseline = None
    if settings.baseline is not None:
        from qcheck.findings.baseline import read_baseline

        baseline = read_baseline(os.path.normpath(os.path.join(settings.root, settings.baseline)))
    return Terms(
        catalogue,
        severity,
        markers=tuple((c.line, c.text, c.stands_alone, c.spot) for f in loaded for c in f.comments("qcheck:")),
        baseline=baseline,
        root=settings.root,
    )


def _severities(catalogue: dict[str, Rule], profile: str | None, choice: RuleChoice) -> dict[str, str]:
    """Severity by rule id: what a profile asks for, and what settings say, which wins."""
    chosen = {}
    if profile:
        from qcheck.settings.profiles import severities

        chosen = severities(profile)
    return chosen | overrides(catalogue, choice.severity) if choice.severity else chosen


def chosen_rules(catalogue: dict[str, Rule], choice: RuleChoice, with_changes: bool = False) -> tuple[Rule, ...]:
    """The rules that settings select and do not ignore; an empty selection is all of them."""
    selected, _ = choose(catalogue.values(), choice.select) if choice.select else (set(catalogue), [])
    ignored, _ = choose(catalogue.values(), choice.ignore)
    asked = (r for r in catalogue.values() if r.id in selected - ignored)
    return tuple(r for r in asked if with_changes or r.family != CHANGE)
