"""Settings as plain values: the inputs of a run, its assumptions, and the rules that apply.

They come from `qcheck.yaml` or `[tool.qcheck]` (`load.py` finds it, `read.py` reads it, `schema.py` defines its
keys). Without a file, `Settings()` is used and pydantic is not imported.
"""

from __future__ import annotations

import os
from functools import cache

from qcheck.cluster.policy import NEWEST_KUEUE, Policy
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.documents.limits import DEFAULT as DEFAULT_LIMITS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from qcheck.cluster.nodes import Machine
    from qcheck.cluster.place import Route
    from qcheck.documents.limits import Limits
    from qcheck.sources.patterns import Patterns
    from qcheck.sources.renderers import RenderTool

    Params = dict[str, dict[str, str | int | list[str]]]


class SettingsError(Exception):
    """The settings cannot be used. Each problem is a line `file:line: fault`; the hint says what to do."""

    def __init__(self, problems: list[str], hint: str = "") -> None:
        super().__init__("\n".join(problems))
        self.problems = problems
        self.hint = hint


class Render(Value):
    """A source to render with the installed `tool`. Paths are relative to the root."""

    tool: RenderTool
    path: str
    values: tuple[str, ...] = ()
    release: str | None = None
    namespace: str | None = None


class RuleChoice(Value):
    """The choice of rules by id, name or prefix. An empty `select` means all of them."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    severity: dict[str, str] = {}
    params: Params = {}

    def with_own(self, own: RuleChoice) -> RuleChoice:
        """Return the choice for a cluster that adds `own`."""
        rules = {*self.params, *own.params}
        return RuleChoice(
            select=(*self.select, *own.select),
            ignore=(*self.ignore, *own.ignore),
            severity={**self.severity, **own.severity},
            params={rule: {**self.params.get(rule, {}), **own.params.get(rule, {})} for rule in rules},
        )


class ClusterScope(Value):
    """The files, rendered sources and settings of one cluster.

    `include` and `exclude` are patterns as in a .gitignore, relative to `root`: `clusters/a` is that folder and all
    below. `renders_all`: every kustomization root and chart among its files is also rendered. `rules` add to the common
    ones.
    """

    name: str
    include: tuple[str, ...] = ("**",)
    exclude: tuple[str, ...] = ()
    render: tuple[Render, ...] = ()
    renders_all: bool = False
    policy: Policy = Policy()
    rules: RuleChoice = RuleChoice()
    root: str = "."

    def holds(self, path: str) -> bool:
        """Return whether the file at `path` (relative to the working directory) belongs to the cluster."""
        return self.is_everything or self.holds_below(below(path, self.root))

    @property
    def is_everything(self) -> bool:
        return self.include == ("**",) and not self.exclude

    def holds_below(self, below: str) -> bool:
        """Return the same for a path relative to `root`."""
        included = self.include == ("**",) or (not below.startswith("../") and _any(self.include, below))
        return included and not _any(self.exclude, below)

    @staticmethod
    def includes(pattern: str, below: str) -> bool:
        """Return whether one pattern of `include` matches the file at a path relative to `root`."""
        return _any((pattern,), below)


def below(path: str, root: str) -> str:
    """Return a path in the form that the patterns of a cluster match."""
    return os.path.relpath(path, root).replace(os.sep, "/")


def members(scopes: Sequence[ClusterScope], paths: Sequence[str]) -> list[set[str]]:
    """Return, for each cluster, the paths that belong to it."""
    by_root = {root: [below(p, root) for p in paths] for root in {s.root for s in scopes if not s.is_everything}}
    return [
        set(paths)
        if scope.is_everything
        else {p for p, inside in zip(paths, by_root[scope.root], strict=True) if scope.holds_below(inside)}
        for scope in scopes
    ]


@cache
def _patterns(lines: tuple[str, ...]) -> Patterns:
    from qcheck.sources.patterns import Patterns  # 0.2 ms

    return Patterns(lines)


def _any(lines: tuple[str, ...], path: str) -> bool:
    return bool(lines) and _patterns(lines).includes(path)


class Settings(Value):
    """The settings of a run. `path` is their file, None without one; patterns and paths are relative to `root`.

    `scopes` are the clusters; without any in the file, all inputs form one cluster named "default". `narrowed`: only
    some clusters of the file are judged.
    """

    path: str | None = None
    root: str = "."
    policy: Policy = Policy()
    scopes: tuple[ClusterScope, ...] = (ClusterScope("default"),)
    narrowed: bool = False
    rules: RuleChoice = RuleChoice()
    instance_types: dict[str, Machine] = {}
    limits: Limits = DEFAULT_LIMITS
    render_seconds: int = 60
    baseline: str | None = None
    crds: tuple[str, ...] = ()

    def choices(self) -> Iterator[tuple[Route, RuleChoice]]:
        """Yield each choice of rules in the file, with its route."""
        yield ("rules",), self.rules
        for scope in self.scopes:
            yield ("clusters", scope.name, "rules"), scope.rules

    @property
    def newer_releases(self) -> Iterator[str]:
        """Yield a sentence for each release in the settings that is newer than those that qcheck knows."""
        known, asked = Policy(), self.policy
        for name, release, newest in (
            ("Kueue", asked.kueue, NEWEST_KUEUE),
            ("KAI", asked.kai.version, known.kai.version),
            ("Volcano", asked.volcano.version, known.volcano.version),
        ):
            if not newest.at_least(release.minor, release.major):
                yield f"{name} {release} is newer than all releases that qcheck knows; it is judged like {newest}"

    @property
    def renders(self) -> bool:
        """Return whether some cluster needs a renderer."""
        return any(scope.render or scope.renders_all for scope in self.scopes)
