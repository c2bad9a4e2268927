"""Node pools that a configuration creates only if a variable enables them, and that its default disables."""

from __future__ import annotations

import re

from qcheck.cluster.place import Place
from qcheck.cluster.problems import Problem, ProblemCode
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.documents.composed import Unresolved
from qcheck.documents.hcl import HclDocument
from qcheck.nodepools.figures import place
from qcheck.nodepools.terraform import modules
from qcheck.nodepools.terraform.configuration import DEEPEST
from qcheck.nodepools.terraform.pools import READERS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from qcheck.documents.cursor import Cursor
    from qcheck.documents.terraform_json import Body
    from qcheck.nodepools.terraform.configuration import Instance, Module
    from qcheck.nodepools.terraform.resource import Resource

STEPS = 50
"""The effort of examining a module, in steps of an evaluation."""
VARIABLE = re.compile(r"\bvar\.([\w-]+)")


def switched_off(root: Instance, resources: Sequence[Resource]) -> Iterator[Problem]:
    """Yield a problem for pools that a variable's default disables if no tfvars file sets the variable.

    Raises `TooMuch` if the modules are too many.
    """
    for resource in resources:
        if resource.type.startswith("module ") and modules.is_known(resource.type):
            yield from _entries(resource, bool(root.module.tfvars))
    if root.module.tfvars:
        return
    made = {resource.address for resource in resources}
    for address, block, written in _switched(root, root.module, "", frozenset(root.module.variables), 0):
        if not any(each == address or each.startswith((f"{address}-", f"{address}.")) for each in made):
            at = Place(*block.document(None))
            message = f"{address} (off by default: {written})"
            yield Problem(ProblemCode.NODES_ELSEWHERE, at, message, data={"address": address})


def _switched(
    root: Instance, module: Module, prefix: str, free: frozenset[str], depth: int
) -> Iterator[tuple[str, Body, str]]:
    """Yield each block of pools whose number depends on a variable in `free`: its address, the block, and the reason.

    `free` are the variables that the caller of a module sets.
    """
    blocks = [(f"{kind}.{name}", block) for (kind, name), block in module.resources.items() if kind in READERS]
    blocks += [(f"module.{b.labels[0]}", b) for b in module.calls if modules.is_known(_source(b))]
    for address, block in blocks:
        attributes = block.attributes()
        written = next(((n, str(attributes[n])) for n in ("count", "for_each") if n in attributes), None)
        if written is not None and _uses(written[1], free):
            yield prefix + address, block, f"{written[0]} is {written[1]}"
    for call in module.calls:
        inner = root.module_at(module, _source(call))
        if inner is None or depth >= DEEPEST:
            continue
        passed = frozenset(name for name, given in call.attributes().items() if _uses(str(given), free))
        if passed:
            root.effort.spend(STEPS)
            yield from _switched(root, inner, f"{prefix}module.{call.labels[0]}.", passed, depth + 1)


def _uses(written: str, variables: frozenset[str]) -> bool:
    return not variables.isdisjoint(VARIABLE.findall(written))


def _entries(resource: Resource, is_set: bool) -> Iterator[Problem]:
    """Yield a problem for each entry of a module's map of pools that may be created; `is_set`: there are tfvars files."""
    for field in modules.SWITCHED:
        for key, group in resource.values[field].mapping():
            why = None if modules.is_created(group) else _doubt(group["create"], is_set)
            if why is not None:
                address = f"{resource.address}.{field}.{key}"
                at, message = place(group["create"]), f"{address} ({why})"
                yield Problem(ProblemCode.NODES_ELSEWHERE, at, message, data={"address": address})


def _doubt(switch: Cursor, is_set: bool) -> str | None:
    """Return why a pool whose switch is not on may still be created; None if it is certainly off."""
    if isinstance(switch.data, Unresolved):
        return f"create is {switch.data.expression}"
    document = switch.document
    is_here = isinstance(document, HclDocument) and document.has(switch.route)
    written = document.written(switch.route) if is_here and isinstance(document, HclDocument) else ""
    if is_set or written == "false":
        return None
    return f"off by default: create is {written}" if written else "off by default"


def _source(call: Body) -> str:
    return str(call.attributes().get("source", "")).strip('"')
