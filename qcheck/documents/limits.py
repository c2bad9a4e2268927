"""Limits on the input. Exceeding one is a fault that names it, never a hang or a crash."""

from __future__ import annotations


class Limits:
    """Bounds on one file. The defaults keep memory under 1 GiB and are far above what repositories hold."""

    __slots__ = ("aliases", "bytes", "depth", "documents", "values")

    def __init__(
        self,
        bytes: int = 50_000_000,
        depth: int = 100,
        aliases: int = 1_000_000,
        documents: int = 50_000,
        values: int = 3_000_000,
    ) -> None:
        self.bytes = bytes
        """Size of a file in bytes."""
        self.depth = depth
        """Depth of nested mappings and sequences."""
        self.aliases = aliases
        """Values reached through aliases, each counted as often as it is reached."""
        self.documents = documents
        """Documents in a file, and items of a List."""
        self.values = values
        """Values in a file, by its line ends and commas."""


DEFAULT = Limits()
