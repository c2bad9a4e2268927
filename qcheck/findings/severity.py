"""How bad findings are."""

from __future__ import annotations

from enum import StrEnum


class Severity(StrEnum):
    """How bad a finding is; an error is a proof."""

    NOTE = "note"
    WARNING = "warning"
    ERROR = "error"


SEVERITIES = tuple(Severity)
"""The mildest first."""
