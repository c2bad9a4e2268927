"""A rendered document that knows its sources, so that a finding points to the base or patch that holds a value."""

from __future__ import annotations

from qcheck.documents.document import Document

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from qcheck.documents.json_patch import Written
    from qcheck.documents.text import Route

    Spot = tuple[Document, Route]

NAME = ("metadata", "name")


class Traced(Document):
    """A rendered document; `base` is the object rendered, `patches` those applied to it, the last first."""

    __slots__ = ("_base", "_patches", "_written")

    def __init__(self, rendered: Document, base: Spot, patches: Sequence[Document]) -> None:
        super().__init__(
            text=rendered.text,
            index=rendered.index,
            data=rendered.data,
            start=rendered.start,
            where=rendered.where,
            rendered_from=rendered.rendered_from,
        )
        self._base = base
        self._patches = tuple(patches)
        self._written: Written | None = None

    def again(self, rendered: Document) -> Traced:
        """Return another document, rendered from the same base and patches, traced in the same way."""
        return Traced(rendered, self._base, self._patches)

    def rendered_route(self, document: tuple[str, int], route: Route) -> Route:
        """Return the route in this document of the value at a route of the base.

        `document` is the path and index of the base; for any other document, the route is returned unchanged.
        """
        base, inside = self._base
        is_base = (base.path, base.index) == document and route[: len(inside)] == inside
        return route[len(inside) :] if is_base else route

    def written_at(self, route: Route) -> Spot:
        """Return the document and route at which a value is written, as far as known; else those of the rendering."""
        there = _existing(self.data, route)
        value = _at(self.data, there)
        for patch in self._patches:
            if _is_merged(patch, there, value):
                return patch, route
        found = self._unmerged().at(there)
        if found is not None:
            document, mine = found.spot
            if _agree(_at(document.data, mine), value) or there == NAME:
                return document, (*mine, *route[len(there) :])
        return self, route

    def _unmerged(self) -> Written:
        """Return where the values of the base with all JSON patches are written, without strategic merge patches."""
        if self._written is None:
            from qcheck.documents.json_patch import Written, apply  # 0.2 ms

            document, inside = self._base
            self._written = Written(document, inside, _at(document.data, inside))
            for patch in reversed(self._patches):
                apply(patch, self._written)
        return self._written


def _is_merged(patch: Document, route: Route, value: object) -> bool:
    """Return whether a strategic merge patch writes a value other than the name of its object."""
    if not isinstance(patch.data, dict) or isinstance(value, (dict, list)) or route == NAME:
        return False
    return patch.has(route) and _at(patch.data, route) == value


def _existing(data: object, route: Route) -> Route:
    """Return the part of a route that exists."""
    for at, step in enumerate(route):
        is_item = isinstance(data, list) and isinstance(step, int) and 0 <= step < len(data)
        if not is_item and not (isinstance(data, dict) and step in data):
            return route[:at]
        data = data[step]  # type: ignore[index]
    return route


def _at(data: object, route: Route) -> object:
    for step in route:
        data = data[step]  # type: ignore[index]
    return data


def _agree(written: object, value: object) -> bool:
    """Return whether a base contains a value; patches change the content of containers, so only the type counts."""
    return written == value or (isinstance(value, (dict, list)) and type(written) is type(value))
