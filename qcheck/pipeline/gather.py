"""Everything up to the model, joined: discover, load, render and decode."""

from __future__ import annotations

import os
import posixpath
from functools import partial

from qcheck.cluster.assemble import as_fleet
from qcheck.cluster.policy import Release
from qcheck.cluster.problems import ProblemCode
from qcheck.cluster.value import TYPE_CHECKING, Value, replace
from qcheck.documents.load import load
from qcheck.findings.result import FileRead, Inputs, NotRead
from qcheck.pipeline.model import left_out, model, unjudged_rules
from qcheck.pipeline.read import is_wanted, unwatched
from qcheck.pipeline.read import read as read_files
from qcheck.pipeline.relevance import concerns_queues_text
from qcheck.pipeline.unrendered_files import ENTRIES, UnrenderedFiles
from qcheck.settings import Settings, members
from qcheck.sources import files

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence, Set

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.problems import Problem
    from qcheck.documents.load import Loaded
    from qcheck.pipeline.live import Live
    from qcheck.pipeline.read import Watch
    from qcheck.pipeline.render import Renders
    from qcheck.settings import ClusterScope


NOTHING_FOUND = "nothing relevant was found: no queue, node pool or workload"
NOTHING_HELD = "nothing was checked: no cluster in the settings includes these files"


LEFT_OUT = (ProblemCode.YAML_SYNTAX, ProblemCode.LIMIT, ProblemCode.NOT_TEXT)
"""Codes of problems with documents and objects that a model lacks: QC001."""


class ReadInputs(Value):
    """The inputs before decoding: by cluster, the content of files and the rendered text.

    `is_left_out`: no cluster of the settings contains what was found.
    """

    loaded: tuple[Loaded, ...]
    as_is: tuple[UnrenderedFiles, ...]
    renders: tuple[Renders | None, ...]
    not_read: tuple[files.NotLoaded, ...]
    live: Live | None
    paths: Sequence[str] | files.Found
    is_left_out: bool


class Gathered(Value):
    """The inputs and the models of the clusters, before any rule runs."""

    loaded: tuple[Loaded, ...]
    clusters: tuple[Cluster, ...]
    inputs: Inputs

    @property
    def unjudged(self) -> tuple[str, ...]:
        """The reasons why answers may be wrong: what could not be read, and the objects that models therefore lack."""
        lacking = (p for c in self.clusters for p in c.problems if p.code in LEFT_OUT)
        return tuple(dict.fromkeys((*self.inputs.unjudged, *(f"{p.place.line}: {p.message}" for p in lacking))))


def gather(
    paths: Sequence[str] | files.Found,
    settings: Settings,
    watch: Watch = unwatched,
    first: Set[str] = frozenset(),
    within: str = ".",
    live: Live | None = None,
) -> Gathered:
    """Return everything up to the model, for callers with their own questions."""
    return modelled(collect(paths, settings, watch, first, within, live), settings, watch)


def collect(
    paths: Sequence[str] | files.Found,
    settings: Settings,
    watch: Watch = unwatched,
    first: Set[str] = frozenset(),
    within: str = ".",
    live: Live | None = None,
) -> ReadInputs:
    """Discover, load and render. `paths` may be files that were already found.

    Files in `first` come before the others, so their definition of an object takes precedence; those that belong to no
    cluster belong to each, as does standard input. Renderers run in the directory `within`, which may contain another
    state of the files. A `live` cluster stands for every cluster of the settings; if files also define an object, the
    files count.
    """
    paths, first = _with_definitions(paths, settings, first)
    found, running = _discovered(paths), live.found() if live else files.Found((), [])
    both = files.Found((*found.files, *running.files), [*found.not_read, *running.not_read])
    loaded, not_read = read_files(both, settings.limits, watch)
    loaded.sort(key=lambda f: f.text.path not in first)
    everywhere = (*first, files.STDIN_NAME, *(f.path for f in running.files))
    by_cluster = _by_cluster(loaded, settings.scopes, everywhere)
    as_is = [_as_is(scope, mine, within) for scope, mine in zip(settings.scopes, by_cluster, strict=True)]
    renders = [
        _rendered(scope, each, settings, watch, within) for scope, each in zip(settings.scopes, as_is, strict=True)
    ]
    rendered = set[str]().union(*(each.rendered for each in as_is))
    held = {f.text.path for mine in by_cluster for f in mine}
    return ReadInputs(
        loaded=tuple(f for f in loaded if f.text.path in held),
        as_is=tuple(as_is),
        renders=tuple(renders),
        not_read=tuple(n for n in not_read if n.failed or n.path not in rendered),
        live=live,
        paths=paths,
        is_left_out=bool(loaded) and not held,
    )


def _with_definitions(
    paths: Sequence[str] | files.Found, settings: Settings, first: Set[str]
) -> tuple[Sequence[str] | files.Found, Set[str]]:
    """Add the definitions that the settings name to the paths; these also come first."""
    if not settings.crds or isinstance(paths, files.Found):
        return paths, first
    named = [os.path.normpath(os.path.join(settings.root, p)) for p in settings.crds]
    return (*paths, *named), {*first, *(f.path for f in files.discover(named).files)}


def _discovered(paths: Sequence[str] | files.Found) -> files.Found:
    return paths if isinstance(paths, files.Found) else files.discover(paths)


def _by_cluster(
    loaded: Sequence[Loaded], scopes: Sequence[ClusterScope], everywhere: Sequence[str]
) -> list[list[Loaded]]:
    """Return the files of each cluster. Those at paths in `everywhere` that belong to no cluster belong to each."""
    homes = members(scopes, list(dict.fromkeys([*everywhere, *(f.text.path for f in loaded)])))
    homeless = set(everywhere).difference(*homes)
    return [[f for f in loaded if f.text.path in home or f.text.path in homeless] for home in homes]


def _news(loaded: Sequence[Loaded], as_is: Sequence[UnrenderedFiles]) -> Iterator[Loaded]:
    """Yield files except templates of charts, which are reported as a whole, and templates unrelated to queues."""
    in_charts = {path for each in as_is for path in each.in_charts}
    for file in loaded:
        is_template = any(fault.code is ProblemCode.TEMPLATE_NOT_RENDERED for fault in file.faults)
        if not is_template or (file.text.path not in in_charts and concerns_queues_text(file.text.text)):
            yield file


def _as_is(scope: ClusterScope, files: Sequence[Loaded], within: str = ".") -> UnrenderedFiles:
    """Return which of a cluster's files are read as they are, and what is to be rendered."""
    if not scope.render and not any(posixpath.basename(f.text.path) in ENTRIES for f in files):
        return UnrenderedFiles(tuple(files))
    from qcheck.pipeline.render_plan import render_plan  # most repositories of plain files never need it (5 ms)

    return render_plan(scope, files, within)


def modelled(read: ReadInputs, settings: Settings, watch: Watch = unwatched) -> Gathered:
    """Decode and assemble what was read: one model per cluster."""
    watch("model", 0, 0)
    clusters = as_fleet(
        model(scope, each, settings.instance_types, made, read.live.unread() if read.live else ())
        for scope, each, made in zip(settings.scopes, read.as_is, read.renders, strict=True)
    )
    astray = _astray(read.paths, settings, clusters, [f.text.path for f in read.loaded])
    clusters = tuple(replace(c, problems=(*c.problems, *astray[c.name])) if c.name in astray else c for c in clusters)
    seen = {f.text.path for f in read.loaded}
    rendered = (f for made in read.renders if made for f in (*made.loaded, *made.origins) if f.text.path not in seen)
    loaded = (*read.loaded, *rendered)
    not_read = (*read.not_read, *(n for made in read.renders if made for n in made.failed))
    objects = sum(c.size for c in clusters)
    inputs = Inputs(
        files=len(loaded),
        documents=sum(len(f.documents) + f.passed_over for f in loaded),
        objects=objects,
        not_read=(
            *(NotRead(n.path, n.why) for n in not_read),
            *left_out(_news(loaded, read.as_is)),
            *unjudged_rules(loaded, settings),
            *(NotRead(settings.path or "", why) for why in settings.newer_releases),
            *_other_releases(clusters),
        ),
        unjudged=(
            *(f"{n.path}: {n.why}" for n in not_read if n.failed),
            *([] if objects or any(map(_is_configured, clusters)) else _why_nothing(read, clusters)),
            *(f"{p.place.line}: {p.message}" for some in astray.values() for p in some if p.certain),
        ),
        read=tuple(FileRead(f.text.path, len(f.documents) + f.passed_over, len(f.text.text)) for f in loaded),
    )
    return Gathered(loaded, clusters, inputs)


def _other_releases(clusters: Iterable[Cluster]) -> Iterator[NotRead]:
    """Yield the inputs that install a release of Kueue other than the one assumed for their cluster."""
    for cluster in clusters:
        install, judged = cluster.install, cluster.policy.kueue
        if install is not None and install.release not in (None, (judged.major, judged.minor)):
            found = Release(*install.release)
            why = f'it installs Kueue {found}, but qcheck assumes {judged}: set `kueue: "{found}"` in the settings'
            yield NotRead(install.place.origin.path, why)


def _is_configured(cluster: Cluster) -> bool:
    """Return whether a scheduler configuration was read; rules check it even without other objects."""
    return bool(cluster.configuration or cluster.volcano_scheduler)


def _why_nothing(read: ReadInputs, clusters: Sequence[Cluster]) -> Iterator[str]:
    """Yield why no object was found, unless a template or an unreadable kind explains it."""
    is_template = all(p.code is ProblemCode.TEMPLATE_NOT_RENDERED for c in clusters for p in c.problems)
    if is_template and not (read.live and read.live.found().not_read):
        yield NOTHING_HELD if read.is_left_out else NOTHING_FOUND


def _astray(
    paths: Sequence[str] | files.Found, settings: Settings, clusters: Sequence[Cluster], read_paths: list[str]
) -> dict[str, list[Problem]]:
    """Return settings that match nothing, by cluster; not judged if only a part of the repository is read."""
    if settings.path is None or isinstance(paths, files.Found):
        return {}
    from qcheck.pipeline.unmatched_settings import covers, unmatched  # 3.2 ms

    if not covers(paths, settings.root):
        return {}
    return {name: found for name, found in unmatched(settings, clusters, read_paths).items() if found}


def _rendered(
    scope: ClusterScope, as_is: UnrenderedFiles, settings: Settings, watch: Watch, within: str
) -> Renders | None:
    """Return the rendered output of a cluster's directories; None if nothing is to be rendered."""
    if not as_is.renders:
        return None
    from qcheck.pipeline.render import rendered  # 7 ms

    return rendered(scope, as_is, settings, partial(load, limit=settings.limits, wanted=is_wanted), watch, within)
