"""Quantities that are valid but unlikely (QC007), and those that the API server rewrites (QC008)."""

from __future__ import annotations

from functools import lru_cache

from qcheck.cluster.place import Place
from qcheck.cluster.problems import Problem, ProblemCode
from qcheck.cluster.quantity import QuantityError, parse_quantity
from qcheck.cluster.resources import is_accelerator
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.kinds.schema.catalogue import KUEUE
from qcheck.kinds.schema.failure import field_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.objects import ObjectId
    from qcheck.cluster.quantity import Quantity
    from qcheck.documents.cursor import Cursor
    from qcheck.kinds.schema.catalogue import Described
    from qcheck.kinds.schema.structure import Quantities, Route

MEBIBYTE = 2**20
QUOTAS = ("nominalQuota", "borrowingLimit", "lendingLimit")
_OF_NOTHING = ("weight", "divisor", "sizeLimit")
_SUB_UNITS = ("m", "u", "n")
_REWRITTEN_KUEUE = frozenset({("ClusterQueue", ""), ("Workload", ""), ("LocalQueue", "v1beta1"), ("Cohort", "v1beta1")})
"""Kinds of Kueue whose objects pass a mutating or a conversion webhook, which rewrites quantities."""
_BUILTIN = frozenset({"", "apps", "batch", "node.k8s.io"})

LONGEST_SHOWN = 40


class Remark(Value):
    """A remark about a quantity, the same wherever it is written."""

    code: ProblemCode
    message: str
    help: str
    data: dict[str, str]


def quantity_problems(root: Cursor, identity: ObjectId, found: Described) -> Iterator[Problem]:
    """Check all quantities of one object: quota for its holder's resource, other amounts for their key.

    The validator reports values that are not quantities, except for a hint at `K`.
    """
    is_rewritten = identity.group in _BUILTIN or (
        not {(identity.kind, ""), (identity.kind, identity.version)}.isdisjoint(_REWRITTEN_KUEUE)
        and identity.group == KUEUE
    )
    quantities: Quantities = []
    found.compiler.quantities(found.tree, root.data, (), None, quantities)
    for route, value, holder in quantities:
        is_quota = route[-1] in QUOTAS
        named = holder.get("name") if is_quota and isinstance(holder, dict) else str(route[-1])
        resource = named if isinstance(named, str) and named not in _OF_NOTHING else ""
        for remark in _remarks(resource, value, is_quota, is_rewritten) if isinstance(value, (str, int, float)) else ():
            yield _problem(root, identity, route, remark)


@lru_cache(4096, typed=True)
def _remarks(resource: str, value: str | float, is_quota: bool, is_rewritten: bool) -> tuple[Remark, ...]:
    """Return the remarks about a quantity. Cached, because thousands of objects repeat a few quantities."""
    try:
        quantity = parse_quantity(value)
    except QuantityError:
        return _doubts(_kilo(value), resource, value)
    doubts = _doubts(_suspicious(resource, quantity, is_quota), resource, value)
    return (*doubts, _rewritten(quantity)) if is_rewritten and quantity.text != quantity.canonical else doubts


def _doubts(doubt: str | None, resource: str, value: object) -> tuple[Remark, ...]:
    if doubt is None:
        return ()
    return (Remark(ProblemCode.QUANTITY_SUSPICIOUS, doubt, "", {"resource": resource, "value": str(value)}),)


def _kilo(text: object) -> str | None:
    if isinstance(text, str) and text.endswith("K") and text[:-1].replace(".", "", 1).isdigit():
        meant = f"{text[:-1]}k is {text[:-1]} thousand, {text[:-1]}Ki is {text[:-1]} x 1024"
        return f"{text} has the suffix K, which does not exist: {meant}"
    return None


def _suspicious(name: str, quantity: Quantity, is_quota: bool) -> str | None:
    text = quantity.text
    if _counts_bytes(name) and text.endswith(_SUB_UNITS):
        digits = text.rstrip("mun")
        return f"{text} of {name} is {_fraction(quantity)} bytes: m is a thousandth; {digits}Mi or {digits}M may be intended"
    if name == "memory" and is_quota and 0 < quantity.units < MEBIBYTE:
        return f"a memory quota of {text} is {quantity.units} bytes, less than 1Mi: is a suffix such as Gi missing?"
    if is_accelerator(name) and is_quota and not quantity.is_whole:
        return f"{text} of {name} is a fraction of a device: Kueue rounds it up to {quantity.units}"
    if (is_accelerator(name) or name in ("cpu", "pods")) and quantity.units >= 10**6:
        return f"{text} of {name} is {quantity.units:,}: is the suffix intended?"
    return None


def _counts_bytes(name: str) -> bool:
    return name in ("memory", "ephemeral-storage", "storage") or name.startswith("hugepages-")


def _fraction(quantity: Quantity) -> str:
    whole, rest = divmod(abs(quantity.nanos), 10**9)
    return f"{whole}.{rest:09}".rstrip("0").rstrip(".")


def _rewritten(quantity: Quantity) -> Remark:
    canonical = _short(quantity.canonical)
    return Remark(
        ProblemCode.QUANTITY_NOT_CANONICAL,
        f"the API server rewrites {quantity.text} to {canonical}",
        f"Write {canonical}.",
        {"value": quantity.text, "canonical": quantity.canonical},
    )


def _problem(root: Cursor, identity: ObjectId, route: Route, remark: Remark) -> Problem:
    return Problem(
        code=remark.code,
        place=Place(root.document, root.route + route),
        message=f"{field_path(route)}: {remark.message}",
        help=remark.help,
        object=identity,
        related=(),
        data=dict(remark.data),
    )


def _short(text: str) -> str:
    """Return a quantity, shortened to its first digits if it is very long."""
    return text if len(text) <= LONGEST_SHOWN else f"{text[:12]}... ({len(text)} characters)"
