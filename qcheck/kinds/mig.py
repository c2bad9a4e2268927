"""MIG layouts as mig-parted reads them: a file of their own, text in a ConfigMap, or a string in Helm values.

Source: NVIDIA mig-parted, `api/spec/v1`: `mig-configs` has named lists of entries, each for some of a node's GPUs.
"""

from __future__ import annotations

from qcheck.cluster.mig import MigLayout
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.documents.cursor import root
from qcheck.documents.embedded import NotYaml, embedded
from qcheck.kinds.shared_fields import place

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from qcheck.documents.cursor import Cursor
    from qcheck.documents.document import Document

MARK = "mig-configs:"
DEEPEST = 8
"""The most levels of mappings, lists and texts; a text may be YAML for itself."""


def read_layouts(documents: Iterable[Document]) -> tuple[MigLayout, ...]:
    """Return the layouts of all configurations, in order."""
    return tuple(layout for d in documents for at in _configurations(root(d), 0) for layout in _layouts(at))


def _configurations(at: Cursor, depth: int) -> Iterator[Cursor]:
    """Yield the values of `mig-configs`, here or in a string further down."""
    if at["mig-configs"].exists:
        yield at["mig-configs"]
    elif depth == DEEPEST:
        return
    elif isinstance(at.data, str):
        if MARK in at.data:
            try:
                yield from _configurations(root(embedded(at.document, at.route, at.data)), depth + 1)
            except NotYaml:
                return
    else:
        for _, inner in at.mapping():
            yield from _configurations(inner, depth + 1)
        for inner in at.items():
            yield from _configurations(inner, depth + 1)


def _layouts(at: Cursor) -> Iterator[MigLayout]:
    for name, entries in at.mapping():
        for entry in entries.items():
            cut = {profile: count for profile, count in entry["mig-devices"].mapping() if (count.integer() or 0) > 0}
            if cut:
                yield MigLayout(
                    name=name,
                    instances={profile: count.integer() or 0 for profile, count in cut.items()},
                    places={profile: place(count) for profile, count in cut.items()},
                    place=place(entries).key(),
                    is_filtered=entry["device-filter"].exists,
                )
