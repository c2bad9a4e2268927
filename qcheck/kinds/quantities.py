"""Quantities that parse but are hardly meant (QC007), and those that the API server rewrites (QC008)."""

from __future__ import annotations

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
"""Kinds of Kueue whose objects pass a mutating or a conversion webhook, which writes quantities anew."""
_BUILTIN = frozenset({"", "apps", "batch", "node.k8s.io"})

LONGEST_SHOWN = 40


class FoundQuantity(Value):
    """A quantity in an object: of which resource ("" if of none), and whether it is quota."""

    route: Route
    resource: str
    value: object
    is_quota: bool


def quantity_problems(root: Cursor, identity: ObjectId, found: Described) -> Iterator[Problem]:
    """Check all quantities of one object.

    The validator reports values that are not quantities, except for a hint at `K`.
    """
    is_rewritten = identity.group in _BUILTIN or (
        not {(identity.kind, ""), (identity.kind, identity.version)}.isdisjoint(_REWRITTEN_KUEUE)
        and identity.group == KUEUE
    )
    for each in _quantities(root.data, found):
        yield from _said(root, identity, each, is_rewritten)


def _quantities(data: object, described: Described) -> Iterator[FoundQuantity]:
    """Every quantity of an object. Quota is for the resource that its holder names, other amounts for their own key."""
    walk = described.compiler.quantities(described.tree)
    if walk is None:
        return
    found: Quantities = []
    walk(data, (), None, found)
    for route, value, holder in found:
        is_quota = route[-1] in QUOTAS
        named = holder.get("name") if is_quota and isinstance(holder, dict) else str(route[-1])
        resource = named if isinstance(named, str) and named not in _OF_NOTHING else ""
        yield FoundQuantity(route, resource, value, is_quota)


def _said(root: Cursor, identity: ObjectId, each: FoundQuantity, is_rewritten: bool) -> Iterator[Problem]:
    try:
        quantity = parse_quantity(each.value)
    except QuantityError:
        yield from _kilo(root, identity, each)
        return
    yield from _suspicious(root, identity, each, quantity)
    if is_rewritten and quantity.text != quantity.canonical:
        yield _rewritten(root, identity, each, quantity)


def _kilo(root: Cursor, identity: ObjectId, each: FoundQuantity) -> Iterator[Problem]:
    text = each.value
    if isinstance(text, str) and text.endswith("K") and text[:-1].replace(".", "", 1).isdigit():
        meant = f"{text[:-1]}k is {text[:-1]} thousand, {text[:-1]}Ki is {text[:-1]} x 1024"
        yield _problem(root, identity, each, f"{text} has the suffix K, which does not exist: {meant}")


def _suspicious(root: Cursor, identity: ObjectId, each: FoundQuantity, quantity: Quantity) -> Iterator[Problem]:
    name, text = each.resource, quantity.text
    if _counts_bytes(name) and text.endswith(_SUB_UNITS):
        digits = text.rstrip("mun")
        said = f"{text} of {name} is {_fraction(quantity)} bytes: m is a thousandth; {digits}Mi or {digits}M may be intended"
        yield _problem(root, identity, each, said)
    elif name == "memory" and each.is_quota and 0 < quantity.units < MEBIBYTE:
        said = f"a memory quota of {text} is {quantity.units} bytes, less than 1Mi: is a suffix such as Gi missing?"
        yield _problem(root, identity, each, said)
    elif is_accelerator(name) and each.is_quota and not quantity.is_whole:
        said = f"{text} of {name} is a fraction of a device: Kueue rounds it up to {quantity.units}"
        yield _problem(root, identity, each, said)
    elif (is_accelerator(name) or name in ("cpu", "pods")) and quantity.units >= 10**6:
        yield _problem(root, identity, each, f"{text} of {name} is {quantity.units:,}: is the suffix intended?")


def _counts_bytes(name: str) -> bool:
    return name in ("memory", "ephemeral-storage", "storage") or name.startswith("hugepages-")


def _fraction(quantity: Quantity) -> str:
    whole, rest = divmod(abs(quantity.nanos), 10**9)
    return f"{whole}.{rest:09}".rstrip("0").rstrip(".")


def _problem(root: Cursor, identity: ObjectId, each: FoundQuantity, said: str) -> Problem:
    return Problem(
        code=ProblemCode.QUANTITY_SUSPICIOUS,
        place=Place(root.document, root.route + each.route),
        message=f"{field_path(each.route)}: {said}",
        help="",
        object=identity,
        related=(),
        data={"resource": each.resource, "value": str(each.value)},
    )


def _rewritten(root: Cursor, identity: ObjectId, each: FoundQuantity, quantity: Quantity) -> Problem:
    return Problem(
        code=ProblemCode.QUANTITY_NOT_CANONICAL,
        place=Place(root.document, root.route + each.route),
        message=f"{field_path(each.route)}: the API server rewrites {quantity.text} to {_short(quantity.canonical)}",
        help=f"Write {_short(quantity.canonical)}.",
        object=identity,
        related=(),
        data={"value": quantity.text, "canonical": quantity.canonical},
    )


def _short(text: str) -> str:
    """A quantity of absurdly many digits by its first ones."""
    return text if len(text) <= LONGEST_SHOWN else f"{text[:12]}... ({len(text)} characters)"
