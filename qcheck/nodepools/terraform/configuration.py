"""Terraform configurations: directories of `.tf` and `.tf.json` files as modules, with variables, locals and resources.

A variable's value comes from the calling module, else from tfvars files (`variables.py`), else from its default. A
variable without any of these is unknown, never empty.
"""

from __future__ import annotations

import posixpath

from qcheck.cluster.place import Place
from qcheck.cluster.problems import Problem, ProblemCode
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.documents.composed import Unresolved
from qcheck.documents.cursor import Cursor
from qcheck.documents.terraform_json import Body
from qcheck.nodepools.figures import Doubt
from qcheck.nodepools.terraform.effort import MOST_STEPS, Effort
from qcheck.nodepools.terraform.evaluate import evaluate
from qcheck.nodepools.terraform.operators import pairs
from qcheck.nodepools.terraform.resource import Resource
from qcheck.nodepools.terraform.types import with_defaults
from qcheck.nodepools.terraform.variables import choices

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.documents.hcl import Expression
    from qcheck.nodepools.terraform.evaluated import Evaluated

HINT = "add the plan as JSON (`terraform show -json`) to the paths: it contains the resolved value"
META = frozenset({"count", "for_each", "provider", "providers", "lifecycle", "depends_on", "source", "version"})
MOST_INSTANCES = 1024
DEEPEST = 8
"""The maximum nesting of modules."""


class Module:
    """A directory's files, parsed. `given` are the values that a caller passes."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.variables: dict[str, Body] = {}
        self.locals: dict[str, Expression] = {}
        self.resources: dict[tuple[str, str], Body] = {}
        self.calls: list[Body] = []
        self.tfvars: dict[str, Body] = {}

    def add(self, body: Body) -> None:
        for block in body.blocks():
            match block.type, block.labels:
                case "variable", (name,):
                    self.variables[name] = block
                case "locals", ():
                    self.locals |= block.attributes()
                case "resource", (kind, name):
                    self.resources[kind, name] = block
                case "module", (_,):
                    self.calls.append(block)


class Instance:
    """A module as called by one caller (or as a root): the scope of its expressions."""

    def __init__(
        self,
        module: Module,
        given: dict[str, Evaluated] | None,
        modules: dict[str, Module],
        depth: int,
        effort: Effort,
    ) -> None:
        self.effort = effort
        self.module = module
        self.given = given
        self.modules = modules
        self.depth = depth
        self._choices = choices(module.folder, module.tfvars) if given is None else {}
        self._known: dict[str, Evaluated] = {}
        self._busy: set[str] = set()

    def root(self, path: list[str], written: str) -> tuple[Evaluated, int]:
        """Return the value of `var.x`, `local.x` or `type.name.attribute`, and the number of path parts used."""
        match path:
            case ["var", name, *_]:
                return self._once(f"var.{name}", lambda: self._variable(name)), 2
            case ["local", name, *_]:
                return self._once(f"local.{name}", lambda: self._local(name)), 2
            case [kind, name, attribute, *_] if (kind, name) in self.module.resources:
                key = f"{kind}.{name}.{attribute}"
                return self._once(key, lambda: self._attribute(kind, name, attribute)), 3
        return Unresolved(written), len(path)

    def _once(self, key: str, compute: object) -> Evaluated:
        assert callable(compute)
        if key not in self._known:
            if key in self._busy:
                return Unresolved(key)
            self._busy.add(key)
            self._known[key] = compute()
            self._busy.discard(key)
        return self._known[key]

    def _variable(self, name: str) -> Evaluated:
        block = self.module.variables.get(name)
        default = block.attributes().get("default") if block is not None else None
        value: Evaluated = Unresolved(f"var.{name}, which has no value here")
        if self.given is not None and name in self.given:
            value = self.given[name]
        elif name in self._choices:
            value = self._choices[name].value(name, lambda e: self._chosen(name, default if e is None else e))
        elif default is not None:
            value = evaluate(default, self)
        kind = block.attributes().get("type") if block is not None else None
        return with_defaults(value, kind, self) if kind is not None else value

    def _chosen(self, name: str, expression: Expression | None) -> Evaluated:
        return Unresolved(f"var.{name}, which has no value here") if expression is None else evaluate(expression, self)

    def _local(self, name: str) -> Evaluated:
        found = self.module.locals.get(name)
        return Unresolved(f"local.{name}") if found is None else evaluate(found, self)

    def _attribute(self, kind: str, name: str, attribute: str) -> Evaluated:
        written = self.module.resources[kind, name].attributes()
        repeated = "count" in written or "for_each" in written
        if attribute not in written or repeated:
            return Unresolved(f"{kind}.{name}.{attribute}")
        return evaluate(written[attribute], self)

    def resources(self) -> Iterator[Resource]:
        """Yield every instance of a resource, and of a remote module (as type `module`). Raises `TooMuch`."""
        for (kind, name), block in self.module.resources.items():
            yield from self._instances(block, kind, f"{kind}.{name}")
        for block in self.module.calls:
            yield from self._called(block)

    def _called(self, block: Body) -> Iterator[Resource]:
        source = block.attributes().get("source")
        path = evaluate(source, self) if source is not None else ""
        called = self.module_at(self.module, path)
        for resource in self._instances(block, f"module {path}", f"module.{block.labels[0]}"):
            if called is None:
                yield resource
            elif self.depth < DEEPEST:
                given = resource.values.data
                assert isinstance(given, dict)
                inner = Instance(
                    module=called,
                    given=given,
                    modules=self.modules,
                    depth=self.depth + 1,
                    effort=self.effort,
                )
                yield from (_nested(r, resource) for r in inner.resources())

    def module_at(self, caller: Module, source: Evaluated) -> Module | None:
        """Return the local module that a source in another module names."""
        if not isinstance(source, str) or not source.startswith(("./", "../")):
            return None
        return self.modules.get(posixpath.normpath(posixpath.join(caller.folder, source)))

    def _instances(self, block: Body, kind: str, address: str) -> Iterator[Resource]:
        for suffix, bound, doubt in self._repeats(block):
            self.effort.spend()
            values = values_of(block, self, bound, META)
            yield Resource(
                type=kind,
                address=address + suffix,
                values=Cursor(*block.document(values), values),
                hint=HINT,
                doubt=doubt,
            )

    def _repeats(self, block: Body) -> Iterator[tuple[str, dict[str, Evaluated], Doubt | None]]:
        """Yield the address suffix and names of each instance; one instance with a doubt if their number is unknown."""
        written = block.attributes()
        for name in ("count", "for_each"):
            if name not in written:
                continue
            value = evaluate(written[name], self)
            if isinstance(value, Unresolved):
                document, route = block.document(None)
                doubt = Doubt(name, value.expression, Place(document, (*route, name)))
                unknown = Unresolved(f"{name} = {value.expression}")
                yield "", {"each": unknown, "count": unknown}, doubt
            elif name == "count" and isinstance(value, int):
                for at in range(min(int(value), MOST_INSTANCES)):
                    yield f"-{at}" if value > 1 else "", {"count": {"index": at}}, None
            elif name == "for_each":
                for key, inner in pairs(value)[:MOST_INSTANCES]:
                    label = inner if isinstance(value, list) else key
                    yield f"-{label}", {"each": {"key": label, "value": inner}}, None
            return
        yield "", {}, None


def _nested(inner: Resource, call: Resource) -> Resource:
    doubt = inner.doubt or call.doubt
    return Resource(
        type=inner.type, address=f"{call.address}.{inner.address}", values=inner.values, hint=inner.hint, doubt=doubt
    )


def values_of(
    block: Body, scope: Instance, bound: dict[str, Evaluated], without: frozenset[str] = frozenset()
) -> dict[str, Evaluated]:
    """Return attributes evaluated, inner blocks as lists, and `dynamic` blocks expanded.

    `without` are names to skip at the top level only: `count` of a `guest_accelerator` block is a number of devices.
    """
    made: dict[str, Evaluated] = {
        name: evaluate(e, scope, bound) for name, e in block.attributes().items() if name not in without
    }
    for inner in block.blocks():
        if inner.type in without:
            continue
        kind, values = _inner(inner, scope, bound)
        before = made.get(kind)
        made[kind] = [*before, *values] if isinstance(before, list) and isinstance(values, list) else values
    return made


def _inner(block: Body, scope: Instance, bound: dict[str, Evaluated]) -> tuple[str, Evaluated]:
    if block.type != "dynamic" or not block.labels:
        return block.type, [values_of(block, scope, bound)]
    kind, written = block.labels[0], block.attributes()
    content = next((b for b in block.blocks() if b.type == "content"), None)
    source = evaluate(written["for_each"], scope, bound) if "for_each" in written else Unresolved(f'dynamic "{kind}"')
    if isinstance(source, Unresolved) or content is None:
        return kind, source
    name = str(written["iterator"]) if "iterator" in written else kind
    made: list[Evaluated] = []
    for key, value in pairs(source)[:MOST_INSTANCES]:
        made.append(values_of(content, scope, {**bound, name: {"key": key, "value": value}}))
    return kind, made


def too_much(root: Instance) -> Problem:
    """Return the problem of a configuration that exceeds the evaluation limit, at the first resource or module."""
    block = next(iter([*root.module.resources.values(), *root.module.calls]))
    document, route = block.document(None)
    message = f"evaluating this configuration takes more than {MOST_STEPS:,} steps; its node pools were not read"
    return Problem(ProblemCode.LIMIT, Place(document, route), message, HINT)
