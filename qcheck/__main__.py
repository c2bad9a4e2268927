"""`qcheck` and `python -m qcheck`."""

from __future__ import annotations

import gc
import sys


def main() -> None:
    gc.disable()  # the run is short and its objects live until the end, so collecting garbage is useless
    try:
        from qcheck.cli.entrypoint import run  # guarded, because Ctrl-C may arrive during this import
    except KeyboardInterrupt:
        sys.exit(130)
    try:
        code = run(sys.argv[1:])
    except KeyboardInterrupt:  # a second Ctrl-C, while the first was being handled
        code = 130
    gc.freeze()  # spares the interpreter its final collection as well
    sys.exit(code)


if __name__ == "__main__":
    main()
