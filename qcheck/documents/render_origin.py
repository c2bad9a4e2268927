"""The source file of a rendered document, as far as the renderer names it.

Helm writes `# Source: chart/templates/x.yaml`, beginning with the chart's name; kustomize, if `buildMetadata` lists
`originAnnotations`, writes an annotation with a path relative to the directory that was built.
"""

from __future__ import annotations

import posixpath
import re

ORIGIN = "config.kubernetes.io/origin"
PATH = r"(?m)^path: *(\S+) *$"
ENTRY = {"kustomize": "kustomization.yaml", "helm": "Chart.yaml"}


def entry_of(path: str) -> str | None:
    """Return the file to open first for a rendered document that names no source; None if `path` is not rendered.

    `path` is a document's: `helm:charts/queues` gives `charts/queues/Chart.yaml`.
    """
    tool, colon, folder = path.partition(":")
    return posixpath.join(folder, ENTRY[tool]) if colon and tool in ENTRY else None


def source_of(path: str, data: object, rendered_from: str | None) -> str | None:
    """Return the file that a person edits, relative to the working directory; None for a document that is not rendered.

    `rendered_from` is the file that the renderer names as the source of the document at `path`, if any.
    """
    entry = entry_of(path)
    if entry is None:
        return None
    folder = posixpath.dirname(entry)
    from_chart = rendered_from if path.startswith("helm:") else None
    below = from_chart.partition("/")[2] if from_chart else _annotated(data)
    if not below or "://" in below:
        return entry
    return posixpath.normpath(posixpath.join(folder, below))


def _annotated(data: object) -> str:
    """Return the path in kustomize's annotation; empty for a resource from another repository."""
    for key in ("metadata", "annotations", ORIGIN):
        data = data.get(key) if isinstance(data, dict) else None
    if not isinstance(data, str) or re.search(r"^repo:", data, re.MULTILINE):
        return ""
    found = re.search(PATH, data)
    return found[1] if found else ""
