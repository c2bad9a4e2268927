"""Questions that users write in files, and their faults."""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING

if TYPE_CHECKING:
    from qcheck.cluster.place import Place


class QuestionError(Exception):
    """A question that cannot be answered; each fault is a message, with its `file:line` if it has one."""

    def __init__(self, faults: list[str]) -> None:
        super().__init__("\n".join(faults))
        self.faults = faults


def fault(place: Place, message: str) -> str:
    """Return a message that begins with its `file:line`."""
    line, *_ = place.origin.span(place.route)
    return f"{place.origin.path}:{line}: {message}"
