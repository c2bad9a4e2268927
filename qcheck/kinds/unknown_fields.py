"""Fields that a version does not have: their name in that version, or their probable correction."""

from __future__ import annotations

from qcheck.cluster.did_you_mean import distance
from qcheck.cluster.place import Place
from qcheck.cluster.problems import Problem, ProblemCode
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.kinds.schema.failure import Failure, field_path
from qcheck.kinds.schema.renames import renamed

SLIP = 2
"""Most letters that a typing error changes."""

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.objects import ObjectId
    from qcheck.documents.cursor import Cursor
    from qcheck.kinds.schema.catalogue import Described
    from qcheck.kinds.schema.node import SchemaNode


def unknown_field(root: Cursor, identity: ObjectId, found: Described | None, failure: Failure) -> Problem:
    """Return the problem of a field that would be dropped silently."""
    route = failure.route[len(root.route) :]
    path = field_path(route)
    near, advice = _advice(identity, found, failure, route)
    return Problem(
        code=ProblemCode.UNKNOWN_FIELD,
        place=Place(root.document, failure.route, "", True),
        message=f'unknown field "{path}": {identity.api_version} {identity.kind} has no such field, so it is dropped silently'
        + (f"; {advice}" if advice else ""),
        help=(f"Move it to {near}." if "." in near else f"Write {near}.") if near else failure.fix,
        object=identity,
        related=(),
        data={"field": path, "nearest": near or None},
    )


def _advice(
    identity: ObjectId, found: Described | None, failure: Failure, route: tuple[str | int, ...]
) -> tuple[str, str]:
    """Return the name to write instead ("" if there is none), and why."""
    names = tuple(step for step in route if isinstance(step, str))
    known = renamed(identity.kind, names)
    if known is not None:
        return known
    name = str(route[-1])
    elsewhere = _elsewhere(found, name) if found and not _is_slip(name, failure.near) else None
    if elsewhere:
        return elsewhere, f"it belongs at {elsewhere}"
    return (failure.near, f"did you mean {failure.near}?") if failure.near else ("", "")


def _is_slip(name: str, near: str | None) -> bool:
    """Return whether two names differ in at most two letters."""
    return near is not None and distance(name.lower(), near.lower()) <= SLIP


def _elsewhere(found: Described, name: str) -> str | None:
    """Return the path of the only field of the kind with this name, if there is exactly one."""
    places = list(_named(found, found.tree, name, (), 0))
    return field_path(places[0]) if len(places) == 1 else None


def _named(
    found: Described, node: SchemaNode, name: str, above: tuple[str, ...], depth: int
) -> Iterator[tuple[str, ...]]:
    """Yield the routes of fields called `name`, also inside lists; of widely shared types, only those of pods."""
    for child in node.children.values():
        if child.name == name:
            yield (*above, child.name)
        inner = child.innermost
        if inner.type_name == "PodTemplate":
            if name in found.compiler.tree("PodSpec").children:
                yield (*above, child.name, "spec", name)
        elif (inner.kind == "object" or inner.type_name == "JobSpec") and depth < 6:
            yield from _named(found, found.compiler.resolve(inner), name, (*above, child.name), depth + 1)
