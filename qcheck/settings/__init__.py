"""Settings as plain values: what a run looks at, what it takes for granted, and which rules count.

They come from `qcheck.yaml` or `[tool.qcheck]` (`discovery.py` finds it, `reading.py` reads it, `schema.py` says what may
stand in it). Without a file `Settings()` is all there is, and pydantic stays unimported.
"""

from __future__ import annotations

from qcheck.documents.limits import DEFAULT as DEFAULT_LIMITS
from qcheck.model.policy import Policy
from qcheck.model.value import TYPE_CHECKING, Value

if TYPE_CHECKING:
    from qcheck.documents.limits import Limits
    from qcheck.model.nodes import Machine

    Params = dict[str, dict[str, str | int | list[str]]]


class SettingsError(Exception):
    """The settings cannot be used. Each problem is a line `file:line: what is wrong`, the hint what to do about it."""

    def __init__(self, problems: list[str], hint: str = "") -> None:
        super().__init__("\n".join(problems))
        self.problems = problems
        self.hint = hint


class Render(Value):
    """Something to be rendered by `tool` (kustomize or helm) as the user has it installed. Paths are below the root."""

    tool: str
    path: str
    values: tuple[str, ...] = ()
    release: str | None = None
    namespace: str | None = None


class ClusterScope(Value):
    """Which files and renders make up one cluster (glob patterns below the root), and what holds for it."""

    name: str
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    render: tuple[Render, ...] = ()
    policy: Policy = Policy()


class Settings(Value):
    """`path` is the file they came from, None without one; patterns and paths are relative to `root`.

    `clusters` is empty where all inputs are one cluster named "default"; `exclude` and `render` then apply to it.
    `select`, `ignore` and the keys of `severity` and `params` name rules by id, name or prefix.
    """

    path: str | None = None
    root: str = "."
    policy: Policy = Policy()
    clusters: tuple[ClusterScope, ...] = ()
    exclude: tuple[str, ...] = ()
    render: tuple[Render, ...] = ()
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    severity: dict[str, str] = {}
    params: Params = {}
    instance_types: dict[str, Machine] = {}
    limits: Limits = DEFAULT_LIMITS
    render_seconds: int = 60
    baseline: str | None = None


def load_settings(first: str = ".", explicit: str | None = None) -> Settings:
    """The settings for inputs of which `first` is the first; from the file `explicit` if given. Raises `SettingsError`."""
    from qcheck.settings.discovery import find_settings

    path = explicit or find_settings(first)
    if path is None:
        return Settings()
    from qcheck.settings.reading import read_settings

    return read_settings(path)
