"""The rendered text of a cluster's directories, and its source files.

If a rendered object equals one in a file, the file's document replaces it, so that findings point to the line to edit.
Renderers name the file: helm in a comment, kustomize in an annotation if requested (`buildMetadata:
[originAnnotations]`).
"""

from __future__ import annotations

import os

from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.documents.cursor import root
from qcheck.documents.text import ORIGIN
from qcheck.documents.traced import Traced
from qcheck.sources.files import NotLoaded
from qcheck.sources.renderers import render

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from qcheck.documents.document import Document
    from qcheck.documents.load import Loaded
    from qcheck.pipeline.kustomizations import Source
    from qcheck.pipeline.unrendered_files import UnrenderedFiles
    from qcheck.settings import ClusterScope, Render, Settings
    from qcheck.sources.files import Content

    Load = Callable[[bytes, str], Loaded]
    Watch = Callable[[str, int, int], None]


class Renders(Value):
    """The rendered text of a cluster, its source files, and what could not be rendered."""

    loaded: tuple[Loaded, ...] = ()
    origins: tuple[Loaded, ...] = ()
    failed: tuple[NotLoaded, ...] = ()


def rendered(
    scope: ClusterScope, as_is: UnrenderedFiles, settings: Settings, load: Load, watch: Watch, within: str = "."
) -> Renders:
    """Return the rendered output of a cluster's directories; paths are relative to the directory `within`."""
    renders = as_is.renders
    loaded: list[Loaded] = []
    failed: list[NotLoaded] = []
    origins = _Origins(load, settings.limits.bytes, within)
    for done, one in enumerate(renders):
        watch("render", done, len(renders))
        folder, *values = (os.path.normpath(os.path.join(scope.root, p)) for p in (one.path, *one.values))
        made = _render(one, folder, values, settings, within)
        if isinstance(made, NotLoaded):
            failed.append(made)
        else:
            read = load(made.read(settings.limits.bytes), made.path)
            if _is_no_manifest(read.text.text):
                failed.append(NotLoaded(made.path, f"the output of {one.tool} contains no Kubernetes object"))
                continue
            loaded.append(read)
            sources = as_is.sources.get(one.path, ())
            loaded[-1].documents[:] = [_traced(origins.trace(d), d, sources) for d in loaded[-1].documents]
    return Renders(tuple(loaded), tuple(origins.used.values()), tuple(failed))


def _is_no_manifest(text: str) -> bool:
    """Return whether a renderer printed text without any object; comments and separators do not count."""
    lines = (line.strip() for line in text.splitlines())
    return "apiVersion" not in text and any(line and not line.startswith(("#", "---")) for line in lines)


def _traced(traced: Document, rendered: Document, sources: Sequence[Source]) -> Document:
    """Return a rendered document with the source that it was made of, if it is unambiguous."""
    if traced is not rendered:
        return traced
    made = root(rendered)
    found = [s for s in sources if s.may_become(made)]
    name = made["metadata"].text_at("name")
    same = [s for s in found if s.found["metadata"].text_at("name") == name] or found
    if len(same) != 1:
        return rendered
    return Traced(rendered, (same[0].found.document, same[0].found.route), same[0].patches)


def _render(one: Render, folder: str, values: list[str], settings: Settings, within: str) -> Content | NotLoaded:
    seconds, most_bytes = settings.render_seconds, settings.limits.bytes
    return render(one.tool, folder, values, one.release, one.namespace, seconds, most_bytes, within)


class _Origins:
    """The files that rendered documents come from, each read once."""

    def __init__(self, load: Load, most_bytes: int, within: str) -> None:
        self.within = within
        self.load = load
        self.most_bytes = most_bytes
        self.read: dict[str, Loaded | None] = {}
        self.used: dict[str, Loaded] = {}

    def trace(self, document: Document) -> Document:
        """Return the equal document of the origin file, else the rendered one."""
        path = self._below(document.source)
        origin = self._file(path) if path else None
        plain = _without_origin(document.data)
        for other in origin.documents if origin else ():
            if path and origin and other.data == plain:
                self.used[path] = origin
                return other
        return document

    def _file(self, path: str) -> Loaded | None:
        if path not in self.read:
            self.read[path] = self.load(b"".join(_bytes(os.path.join(self.within, path), self.most_bytes)), path)
        return self.read[path]

    def _below(self, path: str | None) -> str | None:
        """Return a path only if it is below the working directory, whatever the renderer printed."""
        path = os.path.normpath(path).replace(os.sep, "/") if path else ""
        inside = path and not path.startswith(("../", "/"))
        return path if inside and os.path.isfile(os.path.join(self.within, path)) else None


def _bytes(path: str, most: int) -> Iterator[bytes]:
    """Yield a file's bytes; nothing if it cannot be read, since the rendered text still exists."""
    try:
        with open(path, "rb") as file:
            yield file.read(most + 1)
    except OSError:
        return


def _annotations(data: object) -> dict[str, object] | None:
    metadata = data.get("metadata") if isinstance(data, dict) else None
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    return annotations if isinstance(annotations, dict) else None


def _without_origin(data: object) -> object:
    """Return the object as it was before kustomize added its origin."""
    annotations = _annotations(data)
    if annotations is None or ORIGIN not in annotations or not isinstance(data, dict):
        return data
    left = {key: value for key, value in annotations.items() if key != ORIGIN}
    metadata = {key: value for key, value in data["metadata"].items() if key != "annotations"}
    return {**data, "metadata": {**metadata, "annotations": left} if left else metadata}
