"""Run `check` over real repositories and print what it finds by rule, for triage.

    python tests/corpus.py [DIRECTORY ...]

Each directory is one repository; without any, each file of `../shared/corpus` is looked at by itself. Nothing is copied.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from time import monotonic

from qcheck.api import audit
from qcheck.findings.severity import SEVERITIES
from qcheck.settings.load import load_settings

CORPUS = Path(__file__).resolve().parent.parent.parent / "shared" / "corpus"
SHOWN = 3
"""Findings of a rule that are shown with their message."""
Told = tuple[str, str, str, str]
"""Severity, rule, place and message."""


def found(path: Path) -> list[Told]:
    """Every finding in a file or directory, with the settings that hold there."""
    result = audit([str(path)], load_settings(str(path)))
    return [
        (f.severity, f"{f.rule.id} {f.rule.name}" if f.rule else "", f.primary.line, f.message) for f in result.findings
    ]


def report(title: str, told: list[Told], seconds: float) -> str:
    """Counts by rule, the worst first, each with some examples."""
    counts = Counter((severity, rule) for severity, rule, _, _ in told)
    lines = [f"== {title}: {len(told)} findings in {seconds:.1f} s"]
    for severity, rule in sorted(counts, key=lambda k: (-SEVERITIES.index(k[0]), k[1])):
        lines.append(f"{counts[severity, rule]:5} {severity:8} {rule}")
        alike = [t for t in told if t[:2] == (severity, rule)]
        if severity != "note":
            lines += [f"        {place}: {message[:200]}" for _, _, place, message in alike[:SHOWN]]
    return "\n".join(lines)


def corpus(directory: Path) -> list[Path]:
    """The files of the corpus that are beside the project."""
    return sorted(p for p in directory.iterdir() if p.is_file()) if directory.is_dir() else []


def main(words: list[str]) -> int:
    if words:
        for word in words:
            start = monotonic()
            told = found(Path(word))
            print(report(word, told, monotonic() - start))
        return 0
    start = monotonic()
    files = corpus(CORPUS)
    told = [each for path in files for each in found(path)]
    print(report(f"{len(files)} files of {CORPUS.name}", told, monotonic() - start))
    return 0 if files else 2


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except BrokenPipeError:
        sys.exit(2)
