"""A resource of a plan, a state or a configuration, with its evaluated values as far as they are known."""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.nodepools.cloud_fields import Fields

if TYPE_CHECKING:
    from qcheck.documents.cursor import Cursor
    from qcheck.nodepools.figures import Doubt


class Resource(Value):
    """`values` is a cursor on its attributes; blocks are lists. An index of count or for_each is a suffix of `address`.

    `doubt`: why the number of instances is unknown.
    """

    type: str
    address: str
    values: Cursor
    hint: str = ""
    doubt: Doubt | None = None

    @property
    def fields(self) -> Fields:
        return Fields(self.values)

    @property
    def label(self) -> str:
        """The last part of the address: the resource's name in the configuration."""
        return self.address.rpartition(".")[2]
