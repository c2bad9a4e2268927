"""A second process for large inputs: it works in parallel and returns plain data.

A forked process has everything that was read so far, so that nothing need be sent to it. Where none can be forked safely
(another platform, one processor, other threads) there is none, and one that fails is ignored.
"""

from __future__ import annotations

import marshal
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    Plain = TypeVar("Plain")
    """Numbers, texts, lists and dicts of them: what `marshal` carries."""


def beside(work: Callable[[], Plain]) -> Callable[[], Plain | None]:
    """Begins `work` in a second process, and returns what waits for its answer: None if it has none to give."""
    if not _may_fork():
        return lambda: None
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        _answer(work, reader, writer)
    os.close(writer)

    def wait() -> Plain | None:
        with open(reader, "rb") as stream:
            said = stream.read()
        _, status = os.waitpid(child, 0)
        return marshal.loads(said) if status == 0 else None

    return wait


def _answer(work: Callable[[], Plain], reader: int, writer: int) -> None:
    """The life of the second process. It ends silently, whatever happens."""
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
