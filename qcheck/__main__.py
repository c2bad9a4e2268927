"""`qcheck` and `python -m qcheck`."""

from __future__ import annotations

import gc
import sys


def main() -> None:
    gc.disable()  # one short run whose documents and model live to its end: a collector would only walk them again and again
    from qcheck.cli.front import run

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
