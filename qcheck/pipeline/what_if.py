"""Hypothetical values: the inputs with some values replaced, judged by the same model and rules.

Nothing is written. The text of each file is edited in memory and read again, so that a what-if is judged exactly like a
file with these values; rendered text is edited as its renderer printed it.
"""

from __future__ import annotations

import re

from qcheck.answers.node_proposals import count_of
from qcheck.cluster.quantity import QuantityError, parse_quantity
from qcheck.cluster.quota_pool import pool_name
from qcheck.cluster.value import TYPE_CHECKING, Value, replace
from qcheck.documents.document import Document
from qcheck.documents.edits import Replace, Unsafe, edited
from qcheck.documents.load import load
from qcheck.documents.traced import Traced
from qcheck.pipeline.check import checked
from qcheck.pipeline.gather import collect, modelled
from qcheck.pipeline.read import edited_files, is_wanted
from qcheck.schedulers.table import promises_of
from qcheck.supply.supply import supply_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.place import Place
    from qcheck.documents.edits import Edit
    from qcheck.documents.limits import Limits
    from qcheck.documents.load import Loaded
    from qcheck.findings.result import Result
    from qcheck.pipeline.gather import ReadInputs
    from qcheck.pipeline.live import Live
    from qcheck.pipeline.read import Watch
    from qcheck.pipeline.render import Renders
    from qcheck.pipeline.unrendered_files import UnrenderedFiles
    from qcheck.settings import Settings


_NODES = re.compile(r"\d{1,18}", re.ASCII)


class Replacement(Value):
    """A replacement for the scalar at a place: `text` as it would be written, without quotes."""

    place: Place
    text: str


class Impossible(ValueError):
    """A value that cannot be replaced in its place; `args[0]` says why."""


def replacements(clusters: Iterable[Cluster], amounts: Iterable[str], nodes: Iterable[str]) -> list[Replacement]:
    """Return the values that `--set POOL/QUEUE/RESOURCE=N` and `--add-nodes POOL=N` change, in each cluster with them.

    Raises `Impossible` for words of another form or without a match.
    """
    known = tuple(clusters)
    found = []
    for text in amounts:
        name, _, amount = text.rpartition("=")
        pool, _, rest = name.partition("/")
        queue, _, resource = rest.partition("/")
        if not resource:
            raise Impossible(f"--set {text}: write POOL/QUEUE/RESOURCE=N, as in h100/research/nvidia.com/gpu=64")
        _quantity(text, amount)
        cells = [
            c
            for cluster in known
            for (key, name), held in promises_of(cluster).cells.items()
            for c in held
            if (pool_name(key), c.holder.removeprefix("cohort "), name) == (pool, queue, resource)
        ]
        if not cells:
            raise Impossible(f"--set {text}: no queue {queue} has quota for {resource} in {pool}")
        found += [Replacement(c.place, amount) for c in cells]
    for text in nodes:
        pool, _, more = text.rpartition("=")
        if not pool or _NODES.fullmatch(more) is None:
            raise Impossible(f"--add-nodes {text}: write POOL=N, N a whole number of nodes")
        groups = [g for c in known for g in supply_of(c).groups if g.name == pool]
        counts = [count for g in groups if (count := count_of(g)) is not None]
        if not counts:
            pools = ", ".join(sorted({g.name for c in known for g in supply_of(c).groups})) or "none"
            absent = f"there is no such node pool; there are: {pools}"
            why = "its number of nodes is not a single value in the files" if groups else absent
            raise Impossible(f"--add-nodes {text}: {why}")
        if odd := next((c for c in counts if int(more) % c.nodes), None):
            raise Impossible(f"--add-nodes {text}: {pool} grows by {odd.nodes} nodes at a time, one in each zone")
        found += [Replacement(c.place, str(c.number + int(more) // c.nodes)) for c in counts]
    return found


def _quantity(text: str, amount: str) -> None:
    try:
        parse_quantity(amount)
    except QuantityError as error:
        raise Impossible(f"--set {text}: {error}") from None


def edit_of(instead: Replacement) -> Edit:
    """Return the text edit for a value. Raises `Impossible`."""
    origin, route = instead.place.origin, instead.place.route
    if not isinstance(origin, Document) or not origin.has(route):
        raise Impossible(f"{instead.place.line}: the value is not written here")
    try:
        (edit,) = Replace(route, instead.text).edits(origin)
    except Unsafe:
        raise Impossible(f"{instead.place.line}: the value is an alias, or is written over several lines") from None
    return edit


def with_values(read: ReadInputs, values: Iterable[Replacement], limits: Limits) -> ReadInputs:
    """Return what was read, with other values in it. Raises `Impossible`."""
    edits: dict[str, list[Edit]] = {}
    texts: dict[str, str] = {}
    for each in values:
        edit, origin = edit_of(each), each.place.origin
        assert isinstance(origin, Document)
        edits.setdefault(origin.path, []).append(edit)
        texts[origin.path] = origin.text.text
    try:
        new = {path: edited(text, sorted(set(edits[path]))) for path, text in texts.items()}
    except Unsafe:
        raise Impossible("two values are to be written in one place") from None
    return with_texts(read, new, limits)


def with_texts(read: ReadInputs, texts: Mapping[str, str], limits: Limits) -> ReadInputs:
    """Return what was read, with other texts of some files, by path."""
    files = edited_files(read.loaded, texts, limits)
    return replace(
        read,
        loaded=tuple(files.get(f.text.path, f) for f in read.loaded),
        as_is=tuple(_replaced(each, files) for each in read.as_is),
        renders=tuple(None if each is None else _rendered(each, files, limits) for each in read.renders),
    )


def _replaced(as_is: UnrenderedFiles, files: Mapping[str, Loaded]) -> UnrenderedFiles:
    return replace(as_is, files=tuple(files.get(f.text.path, f) for f in as_is.files))


def _rendered(renders: Renders, files: Mapping[str, Loaded], limits: Limits) -> Renders:
    return replace(
        renders,
        loaded=tuple(_file(f, files, limits) for f in renders.loaded),
        origins=tuple(files.get(f.text.path, f) for f in renders.origins),
    )


def _file(file: Loaded, files: Mapping[str, Loaded], limits: Limits) -> Loaded:
    """Return a render with its documents replaced one by one: some are documents of their source files."""
    if not any(d.path in files for d in file.documents):
        return file
    changed = files.get(file.text.path) or load(file.text.text, file.text.path, limits, is_wanted)
    changed.documents = [_document(d, files) for d in file.documents]
    return changed


def _document(document: Document, files: Mapping[str, Loaded]) -> Document:
    file = files.get(document.path)
    again = next((d for d in file.documents if d.index == document.index), None) if file else None
    if again is None:
        return document
    return document.again(again) if isinstance(document, Traced) else again


def audit_what_if(
    paths: Sequence[str],
    settings: Settings,
    watch: Watch,
    live: Live | None,
    asked: tuple[Sequence[str], Sequence[str]],
) -> Result:
    """Return the result of a check with other quotas (first) and more nodes. Raises `Impossible`."""
    read = collect(paths, settings, watch, live=live)
    values = replacements(modelled(read, settings, watch).clusters, *asked)
    return checked(modelled(with_values(read, values, settings.limits), settings, watch), settings, watch)
