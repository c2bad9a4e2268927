"""The kustomizations and charts of a cluster that are rendered, and the treatment of the others.

A kustomization root or chart that is not rendered is one problem, and it makes findings about missing objects of the
kinds that it may define less certain.
"""

from __future__ import annotations

import os
import posixpath

from qcheck.cluster.problems import ProblemCode, Unread
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.kinds.decode import roots
from qcheck.kinds.helm import Chart, charts, is_below
from qcheck.kinds.kustomize import UPSTREAM, Kustomization, KustomizeChange
from qcheck.nodepools.charts import is_software
from qcheck.pipeline.kustomizations import KustomizationTree, Source
from qcheck.pipeline.relevance import (
    POOL_KINDS,
    QUEUE_KINDS,
    concerns_nodes_or_queues,
    concerns_queues,
    concerns_queues_text,
    kinds_in,
    kinds_of,
)
from qcheck.pipeline.unrendered_files import UnrenderedFiles, spot
from qcheck.pipeline.unrendered_problems import (
    UnrenderedReason,
    chart_problem,
    incomplete_problem,
    kustomization_problem,
    unreadable,
)
from qcheck.settings import Render
from qcheck.sources.files import STDIN_NAME
from qcheck.sources.renderers import installed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from qcheck.cluster.problems import Problem
    from qcheck.documents.cursor import Cursor
    from qcheck.documents.load import Loaded
    from qcheck.documents.text import Text
    from qcheck.pipeline.unrendered_files import Spot
    from qcheck.settings import ClusterScope
    from qcheck.sources.renderers import RenderTool


TEMPLATES = "/templates/"
PARTIAL = "_"
"""The prefix of templates that only other templates use."""


def render_plan(scope: ClusterScope, files: Sequence[Loaded], within: str) -> UnrenderedFiles:
    """Return which of a cluster's files are read as they are, and what is to be rendered."""
    tree = KustomizationTree((f.text for f in files), within if scope.render else None)
    return _RenderPlan(scope, files, tree).result(charts(f.text for f in files))


class _RenderPlan:
    """One cluster's files, sorted by treatment."""

    def __init__(self, scope: ClusterScope, files: Sequence[Loaded], tree: KustomizationTree) -> None:
        self.scope = scope
        self.files = {posixpath.normpath(f.text.path): f for f in files}
        self.tree = tree
        self.renders = list(scope.render)
        self.changed: set[Spot] = set()
        self.in_charts: set[str] = set()
        self.chart_files: set[str] = set()
        self.given = _StandardInput(self.files.get(STDIN_NAME))
        self.left_out: list[str] = []
        self.problems: list[Problem] = []
        self.unread: list[Unread] = []

    def result(self, found: list[Chart]) -> UnrenderedFiles:
        rendered = {self._folder(w) for w in self.renders}
        for top in self.tree.roots():
            if top.folder not in rendered:
                self._root(top)
        for text in self.tree.broken():
            self._broken(text)
        for chart in found:
            if chart.folder not in rendered:
                self._chart(chart)
        consumed = {p for one in self.renders for p in self._consumed(one)} | set(self.left_out)
        for top in self.tree.incomplete.values():
            self._incomplete(top)
        folders = tuple(path for path in consumed if path.endswith("/"))
        kept = tuple(f for path, f in self.files.items() if path not in consumed and not path.startswith(folders))
        return UnrenderedFiles(
            files=kept,
            changed=frozenset(self.changed),
            in_charts=frozenset(self.in_charts),
            chart_files=frozenset(self.chart_files),
            problems=tuple(self.problems),
            unread=tuple(self.unread),
            renders=tuple(self.renders),
            rendered=frozenset(consumed),
            built=frozenset(r.path for top in self.tree.roots() for r in self.tree.reach(top)),
            sources={w.path: self._sources(w) for w in self.renders if w.tool == "kustomize"},
        )

    def _folder(self, one: Render) -> str:
        return os.path.normpath(os.path.join(self.scope.root, one.path)).replace(os.sep, "/")

    def _wish(self, tool: RenderTool, folder: str, values: tuple[str, ...] = ()) -> None:
        below = (os.path.relpath(path, self.scope.root).replace(os.sep, "/") for path in (folder, *values))
        path, *rest = below
        self.renders.append(Render(tool, path, tuple(rest)))

    def _consumed(self, one: Render) -> Iterator[str]:
        """Yield files, and directories with a trailing `/`, that a renderer transforms."""
        folder = self._folder(one)
        top = self.tree.member(folder) if one.tool == "kustomize" else None
        if top is None:
            yield f"{folder}/"
            return
        for reached in self.tree.reach(top):
            yield reached.path
            yield from (path for each in reached.through for path in (each.path, *each.patch_files))

    def _sources(self, one: Render) -> tuple[Source, ...]:
        top = self.tree.member(self._folder(one))
        return tuple(self.tree.sources(top)) if top is not None else ()

    def _root(self, top: Kustomization) -> None:
        """Handle a kustomization that is not rendered yet: render it, ignore its irrelevant changes, or report it."""
        objects = list(self._objects(top))
        missed = [(f, c) for f, c in objects if c is not None and not self.given.has(f)]
        remote = [url for m in self._members(top) for url in m.remote if not UPSTREAM.search(url)]
        opaque = [o for m in self._members(top) for o in m.opaque]
        counts = any(concerns_nodes_or_queues(f) for f, _ in missed) or (
            bool(remote or opaque) and any(concerns_queues(f) for f, _ in objects)
        )
        if counts and self.scope.renders_all and not remote and not opaque and installed("kustomize"):
            self._wish("kustomize", top.folder)
            return
        self.changed |= {spot(f) for f, c in objects if c is not None or self.given.has(f)}
        if counts:
            self.problems.append(
                kustomization_problem(top, missed, UnrenderedReason(remote, opaque, self.scope.renders_all))
            )
            is_open = remote or opaque or top.path in self.tree.incomplete
            kinds = None if is_open else kinds_of(f for f, _ in missed)
            self.unread.append(Unread(top.folder, kinds, top.place))

    def _incomplete(self, top: Kustomization) -> None:
        """Report a kustomization that is only partly followed, unless a problem already covers all of it."""
        if all(u.path != top.folder for u in self.unread):
            self.problems.append(incomplete_problem(top))
            self.unread.append(Unread(top.folder, None, top.place))

    def _broken(self, text: Text) -> None:
        """Report a kustomization that cannot be read: it may change the files beside it in any way."""
        problem = unreadable(text)
        if problem is not None:
            folder = posixpath.dirname(text.path)
            beside = [path for path in self.files if posixpath.dirname(path) == folder]
            self.left_out += [path for path in beside if self.files[path].documents]
            self.problems.append(problem)
            self.unread.append(Unread(text.path, None, problem.place))

    def _members(self, top: Kustomization) -> list[Kustomization]:
        """Return a kustomization and those that it includes."""
        found = {top.path: top}
        for reached in self.tree.reach(top):
            found |= {each.path: each for each in reached.through}
        return list(found.values())

    def _objects(self, top: Kustomization) -> Iterator[tuple[Cursor, KustomizeChange | None]]:
        """Yield every object below a kustomization, with its first change, if any."""
        for reached in self.tree.reach(top):
            file = self.files.get(reached.path)
            for document in file.documents if file else ():
                for found in roots(document):
                    yield found, next(iter(reached.changes_of(found)), None)

    def _chart(self, chart: Chart) -> None:
        """Handle a chart that is not rendered yet."""
        inside = {path: f for path, f in self.files.items() if is_below(path, chart.folder)}
        templates = {
            path: f
            for path, f in inside.items()
            if any(fault.code is ProblemCode.TEMPLATE_NOT_RENDERED for fault in f.faults)
        }
        self.in_charts |= templates.keys()
        self.chart_files |= {path for path in inside if TEMPLATES in path.removeprefix(chart.folder)}
        whole = [f.text.text for path, f in templates.items() if not posixpath.basename(path).startswith(PARTIAL)]
        counting = [text for text in whole if concerns_queues_text(text)]
        if self.given.has_chart(chart.name):
            self.left_out.append(f"{chart.folder}/")
            return
        values = chart.values_for(self.scope.name)
        if counting and self.scope.renders_all and values is not None and installed("helm"):
            self._wish("helm", chart.folder, values)
            return
        known = frozenset[str]().union(*(kinds_in(text) or () for text in whole))
        if whole:
            is_open = any(kinds_in(text) is None for text in counting)
            self.unread.append(Unread(chart.folder, None if is_open else known, chart.place))
        defines = known & (QUEUE_KINDS | POOL_KINDS)
        if counting and (defines or not is_software(chart.name)):
            self.problems.append(chart_problem(chart, known, values, self.scope.renders_all))


class _StandardInput:
    """Rendered text on standard input."""

    def __init__(self, stdin: Loaded | None) -> None:
        documents = stdin.documents if stdin else []
        objects = [r for d in documents for r in roots(d)]
        self._names = {(r.text_at("kind"), r["metadata"].text_at("name")) for r in objects}
        self._charts = {(d.rendered_from or "").partition("/")[0] for d in documents}

    def has(self, found: Cursor) -> bool:
        """Return whether an object of that kind and name exists, possibly with an extra prefix or suffix."""
        kind, name = found.text_at("kind"), found["metadata"].text_at("name")
        return bool(name) and any(k == kind and (n.startswith(name) or n.endswith(name)) for k, n in self._names)

    def has_chart(self, name: str) -> bool:
        """Return whether any of it names a chart as its source."""
        return name in self._charts
