"""The fast loader against its slow twin, and both against what the API server's own reader says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import slow_loader
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from qcheck.documents.document import Document
from qcheck.documents.load import load

HERE = Path(__file__).parent
GO = [json.loads(line) for line in (HERE / "data" / "go-yaml-v2.jsonl").read_text().splitlines()]
"""Texts, and the JSON that sigs.k8s.io/yaml 1.6 (go-yaml v2.4.2) makes of them; null where it refuses.

Left out, because no manifest holds them: floats and out-of-range integers as keys, and !!timestamp on what is none."""
FIXTURES = sorted((HERE.parent / "fixtures").rglob("*.yaml"))


@pytest.mark.parametrize("case", GO, ids=lambda case: repr(case["yaml"]))
def test_values_are_those_of_the_api_server(case: dict[str, str | None]) -> None:
    loaded = load(case["yaml"] or "", "x.yaml")
    faults = [fault for fault in loaded.faults if fault.code != "duplicate-key"]
    if case["json"] is None:
        assert faults
        return
    assert not faults
    data = loaded.documents[0].data if loaded.documents else None
    assert json.dumps(data, sort_keys=True) == json.dumps(json.loads(case["json"]), sort_keys=True)


def same(text: str) -> None:
    """Both loaders read a text with one document, and agree on every value and place."""
    data, extents = slow_loader.load(text)
    [document] = load(text, "x.yaml").documents
    assert json.dumps(document.data) == json.dumps(data)
    for route, (start, end, key) in extents.items():
        assert place(document, route) == (start, end, key), route


def place(document: Document, route: tuple[str | int, ...]) -> tuple[int, int, int | None]:
    spot = document.spot(route)
    key = document.spot(route, on_key=True).start if route and isinstance(route[-1], str) else None
    return spot.start, spot.end, key


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: str(path.relative_to(HERE.parent)))
def test_fixtures_load_alike(path: Path) -> None:
    for chunk in path.read_text().split("\n---\n"):
        try:
            data, _ = slow_loader.load(chunk)
        except (yaml.YAMLError, ValueError):
            continue
        if data is not None:
            same(chunk)


TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"], include_characters="\n"), max_size=40)
WORDS = st.sampled_from(
    ["y", "no", "012", "1e3", "~", "1:30", "x: y", "a #b", "- c", "0x1F", "two words", "", "<<", "*a", "8"]
)
DATA: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS | WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS | WORDS, inner, max_size=4),
    max_leaves=25,
)


class Plainly(yaml.Dumper):
    def ignore_aliases(self, data: object) -> bool:
        return True


@settings(max_examples=150, deadline=None)
@given(
    data=DATA,
    flow=st.sampled_from([True, False, None]),
    style=st.sampled_from([None, "'", '"', "|", ">"]),
    width=st.sampled_from([10, 30, 1000]),
    indent=st.sampled_from([2, 4]),
)
def test_generated_documents_load_alike(
    data: object, flow: bool | None, style: str | None, width: int, indent: int
) -> None:
    text = yaml.dump(
        [data],
        None,
        Plainly,
        default_flow_style=flow,
        default_style=style,
        width=width,
        indent=indent,
        allow_unicode=True,
    )
    try:
        slow_loader.load(text)
    except (yaml.YAMLError, ValueError):
        return
    same(text)


@settings(max_examples=50, deadline=None)
@given(data=DATA)
def test_aliases_stand_for_what_they_name(data: object) -> None:
    text = yaml.dump({"first": data, "again": [data]}, sort_keys=False)
    try:
        expected, _ = slow_loader.load(text)
    except (yaml.YAMLError, ValueError):
        return
    [document] = load(text, "x.yaml").documents
    assert json.dumps(document.data) == json.dumps(expected)
