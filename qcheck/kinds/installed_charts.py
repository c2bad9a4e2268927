"""Charts that Argo CD's applications and Flux's HelmReleases install, with the values that these contain."""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.documents.cursor import Cursor, root
from qcheck.documents.load import load
from qcheck.kinds.gitops import FLUX_HELM, argo_sources

if TYPE_CHECKING:
    from collections.abc import Iterator


class InstalledChart(Value):
    """A chart by its version, as written, and its values; `at` is where it is named."""

    at: Cursor
    version: str
    values: tuple[Cursor, ...]


def installed_charts(at: Cursor, name: str) -> Iterator[InstalledChart]:
    """Yield the installations of the chart `name` that an object states."""
    group, kind, spec = at.text_at("apiVersion"), at.text_at("kind"), at["spec"]
    if group.startswith(FLUX_HELM) and kind == "HelmRelease":
        chart = spec["chart"]["spec"]
        if _is(chart.text_at("chart"), name):
            yield InstalledChart(chart, chart.text_at("version"), (spec["values"],))
    for source in argo_sources(at):
        if _is(source.text_at("chart"), name):
            helm = source["helm"]
            written = load(helm["values"].text() or "", at.document.path).documents
            yield InstalledChart(source, source.text_at("targetRevision"), (*map(root, written), helm["valuesObject"]))


def _is(chart: str, name: str) -> bool:
    return chart.rstrip("/").rpartition("/")[2] == name
