"""The cases below `fixtures/rules/`, and the marks in them that say what must be found where.

`#! QC101 primary` at the end of a line means that a finding of QC101 has its primary place on that line; `related` that
one has a related place there; `primary x2` that two findings have. Several marks are separated by commas. Files that
cannot carry comments are marked in a file `marks`: `nodes.json:12 QC101 primary`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
RULES = FIXTURES / "rules"
AT_END = re.compile(r"#! (QC\d{3} .*)$")
MARK = re.compile(r"(QC\d{3}) (primary|related)(?: x(\d+))?")
ELSEWHERE = re.compile(r"(\S+):(\d+) (QC\d{3} .*)")

Spot = tuple[str, str, str, int]
"""Rule, role, file relative to the case, line."""


class Case:
    """One directory `fixtures/rules/<id>-<name>/{fail,pass}-<case>`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.rule = folder.parent.name[:5]
        self.fails = folder.name.startswith("fail-")

    @property
    def title(self) -> str:
        return f"{self.folder.parent.name}/{self.folder.name}"

    def marks(self) -> Counter[Spot]:
        """How many findings are expected at each spot."""
        return Counter(dict(self._marks()))

    def _marks(self) -> Iterator[tuple[Spot, int]]:
        for path in sorted(p for p in self.folder.rglob("*") if p.is_file()):
            name = path.relative_to(self.folder).as_posix()
            for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
                if name == "marks" and (there := ELSEWHERE.fullmatch(line)):
                    yield from _spots(there[3], there[1], int(there[2]))
                elif found := AT_END.search(line):
                    yield from _spots(found[1], name, number)


def _spots(text: str, name: str, line: int) -> Iterator[tuple[Spot, int]]:
    for part in text.split(","):
        mark = MARK.fullmatch(part.strip())
        assert mark, f"{name}:{line}: not a mark: {part.strip()!r}"
        yield (mark[1], mark[2], name, line), int(mark[3] or 1)


def cases() -> list[Case]:
    folders = sorted(p for p in RULES.glob("*/*") if p.is_dir()) if RULES.is_dir() else []
    return [Case(folder) for folder in folders]
