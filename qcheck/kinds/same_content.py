"""A cache of the values read from equal parts of documents, because thousands of objects often have few distinct parts."""

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
"""The maximum number of cached values of one kind, and the maximum size of their input in bytes."""
WITHOUT_REFERENCES = 2
"""The last version of the marshal format in which equal data has equal bytes."""


def by_content(read: Callable[[Cursor], T]) -> Callable[[Cursor], T]:
    """Return a reader that returns the same value for equal data; `read` must depend only on the data.

    `marshal` distinguishes values that Python considers equal: 1, 1.0 and True, and the order of keys. It cannot
    encode a value that is known only to Terraform.
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
