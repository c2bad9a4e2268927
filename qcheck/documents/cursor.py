"""Safe navigation of a document: a value that is absent or of an unexpected type reads as absent."""

from __future__ import annotations

from qcheck.documents.scalars import show_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from enum import Enum
    from typing import Any, TypeVar

    from qcheck.documents.document import Document
    from qcheck.documents.text import Route

    E = TypeVar("E", bound=Enum)


class Cursor:
    """A value in a document and the route to it: `cursor["spec"]["template"]`, `cursor[0]`.

    A step to something absent, and every step from there, gives a cursor whose `data` is None; the route keeps every
    step. Checking types is the validator's job, not the decoder's.
    """

    __slots__ = ("data", "document", "route")

    def __init__(self, document: Document, route: Route = (), data: object = None) -> None:
        self.document = document
        self.route = route
        self.data = data

    def __getitem__(self, step: str | int) -> Cursor:
        data, inner = self.data, None
        if type(data) is dict:
            inner = data.get(step)
        elif type(data) is list and type(step) is int and 0 <= step < len(data):
            inner = data[step]
        return Cursor(self.document, (*self.route, step), inner)

    __iter__ = None
    """Not iterable: use `items()` or `mapping()`. Otherwise Python would iterate through `__getitem__` endlessly."""

    @property
    def exists(self) -> bool:
        """Return whether a value other than null is written: the API server treats null as absent."""
        return self.data is not None

    def mapping(self) -> Iterator[tuple[str, Cursor]]:
        """Yield the key and cursor of each entry of a mapping."""
        if isinstance(self.data, dict):
            for key, inner in self.data.items():
                yield key, Cursor(self.document, (*self.route, key), inner)

    def items(self) -> list[Cursor]:
        """Return the items of a list."""
        if not isinstance(self.data, list):
            return []
        return [Cursor(self.document, (*self.route, at), inner) for at, inner in enumerate(self.data)]

    def items_at(self, key: str) -> list[Cursor]:
        """Return the items of the list under a key: `self[key].items()`, but cheaper, as most lists are absent."""
        listed = self.data.get(key) if isinstance(self.data, dict) else None
        return self[key].items() if listed else []

    def objects_at(self, key: str) -> list[Cursor]:
        """Return the items under a key that are objects. The validation of the structure reports all others."""
        return [each for each in self.items_at(key) if isinstance(each.data, dict)]

    def text(self) -> str | None:
        return self.data if isinstance(self.data, str) else None

    def text_at(self, key: str) -> str:
        """Return the text under a key, or "" if there is none: `self[key].text() or ""`, but cheaper."""
        inner = self.data.get(key) if isinstance(self.data, dict) else None
        return inner if isinstance(inner, str) else ""

    def integer(self) -> int | None:
        return self.data if isinstance(self.data, int) and not isinstance(self.data, bool) else None

    def count(self) -> int | None:
        """Return a count; a negative one, which the API server rejects, reads as 0."""
        number = self.integer()
        return None if number is None else max(0, number)

    def choice(self, default: E) -> E:
        """Return a member of the enum of `default`; `default` for other values, which the API server rejects."""
        try:
            return type(default)(self.data)
        except ValueError:
            return default

    def boolean(self) -> bool | None:
        return self.data if isinstance(self.data, bool) else None

    def amount(self) -> str | None:
        """Return a quantity, written as a string or as a number, in the spelling that the API server gets."""
        return None if isinstance(self.data, bool) else _meant(self.data)

    def meant(self) -> str | None:
        """Return a string; an unquoted boolean or number, which the API server rejects, reads as a string."""
        return _meant(self.data)

    def strings(self) -> dict[str, str]:
        """Return a map of strings, each read as by `meant`."""
        return _strings(self.data)

    def booleans(self) -> dict[str, bool]:
        """Return the boolean values of a map."""
        return {key: each.data for key, each in self.mapping() if isinstance(each.data, bool)}

    def strings_at(self, key: str) -> dict[str, str]:
        """Return the map of strings under a key: `self[key].strings()`, but cheaper."""
        return _strings(self.data.get(key) if isinstance(self.data, dict) else None)

    def __repr__(self) -> str:
        return f"Cursor({self.document.path}, {self.route}, {self.data!r})"


def _strings(value: object) -> dict[str, str]:
    if not isinstance(value, dict):
        return {}
    return {key: text for key, inner in value.items() if (text := _meant(inner)) is not None}


def as_mapping(value: object) -> dict[str, Any]:
    """Return `value` if it is a mapping, else an empty mapping."""
    return value if isinstance(value, dict) else {}


def _meant(value: object) -> str | None:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return show_number(value) if isinstance(value, (int, float)) else None


def root(document: Document) -> Cursor:
    """Return a cursor on the whole document."""
    return Cursor(document, (), document.data)
