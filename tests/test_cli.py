"""The command line: the same options on both ways in, exit codes, errors for people, a start without heavy imports."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import bench_inputs
import pytest
import typer
from rule_cases import FIXTURES, RULES

from qcheck import __version__
from qcheck.cli import check as check_module
from qcheck.cli import entrypoint
from qcheck.cli.app import from_table
from qcheck.cli.check_options import CHECK_OPTIONS, CheckOptions, OptionKind, parse_plainly
from qcheck.cli.command import Command, spread_in
from qcheck.cli.output import Output, UsageError, parse_outputs, write
from qcheck.cli.terminal import wants_color

EXAMPLE = str(FIXTURES / "clusters" / "research-fleet")
CLEAN = str(RULES / "QC101-quota-exceeds-capacity" / "pass-exact")
UNUSED = {
    "contextlib", "dataclasses", "difflib", "fractions", "hashlib", "heapq", "json", "pathlib", "pathspec", "select",
    "typing", "unicodedata", "yaml",
    "qcheck.checks.configuration.manager", "qcheck.checks.queues.limit_ranges", "qcheck.checks.topology.levels",
    "qcheck.cluster.edits", "qcheck.documents.events", "qcheck.documents.extent", "qcheck.documents.templates",
    "qcheck.findings.causes", "qcheck.findings.fingerprint", "qcheck.kinds.kustomize", "qcheck.kinds.running",
    "qcheck.kinds.schema.operators",
    "qcheck.nodepools.machine_catalogue", "qcheck.packing.search", "qcheck.packing.spread", "qcheck.packing.unschedulable",
    "qcheck.pipeline.render", "qcheck.pipeline.second_process", "qcheck.reports.fleet", "qcheck.reports.github",
    "qcheck.settings.without_pydantic",
}  # fmt: skip
"""What a repository without findings needs no part of."""
MOST_MODULES = 228
"""The modules of its own that such a check may import; each takes 0.1 ms."""
HEAVY = {"typer", "rich", "pydantic", "jsonschema", "ruamel", "asyncio", "importlib.metadata", "click"}

POOL = """\
apiVersion: qcheck.dev/v1
kind: NodePool
metadata: {name: h100}
spec:
  count: 1
  labels: {gpu: h100}
  allocatable: {nvidia.com/gpu: 8}
"""


def python(
    *words: str,
    input: str | None = None,
    env: dict[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, input=input, env=env)


def qcheck(
    *words: str,
    input: str | None = None,
    env: dict[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    return python("-m", "qcheck", *words, input=input, env=env)


def through_typer(words: list[str]) -> CheckOptions | None:
    """What the Typer app makes of the flags of `check`; None if it refuses them."""
    seen: list[CheckOptions] = []

    def take(options: CheckOptions) -> int:
        seen.append(options)
        return 0

    app = typer.Typer(pretty_exceptions_enable=False, add_completion=False)
    app.command(cls=Command)(from_table(take, CHECK_OPTIONS))
    with pytest.raises(SystemExit):
        app(args=words)
    return seen[0] if seen else None


def sample(name: str) -> list[list[str]]:
    option = next(o for o in CHECK_OPTIONS if name in o.names)
    if option.kind is OptionKind.FLAG:
        return [[name]]
    if option.kind is OptionKind.MAYBE:
        return [[name], [f"{name}=value"], [name, f"{name}=value"]]
    value = option.choices[0] if option.choices else "some=value"
    joined = [[f"{name}={value}"]] if name.startswith("--") else []
    return [[name, value], *joined, [name, value, name, value]]


@pytest.mark.parametrize("name", [name for option in CHECK_OPTIONS for name in option.names])
def test_both_ways_in_understand_every_option_alike(name: str) -> None:
    for words in sample(name):
        plain = parse_plainly([*words, "a", "b"])
        assert plain is not None
        assert plain == through_typer([*words, "a", "b"])


@pytest.mark.parametrize(
    "words",
    [[], ["-"], ["a", "-", "-q", "b"], ["-q", "--", "-x", "--format"], ["--format", "json", "--format", "text=x"]],
)
def test_both_ways_in_understand_paths_alike(words: list[str]) -> None:
    assert parse_plainly(words) == through_typer(words)


@pytest.mark.parametrize(
    "words", [["--bogus"], ["--config"], ["--strict=yes"], ["--fail-on", "never"], ["--help"], ["-qv"]]
)
def test_what_needs_a_message_is_left_to_typer(words: list[str]) -> None:
    assert parse_plainly(words) is None


def test_the_table_and_the_options_are_the_same_fields() -> None:
    assert {"paths", *(o.field for o in CHECK_OPTIONS)} == set(CheckOptions.__fields__)
    defaults = CheckOptions()
    for option in CHECK_OPTIONS:
        expected = {OptionKind.FLAG: False, OptionKind.MANY: ()}.get(option.kind, option.default)
        assert getattr(defaults, option.field) == expected


@pytest.mark.parametrize("settings", ["", bench_inputs.ALL_SETTINGS], ids=["without settings", "with settings"])
def test_a_small_check_imports_only_what_it_uses(settings: str, tmp_path: Path) -> None:
    bench_inputs.small_repository(str(tmp_path / "small"), settings)
    (tmp_path / "small" / ".gitignore").write_text(bench_inputs.IGNORED)
    script = "import sys; from qcheck.cli.entrypoint import run; run(['check', '-q', sys.argv[1]]); print(*sys.modules)"
    loaded = python("-c", script, str(tmp_path / "small")).stdout.splitlines()[-1].split()
    assert "qcheck.checks.capacity.quota" in loaded
    unused = (UNUSED | HEAVY) if not settings else HEAVY
    assert not unused & set(loaded)
    assert settings or sum(name.partition(".")[0] == "qcheck" for name in loaded) <= MOST_MODULES


@pytest.mark.parametrize("paths", [CLEAN, f"{EXAMPLE}-fixed"], ids=["plain", "with settings"])
def test_a_clean_check_imports_nothing_heavy(paths: str) -> None:
    script = (
        "import sys; from qcheck.cli.entrypoint import run; code = run(['check', sys.argv[1]]);"
        f"print(code, sorted({HEAVY!r} & set(sys.modules)))"
    )
    done = python("-c", script, paths)
    assert done.stdout.splitlines()[-1] == "0 []", done.stdout + done.stderr


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["check", CLEAN], 0),
        (["check", EXAMPLE], 1),
        (["check", EXAMPLE, "--exit-zero"], 0),
        (["check", EXAMPLE, "--select", "QC104"], 0),
        (["check", EXAMPLE, "--select", "QC104", "--fail-on", "warning"], 1),
        (["check", EXAMPLE, "--select", "QC104", "--strict"], 1),
        (["check", EXAMPLE, "--ignore", "QC1,QC2", "--ignore", "whole-node-pods-impossible"], 0),
        (["check", "no/such/path"], 2),
        (["check", "no/such/path", "--exit-zero"], 2),
        (["check", EXAMPLE, "no/such/path"], 2),
        (["check", EXAMPLE, "--format", "xml"], 2),
        (["check", EXAMPLE, "--format", "json", "--format", "text"], 2),
        (["check", EXAMPLE, "--select", "QC999"], 2),
        (["check", EXAMPLE, "--config", "no-such.yaml"], 2),
        (["check", EXAMPLE, "--cluster", "moon"], 2),
        (["check", EXAMPLE, "--baseline", "no-such.json"], 2),
        (["check", EXAMPLE, "--format", "json=no/such/folder/x.json"], 2),
        (["check", EXAMPLE, "--bogus"], 2),
        (["bogus"], 2),
        (["schema", "ClusterQueue", "--kueue", "0.18"], 0),
        (["schema", "ClusterQueue", "--kueue", "0.99"], 2),
        (["explain", "QC999"], 2),
        (["explain", "qc1"], 0),
        (["explain", "capacity"], 0),
        (["--version"], 0),
        (["rules"], 0),
        (["rules", "--messages"], 0),
        (["rules", "--messages", "--select", "QC9x"], 2),
        (["explain", "quota-exceeds-capacity"], 0),
        (["schema", "config"], 0),
        (["capacity", EXAMPLE], 0),
        (["admit", f"{EXAMPLE}/workloads/sweep.yaml", "--in", EXAMPLE], 0),
        (["admit", f"{EXAMPLE}/workloads/pretrain.yaml", "--in", EXAMPLE], 1),
        (["admit", "no/such/path", "--in", EXAMPLE], 2),
        (["capacity", "no/such/path"], 2),
        (["capacity", EXAMPLE, "--format", "xml"], 2),
        (["check", "--help"], 0),
    ],
)
def test_exit_codes(words: list[str], code: int, capfd: pytest.CaptureFixture[str]) -> None:
    assert entrypoint.run(words) == code
    said = capfd.readouterr()
    assert "Traceback" not in said.err
    if code == 2 and "no/such/path" not in words:
        assert said.err


def test_formats_do_not_change_the_code(tmp_path: Path) -> None:
    assert (
        entrypoint.run(
            ["check", EXAMPLE, "-f", f"json={tmp_path / 'a.json'}", "-f", f"text={tmp_path / 'a.txt'}", "-q"]
        )
        == 1
    )
    assert json.loads((tmp_path / "a.json").read_text())["summary"]["error"] > 0
    assert "QC101" in (tmp_path / "a.txt").read_text()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.json", "a.txt"]


def test_unknown_rule_names_the_nearest(capfd: pytest.CaptureFixture[str]) -> None:
    entrypoint.run(["check", EXAMPLE, "--ignore", "quota-exceeds-capasity"])
    assert "Did you mean quota-exceeds-capacity?" in capfd.readouterr().err


def test_settings_errors_name_file_and_line(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "qcheck.yaml").write_text("complete: true\nkeue: '0.19'\n")
    assert entrypoint.run(["check", str(tmp_path)]) == 2
    said = capfd.readouterr().err
    assert "qcheck.yaml:2: keue: unknown key; did you mean 'kueue'?" in said


def test_standard_input() -> None:
    queue = (RULES / "QC101-quota-exceeds-capacity" / "fail-one-node-short" / "queues.yaml").read_text()
    done = qcheck("check", "-", "--format", "json", "--ignore", "QC212", input=f"{POOL}---\n{queue}")
    found = json.loads(done.stdout)["findings"]
    assert done.returncode == 1
    assert [f["rule"] for f in found] == ["QC101"]
    assert found[0]["primary"]["file"] == "<stdin>"


def test_standard_input_belongs_to_every_cluster(tmp_path: Path) -> None:
    (tmp_path / "qcheck.yaml").write_text("clusters: {a: {include: [a]}, b: {include: [b]}}\n")
    queue = (RULES / "QC101-quota-exceeds-capacity" / "fail-one-node-short" / "queues.yaml").read_text()
    command = ["check", "-", "--config", str(tmp_path / "qcheck.yaml"), "--format", "json", "--select", "QC101"]
    done = qcheck(*command, input=f"{POOL}---\n{queue}")
    assert [(f["cluster"], f["data"]["clusters"]) for f in json.loads(done.stdout)["findings"]] == [("a", ["a", "b"])]
    done = qcheck(*command, "--cluster", "b", input=f"{POOL}---\n{queue}")
    assert [f["cluster"] for f in json.loads(done.stdout)["findings"]] == ["b"]


def test_files_of_no_cluster_are_not_fine(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "qcheck.yaml").write_text("clusters: {a: {include: [a]}}\n")
    (tmp_path / "pool.yaml").write_text(POOL)
    assert entrypoint.run(["check", str(tmp_path / "pool.yaml")]) == 2
    assert "no cluster in the settings includes these files" in capfd.readouterr().out


def test_interrupted_is_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(check_module, "audited", interrupted)
    assert entrypoint.run(["check", CLEAN]) == 130


def test_a_bug_is_told_without_a_traceback(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("no")

    monkeypatch.setattr(check_module, "audited", broken)
    assert entrypoint.run(["check", CLEAN]) == 2
    said = capfd.readouterr().err
    assert "unexpected ZeroDivisionError: no (test_cli.py:" in said
    assert "report it" in said
    assert "Traceback" not in said


@pytest.mark.skipif(os.name == "nt", reason="pipes are closed otherwise there")
def test_a_reader_that_goes_away_is_no_error() -> None:
    script = f'{{ "{sys.executable}" -m qcheck check "{EXAMPLE}" --format json; echo "code $?" >&2; }} | true'
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, timeout=120, check=False)
    assert done.stderr == "code 1\n"


def test_colours_are_for_terminals_or_on_demand(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    assert not wants_color("auto", sys.__stdout__ or sys.stdout) or sys.stdout.isatty()
    assert wants_color("always", sys.stdout)
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert wants_color("auto", sys.stdout)
    monkeypatch.setenv("NO_COLOR", "1")
    assert not wants_color("auto", sys.stdout)
    assert "\x1b[" in qcheck("check", EXAMPLE, "--color", "always").stdout
    assert "\x1b[" not in qcheck("check", EXAMPLE).stdout


@pytest.mark.parametrize(
    ("words", "spread"),
    [
        ("w --in a b", "w --in a --in b"),
        ("w x --in a b --format json", "w x --in a --in b --format json"),
        ("--in a w", "--in a w"),
        ("w --in a --in b c", "w --in a --in b --in c"),
        ("--format json w --in a", "--format json w --in a"),
        ("--format json --in a w", "--format json --in a w"),
        ("w", "w"),
    ],
)
def test_in_takes_several_paths(words: str, spread: str) -> None:
    assert spread_in(words.split(), {"--format", "--in"}) == spread.split()


@pytest.mark.parametrize(
    "words",
    ["check --select=", "check --ignore ", "check --baseline ", "check --config ", "check ", "capacity --cluster ",
     "baseline write --baseline ", "suggest --keep ", "admit "],
)  # fmt: skip
def test_an_empty_value_is_rejected(words: str) -> None:
    done = qcheck(*words.split(" "), CLEAN)
    assert (done.returncode, done.stdout) == (2, "")
    assert "the value is empty" in done.stderr


@pytest.mark.parametrize("words", ["check --select ,", "rules --select ,", "suggest --keep ,", "shares --busy ,"])
def test_a_list_without_names_is_rejected(words: str) -> None:
    done = qcheck(*words.split(), *([] if words.startswith("rules") else [CLEAN]))
    assert done.returncode == 2
    assert f"{words.split()[1]} lists no names" in done.stderr


def test_outputs() -> None:
    assert parse_outputs([], ("text", "json")) == (Output("text"),)
    assert parse_outputs(["json=a=b", "text"], ("text", "json")) == (Output("json", "a=b"), Output("text"))
    with pytest.raises(UsageError, match="two reports"):
        parse_outputs(["json=a", "text=a"], ("text", "json"))


def test_files_are_written_whole_or_not_at_all(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    report.write_text("old")
    (tmp_path / "link.json").symlink_to(report)
    write(Output("json", str(tmp_path / "link.json")), "new\n")
    assert report.read_text() == "new\n"
    assert (tmp_path / "link.json").is_symlink()
    with pytest.raises(UsageError, match="cannot write"):
        write(Output("json", str(tmp_path)), "new\n")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link.json", "report.json"]
    write(Output("json", os.devnull), "new\n")


def test_verbose_tells_times_and_quiet_nothing() -> None:
    told = qcheck("check", CLEAN, "--verbose").stderr
    assert "settings: none found" in told
    assert "load" in told
    quiet = qcheck("check", CLEAN, "--quiet")
    assert (quiet.stdout, quiet.stderr, quiet.returncode) == ("", "", 0)
    assert "could not judge: no/such/path" in qcheck("check", CLEAN, "no/such/path", "--quiet").stdout


def test_what_could_not_be_judged_is_told_on_standard_error_where_no_text_tells_it() -> None:
    assert "no/such/path: there is no such file" in qcheck("check", "no/such/path", "--format", "json").stderr
    assert qcheck("check", "no/such/path").stderr == ""


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["help"], "qcheck --help"),
        (["help", "admit"], "qcheck admit --help"),
        (["help", "me"], "qcheck --help"),
        (["version"], "qcheck --version"),
    ],
)
def test_commands_of_other_programs_get_a_hint(words: list[str], meant: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert entrypoint.run(words) == 2
    assert f"Did you mean '{meant}'?" in capfd.readouterr().err


def test_version_and_completion() -> None:
    assert qcheck("--version").stdout == f"qcheck {__version__}\n"
    env = {**os.environ, "_QCHECK_COMPLETE": "complete_bash", "COMP_WORDS": "qcheck ch", "COMP_CWORD": "1"}
    assert "check" in qcheck(env=env).stdout


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("qcheck check --select QC10", "QC101"),
        ("qcheck check --ignore QC2,quota-exc", "QC2,quota-exceeds-capacity"),
        ("qcheck check --format sa", "sarif"),
        ("qcheck capacity --format js", "json"),
        ("qcheck check --cluster prod", "prod-b"),
        ("qcheck admit --cluster prod", "prod-a"),
        ("qcheck explain owner-c", "owner-cannot-reclaim"),
        ("qcheck rules --select QC5", "QC501"),
        ("qcheck schema nodep", "nodepool"),
        ("qcheck schema Clus", "ClusterQueue"),
        ("qcheck check --fail-on w", "warning"),
        ("qcheck base", "baseline"),
    ],
)
def test_a_shell_completes(
    line: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "qcheck.yaml").write_text("clusters: {prod-a: {include: [a]}, prod-b: {include: [b]}}")
    monkeypatch.chdir(tmp_path)
    for name, value in {
        "_QCHECK_COMPLETE": "complete_bash",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(line.split()) - 1),
    }.items():
        monkeypatch.setenv(name, value)
    assert entrypoint.run([]) == 0
    assert expected in capfd.readouterr().out.split()


def test_the_help_of_a_command_lists_its_formats(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    for command, formats in {
        "check": "text, json, sarif, github, gitlab, junit, rdjson, markdown, html",
        "capacity": "text, json",
        "shares": "text, json, markdown, html",
        "diff": "text, json, markdown",
        "suggest": "text, json, patch",
        "simulate": "text, json, html, svg",
        "explain": "text, json, markdown, html",
    }.items():
        assert entrypoint.run([command, "--help"]) == 0
        assert f"Report format: {formats}. " in capfd.readouterr().out


def test_a_schema_that_is_misspelt_is_suggested() -> None:
    assert "Did you mean nodepool?" in qcheck("schema", "nodepol").stderr
