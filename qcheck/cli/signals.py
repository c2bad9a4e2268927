"""Removal of unfinished files when a signal ends the run. (Ctrl-C already raises an exception.)"""

from __future__ import annotations

COULD_NOT_JUDGE = 2
INTERRUPTED, TERMINATED = 130, 143


class Terminated(BaseException):
    """A signal asked the process to end."""


def end_tidily() -> None:
    """Make SIGTERM and SIGHUP raise an exception, which also ends the programs that the run started.

    For runs that write files or start programs.
    """
    import signal  # 0.4 ms
    import threading  # 0.6 ms

    def terminate(*_: object) -> None:
        raise Terminated

    if threading.current_thread() is threading.main_thread():
        for name in ("SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) is not signal.SIG_IGN:  # ignored under nohup
                signal.signal(number, terminate)
