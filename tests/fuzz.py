"""`make fuzz`: broken input of every kind into every reader and command of qcheck, guided by what code it reaches.

    python tests/fuzz.py [how many] [--seed N] [--corpus FOLDER]
    python tests/fuzz.py --again fuzz-failures/NAME

The engine is libFuzzer, through atheris: an input that reaches code or branches that no other reached is kept and damaged
further. An input is a small repository and what is done with it (`fuzz_readers.py`, `fuzz_commands.py`,
`fuzz_answers.py`); the first are the fixtures, and the files of a folder that is given. Whatever is done: no traceback, no
more than `SECONDS` of computing, no more than 1 GiB. An input that breaks this, or what its target promises, is left under
`fuzz-failures/`, to become a test.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import marshal
import os
import pkgutil
import random
import resource
import shutil
import signal
import sys
import tempfile
import traceback
from collections import Counter
from importlib import import_module
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, NoReturn

from mutations import LARGEST, SEEDS, damaged_case, read_case

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fuzz_readers import Target
    from mutations import Case

PROJECT = Path(__file__).parent.parent
FIXTURES = ("rules", "clusters", "formats", "scenarios")
FAILURES = PROJECT / "fuzz-failures"
SECONDS = 15
"""Seconds of CPU time for one input: about three without the engine, which traces every branch and is five times slower."""
PATIENCE = 300
"""Seconds after which the engine ends everything, should code hang that takes no signals."""
MEMORY = 1 << 30
NO_ENGINE = "make fuzz needs atheris, whose wheels are for Python 3.11 to 3.14 on Linux, x86_64"


class TooSlow(BaseException):
    """An input took too long. Not an Exception, so that nothing on the way takes it for one of its own."""


class Run:
    """A run of so many inputs: what it tried and what broke."""

    def __init__(self, count: int, seed: int, targets: dict[str, Target]) -> None:
        self.count = count
        self.seed = seed
        self.targets = targets
        self.tried: Counter[str] = Counter()
        self.broken: Counter[str] = Counter()
        self.began = monotonic()

    def take(self, raw: bytes) -> None:
        """Tries an input of the engine; ends the process after the last one."""
        told = decoded(raw)
        if told is None:
            return
        name, turn, case = told
        self.tried[name] += 1
        try:
            with limited():
                self.targets[name].run(dict(case), random.Random(turn))
        except (Exception, TooSlow) as error:  # noqa: BLE001 (whatever it is, it is the catch)
            self.keep(raw, case, error)
        done = self.tried.total()
        if done % 5000 == 0 or done == self.count:
            self.report()
        if done == self.count:
            sys.stderr.flush()
            os._exit(1 if self.broken else 0)  # the engine itself would end with 0 whatever was found

    def keep(self, raw: bytes, case: Case, error: BaseException) -> None:
        """Leaves the first input of each kind of failure behind."""
        kind = kind_of(error)
        self.broken[kind] += 1
        if self.broken[kind] > 1:
            return
        folder = FAILURES / f"{self.seed}-{self.tried.total()}"
        shutil.rmtree(folder, ignore_errors=True)
        write(case, folder / "files")
        (folder / "input").write_bytes(raw)
        (folder / "why.txt").write_text("".join(traceback.format_exception(error)), errors="backslashreplace")
        print(f"{folder.relative_to(PROJECT)}: {kind}"[:500].encode("ascii", "backslashreplace").decode())

    def report(self) -> None:
        rate = self.tried.total() / max(1, monotonic() - self.began)
        each = ", ".join(f"{name} {n}" for name, n in sorted(self.tried.items()))
        print(
            f"{self.tried.total()} inputs ({each}), {rate:.0f} a second, {len(self.broken)} kinds of failure",
            flush=True,
        )


def kind_of(error: BaseException) -> str:
    """Failures of a kind come from the same line, or break the same promise."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f"{os.sep}qcheck{os.sep}" in f.filename]
    where = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__} {where} {str(error)[:100]}".replace("\n", " ")


@contextlib.contextmanager
def limited() -> Iterator[None]:
    """Computing time, so that a busy machine makes no failures."""

    def stop(*_: object) -> NoReturn:
        raise TooSlow(f"more than {SECONDS} seconds")

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def encoded(target: str, turn: int, case: Case) -> bytes:
    return marshal.dumps((target, turn, case))


def decoded(raw: bytes) -> tuple[str, int, Case] | None:
    """Target, chance and files; None for the engine's own first tries."""
    try:
        found = marshal.loads(raw)
    except (EOFError, ValueError, TypeError):
        return None
    return found if isinstance(found, tuple) else None


def first_cases(corpus: str | None) -> list[Case]:
    """Return each fixture case as a whole, the cases with questions, each file of the corpus, and the small seeds."""
    from fuzz_answers import first_questions

    tops = [p for kind in FIXTURES for p in (PROJECT / "fixtures" / kind).rglob("*") if p.is_dir()]
    cases = [case for top in sorted(tops) if (case := read_case(top))]
    if corpus:
        cases += [{path.name: path.read_bytes()} for path in sorted(Path(corpus).iterdir()) if path.is_file()]
    return [*cases, *first_questions(), *SEEDS]


def write(case: Case, folder: Path) -> None:
    for name, raw in case.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(raw)


def fitting(targets: dict[str, Target], case: Case) -> list[str]:
    """The targets that read a file of the case, by its ending."""
    return [name for name, target in targets.items() if any(path.endswith(target.endings) for path in case)]


def mutator(targets: dict[str, Target], first: list[Case]) -> Callable[[bytes, int, int], bytes]:
    """Damages the files of an input, now and then for another target, or those of another input."""
    by_target = {name: [c for c in first if name in fitting(targets, c)] for name in targets}

    def mutate(raw: bytes, largest: int, seed: int) -> bytes:
        dice = random.Random(seed)
        target, turn, case = decoded(raw) or ("", 0, {})
        if not case or dice.random() < 0.3:
            target, turn = dice.choice(list(targets)), dice.randrange(1 << 30)
            case = case if target in fitting(targets, case) else dice.choice(by_target[target])
        case = damaged_case(case, dice)
        made = encoded(target, turn, case)
        return made if len(made) <= largest and target in fitting(targets, case) else raw

    return mutate


def fuzz(count: int, seed: int, corpus: str | None) -> NoReturn:
    import atheris

    with contextlib.redirect_stderr(io.StringIO()), atheris.instrument_imports(include=["qcheck"]):
        targets = all_targets()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    with tempfile.TemporaryDirectory() as folder:
        first, dice = first_cases(corpus), random.Random(seed)
        for at, case in enumerate(first):
            if able := fitting(targets, case):
                Path(folder, str(at)).write_bytes(encoded(dice.choice(able), at, case))
        engine = [f"-seed={seed}", f"-max_len={LARGEST}", f"-timeout={PATIENCE}", "-rss_limit_mb=0", "-verbosity=0"]
        atheris.Setup(
            [sys.argv[0], *engine, folder], Run(count, seed, targets).take, custom_mutator=mutator(targets, first)
        )
        atheris.Fuzz()
    raise AssertionError("the engine ends the process")


def all_targets() -> dict[str, Target]:
    """All targets by name, and with them all of qcheck, so that what is imported late is watched as well."""
    import fuzz_answers
    import fuzz_commands
    import fuzz_readers

    import qcheck

    for module in pkgutil.walk_packages(qcheck.__path__, "qcheck."):
        if not module.name.endswith("__main__"):
            import_module(module.name)
    return {**fuzz_readers.TARGETS, **fuzz_commands.TARGETS, **fuzz_answers.TARGETS}


def again(folder: Path) -> None:
    """Tries a kept input once more, without the engine."""
    told = decoded((folder / "input").read_bytes())
    assert told is not None
    name, turn, case = told
    with limited():
        all_targets()[name].run(case, random.Random(turn))
    print(f"{name}: nothing broke")


def main() -> None:
    parser = argparse.ArgumentParser(description="Feed qcheck broken input.")
    parser.add_argument("count", nargs="?", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--corpus", help="a folder of manifests to damage as well")
    parser.add_argument("--again", type=Path, metavar="FOLDER", help="try one kept input once more")
    given = parser.parse_args()
    os.environ["PATH"] = os.devnull  # no renderer of this machine is to be run on broken input
    if given.again:
        return again(given.again)
    if not any(module.name == "atheris" for module in pkgutil.iter_modules()):
        sys.exit(NO_ENGINE)
    fuzz(given.count, given.seed, given.corpus)


if __name__ == "__main__":
    main()
