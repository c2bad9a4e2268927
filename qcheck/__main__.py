"""`qcheck` and `python -m qcheck`."""

from __future__ import annotations

import sys


def main() -> None:
    from qcheck.cli.front import run

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
