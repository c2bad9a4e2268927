"""A rendered document that knows its sources, so that a finding points to the base or patch that holds a value."""

from __future__ import annotations

from qcheck.documents.document import Document

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from qcheck.documents.text import Route

    Spot = tuple[Document, Route]

NAME = ("metadata", "name")


class Traced(Document):
    """A rendered document; `base` is the object rendered, `patches` those applied to it, the last first."""

    __slots__ = ("_base", "_patches")

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
            found = _in_patch(patch, there, value)
            if found is not None:
                return patch, (*found, *route[len(there) :])
        document, inside = self._base
        mine = (*inside, *there)
        if document.has(mine) and (_agree(_at(document.data, mine), value) or there == NAME):
            return document, (*inside, *route)
        return self, route


def _in_patch(patch: Document, route: Route, value: object) -> Route | None:
    """Return a value's route in a patch: its own if strategic merge, the operation's in a JSON patch."""
    if isinstance(patch.data, dict):
        is_here = not isinstance(value, (dict, list)) and patch.has(route) and _at(patch.data, route) == value
        return route if is_here and route != NAME else None
    for index, operation in enumerate(patch.data if isinstance(patch.data, list) else ()):
        steps = _pointer(operation.get("path") if isinstance(operation, dict) else None)
        if steps and [str(s) for s in route[: len(steps)]] == steps:
            inside = (index, "value", *route[len(steps) :])
            if patch.has(inside) and _at(patch.data, inside) == value:
                return inside
    return None


def _pointer(path: object) -> list[str]:
    """Return the steps of a JSON pointer."""
    steps = path.split("/")[1:] if isinstance(path, str) else []
    return [step.replace("~1", "/").replace("~0", "~") for step in steps]


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
