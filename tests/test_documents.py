"""Text to documents: values, positions, faults, comments."""

from __future__ import annotations

import pytest

from qcheck.documents.cursor import root
from qcheck.documents.limits import Limits
from qcheck.documents.load import Loaded, load

TEXT = """\
# a queue
kind: ClusterQueue   # qcheck: ignore[QC205] for now
spec:
  flow: {b: [1, 2 ,
    'x]'], "c": y}
  list:
  - e: 1e3
    f: |
      # qcheck: not me
      x

  - g: several
      words   # no
  empty:
  shared: &s {k: v}
  again: *s
"""


def only(text: str | bytes, path: str = "x.yaml") -> Loaded:
    loaded = load(text, path)
    assert not loaded.faults
    return loaded


def test_spans_of_values_and_keys() -> None:
    document = only(TEXT).documents[0]
    assert document.span(("kind",)) == (2, 7, 2, 19)
    assert document.span(("kind",), on_key=True) == (2, 1, 2, 5)
    assert document.span(("spec", "flow", "b")) == (4, 13, 5, 10)
    assert document.span(("spec", "flow", "c")) == (5, 17, 5, 18)
    assert document.span(("spec", "list", 0, "f")) == (8, 8, 10, 8)
    assert document.span(("spec", "list", 1, "g")) == (12, 8, 13, 12)
    assert document.span(("spec", "empty")) == (14, 9, 14, 9)
    assert document.span(("spec", "again", "k")) == (15, 18, 15, 19)
    assert document.span(("spec", "again")) == (16, 10, 16, 12)


def test_absent_routes_point_to_the_nearest_ancestor() -> None:
    document = only(TEXT).documents[0]
    assert document.has(("spec", "list", 0, "e"))
    assert not document.has(("spec", "list", 2))
    assert document.span(("spec", "list", 2, "e")) == document.span(("spec", "list"), on_key=True)


def test_scalars_mean_what_the_api_server_reads() -> None:
    document = only("a: 1e3\nb: 0.10\nc: 1_000\nd: '8'\ne: &q !!str 012\nf: *q\n").documents[0]
    assert document.data == {"a": 1000, "b": 0.1, "c": 1000, "d": "8", "e": "012", "f": "012"}


def test_one_broken_document_hides_no_other() -> None:
    loaded = load("kind: A\n---\nkind: B\n x: [\n---\nkind: C\n", "x.yaml")
    assert [root(document)["kind"].text() for document in loaded.documents] == ["A", "C"]
    assert [(fault.code, fault.spot.span()[0]) for fault in loaded.faults] == [("yaml-syntax", 4)]
    assert [document.index for document in loaded.documents] == [0, 2]


def test_comments_but_not_strings() -> None:
    found = only(TEXT).comments("qcheck:")
    assert [(c.line, c.text, c.stands_alone) for c in found] == [(2, "qcheck: ignore[QC205] for now", False)]


def test_duplicate_keys_name_both_places() -> None:
    fault = load("a: 1\nb: {true: 1, y: 2}\na: 3\n", "x.yaml").faults
    assert [f.code for f in fault] == ["duplicate-key", "duplicate-key"]
    assert [(f.related[0][1].span()[:2], f.spot.span()[:2]) for f in fault] == [((2, 5), (2, 14)), ((1, 1), (3, 1))]


@pytest.mark.parametrize("before", ["", "%YAML 1.1\n---\n"], ids=["by lines", "by events"])
def test_a_key_that_is_repeated_many_times_is_one_fault(before: str) -> None:
    (fault,) = load(before + "a: 0\n" * 2000, "x.yaml").faults
    line = before.count("\n")
    assert fault.message.startswith("the key 'a' occurs 2000 times in one mapping")
    assert fault.spot.span()[0] == line + 2
    assert [spot.span()[0] for _, spot in fault.related] == [line + n for n in (1, *range(3, 11))]


def test_merge_keys_follow_the_order_of_the_document() -> None:
    text = "base: &b {k: 1, m: 1}\none: {<<: *b, k: 2}\ntwo: {k: 2, <<: *b}\n"
    loaded = only(text)
    assert loaded.documents[0].data == {"base": {"k": 1, "m": 1}, "one": {"k": 2, "m": 1}, "two": {"k": 1, "m": 1}}
    assert loaded.documents[0].span(("one", "m"))[0] == 1


def test_limits_name_themselves() -> None:
    bomb = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"{b}: &{b} [{','.join(['*' + a] * 9)}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
    )
    cases = {
        "aliases": (bomb, "x.yaml"),
        "depth": ("[" * 500 + "]" * 500, "x.yaml"),
        "documents": ("a: 1\n---\n" * 50, "x.yaml"),
        "values": ("- a\n" * 201, "x.yaml"),
        "bytes": ("a" * 10_001, "x.yaml"),
    }
    for name, (text, path) in cases.items():
        faults = load(text, path, Limits(bytes=10_000, documents=20, values=200)).faults
        assert [(f.code, f.data["limit"]) for f in faults] == [("limit", name)]
    many = '{"kind": "List", "items": [{}, {}, {}]}'
    for path in ("x.yaml", "x.json"):
        assert [f.data["limit"] for f in load(many, path, Limits(documents=2)).faults] == ["documents"]
    assert load("[" * 101 + "]" * 101, "x.json").faults[0].data == {"limit": "depth"}
    assert load("[" * 100_000, "x.json").faults[0].code in ("limit", "yaml-syntax")


def test_json_has_positions_too() -> None:
    document = only('{"kind": "List",\n "items": [{"a": 1},\n  {"b": [true, "x\\""]}]}', "x.json").documents[0]
    assert document.span(("items", 1, "b", 1)) == (3, 16, 3, 21)
    assert document.span(("items", 1, "b"), on_key=True) == (3, 4, 3, 7)
    assert document.span(("kind",)) == (1, 10, 1, 16)
    assert load('{"a": 1, "a": 2}', "x.json").faults[0].spot.span()[:2] == (1, 10)


def test_encodings_and_line_ends() -> None:
    for raw in (TEXT.encode("utf-8-sig"), TEXT.encode("utf-16"), TEXT.replace("\n", "\r\n").encode()):
        document = only(raw).documents[0]
        assert document.span(("spec", "list", 1, "g")) == (12, 8, 13, 12)
        assert document.line(2).startswith("kind: ClusterQueue")
    assert [f.code for f in load(b"kind: A\nx: \xff\n", "x.yaml").faults] == ["not-text"]
    assert [f.code for f in load(b"kind: A\nx: \0\n", "x.yaml").faults] == ["not-text"]


def test_cursors_never_fail() -> None:
    cursor = root(only(TEXT).documents[0])
    assert cursor["spec"]["list"][0]["e"].integer() == 1000
    assert cursor["nope"][3]["x"].data is None
    assert cursor["spec"]["flow"]["c"].boolean() is True
    assert [key for key, _ in cursor["spec"]["flow"].mapping()] == ["b", "c"]
    assert cursor["spec"]["list"].items()[1].route == ("spec", "list", 1)
    assert cursor["spec"]["list"].text() is None
