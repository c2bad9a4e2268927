"""Input that is meant to break a reader, through the whole of `qcheck check`: an answer, a place, and no traceback."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from manifests import local_queue

from qcheck.api import audit
from qcheck.cli.entrypoint import run
from qcheck.reports import FORMATS
from qcheck.schedulers.kueue import topology_nodes
from qcheck.sources import files

QUEUE = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata:
  name: {name}
spec:
  namespaceSelector: {{}}
  resourceGroups:
  - coveredResources: ["nvidia.com/gpu"]
    flavors:
    - name: h100
      resources:
      - name: nvidia.com/gpu
        nominalQuota: {quota}
"""
REST = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata:
  name: h100
spec:
  nodeLabels:
    gpu: h100
---
apiVersion: qcheck.dev/v1
kind: NodePool
metadata:
  name: h100
spec:
  count: 2
  labels:
    gpu: h100
  allocatable:
    nvidia.com/gpu: 8
"""


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rest.yaml").write_text(REST)
    return tmp_path


def queue(name: str = "team", quota: str = "8") -> str:
    return QUEUE.format(name=name, quota=quota)


def check(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, Any]]:
    """The exit code and the JSON report."""
    code = run(["check", *(words or ["."]), "--format", "json"])
    said = capsys.readouterr()
    assert "Traceback" not in said.err
    assert "bug in qcheck" not in said.err
    return code, json.loads(said.out)


def rules(report: dict[str, Any], file: str) -> list[tuple[str, int]]:
    return [(f["rule"], f["primary"]["line"]) for f in report["findings"] if f["primary"]["file"] == file]


BOMB = "x0: &x0 [a, a, a, a, a, a, a, a, a]\n" + "".join(
    f"x{n}: &x{n} [{', '.join([f'*x{n - 1}'] * 9)}]\n" for n in range(1, 14)
)
REFUSED = {
    "bomb": queue() + BOMB,
    "deep flow": queue() + "x: " + "[" * 10_000 + "]" * 10_000 + "\n",
    "deep mapping": queue() + "".join(f"{' ' * n}x:\n" for n in range(2_000)),
    "deep list": queue() + "x:\n" + "".join(f"{' ' * n}-\n" for n in range(1, 300)),
    "contains itself": queue() + "x: &a [*a]\n",
    "unknown anchor": queue() + "x: *nobody\n",
    "control characters": queue() + "x: \x07\n",
    "infinity": queue(quota=".inf"),
    "null key": queue() + "~: 1\n",
    "mapping as key": queue() + "? {a: b}\n: c\n",
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_read_is_named_with_its_line(repo: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    (repo / "q.yaml").write_text(REFUSED[name])
    code, report = check(capsys)
    assert code == 1
    [(rule, line)] = rules(report, "q.yaml")
    assert rule == "QC001"
    assert line > 1


ACCEPTED = {
    "megabyte scalar": queue() + f"# {'x' * 1_000_000}\nignored: {'x' * 1_000_000}\n",
    "megabyte key": queue() + f'---\n{"x" * 1_000_000}: 1\n---\n"{"y" * 1_000_000}": 1\n',
    "many items on a line": queue()
    + f"---\nx: [{'a, ' * 200_000}]\ny: {{{', '.join(f'k{n}: 1' for n in range(50_000))}}}\n",
    "duplicate anchors": queue().replace("name: team", "name: &a team") + "---\na: &a 1\nb: &a 2\nc: *a\n",
    "mixed line ends": queue().replace("\n", "\r\n", 3),
    "old line ends": queue().replace("\n", "\r"),
    "wide characters": queue() + "# \U0001f600 \u202e\n",
    "byte order mark": "\ufeff" + queue(),
    "no final line end": queue().rstrip("\n"),
    "comments around": "# a\n---\n# b\n---\n" + queue() + "---\n# c\n...\n",
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_what_is_odd_is_read(repo: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    (repo / "q.yaml").write_bytes(ACCEPTED[name].encode())
    _, report = check(capsys)
    assert report["summary"]["error"] <= (name == "megabyte scalar")  # there an unknown field
    assert report["inputs"]["objects"] >= 3


def test_encodings(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (repo / "utf16.yaml").write_bytes(queue("one").encode("utf-16"))
    (repo / "latin.yaml").write_bytes(queue("two").encode() + b"# caf\xe9\n")
    (repo / "nul.yaml").write_bytes(queue("three").encode() + b"x: \0\n")
    (repo / "utf32.yaml").write_bytes(queue("four").encode("utf-32"))
    (repo / "unmarked.yaml").write_bytes(queue("five").encode("utf-16-le"))
    _, report = check(capsys)
    assert rules(report, "utf16.yaml") == []
    assert rules(report, "utf32.yaml") == rules(report, "unmarked.yaml") == [("QC001", 1)]
    assert rules(report, "latin.yaml") == [("QC001", 14)]
    assert rules(report, "nul.yaml") == [("QC001", 14)]


QUANTITIES = ["1e400", "-1e400", "0." + "0" * 400 + "1", "1" * 400, "9223372036854775807", "9223372036854775808", "8Ei"]


@pytest.mark.parametrize("quota", QUANTITIES)
def test_extreme_quantities(repo: Path, capsys: pytest.CaptureFixture[str], quota: str) -> None:
    (repo / "q.yaml").write_text(queue("a", f'"{quota}"') + "---\n" + queue("b", f'"{quota}"'))
    code, report = check(capsys)
    assert code == 1
    assert report["findings"]
    assert not [f for f in report["findings"] if f["rule"] == "QC000"]


WILD = {
    "escape": "a\\e[31mb",
    "html": "</script><img src=x onerror=alert(1)>",
    "command": "x\\r\\n::error file=a::b",
    "markdown": "|](http://x)`<b>",
    "direction": "a\\u202eb",
}


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", WILD)
def test_no_report_lets_markup_through(repo: Path, capsys: pytest.CaptureFixture[str], name: str, form: str) -> None:
    (repo / "q.yaml").write_text(queue(f'"{WILD[name]}"', "80") + f'  "{WILD[name]}": 1\n')
    assert run(["check", ".", "--format", form]) == 1
    said = capsys.readouterr().out
    assert said
    assert "\x1b" not in said
    assert "\u202e" not in said
    assert "onerror=alert(1)>" not in said or form not in ("html", "markdown")
    assert not [line for line in said.splitlines() if line.startswith("::error file=a::b")]


def test_files_that_cannot_be_read(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (repo / "q.yaml").write_text(queue())
    (repo / "folder.yaml").mkdir()
    (repo / "loop").symlink_to(repo)
    (repo / "away.yaml").symlink_to("/etc/hostname")
    os.mkfifo(repo / "pipe.yaml")
    code, report = check(capsys)
    assert code == 0
    assert [n["path"] for n in report["inputs"]["notRead"]] == ["away.yaml"]
    code, report = check(capsys, ".", "nowhere")
    assert code == 2
    assert report["inputs"]["objects"] == 3


def test_links_and_folders_that_go_nowhere(
    repo: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (repo / "q.yaml").write_text(queue())
    (repo / "self.yaml").symlink_to("self.yaml")
    (repo / "one").mkdir()
    (repo / "one" / "up").symlink_to("../two")
    (repo / "two").symlink_to("one/up")
    (repo / "away").symlink_to("/etc")
    (repo / "locked").mkdir()
    list_folder = os.scandir

    def locked(path: str) -> object:
        if os.path.basename(path) == "locked":
            raise PermissionError(13, "Permission denied")
        return list_folder(path)

    monkeypatch.setattr(os, "scandir", locked)
    code, report = check(capsys)
    assert code == 2
    assert [(n["path"], n["why"]) for n in report["inputs"]["notRead"]] == [
        ("away", "a link to outside the tree"),
        ("locked", "permission denied"),
        ("self.yaml", "a link that points to nothing"),
    ]


def test_sums_beyond_int64(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Kueue would overflow; qcheck says what is promised."""
    most = 2**63 - 1
    (repo / "q.yaml").write_text(queue("a", str(most)) + "---\n" + queue("b", str(most)))
    _, report = check(capsys)
    [found] = [f for f in report["findings"] if f["rule"] == "QC101"]
    assert str(2 * most) in found["message"]


def is_gone(process: int) -> bool:
    """Whether a process ends, given some time to be taken note of by whoever inherits it."""
    for _ in range(500):
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.02)
    return False


@pytest.mark.skipif(os.name == "nt", reason="the stand-in is a shell script")
@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_run_that_is_stopped_stops_its_renderer_and_writes_nothing(
    repo: Path, sent: signal.Signals, code: int
) -> None:
    (repo / "base").mkdir()
    (repo / "qcheck.yaml").write_text("render: [{kustomize: base}]\n")
    (repo / "bin").mkdir()
    (repo / "bin" / "kustomize").write_text("#!/bin/sh\nsleep 1\necho $$ > pid.new\nmv pid.new pid\nexec sleep 100\n")
    (repo / "bin" / "kustomize").chmod(0o755)
    environment = {"PATH": f"{repo / 'bin'}:{os.environ['PATH']}", "PYTHONPATH": str(NEIGHBOURS.parents[3])}
    words = [sys.executable, "-m", "qcheck", "check", ".", "--format", "json=out.json"]
    with subprocess.Popen(words, cwd=repo, env=environment, stderr=subprocess.PIPE) as process:
        while not (repo / "pid").exists():
            assert process.poll() is None
            time.sleep(0.02)
        process.send_signal(sent)
        _, complaint = process.communicate(timeout=60)
    assert (process.returncode, complaint) == (code, b"")
    assert not [p.name for p in repo.iterdir() if p.name.startswith("out")]
    assert is_gone(int((repo / "pid").read_text()))


def test_a_file_that_vanishes(repo: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    from qcheck.sources.files import File

    (repo / "q.yaml").write_text(queue())
    read = File.read

    def vanishing(self: File, limit: int) -> bytes:
        if self.path == "q.yaml":
            (repo / "q.yaml").unlink()
        return read(self, limit)

    monkeypatch.setattr(File, "read", vanishing)
    code, report = check(capsys)
    assert code == 2
    assert [n["path"] for n in report["inputs"]["notRead"]] == ["q.yaml"]


def test_an_interrupted_run_leaves_no_half_report(
    repo: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (repo / "q.yaml").write_text(queue())
    (repo / "old.json").write_text("old")

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    assert run(["check", ".", "--format", "json=old.json"]) == 130
    assert (repo / "old.json").read_text() == "old"
    assert sorted(p.name for p in repo.iterdir()) == ["old.json", "q.yaml", "rest.yaml"]


def test_a_gitignore_that_git_does_not_understand(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Single lines do not count, and none of them takes longer than it should."""
    (repo / "q.yaml").write_text(queue())
    (repo / ("a" * 200 + ".yaml")).write_text("a: 1\n")
    (repo / ".gitignore").write_bytes(b"!\n\\\n[z-a]\n[[:x:]]\n\xff\0\n/\n" + b"*a" * 30 + b"b\nrest.yaml\n")
    _, report = check(capsys)
    assert report["inputs"]["objects"] == 1


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("qcheck.yaml", b"version: 1\nrules: {params: {QC101: {x: 1}}}\n"),
        ("qcheck.yaml", b"version: 1\nrules: {ignore: [QC1, QC9999]}\n"),
        ("qcheck.yaml", b"version: 1\nexclude: ['[z-a]']\n"),
        ("qcheck.yaml", b"version: 1\nkueue: '\xff'\n"),
        ("qcheck.yaml", b"version: 1\nkueue: '" + b"1" * 5000 + b".1'\n"),
        ("pyproject.toml", b"[tool.qcheck]\nversion = [\n"),
        ("pyproject.toml", b"[tool.qcheck]\nversion = " + b"[" * 5000 + b"\n"),
    ],
)
def test_settings_are_refused_with_their_line(
    repo: Path, capsys: pytest.CaptureFixture[str], name: str, text: bytes
) -> None:
    (repo / name).write_bytes(text)
    assert run(["check", "."]) == 2
    told = capsys.readouterr()
    assert re.search(rf"(error:|-->) {name}:[123]:", told.err + told.out)


@pytest.mark.parametrize("command", ["check", "capacity", "explain preemption", "admit ./rest.yaml --in"])
def test_names_of_files_give_no_commands(repo: Path, capsys: pytest.CaptureFixture[str], command: str) -> None:
    """GitHub reads what goes to standard error, too, and does not mind spaces before a command."""
    for name in ("a\n::error::b.yaml", "\x1b[31mred.yaml"):
        (repo / name).write_text(REST.replace("name: h100", f"name: {len(name)}") + "---\n" + queue(str(len(name))))
    (repo / "c\n::error::d.yaml").symlink_to(repo / "nowhere")
    run([*command.split(), ".", "./c\n::error::d.yaml"])
    said = capsys.readouterr()
    assert "\x1b" not in said.out + said.err
    assert not [line for line in (said.out + said.err).splitlines() if line.lstrip().startswith("::error::")]


NAMED_FILES = {
    "a baseline": "version: 1\nbaseline: pipe\n",
    "Volcano's configuration": "version: 1\nvolcano: {scheduler: pipe}\n",
    "definitions": "version: 1\ncrds: [pipe]\n",
}


@pytest.mark.skipif(os.name == "nt", reason="there are no named pipes in the file system")
@pytest.mark.parametrize("name", NAMED_FILES)
def test_settings_that_name_a_pipe_do_not_wait_endlessly(
    repo: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(files, "WAIT_FOR_A_WRITER", 0)
    os.mkfifo(repo / "pipe")
    (repo / "qcheck.yaml").write_text(NAMED_FILES[name])
    assert run(["check", "."]) == 2
    told = capsys.readouterr()
    assert "pipe" in told.err + told.out


@pytest.mark.skipif(os.name == "nt", reason="there are no named pipes in the file system")
@pytest.mark.parametrize("name", [".gitignore", "kustomization.yaml"])
def test_pipes_that_no_settings_name_are_not_opened(repo: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    (repo / "a").mkdir()
    os.mkfifo(repo / "a" / name)
    (repo / "kustomization.yaml").write_text("resources: [a]\n")
    check(capsys)


def test_settings_do_not_leave_their_folder(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (repo / "q.yaml").write_text(queue())
    (repo / "qcheck.yaml").write_text("version: 1\nclusters:\n  a:\n    include: ['../../**']\n")
    assert run(["check", "."]) == 2
    assert "qcheck.yaml:4" in capsys.readouterr().err


def test_thousands_of_files(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for at in range(3000):
        (repo / f"{at}.yaml").write_text("a: 1\n")
    code, report = check(capsys)
    assert report["inputs"]["files"] == 3001
    assert code == 0


TRAIN = """\
apiVersion: batch/v1
kind: Job
metadata:
  name: train
  labels: {kueue.x-k8s.io/queue-name: main}
spec:
  template:
    metadata:
      annotations: {kueue.x-k8s.io/podset-required-topology: rack}
    spec:
      restartPolicy: Never
      containers:
      - {name: a, image: b, resources: {limits: {nvidia.com/gpu: 1}}}
"""
JOB = f"---\n{local_queue('default')}---\n{TRAIN}"
TOPOLOGY = "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: Topology\nmetadata: {name: t}\nspec: {levels: LEVELS}\n"
POD = f"""\
apiVersion: v1
kind: Pod
metadata:
  name: one
  labels: {{kueue.x-k8s.io/queue-name: main, kueue.x-k8s.io/pod-group-name: g}}
  annotations: {{kueue.x-k8s.io/pod-group-total-count: "{"1" * 5000}"}}
spec:
  containers:
  - {{name: a, image: b, resources: {{limits: {{nvidia.com/gpu: 1}}}}}}
"""
NEIGHBOURS = Path(__file__).parent.parent / "fixtures/rules/QC511-neighbours-can-block/fail-cores-of-a-workload"
DUEL = "---\n".join(file.read_text() for file in sorted(NEIGHBOURS.glob("*.yaml")))
MANY_RESOURCES = queue().replace('["nvidia.com/gpu"]', f"[{'a, ' * 10_000}]") + "---\n" + REST
MANY_GROUPS = re.sub(r"resourceGroups:\n(?:  .*\n)+", f"resourceGroups: [{'a, ' * 10_000}]\n", queue())
MANY_REQUIREMENTS = """---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: p}
spec: {template: {spec: {requirements: [LIST]}}}
""".replace("LIST", "{key: a, operator: In, values: 1}, " * 10_000)
FOUND = {
    "a group without flavors": (queue() + "  queueingStrategy: StrictFIFO\n" + JOB).replace(
        "flavors:\n    - name: h100\n      resources:\n      - name: nvidia.com/gpu\n        nominalQuota: 8\n",
        "flavors: []\n",
    ),
    "a list as node label": queue() + TOPOLOGY.replace("LEVELS", "[{nodeLabel: []}, {nodeLabel: {}}]"),
    "no levels": queue()
    + JOB
    + TOPOLOGY.replace("LEVELS", "[]")
    + REST.replace("spec:\n", "spec:\n  topologyName: t\n", 1),
    "more nodes than memory": queue() + REST.replace("count: 2", "count: 9223372036854775807"),
    "more devices than memory": queue() + JOB + REST.replace("gpu: 8", "gpu: 99999999999999999999999"),
    "a label with a huge number": queue() + REST.replace("gpu: h100", f"nvidia.com/gpu.count: {'1' * 5000}"),
    "pods of a group beyond counting": f"{queue()}---\n{REST}---\n{POD}---\n{POD.replace('name: one', 'name: two')}",
    "the same resource ten thousand times": MANY_RESOURCES,
    "ten thousand resource groups": MANY_GROUPS,
    "ten thousand requirements of a pool": queue() + MANY_REQUIREMENTS,
    "quota below nothing": DUEL.replace("nominalQuota: 384", "nominalQuota: -16"),
    "fewer pods than none": DUEL.replace("parallelism: 24", "parallelism: -24"),
}
"""What `make fuzz` found, made small."""


def test_ten_thousand_bad_items_are_counted(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = re.sub(r"containers:\n.*\n", f"containers: [{'a, ' * 10_000}]\n", TRAIN)
    (repo / "q.yaml").write_text(f"{queue()}---\n{local_queue('default')}---\n{broken}")
    assert run(["check", ".", "--format", "json"]) == 1
    findings = [f for f in json.loads(capsys.readouterr().out)["findings"] if f["rule"] == "QC003"]
    assert len(findings) == 100, "about the type of each item, and nothing else"
    said = [f["message"] for f in findings]
    assert all("containers[" in s and "must be of type object, not string" in s for s in said)
    assert said[-1].endswith("; the object has 9,900 more problems of this kind")


def test_queues_without_names_of_two_versions(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nameless = queue().replace("name: team", "title: team", 1)
    assert nameless != queue()
    (repo / "q.yaml").write_text(f"{nameless}---\n{nameless.replace('v1beta2', 'v1beta1').replace('h100', 'l4')}")
    assert run(["shares", "."]) in (0, 2)
    assert "bug in qcheck" not in capsys.readouterr().err


@pytest.mark.parametrize("name", FOUND)
def test_what_fuzzing_found(repo: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    (repo / "rest.yaml").unlink()
    (repo / "q.yaml").write_text(FOUND[name])
    for form in FORMATS:
        assert run(["check", ".", "--format", form]) in (0, 1)
        said = capsys.readouterr()
        assert form != "text" or "QC000" not in said.out
        assert "bug in qcheck" not in said.err


VOLCANO_QUEUE = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata:
  name: team
spec:
  deserved: {nvidia.com/gpu: 8}
"""
MANY_DIGITS = "9" * 5000
REFUSED_WORDS = {
    "more nodes than can be counted": ["check", ".", "--add-nodes", f"h100={MANY_DIGITS}"],
    "a floor beyond counting": ["suggest", ".", "--floor", f"team={MANY_DIGITS}"],
    "writing to standard input": ["suggest", "--write", "-"],
}


@pytest.mark.parametrize("name", REFUSED_WORDS)
def test_flags_are_refused_by_name(repo: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    (repo / "q.yaml").write_text(queue(quota="80"))
    words = REFUSED_WORDS[name]
    assert run(words) == 2
    told = capsys.readouterr().err
    assert "bug in qcheck" not in told
    assert next(w for w in words if w.startswith("--")) in told
    assert sorted(p.name for p in repo.iterdir()) == ["q.yaml", "rest.yaml"]


@pytest.mark.parametrize("field", ["deserved: {nvidia.com/gpu: -1}", "guarantee: {resource: {nvidia.com/gpu: -1}}"])
def test_negative_amounts_of_volcano(repo: Path, capsys: pytest.CaptureFixture[str], field: str) -> None:
    (repo / "q.yaml").write_text(VOLCANO_QUEUE.replace("deserved: {nvidia.com/gpu: 8}", field))
    (repo / "scheduler.conf.yaml").write_text('actions: "allocate"\ntiers:\n- plugins:\n  - name: capacity\n')
    _, report = check(capsys)
    assert not [f for f in report["findings"] if f["rule"] == "QC000"]


NODE = """\
apiVersion: v1
kind: Node
metadata: {name: a, labels: {pool: a, nvidia.com/gpu.product: NVIDIA-A100-SXM4-40GB, nvidia.com/gpu.count: "8"}}
status: {allocatable: {cpu: "90", RESOURCE: "-1"}}
"""


@pytest.mark.parametrize("resource", ["nvidia.com/mig-3g.20gb", "nvidia.com/gpu", "memory", "pods"])
def test_negative_amounts_of_nodes(repo: Path, capsys: pytest.CaptureFixture[str], resource: str) -> None:
    (repo / "node.yaml").write_text(NODE.replace("RESOURCE", resource))
    _, report = check(capsys)
    assert not [f for f in report["findings"] if f["rule"] == "QC000"]


KAI_SHARED = """\
apiVersion: scheduling.run.ai/v2
kind: Queue
metadata: {name: team}
spec: {resources: {gpu: {quota: 2, limit: 4, overQuotaWeight: 1}}}
---
apiVersion: v1
kind: Node
metadata: {name: a, labels: {LABEL}}
status: {allocatable: {cpu: "64", memory: 512Gi, nvidia.com/gpu: "8", pods: "110"}}
---
apiVersion: v1
kind: Pod
metadata: {name: p, labels: {kai.scheduler/queue: team}, annotations: {NOTES}}
spec:
  schedulerName: kai-scheduler
  containers: [{name: a, image: a, resources: {requests: {cpu: 1}}}]
"""
ODD_NUMBERS = {"superscript": "\u00b2", "other digits": "\u0663", "long": "9" * 5000, "zero": "0", "tiny": "1e-320"}


@pytest.mark.parametrize("field", ["nvidia.com/gpu.memory", "gpu-memory", "gpu-fraction", "gpu-fraction-num-devices"])
@pytest.mark.parametrize("name", ODD_NUMBERS)
def test_odd_numbers_of_shared_gpus(repo: Path, capsys: pytest.CaptureFixture[str], field: str, name: str) -> None:
    notes = {"gpu-fraction": "0.5"} if field != "gpu-memory" else {}
    odd = f'{field}: "{ODD_NUMBERS[name]}"'
    label, added = (odd, {}) if field == "nvidia.com/gpu.memory" else ("pool: a", {field: ODD_NUMBERS[name]})
    written = ", ".join(f'{key}: "{value}"' for key, value in (notes | added).items())
    (repo / "kai.yaml").write_text(KAI_SHARED.replace("LABEL", label).replace("NOTES", written))
    (repo / "qcheck.yaml").write_text("version: 1\nkai: {gpuSharing: true}\n")
    _, report = check(capsys)
    assert not [f for f in report["findings"] if f["rule"] == "QC000"]


COHORT = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: Cohort\nmetadata: {name: NAME}\nspec: {parentName: PARENT}\n"
KAI_QUEUE = """\
apiVersion: scheduling.run.ai/v2
kind: Queue
metadata: {name: NAME}
spec:
  parentQueue: PARENT
  resources:
    gpu: {quota: 1, limit: -1, overQuotaWeight: 1}
"""
BELOW_ANOTHER = {
    "cohorts": (COHORT, "Cohort"),
    "queues of KAI": (KAI_QUEUE, "Queue"),
    "queues of Volcano": (
        VOLCANO_QUEUE.replace("team", "NAME").replace("spec:\n", "spec:\n  parent: PARENT\n"),
        "Queue",
    ),
}


@pytest.mark.parametrize("top", ["q0", "q1999"], ids=["a line", "a cycle"])
@pytest.mark.parametrize("name", BELOW_ANOTHER)
def test_a_line_of_two_thousand_parents(repo: Path, capsys: pytest.CaptureFixture[str], name: str, top: str) -> None:
    text, kind = BELOW_ANOTHER[name]
    line = [text.replace("NAME", f"q{n}").replace("PARENT", f"q{n - 1}") for n in range(1, 2000)]
    (repo / "q.yaml").write_text("---\n".join([text.replace("NAME", "q0").replace("PARENT", top), *line]))
    code, report = check(capsys)
    assert code == 1
    [deep] = [f for f in report["findings"] if f["rule"] == "QC001"]
    assert (deep["object"]["kind"], "100 levels" in deep["message"]) == (kind, True)
    for command in ("shares", "capacity"):
        assert run([command, "."]) == 2
    assert run(["suggest", "."]) in (0, 1)


HANGS = "echo $$ > pid.new\nmv pid.new pid\nexec sleep 100\n"
INSTALLED = "nodes no v1 false Node"


@pytest.mark.skipif(os.name == "nt", reason="the stand-in is a shell script")
@pytest.mark.parametrize("command", ["check", "snapshot", "drift ."])
@pytest.mark.parametrize(
    "first", ["", f'[ "$1" = get ] || {{ echo "{INSTALLED}"; exit; }}\n'], ids=["asking", "listing"]
)
def test_a_run_that_is_stopped_stops_kubectl(repo: Path, command: str, first: str) -> None:
    (repo / "bin").mkdir()
    (repo / "bin" / "kubectl").write_text(f"#!/bin/sh\n{first}{HANGS}")
    (repo / "bin" / "kubectl").chmod(0o755)
    environment = {"PATH": f"{repo / 'bin'}:{os.environ['PATH']}", "PYTHONPATH": str(NEIGHBOURS.parents[3])}
    words = [sys.executable, "-m", "qcheck", *command.split(), "--live"]
    with subprocess.Popen(words, cwd=repo, env=environment, stderr=subprocess.PIPE) as process:
        while not (repo / "pid").exists():
            assert process.poll() is None
            time.sleep(0.02)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
    assert process.returncode == 143
    assert is_gone(int((repo / "pid").read_text()))


def test_a_pool_with_too_many_nodes_is_not_expanded(monkeypatch: pytest.MonkeyPatch) -> None:
    of_four = str(Path(__file__).parent.parent / "fixtures" / "rules" / "QC515-topology-per-pod-set" / "pass-one-group")
    [cluster] = audit([of_four]).clusters
    [flavor] = cluster.flavor
    assert topology_nodes.topology_nodes(cluster, flavor) is not None
    monkeypatch.setattr(topology_nodes, "MOST_NODES", 3)
    [cluster] = audit([of_four]).clusters
    assert topology_nodes.topology_nodes(cluster, flavor) is None


BACKTRACKS = f"""
apiVersion: topology.volcano.sh/v1alpha1
kind: HyperNode
metadata: {{name: leaf}}
spec: {{tier: 1, members: [{{type: Node, selector: {{regexMatch: {{pattern: "^(x+)+$"}}}}}}]}}
---
apiVersion: v1
kind: Node
metadata: {{name: {"x" * 60}-}}
"""
PATCHES = """
resources: [q.yaml]
patches: [{target: {kind: ClusterQueue, name: "(x+)+"}, patch: "[{op: remove, path: /spec/cohortName}]"}]
"""


def test_regular_expressions_in_manifests_do_not_backtrack(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (repo / "rest.yaml").write_text(BACKTRACKS)
    (repo / "q.yaml").write_text(queue("x" * 60 + "-"))
    (repo / "kustomization.yaml").write_text(PATCHES)
    _, report = check(capsys)
    assert "HyperNode leaf has a member that matches no node" in [f["message"] for f in report["findings"]]


DIGITS = "9" * 5000
LONG_NUMBERS = f"""
apiVersion: scheduling.run.ai/v2
kind: Queue
metadata: {{name: research}}
spec:
  preemptMinRuntime: {DIGITS}h
  resources: {{gpu: {{quota: 1, limit: 8, overQuotaWeight: 1}}}}
---
apiVersion: batch/v1
kind: Job
metadata: {{name: a, namespace: team, labels: {{kai.scheduler/queue: research}}}}
spec:
  template:
    metadata:
      annotations:
        kueue.x-k8s.io/podset-slice-required-topology-constraints: '[{{"topology": "rack", "size": 1e400}}]'
        kai.scheduler/preemption-delay: {DIGITS}s
    spec:
      schedulerName: kai-scheduler
      restartPolicy: Never
      containers: [{{name: a, image: a, resources: {{limits: {{nvidia.com/mig-{DIGITS}g.5gb: 1}}}}}}]
"""
LONG_CRON = f"""
apiVersion: batch/v1
kind: CronJob
metadata: {{name: a, namespace: team}}
spec: {{schedule: "{DIGITS}/{DIGITS} * * * *"}}
"""
LONG_POOL = f"""
resource "google_container_node_pool" "p" {{
  name       = "p"
  node_count = {DIGITS}
  node_config {{
    machine_type = "custom-{DIGITS}-1"
    labels       = {{ x = var.a.{DIGITS} }}
  }}
}}
"""


@pytest.mark.parametrize("command", ["check", "capacity", "shares", "suggest"])
def test_numbers_with_thousands_of_digits(repo: Path, capsys: pytest.CaptureFixture[str], command: str) -> None:
    (repo / "q.yaml").write_text(queue() + "---" + LONG_NUMBERS + "---" + LONG_CRON)
    (repo / "pool.tf").write_text(LONG_POOL)
    assert run([command, ".", "--format", "json"]) in (0, 1, 2)
    said = capsys.readouterr()
    assert "bug in qcheck" not in said.err
    assert "QC000" not in said.out
