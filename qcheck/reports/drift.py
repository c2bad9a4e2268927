"""`qcheck drift` as text and as JSON (schema 1)."""

from __future__ import annotations

import json

from qcheck.cluster.place import show_route
from qcheck.cluster.units import show_amount
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.reports.json import object_data
from qcheck.reports.json_text import dump
from qcheck.reports.wording import plain, plural

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.answers.drift import Changed, Drift, DriftObject, NodeDifference
    from qcheck.cluster.place import Place
    from qcheck.reports.json_text import Json

MOST_NODES = 5
ALLOCATABLE = "allocatable."


def render_json(drift: Drift) -> str:
    return dump(
        {
            "schema": 1,
            "onlyInFiles": [_side_data(s) for s in drift.only_in_files],
            "onlyLive": [object_data(s.id) for s in drift.only_live],
            "changed": [_changed_data(c) for c in drift.changed],
            "nodes": [_node_data(n) for n in drift.nodes],
            "notCompared": list(drift.not_compared),
            "unjudged": list(drift.unjudged),
        }
    )


def _where(place: Place) -> dict[str, Json]:
    return {"file": place.origin.path, "line": place.span[0]}


def _side_data(side: DriftObject) -> Json:
    return {**_object(side), **_where(side.place)}


def _object(found: DriftObject | Changed) -> dict[str, Json]:
    data = object_data(found.id)
    return dict(data) if isinstance(data, dict) else {}


def _changed_data(found: Changed) -> Json:
    fields = [{"route": show_route(f.route), "file": _json(f.file), "live": _json(f.live)} for f in found.fields]
    return {"object": object_data(found.id), "place": _where(found.place), "fields": fields}


def _node_data(found: NodeDifference) -> Json:
    return {
        "pool": found.pool,
        "place": None if found.place is None else _where(found.place),
        "field": found.field,
        "file": _json(found.file),
        "live": _json(found.live),
        "nodes": list(found.nodes),
    }


def _json(value: object) -> Json:
    """Convert a value to plain JSON data."""
    made: Json = json.loads(json.dumps(value))
    return made


def render_text(drift: Drift) -> str:
    blocks = ["\n".join(block) for block in _blocks(drift)]
    lines = [f"not compared: {plain(what)}" for what in drift.not_compared]
    lines += [f"could not judge: {plain(why)}" for why in drift.unjudged]
    none = "no differences in what could be read" if drift.unjudged else "no differences"
    lines.append(plural(drift.count, "difference") if drift.count else none)
    return "\n\n".join([*blocks, "\n".join(lines)]) + "\n"


def _blocks(drift: Drift) -> Iterator[list[str]]:
    for found in drift.changed:
        head = f"{plain(str(found.id))} ({plain(found.place.line)}) is different in the cluster"
        yield [head, *(f"  {_field(show_route(f.route), _shown(f.file), _shown(f.live))}" for f in found.fields)]
    if drift.only_in_files:
        yield ["only in the files", *(f"  {plain(str(s.id))} ({plain(s.place.line)})" for s in drift.only_in_files)]
    if drift.only_live:
        yield ["only in the cluster", *(f"  {plain(str(s.id))}" for s in drift.only_live)]
    if drift.nodes:
        yield ["nodes", *(f"  {_node(n)}" for n in drift.nodes)]


def _field(what: str, file: str, live: str) -> str:
    return plain(f"{what}: {file} in the files, {live} in the cluster")


def _shown(value: object) -> str:
    if value is None:
        return "nothing"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _node(found: NodeDifference) -> str:
    if found.pool is None or found.place is None:
        return plain(f"{_names(found.nodes)} with {found.live}: no pool in the files matches")
    resource = found.field.removeprefix(ALLOCATABLE)
    is_amount = found.field.startswith(ALLOCATABLE)
    file, live = (_amount(resource, v) if is_amount else _shown(v) for v in (found.file, found.live))
    nodes = f" on {_names(found.nodes)}" if found.nodes else ""
    return _field(f"pool {found.pool} ({found.place.line}), {found.field}{nodes}", file, live)


def _amount(resource: str, value: object) -> str:
    return show_amount(resource, value) if isinstance(value, int) else _shown(value)


def _names(nodes: tuple[str, ...]) -> str:
    left = len(nodes) - MOST_NODES
    return ", ".join(nodes[:MOST_NODES]) + (f" and {left} more" if left > 0 else "")
