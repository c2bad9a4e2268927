"""The fields of a cloud API's object under common names, however a tool spells and nests them.

Terraform writes `node_config { machine_type }` and shows blocks as one-item lists in plans; Config Connector and
Crossplane write `nodeConfig: {machineType}`.
"""

from __future__ import annotations

from qcheck.cluster.value import Value
from qcheck.documents.cursor import Cursor


class Fields(Value):
    """Access to fields: `fields["machine_type"]` is a cursor; a block may be an object or the only item of a list."""

    at: Cursor
    camel: bool = False

    def __getitem__(self, name: str) -> Cursor:
        return self.at[camel_case(name) if self.camel else name]

    def block(self, name: str) -> Fields:
        inner = self[name]
        return Fields(inner[0] if isinstance(inner.data, list) else inner, self.camel)

    def blocks(self, name: str) -> list[Fields]:
        inner = self[name]
        if isinstance(inner.data, dict):
            return [Fields(inner, self.camel)]
        return [Fields(each, self.camel) for each in inner.items()]

    @property
    def exists(self) -> bool:
        return self.at.exists


def camel_case(name: str) -> str:
    """Return `min_node_count` as `minNodeCount`."""
    first, *more = name.split("_")
    return first + "".join(word.capitalize() for word in more)
