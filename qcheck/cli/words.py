"""Names in the values of options, separated by commas."""

from __future__ import annotations

from qcheck.cli.output import UsageError
from qcheck.cluster.value import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def words(texts: Iterable[str], option: str) -> tuple[str, ...]:
    """Split `--select QC1,QC2 --select QC305` into three words. Raises `UsageError` for a text that has none."""
    split = [[word for word in text.split(",") if word.strip()] for text in texts]
    if not all(split):
        raise UsageError(f"{option} lists no names", "Give a name, or omit the option.")
    return tuple(word for each in split for word in each)
