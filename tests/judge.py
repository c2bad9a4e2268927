"""Compare qcheck with recordings of real schedulers, and list every difference.

    python tests/judge.py [DIRECTORY...]

A directory holds what was recorded, as `shared/verdicts` beside the project does, which is the default. The project carries
no recordings; what they taught is in `fixtures/`. Exit codes: 0 agreement, 1 differences, 2 nothing to compare with.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PROJECT = Path(__file__).resolve().parent.parent


class Suite(Protocol):
    """What a module of recordings offers."""

    def differences(self, path: Path) -> Iterator[str]: ...
    def count(self, path: Path) -> int: ...


SUITES = {
    "verdicts.json": "judge_kueue",
    "*/verdicts.json": "judge_kueue",
    "kai_*.json": "judge_kai",
    "volcano_*.json": "judge_volcano",
    "events.json": "judge_events",
}
"""Which module compares with which files; a module that is not there is passed over."""

KNOWN: dict[str, str] = {}
"""The beginning of a difference that is to stay, and the reason."""


def beside_the_project() -> Path | None:
    """Recordings that lie beside the project, if they do."""
    return next((p / "shared" / "verdicts" for p in PROJECT.parents if (p / "shared" / "verdicts").is_dir()), None)


def suites(directory: Path) -> Iterator[tuple[str, Suite, Path]]:
    """Each suite by name, with the path that it takes: a directory with a `verdicts.json`, or the file itself."""
    for pattern, module in SUITES.items():
        if find_spec(module) is None:
            continue
        for file in sorted(directory.glob(pattern)):
            path = file.parent if file.name == "verdicts.json" else file
            yield path.name, import_module(module), path


def unexplained(found: Iterable[str]) -> list[str]:
    return [line for line in found if not any(line.startswith(beginning) for beginning in KNOWN)]


def main(arguments: list[str]) -> int:
    beside = beside_the_project()
    directories = [Path(a) for a in arguments] or ([beside] if beside else [])
    compared = left = 0
    for directory in directories:
        for name, suite, path in suites(directory):
            lines = list(suite.differences(path))
            total = suite.count(path)
            different = len({line.split(": ", 1)[0] for line in lines})
            print(f"{name}: {total - different} of {total} agree", flush=True)
            for line in lines:
                reason = next((why for beginning, why in KNOWN.items() if line.startswith(beginning)), None)
                print(f"  {line}{f' (known: {reason})' if reason else ''}")
            compared += total
            left += len(unexplained(lines))
    if not compared:
        print("no recordings: name a directory that holds some", file=sys.stderr)
        return 2
    return 1 if left else 0


if __name__ == "__main__":
    sys.path.insert(0, str(PROJECT))
    sys.exit(main(sys.argv[1:]))
