"""Programs that end with the block in which they run, even if a signal ends it while they start."""

from __future__ import annotations

import os
import signal
import threading
from contextlib import contextmanager

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator
    from typing import Any, TypeVar

    T = TypeVar("T", str, bytes)

ENDS = ("SIGINT", "SIGTERM", "SIGHUP")


@contextmanager
def started(start: Callable[[], subprocess.Popen[T]]) -> Iterator[subprocess.Popen[T]]:
    """Run what `start` starts, and kill it if the block raises.

    A signal whose handler raises would lose the program between its start and the return of `Popen`. Such a signal
    therefore waits until the program can be killed.
    """
    waiting: list[int] = []
    handlers = _handlers()
    for number in handlers:
        signal.signal(number, lambda number, _: waiting.append(number))
    process = None
    try:
        try:
            process = start()
        finally:
            _restore(handlers)
            for number in waiting:
                signal.raise_signal(number)
        yield process
    except BaseException:
        if process is not None:
            kill(process)
        raise
    finally:
        _restore(handlers)
        if process is not None:
            process.__exit__(None, None, None)


def kill(process: subprocess.Popen[Any]) -> None:
    """Kill a program and, if it leads a session of its own, everything that it started."""
    if process.poll() is None:
        if hasattr(os, "killpg") and os.getpgid(process.pid) == process.pid:
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.wait()


def _handlers() -> dict[int, Any]:
    """Return the handlers written in Python of signals that end a run; only the main thread may replace them."""
    if threading.current_thread() is not threading.main_thread():
        return {}
    numbers = [number for name in ENDS if (number := getattr(signal, name, None)) is not None]
    return {number: handler for number in numbers if callable(handler := signal.getsignal(number))}


def _restore(handlers: dict[int, Any]) -> None:
    for number, handler in handlers.items():
        signal.signal(number, handler)
