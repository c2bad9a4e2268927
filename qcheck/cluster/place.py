"""Places: a document, a route into it, and a caption.

Places are symbolic. The document looks up lines and columns only when a report or a suppression needs them, so carrying
a place costs nothing while the model is built.
"""

from __future__ import annotations

import re

from qcheck.cluster.value import TYPE_CHECKING, Value

if TYPE_CHECKING:
    from typing import Protocol

    Route = tuple[str | int, ...]
    Span = tuple[int, int, int, int]
    """Line, column, end line, end column: 1-based, end-exclusive, in code points."""

    class Origin(Protocol):
        """A document, seen from the model: something with a path that can find its own lines."""

        @property
        def path(self) -> str: ...

        @property
        def data(self) -> object:
            """The plain data of the document; None if it is not a document."""
            ...

        @property
        def source(self) -> str | None:
            """The source file to edit, if this was rendered from one; None if `path` is that file."""
            ...

        def span(self, route: Route, on_key: bool = False) -> Span:
            """The span of the value at `route` (or of its key); of the deepest existing ancestor if it is absent."""
            ...

        def line(self, number: int) -> str:
            """The text of a line, 1-based, without its line end; empty beyond the end."""
            ...

        def has(self, route: Route) -> bool:
            """Return whether something is written at `route`."""
            ...

        def written_at(self, route: Route) -> tuple[Origin, Route]:
            """Return where a person edits the value at `route`: in the source, if this was rendered from a known one."""
            ...


_STEP = r'\.?([^.\[\]"]+)|\[(\d+)\]|\["((?:[^"\\]|\\.)*)"\]'
"""One step of a displayed route: a plain name, an index, or a quoted name."""


class Place(Value):
    """A location in a document. `on_key` points to the key instead of the value."""

    origin: Origin
    route: Route = ()
    caption: str = ""
    on_key: bool = False

    def at(self, *steps: str | int) -> Place:
        """Return a place further inside: `queue.place.at("spec", "preemption")`."""
        return Place(self.origin, self.route + steps, "", False)

    def key(self) -> Place:
        """Return the place of the key instead of the value."""
        return Place(self.origin, self.route, self.caption, True)

    def named(self, caption: str) -> Place:
        """Return the same place with a caption."""
        return Place(self.origin, self.route, caption, self.on_key)

    def written(self) -> Place:
        """The place that a person edits: the source if this document was rendered from a known one, else this place."""
        origin, route = self.origin.written_at(self.route)
        return self if origin is self.origin else Place(origin, route, self.caption, self.on_key)

    @property
    def span(self) -> Span:
        return self.origin.span(self.route, self.on_key)

    @property
    def exists(self) -> bool:
        """Return whether the value is written; for a defaulted field, `span` gives the nearest ancestor that is."""
        return self.origin.has(self.route)

    @property
    def line(self) -> str:
        """`path:line`, for messages."""
        return f"{self.origin.path}:{self.span[0]}"


def follow(data: object, route: Route) -> object:
    """Return the value at a route; None if there is none."""
    for step in route:
        if isinstance(data, dict):
            data = data.get(step)
        elif isinstance(data, list) and isinstance(step, int) and step < len(data):
            data = data[step]
        else:
            return None
    return data


def read_route(text: str) -> Route:
    """Parse a route that `show_route` wrote. Raises `ValueError`."""
    found: list[str | int] = []
    at = 0
    for step in re.finditer(_STEP, text, re.DOTALL):
        if step.start() != at:
            break
        at = step.end()
        plain, number, quoted = step.groups()
        found.append(int(number) if number else plain or re.sub(r"\\(.)", r"\1", quoted, flags=re.DOTALL))
    if at != len(text):
        raise ValueError(f"no route: {text!r}")
    return tuple(found)


def show_route(route: Route) -> str:
    """Return `("spec", "flavors", 0, "nvidia.com/gpu")` as `spec.flavors[0]["nvidia.com/gpu"]`."""
    shown = ""
    for step in route:
        if isinstance(step, int):
            shown += f"[{step}]"
        elif step.replace("_", "").replace("-", "").isalnum():
            shown += f".{step}" if shown else step
        else:
            quoted = step.replace("\\", "\\\\").replace('"', '\\"')
            shown += f'["{quoted}"]'
    return shown
