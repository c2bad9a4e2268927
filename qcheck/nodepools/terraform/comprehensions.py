"""The two kinds of `for` of HCL: those that make a list, and those that make a map."""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.documents.composed import Unresolved
from qcheck.nodepools.terraform.functions import text_of
from qcheck.nodepools.terraform.operators import is_true
from qcheck.nodepools.terraform.syntax_tree import parts

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Protocol

    from qcheck.documents.hcl import Node
    from qcheck.nodepools.terraform.evaluated import Evaluated

    class Evaluator(Protocol):
        """Evaluates expressions in one scope."""

        def value(self, tree: Node) -> Evaluated: ...

        def rounds(self, names: list[str], source: Evaluated) -> Iterator[Evaluator]:
            """Yield an evaluator for each element of `source`, in whose scope `names` are bound."""
            ...


def for_tuple(evaluator: Evaluator, tree: Node) -> Evaluated:
    """Return the list of `[for ...]`."""
    names, source, inner, condition = _comprehension(evaluator, tree)
    if isinstance(source, Unresolved):
        return source
    made: list[Evaluated] = []
    for scope in evaluator.rounds(names, source):
        keeps = True if condition is None else scope.value(condition)
        if isinstance(keeps, Unresolved):
            return keeps
        if is_true(keeps):
            made.append(scope.value(inner[0]))
    return made


def for_object(evaluator: Evaluator, tree: Node) -> Evaluated:
    """Return the map of `{for ...}`; with `...` the values of equal keys are grouped."""
    names, source, inner, condition = _comprehension(evaluator, tree)
    if isinstance(source, Unresolved):
        return source
    grouped = any(str(c) == "..." for c in tree.children if isinstance(c, str))
    made: dict[str, Evaluated] = {}
    for scope in evaluator.rounds(names, source):
        keeps = True if condition is None else scope.value(condition)
        key = scope.value(inner[0]) if is_true(keeps) else None
        if isinstance(keeps, Unresolved) or isinstance(key, Unresolved):
            return keeps if isinstance(keeps, Unresolved) else key
        if is_true(keeps):
            value = scope.value(inner[1])
            before = made.get(text_of(key))
            made[text_of(key)] = ([*before, value] if isinstance(before, list) else [value]) if grouped else value
    return made


def _comprehension(evaluator: Evaluator, tree: Node) -> tuple[list[str], Evaluated, list[Node], Node | None]:
    """Return names, source, result expressions, and condition of a `for`."""
    intro, *rest = parts(tree)
    *names, source = parts(intro)
    condition = next((p for p in rest if p.data == "for_cond"), None)
    inner = [p for p in rest if p.data != "for_cond"]
    words = [str(n.children[0]) for n in names]
    return words, evaluator.value(source), inner, next(parts(condition)) if condition is not None else None
