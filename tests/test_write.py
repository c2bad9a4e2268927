"""New YAML text: it means what was given, to the API server's reader and to qcheck's."""

from __future__ import annotations

from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from qcheck.documents.commented_yaml import YamlEntry, comment, to_yaml
from qcheck.documents.load import load

TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=20) | st.sampled_from(
    ["", "y", "no", "012", "1e3", "~", "1:30", "x: y", "a #b", "- c", "0x1F", "<<", "*a", "8", "team-*", "a/**", " a "]
)
VALUES: Any = st.recursive(
    st.booleans() | st.integers(-(2**63), 2**63 - 1) | TEXTS,  # no null: ruamel.yaml misplaces one above a long item
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=15,
)


@given(st.dictionaries(TEXTS, VALUES, min_size=1, max_size=4))
def test_what_is_written_is_read_back(data: dict[str, Any]) -> None:
    text = to_yaml(YamlEntry(key, value, above=["", "why: [x"], beside="note #2") for key, value in data.items())
    loaded = load(text, "new.yaml")
    assume(not any(fault.code == "template-not-rendered" for fault in loaded.faults))  # `__A__` is a placeholder
    assert not loaded.faults
    assert [document.data for document in loaded.documents] == [data]


def test_it_is_written_for_people() -> None:
    entries = [
        YamlEntry("version", 1, above=["Settings."]),
        YamlEntry("kueue", "0.19", beside="the release"),
        YamlEntry("clusters", {"a": {"include": ["a/**", "*.tf"]}, "b": {}}, above=["", "Two folders:"]),
    ]
    assert to_yaml(entries) == (
        "# Settings.\n"
        "version: 1\n"
        'kueue: "0.19" # the release\n'
        "\n"
        "# Two folders:\n"
        "clusters:\n"
        "  a:\n"
        '    include: [a/**, "*.tf"]\n'
        "  b: {}\n"
    )


def test_a_long_list_gets_a_line_for_each_item() -> None:
    text = to_yaml([YamlEntry("include", [f"clusters/with-a-long-name-{at}/**" for at in range(4)])])
    assert text.splitlines()[:2] == ["include:", "  - clusters/with-a-long-name-0/**"]


def test_examples_are_comments() -> None:
    assert comment(["", *to_yaml([YamlEntry("baseline", "b.json")]).splitlines()]) == "\n# baseline: b.json\n"
