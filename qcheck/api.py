"""The line, joined once: discover, load, decode, model, check, settle.

from qcheck.api import audit
result = audit(["clusters/prod"])
"""

from __future__ import annotations

import os
import posixpath
from functools import partial

from qcheck import nodepools
from qcheck.checks.run import CHANGE, run
from qcheck.documents.load import load
from qcheck.findings.catalogue import choose, load_catalogue
from qcheck.findings.result import Inputs, NotRead
from qcheck.findings.settle import Terms, overrides, settle
from qcheck.kinds import judging
from qcheck.kinds.decode import decode, mentions_configuration, mentions_layouts, mentions_settings, recognises, roots
from qcheck.kinds.refusals.target import Target
from qcheck.model.assemble import as_fleet, assemble
from qcheck.model.place import Place
from qcheck.model.problems import Problem
from qcheck.model.profiles import severities
from qcheck.model.value import TYPE_CHECKING, Value, replace
from qcheck.rendering import NOTHING, Renders, rendered
from qcheck.settings import Settings
from qcheck.sources import files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence, Set

    from qcheck.documents.fault import Fault
    from qcheck.documents.limits import Limits
    from qcheck.documents.load import Loaded
    from qcheck.findings.catalogue import Rule
    from qcheck.findings.result import Result
    from qcheck.model.change import ClusterChange
    from qcheck.model.cluster import Cluster
    from qcheck.model.configuration import Configuration
    from qcheck.model.mig import MigLayout
    from qcheck.model.nodes import Machine
    from qcheck.model.verdict import Judged
    from qcheck.settings import ClusterScope

    Watch = Callable[[str, int, int], None]
    """Told of each stage as it goes on: its name, how many of its items are done, and how many there are."""


class Gathered(Value):
    """What was read and what it came to: one model per cluster. No rule has looked at it yet."""

    loaded: tuple[Loaded, ...]
    clusters: tuple[Cluster, ...]
    inputs: Inputs


def unwatched(stage: str, done: int, total: int) -> None:
    """For those who need not know how far a run is."""


def audit(paths: Sequence[str], settings: Settings | None = None, watch: Watch = unwatched) -> Result:
    """Checks everything under `paths` and returns the settled result. Never raises for what the inputs hold.

    Raises `BaselineError` where settings name a baseline that cannot be read.
    """
    settings = settings or Settings()
    return checked(gather(paths, settings, watch), settings, watch)


def checked(gathered: Gathered, settings: Settings, watch: Watch = unwatched, before: Gathered | None = None) -> Result:
    """The settled result for what was read; with the rules about changes where a reading from `before` is given."""
    catalogue = load_catalogue()
    rules = chosen_rules(catalogue, settings, with_changes=before is not None)
    watch("check", 0, 0)
    params = overrides(catalogue, settings.params) if settings.params else {}
    between = changes(before, gathered) if before else {}
    outcomes = [run(cluster, rules, params, catalogue, between.get(cluster.name)) for cluster in gathered.clusters]
    watch("settle", 0, 0)
    inputs = replace(
        gathered.inputs,
        skipped=tuple(s for o in outcomes for s in o.skipped),
        unjudged=(*gathered.inputs.unjudged, *(c for o in outcomes for c in o.crashed)),
    )
    findings = [f for o in outcomes for f in o.findings]
    return settle(findings, inputs, rules, gathered.clusters, _terms(catalogue, settings, gathered.loaded))


def changes(before: Gathered, after: Gathered) -> dict[str, ClusterChange]:
    """Each cluster before and after, by name; one that is new began empty."""
    from qcheck.model.change import ClusterChange
    from qcheck.model.cluster import Cluster

    old = {c.name: c for c in before.clusters}
    return {c.name: ClusterChange(old.get(c.name, Cluster(c.name)), c) for c in after.clusters}


def admit(
    workloads: Sequence[str], paths: Sequence[str], settings: Settings | None = None, watch: Watch = unwatched
) -> Judged:
    """The verdict on every workload in the files `workloads`, in the clusters that `paths` describe."""
    from qcheck.model.remedy import remedy
    from qcheck.model.verdict import Judged, judge

    settings = settings or Settings()
    asked = {f.path for f in files.discover(workloads).files}
    gathered = gather((*workloads, *paths), settings, watch, asked)
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


def gather(
    paths: Sequence[str] | files.Found,
    settings: Settings,
    watch: Watch = unwatched,
    first: Set[str] = frozenset(),
    within: str = ".",
) -> Gathered:
    """Everything up to the model: for those who ask it questions of their own. `paths` may be files found already.

    Files in `first` come before the others, so that their objects count where one is defined twice; those that belong to
    no cluster belong to each. Renderers run in the directory `within`, where it holds another state of the files.
    """
    if settings.crds and not isinstance(paths, files.Found):
        brought = [os.path.normpath(os.path.join(settings.root, p)) for p in settings.crds]
        paths, first = (*paths, *brought), {*first, *(f.path for f in files.discover(brought).files)}
    loaded, not_read = read(paths, settings.limits, watch)
    loaded.sort(key=lambda f: f.text.path not in first)
    homeless = {p for p in first if not any(scope.holds(p) for scope in settings.scopes)}
    loaded = [f for f in loaded if f.text.path in first or any(scope.holds(f.text.path) for scope in settings.scopes)]
    load_rendered = partial(load, limit=settings.limits, wanted=_is_wanted)
    renders = [rendered(scope, settings, load_rendered, watch, within) for scope in settings.scopes]
    watch("model", 0, 0)
    clusters = as_fleet(
        model(scope, loaded, settings.instance_types, homeless, made)
        for scope, made in zip(settings.scopes, renders, strict=True)
    )
    seen = {f.text.path for f in loaded}
    loaded += [f for made in renders for f in (*made.loaded, *made.origins) if f.text.path not in seen]
    not_read += [n for made in renders for n in made.failed]
    objects = sum(len(c.all_objects()) + len(c.pools) for c in clusters)
    unjudged = [f"{n.path}: {n.why}" for n in not_read if n.failed]
    if not objects and all(p.code == "template-not-rendered" for c in clusters for p in c.problems):
        unjudged.append("nothing relevant was found: no Kueue object, node pool or workload")
    inputs = Inputs(
        files=len(loaded),
        documents=sum(len(f.documents) + f.passed_over for f in loaded),
        objects=objects,
        not_read=(*(NotRead(n.path, n.why) for n in not_read), *_left_out(loaded), *_unjudged(loaded, settings)),
        unjudged=tuple(unjudged),
        paths=tuple(f.text.path for f in loaded),
    )
    return Gathered(tuple(loaded), clusters, inputs)


def _terms(catalogue: dict[str, Rule], settings: Settings, loaded: Iterable[Loaded]) -> Terms:
    """What decides about findings: the settings, comments in the files, the baseline."""
    baseline = None
    if settings.baseline is not None:
        from qcheck.findings.baseline import read_baseline

        baseline = read_baseline(os.path.normpath(os.path.join(settings.root, settings.baseline)))
    return Terms(
        catalogue,
        _severities(catalogue, settings),
        markers=tuple((c.line, c.text, c.stands_alone, c.spot) for f in loaded for c in f.comments("qcheck:")),
        baseline=baseline,
        root=settings.root,
    )


def _severities(catalogue: dict[str, Rule], settings: Settings) -> dict[str, str]:
    """Severity by rule id: what a profile asks for, and what settings say, which wins."""
    chosen = severities(settings.policy.profile)
    return chosen | overrides(catalogue, settings.severity) if settings.severity else chosen


def chosen_rules(catalogue: dict[str, Rule], settings: Settings, with_changes: bool = False) -> tuple[Rule, ...]:
    """The rules that settings select and do not ignore; an empty selection is all of them."""
    selected, _ = choose(catalogue.values(), settings.select) if settings.select else (set(catalogue), [])
    ignored, _ = choose(catalogue.values(), settings.ignore)
    asked = (r for r in catalogue.values() if r.id in selected - ignored)
    return tuple(r for r in asked if with_changes or r.family != CHANGE)


def read(paths: Sequence[str] | files.Found, limits: Limits, watch: Watch) -> tuple[list[Loaded], list[files.NotRead]]:
    """Discover and load: every file once, in order, and the paths that were left out."""
    watch("discover", 0, 0)
    found = paths if isinstance(paths, files.Found) else files.discover(paths)
    loaded: list[Loaded] = []
    not_read = list(found.not_read)
    for done, file in enumerate(found.files):
        watch("load", done, len(found.files))
        try:
            loaded.append(load(file.read(limits.bytes), file.path, limits, _is_wanted))
        except OSError as error:
            not_read.append(files.NotRead(file.path, files.reason(error)))
    partial_objects = _patches(loaded)
    whole = [f for f in loaded if f.text.path not in {n.path for n in partial_objects}]
    return _read_again(whole, limits), [*not_read, *partial_objects]


def _patches(loaded: list[Loaded]) -> list[files.NotRead]:
    """Files that are no objects of their own, because a kustomization applies them as patches."""
    if not any("kustomization" in f.text.path.lower() for f in loaded):
        return []
    from qcheck.kinds.kustomize import patches

    used = patches(f.text for f in loaded)
    why = "a patch of {}: only rendering tells what it makes of its object (`render` in the settings)"
    present = {posixpath.normpath(f.text.path): f.text.path for f in loaded}
    return [files.NotRead(present[p], why.format(by), failed=False) for p, by in used.items() if p in present]


def _read_again(loaded: list[Loaded], limits: Limits) -> list[Loaded]:
    """The same, with the objects of kinds that a CustomResourceDefinition among the inputs describes."""
    kinds = judging.described_kinds([d for f in loaded if judging.DEFINITION in f.text.text for d in f.documents])

    def is_wanted(api_version: str, kind: str, text: str) -> bool:
        return (api_version, kind) in kinds or _is_wanted(api_version, kind, text)

    return [
        load(f.text.text, f.text.path, limits, is_wanted)
        if f.passed_over and any(version in f.text.text for version, _ in kinds)
        else f
        for f in loaded
    ]


def _is_wanted(api_version: str, kind: str, text: str) -> bool:
    if not api_version and not kind:
        return nodepools.recognises_text(text) or mentions_settings(text)
    is_known = recognises(api_version, kind) or nodepools.recognises(api_version, kind)
    return is_known or mentions_settings(text)


def model(
    scope: ClusterScope,
    loaded: Iterable[Loaded],
    own_types: Mapping[str, Machine],
    also: Set[str] = frozenset(),
    renders: Renders = NOTHING,
) -> Cluster:
    """Decode and assemble the files that belong to one cluster, those named in `also`, and what was rendered for it."""
    mine = [*(f for f in loaded if scope.holds(f.text.path) or f.text.path in also), *renders.loaded]
    manifests = [r for f in mine for d in f.documents for r in roots(d)]
    hcl = [f.text for f in mine if f.text.path.endswith(nodepools.HCL)]
    pools, nodes, pool_problems = nodepools.read(manifests, own_types, hcl)
    objects = [o for r in manifests if not nodepools.describes_nodes(r) and (o := decode(r)) is not None]
    release = (scope.policy.kueue.major, scope.policy.kueue.minor)
    configuration, misconfigured = _configuration(mine, release)
    target = Target(release, configuration.feature_gates if configuration else {})
    refused = judging.refused(manifests, target)
    problems = [_problem(fault) for f in mine for fault in f.faults]
    return assemble(
        scope.name,
        scope.policy,
        [*objects, *nodes],
        pools,
        configuration=configuration,
        problems=[*problems, *misconfigured, *refused, *pool_problems],
        unread=[*(f.text.path for f in mine if _left_out([f])), *(n.path for n in renders.failed)],
        mig_layouts=_mig_layouts(mine),
    )


def _unjudged(loaded: Iterable[Loaded], settings: Settings) -> list[NotRead]:
    """CEL rules of CustomResourceDefinitions that cannot be judged here."""
    if not any(judging.DEFINITION in f.text.text for f in loaded):
        return []
    manifests = [r for f in loaded for d in f.documents for r in roots(d)]
    release = settings.policy.kueue
    return [NotRead(path, why) for path, why in judging.unjudged(manifests, (release.major, release.minor))]


def _configuration(loaded: Iterable[Loaded], release: tuple[int, int]) -> tuple[Configuration | None, list[Problem]]:
    """The manager's Configuration, where some file speaks of one."""
    documents = [d for f in loaded if mentions_configuration(f.text.text) for d in f.documents]
    if not documents:
        return None, []
    from qcheck.kinds.configuration import read_configuration

    return read_configuration(documents, release)


def _mig_layouts(loaded: Iterable[Loaded]) -> tuple[MigLayout, ...]:
    """How mig-parted is to cut GPUs, where some file says so."""
    documents = [d for f in loaded if mentions_layouts(f.text.text) for d in f.documents]
    if not documents:
        return ()
    from qcheck.kinds.mig import read_layouts

    return read_layouts(documents)


def _problem(fault: Fault) -> Problem:
    return Problem(
        fault.code,
        Place(fault.spot),
        fault.message,
        fault.help,
        related=tuple(Place(spot, caption=caption) for caption, spot in fault.related),
        data=dict(fault.data),
    )


def _left_out(loaded: Iterable[Loaded]) -> list[NotRead]:
    """Files of which something could not be read; a repeated key leaves nothing out."""
    return [NotRead(f.text.path, fault.message) for f in loaded for fault in f.faults if fault.code != "duplicate-key"]
