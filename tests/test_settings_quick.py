"""The quick way to settings against the schema: the same `Settings`, or no answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from qcheck.cluster.value import replace
from qcheck.documents.limits import Limits
from qcheck.documents.load import load
from qcheck.settings import Settings, validators
from qcheck.settings import without_pydantic as quick_way
from qcheck.settings.build import settings_of
from qcheck.settings.key_table import described
from qcheck.settings.schema import SettingsPart

FIXTURES = sorted((Path(__file__).parent.parent / "fixtures").rglob("qcheck.yaml"))
USUAL = """
version: 1
kueue: "0.19"
complete: true
clusters:
  prod-a:
    include: ["clusters/prod-a/**", "terraform/prod-a/*.tf"]
    render:
      - kustomize: clusters/prod-a
      - {helm: charts/queues, values: [values/prod-a.yaml], release: queues, namespace: kueue}
    kueue: "0.18"
  prod-b: {include: [clusters/prod-b], exclude: [clusters/prod-b/old], complete: false}
capacity:
  autoscaled: max
  reserves:
    - {pools: ["gpu-*"], perNode: {cpu: "2"}, reason: agents}
    - {pools: ["h100"], total: {nvidia.com/gpu: 8}, reason: "debug pods"}
  virtualResources: ["aws-ip", "tekton.dev/*"]
shapes:
  - {name: trainer, requests: {nvidia.com/gpu: 8, cpu: "90"}, flavors: [h100], pods: 16, level: example.com/block}
queues: {reserved: ["team-*"], shared: ["default"]}
rules:
  select: [QC1, QC2]
  ignore: [QC104]
  severity: {QC205: error}
  params: {QC311: {budget: 300s, operators: [RayJob=5m]}, QC313: {cutoff: -10}}
instanceTypes:
  our.8x: {allocatable: {cpu: "100", nvidia.com/gpu: 8}, accelerator: {model: H100, nvlinkDomain: 8}, labels: {a: b}}
limits: {bytes: 1000000, depth: 50, aliases: 0, documents: 10, values: 1000, renderSeconds: 5}
crds: [crds/jobs.yaml]
exclude: [vendor/]
baseline: accepted.json
"""
RENDERED = "render: [{helm: chart}, {kustomize: base/a}]\nexclude: [old]"
UNUSUAL = [
    "clusters: {'': {include: [a]}}", "shapes: [{name: '', requests: {cpu: 1}}]", "shapes: [{name: a, requests: {}}]",
    "capacity: {reserves: [{reason: a}]}", "capacity: {reserves: [{pools: [], total: {cpu: 1}, reason: a}]}",
    "rules: {params: {'': {a: 1}}}", "queues: {reserved: ['']}", "prices: {' ': 1}", "baseline: ''",
    "verson: 1", "version: 2", "version: true", "kueue: 0.19", 'kueue: "next"', "complete: yes please", "profile: other",
    "clusters: {a: {}}", "clusters: {a: {include: [../b]}}", "clusters: []", "exclude: vendor", "exclude: [~/etc]",
    "capacity: {autoscaled: some}", "capacity: {reserves: [{pools: [a]}]}", "shapes: [{name: a}]", "shapes: {}",
    "shapes: [{name: a, requests: {cpu: 1.5}}]", "shapes: [{name: a, requests: {cpu: many}}]",
    "rules: {severity: {QC1: bad}}", "shapes: [{name: a, requests: {cpu: 1}, pods: 0}]",
    "baseline: ~/x", "queues: {reserved: team}", "null", "[]", "1", "render: [{}]", "render: {helm: a}",
    "render: [{helm: a, kustomize: b}]", "render: [{kustomize: a, release: b}]", "render: [{helm: ../a}]",
    "render: [{helm: a, values: [/b]}]", "clusters: {a: {include: [b]}}\nrender: [{helm: c}]", "crds: [../a]",
    "limits: {depth: 501}", "limits: {bytes: 0}", "limits: {depth: true}", "limits: {documents: 1.5}",
    "rules: {params: {QC311: {budget: 1.5}}}", "rules: {params: {QC311: {budget: [1]}}}", "rules: {params: [a]}",
    "instanceTypes: {a: {labels: {b: c}}}", "instanceTypes: {a: {allocatable: {cpu: many}}}",
    "instanceTypes: {a: {allocatable: {}, accelerator: {nvlinkDomain: 0}}}",
]  # fmt: skip


def plain(text: str) -> object:
    documents = load(text, "qcheck.yaml").documents
    return documents[0].data if documents else None


def quick(data: object) -> Settings | None:
    part = quick_way.quick(data)
    return part and settings_of(part, "qcheck.yaml", ".")


def by_schema(data: object) -> Settings | None:
    try:
        return settings_of(SettingsPart.model_validate({} if data is None else data), "qcheck.yaml", ".")
    except ValidationError:
        return None


def same(data: object) -> Settings | None:
    """What the quick way says, once it is known that the schema says the same."""
    found, expected = quick(data), by_schema(data)
    if found is not None:
        assert expected is not None
        assert found == replace(expected, limits=found.limits)
        assert [getattr(found.limits, b) for b in Limits.__slots__] == [
            getattr(expected.limits, b) for b in Limits.__slots__
        ]
    return found


@pytest.mark.parametrize("text", [USUAL, RENDERED], ids=["all keys", "one cluster that is rendered"])
def test_the_quick_way_knows(text: str) -> None:
    assert same(plain(text)) is not None


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.parent.name)
def test_fixtures(path: Path) -> None:
    same(plain(path.read_text()))


@pytest.mark.parametrize(
    "data", [{"clusters": {1: {"include": ["a"]}}}, {"rules": {"severity": {1: "note"}}}, {"version": 1.0}]
)
def test_it_leaves_other_types_to_the_schema(data: object) -> None:
    assert quick(data) is None


@pytest.mark.parametrize("text", UNUSUAL)
def test_it_leaves_mistakes_to_the_schema(text: str) -> None:
    assert quick(plain(text)) is None


TOP = [
    "version", "kueue", "complete", "clusters", "capacity", "shapes", "queues", "rules", "baseline", "render", "limits",
    "crds", "instanceTypes",
]  # fmt: skip
BELOW = [
    "include", "pools", "reason", "name", "requests", "cpu", "select", "severity", "reserved", "params", "render", "helm",
    "kustomize", "values", "release", "allocatable", "accelerator", "labels", "model", "bytes", "depth", "aliases",
]  # fmt: skip
VALUES: Any = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 9)
    | st.sampled_from(["", "0.19", "8", "max", "error", "a/b", "../x", "QC1"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(BELOW), inner),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from(TOP), VALUES, max_size=4))
def test_it_says_what_the_schema_says(data: dict[str, Any]) -> None:
    same(data)


@given(st.sampled_from(sorted(plain(USUAL))), VALUES)  # type: ignore[call-overload]
def test_it_says_the_same_of_one_part_changed(key: str, value: object) -> None:
    same({**plain(USUAL), key: value})  # type: ignore[dict-item]


def test_the_keys_are_those_of_the_models() -> None:
    assert Path(quick_way.KEYS).read_text(encoding="utf-8") == described(), "run make docs"


def test_cross_checks_have_a_name_that_the_quick_way_knows() -> None:
    for part in json.loads(described()).values():
        assert all(callable(getattr(validators, name)) for name in part["checks"])
