"""Evaluates CEL rules of CustomResourceDefinitions in the inputs, if a CEL library (the extra `cel`) is installed."""

from __future__ import annotations

from importlib import import_module

from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.documents.cursor import as_mapping
from qcheck.kinds.schema.failure import Failure

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    Json = dict[str, Any]
    Route = tuple[str | int, ...]

NOT_INSTALLED = "no CEL library is installed (pip install 'kueue-qcheck[cel]')"
_LOOPS = (".all(", ".exists(", ".exists_one(", ".map(", ".filter(")


class CelRule(Value):
    """A rule on one object. Rules that compare with `oldSelf` apply to updates only."""

    expression: str
    message: str

    @property
    def compares(self) -> bool:
        return "oldSelf" in self.expression


class CelEvaluator:
    """Evaluates rules, each compiled once. `unfinished` contains those that exceed the iteration limit for some object."""

    def __init__(self) -> None:
        self._programs: dict[str, Any] = {}
        self.unfinished: set[str] = set()
        try:
            library: Any = import_module("cel_expr_python.cel")
        except ImportError:
            self._environment: Any = None
        else:
            self._environment = library.NewEnv(variables={"self": library.Type.DYN})

    def failures(self, schema: Json, data: object, route: Route = ()) -> Iterator[Failure]:
        """Yield the violations of a schema's rules. `data` includes the defaults."""
        for rule in rules(schema):
            if not rule.compares and not self._holds(rule, data):
                yield Failure(
                    "CEL", f"Invalid value: {rule.message or 'failed rule: ' + rule.expression}", reversed(route)
                )
        if isinstance(data, dict):
            properties, others = as_mapping(schema.get("properties")), schema.get("additionalProperties")
            for key, value in data.items():
                inner = properties.get(key, others)
                if isinstance(inner, dict):
                    yield from self.failures(inner, value, (*route, key))
        elif isinstance(data, list) and isinstance(schema.get("items"), dict):
            for at, value in enumerate(data):
                yield from self.failures(schema["items"], value, (*route, at))

    def _holds(self, rule: CelRule, data: object) -> bool:
        """Return whether a rule holds, or cannot be evaluated. A rule that ends in an error does not hold."""
        program = self._program(rule.expression)
        try:
            return program is None or program.eval(data={"self": data}).value() is True
        except RuntimeError:  # more iterations than the library permits
            self.unfinished.add(rule.expression)
            return True

    def _program(self, expression: str) -> Any:
        """Return a compiled rule; None without a library, or if the library cannot compile it."""
        if self._environment is None:
            return None
        if expression not in self._programs:
            try:
                self._programs[expression] = self._environment.compile(expression)
            except RuntimeError:
                self._programs[expression] = None
        return self._programs[expression]

    def unjudged(self, schema: Json) -> list[str]:
        """Return the reasons why rules of a schema cannot be evaluated; rules for updates are left to `diff`."""
        expressions = sorted({r.expression for r in _all_rules(schema) if not r.compares})
        if self._environment is None:
            return [NOT_INSTALLED] if expressions else []
        return [f"the library does not support all of {e!r}" for e in expressions if self._program(e) is None]


def has_loops(schema: Json) -> bool:
    """Return whether any rule iterates over a list or map."""
    return any(loop in rule.expression for rule in _all_rules(schema) for loop in _LOOPS)


def rules(schema: Json) -> list[CelRule]:
    """Return the rules at one place of a structural schema."""
    found = schema.get("x-kubernetes-validations")
    entries = found if isinstance(found, list) else []
    return [CelRule(str(e.get("rule", "")), str(e.get("message", ""))) for e in entries if isinstance(e, dict)]


def _all_rules(schema: Json) -> Iterator[CelRule]:
    yield from rules(schema)
    below = [*as_mapping(schema.get("properties")).values(), schema.get("items"), schema.get("additionalProperties")]
    for inner in below:
        if isinstance(inner, dict):
            yield from _all_rules(inner)
