"""Validation that skips what is like something right finds what validation without a memory finds."""

from __future__ import annotations

import copy
import random
from typing import Any

import pytest
from test_junk import spoilt

from qcheck.documents.composed import Unresolved
from qcheck.documents.cursor import Cursor
from qcheck.documents.document import Document
from qcheck.documents.text import Text
from qcheck.kinds import validate as validation
from qcheck.kinds.validation.likeness import likeness
from qcheck.kinds.validation.target import Target

POD: dict[str, Any] = {
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
ABOUT = {"name": "train-1", "namespace": "team-1", "labels": {"app": "train-1", "kueue.x-k8s.io/queue-name": "main"}}
TEMPLATE = {"metadata": {"labels": {"app": "train-1"}}, "spec": POD}
JOB = {"completionMode": "Indexed", "completions": 10, "template": TEMPLATE}
RUNS_ALWAYS = {"metadata": {"labels": {"app": "train-1"}}, "spec": POD | {"restartPolicy": "Always"}}
QUOTA = [{"name": "cpu", "nominalQuota": "5"}, {"name": "memory", "nominalQuota": "1Gi"}]
OBJECTS: list[dict[str, Any]] = [
    {"apiVersion": version, "kind": kind, "metadata": ABOUT, "spec": spec}
    for version, kind, spec in (
        ("v1", "Pod", POD),
        ("batch/v1", "Job", JOB),
        ("batch/v1", "CronJob", {"schedule": "* * * * *", "jobTemplate": {"spec": JOB}}),
        ("apps/v1", "Deployment", {"selector": {"matchLabels": {"app": "train-1"}}, "template": RUNS_ALWAYS}),
        ("jobset.x-k8s.io/v1alpha2", "JobSet", {"replicatedJobs": [{"name": "a", "template": {"spec": JOB}}]}),
        (
            "kueue.x-k8s.io/v1beta2",
            "ClusterQueue",
            {
                "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "train-1"}},
                "resourceGroups": [
                    {"coveredResources": ["cpu", "memory"], "flavors": [{"name": "a", "resources": QUOTA}]},
                ],
            },
        ),
    )
]
TARGET = Target((0, 19))


def problems(data: Any) -> list[tuple[object, ...]]:
    root = Cursor(Document(Text("a.yaml", ""), 0, data, 0, {}), (), data)
    found = validation.validate(root, TARGET)
    return [(p.code, p.place.route, p.message, p.help, [r.route for r in p.related]) for p in found]


@pytest.fixture
def forgetful(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(validation, "MOST", 0)
    monkeypatch.setattr(validation, "_right", set())


def renamed(value: Any, name: str) -> Any:
    """The same with another name, and other texts where they matter to nobody."""
    if isinstance(value, list):
        return [renamed(each, name) for each in value]
    if isinstance(value, dict):
        return {key: reworded(key, renamed(each, name)) for key, each in value.items()}
    return name if value == ABOUT["name"] else value


def reworded(key: str, value: Any) -> Any:
    if key in ("image", "value") and isinstance(value, str):
        return value and f"{value}-2"
    is_list = key in ("command", "args") and isinstance(value, list)
    return [f"{each}-2" if each and isinstance(each, str) else each for each in value] if is_list else value


@pytest.mark.parametrize("seed", range(6))
def test_repeated_objects_are_judged_as_without_a_memory(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(seed)
    few = [*OBJECTS, *(spoilt(chance.choice(OBJECTS), chance) for _ in range(60))]
    many = [renamed(chance.choice(few), f"train-{chance.randrange(2, 12)}") for _ in range(300)]
    found = [problems(each) for each in many]
    monkeypatch.setattr(validation, "MOST", 0)
    monkeypatch.setattr(validation, "_right", set())
    assert found == [problems(each) for each in many]
    assert any(found)
    assert not all(found)


@pytest.mark.usefixtures("forgetful")
@pytest.mark.parametrize("seed", range(6))
def test_alike_objects_have_the_same_problems(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(60):
        one = spoilt(chance.choice(OBJECTS), chance)
        other = renamed(one, "train-2")
        if likeness(one, TARGET) == likeness(other, TARGET):
            assert [p[:2] for p in problems(one)] == [p[:2] for p in problems(other)]


@pytest.mark.parametrize("data", OBJECTS, ids=lambda data: data["kind"])
def test_another_name_and_wording_leave_an_object_alike(data: dict[str, Any]) -> None:
    assert not problems(data)
    assert likeness(renamed(data, "train-2"), TARGET) == likeness(data, TARGET)
    assert likeness(renamed(data, "train-10"), TARGET) != likeness(data, TARGET)
    assert likeness(renamed(data, "Train-2"), TARGET) != likeness(data, TARGET)
    assert likeness(data, Target((0, 18))) != likeness(data, TARGET)


def test_a_label_that_is_no_name_counts() -> None:
    other = copy.deepcopy(OBJECTS[3])
    other["spec"]["template"]["metadata"]["labels"]["app"] = "train-2"
    assert not problems(OBJECTS[3])
    assert problems(other)


def test_what_python_takes_for_equal_is_told_apart() -> None:
    numbers: list[object] = [1, 1.0, True, "1"]
    nothing: list[object] = [0, 0.0, False, "", None, [], {}]
    for values in (numbers, nothing):
        assert len({likeness({"spec": {"a": value}}, TARGET) for value in values}) == len(values)


def test_what_cannot_be_told_or_is_too_long_is_not_remembered() -> None:
    assert likeness({"spec": {"replicas": Unresolved("var.a")}}, TARGET) is None
    assert likeness({"spec": {"a": "x" * 10_000}}, TARGET) is None
