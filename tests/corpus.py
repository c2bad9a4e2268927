"""Findings on real repositories, by rule and with the time each took: for triage, not a test.

python tests/corpus.py [DIRECTORY...]      # each is a repository
python tests/corpus.py --each DIRECTORY    # each entry of it is one
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import chdir
from pathlib import Path
from time import perf_counter

from qcheck.api import audit
from qcheck.findings.finding import Finding
from qcheck.findings.result import Result
from qcheck.reports.wording import by_rule, plural, title
from qcheck.settings import load_settings

SHARED = Path(__file__).resolve().parents[1] / ".." / "shared" / "corpus"
SHOWN = 3
"""Places that are listed of each rule below an error; of errors all are."""


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directories", nargs="*", type=Path)
    parser.add_argument("--each", action="store_true", help="each entry of the directories is a repository")
    given = parser.parse_args(words)
    if not given.directories and not SHARED.is_dir():
        print("no corpus: name a directory")
        return 2
    found: list[tuple[str, Finding]] = []
    for repository in _repositories(given.directories or [SHARED], given.each or not given.directories):
        began = perf_counter()
        result = _checked(repository)
        seconds = perf_counter() - began
        print(f"{seconds:6.2f} s  {repository.name}: {_summary(result)}")
        found += [(repository.name, f) for f in result.findings]
    for line in _triage(found):
        print(line)
    return 0


def _repositories(directories: Sequence[Path], each: bool) -> Iterator[Path]:
    for directory in directories:
        yield from sorted(p for p in directory.iterdir() if not p.name.startswith(".")) if each else (directory,)


def _checked(repository: Path) -> Result:
    """The result of a check in a repository, with its own settings if it has some."""
    folder, paths = (repository, ["."]) if repository.is_dir() else (repository.parent, [repository.name])
    with chdir(folder):
        return audit(paths, load_settings(paths[0]))


def _summary(result: Result) -> str:
    counts = ", ".join(plural(n, s) for s in ("error", "warning", "note") if (n := result.count(s)))
    return counts or "no findings"


def _triage(found: Sequence[tuple[str, Finding]]) -> Iterator[str]:
    rows = by_rule([f for _, f in found])
    for count, name, first in rows:
        yield f"\n{count:5,}  {first.severity:<7}  {name}"
        same = [(where, f) for where, f in found if (f.severity, title(f)) == (first.severity, name)]
        for where, each in same if first.severity == "error" else same[:SHOWN]:
            yield f"       {where}{os.sep}{each.primary.line}: {each.message}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
