"""Remembers valid values: an equal value is valid too.

Repositories repeat themselves: a thousand jobs have a few different pods. Only the absence of failures is remembered,
so it does not matter where an equal value is written. `marshal` distinguishes values that Python considers equal: 1,
1.0 and True, and the order of keys.
"""

from __future__ import annotations

from functools import wraps
from marshal import dumps

from qcheck.cluster.value import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Concatenate, ParamSpec

    from qcheck.documents.cursor import Cursor
    from qcheck.kinds.schema.failure import Failure

    P = ParamSpec("P")
    Check = Callable[Concatenate[Cursor, P], Iterable[Failure]]

MOST, LONGEST = 2000, 4000
"""The most values remembered for one check, and the most bytes of each."""
WITHOUT_REFERENCES = 2
"""The last version of marshal's format in which equal data has equal bytes."""


def remembered(part: Callable[[Cursor], object]) -> Callable[[Check[P]], Check[P]]:
    """Decorate a check that depends only on this `part` of the value and its other arguments, which are plain data."""

    def decorate(check: Check[P]) -> Check[P]:
        right: set[bytes] = set()

        @wraps(check)
        def ask(at: Cursor, /, *args: P.args, **kwargs: P.kwargs) -> Iterable[Failure]:
            try:
                key = dumps((part(at), args, kwargs), WITHOUT_REFERENCES)  # type: ignore[arg-type]
            except ValueError:  # a value that only running Terraform would determine
                return check(at, *args, **kwargs)
            if key in right:
                return ()
            failures = list(check(at, *args, **kwargs))
            if not failures and len(right) < MOST and len(key) <= LONGEST:
                right.add(key)
            return failures

        return ask

    return decorate
