"""Public text is plain technical English: phrases that were replaced must not come back."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "action.yml", ".pre-commit-hooks.yaml"]
TEXTS = [
    *(ROOT / page for page in PAGES),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "rules").glob("*.yaml")),
    *sorted((ROOT / "qcheck").rglob("*.py")),
]
REPLACED = re.compile(
    r"\b(wait(s|ed)? for ever|stays? pending for ever|in silence|without a word|half-read|what stands there is lost"
    r"|as good as (none|random)|is no (quantity|proof|news|reason)|stays 2|is a hope|looked at by hand|none of them without"
    r"|write what the message says|what is meant|which was meant|goes neither|held to its format|live on what|never looked at"
    r"|put right|shall not|gives back first|words beside)\b|\bmended\b|\bat the most\b",
    re.IGNORECASE,
)


@pytest.mark.parametrize("text", TEXTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_phrases_that_were_replaced_stay_away(text: Path) -> None:
    lines = text.read_text(encoding="utf-8").splitlines()
    assert not [f"{number}: {line.strip()}" for number, line in enumerate(lines, 1) if REPLACED.search(line)]
