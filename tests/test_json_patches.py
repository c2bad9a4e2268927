"""JSON patches of kustomizations: every value of the result points to the file and line that wrote it."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from qcheck.documents.document import Document
from qcheck.documents.load import load
from qcheck.documents.traced import Traced

BASE = """\
kind: ClusterQueue
spec:
  cohortName: org
  groups:
  - covered: [gpu, cpu]
    resources:
    - {name: gpu, nominalQuota: 8}
    - {name: cpu, nominalQuota: 900}
"""


def document(text: str, path: str) -> Document:
    return load(text, path).documents[0]


def as_document(data: object, path: str) -> Document:
    return document(json.dumps(data, indent=1), path)


def patched(data: Any, operations: list[dict[str, Any]]) -> Any:
    """Apply a JSON patch (RFC 6902) with a plain implementation, which raises errors for paths that do not exist."""
    for each in operations:
        data = _once(copy.deepcopy(data), each)
    return data


def _once(data: Any, operation: dict[str, Any]) -> Any:
    holder, last = _holder(data, operation["path"])
    value = copy.deepcopy(operation.get("value"))
    if operation["op"] in ("move", "copy"):
        source, step = _holder(data, operation["from"])
        value = copy.deepcopy(source[step if isinstance(source, dict) else int(step)])
        if operation["op"] == "move":
            if operation["path"].startswith(f"{operation['from']}/"):
                raise ValueError("RFC 6902: nothing moves into itself")
            del source[step if isinstance(source, dict) else int(step)]
            holder, last = _holder(data, operation["path"])
    if isinstance(holder, dict):
        if operation["op"] == "remove":
            del holder[last]
        else:
            holder[last] = value
    elif operation["op"] == "remove":
        del holder[int(last)]
    elif operation["op"] == "replace":
        holder[int(last)] = value
    else:
        at = len(holder) if last == "-" else int(last)
        if at > len(holder):
            raise IndexError(at)
        holder.insert(at, value)
    return data


def _holder(data: Any, path: str) -> tuple[Any, str]:
    *steps, last = path.split("/")[1:]
    for step in steps:
        data = data[step] if isinstance(data, dict) else data[int(step)]
    if not isinstance(data, (dict, list)):
        raise TypeError(path)
    return data, last


def leaves(data: Any, route: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    if isinstance(data, dict):
        return [leaf for key, value in data.items() for leaf in leaves(value, (*route, key))]
    if isinstance(data, list):
        return [leaf for at, value in enumerate(data) for leaf in leaves(value, (*route, at))]
    return [route]


def traced(operations: list[dict[str, Any]]) -> Traced:
    base = document(BASE, "base.yaml")
    rendered = as_document(patched(base.data, operations), "kustomize:prod")
    return Traced(rendered, (base, ()), [as_document(operations, "patch.yaml")])


def value_at(found: Document, route: tuple[str | int, ...]) -> Any:
    data: Any = found.data
    for step in route:
        data = data[step]
    return data


RESOURCES = "/spec/groups/0/resources"


@pytest.mark.parametrize(
    ("operation", "route", "path", "line"),
    [
        ({"op": "replace", "path": f"{RESOURCES}/0/nominalQuota", "value": 24}, (0, "nominalQuota"), "patch.yaml", 5),
        ({"op": "replace", "path": f"{RESOURCES}/0/nominalQuota", "value": 24}, (1, "nominalQuota"), "base.yaml", 8),
        ({"op": "remove", "path": f"{RESOURCES}/0"}, (0, "nominalQuota"), "base.yaml", 8),
        ({"op": "add", "path": f"{RESOURCES}/0", "value": {"name": "memory"}}, (1, "nominalQuota"), "base.yaml", 7),
        ({"op": "add", "path": f"{RESOURCES}/0", "value": {"name": "memory"}}, (0, "name"), "patch.yaml", 6),
        ({"op": "add", "path": f"{RESOURCES}/-", "value": {"name": "memory"}}, (2, "name"), "patch.yaml", 6),
        ({"op": "copy", "from": f"{RESOURCES}/1", "path": f"{RESOURCES}/0"}, (0, "nominalQuota"), "base.yaml", 8),
        ({"op": "move", "from": f"{RESOURCES}/1", "path": f"{RESOURCES}/0"}, (1, "nominalQuota"), "base.yaml", 7),
    ],
)
def test_a_value_is_found_where_it_is_written(
    operation: dict[str, Any], route: tuple[str | int, ...], path: str, line: int
) -> None:
    found, there = traced([operation]).written_at(("spec", "groups", 0, "resources", *route))
    assert (found.path, found.span(there)[0]) == (path, line)


STEPS = st.sampled_from(
    ["/spec/cohortName", "/spec/new", f"{RESOURCES}/0", f"{RESOURCES}/1", f"{RESOURCES}/2", f"{RESOURCES}/-", RESOURCES,
     "/spec/groups/0", "/spec/groups/0/covered/1", "/spec/groups/0/covered/-", f"{RESOURCES}/0/nominalQuota", "/none/a"]
)  # fmt: skip
VALUES = st.sampled_from([1, "x", [1, 2], {"name": "memory", "nominalQuota": 3}, [{"name": "a"}]])
OPERATIONS = st.one_of(
    st.fixed_dictionaries({"op": st.sampled_from(["add", "replace"]), "path": STEPS, "value": VALUES}),
    st.fixed_dictionaries({"op": st.just("remove"), "path": STEPS}),
    st.fixed_dictionaries({"op": st.sampled_from(["move", "copy"]), "path": STEPS, "from": STEPS}),
)


@given(st.lists(OPERATIONS, max_size=4))
def test_a_place_has_the_value_of_the_result(operations: list[dict[str, Any]]) -> None:
    try:
        made = traced(operations)
    except (LookupError, ValueError, TypeError):
        reject()
    for route in leaves(made.data):
        found, there = made.written_at(route)
        assert found is not made
        assert value_at(found, there) == value_at(made, route)
