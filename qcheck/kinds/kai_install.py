"""Values of KAI's chart that no manifest of the chart shows."""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.documents.load import load
from qcheck.kinds.decode import roots
from qcheck.kinds.installed_charts import installed_charts

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qcheck.documents.cursor import Cursor
    from qcheck.documents.load import Loaded

CHART, FIELD = "kai-scheduler", "gpuSharing"


def shares_gpus(loaded: Iterable[Loaded]) -> bool:
    """Return whether some values of the chart turn GPU sharing on: in a file of values, or where the chart is installed."""
    texts = (file.text for file in loaded if FIELD in file.text.text and file.text.path.endswith((".yaml", ".yml")))
    documents = (document for text in texts for document in load(text.text, text.path).documents)
    return any(map(_turns_on, (at for document in documents for at in roots(document))))


def _turns_on(at: Cursor) -> bool:
    is_values = not at.text_at("apiVersion") and not at.text_at("kind")
    values = [at] if is_values else [each for chart in installed_charts(at, CHART) for each in chart.values]
    return any(each["global"][FIELD].boolean() for each in values)
