"""Compiles descriptions to closures: one pass over plain data reports every fault with its full path.

A check returns None, or a list of failures whose steps start at the checked value. No route is built for a valid value;
fields and named types are compiled at their first value.
"""

from __future__ import annotations

from qcheck.cluster.did_you_mean import nearest
from qcheck.cluster.problems import ProblemCode
from qcheck.kinds.schema import scalars
from qcheck.kinds.schema.failure import WRONG_TYPE, Failure, type_name
from qcheck.kinds.schema.node import WITHOUT_QUANTITIES, SchemaNode, VersionScope, parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Check = Callable[[object], "list[Failure] | None"]
    Route = tuple[str | int, ...]
    Quantities = list[tuple[Route, object, object]]
    """Route of a quantity, the quantity as it is written, and the object or list that contains it."""

_GENERIC = "schema"
"""The check of a value of the wrong type, if the description gives no id."""
MOST_LISTED = 12
"""The maximum number of fields that the help for an unknown field lists."""


class Compiler:
    """Compiles the nodes of one scope. `text_of` returns the text of a named type, or None if there is no such type."""

    def __init__(self, scope: VersionScope, text_of: Callable[[str], str | None]) -> None:
        self.scope = scope
        self._text_of = text_of
        self._trees: dict[str, SchemaNode] = {}
        self._checks: dict[str, Check] = {}

    def tree(self, name: str) -> SchemaNode:
        """Return the parsed description of a named type, which is below its single root."""
        if name not in self._trees:
            text = self._text_of(name)
            assert text is not None, f"no type is called {name}"
            self._trees[name] = parse(text, self.scope)
        return self._trees[name]

    def resolve(self, node: SchemaNode) -> SchemaNode:
        """Return the node itself, or the tree of the type that it names."""
        return self.tree(node.type_name) if node.kind == "named" else node

    def quantities(self, node: SchemaNode, value: object, route: Route, holder: object, found: Quantities) -> None:
        """Append every quantity in a value."""
        node = self.resolve(node)
        if node.kind == "quantity":
            found.append((route, value, holder))
        elif node.item is not None:
            items = value.items() if type(value) is dict else enumerate(value) if type(value) is list else ()
            if node.item.kind not in WITHOUT_QUANTITIES:
                for step, below in items:
                    if below is not None:
                        self.quantities(node.item, below, (*route, step), value, found)
        elif type(value) is dict:
            for name, below in value.items():
                if name in node and below is not None and node.child(name).kind not in WITHOUT_QUANTITIES:
                    self.quantities(node.child(name), below, (*route, name), value, found)

    def check(self, node: SchemaNode) -> Check:
        match node.kind:
            case "object":
                return self._object(node)
            case "list":
                return self._list(node)
            case "map":
                return self._map(node)
            case "named":
                return self._named(node.type_name)
        return scalars.check(node, self.scope)

    def _named(self, name: str) -> Check:
        def lazily(value: object) -> list[Failure] | None:
            if name not in self._checks:
                self._checks[name] = self.check(self.tree(name))
            return self._checks[name](value)

        return lazily

    def _object(self, node: SchemaNode) -> Check:
        fields: dict[str, Check] = {}
        required = node.required_children
        get, is_open = fields.get, node.is_open

        def check(value: object) -> list[Failure] | None:
            if type(value) is not dict:
                return [wrong_type(node, "object", value)]
            failures: list[Failure] | None = None
            for key, inner in value.items():
                field = get(key)
                if field is None and key in node:
                    field = fields[key] = self.check(node.child(key))
                if field is None:
                    if not is_open:
                        failures = _join_all(failures, [_unknown(node, key)])
                elif inner is not None and (found := field(inner)):
                    failures = _join(failures, found, key)
            for child in required:
                if value.get(child.name) is None:
                    failures = _join_all(failures, [_missing(node, child)])
            return failures

        return check

    def _list(self, node: SchemaNode) -> Check:
        assert node.item is not None
        item, keys, unique, (low, high) = self.check(node.item), node.keys, node.unique, node.bounds

        def check(value: object) -> list[Failure] | None:
            if type(value) is not list:
                return [wrong_type(node, "array", value)]
            if high is not None and len(value) > high:
                return [_size(node, len(value), "items")]
            failures = [_size(node, len(value), "items")] if len(value) < low else None
            for at, inner in enumerate(value):
                if found := item(inner):
                    failures = _join(failures, found, at)
            if (keys or unique) and not _differ_plainly(keys, value):
                failures = _join_all(failures, _repeated(node, value))
            return failures

        return check

    def _map(self, node: SchemaNode) -> Check:
        assert node.item is not None
        item, (low, high) = self.check(node.item), node.bounds

        def check(value: object) -> list[Failure] | None:
            if type(value) is not dict:
                return [wrong_type(node, "object", value)]
            if high is not None and len(value) > high:
                return [_size(node, len(value), "properties")]
            failures = [_size(node, len(value), "properties")] if len(value) < low else None
            for key, inner in value.items():
                if inner is not None and (found := item(inner)):
                    failures = _join(failures, found, key)
            return failures

        return check


def _join(failures: list[Failure] | None, found: list[Failure], step: str | int) -> list[Failure] | None:
    for failure in found:
        failure.steps.append(step)
    return _join_all(failures, found)


def _join_all(failures: list[Failure] | None, found: list[Failure]) -> list[Failure] | None:
    """Return both lists joined; the first one grows, so that many failures take linear time."""
    if failures is None:
        return found or None
    failures += found
    return failures


def wrong_type(node: SchemaNode, wanted: str, value: object) -> Failure:
    return Failure(node.check or _GENERIC, f"{WRONG_TYPE} {wanted}, not {type_name(value)}")


def _unknown(node: SchemaNode, key: str) -> Failure:
    near = nearest(key, node.children) or _longer(key, node)
    is_short = 0 < len(node.children) <= MOST_LISTED
    fix = f"Remove it, or use one of the fields {_listed(node)}." if is_short and not near else ""
    return Failure(None, key, [key], code=ProblemCode.UNKNOWN_FIELD, fix=fix, on_key=True, near=near)


def _listed(node: SchemaNode) -> str:
    *others, last = sorted(node.children)
    return f"{', '.join(others)} and {last}" if others else last


def _longer(key: str, node: SchemaNode) -> str:
    """Return the field that ends with the key (`secretName` for `name`) if there is only one."""
    ending = key[:1].upper() + key[1:]
    found = [name for name in node.children if name.endswith(ending)]
    return found[0] if len(found) == 1 and len(key) > 2 else ""


def _missing(node: SchemaNode, child: SchemaNode) -> Failure:
    return Failure(node.check or child.check or _GENERIC, "Required value", [child.name])


def _size(node: SchemaNode, size: int, what: str) -> Failure:
    low, high = node.bounds
    if size < low:
        return Failure(node.check or _GENERIC, f"Invalid value: has {size} {what}, must have at least {low}")
    return Failure(node.check or _GENERIC, f"Too many: {size}: must have at most {high} {what}")


def _differ_plainly(keys: tuple[str, ...], items: list[object]) -> bool:
    """Return whether one string of each item is enough to see that none is repeated, as is nearly always the case."""
    if len(items) < 2:
        return True
    texts = [i.get(keys[0]) for i in items if type(i) is dict] if len(keys) == 1 else []
    return len({t for t in texts if type(t) is str}) == len(items)


def _repeated(node: SchemaNode, value: list[object]) -> list[Failure]:
    """Return a failure for each item of a list map or set that repeats an earlier item.

    For an item of a list map that is not an object, only the wrong type is reported.
    """
    seen: set[str] = set()
    failures = []
    for at, item in enumerate(value):
        if node.keys and type(item) is not dict:
            continue
        shown = _identity(node, item)
        if shown in seen:
            key = node.keys[0] if len(node.keys) == 1 and isinstance(item, dict) and node.keys[0] in item else None
            loose = ", which server-side apply rejects" if node.is_loose else ""
            failure = Failure(node.check or _GENERIC, f"Duplicate value: {shown}{loose}", [at])
            failure.certain = not node.is_loose
            if key is not None:
                failure.steps.insert(0, key)
            failures.append(failure)
        seen.add(shown)
    return failures


def _identity(node: SchemaNode, item: object) -> str:
    if not node.keys or not isinstance(item, dict):
        return scalars.show(item)
    item_node = node.item.innermost if node.item else node
    values = [item[k] if k in item else getattr(item_node.children.get(k), "default", None) for k in node.keys]
    return ", ".join(scalars.show(v) for v in values)
