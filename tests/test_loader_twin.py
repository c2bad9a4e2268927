"""The fast loader against its slow twin, and both against what the API server's own reader says."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import slow_loader
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from plain_yaml import written
from ruamel.yaml.error import YAMLError

from qcheck.documents import events, limits, templates
from qcheck.documents.composed import RefusedText
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


def same(text: str, read: tuple[object, slow_loader.Extents]) -> None:
    """The loader agrees with what its twin `read` of a text with one document, on every value and place."""
    data, extents = read
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
        loads_alike(chunk)


@cache
def loads_alike(chunk: str) -> None:
    """Half of all documents are in several fixtures: each is compared once."""
    try:
        read = slow_loader.load(chunk)
    except (YAMLError, ValueError):
        return
    if read[0] is not None and templates.placeholder(read[0]) is None:
        same(chunk, read)


TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"], include_characters="\n"), max_size=40)
WORDS = st.sampled_from(
    ["y", "no", "012", "1e3", "~", "1:30", "x: y", "a #b", "- c", "0x1F", "two words", "", "<<", "*a", "8"]
)
DATA: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS | WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS | WORDS, inner, max_size=4),
    max_leaves=25,
)


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
    text = written([data], flow=flow, style=style, width=width, indent=indent, aliases=False)
    try:
        known = slow_loader.load(text)
    except (YAMLError, ValueError):
        return
    assume(templates.placeholder(known[0]) is None)
    same(text, known)


@settings(max_examples=50, deadline=None)
@given(data=DATA)
def test_aliases_stand_for_what_they_name(data: object) -> None:
    text = written({"first": data, "again": [data]})
    try:
        expected, _ = slow_loader.load(text)
    except (YAMLError, ValueError):
        return
    assume(templates.placeholder(expected) is None)
    [document] = load(text, "x.yaml").documents
    assert json.dumps(document.data) == json.dumps(expected)


def read_by_events(text: str) -> tuple[str, list[Any]]:
    """Data and offsets of every container of a document, in order."""
    composed = events.compose(text, 0, limits.DEFAULT)
    places: list[Any] = []
    containers = [composed.data]
    while containers:
        container = containers.pop()
        if isinstance(container, (dict, list)):
            assert isinstance(composed.where, dict)
            places.append(composed.where[id(container)])
            containers += container.values() if isinstance(container, dict) else container
    return json.dumps(composed.data), [composed.start, composed.repeated, *places]


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: str(path.relative_to(HERE.parent)))
def test_without_libyaml_the_pure_parser_reads_the_same(path: Path) -> None:
    for chunk in path.read_text().split("\n---\n"):
        parsers_read_alike(chunk)


@cache
def parsers_read_alike(chunk: str) -> None:
    try:
        expected = read_by_events(chunk)
    except RefusedText:
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(events, "LIBYAML", None)
        assert read_by_events(chunk) == expected


LIBYAML = events.LIBYAML
PURE_DIFFERS = {"a:\tb": "refuses", "a: b\tc": "refuses", "%FOO bar\n---\na: 1": "accepts"} | dict.fromkeys(
    ("a: \x85b", "a: \u2028b"), "accepts"
)
"""Texts of the table below that ruamel.yaml's pure parser takes for something else than the API server does."""


@pytest.mark.parametrize("case", GO, ids=lambda case: repr(case["yaml"]))
def test_values_without_libyaml(case: dict[str, str | None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "LIBYAML", None)
    text = case["yaml"] or ""
    try:
        value = read_by_events(text)[0]
    except RefusedText:
        assert case["json"] is None or PURE_DIFFERS.get(text) == "refuses"
        return
    if PURE_DIFFERS.get(text) == "accepts":
        assert case["json"] is None
    else:
        assert json.loads(value) == json.loads(case["json"] or "refused")


@pytest.mark.parametrize("word", ["nginx:1.27", "http://host:80/a", "a::b", "a:b:", "10:30", "-:1"])
@pytest.mark.parametrize("frame", ["a: [{0}]", "a: {{b: {0}, c: 1}}", "[x, {0}]", "- &n [{0}]\n"])
def test_words_with_colons_in_flow_collections(word: str, frame: str) -> None:
    """libyaml 0.1.7 refuses them; the API server and kubectl read them."""
    text = frame.format(word)
    value, _ = read_by_events(text)
    assert json.dumps(word) in value
    assert [json.dumps(document.data) for document in load(text, "x.yaml").documents] == [value]


@pytest.mark.parametrize("text", ["[a?b]", "{a? : 1}", "%YAML 1.0\n---\na: 1", '"\\U00110000"', "a: \x07", "[a:b, {"])
@pytest.mark.parametrize("libyaml", [LIBYAML, None], ids=["libyaml", "pure"])
def test_both_parsers_refuse(text: str, libyaml: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "LIBYAML", libyaml)
    with pytest.raises(RefusedText, match="not valid YAML"):
        events.compose(text, 0, limits.DEFAULT)


def test_comments_are_found_behind_words_with_colons() -> None:
    text = 'a: [nginx:1.27]\nb: "# qcheck: ignore[QC101] no"\nc: 1 # qcheck: ignore[QC102] yes\n'
    [comment] = load(text, "x.yaml").comments("qcheck:")
    assert (comment.line, comment.text) == (3, "qcheck: ignore[QC102] yes")
