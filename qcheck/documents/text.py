"""The text of a file, the conversion of its offsets to lines and columns, and the source of text that was rendered.

Helm writes `# Source: chart/templates/x.yaml`, beginning with the chart's name; kustomize, if `buildMetadata` lists
`originAnnotations`, writes an annotation with a path relative to the directory that was built.
"""

from __future__ import annotations

import codecs
import posixpath
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    Route = tuple[str | int, ...]
    Span = tuple[int, int, int, int]

LINE_END = r"\r\n|\r|\n"
ORIGIN = "config.kubernetes.io/origin"
PATH = r"(?m)^path: *(\S+) *$"
ENTRY = {"kustomize": "kustomization.yaml", "helm": "Chart.yaml"}


class Text:
    """A file's text, and its path as shown to users (forward slashes). Offsets are in code points from 0."""

    __slots__ = ("_starts", "path", "text")

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text
        self._starts: list[int] | None = None

    def position(self, offset: int) -> tuple[int, int]:
        """Return the line and column of an offset, both 1-based."""
        from bisect import bisect_right  # 0.1 ms, which only findings need

        starts = self._line_starts()
        line = bisect_right(starts, offset)
        return line, offset - starts[line - 1] + 1

    def span(self, start: int, end: int) -> Span:
        """Return the line, column, end line and end column (exclusive) of `text[start:end]`."""
        return (*self.position(start), *self.position(end))

    def line(self, number: int) -> str:
        """Return the text of a line, 1-based, without its line end; empty outside the file."""
        starts = self._line_starts()
        if not 1 <= number <= len(starts):
            return ""
        end = starts[number] if number < len(starts) else len(self.text)
        return self.text[starts[number - 1] : end].rstrip("\r\n")

    def offset(self, number: int) -> int:
        """Return the offset of the start of a line, 1-based."""
        return self._line_starts()[number - 1]

    def spot(self, start: int, end: int) -> Spot:
        return Spot(self, start, end)

    def _line_starts(self) -> list[int]:
        if self._starts is None:
            self._starts = [0, *(m.end() for m in re.finditer(LINE_END, self.text))]
        return self._starts


class Spot:
    """A fixed span of a file without a route, such as a syntax error or a comment. Same interface as a `Document`."""

    __slots__ = ("end", "start", "text")

    def __init__(self, text: Text, start: int, end: int) -> None:
        self.text = text
        self.start = start
        self.end = end

    @property
    def path(self) -> str:
        return self.text.path

    @property
    def data(self) -> object:
        return None

    @property
    def source(self) -> str | None:
        return entry_of(self.path)

    def span(self, route: Route = (), on_key: bool = False) -> Span:  # noqa: ARG002 (a spot has no inside)
        return self.text.span(self.start, self.end)

    def line(self, number: int) -> str:
        return self.text.line(number)

    def has(self, route: Route) -> bool:
        return not route

    def written_at(self, route: Route) -> tuple[Spot, Route]:
        return self, route

    def __repr__(self) -> str:
        line, column, _, _ = self.span()
        return f"Spot({self.path}:{line}:{column})"


class NotText(ValueError):
    """Bytes that are not text; `offset` is the first wrong byte, `args[0]` describes the error."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.offset = offset


def decode(raw: bytes) -> str:
    """Decode UTF-8, or UTF-16 with a byte order mark. Raises `NotText`."""
    encoding, skip = "utf-8", 0
    for mark, name in (
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
    ):
        if raw.startswith(mark):
            encoding, skip = name, len(mark)
    try:
        text = raw[skip:].decode(encoding)
    except UnicodeDecodeError as error:
        raise NotText(f"this is not {encoding.upper()} text: {error.reason}", skip + error.start) from None
    if (nul := text.find("\0")) >= 0:
        raise NotText("the file contains a NUL character; is it binary?", len(text[:nul].encode(encoding)) + skip)
    return text


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
