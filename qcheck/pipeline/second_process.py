"""A second process for large inputs: it works in parallel and returns plain data.

A forked process has everything that was read so far, so nothing has to be sent to it. If it cannot be forked safely
(another platform, one processor, other threads), there is none; if it fails, it is ignored.
"""

from __future__ import annotations

import marshal
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeVar

    Mine = TypeVar("Mine")
    Plain = TypeVar("Plain")
    """Numbers, texts, and lists and dicts of them: the types that `marshal` can transfer."""


PORTIONS = 100
"""The number of parts into which shared work is divided; at most 256."""


def beside(work: Callable[[], Plain]) -> Callable[[], Plain | None]:
    """Begin `work` in a second process, and return a function that waits for its answer: None if it has none."""
    if not _may_fork():
        return lambda: None
    reader, writer = os.pipe()
    try:
        child = os.fork()
    except OSError:  # no more processes are allowed
        os.close(reader)
        os.close(writer)
        return lambda: None
    if child == 0:
        _answer(work, reader, writer)
    os.close(writer)

    def wait() -> Plain | None:
        with open(reader, "rb") as stream:
            answer = stream.read()
        _, status = os.waitpid(child, 0)
        return marshal.loads(answer) if status == 0 else None

    return wait


def shared(
    here: Callable[[int], Mine], there: Callable[[int], Plain]
) -> Callable[[], tuple[dict[int, Mine], dict[int, Plain]]]:
    """Begin `PORTIONS` of work in a second process, and return a function that joins in and waits for the rest.

    Each process takes the next portion when it has finished one: their numbers are the bytes of a pipe. The answers come by
    portion: those of `here`, which also does what the second process leaves undone, and those of `there`.
    """
    reader, writer = os.pipe()
    os.write(writer, bytes(range(PORTIONS)))
    os.close(writer)
    begun = beside(lambda: {at: there(at) for at in _taken(reader)})

    def finish() -> tuple[dict[int, Mine], dict[int, Plain]]:
        mine = {at: here(at) for at in _taken(reader)}
        os.close(reader)
        theirs = begun() or {}
        mine |= {at: here(at) for at in range(PORTIONS) if at not in mine and at not in theirs}
        return mine, theirs

    return finish


def _taken(reader: int) -> Iterator[int]:
    while portion := os.read(reader, 1):
        yield portion[0]


def _answer(work: Callable[[], Plain], reader: int, writer: int) -> None:
    """Run the second process, which ends silently in every case."""
    status = 1
    try:
        os.close(reader)
        with open(writer, "wb") as stream:
            marshal.dump(work(), stream)  # type: ignore[arg-type]
        status = 0
    finally:
        os._exit(status)


def _may_fork() -> bool:
    threads = sys.modules.get("threading")
    return (
        sys.platform == "linux"
        and len(os.sched_getaffinity(0)) > 1
        and (threads is None or threads.active_count() == 1)
    )
