"""`qcheck` and `python -m qcheck`."""

from __future__ import annotations

import gc
import sys


def main() -> None:
    gc.disable()  # one short run whose documents and model live to its end: a collector would only walk them again and again
    try:
        from qcheck.cli.entrypoint import run  # the guard is for a Ctrl-C while this is imported
    except KeyboardInterrupt:
        sys.exit(130)
    try:
        code = run(sys.argv[1:])
    except KeyboardInterrupt:  # a second one, while the first was being dealt with
        code = 130
    gc.freeze()  # nor is what is left worth the walk that the interpreter makes when it ends
    sys.exit(code)


if __name__ == "__main__":
    main()
