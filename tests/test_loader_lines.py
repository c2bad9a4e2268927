"""The speed path against libyaml's events: whatever `lines` accepts is what `events` makes of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import bench_inputs
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from qcheck.documents import events, lines
from qcheck.documents.composed import VALUE_MASK, Composed
from qcheck.documents.limits import DEFAULT
from qcheck.documents.load import _chunks

HERE = Path(__file__).parent
TEXTS = [json.loads(line)["yaml"] for line in (HERE / "data" / "go-yaml-v2.jsonl").read_text().splitlines()]
FIXTURES = [path.read_text() for path in sorted((HERE.parent / "fixtures").rglob("*.yaml"))]
SEEDS = [*bench_inputs.documents(30), *(text[a:b] for text in FIXTURES for a, b in _chunks(text))]


def agree(text: str) -> bool:
    """Whether the speed path took the document; it may decline anything, and must be right about what it takes."""
    fast = lines.compose("\n" * 7 + text, 7, 7 + len(text), DEFAULT.depth)
    if fast is None:
        return False
    slow = events.compose(text, 7, DEFAULT)
    assert not slow.repeated
    assert json.dumps(fast.data) == json.dumps(slow.data)
    assert index(fast) == index(slow)
    return True


def index(composed: Composed) -> Any:
    """The index of a document, container by container."""

    def below(value: object, start: int) -> Any:
        if not isinstance(value, (dict, list)):
            return start
        entries = composed.where[id(value)] if isinstance(composed.where, dict) else composed.where.entries(start)
        if isinstance(value, dict) and isinstance(entries, dict):
            return {(key, at): below(value[key], at & VALUE_MASK) for key, at in entries.items()}
        assert isinstance(value, list)
        assert isinstance(entries, list)
        return [below(inner, at) for inner, at in zip(value, entries, strict=True)]

    return composed.start, below(composed.data, composed.start)


def test_ordinary_documents_go_the_fast_way() -> None:
    assert all(agree(text) for text in bench_inputs.documents(30))


@pytest.mark.parametrize("text", TEXTS, ids=repr)
def test_odd_documents(text: str) -> None:
    agree(text)


PIECES = [
    "- ",
    " ",
    "  ",
    ":",
    ": ",
    "#",
    " #",
    "'",
    '"',
    "|",
    ">",
    "\n",
    "\t",
    "[",
    "]",
    "{}",
    "a",
    "*a",
    "&a ",
    "!",
    "~",
]
PIECES += ["a: 1\n", "- b\n", "key:\n", "\\", "---", "...", ",", "%", "@", "\r", "0", "-", "?", "\u00a0", "\u2028", "é"]
EDITS = st.lists(
    st.tuples(st.integers(0, 2000), st.integers(0, 6), st.sampled_from([*PIECES, ""])), min_size=1, max_size=4
)


@settings(max_examples=400, deadline=None)
@given(text=st.sampled_from(SEEDS), edits=EDITS)
@example(text="a: {b: [c d, 'e'], f: {}}  # {\n- {a: b, a: b}\n", edits=[(0, 0, "")])
@example(text="a: |\n  x", edits=[(0, 0, "")])
@example(text="a: |\n    x\n  y\nb: 1\n", edits=[(0, 0, "")])
@example(text="a:\n- b\n-c: 1\n", edits=[(0, 0, "")])
@example(text=" a: 1\nb: 2\n", edits=[(0, 0, "")])
@example(text=f"a: {{{'x' * 1100}: 1}}\n", edits=[(0, 0, "")])
def test_damaged_documents(text: str, edits: list[tuple[int, int, str]]) -> None:
    for at, gone, piece in edits:
        at %= len(text) + 1
        text = text[:at] + piece + text[at + gone :]
    agree(text)
