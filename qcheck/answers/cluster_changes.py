"""Differences between two states of a cluster: objects, fields, and capacity."""

from __future__ import annotations

from enum import StrEnum

from qcheck.answers.capacity import CapacityLine, capacity_lines
from qcheck.cluster.place import Place, follow
from qcheck.cluster.quantity import QuantityError, parse_quantity
from qcheck.cluster.quota_pool import pool_name
from qcheck.cluster.value import TYPE_CHECKING, Value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.place import Route

NAME_KEYS = ("name", "key", "nodeLabel")
MISSING = object()
QUOTA_FIELDS = ("nominalQuota", "borrowingLimit", "lendingLimit")
QUANTITIES = {"requests", "limits", "allocatable", "capacity", "hard", "perNode", "total"}
"""Maps from resources to quantities."""
ORDERED = ("flavors", "levels", "coveredResources")
"""Lists whose order matters."""
SERVER_FIELDS = {
    ("metadata", field)
    for field in ("resourceVersion", "uid", "generation", "creationTimestamp", "managedFields", "selfLink")
}
LONGEST = 80
"""The length up to which a list or mapping is written out."""
LAST_APPLIED = ("metadata", "annotations", "kubectl.kubernetes.io/last-applied-configuration")


class ChangeKind(StrEnum):
    ADDED = "added"
    REMOVED = "removed"
    RENAMED = "renamed"
    CHANGED = "changed"


class WrittenObject(Value):
    """An object or node pool as written: its name, its place and its data."""

    kind: str
    name: str
    place: Place

    @property
    def data(self) -> object:
        return follow(self.place.origin.data, self.place.route)

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


class FieldChange(Value):
    """A field that differs; `before` or `after` is None if it is not written.

    `item` names the list item that was removed, since `route` counts the items before the change there.
    """

    route: Route
    before: str | None
    after: str | None
    item: str | None = None


class ObjectChange(Value):
    """A changed object: the later state, or the earlier one if it was removed; `was` is set if it was renamed."""

    how: ChangeKind
    object: WrittenObject
    was: WrittenObject | None = None
    fields: tuple[FieldChange, ...] = ()


class CapacityChange(Value):
    """A quota pool, by key, and resource with changed quota or supply; a side is None if the pair does not occur."""

    pool: str
    resource: str
    before: CapacityLine | None
    after: CapacityLine | None

    @property
    def flavor(self) -> str:
        """The pool's name in its scheduler."""
        return pool_name(self.pool)


def as_written(written: WrittenObject) -> object:
    """Return the data of an object as written in its file."""
    return written.data


class ClusterChange(Value, cached=True):
    """One cluster before and after. `newest` converts objects whose apiVersion differs, to compare only their content."""

    before: Cluster
    after: Cluster
    newest: Callable[[WrittenObject], object] = as_written

    @property
    def name(self) -> str:
        return self.after.name

    @property
    def objects(self) -> tuple[ObjectChange, ...]:
        """Objects and pools that were added, removed, renamed or changed, in order of kind and name."""
        before, after = _things(self.before), _things(self.after)
        changes = [_changed(before[key], after[key], self.newest) for key in before.keys() & after.keys()]
        gone = {k: t for k, t in before.items() if k not in after}
        come = {k: t for k, t in after.items() if k not in before}
        for pairs in (_same_name, _is_renamed):
            changes += _paired(gone, come, pairs, self.newest)
        changes += [ObjectChange(ChangeKind.REMOVED, t) for t in gone.values()]
        changes += [ObjectChange(ChangeKind.ADDED, t) for t in come.values()]
        real = [c for c in changes if c.how is not ChangeKind.CHANGED or c.fields]
        return tuple(sorted(real, key=lambda c: (c.object.kind, c.object.name)))

    @property
    def capacity(self) -> tuple[CapacityChange, ...]:
        """Flavors and resources with changed quota or supply, in the order of the capacity view."""
        before = {(line.pool, line.resource): line for line in capacity_lines(self.before)}
        after = {(line.pool, line.resource): line for line in capacity_lines(self.after)}
        pairs = [CapacityChange(*key, before.get(key), after.get(key)) for key in {**after, **before}]
        return tuple(p for p in pairs if _figures(p.before) != _figures(p.after))


def _figures(line: CapacityLine | None) -> tuple[object, ...] | None:
    return None if line is None else (line.nominal, line.is_known, line.static, line.ceiling)


Key = tuple[str, str, str]


def _things(cluster: Cluster) -> dict[Key, WrittenObject]:
    """Return the objects and pools of a cluster by key. Objects with generated names are matched by their content."""
    found: dict[Key, WrittenObject] = {}
    for one in cluster.all_objects():
        namespaced = f"{one.id.namespace or 'default'}/{one.id.name}"
        new = WrittenObject(one.id.kind, one.id.full_name, one.place)
        content = repr(new.data) if one.id.is_generated else ""
        found[f"{one.id.group}/{one.id.kind}", namespaced, content] = new
    for pool in cluster.pools:
        found[f"pool {pool.format}", pool.name, ""] = WrittenObject("node pool", pool.name, pool.place)
    return found


def _paired(
    gone: dict[Key, WrittenObject],
    come: dict[Key, WrittenObject],
    alike: Callable[[WrittenObject, WrittenObject], bool],
    newest: Callable[[WrittenObject], object],
) -> list[ObjectChange]:
    """Remove the objects that match on both sides, and return their changes."""
    changes = []
    for key, new in list(come.items()):
        old = next((k for k, t in gone.items() if alike(t, new)), None)
        if old is not None:
            was = gone.pop(old)
            changes.append(
                _changed(was, new, newest) if was.name == new.name else ObjectChange(ChangeKind.RENAMED, new, was)
            )
            del come[key]
    return changes


def _changed(before: WrittenObject, after: WrittenObject, newest: Callable[[WrittenObject], object]) -> ObjectChange:
    is_moved = _version(before) != _version(after)
    old, new = (newest(before), newest(after)) if is_moved else (before.data, after.data)
    fields = tuple(f for f in differences(old, new) if not _is_bookkeeping(f, after.kind))
    return ObjectChange(ChangeKind.CHANGED, after, None, fields)


def _version(written: WrittenObject) -> object:
    return written.data.get("apiVersion") if isinstance(written.data, dict) else None


def _same_name(before: WrittenObject, after: WrittenObject) -> bool:
    return (before.kind, before.name) == (after.kind, after.name)


def _is_renamed(before: WrittenObject, after: WrittenObject) -> bool:
    """Return whether two objects of one kind are equal except for their names, and have a spec."""
    if before.kind != after.kind or not isinstance(before.data, dict) or not isinstance(after.data, dict):
        return False
    one, other = ({k: v for k, v in d.items() if k != "metadata"} for d in (before.data, after.data))
    return one == other and bool(one.get("spec"))


def _is_bookkeeping(field: FieldChange, kind: str) -> bool:
    """Return whether a difference is irrelevant: the server's own fields, and a default that is written or not."""
    if field.route[:1] == ("status",):
        return kind != "Node" or field.route[1:2] not in (("allocatable",), ("capacity",))
    if field.route == ("metadata", "namespace"):
        return {field.before, field.after} == {None, "default"}
    return field.route[:2] in SERVER_FIELDS or field.route[:3] == LAST_APPLIED


def differences(before: object, after: object, route: Route = ()) -> Iterator[FieldChange]:
    """Yield the fields that differ, by routes into `after` (into `before` if removed).

    List items are matched by name.
    """
    if isinstance(before, dict) and isinstance(after, dict):
        for key in {**after, **before}:
            yield from differences(before.get(key, MISSING), after.get(key, MISSING), (*route, key))
    elif isinstance(before, list) and isinstance(after, list):
        yield from _list_differences(before, after, route)
    elif before != after and not _is_same_amount(before, after, route):
        yield FieldChange(route, shown(before), shown(after))


def _is_same_amount(before: object, after: object, route: Route) -> bool:
    """Return whether two spellings denote the same quantity: `8` and `"8"`, `1Ti` and `1024Gi`."""
    if not route or not (route[-1] in QUOTA_FIELDS or QUANTITIES & {*route[-2:-1]}):
        return False
    try:
        return parse_quantity(before).nanos == parse_quantity(after).nanos
    except QuantityError:
        return False


def _list_differences(before: list[object], after: list[object], route: Route) -> Iterator[FieldChange]:
    old, new = _by_name(before), _by_name(after)
    if route[-1] in ORDERED and {*old} == {*new} and [*old] != [*new]:
        yield FieldChange(route, ", ".join(map(str, old)), ", ".join(map(str, new)))
    for name in {**new, **old}:
        position = new[name][0] if name in new else old[name][0]
        was = old[name][1] if name in old else MISSING
        if name in new:
            yield from differences(was, new[name][1], (*route, position))
        else:
            yield FieldChange((*route, position), shown(was), None, _item(name))


def _item(name: object) -> str:
    return ",".join(name) if isinstance(name, tuple) else str(name)


def _by_name(items: list[object]) -> dict[object, tuple[int, object]]:
    """Return position and item by name, by the text of a scalar, else by position."""
    named: dict[object, tuple[int, object]] = {}
    for position, item in enumerate(items):
        name: object = position
        if isinstance(item, dict):
            name = next((str(item[k]) for k in NAME_KEYS if isinstance(item.get(k), str)), position)
            covered = item.get("coveredResources")
            if isinstance(covered, list):
                name = tuple(sorted(map(str, covered)))
        elif isinstance(item, str):
            name = item
        named[position if name in named else name] = (position, item)
    return named


def _in_one_line(value: dict[str, object] | list[object]) -> str:
    """Return a short list or mapping of plain values as text; empty for others."""
    inner = value.values() if isinstance(value, dict) else value
    if any(isinstance(each, (dict, list)) for each in inner):
        return ""
    if isinstance(value, dict):
        text = f"{{{', '.join(f'{key}: {shown(each)}' for key, each in value.items())}}}"
    else:
        text = f"[{', '.join(str(shown(each)) for each in value)}]"
    return text if len(text) <= LONGEST else ""


def shown(value: object) -> str | None:
    """Return a short form of a value."""
    if value is MISSING:
        return None
    if isinstance(value, (dict, list)):
        return _in_one_line(value) or (f"{len(value)} entries" if len(value) != 1 else "1 entry")
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
