"""A resource of a plan, a state or a configuration, its values as Terraform evaluated them or as far as we can."""

from __future__ import annotations

from qcheck.model.value import TYPE_CHECKING, Value
from qcheck.nodepools.fields import Fields

if TYPE_CHECKING:
    from qcheck.documents.cursor import Cursor


class Resource(Value):
    """`values` is a cursor on its attributes; blocks are lists. `address` without the index of count and for_each."""

    type: str
    address: str
    values: Cursor
    hint: str = ""

    @property
    def fields(self) -> Fields:
        return Fields(self.values)

    @property
    def label(self) -> str:
        """The last part of the address: what the configuration calls it."""
        return self.address.rpartition(".")[2]
