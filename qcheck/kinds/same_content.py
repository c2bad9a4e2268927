"""Remembers what is read from equal parts of documents: thousands of objects are often a few different ones."""

from __future__ import annotations

from functools import wraps
from marshal import dumps

from qcheck.cluster.value import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from qcheck.documents.cursor import Cursor

    T = TypeVar("T")

MOST, LARGEST = 2000, 2000
"""The most values that are remembered of one kind, and the most bytes of what each is read from."""
WITHOUT_REFERENCES = 2
"""The last version of marshal's format in which equal data has equal bytes."""


def by_content(read: Callable[[Cursor], T]) -> Callable[[Cursor], T]:
    """Return a reader that gives one value for all equal data; `read` must use nothing but the data.

    `marshal` distinguishes values that Python considers equal: 1, 1.0 and True, and the order of keys. It cannot write a
    value that only running Terraform would determine.
    """
    known: dict[bytes, T] = {}

    @wraps(read)
    def remembered(at: Cursor) -> T:
        try:
            content = dumps(at.data, WITHOUT_REFERENCES)  # type: ignore[arg-type]
        except ValueError:
            return read(at)
        if content in known:
            return known[content]
        found = read(at)
        if len(known) < MOST and len(content) <= LARGEST:
            known[content] = found
        return found

    return remembered
