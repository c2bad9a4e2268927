"""From paths to loaded files: discover and load, joined.

Relevance is decided here, because it depends on all decoders.
"""

from __future__ import annotations

import re

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.documents.load import load
from qcheck.kinds.decode import mentions_settings, recognises
from qcheck.nodepools import formats
from qcheck.pipeline import validation
from qcheck.pipeline.partial_files import expected_states, patch_files
from qcheck.pipeline.relevance import concerns_queues_text
from qcheck.sources import files

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence, Set

    from qcheck.documents.limits import Limits
    from qcheck.documents.load import Loaded
    from qcheck.documents.transfer import Plain

    Watch = Callable[[str, int, int], None]
    """A receiver of each stage's progress: its name, the number of finished items, and their total."""

LARGE = 2_000_000
"""The size in bytes from which a second process pays for its start."""
WRITTEN = r"apiVersion[\"']?\s*:\s*[\"']?"
"""The text before the version of an object, in YAML and JSON."""


def unwatched(stage: str, done: int, total: int) -> None:
    """A progress receiver that does nothing."""


def read(
    paths: Sequence[str] | files.Found, limits: Limits, watch: Watch
) -> tuple[list[Loaded], list[files.NotLoaded]]:
    """Discover and load: return every file once, in order, and the paths that were skipped."""
    watch("discover", 0, 0)
    found = paths if isinstance(paths, files.Found) else files.discover(paths)
    contents: list[tuple[str, bytes]] = []
    not_read = list(found.not_read)
    for file in found.files:
        try:
            contents.append((file.path, file.read(limits.bytes)))
        except OSError as error:
            not_read.append(files.NotLoaded(file.path, files.reason(error)))
    loaded = _load(contents, limits, watch)
    partial_objects = list({n.path: n for n in (*expected_states(loaded), *patch_files(loaded))}.values())
    patches = {n.path for n in partial_objects}
    about = {f.text.path for f in loaded if f.documents or concerns_queues_text(f.text.text)}
    whole = [_without_objects(f) if f.text.path in patches else f for f in loaded]
    return _read_again(whole, limits), [*not_read, *(n for n in partial_objects if n.path in about)]


def _load(contents: Sequence[tuple[str, bytes]], limits: Limits, watch: Watch) -> list[Loaded]:
    """Load the files; if they are several and large in total, a second process loads some of them."""
    if len(contents) > 1 and sum(len(raw) for _, raw in contents) > LARGE:
        return _load_in_two(contents, limits, watch)
    loaded: list[Loaded] = []
    for path, raw in contents:
        watch("load", len(loaded), len(contents))
        loaded.append(load(raw, path, limits, is_wanted))
    return loaded


def _load_in_two(contents: Sequence[tuple[str, bytes]], limits: Limits, watch: Watch) -> list[Loaded]:
    """Load files in two processes. What the second one cannot send is loaded here."""
    from qcheck.documents.transfer import as_plain, from_plain  # 0.1 ms
    from qcheck.pipeline.second_process import PORTIONS, shared  # 0.2 ms

    def here(portion: int) -> list[Loaded]:
        watch("load", portion, PORTIONS)
        return [load(raw, path, limits, is_wanted) for path, raw in contents[portion::PORTIONS]]

    def there(portion: int) -> list[Plain | None]:
        return [as_plain(load(raw, path, limits, is_wanted)) for path, raw in contents[portion::PORTIONS]]

    def received(portion: int, answers: list[Plain | None]) -> list[Loaded]:
        return [
            load(raw, path, limits, is_wanted) if known is None else from_plain(known, raw, path)
            for (path, raw), known in zip(contents[portion::PORTIONS], answers, strict=True)
        ]

    mine, theirs = shared(here, there)()
    found = mine | {portion: received(portion, answers) for portion, answers in theirs.items()}
    return [found[at % PORTIONS][at // PORTIONS] for at in range(len(contents))]


def _without_objects(patch: Loaded) -> Loaded:
    """Return a patch without objects: its text states changes."""
    patch.documents, patch.faults, patch.passed_over = [], [], 0
    return patch


def _read_again(loaded: list[Loaded], limits: Limits) -> list[Loaded]:
    """Return the same files, with the objects of kinds that a CustomResourceDefinition among the inputs describes."""
    return _described(loaded, loaded, limits)


def _described(some: Sequence[Loaded], loaded: Sequence[Loaded], limits: Limits) -> list[Loaded]:
    """Return some loaded files with the objects of kinds that a CustomResourceDefinition in any file describes."""
    kinds = validation.described_kinds(
        [d for f in loaded if validation.mentions_definition(f.text.text) for d in f.documents]
    )

    def is_described(api_version: str, kind: str, text: str) -> bool:
        return (api_version, kind) in kinds or is_wanted(api_version, kind, text)

    versions = {version for version, _ in kinds}
    return [
        load(f.text.text, f.text.path, limits, is_described) if f.passed_over and _has_object(f, versions) else f
        for f in some
    ]


def _has_object(file: Loaded, versions: Set[str]) -> bool:
    """Return whether a file seems to have an object of one of the versions; definitions only name them."""
    text = file.text.text
    return any(version in text and re.search(WRITTEN + re.escape(version), text) for version in versions)


def edited_files(loaded: Sequence[Loaded], texts: Mapping[str, str], limits: Limits) -> dict[str, Loaded]:
    """Return the files with other texts, by path. A file without objects, such as a patch, remains one."""
    new = {path: load(text, path, limits, is_wanted) for path, text in texts.items()}
    for file in loaded:
        if file.text.path in new and not (file.documents or file.faults or file.passed_over):
            _without_objects(new[file.text.path])
    return {f.text.path: f for f in _described(list(new.values()), loaded, limits)}


def is_wanted(api_version: str, kind: str, text: str) -> bool:
    if (not api_version and not kind) or (api_version, kind) == ("v1", "ConfigMap"):
        return formats.recognises_text(text) or mentions_settings(text)
    is_known = recognises(api_version, kind) or formats.recognises(api_version, kind)
    return is_known or mentions_settings(text)
