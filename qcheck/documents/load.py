"""Parses text to documents: the only entry point. One broken document never hides the others of its file."""

from __future__ import annotations

import re

from qcheck.cluster.problems import ProblemCode
from qcheck.documents import limits, lines
from qcheck.documents.composed import Composed, RefusedText
from qcheck.documents.document import Document
from qcheck.documents.fault import Fault, duplicate_keys, over_limit, refused, template
from qcheck.documents.template_signs import may_be_template
from qcheck.documents.text import NotText, Text, decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from qcheck.documents.comments import Comment

    Wanted = Callable[[str, str, str], bool]
    """Tests whether a document of an apiVersion and kind (empty if there are none) with this text is needed."""

BLANK = ("", " ", "\t", "\n")
MARKER = r"(?m)(?:^|(?<=\r))---(?=[ \t\r\n]|\Z)"
"""The start of a document. Nothing else can start a line with it, not even a block scalar."""
NAMED = r"""(?m)^[ \t]*["']?(?:apiVersion|kind)["']?[ \t]*:"""
SNAPSHOT = "# qcheck snapshot: "
"""The first line of a snapshot of a running cluster, in which `{{` and `...` are values and not placeholders."""
SOURCE = "# Source: "
"""The comment in which helm names the template of a document."""
DROPPED = re.compile(r"(?:[ \t]*(?:#[^\r\n]*)?(?:\r\n|\r|\n))*[ \t]*(?:#[^\r\n]*)?\Z")
"""Only blank lines and comments."""


class Loaded:
    """The content of a file: its documents in order, its faults, and the number of documents skipped as not needed."""

    __slots__ = ("chunks", "documents", "faults", "passed_over", "text")

    def __init__(self, text: Text) -> None:
        self.text = text
        self.documents: list[Document] = []
        self.faults: list[Fault] = []
        self.passed_over = 0
        self.chunks: list[tuple[int, int]] = []

    def comments(self, marker: str) -> list[Comment]:
        """Return the comments that begin with `marker`, such as `qcheck:` for `# qcheck: ignore[QC205] because`."""
        if marker not in self.text.text:
            return []
        from qcheck.documents.comments import comments  # 0.2 ms

        return comments(self.text, self.chunks, marker)


def load(source: str | bytes, path: str, limit: limits.Limits = limits.DEFAULT, wanted: Wanted | None = None) -> Loaded:
    """Return the content of `source`; `path` is its name for users, and its suffix determines the language.

    HCL (`.tf`, `.tfvars`, `.hcl`, and the first two as JSON) is only decoded to text here. Never raises for bad input,
    which becomes a `Fault`.
    """
    if len(source) > limit.bytes:
        loaded = Loaded(Text(path, ""))
        message = f"the file has more than the limit of {limit.bytes:,} bytes"
        loaded.faults.append(over_limit("bytes", message, loaded.text.spot(0, 0)))
        return loaded
    loaded, readable = decoded(source, path)
    text = loaded.text.text
    values = text.count("\n") + text.count(",") if len(text) > limit.values else 0
    if values > limit.values:
        message = f"the file has about {values:,} values, more than the limit of {limit.values:,}"
        loaded.faults.append(over_limit("values", message, loaded.text.spot(0, 0)))
        return loaded
    if not readable or path.endswith((".tf", ".tfvars", ".hcl", ".tf.json", ".tfvars.json")):
        return loaded
    if path.endswith(".json"):
        _load_json(loaded, limit, wanted)
    else:
        _load_yaml(loaded, limit, wanted)
    return loaded


def load_literal(text: Text, most: int | None = None) -> Loaded:
    """Return the first `most` documents, or all, of a YAML text in which nothing counts as a placeholder."""
    loaded = Loaded(text)
    for index, (start, end) in enumerate(_chunks(text.text)[:most]):
        _load_chunk(loaded, index, start, end, limits.DEFAULT, None)
    return loaded


def decoded(source: str | bytes, path: str) -> tuple[Loaded, bool]:
    if isinstance(source, str):
        return Loaded(Text(path, source.removeprefix("\ufeff"))), True
    try:
        return Loaded(Text(path, decode(source))), True
    except NotText as error:
        text = source.decode("utf-8", "replace")
        loaded = Loaded(Text(path, text))
        if re.search(NAMED, text.replace("\0", "")):  # UTF-16 and UTF-32 have NUL characters between letters
            at = len(source[: error.offset].decode("utf-8", "replace"))
            loaded.faults.append(
                Fault(ProblemCode.NOT_TEXT, str(error), loaded.text.spot(at, at + 1), help="Save the file as UTF-8.")
            )
        return loaded, False


def _load_json(loaded: Loaded, limit: limits.Limits, wanted: Wanted | None) -> None:
    """Load one JSON value, or several in sequence, as kubectl accepts them."""
    from qcheck.documents import json_text  # 1.0 ms

    text = loaded.text.text
    if wanted and not wanted("", "", text) and not ('"apiVersion"' in text and '"kind"' in text):
        loaded.passed_over += 1
        return
    at = json_text.skip_space(text, 0)
    while at < len(text):
        try:
            data, end, repeated = json_text.read(text, at, limit)
        except RefusedText as refusal:
            loaded.faults.append(refused(loaded.text, refusal))
            return
        _keep(
            loaded,
            Document(
                text=loaded.text,
                index=len(loaded.documents) + loaded.passed_over,
                data=data,
                start=at,
                where=json_text.JsonIndex(text),
            ),
            repeated,
            limit,
            wanted,
            text,
        )
        at = json_text.skip_space(text, end)


def _load_yaml(loaded: Loaded, limit: limits.Limits, wanted: Wanted | None) -> None:
    text = loaded.text.text
    loaded.chunks = chunks = _chunks(text)
    if len(chunks) > limit.documents:
        message = f"the file has {len(chunks):,} documents, more than the limit of {limit.documents:,}"
        loaded.faults.append(over_limit("documents", message, loaded.text.spot(*chunks[limit.documents])))
        loaded.chunks = chunks = chunks[: limit.documents]
    suspicious = not text.startswith(SNAPSHOT) and may_be_template(text)
    for index, (start, end) in enumerate(chunks):
        if wanted and not _is_needed(text, start, end, wanted):
            loaded.passed_over += 1
            continue
        _load_chunk(loaded, index, start, end, limit, wanted)
    if suspicious and _is_template(loaded):
        _refuse_template(loaded)


def _chunks(text: str) -> list[tuple[int, int]]:
    """Return the start and end of each document that contains more than comments.

    Directives and comments before a `---` belong to the document after it.
    """
    found: list[tuple[int, int]] = []
    start = 0
    for cut in [*_cuts(text), len(text)]:
        if cut > start and not (text.find("%", start, cut) >= 0 and _only_directives(text[start:cut])):
            found.append((start, cut))
            start = cut
    return [(a, b) for a, b in found if not DROPPED.match(text, a + 3 * text.startswith("---", a), b)]


def _cuts(text: str) -> list[int]:
    """Return the offsets of lines that begin with the document marker."""
    if "\r" in text:
        return [match.start() for match in re.finditer(MARKER, text)]
    cuts = [0] if text.startswith("---") else []
    at = text.find("\n---")
    while at >= 0:
        cuts.append(at + 1)
        at = text.find("\n---", at + 4)
    return [cut for cut in cuts if text[cut + 3 : cut + 4] in BLANK]


def _only_directives(head: str) -> bool:
    return all(line[:1] in ("%", "#", "") for line in head.splitlines())


def _is_needed(text: str, start: int, end: int, wanted: Wanted) -> bool:
    """Return whether a document is needed, by its text alone if apiVersion and kind begin lines; if in doubt, yes."""
    version, kind = _field(text, start, end, "apiVersion:"), _field(text, start, end, "kind:")
    if version and kind:
        return kind.endswith("List") or wanted(version, kind, text[start:end])
    if text.find("apiVersion", start, end) < 0 and text.find("kind", start, end) < 0:
        return wanted("", "", text[start:end])
    return True


def _field(text: str, start: int, end: int, name: str) -> str:
    at = start if text.startswith(name, start) else text.find("\n" + name, start, end) + 1
    if not at and not text.startswith(name, start):
        return ""
    stop = text.find("\n", at, end)
    value = text[at + len(name) : stop if stop >= 0 else end].partition(" #")[0].strip()
    return value.strip("\"'")


def _load_chunk(loaded: Loaded, index: int, start: int, end: int, limit: limits.Limits, wanted: Wanted | None) -> None:
    text = loaded.text.text
    chunk = text[start:end]
    try:
        composed = lines.compose(text, start, end, limit.depth) or _by_events(chunk, start, limit)
    except RefusedText as refusal:
        if wanted is None or re.search(NAMED, chunk):
            loaded.faults.append(refused(loaded.text, refusal))
        return
    if composed.data is not None:
        made = Document(
            text=loaded.text,
            index=index,
            data=composed.data,
            start=composed.start,
            where=composed.where,
            rendered_from=_source(chunk[:400]),
        )
        _keep(loaded, made, composed.repeated, limit, wanted, chunk)


def _source(head: str) -> str | None:
    """Return the template named at the head of a document as its source, if any."""
    found = re.search(rf"(?m)^{SOURCE}(.+?)[ \t]*\r?$", head) if SOURCE in head else None
    return found and found[1]


def _by_events(chunk: str, start: int, limit: limits.Limits) -> Composed:
    """Parse a document from events. Importing ruamel.yaml takes as long as reading thirty files by lines."""
    from qcheck.documents import events  # 11 ms

    return events.compose(chunk, start, limit)


def _keep(
    loaded: Loaded,
    document: Document,
    repeated: list[tuple[str, int, int]],
    limit: limits.Limits,
    wanted: Wanted | None,
    text: str,
) -> None:
    if wanted and not _wants(document.data, wanted, text):
        loaded.passed_over += 1
        return
    items = document.data.get("items") if isinstance(document.data, dict) else document.data
    if isinstance(items, list) and len(items) > limit.documents:
        message = f"the list has {len(items):,} items, more than the limit of {limit.documents:,}, and was not read"
        loaded.faults.append(over_limit("documents", message, loaded.text.spot(document.start, document.start)))
        return
    loaded.documents.append(document)
    loaded.faults += duplicate_keys(loaded.text, repeated)


def _wants(data: object, wanted: Wanted, text: str) -> bool:
    if isinstance(data, list) and any(isinstance(i, dict) and i.get("apiVersion") and i.get("kind") for i in data):
        return True
    if not isinstance(data, dict):
        return wanted("", "", text)
    version, kind = str(data.get("apiVersion") or ""), str(data.get("kind") or "")
    return kind.endswith("List") or wanted(version, kind, text) or (not (version and kind) and wanted("", "", text))


def _is_template(loaded: Loaded) -> bool:
    """Return whether the file as a whole must be rendered first, judged by its documents that are needed."""
    from qcheck.documents import templates  # 0.7 ms

    text = loaded.text.text
    if not loaded.documents and not loaded.faults:
        return templates.is_template_name(loaded.text.path) and bool(
            re.search(NAMED, text) and templates.first_mark(text)
        )
    if templates.is_template_name(loaded.text.path) or templates.first_statement(text):
        return templates.first_mark(text) is not None
    broken = [_chunk_of(loaded, fault) for fault in loaded.faults if fault.code is ProblemCode.YAML_SYNTAX]
    marks = (templates.MARK, templates.NO_YAML)
    if any(templates.first_mark(text, *chunk, mark) is not None for chunk in broken for mark in marks):
        return True
    return any(templates.placeholder(document.data) is not None for document in loaded.documents)


def _chunk_of(loaded: Loaded, fault: Fault) -> tuple[int, int]:
    """Return the start and end of the broken document."""
    return next(((a, b) for a, b in loaded.chunks if a <= fault.spot.start <= b), (0, len(loaded.text.text)))


def _refuse_template(loaded: Loaded) -> None:
    from qcheck.documents import templates  # 0.7 ms

    placeholders = (p for d in loaded.documents if (p := templates.placeholder(d.data)) is not None)
    fault = template(loaded.text, next(placeholders, ""))
    loaded.passed_over += len(loaded.documents)
    loaded.documents = []
    loaded.faults = [fault]
