"""Public text is plain technical English: phrases that were replaced must not come back."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "action.yml", ".pre-commit-hooks.yaml"]
MODULES = sorted((ROOT / "qcheck").rglob("*.py"))
TEXTS = [
    *(ROOT / page for page in PAGES),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "rules").glob("*.yaml")),
    ROOT / "rules" / "messages.json",
    *MODULES,
]
REPLACED = re.compile(
    r"\b(wait(s|ed)? for ever|stays? pending for ever|in silence|without a word|half-read|what stands there is lost"
    r"|as good as (none|random)|is no (quantity|proof|news|reason)|stays 2|is a hope|looked at by hand|none of them without"
    r"|write what the message says|what is meant|which was meant|goes neither|held to its format|live on what|never looked at"
    r"|put right|shall not|gives back first|words beside)\b|\bmended\b|\bat the most\b"
    r"|\b(outside of (the quota|Kueue|any)|in vain|the files as they are|behind (its|Kueue's) back|none of Kueue's business"
    r"|(do|does) not go (together|with)|goes with none|stand only once|(is|are) called so|names of their own"
    r"|is no (duration|cipher suite|label key|number larger|release|multiple|built-in|valid)"
    r"|which is no queue|are no (objects|manifests)"
    r"|gave no answer|it said nothing|(is|are) wanted, \d|can give (each )?\d|is the first that does|release \S+ dropped it"
    r"|evicts none of them|kube-scheduler the other way round|the repository around you|hungriest"
    r"|at most no limit|leave idle the difference|out a second time|nothing of it can be|other (queue )?than \S+ has"
    r"|(API server|server-side apply|[Ww]ebhooks?|admission|Kueue|Volcano) (then |may )?refuses?|refused by the API server"
    r"|looks right; together|decides? about findings|whichever way it is|when somebody asks|gets going again)\b",
    re.IGNORECASE,
)
QUESTION = re.compile(r"(What|Whether|How|Where|Why|Who|Which|When)\b")


@pytest.mark.parametrize("text", TEXTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_phrases_that_were_replaced_stay_away(text: Path) -> None:
    lines = text.read_text(encoding="utf-8").splitlines()
    assert not [f"{number}: {line.strip()}" for number, line in enumerate(lines, 1) if REPLACED.search(line)]


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_docstrings_start_with_a_verb_or_a_noun_phrase(module: Path) -> None:
    texts = docstrings(ast.parse(module.read_text(encoding="utf-8")))
    assert not [f"{number}: {text.splitlines()[0]}" for number, text in texts if QUESTION.match(text)]


def docstrings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the docstrings of a module, its classes, functions and fields, each with its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.lineno, node.value.value
