"""Names that were probably meant."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def closest(word: str, names: Mapping[str, object] | list[str] | tuple[str, ...]) -> str | None:
    """The name that was probably meant, whatever its case."""
    import difflib

    by_lower = {name.lower(): name for name in names}
    hits = difflib.get_close_matches(word.lower(), by_lower, n=1, cutoff=0.7)
    return by_lower[hits[0]] if hits else None
