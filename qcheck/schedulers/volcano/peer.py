"""Volcano's functions for the table of schedulers."""

from __future__ import annotations

from qcheck.schedulers.volcano.quota_tree import queue_of, quota_tree, workload_shapes
from qcheck.schedulers.volcano.start_decision import decide

__all__ = ["decide", "queue_of", "quota_tree", "workload_shapes"]
