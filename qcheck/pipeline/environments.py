"""Clusters that a repository seems to define: one per environment that directories, values and tfvars distinguish.

The result is a proposal for the settings that a person reviews.
"""

from __future__ import annotations

import posixpath
import re
from itertools import combinations

from qcheck.cluster.problems import ProblemCode
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.kinds.decode import roots
from qcheck.kinds.gitops import Deployment, deployments
from qcheck.kinds.helm import Chart, charts, is_below
from qcheck.kinds.kustomize import Kustomization
from qcheck.kinds.shared_fields import CLUSTER_SCOPED, object_id
from qcheck.nodepools.formats import HCL, describes_nodes
from qcheck.pipeline.kustomizations import KustomizationTree
from qcheck.pipeline.relevance import concerns_nodes_or_queues, concerns_queues, concerns_queues_text
from qcheck.settings import Render
from qcheck.settings.starter import Proposed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from qcheck.cluster.problems import Problem
    from qcheck.documents.load import Loaded

TFVARS = (".tfvars", ".tfvars.json")
ALIASES = {
    "production": "prod",
    "prd": "prod",
    "development": "dev",
    "stage": "staging",
    "stg": "staging",
    "testing": "test",
}
SPECIAL = re.compile(r"[][*?\\]|(?<![^/])[!#~]")
"""Characters that a pattern reads as something else, or refuses at its start."""
USUAL = frozenset({"prod", "dev", "staging", "test", "qa", "uat", "sandbox", "preprod", "integration", "canary"})
"""Names of environments that need no further evidence."""


class _Root(Value):
    """A kustomization root with objects of queues or nodes. `needs_rendering`: it changes some of them."""

    top: Kustomization
    needs_rendering: bool
    scoped: frozenset[tuple[str, str]]
    """Its objects without a namespace, which exist once per cluster."""


def proposed(loaded: Sequence[Loaded], problems: Iterable[Problem]) -> tuple[Proposed, ...]:
    """Return the proposed clusters, by name; a single unnamed one if nothing distinguishes environments."""
    return _Repository(loaded, problems).clusters()


class _Repository:
    def __init__(self, loaded: Sequence[Loaded], problems: Iterable[Problem]) -> None:
        self.files = [f for f in loaded if f.documents or f.text.path.endswith(HCL)]
        self.paths = [posixpath.normpath(f.text.path) for f in self.files]
        self.tree = KustomizationTree(f.text for f in loaded)
        self.by_path = {posixpath.normpath(f.text.path): f for f in loaded}
        self.roots = [r for top in self.tree.roots() if (r := self._root(top)) is not None]
        self.charts = [c for c in charts(f.text for f in loaded) if self._counts(c)]
        self.deployed = deployments(f.text for f in loaded)
        self.names = self._names(problems)
        self._known: dict[str, str | None] = {}

    def _root(self, top: Kustomization) -> _Root | None:
        reached = [
            (r, x)
            for r in self.tree.reach(top)
            if (f := self.by_path.get(r.path))
            for d in f.documents
            for x in roots(d)
        ]
        counting = [(r, x) for r, x in reached if concerns_queues(x)]
        ids = ((x.text_at("kind"), x["metadata"].text_at("name")) for _, x in counting)
        changes = any(r.changes_of(x) for r, x in reached if concerns_nodes_or_queues(x))
        return _Root(top, changes, frozenset(i for i in ids if i[0] in CLUSTER_SCOPED)) if counting else None

    def _counts(self, chart: Chart) -> bool:
        inside = (f for path, f in self.by_path.items() if is_below(path, f"{chart.folder}/templates"))
        return any(concerns_queues_text(f.text.text) for f in inside)

    def _names(self, problems: Iterable[Problem]) -> list[str]:
        """Return the environments, in order of name."""
        found: set[str] = set()
        for problem in problems:
            if problem.code is ProblemCode.DUPLICATE_OBJECT and "first" in problem.data:
                found |= _parting(str(problem.data["first"]), str(problem.data["second"]))
        for at, one in enumerate(self.roots):
            for other in self.roots[at + 1 :]:
                if one.scoped & other.scoped:
                    found |= _parting(one.top.folder, other.top.folder)
        for chart in self.charts:
            words = {_word_of_values(path) for path in chart.choices}
            found |= words if len(words) > 1 else set()
        found |= self._of_variables() | self._of_copies() | self._usual()
        return sorted(found - {""} - self._containers(found))

    def _containers(self, names: set[str]) -> set[str]:
        """Return the directory that only contains environments, if there is exactly one such directory.

        Several of them, such as regions that contain the same teams, are environments.
        """
        found = set()
        for path in self.paths:
            inside = [word for part in path.split("/")[:-1] if (word := _canonical(part)) in names]
            found |= {outer for outer in inside[:1] if outer not in USUAL and any(word != outer for word in inside)}
        return found if len(found) == 1 else set()

    def _of_copies(self) -> set[str]:
        """Return the differing parts of sibling directories that define the same cluster-scoped object or pool."""
        folders: dict[tuple[str, str, str], set[str]] = {}
        for path, file in zip(self.paths, self.files, strict=True):
            if any(is_below(path, folder) for folder in self.tree.folders):
                continue
            for found in (x for d in file.documents for x in roots(d) if concerns_queues(x)):
                identity = object_id(found)
                if identity.namespace is None or describes_nodes(found):
                    key = (identity.group, identity.kind, identity.name)
                    folders.setdefault(key, set()).add(posixpath.dirname(path))
        pairs = (pair for alike in folders.values() for pair in combinations(sorted(alike), 2))
        return set[str]().union(*(_parting(*pair) for pair in pairs if _are_beside(*pair)))

    def _of_variables(self) -> set[str]:
        files = [p for p in self.paths if p.endswith(TFVARS) and not _is_automatic(p)]
        words = {_canonical(posixpath.basename(p).partition(".")[0]) for p in files}
        return words if len(words) > 1 else set()

    def _usual(self) -> set[str]:
        """Return the directories with names of environments, if there are several."""
        parts = {_canonical(part) for path in self.paths for part in path.split("/")[:-1]}
        words = parts & USUAL
        return words if len(words) > 1 else set()

    def of(self, path: str) -> str | None:
        """Return the environment that a path names; None if it is common to all."""
        if path not in self._known:
            self._known[path] = self._found(path)
        return self._known[path]

    def _found(self, path: str) -> str | None:
        *folders, name = path.split("/")
        for part in folders:
            if _canonical(part) in self.names:
                return _canonical(part)
        words = [_canonical(word) for word in (name.partition(".")[0], *re.split(r"[-_.]", name))]
        return next((word for word in words if word in self.names), None)

    def clusters(self) -> tuple[Proposed, ...]:
        if len(self.names) < 2:
            return (Proposed("", (), self._renders(None)),)
        named = {self.of(path) for path in self.by_path} | {self._goes_to(each) for each in self.deployed}
        found = (Proposed(name, self._include(name), self._renders(name)) for name in self.names if name in named)
        return tuple(p for p in found if p.include or p.renders)

    def _renders(self, name: str | None) -> tuple[Render, ...]:
        """Return the renders of a cluster: its own roots and charts, and the common ones."""
        tops = [
            r.top.folder
            for r in self.roots
            if r.needs_rendering and (name is None or self.of(f"{r.top.folder}/x") in (name, None))
        ]
        rendered = [Render("kustomize", folder) for folder in tops]
        return (*rendered, *(r for chart in self.charts for r in self._charted(chart, name)))

    def _charted(self, chart: Chart, name: str | None) -> list[Render]:
        """Return a chart's renders: as an application installs it in a cluster, else with the values named after it."""
        installed = [
            d for d in self.deployed if d.path == chart.folder and (name is None or self._goes_to(d) in (name, None))
        ]
        if installed:
            return [
                Render(tool="helm", path=chart.folder, values=d.values, release=d.release, namespace=d.namespace)
                for d in installed
            ]
        values = chart.values_for(name or "")
        if values is None and name is not None:
            meant = [v for v in chart.choices if self.of(v) == name]
            values = (meant[0],) if len(meant) == 1 else None
        return [] if values is None else [Render("helm", chart.folder, values)]

    def _goes_to(self, deployed: Deployment) -> str | None:
        """Return the environment of an application: that of its cluster's name, its own file, or its values."""
        if deployed.cluster and _canonical(deployed.cluster) in self.names:
            return _canonical(deployed.cluster)
        return next((e for p in (deployed.place, *deployed.values) if (e := self.of(p)) is not None), None)

    def _include(self, name: str) -> tuple[str, ...]:
        """Return as few patterns as possible for a cluster's own and common files, matching no other cluster's."""
        roots = [r for r in self.roots if not (r.needs_rendering and self._belongs(r.top.path, name))]
        paths = dict.fromkeys((*self.paths, *(r.top.path for r in roots)))
        files = [(SPECIAL.sub(r"\\\g<0>", p), self._belongs(p, name)) for p in paths]
        return tuple(_at_any_depth(self._cover("", files), files, name))

    def _belongs(self, path: str, name: str) -> bool:
        """Return whether a file is of this environment, or common to all."""
        return self.of(path) in (name, None)

    def _cover(self, folder: str, files: list[tuple[str, bool]]) -> list[str]:
        if not any(mine for _, mine in files):
            return []
        if all(mine for _, mine in files):
            return [f"{folder}**"]
        below: dict[str, list[tuple[str, bool]]] = {}
        found = []
        for path, mine in files:
            part, slash, _ = path.removeprefix(folder).partition("/")
            if slash:
                below.setdefault(f"{folder}{part}/", []).append((path, mine))
            elif mine:
                found.append(f"/{path}")
        return found + [pattern for inner, some in sorted(below.items()) for pattern in self._cover(inner, some)]


def _at_any_depth(patterns: list[str], files: Sequence[tuple[str, bool]], name: str) -> list[str]:
    """Return patterns, with one for all directories that have an environment's name if they contain only its files."""
    found: list[str] = []
    for pattern in patterns:
        part = pattern.removesuffix("/**").rpartition("/")[2]
        same = [p for p in patterns if p.endswith(f"/{part}/**") or p == f"{part}/**"]
        named = _canonical(part) == name and pattern.endswith("/**") and len(same) > 1
        if named and all(mine for path, mine in files if part in path.split("/")[:-1]):
            pattern = f"**/{part}/**"
        if pattern not in found:
            found.append(pattern)
    return found


def _parting(one: str, other: str) -> set[str]:
    """Return the first names in which two directories differ; none if one contains the other."""
    for left, right in zip(one.split("/"), other.split("/"), strict=False):
        if left != right:
            return {_canonical(left), _canonical(right)}
    return set()


def _are_beside(one: str, other: str) -> bool:
    """Return whether two directories differ in one part of their paths only."""
    parts, others = one.split("/"), other.split("/")
    return len(parts) == len(others) and sum(a != b for a, b in zip(parts, others, strict=True)) == 1


def _canonical(word: str) -> str:
    return ALIASES.get(word.lower(), word.lower())


def _word_of_values(path: str) -> str:
    """Return `prod` for `values-prod.yaml`, `values/prod.yaml` and `prod.values.yaml`."""
    folder, name = posixpath.split(path)
    words = [w for w in re.split(r"[-_.]", name.rpartition(".")[0]) if w and w != "values"]
    return _canonical(words[-1] if words else posixpath.basename(folder))


def _is_automatic(path: str) -> bool:
    name = posixpath.basename(path)
    return name.startswith("terraform.tfvars") or ".auto." in name
