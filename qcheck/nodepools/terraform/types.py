"""Type constraints of variables as far as they define values: `optional(number, 1)` in an object supplies a default."""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.documents.hcl import Expression
from qcheck.nodepools.terraform.evaluate import evaluate
from qcheck.nodepools.terraform.syntax_tree import parts

if TYPE_CHECKING:
    from qcheck.documents.hcl import Node
    from qcheck.nodepools.terraform.evaluate import EvaluationScope
    from qcheck.nodepools.terraform.evaluated import Evaluated

MANY = ("map", "list", "set")


def with_defaults(value: Evaluated, kind: Expression, scope: EvaluationScope) -> Evaluated:
    """Return the value with the defaults of its type's optional attributes; without a default they are null.

    Raises `TooMuch`.
    """
    return _filled(value, kind.tree, kind, scope)


def _filled(value: Evaluated, tree: Node, kind: Expression, scope: EvaluationScope) -> Evaluated:
    name, arguments = _call(tree)
    if name == "optional" and arguments:
        return _filled(value, arguments[0], kind, scope)
    if name in MANY and arguments:
        scope.effort.spend_on(value)
        if isinstance(value, dict):
            return {k: _filled(v, arguments[0], kind, scope) for k, v in value.items()}
        if isinstance(value, list):
            return [_filled(v, arguments[0], kind, scope) for v in value]
    if name == "object" and arguments and isinstance(value, dict):
        return _object(value, arguments[0], kind, scope)
    return value


def _object(value: dict[str, Evaluated], tree: Node, kind: Expression, scope: EvaluationScope) -> Evaluated:
    scope.effort.spend(1 + len(value))
    made = dict(value)
    for field, inner in _fields(tree):
        name, arguments = _call(inner)
        if made.get(field) is None and name == "optional":
            default = evaluate(Expression(arguments[1], kind.text), scope) if len(arguments) > 1 else None
            made[field] = default
        if made.get(field) is not None:
            made[field] = _filled(made[field], inner, kind, scope)
    return made


def _call(tree: Node) -> tuple[str, list[Node]]:
    """Return name and arguments of `map(...)`; an empty name for anything else."""
    while tree.data == "expr_term" and len(inner := list(parts(tree))) == 1:
        tree = inner[0]
    if tree.data != "function_call":
        return "", []
    name, *more = parts(tree)
    return str(name.children[0]), list(parts(more[0])) if more else []


def _fields(tree: Node) -> list[tuple[str, Node]]:
    while tree.data == "expr_term" and len(inner := list(parts(tree))) == 1:
        tree = inner[0]
    if tree.data != "object":
        return []
    found = []
    for each in parts(tree):
        key, value = parts(each)
        while not isinstance(key.children[0], str):
            key = key.children[0]
        found.append((str(key.children[0]), value))
    return found
