"""Node pools that a configuration creates only if a variable enables them, and that its default disables."""

from __future__ import annotations

from qcheck.cluster.place import Place
from qcheck.cluster.problems import Problem, ProblemCode
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.nodepools.terraform import modules
from qcheck.nodepools.terraform.pools import READERS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from qcheck.documents.terraform_json import Body
    from qcheck.nodepools.terraform.configuration import Module


def switched_off(module: Module, made: Collection[str]) -> Iterator[Problem]:
    """Yield a problem for pools that a variable's default disables if no tfvars file sets the variable."""
    if module.tfvars:
        return
    blocks = [(f"{kind}.{name}", block) for (kind, name), block in module.resources.items() if kind in READERS]
    blocks += [(f"module.{b.labels[0]}", b) for b in module.calls if modules.is_known(_source(b))]
    for address, block in blocks:
        if any(each == address or each.startswith((f"{address}-", f"{address}.")) for each in made):
            continue
        attributes = block.attributes()
        written = next(((n, str(attributes[n])) for n in ("count", "for_each") if n in attributes), None)
        if written is not None and "var." in written[1]:
            at = Place(*block.document(None))
            message = f"{address} (off by default: {written[0]} is {written[1]})"
            yield Problem(ProblemCode.NODES_ELSEWHERE, at, message, data={"address": address})


def _source(call: Body) -> str:
    return str(call.attributes().get("source", "")).strip('"')
