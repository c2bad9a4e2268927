"""JSON patches (RFC 6902), applied to places instead of values: they give the place of each value of the result."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from qcheck.documents.document import Document
    from qcheck.documents.text import Route

    Spot = tuple[Document, Route]


class Written:
    """The place where a value is written, with those of the values inside it."""

    __slots__ = ("inner", "spot")

    def __init__(self, document: Document, route: Route, data: object) -> None:
        self.spot: Spot = (document, route)
        self.inner: dict[str, Written] | list[Written] | None = None
        if isinstance(data, dict):
            self.inner = {key: Written(document, (*route, key), value) for key, value in data.items()}
        elif isinstance(data, list):
            self.inner = [Written(document, (*route, at), value) for at, value in enumerate(data)]

    def copy(self) -> Written:
        """Return an independent copy of the places."""
        made = Written(*self.spot, None)
        if isinstance(self.inner, dict):
            made.inner = {key: each.copy() for key, each in self.inner.items()}
        elif self.inner is not None:
            made.inner = [each.copy() for each in self.inner]
        return made

    def at(self, route: Sequence[str | int]) -> Written | None:
        """Return the value at a route, or at the steps of a pointer; None if there is none."""
        found: Written | None = self
        for step in route:
            found = None if found is None else found.child(step)
        return found

    def child(self, step: str | int) -> Written | None:
        if isinstance(self.inner, dict):
            return self.inner.get(str(step))
        at = _index(step)
        return self.inner[at] if self.inner is not None and at is not None and at < len(self.inner) else None

    def put(self, step: str, value: Written, instead: bool) -> None:
        """Put a value into a mapping, or into a list: before the item at an index, or `instead` of it."""
        if isinstance(self.inner, dict):
            self.inner[step] = value
        elif self.inner is not None:
            at = len(self.inner) if step == "-" else _index(step)
            if at is not None and at <= len(self.inner):
                self.inner[at : at + instead] = [value]

    def remove(self, step: str) -> None:
        if isinstance(self.inner, dict):
            self.inner.pop(step, None)
        elif self.inner is not None and (at := _index(step)) is not None:
            del self.inner[at : at + 1]


def _index(step: str | int) -> int | None:
    text = str(step)
    return int(text) if text.isdecimal() and len(text) < 10 else None


def apply(patch: Document, target: Written) -> None:
    """Apply the operations of a patch, in order. An operation on an unknown path changes nothing."""
    for index, operation in enumerate(patch.data if isinstance(patch.data, list) else ()):
        if isinstance(operation, dict) and (steps := _pointer(operation.get("path"))):
            _apply(patch, index, operation, steps, target)


def _apply(patch: Document, index: int, operation: dict[str, object], steps: list[str], target: Written) -> None:
    holder, last, kind = target.at(steps[:-1]), steps[-1], operation.get("op")
    if holder is None:
        return
    if kind in ("add", "replace"):
        holder.put(last, Written(patch, (index, "value"), operation.get("value")), instead=kind == "replace")
    elif kind == "remove":
        holder.remove(last)
    elif kind in ("move", "copy"):
        source = _pointer(operation.get("from"))
        value = target.at(source) if source else None
        if value is None or (kind == "move" and steps[: len(source)] == source):  # nothing moves into itself
            return
        if kind == "move" and (before := target.at(source[:-1])) is not None:
            before.remove(source[-1])
            holder = target.at(steps[:-1]) or holder
        holder.put(last, value.copy(), instead=False)


def _pointer(path: object) -> list[str]:
    """Return the steps of a JSON pointer."""
    steps = path.split("/")[1:] if isinstance(path, str) else []
    return [step.replace("~1", "/").replace("~0", "~") for step in steps]
