"""The project's own node-pool format: `apiVersion: qcheck.dev/v1`, `kind: NodePool`."""

from __future__ import annotations

from qcheck.documents.cursor import Cursor, root
from qcheck.model.labels import Taint
from qcheck.model.nodes import DECLARED, Machine, NodePool
from qcheck.model.place import Place
from qcheck.model.quantity import amount, parse_quantity
from qcheck.model.value import TYPE_CHECKING

if TYPE_CHECKING:
    from qcheck.documents.document import Document


def is_own(document: Document) -> bool:
    return root(document)["apiVersion"].text() == "qcheck.dev/v1"


def read(document: Document) -> NodePool:
    spec = root(document)["spec"]
    count = spec["count"]
    fixed = count.integer()
    allocatable = {k: amount(k, parse_quantity(c.data)) for k, c in spec["allocatable"].mapping()}
    machine = Machine(
        spec["instanceType"].text(),
        allocatable,
        dict.fromkeys(allocatable, DECLARED),
        model=spec["accelerator"]["model"].text(),
        nvlink_domain=spec["accelerator"]["nvlinkDomain"].integer(),
    )
    return NodePool(
        name=root(document)["metadata"]["name"].text() or "",
        format="qcheck.dev/v1 NodePool",
        place=Place(document),
        count_place=Place(document, count.route),
        minimum=fixed if fixed is not None else count["min"].integer() or 0,
        desired=fixed if fixed is not None else count["desired"].integer(),
        maximum=fixed if fixed is not None else count["max"].integer(),
        machines=(machine,),
        labels={k: t for k, c in spec["labels"].mapping() if (t := c.text()) is not None},
        taints=tuple(_taint(t) for t in spec["taints"].items()),
        varying={"kubernetes.io/hostname": ()},
    )


def _taint(at: Cursor) -> Taint:
    return Taint(at["key"].text() or "", at["value"].text() or "", at["effect"].text() or "")
