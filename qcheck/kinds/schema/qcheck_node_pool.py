"""The project's own node-pool format, so that a misspelled field is reported as in an object of Kueue.

`make docs` generates `own.txt` from the models in `nodepools/schema.py`. `validation/qcheck_node_pool.py` checks the
count, a number or a range.
"""

from __future__ import annotations

import os

DESCRIPTION = os.path.join(os.path.dirname(__file__), "own.txt")

with open(DESCRIPTION, encoding="utf-8") as _file:
    KINDS: dict[tuple[str, str], tuple[tuple[str, ...], str]] = {("qcheck.dev", "NodePool"): (("v1",), _file.read())}
