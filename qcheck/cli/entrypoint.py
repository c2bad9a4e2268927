"""Entry point: a plain `check` starts here without Typer, and every error ends here as a message.

Importing Typer takes longer than checking thirty files. So `check` is recognised here, and `check_options.py` reads its
flags; help, completion, mistakes and all other commands go to the Typer app, which is built from the same table.
"""

from __future__ import annotations

import os
import sys

from qcheck.cli.check_options import parse_plainly
from qcheck.cli.output import UsageError
from qcheck.cli.signals import COULD_NOT_JUDGE, INTERRUPTED, TERMINATED, Terminated
from qcheck.cli.terminal import PROGRESS, complain
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.settings import SettingsError

if TYPE_CHECKING:
    from collections.abc import Sequence


def run(words: Sequence[str]) -> int:
    """Run a command line and return its exit code. Only a bug in this module can cause a traceback."""
    try:
        return _dispatch(words)
    except UsageError as error:
        complain(str(error), error.hint)
    except SettingsError as error:
        complain(str(error), error.hint)
    except KeyboardInterrupt:
        PROGRESS.erase()
        return INTERRUPTED
    except Terminated:
        PROGRESS.erase()
        return TERMINATED
    except Exception as error:  # noqa: BLE001  (a person reads this: no traceback)
        complain(_unexpected(error), "This is a bug in qcheck: please report it with the input that causes it.")
    return COULD_NOT_JUDGE


def _dispatch(words: Sequence[str]) -> int:
    if words and words[0] == "check" and "_QCHECK_COMPLETE" not in os.environ:
        options = parse_plainly(words[1:])
        if options is not None:
            from qcheck.cli.check import check  # 15 ms, which other commands do not need

            return check(options)
    from qcheck.cli.app import main  # 25 ms

    return main(words)


def _unexpected(error: Exception) -> str:
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    where = ""
    if frame is not None:
        code = frame.tb_frame.f_code
        where = f" ({os.path.basename(code.co_filename)}:{frame.tb_lineno}, in {code.co_name})"
    return f"unexpected {type(error).__name__}: {error}{where}, with Python {sys.version.split()[0]}"
