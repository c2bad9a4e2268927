"""Unread sources of Argo CD and Flux: charts of registries, other repositories, and values inside applications."""

from __future__ import annotations

import posixpath
import re

from qcheck.cluster.problems import Problem, ProblemCode
from qcheck.cluster.unread import NODES, Unread
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.kinds.gitops import Source, sources
from qcheck.pipeline.relevance import concerns_queues_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from qcheck.documents.load import Loaded

OF_NODES = re.compile(
    r"(?i)node_?-?pools?\b|\bpools\b|node_?-?groups?\b|node_?-?class|instance_?-?types?|machine_?-?types?"
)
OF_QUEUES = re.compile(r"(?i)queues?\b|resource_?-?flavou?rs?\b|\bflavou?rs\b|cohorts?\b|nominalQuota")
"""Words in the names and values of charts that define nodes or queues."""
CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
QUEUE_KINDS = frozenset(
    {
        "ClusterQueue",
        "LocalQueue",
        "ResourceFlavor",
        "Cohort",
        "WorkloadPriorityClass",
        "Topology",
        "AdmissionCheck",
        "Queue",
    }
)
CHART = "Chart.yaml"


def unread(loaded: Iterable[Loaded]) -> tuple[list[Problem], list[Unread]]:
    """Problems of what applications bring in, and what that may define."""
    files = list(loaded)
    problems: list[Problem] = []
    missing: list[Unread] = []
    for source in sources(f.text for f in files):
        if "{{" in source.path or _is_here(source, files):
            problems += _own_values(source, files)
            continue
        named = CAMEL.sub("-", f"{source.by} {source.chart} {source.path} {source.values}")
        if OF_NODES.search(named):
            missing.append(
                Unread(source.at.origin.path, frozenset({NODES}), source.at, f"{source.by} ({_what(source)})")
            )
        if OF_QUEUES.search(named):
            missing.append(Unread(source.at.origin.path, QUEUE_KINDS))
            message = f"{source.by} deploys {_what(source)}, which was not read: it may define queues"
            problems.append(
                Problem(
                    ProblemCode.TEMPLATE_NOT_RENDERED, source.at, message, "Render it, and add the output to the paths."
                )
            )
    return problems, missing


def _what(source: Source) -> str:
    if source.chart:
        return f"the chart {source.chart}"
    return f"the directory {source.path} of another repository" if source.path else "a chart"


def _is_here(source: Source, files: list[Loaded]) -> bool:
    return bool(source.path) and any(_is_below(f.text.path, source.path) for f in files)


def _is_below(path: str, folder: str) -> bool:
    return folder == "." or posixpath.normpath(path).startswith(f"{folder}/")


def _own_values(source: Source, files: list[Loaded]) -> Iterator[Problem]:
    """A chart of the repository that an application gives values which stand in no file."""
    inside = [f for f in files if _is_below(f.text.path, source.path)]
    is_chart = any(posixpath.normpath(f.text.path) == posixpath.join(source.path, CHART) for f in inside)
    if is_chart and source.values and any(concerns_queues_text(f.text.text) for f in inside):
        message = f"{source.by} gives the chart {source.path} values of its own, which qcheck does not pass to helm"
        yield Problem(
            ProblemCode.TEMPLATE_NOT_RENDERED,
            source.at,
            message,
            "Move the values to a file, and list it under `render` in the settings.",
        )
