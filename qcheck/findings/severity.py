"""Severities of findings."""

from __future__ import annotations

from enum import StrEnum


class Severity(StrEnum):
    """The severity of a finding; an error is a proof."""

    NOTE = "note"
    WARNING = "warning"
    ERROR = "error"


SEVERITIES = tuple(Severity)
"""All severities, the mildest first."""
