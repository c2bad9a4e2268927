"""The quick way to settings against the schema: the same `Settings`, or no answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from qcheck.documents.load import load
from qcheck.model.value import replace
from qcheck.settings import Settings
from qcheck.settings.quick import quick
from qcheck.settings.schema import SettingsPart

FIXTURES = sorted((Path(__file__).parent.parent / "fixtures").rglob("qcheck.yaml"))
USUAL = """
version: 1
kueue: "0.19"
complete: true
clusters:
  prod-a:
    include: ["clusters/prod-a/**", "terraform/prod-a/*.tf"]
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
rules: {select: [QC1, QC2], ignore: [QC104], severity: {QC205: error}}
exclude: [vendor/]
baseline: accepted.json
"""
UNUSUAL = [
    "verson: 1", "version: 2", "version: true", "kueue: 0.19", 'kueue: "next"', "complete: yes please", "profile: other",
    "clusters: {a: {}}", "clusters: {a: {include: [../b]}}", "clusters: []", "exclude: vendor", "exclude: [/etc]",
    "capacity: {autoscaled: some}", "capacity: {reserves: [{pools: [a]}]}", "shapes: [{name: a}]", "shapes: {}",
    "shapes: [{name: a, requests: {cpu: 1.5}}]", "shapes: [{name: a, requests: {cpu: many}}]",
    "rules: {severity: {QC1: bad}}", "shapes: [{name: a, requests: {cpu: 1}, pods: 0}]",
    "baseline: ~/x", "queues: {reserved: team}", "null", "[]", "1",
]  # fmt: skip


def plain(text: str) -> object:
    documents = load(text, "qcheck.yaml").documents
    return documents[0].data if documents else None


def by_schema(data: object) -> Settings | None:
    try:
        return SettingsPart.model_validate({} if data is None else data).value("qcheck.yaml", ".")
    except ValidationError:
        return None


def same(data: object) -> Settings | None:
    """What the quick way says, once it is known that the schema says the same."""
    found, expected = quick(data, "qcheck.yaml", "."), by_schema(data)
    if found is not None:
        assert expected is not None
        assert found == replace(expected, limits=found.limits)
        assert expected.limits.bytes == found.limits.bytes
    return found


def test_the_usual_keys_go_the_quick_way() -> None:
    assert same(plain(USUAL)) is not None


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.parent.name)
def test_fixtures(path: Path) -> None:
    same(plain(path.read_text()))


@pytest.mark.parametrize(
    "data", [{"clusters": {1: {"include": ["a"]}}}, {"rules": {"severity": {1: "note"}}}, {"version": 1.0}]
)
def test_keys_and_numbers_of_other_types_are_left_to_the_schema(data: object) -> None:
    assert quick(data, "qcheck.yaml", ".") is None


@pytest.mark.parametrize("text", UNUSUAL)
def test_what_is_unusual_or_wrong_is_left_to_the_schema(text: str) -> None:
    assert quick(plain(text), "qcheck.yaml", ".") is None


VALUES: Any = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 9)
    | st.sampled_from(["", "0.19", "8", "max", "error", "a/b", "../x", "QC1"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(
                ["include", "pools", "reason", "name", "requests", "cpu", "select", "severity", "reserved"]
            ),
            inner,
        )
    ),
    max_leaves=6,
)


@given(
    st.dictionaries(
        st.sampled_from(
            ["version", "kueue", "complete", "clusters", "capacity", "shapes", "queues", "rules", "baseline"]
        ),
        VALUES,
        max_size=4,
    )
)
def test_any_data(data: dict[str, Any]) -> None:
    same(data)


@given(st.sampled_from(sorted(plain(USUAL))), VALUES)  # type: ignore[call-overload]
def test_the_usual_keys_with_one_part_changed(key: str, value: object) -> None:
    same({**plain(USUAL), key: value})  # type: ignore[dict-item]
