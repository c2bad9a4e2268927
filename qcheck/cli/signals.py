"""Termination of a run by a signal: unfinished files are removed. (Ctrl-C is an exception by itself.)"""

from __future__ import annotations

COULD_NOT_JUDGE = 2
INTERRUPTED, TERMINATED = 130, 143


class Terminated(BaseException):
    """The process was asked to end."""


def end_tidily() -> None:
    """From here on, SIGTERM and the end of the terminal raise an exception, which also ends the programs that the run
    started. For runs that write files or start programs.
    """
    import signal  # 0.4 ms
    import threading  # 0.6 ms

    def terminate(*_: object) -> None:
        raise Terminated

    if threading.current_thread() is threading.main_thread():
        for name in ("SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) is not signal.SIG_IGN:  # as under nohup
                signal.signal(number, terminate)
