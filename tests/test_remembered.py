"""Validation that skips what equals something right finds what validation without a memory finds."""

from __future__ import annotations

import inspect
import random
from collections.abc import Iterator
from typing import Any

import pytest
from test_junk import spoilt

from qcheck.documents.cursor import Cursor
from qcheck.documents.document import Document
from qcheck.documents.text import Text
from qcheck.documents.unresolved import Unresolved
from qcheck.kinds.schema.failure import Failure
from qcheck.kinds.validate import validate
from qcheck.kinds.validation import pods, remembered
from qcheck.kinds.validation.containers import CONTAINERS
from qcheck.kinds.validation.target import Target, refuse

SPEC: dict[str, Any] = {
    "restartPolicy": "Never",
    "hostNetwork": True,
    "terminationGracePeriodSeconds": 1,
    "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
    "initContainers": [{"name": "prepare", "image": "a:1", "restartPolicy": "Always", "ports": [{"containerPort": 1}]}],
    "containers": [
        {
            "name": "main",
            "image": "a:1",
            "command": ["run"],
            "args": ["1"],
            "env": [
                {"name": "A", "value": "1"},
                {"name": "B", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
            ],
            "volumeMounts": [{"name": "data", "mountPath": "/data"}],
            "securityContext": {"runAsUser": 1, "allowPrivilegeEscalation": False},
            "resources": {"requests": {"cpu": 1, "nvidia.com/gpu": 1}, "limits": {"nvidia.com/gpu": "1"}},
        }
    ],
    "volumes": [{"name": "data", "secret": {"secretName": "a", "defaultMode": 1}}],
    "schedulingGates": [{"name": "a/b"}],
}


def cursor(data: Any) -> Cursor:
    return Cursor(Document(Text("a.yaml", ""), 0, data, 0, {}), (), data)


def job(spec: Any) -> dict[str, Any]:
    about = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "a"}}
    return {**about, "spec": {"template": {"spec": spec}}}


def problems(data: Any) -> list[object]:
    found = validate(cursor(data), Target((0, 19)))
    return [(p.code, p.place.route, p.message, p.help, [r.route for r in p.related]) for p in found]


def refusals(spec: Any) -> list[object]:
    return [(f.route, f.text) for f in inspect.unwrap(pods._pod)(cursor(spec), ("Never",), frozenset())]


@pytest.mark.parametrize("seed", range(4))
def test_repeated_objects_are_judged_as_without_a_memory(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(seed)
    few = [job(SPEC), *(job(spoilt(SPEC, chance)) for _ in range(60))]
    many = [chance.choice(few) for _ in range(300)]
    found = [problems(each) for each in many]
    monkeypatch.setattr(pods, "_pod", inspect.unwrap(pods._pod))
    assert found == [problems(each) for each in many]
    assert any(found)
    assert not all(found)


@pytest.mark.parametrize("seed", range(4))
def test_the_wording_of_containers_matters_to_no_check(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(100):
        spec = spoilt(SPEC, chance)
        other = {**spec, **{kind: reworded(spec[kind]) for kind in CONTAINERS if kind in spec}}
        assert without_wording(spec) == without_wording(other)
        assert refusals(spec) == refusals(other)


def reworded(containers: Any) -> Any:
    """The same containers with other texts, which are empty where these are."""
    if not isinstance(containers, list):
        return containers
    return [{k: changed(k, v) for k, v in c.items()} if isinstance(c, dict) else c for c in containers]


def changed(key: str, value: Any) -> Any:
    if key == "env" and isinstance(value, list):
        return [{k: changed(k, v) for k, v in each.items()} if isinstance(each, dict) else each for each in value]
    if key in ("image", "value") and isinstance(value, str):
        return value and f"{value}-2"
    return [*value, "x"] if key in ("command", "args") and isinstance(value, list) else value


def without_wording(spec: Any) -> Any:
    return pods._without_wording(cursor(spec))


def test_what_python_takes_for_equal_is_told_apart() -> None:
    @remembered.remembered(lambda at: at.data)
    def is_one(at: Cursor, wanted: int) -> Iterator[Failure]:
        if type(at.data) is not int or at.data != wanted:
            yield refuse(at, "A", "Invalid value")

    for _ in range(2):
        assert [bool(is_one(cursor(v), 1)) for v in (1, True, 1.0, "1", [1], 2)] == [
            False,
            True,
            True,
            True,
            True,
            True,
        ]
        assert is_one(cursor(1), 2)


def test_data_that_marshal_cannot_write_is_judged_each_time() -> None:
    asked = []

    @remembered.remembered(lambda at: at.data)
    def check(at: Cursor) -> Iterator[Failure]:
        asked.append(at)
        yield from ()

    for _ in range(2):
        assert not list(check(cursor({"a": Unresolved("var.a")})))
        assert not list(check(cursor({"a": 1})))
    assert len(asked) == 3
