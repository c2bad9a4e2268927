"""The project's own node-pool format, so that a misspelt field is as loud there as in an object of Kueue.

What labels and values of taints are is left open: the reader takes an unquoted `true` for the text that was meant. The
count, a number or a range, is judged in `refusals/own.py`.
"""

from __future__ import annotations

KINDS: dict[tuple[str, str], tuple[tuple[str, ...], str]] = {
    ("qcheck.dev", "NodePool"): (
        ("v1",),
        """
spec! NP-S01
  count! any
  instanceType string
  labels {..} any
  taints [..]
    key! string
    value any
    effect! NoSchedule|PreferNoSchedule|NoExecute
  allocatable {..} quantity
  accelerator
    model string
    nvlinkDomain int32 min:1
  topology [..]
    level! string
    domains int32 min:1
    nodesPerDomain int32 min:1
""",
    ),
}
