"""Unread sources of Argo CD and Flux: registry charts, other repositories, and values inside applications."""

from __future__ import annotations

import posixpath
import re

from qcheck.cluster.problems import NODES, QUEUE_KINDS, Problem, ProblemCode, Unread
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.kinds.gitops import ChartValues, GitSource, sources
from qcheck.kinds.helm import is_below
from qcheck.nodepools.charts import is_software
from qcheck.pipeline.own_repository import by_repository
from qcheck.pipeline.relevance import concerns_queues_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from qcheck.documents.load import Loaded
    from qcheck.pipeline.own_repository import OwnRepository

    Words = re.Pattern[str]

NODE_NAMES = re.compile(r"(?i)node[_-]?(?:pool|group|class)|machine[_-]?(?:pool|set)|\bpools\b")
QUEUE_NAMES = re.compile(r"(?i)queues\b|queue(?!\S)|resource[_-]?flavou?r|\bflavou?rs\b|cohorts?\b")
"""Words in the names of applications, charts and directories that define nodes or queues."""
NODE_SECTIONS = re.compile(r"(?i)node[_-]?(?:pools?|groups?|class(?:es)?)\b|\Apools\Z")
NODE_FIELDS = re.compile(r"(?i).*(?:instance|machine)[_-]?types?\Z")
QUEUE_SECTIONS = re.compile(r"(?i)(?:.*[_-])?queues\Z|.*flavou?rs\Z|.*cohorts?\Z")
QUEUE_FIELDS = re.compile(r"(?i).*(?:nominal[_-]?quota|cohort)\Z")
"""Keys of values with which a chart creates queues. A nodeSelector or a queue name is only a reference."""
CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
CHART = "Chart.yaml"


def unread(loaded: Iterable[Loaded]) -> tuple[list[Problem], list[Unread]]:
    """Return problems about what applications bring in, and what that may define."""
    files = _Files(loaded)
    problems: list[Problem] = []
    missing: list[Unread] = []
    for source, own in by_repository(sources(f.text for f in files.loaded), files.folders):
        folder = source.path if source.is_template else own.folder(source) if source.path else None
        if folder is not None:
            problems += _own_values(source, folder, files)
            continue
        if _may_define(source, NODE_NAMES, NODE_SECTIONS, NODE_FIELDS):
            named = f"{source.by} ({_what(source, own)})"
            missing.append(Unread(source.at.origin.path, frozenset({NODES}), source.at, named))
        if _may_define(source, QUEUE_NAMES, QUEUE_SECTIONS, QUEUE_FIELDS):
            missing.append(Unread(source.at.origin.path, QUEUE_KINDS))
            message = f"{source.by} deploys {_what(source, own)}, which was not read: it may define queues"
            problems.append(Problem(ProblemCode.TEMPLATE_NOT_RENDERED, source.at, message, _help(source, own)))
    return problems, missing


class _Files:
    """The files of a cluster, and the directories that contain them."""

    def __init__(self, loaded: Iterable[Loaded]) -> None:
        self.loaded = list(loaded)
        self.by_path = {posixpath.normpath(f.text.path): f for f in self.loaded}
        self.folders: set[str] = set()
        for path in self.by_path:
            while (path := posixpath.dirname(path)) and path not in self.folders:
                self.folders.add(path)
        self.folders |= {"."} if self.loaded else set()
        self._charts: dict[str, bool] = {}

    def has_chart_of_queues(self, folder: str) -> bool:
        """Return whether a directory is a chart with files that concern queues."""
        if folder not in self._charts:
            is_chart = posixpath.normpath(posixpath.join(folder, CHART)) in self.by_path
            inside = [f for p, f in self.by_path.items() if is_below(p, folder)] if is_chart else []
            self._charts[folder] = any(concerns_queues_text(f.text.text) for f in inside)
        return self._charts[folder]


def _may_define(source: GitSource, names: Words, sections: Words, fields: Words) -> bool:
    """Return whether a source's names or values show that it defines something; known software does not."""
    if is_software(source.chart.rstrip("/").rpartition("/")[2]):
        return False
    if names.search(CAMEL.sub("-", f"{source.by} {source.chart} {source.path}")):
        return True
    values = source.values
    return any(sections.search(CAMEL.sub("-", key)) for key in values.sections) or any(
        fields.match(CAMEL.sub("-", key)) for key in values.fields
    )


def _what(source: GitSource, own: OwnRepository) -> str:
    if source.chart:
        return f"the chart {source.chart}"
    if not source.path:
        return "a chart"
    if own.is_elsewhere(source):
        return f"the directory {source.path} of {source.repository}"
    return f"the directory {source.path}{'' if own.exists(source) else ' of another repository'}"


def _help(source: GitSource, own: OwnRepository) -> str:
    if source.path and own.exists(source) and not own.is_elsewhere(source):
        return f"Add {source.path} to the paths."
    return "Render it, and add the output to the paths."


def _own_values(source: GitSource, folder: str, files: _Files) -> Iterator[Problem]:
    """Yield a problem for a chart of the repository to which an application gives inline values."""
    if source.values != ChartValues() and files.has_chart_of_queues(folder):
        message = f"{source.by} gives the chart {folder} values of its own, which qcheck does not pass to helm"
        yield Problem(
            ProblemCode.TEMPLATE_NOT_RENDERED,
            source.at,
            message,
            "Move the values to a file, and list it under `render` in the settings.",
        )
