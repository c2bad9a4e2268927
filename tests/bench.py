"""`make bench`: how fast qcheck is, beside programs and limits measured in the same run.

Every figure is a median over several fresh processes; the processes of a row and of what stands beside it take turns, so
that a busy machine slows both. The spread (largest over smallest) says how far to trust it. Peers that are not
installed are named as missing: kubeconform is built where Go is (set KUBECONFORM to use another one).

    python tests/bench.py [--quick] [--json FILE] [--page FILE] [words of the rows to run]
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import bench_inputs
import bench_repositories

PROJECT = Path(__file__).parent.parent
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(PROJECT), "PYTHONDONTWRITEBYTECODE": "", "NO_COLOR": "1"}
PYTHON = sys.executable
PASS = [PYTHON, "-c", "pass"]
QCHECK = [PYTHON, "-c", "import re, sys; from qcheck.__main__ import main; main()"]
"""What the installed command does."""
CHECK = [*QCHECK, "check"]
KUBECONFORM = "github.com/yannh/kubeconform/cmd/kubeconform@v0.7.0"

CLOCK = "import os; clock = lambda: sum(os.times()[:4])"
"""CPU seconds so far, those of processes that have ended included."""
SCAN = "from ruamel.yaml.cyaml import CParser; p = CParser(open({0!r}, 'rb').read()); t = clock(); p.raw_parse()"
LOAD = (
    "import gc; gc.disable(); from qcheck.documents.load import load; raw = open({0!r}, 'rb').read(); "
    "t = clock(); loaded = load(raw, {0!r}){1}"
)
PLACES = "; [d.span(('metadata', 'name')) for d in loaded.documents]"
MODEL = (
    "import gc; gc.disable(); from qcheck import api; from qcheck.pipeline import read as reading; "
    "from qcheck.settings import Settings; s = Settings(); "
    "t = clock(); {1}"
)
SIMULATE = "from qcheck import api; t = clock(); api.simulate({0!r}, [{1!r}])"
PLAIN = "from ruamel.yaml import YAML; yaml = YAML(typ='safe'); t = clock(); yaml.load(open({0!r}, 'rb').read())"


class Timing:
    """Seconds and peak memory of several runs of one command."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.peak = 0

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    @property
    def spread(self) -> float:
        return max(self.seconds) / min(self.seconds)


def timed(command: list[str], folder: str) -> tuple[float, int]:
    """Wall seconds of a command and its peak memory in bytes."""
    start = time.perf_counter()
    process = subprocess.Popen(command, cwd=folder, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert process.stderr
    said = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(command)[:300]} failed with {process.returncode}: {said.decode()[-2000:]}")
    return seconds, usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def inside(code: str, *values: object) -> list[str]:
    """A command that times a part of itself: its CPU seconds from where `t` is set to the end."""
    body = code.format(*values)
    return [PYTHON, "-c", f"{CLOCK}; {body}; print(clock() - t)"]


def part_timed(command: list[str], folder: str) -> tuple[float, int]:
    """CPU seconds that a command of `inside` reports, and its peak memory."""
    process = subprocess.Popen(command, cwd=folder, env=ENVIRONMENT, stdout=subprocess.PIPE)
    assert process.stdout
    said = process.stdout.read()
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    return float(said.split()[-1]), usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def compare(commands: list[list[str]], folder: str, runs: int) -> list[Timing]:
    """Times commands in turn, so that each sees the same machine."""
    timings = [Timing() for _ in commands]
    for _ in range(runs):
        for command, timing in zip(commands, timings, strict=True):
            seconds, peak = (part_timed if "clock() - t" in command[-1] else timed)(command, folder)
            timing.seconds.append(seconds)
            timing.peak = max(timing.peak, peak)
    return timings


@dataclass(frozen=True)
class Row:
    """One line of the table: the figure in seconds, its ratio to what stands beside it, and the ratio to keep below."""

    what: str
    seconds: float
    ratio: float
    beside: str
    most: float
    spread: float
    peak: int

    def __str__(self) -> str:
        verdict = "ok" if self.ratio <= self.most else "MISSED"
        figure = f"{self.what:58} {self.seconds:8.3f} s  {self.ratio:6.2f}x {self.beside:34}"
        return f"{figure} <= {self.most:<5g} {verdict:6} spread {self.spread:.2f}"


def row(what: str, mine: Timing, beside: str, most: float, against: float) -> Row:
    """A figure beside another one of the same run, or beside a limit."""
    return Row(what, mine.median, mine.median / against if against else 0.0, beside, most, mine.spread, mine.peak)


def within(what: str, mine: Timing, seconds: float) -> Row:
    """A figure beside a limit in seconds."""
    return row(what, mine, f"{seconds:g} s", 1, seconds)


def cold(folder: str, runs: int) -> Iterator[Row | str]:
    """A small repository: what every commit hook pays."""
    bench_inputs.small_repository(os.path.join(folder, "cold"))
    bench_inputs.small_repository(os.path.join(folder, "wrong"), bench_inputs.FEW_SETTINGS)
    bench_inputs.small_repository(os.path.join(folder, "full"), bench_inputs.ALL_SETTINGS)
    ignoring = os.path.join(folder, "ignoring")
    bench_inputs.small_repository(ignoring)
    bench_inputs.write(os.path.join(ignoring, ".gitignore"), bench_inputs.IGNORED)
    checks = [[*CHECK, name] for name in ("cold", "ignoring", "wrong", "full")]
    empty, clean, ignored, wrong, full = compare([PASS, *checks], folder, runs * 3)
    yield row("cold check, 30 manifests, nothing found", clean, "python -c pass", 8, empty.median)
    yield row("the same with a .gitignore", ignored, "python -c pass", 8, empty.median)
    yield row("the same with settings and findings", wrong, "python -c pass", 14, empty.median)
    yield row("the same with all kinds of settings and findings", full, "python -c pass", 14, empty.median)


def many(folder: str, runs: int) -> Iterator[Row | str]:
    """Five thousand documents in five hundred files."""
    top = os.path.join(folder, "many")
    bench_inputs.repository(top, 5000, 500)
    joined = os.path.join(folder, "joined.yaml")
    files = sorted(Path(top).rglob("*.yaml"))
    bench_inputs.write(joined, "---\n".join(f.read_text() for f in files))
    peer = kubeconform(folder)
    commands = [[*CHECK, "many"], inside(SCAN, joined), *([peer] if peer else [])]
    mine, scan, *others = compare(commands, folder, runs)
    what = f"check, 5,000 documents, 500 files, {os.path.getsize(joined) / 1e6:.1f} MB"
    yield row(what, mine, "raw libyaml scan", 8, scan.median)
    if others:
        yield row(what, mine, "kubeconform -n 2", 1, others[0].median)
    else:
        yield f"{what:58} kubeconform: missing (needs Go and the module proxy)"


def kubeconform(folder: str) -> list[str] | None:
    """kubeconform with the schemas that qcheck describes; kinds that it does not may hold anything. Built if Go is there."""
    program = os.environ.get("KUBECONFORM") or shutil.which("kubeconform")
    if program is None and (go := shutil.which("go")):
        built = subprocess.run(
            [go, "install", KUBECONFORM], env={**os.environ, "GOBIN": folder}, capture_output=True, check=False
        )
        program = os.path.join(folder, "kubeconform") if built.returncode == 0 else None
    if program is None:
        return None
    schemas = os.path.join(folder, "schemas")
    subprocess.run([PYTHON, str(PROJECT / "tests" / "bench_schema.py"), "write", schemas], check=True)
    return [program, "-n", "2", "-schema-location", schemas + "/{{.ResourceKind}}.json", "many"]


def loading(folder: str, runs: int) -> Iterator[Row | str]:
    """Loading alone; and what it takes to find the place of a value in each document, which is done on demand."""
    big = os.path.join(folder, "big.yaml")
    bench_inputs.write(big, "---\n".join(bench_inputs.documents(13_500)))
    mine, scan, placed = compare([inside(LOAD, big, ""), inside(SCAN, big), inside(LOAD, big, PLACES)], folder, runs)
    what = f"load {os.path.getsize(big) / 1e6:.1f} MB, many documents (CPU)"
    yield row(what, mine, "raw libyaml scan", 6, scan.median)
    each = (placed.median - mine.median) / 13_500
    yield f"{'':58} {placed.median / scan.median:6.2f}x with a place in each document, {each * 1e6:.0f} microseconds each"


def nodes(folder: str, runs: int) -> Iterator[Row | str]:
    """`kubectl get nodes` of five thousand nodes."""
    os.makedirs(os.path.join(folder, "nodes"))
    bench_inputs.node_dump(os.path.join(folder, "nodes"), 5000)
    text, data = os.path.join(folder, "nodes", "nodes.yaml"), os.path.join(folder, "nodes", "nodes.json")
    commands = [inside(LOAD, text, ""), inside(LOAD, data, ""), inside(PLAIN, text)]
    from_yaml, from_json, peer = compare(commands, folder, max(1, runs // 2))
    for what, mine, path, most in (("YAML", from_yaml, text, 1.2), ("JSON", from_json, data, 0.4)):
        size = os.path.getsize(path)
        yield within(f"Node dump, 5,000 nodes, {size / 1e6:.0f} MB {what} (CPU)", mine, most)
        yield f"{'':58} {mine.median / peer.median:6.2f}x ruamel.yaml's safe loader; peak {mine.peak / size:.1f}x the file"


def modelling(folder: str, runs: int) -> Iterator[Row | str]:
    """Model and checks beside loading the same input."""
    top = os.path.join(folder, "fleet")
    bench_inputs.fleet(top, queues=1000, flavors=10, nodes=5000, workloads=500)
    load = inside(MODEL, top, f"reading.read([{top!r}], s.limits, reading.unwatched)")
    whole = inside(MODEL, top, f"api.audit([{top!r}])")
    loaded, everything = compare([load, whole], folder, max(1, runs // 2))
    rest = Timing()
    rest.seconds = [e - loaded.median for e in everything.seconds]
    what = "model and checks, 1,000 queues, 5,000 nodes, 500 jobs (CPU)"
    yield row(what, rest, "loading the same", 2, loaded.median)


def schema(folder: str, runs: int) -> Iterator[Row | str]:
    """5,000 ClusterQueues against their schema, and with all further checks, beside jsonschema on the same schema."""
    script = str(PROJECT / "tests" / "bench_schema.py")
    ways = [[PYTHON, script, way, "clock() - t"] for way in ("ours", "checks", "jsonschema")]
    ours, checks, other = compare(ways, folder, max(1, runs // 2))
    yield row("schema of 5,000 ClusterQueues (CPU)", ours, "jsonschema", 0.1, other.median)
    yield row("all checks of 5,000 ClusterQueues (CPU)", checks, "jsonschema", 1, other.median)


def growth(folder: str, runs: int) -> Iterator[Row | str]:
    """Twice the input from one size to the next."""
    sizes = (1250, 2500, 5000, 10_000, 20_000, 40_000)
    for size in sizes:
        bench_inputs.repository(os.path.join(folder, f"grow-{size}"), size, size // 10)
    timings = compare([[*CHECK, f"grow-{size}"] for size in sizes], folder, max(1, runs // 2))
    for size, small, large in zip(sizes, timings, timings[1:], strict=False):
        yield row(f"check, {size * 2:,} documents", large, f"{size:,} documents", 2.2, small.median)


def simulation(folder: str, runs: int) -> Iterator[Row | str]:
    """10,000 workloads on 20 full queues, from the files to the timeline."""
    top = os.path.join(folder, "simulation")
    bench_inputs.scenario(top, 10_000)
    command = inside(SIMULATE, f"{top}/scenario.yaml", f"{top}/cluster")
    (mine,) = compare([command], folder, max(1, runs // 3))
    yield within("simulate 10,000 workloads, 20 queues (CPU)", mine, 30)


def real(folder: str, runs: int) -> Iterator[Row | str]:
    """What a repository looks like: manifests of two overlays and their base, Terraform, settings."""
    bench_repositories.real_repository(os.path.join(folder, "real"))
    empty, mine = compare([PASS, [*CHECK, "real"]], folder, runs * 3)
    yield row("check, 30 manifests, overlays, Terraform, settings", mine, "python -c pass", 25, empty.median)


def questions(folder: str, runs: int) -> Iterator[Row | str]:
    """What is asked of a large cluster, each beside `check` of the same files."""
    bench_inputs.fleet(os.path.join(folder, "asked"), queues=1000, flavors=10, nodes=5000, workloads=500)
    bench_inputs.write(os.path.join(folder, "job.yaml"), bench_inputs.job(501, 1000))
    admit, shares = [*QCHECK, "admit", "job.yaml", "--in", "asked"], [*QCHECK, "shares", "asked"]
    check, admitted, shared = compare([[*CHECK, "asked"], admit, shares], folder, max(1, runs // 2))
    yield row("admit one job, 1,000 queues, 5,000 nodes", admitted, "check of the same", 1, check.median)
    yield row("shares, 1,000 queues", shared, "check of the same", 1, check.median)


def differences(folder: str, runs: int) -> Iterator[Row | str]:
    """Two revisions of 1,000 documents, beside `check` of one."""
    bench_repositories.two_revisions(os.path.join(folder, "revisions"), 1000)
    commands = [[*CHECK, "."], [*QCHECK, "diff", "HEAD~1"]]
    check, mine = compare(commands, os.path.join(folder, "revisions"), runs)
    yield row("diff of two revisions, 1,000 documents", mine, "check of one", 3, check.median)


def suggestions(folder: str, runs: int) -> Iterator[Row | str]:
    """The smallest edits for 1,000 queues that promise more than there is."""
    bench_repositories.overcommitted(os.path.join(folder, "over"), 1000)
    commands = [[*CHECK, "over"], [*QCHECK, "suggest", "over"]]
    check, mine = compare(commands, folder, max(1, runs // 3))
    yield row("suggest, 1,000 queues", mine, "check of the same", 20, check.median)


def memory(folder: str, runs: int) -> Iterator[Row | str]:
    """Peak memory of a check, beside the size of its input."""
    bench_inputs.repository(os.path.join(folder, "remembered"), 20_000, 2000)
    size = sum(f.stat().st_size for f in Path(folder, "remembered").rglob("*.yaml"))
    (mine,) = compare([[*CHECK, "remembered"]], folder, max(1, runs // 3))
    what = f"peak memory of check, 20,000 documents: {mine.peak / 1e6:.0f} MB"
    yield Row(what, mine.median, mine.peak / size, f"the input, {size / 1e6:.0f} MB", 15, mine.spread, mine.peak)


FIGURES, END = "<!-- figures: make bench -->", "<!-- end of figures -->"
SMALL = (cold, real)
LARGE = (many, loading, nodes, modelling, schema, growth, memory)
ASKED = (questions, differences, suggestions, simulation)
ROWS: dict[str, Callable[[str, int], Iterator[Row | str]]] = {f.__name__: f for f in (*SMALL, *LARGE, *ASKED)}


def main(words: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", choices=[[], *ROWS], help="rows to run; all without any")
    parser.add_argument("--quick", action="store_true", help="each command once")
    parser.add_argument("--json", metavar="FILE", help="write the results there, too")
    parser.add_argument("--page", metavar="FILE", help="put them as a table into this page of the documentation")
    asked = parser.parse_args(words)
    runs = 1 if asked.quick else 5
    subprocess.run([PYTHON, "-m", "compileall", "-q", str(PROJECT / "qcheck")], check=True, env=ENVIRONMENT)
    about = {"python": sys.version.split()[0], "processors": os.cpu_count(), "load": round(os.getloadavg()[0], 1)}
    print("Python {python} on {processors} processors, load {load}, {runs} runs".format(**about, runs=runs))
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        for name in asked.rows or ROWS:
            for line in ROWS[name](folder, runs):
                print(line, flush=True)
                rows += [line] if isinstance(line, Row) else []
    if asked.json:
        results = {**about, "runs": runs, "rows": [{**asdict(r), "ok": r.ratio <= r.most} for r in rows]}
        Path(asked.json).write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    if asked.page:
        page = Path(asked.page)
        before, _, rest = page.read_text(encoding="utf-8").partition(FIGURES)
        after = rest.partition(END)[2]
        page.write_text(f"{before}{FIGURES}\n{table(rows, about)}\n{END}{after}", encoding="utf-8")


def table(rows: list[Row], about: Mapping[str, object]) -> str:
    """The rows in Markdown."""
    head = "Python {python} on {processors} processors, load {load}:\n\n".format(**about)
    head += "| what | time | ratio | to | target | spread |\n|---|---|---|---|---|---|\n"
    return head + "\n".join(
        f"| {r.what} | {r.seconds:.3f} s | {r.ratio:.2f} | {r.beside} | <= {r.most:g} | {r.spread:.2f} |" for r in rows
    )


if __name__ == "__main__":
    main(sys.argv[1:])
