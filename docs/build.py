"""Builds what is generated: `rule_table.py`, `rules/messages.json`, the fields of the settings and of node pools, the
pages of the rules, and the output of commands shown in documents.

`make docs` runs it; a test holds everything current.

    python docs/build.py

The examples on the pages are fixtures, and what qcheck says of them is what it said when the page was built.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shlex
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from docs.samples import names_in, samples  # noqa: E402
from qcheck.api import audit, simulate  # noqa: E402
from qcheck.checks.run import CRASHED  # noqa: E402
from qcheck.cli.entrypoint import run  # noqa: E402
from qcheck.cluster.place import Place  # noqa: E402
from qcheck.documents.yaml_text import to_yaml  # noqa: E402
from qcheck.findings.finding import Finding  # noqa: E402
from qcheck.findings.rulebook import RuleText, read_rulebook  # noqa: E402
from qcheck.kinds.schema.qcheck_node_pool import DESCRIPTION  # noqa: E402
from qcheck.nodepools.formats import READERS  # noqa: E402
from qcheck.nodepools.qcheck_schema import description  # noqa: E402
from qcheck.nodepools.qcheck_schema import json_schema as node_pool_schema  # noqa: E402
from qcheck.pipeline.diff import compare, sides  # noqa: E402
from qcheck.pipeline.scenario import json_schema as scenario_schema  # noqa: E402
from qcheck.reports import FORMATS, render  # noqa: E402
from qcheck.reports.html.simulation import render_svg  # noqa: E402
from qcheck.settings import Settings  # noqa: E402
from qcheck.settings.key_table import described  # noqa: E402
from qcheck.settings.load import load_settings  # noqa: E402
from qcheck.settings.schema import json_schema  # noqa: E402
from qcheck.settings.without_pydantic import KEYS  # noqa: E402
from qcheck.sources.kubectl import CONFIG_MAPS, EVERYTHING  # noqa: E402

CASES = ROOT / "fixtures" / "rules"
CONSOLE = re.compile(r"^```console\n\$ qcheck (?P<command>.*)\n(?:.*\n)*?```$", re.MULTILINE)
MARK = re.compile(r"[ \t]*#! QC.*$", re.MULTILINE)
LANGUAGES = {".yaml": "yaml", ".yml": "yaml", ".json": "json", ".tf": "hcl", ".tfvars": "hcl"}
KINDS = re.compile(r"(?<=<!-- kinds -->\n)(?:\|.*\n)*")
FAMILIES = {
    "input": "Can qcheck read it, and does the API server accept it?",
    "capacity": "Does the quota exist as nodes?",
    "placement": "Do selectors, labels and taints match?",
    "priority": "Do Kueue's priorities and kube-scheduler's agree?",
    "queues": "Do queues, cohorts and checks refer to each other correctly?",
    "topology": "Does it fit the machines and the topology?",
    "workloads": "Will this workload run?",
    "configuration": "Does the controller's configuration allow it?",
    "change": "What does a change do? (`qcheck diff`)",
    "schedulers": "Are the queues of KAI and Volcano consistent?",
}
INTRODUCTION = """\
# Rules

Generated from `rules/` by `make docs`. Severities are defaults: settings may change them, and an error becomes a warning
if it depends on an estimate.
"""


RULE_TABLE = ROOT / "qcheck" / "findings" / "rule_table.py"
TABLE_HEAD = '''\
"""The rules as rows: the fields of `catalogue.Rule`, in order. Generated from `rules/` by `make docs`."""
# ruff: noqa
# fmt: off

from __future__ import annotations

from qcheck.findings.severity import Severity

TYPE_CHECKING = False
if TYPE_CHECKING:
    Row = tuple[str, str, str, Severity, str, str, tuple[str, ...], str, str, str, dict[str, str | int | list[str]]]

ERROR, WARNING, NOTE = Severity.ERROR, Severity.WARNING, Severity.NOTE

ROWS: tuple[Row, ...] = (
'''


def main() -> None:
    # These first: what the pages show is found by the rules that the table lists, and by settings.
    write(RULE_TABLE, rule_table(list(read_rulebook().values())))
    for path, text in from_models().items():
        write(path, text)
    for path, text in generated().items():
        write(path, text)
    for path in stale():
        path.unlink()
        print(f"removed {path.relative_to(ROOT)}")


def write(path: Path, text: str) -> None:
    """Only where the text differs, so that nothing looks changed that is not."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
        print(f"wrote {path.relative_to(ROOT)}")


def generated() -> dict[Path, str]:
    """Every generated file with its text."""
    rules = list(read_rulebook().values())
    files = {RULE_TABLE: rule_table(rules), ROOT / "docs" / "rules.md": overview(rules)}
    files[ROOT / "rules" / "messages.json"] = messages(rules)
    files |= {
        path: KINDS.sub(lambda _: kinds(), CONSOLE.sub(rerun, path.read_text(encoding="utf-8"))) for path in written()
    }
    files |= {ROOT / "docs" / "rules" / f"{rule.id}.md": page(rule) for rule in rules}
    files[ROOT / "docs" / "simulate.svg"] = simulated("reserved-and-borrowed")
    return files | from_models() | {ROOT / "docs" / "read-only-role.yaml": role()} | example_reports()


def simulated(story: str) -> str:
    """The picture of a scenario of the fixtures."""
    folder = ROOT / "fixtures" / "scenarios" / story
    return render_svg(simulate(str(folder / "scenario.yaml"), [str(folder)]))


def from_models() -> dict[Path, str]:
    """What runs read in place of the pydantic models of the settings and of the node-pool format, and schemas for editors."""
    formats = {"config": json_schema(), "nodepool": node_pool_schema(), "scenario": scenario_schema()}
    schemas = {
        ROOT / "docs" / "schemas" / f"{name}.json": json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
        for name, schema in formats.items()
    }
    return {Path(KEYS): described(), Path(DESCRIPTION): description(), **schemas}


def role() -> str:
    """A ClusterRole with the rights that `--live` needs: to list what it asks for, and two ConfigMaps by name."""
    kinds: dict[str, list[str]] = {}
    for asked in EVERYTHING:
        kinds.setdefault(asked.group, []).append(plural(asked.kind))
    names = sorted({name for _, name in CONFIG_MAPS})
    rules = [{"apiGroups": [group], "resources": found, "verbs": ["list"]} for group, found in kinds.items()]
    rules.append({"apiGroups": [""], "resources": ["configmaps"], "resourceNames": names, "verbs": ["get"]})
    kind = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "qcheck-audit"}}
    return f"# Generated: what `qcheck check --live` lists.\n{to_yaml([{**kind, 'rules': rules}])}"


def plural(kind: str) -> str:
    """`Topology` as `topologies`."""
    low = kind.lower()
    return f"{low[:-1]}ies" if low.endswith("y") else f"{low}{'es' if low.endswith('s') else 's'}"


def example_reports() -> dict[Path, str]:
    """Whole reports of the example fleet, for readers, and so that a change to a report is seen as one."""
    with contextlib.chdir(ROOT):
        result = audit(["fixtures/clusters/research-fleet"])
        stop_if_crashed(result.findings, ROOT / "fixtures" / "clusters" / "research-fleet")
        return {ROOT / "docs" / "reports" / f"fleet.{end}": render(result, form) for form, end in FORMATS.items()}


def written() -> list[Path]:
    """Documents that people write, in which only the output of commands is generated."""
    return [ROOT / "README.md", *sorted(p for p in (ROOT / "docs").glob("*.md") if p.name != "rules.md")]


def rerun(block: re.Match[str]) -> str:
    """A console block with what its command prints today."""
    captured = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    with contextlib.chdir(ROOT), contextlib.redirect_stdout(captured):
        run(shlex.split(block["command"]))
    captured.flush()
    assert isinstance(captured.buffer, io.BytesIO)
    return f"```console\n$ qcheck {block['command']}\n{captured.buffer.getvalue().decode()}```"


def kinds() -> str:
    """The kinds of objects that describe node pools, as rows of a table."""
    rows = sorted((group, kind) for group, kind in READERS)
    return "| API group | kind |\n|---|---|\n" + "".join(f"| `{group}` | {kind} |\n" for group, kind in rows)


def stale() -> list[Path]:
    """Pages of rules that are no more."""
    known = set(read_rulebook())
    return [path for path in (ROOT / "docs" / "rules").glob("*.md") if path.stem not in known]


def rule_table(rules: list[RuleText]) -> str:
    """One rule a line, so that two changes seldom touch the same one."""
    rows = [
        [rule.severity.upper() if value is rule.severity else repr(value) for value in rule.row()] for rule in rules
    ]
    return TABLE_HEAD + "".join(f"    ({', '.join(row)}),\n" for row in rows) + ")\n"


def messages(rules: list[RuleText]) -> str:
    """Return sample messages of every rule, one a line, from the findings of all fixtures."""
    folders = sorted(case for case in CASES.glob("*/*") if case.is_dir())
    names = names_in(path for folder in folders for path in folder.rglob("*") if path.suffix in LANGUAGES)
    found: dict[str, list[Finding]] = {rule.id: [] for rule in rules}
    for each in (each for folder in folders for each in run_case(folder)):
        assert each.rule is not None
        found[each.rule.id].append(each)
    texts = {identifier: samples(of_rule, names) for identifier, of_rule in found.items()}
    lines = (f"{json.dumps(i)}: [{lined(own)}]" for i, own in texts.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def lined(entries: list[dict[str, object]]) -> str:
    return ",".join(f"\n  {json.dumps(entry, ensure_ascii=False)}" for entry in entries) + "\n" * bool(entries)


def overview(rules: list[RuleText]) -> str:
    parts = [INTRODUCTION]
    for family, question in FAMILIES.items():
        mine = [rule for rule in rules if rule.family == family]
        if mine:
            rows = "".join(f"| [{r.id}](rules/{r.id}.md) | {r.name} | {r.severity} | {r.summary} |\n" for r in mine)
            parts.append(
                f"## {family.capitalize()}\n\n{question}\n\n| id | name | severity | what |\n|---|---|---|---|\n{rows}"
            )
    return "\n".join(parts)


def page(rule: RuleText) -> str:
    parts = [f"# {rule.id} {rule.name}", " · ".join(facts(rule)), rule.summary, "## Why it matters", rule.why]
    parts += ["## What to do", rule.fix]
    if rule.params:
        rows = "\n".join(f"| `{n}` | `{json.dumps(p.default)}` | {p.meaning} |" for n, p in rule.params.items())
        parts += ["## Parameters", f"| name | default | meaning |\n|---|---|---|\n{rows}"]
    cases = shown_cases(rule)
    if cases:
        parts.append("## Examples")
        parts += [part for case in cases for part in example(rule, case)]
    if rule.references:
        parts += ["## Read more", "\n".join(f"* <{url}>" for url in rule.references)]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def facts(rule: RuleText) -> Iterator[str]:
    yield f"**{rule.severity}**"
    yield f"[{rule.family}](../rules.md#{rule.family})"
    if rule.needs:
        yield f"needs {', '.join(rule.needs)}"
    if rule.kueue:
        yield f"Kueue {rule.kueue}"
    yield f"since {rule.since}"


def shown_cases(rule: RuleText) -> list[str]:
    """The cases that the rule names; the first that fails and the first that passes where it names none of a kind."""
    there = sorted(c.name for c in (CASES / rule.slug).glob("*") if c.is_dir())
    cases = list(rule.examples)
    for kind in ("fail-", "pass-"):
        if not any(case.startswith(kind) for case in cases):
            cases += [case for case in there if case.startswith(kind)][:1]
    return sorted(cases, key=lambda case: case.startswith("pass-"))


def example(rule: RuleText, case: str) -> Iterator[str]:
    """The files of a fixture case, without their marks, and what the rule says of them.

    Of a case that fails, only the documents that its findings point to are shown.
    """
    folder = CASES / rule.slug / case
    kind, _, title = case.partition("-")
    yield f"### {'Failing' if kind == 'fail' else 'Passing'}: {title.replace('-', ' ')}"
    found = [f for f in run_case(folder) if f.rule is not None and f.rule.id == rule.id]
    lines = {(place.origin.path.removeprefix("./"), place.span[0]) for f in found for place in (f.primary, *f.related)}
    for path in sorted(p for p in folder.rglob("*") if p.suffix in LANGUAGES):
        name = path.relative_to(folder).as_posix()
        text = MARK.sub("", path.read_text(encoding="utf-8"))
        touched = {line for file, line in lines if file == name}
        if touched and path.suffix in (".yaml", ".yml"):
            text = touched_documents(text, touched)
        elif lines and not touched and name != "qcheck.yaml":
            continue
        yield f"`{name}`\n\n```{LANGUAGES[path.suffix]}\n{text.strip()}\n```"
    said = [line for f in found for line in told(f)]
    if said:
        yield "```text\n" + "\n".join(said) + "\n```"


def touched_documents(text: str, lines: set[int]) -> str:
    """The documents of a YAML file that hold some of its lines; a comment says that others are left out."""
    kept, left_out, number = [], 0, 0
    for document in re.split(r"^---[ \t]*\n", text, flags=re.MULTILINE):
        count = document.count("\n") + 1
        if any(number < line <= number + count for line in lines):
            kept.append(document.strip("\n"))
        else:
            left_out += bool(document.strip())
        number += count
    if left_out:
        kept.append(f"# {left_out} more document{'s' * (left_out > 1)}")
    return "\n---\n".join(kept[: len(kept) - bool(left_out)]) + (f"\n{kept[-1]}" if left_out else "")


def run_case(folder: Path) -> tuple[Finding, ...]:
    """What qcheck finds in a fixture case, or what a change brings that is laid out as `before/` and `after/`.

    Paths are relative to the case.
    """
    own = folder / "qcheck.yaml"
    with contextlib.chdir(folder):
        if (folder / "before").is_dir():
            comparison = compare(*sides("before", "after", (), Settings()))
            stop_if_crashed(comparison.after.findings, folder)
            return comparison.new
        settings = load_settings(explicit=str(own)) if own.exists() else Settings()
        result = audit(["."], settings)
        stop_if_crashed(result.findings, folder)
        return result.findings


def stop_if_crashed(findings: Iterable[Finding], where: Path) -> None:
    """Raise `SystemExit` where a rule raised: a page must not show what a crash left over."""
    crashed = [f.message for f in findings if f.rule is not None and f.rule.id == CRASHED]
    if crashed:
        raise SystemExit(f"{where.relative_to(ROOT)}: {'; '.join(crashed)}")


def told(found: Finding) -> Iterator[str]:
    assert found.rule is not None
    yield f"{spot(found.primary)}: {found.severity}[{found.rule.id}] {found.message}"
    for place in found.related:
        yield f"    {spot(place)}: {place.caption}"


def spot(place: Place) -> str:
    line, column, _, _ = place.span
    return f"{place.origin.path.removeprefix('.' + os.sep)}:{line}:{column}"


if __name__ == "__main__":
    main()
