"""Kyverno's policies, as far as they generate objects that no file contains."""

from __future__ import annotations

from qcheck.cluster.objects import Generator
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.kinds.shared_fields import metadata, object_id, place, text_list

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from qcheck.cluster.objects import Object
    from qcheck.documents.cursor import Cursor


def policy(root: Cursor) -> Object:
    """Return a Policy or ClusterPolicy with the kinds that its `generate` rules create."""
    kinds = {kind for rule in root["spec"].items_at("rules") for kind in _kinds(rule["generate"])}
    return Generator(object_id(root), place(root), *metadata(root), kinds=tuple(sorted(kinds)))


def _kinds(generate: Cursor) -> Iterator[str]:
    for target in (generate, *generate.items_at("foreach")):
        kind = target["kind"].text()
        if kind:
            yield kind
        yield from (k.rpartition("/")[2] for k in text_list(target["cloneList"]["kinds"]))


DECODERS: dict[str, Callable[[Cursor], Object]] = {"Policy": policy, "ClusterPolicy": policy}
