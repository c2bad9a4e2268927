"""Evaluation of HCL expressions as far as literals, variables and pure functions go. Nothing is run or fetched.

Anything that depends on more is `Unresolved`, naming the innermost expression that causes it.
"""

from __future__ import annotations

import re
from fractions import Fraction

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.documents.composed import Unresolved
from qcheck.documents.hcl import Expression, parse_expression
from qcheck.nodepools.terraform.comprehensions import for_object, for_tuple
from qcheck.nodepools.terraform.functions import LONGEST_NUMBER, MOST, Failed, Fails, call, joined, text_of, whole
from qcheck.nodepools.terraform.heredoc import body_of, template_parts
from qcheck.nodepools.terraform.operators import OPERATORS, is_true, logic, member, pairs
from qcheck.nodepools.terraform.syntax_tree import attribute_name, parts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Protocol

    from qcheck.documents.hcl import Node
    from qcheck.nodepools.terraform.effort import Effort
    from qcheck.nodepools.terraform.evaluated import Evaluated

    class EvaluationScope(Protocol):
        """The names in scope, with their values."""

        @property
        def effort(self) -> Effort: ...

        def root(self, path: list[str], written: str) -> tuple[Evaluated, int]:
            """Return the value of the longest known prefix of a dotted path, and the number of its parts."""
            ...


ESCAPES = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\"}
ESCAPE = re.compile(r'\\([ntr"\\])')
WORDS = {"true": True, "false": False, "null": None}
QUICK = ("length", "lookup", "try", "element")
"""Functions that inspect little of their arguments."""


def evaluate(expression: Expression, scope: EvaluationScope, bound: dict[str, Evaluated] | None = None) -> Evaluated:
    """Return the value of an expression; `bound` are names that enclosing `for` and `dynamic` define.

    Raises `TooMuch`.
    """
    try:
        return _Evaluator(expression, scope, bound or {}).value(expression.tree)
    except RecursionError:
        return Unresolved(str(expression))
    except Fails:
        return Failed(str(expression))


class _Evaluator:
    def __init__(self, expression: Expression, scope: EvaluationScope, bound: dict[str, Evaluated]) -> None:
        self.text = expression.text
        self.scope = scope
        self.bound = bound

    def written(self, tree: Node) -> str:
        return str(Expression(tree, self.text))

    def value(self, tree: Node) -> Evaluated:
        self.scope.effort.spend()
        reader = _READERS.get(str(tree.data))
        found = reader(self, tree) if reader else Unresolved(self.written(tree))
        return Unresolved(self.written(tree)) if self.scope.effort.is_too_large(found) else found

    def term(self, tree: Node) -> Evaluated:
        inner = list(parts(tree))
        return self.value(inner[0]) if len(inner) == 1 else Unresolved(self.written(tree))

    def literal(self, tree: Node) -> Evaluated:
        return WORDS[str(tree.children[0])]

    def number(self, tree: Node) -> Evaluated:
        written = str(tree.children[0])
        exponent = written.lower().partition("e")[2].strip("+-")
        is_long = len(exponent) > 3 or len(written) > LONGEST_NUMBER
        return Unresolved(written) if is_long else whole(Fraction(written))

    def string(self, tree: Node) -> Evaluated:
        found = [self.piece(p) for p in parts(tree)]
        unknown = next((p for p in found if isinstance(p, Unresolved)), None)
        if unknown is not None:
            return unknown
        if len(found) == 1 and not isinstance(found[0], str):
            return found[0]
        if any(isinstance(p, (list, dict)) or p is None for p in found):
            return Failed(self.written(tree))
        return joined(map(text_of, found))

    def piece(self, tree: Node) -> Evaluated:
        """Return a part of a template: text, or the value of `${...}`."""
        inner = tree.children[0]
        if not isinstance(inner, str):
            return self.term(inner) if inner.data == "interpolation" else Unresolved(self.written(tree))
        if inner.startswith(("$${", "%%{")):
            return str(inner[1:])
        return ESCAPE.sub(lambda m: ESCAPES[m[1]], str(inner))

    def heredoc(self, tree: Node) -> Evaluated:
        pieces = template_parts(body_of(str(tree.children[0])))
        if len(pieces) > 2 * MOST:
            return Unresolved(self.written(tree))
        found = [self.gap(text) if is_gap else text for text, is_gap in pieces]
        unknown = next((p for p in found if isinstance(p, Unresolved)), None)
        return joined(map(text_of, found)) if unknown is None else unknown

    def gap(self, written: str) -> Evaluated:
        """Return the value of an interpolation inside a heredoc."""
        expression = parse_expression(written)
        return Unresolved(written) if expression is None else evaluate(expression, self.scope, self.bound)

    def conditional(self, tree: Node) -> Evaluated:
        test, yes, no = parts(tree)
        holds = self.value(test)
        if isinstance(holds, Unresolved):
            left, right = self.value(yes), self.value(no)
            return left if not isinstance(left, Unresolved) and left == right else holds
        return self.value(yes if is_true(holds) else no)

    def binary(self, tree: Node) -> Evaluated:
        left_tree, right = parts(tree)
        operator_tree, right_tree = parts(right)
        operator = str(operator_tree.children[0])
        left, right_value = self.value(left_tree), self.value(right_tree)
        if operator in ("&&", "||"):
            return logic(operator, left, right_value)
        for each in (left, right_value):
            if isinstance(each, Unresolved):
                return each
        self.scope.effort.spend_on(left, right_value)
        try:
            return OPERATORS[operator](left, right_value)
        except Exception:  # noqa: BLE001  (whatever is wrong with the operands, Terraform refuses them too)
            return Failed(self.written(tree))

    def unary(self, tree: Node) -> Evaluated:
        value = self.term(tree)
        if isinstance(value, Unresolved):
            return value
        if str(tree.children[0]) == "!":
            return not is_true(value)
        return -value if isinstance(value, (int, Fraction)) else Failed(self.written(tree))

    def items(self, tree: Node) -> Evaluated:
        return [self.value(p) for p in parts(tree)]

    def mapping(self, tree: Node) -> Evaluated:
        made: dict[str, Evaluated] = {}
        for each in parts(tree):
            key_tree, value_tree = parts(each)
            key = self.key(key_tree)
            if isinstance(key, Unresolved):
                return key
            made[text_of(key)] = self.value(value_tree)
        return made

    def key(self, tree: Node) -> Evaluated:
        """Return a map key: a bare word is itself; an expression in parentheses or quotes is evaluated."""
        inner = next(parts(tree))
        if inner.data == "keyword":
            return str(inner.children[0])
        if inner.data == "expr_term":
            alone = list(parts(inner))
            if len(alone) == 1 and alone[0].data == "identifier" and len(inner.children) == 1:
                return str(alone[0].children[0])
        return self.value(inner)

    def function(self, tree: Node) -> Evaluated:
        name = str(next(parts(tree)).children[0])
        arguments = next((p for p in parts(tree) if p.data == "arguments"), None)
        given = [self.value(p) for p in parts(arguments)] if arguments is not None else []
        spread = arguments is not None and any(str(c) == "..." for c in arguments.children if isinstance(c, str))
        if spread and given:
            last = given.pop()
            if isinstance(last, Unresolved):
                return last
            given += last if isinstance(last, list) else []
        if name not in QUICK:
            self.scope.effort.spend_on(*given)
        return call(name, given, self.written(tree))

    def traversal(self, tree: Node) -> Evaluated:
        """Return the value of a path such as `var.pools["gpu"].count` or `each.value`."""
        chain: list[Node] = []
        while tree.data in ("get_attr_expr_term", "index_expr_term") or (
            tree.data == "expr_term" and len(tree.children) == 1
        ):
            inner = list(parts(tree))
            if tree.data != "expr_term":
                chain.append(inner[1])
            tree = inner[0]
        chain.reverse()
        if tree.data == "identifier":
            return self.named(str(tree.children[0]), chain)
        return self.walk(self.value(tree), chain)

    def named(self, first: str, chain: list[Node]) -> Evaluated:
        if first in self.bound:
            return self.walk(self.bound[first], chain)
        path = [first]
        for each in chain:
            if each.data != "get_attr":
                break
            path.append(attribute_name(each))
        value, used = self.scope.root(path, ".".join(path))
        return self.walk(value, chain[used - 1 :])

    def walk(self, value: Evaluated, chain: list[Node]) -> Evaluated:
        for each in chain:
            if isinstance(value, Unresolved):
                return value
            step = attribute_name(each) if each.data == "get_attr" else self.index(each)
            if isinstance(step, Unresolved):
                return step
            value = member(value, step, self.written(each))
        return value

    def index(self, tree: Node) -> Evaluated:
        if tree.data == "short_index":
            written = str(tree.children[-1])
            return Unresolved(written) if len(written) > LONGEST_NUMBER else int(written)
        return self.term(tree)

    def splat(self, tree: Node) -> Evaluated:
        base, rest = parts(tree)
        values = self.value(base)
        if isinstance(values, Unresolved):
            return values
        many = values if isinstance(values, list) else [] if values is None else [values]
        return [self.walk(v, list(parts(rest))) for v in many]

    def rounds(self, names: list[str], source: Evaluated) -> Iterator[_Evaluator]:
        for key, value in pairs(source)[:MOST]:
            names_bound: dict[str, Evaluated] = {names[-1]: value}
            if len(names) == 2:
                names_bound[names[0]] = key
            inner = _Evaluator.__new__(_Evaluator)
            inner.text, inner.scope, inner.bound = self.text, self.scope, {**self.bound, **names_bound}
            yield inner


_READERS: dict[str, Callable[[_Evaluator, Node], Evaluated]] = {
    "expr_term": _Evaluator.term,
    "literal_value": _Evaluator.literal,
    "int_lit": _Evaluator.number,
    "float_lit": _Evaluator.number,
    "string": _Evaluator.string,
    "heredoc_template": _Evaluator.heredoc,
    "heredoc_template_trim": _Evaluator.heredoc,
    "conditional": _Evaluator.conditional,
    "binary_op": _Evaluator.binary,
    "unary_op": _Evaluator.unary,
    "tuple": _Evaluator.items,
    "object": _Evaluator.mapping,
    "function_call": _Evaluator.function,
    "identifier": _Evaluator.traversal,
    "get_attr_expr_term": _Evaluator.traversal,
    "index_expr_term": _Evaluator.traversal,
    "attr_splat_expr_term": _Evaluator.splat,
    "full_splat_expr_term": _Evaluator.splat,
    "for_tuple_expr": for_tuple,
    "for_object_expr": for_object,
}
