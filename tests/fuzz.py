"""`make fuzz`: broken input of every kind into every reader, and damaged repositories into the whole of `qcheck check`.

    python tests/fuzz.py [how many] [--seed N] [--corpus FOLDER]

Seeds are the fixtures, and the manifests of a folder that is given. An input that made qcheck say something new is kept
and damaged further, so that the search goes where behaviour changes. What must hold for each: no traceback, no rule that
crashes, exit code 0, 1 or 2, every fault in a line that the file has, no more than five seconds, no more than 1 GiB. An
input that breaks this is left under `fuzz-failures/`, to become a fixture.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

from mutations import VALUES, damaged

from qcheck.cli.front import run
from qcheck.documents.limits import Limits
from qcheck.documents.load import load
from qcheck.model.quantity import QuantityError, parse_quantity

PROJECT = Path(__file__).parent.parent
SECONDS = 5
MEMORY = 1 << 30
FORMATS = ("text", "json", "sarif", "github", "gitlab", "junit", "rdjson", "markdown", "html")
OUTPUT_LIMIT = 2_000_000
SUFFIXES = {".yaml", ".yml", ".json", ".tf", ".tfvars", ".tftpl", ".tpl", ".j2"}

Case = dict[str, bytes]
"""The files of a small repository."""


class TooSlow(BaseException):
    """An input took too long. Not an Exception, so that nothing on the way takes it for one of its own."""


class Broken(Exception):
    """Something that must hold for any input did not."""


def seeds(corpus: str | None) -> list[Case]:
    """The fixture cases, each as a whole, and each file of the corpus by itself."""
    tops = [p for kind in ("rules", "clusters") for p in (PROJECT / "fixtures" / kind).rglob("*") if p.is_dir()]
    cases = [case for top in sorted(tops) if (case := _files(top))]
    if corpus:
        cases += [{path.name: path.read_bytes()} for path in sorted(Path(corpus).iterdir()) if path.is_file()]
    return cases


def _files(top: Path) -> Case:
    found = (p for p in sorted(top.rglob("*")) if p.is_file() and p.suffix in SUFFIXES)
    return {str(p.relative_to(top)): p.read_bytes() for p in found if p.stat().st_size < 100_000}


@contextlib.contextmanager
def limited() -> Iterator[None]:
    def stop(*_: object) -> NoReturn:
        raise TooSlow(f"more than {SECONDS} seconds")

    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def one_file(case: Case, dice: random.Random) -> str:
    """A damaged file into the loader: every fault stands in the file, and every value has a place."""
    name = dice.choice(list(case))
    raw = case[name] = damaged(case[name], dice)
    loaded = load(raw, name, Limits(bytes=200_000))
    for fault in loaded.faults:
        line, column, end_line, end_column = fault.spot.span()
        if not (1 <= line <= raw.count(b"\n") + raw.count(b"\r") + 1 and (end_line, end_column) >= (line, column)):
            raise Broken(f"{fault} is outside of its file")
    for document in loaded.documents:
        _places(document.data, (), document.span)
    return " ".join(sorted(f"{fault.code} {fault.message[:30]}" for fault in loaded.faults))


def _places(value: object, route: tuple[str | int, ...], span: Callable[..., tuple[int, int, int, int]]) -> None:
    line, column, end_line, end_column = span(route)
    if (end_line, end_column) < (line, column):
        raise Broken(f"{route} ends before it starts")
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, below in inner:
        _places(below, (*route, step), span)


def one_quantity(case: Case, dice: random.Random) -> str:
    """A damaged quantity: read exactly, or refused."""
    text = damaged(dice.choice([b"1.5Gi", b"100m", b"1e3", b"0.10", *(v.encode() for v in VALUES)]), dice)
    try:
        return str(type(parse_quantity(text.decode("utf-8", "replace"))))
    except QuantityError:
        return "refused"
    finally:
        case.clear()


def whole_check(case: Case, dice: random.Random) -> str:
    """A damaged repository through the command line, in a format by chance."""
    for name in dice.sample(list(case), min(len(case), dice.choice((1, 1, 2)))):
        case[name] = damaged(case[name], dice)
    form = dice.choice(FORMATS)
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for name, raw in case.items():
            os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
            Path(name).write_bytes(raw)
        words = ["check", ".", "--format", "json=out.json", *(["--format", f"{form}=out"] if form != "json" else [])]
        said = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(io.StringIO()) as complained:
            code = run(words)
        if code not in (0, 1, 2) or "bug in qcheck" in complained.getvalue():
            raise Broken(f"exit code {code}: {complained.getvalue()}")
        if not os.path.exists("out.json"):
            return complained.getvalue()[:60]
        return _said(json.loads(Path("out.json").read_text()), form)


def _said(report: dict[str, list[dict[str, object]]], form: str) -> str:
    """Which rules spoke; none of them may have crashed, and no report may be cut short or let control characters out."""
    found = report["findings"]
    crashed = [str(one["message"]) for one in found if one["rule"] == "QC000"]
    if crashed:
        raise Broken(crashed[0])
    if form != "json":
        text = Path("out").read_text(encoding="utf-8")
        wild = [ch for ch in text if ord(ch) < 32 and ch not in "\n\t\r"] or [ch for ch in text if ch in "\x7f\u202e"]
        if wild or (not text and found) or len(text) > OUTPUT_LIMIT:
            raise Broken(f"the {form} report holds {wild[:3]} in {len(text)} characters")
        if form == "html" and "onerror=alert(1)>" in text.replace("&gt;", ""):
            raise Broken("the html report lets markup through")
    return " ".join(sorted({str(one["rule"]) for one in found}))


TARGETS = (one_file, one_file, one_quantity, whole_check, whole_check, whole_check)


def fuzz(count: int, seed: int, corpus: str | None) -> int:
    """Tries `count` inputs; the number that broke something."""
    dice = random.Random(seed)
    pool = seeds(corpus)
    heard: set[str] = set()
    failures = 0
    for at in range(count):
        target = dice.choice(TARGETS)
        case = dict(dice.choice(pool))
        try:
            with limited():
                news = f"{target.__name__} {target(case, dice)}"
        except (Exception, TooSlow, MemoryError) as error:  # noqa: BLE001 (whatever it is, it is the catch)
            failures += 1
            _keep(case, f"{seed}-{at}", error)
            continue
        if news not in heard and case:
            heard.add(news)
            pool.append(case)
    print(f"seed {seed}: {count} inputs, {len(heard)} different answers, {failures} failures")
    return failures


def _keep(case: Case, name: str, error: BaseException) -> None:
    folder = PROJECT / "fuzz-failures" / name
    shutil.rmtree(folder, ignore_errors=True)
    for path, raw in case.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(raw)
    folder.mkdir(parents=True, exist_ok=True)
    story = "".join(traceback.format_exception(error))
    (folder / "why.txt").write_text(story)
    print(f"fuzz-failures/{name}: {story.strip().splitlines()[-1][:300]}", file=sys.stderr)


def main() -> None:
    parser = argparse.ArgumentParser(description="Feed qcheck broken input.")
    parser.add_argument("count", nargs="?", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--corpus", help="a folder of manifests to damage as well")
    given = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    sys.exit(1 if fuzz(given.count, given.seed, given.corpus) else 0)


if __name__ == "__main__":
    main()
