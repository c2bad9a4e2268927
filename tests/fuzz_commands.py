"""What `make fuzz` does with broken repositories through the command line, and what each command promises."""

from __future__ import annotations

import io
import json
import os
import random
import re
import sys
from contextlib import redirect_stderr, redirect_stdout
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from unittest.mock import patch
from xml.etree import ElementTree

from fuzz_readers import Broken, Target, in_file, laid_out
from mutations import Case, damaged_case

from qcheck.cli.entrypoint import run
from qcheck.documents.load import load
from qcheck.reports import FORMATS
from qcheck.reports.html import MOST_CARDS

LONGEST_REPORT = 5_000_000
JSON_FORMATS = ("json", "sarif", "gitlab", "rdjson")
WILD = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u2028]")
"""What terminals obey and what hides text."""
NO_PLACE = re.compile(
    r"nothing relevant was found|no workload was found|nothing was checked|there is no such|too long|baseline write"
    r"|no queue has quota|the queues have quota for more|several clusters"
)
"""Refusals of a whole run, which are about no line."""
PLACE = re.compile(r"\S:\d+")


def told(*words: str, given: bytes = b"") -> tuple[int, str, str]:
    """Exit code, standard output and complaints of a command."""
    said, complained = io.TextIOWrapper(io.BytesIO(), encoding="utf-8"), io.StringIO()
    stdin = io.TextIOWrapper(io.BytesIO(given))
    with patch.object(sys, "stdin", stdin), redirect_stdout(said), redirect_stderr(complained):
        code = run(words)
    said.flush()
    output = said.buffer.getvalue().decode()
    if code not in (0, 1, 2) or "bug in qcheck" in complained.getvalue() or "Traceback" in complained.getvalue():
        where = re.findall(r"\(\w+\.py:\d+, in \w+\)", complained.getvalue())
        raise Broken(f"exit code {code}: {where} {complained.getvalue()} by qcheck {' '.join(words)}")
    if WILD.search(complained.getvalue()):
        raise Broken(f"wild characters among the complaints: {complained.getvalue()!r}")
    return code, output, complained.getvalue()


def check(case: Case, dice: random.Random) -> None:
    """The gate, with a report by chance besides the one whose places are looked at."""
    form = dice.choice([*FORMATS])
    one = next(iter(case.values())) if len(case) == 1 and dice.random() < 0.3 else None
    with laid_out(case):
        code, report, complaints = told(
            "check", "." if one is None else "-", "--format", "json", *(["--format", f"{form}=out"]), given=one or b""
        )
        if not report:
            refused(code, complaints)
            return
        found = json.loads(report)
        has_places(found, case if one is None else {"<stdin>": one})
        is_sound(form, Path("out").read_text(encoding="utf-8"), len(found["findings"]))


def refused(code: int, complaints: str) -> None:
    """No report at all: the settings or the baseline are wrong, in a line that is named."""
    if code != 2 or not (PLACE.search(complaints) or NO_PLACE.search(complaints)):
        raise Broken(f"exit code {code} without a report or a line: {complaints!r}")


def has_places(report: dict[str, Any], case: Case) -> None:
    """No rule crashed, and all that was found or left out has a place in a file."""
    for each in report["findings"]:
        if each["rule"] == "QC000":
            raise Broken(each["message"])
        for place in (each["primary"], *each["related"]):
            raw = case.get(os.path.normpath(place["file"]))
            span = (place["line"], place["column"], place["endLine"], place["endColumn"])
            if raw is not None:
                in_file(span, raw, each["message"])
            elif not place["file"] or place["line"] < 1:
                raise Broken(f"a finding without a file: {each}")
    for left in report["inputs"]["notRead"]:
        if not left["path"] or not left["why"]:
            raise Broken(f"left out without a reason: {left}")


class Page(HTMLParser):
    """Collects what no page of ours has."""

    def __init__(self) -> None:
        super().__init__()
        self.foreign: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = {tag, *(name for name, _ in attrs)}
        self.foreign |= {name for name in names if name in ("img", "script", "iframe") or name.startswith("on")}


def is_sound(form: str, text: str, count: int) -> None:
    """A report is well-formed, not endless, holds every finding, and lets nothing of what files hold act."""
    if WILD.search(text) or len(text) > LONGEST_REPORT:
        raise Broken(f"the {form} report has {WILD.findall(text)[:3]} among {len(text)} characters")
    page = Page()
    if form in JSON_FORMATS:
        json.loads(text)
    elif form == "junit":
        ElementTree.fromstring(text)
    elif form == "github":
        lines = [line for line in text.splitlines() if not re.match(r"::(error|warning|notice) (file|title)=", line)]
        page.foreign |= set(lines[:-1])
    elif form == "html":
        page.feed(text)
        page.foreign |= set() if text.count("<article") == min(count, MOST_CARDS) else {"another number of findings"}
    elif form == "markdown" and "<img" in text:
        page.foreign.add("<img")
    if page.foreign:
        raise Broken(f"the {form} report lets something through: {page.foreign}")


def diff(case: Case, dice: random.Random) -> None:
    """A repository against a more damaged one."""
    both = {f"{side}/{name}": raw for side, files in states(case, dice).items() for name, raw in files.items()}
    form = dice.choice(("json", "text", "markdown"))
    with laid_out(both):
        for side in ("old", "new"):
            os.makedirs(side, exist_ok=True)
        code, report, complaints = told("diff", "old", "new", "--format", form)
    judged(form, code, report, complaints)


def states(case: Case, dice: random.Random) -> dict[str, Case]:
    return {"old": case, "new": damaged_case(case, dice)}


def judged(form: str, code: int, report: str, complaints: str) -> None:
    """What holds for reports that have no places to look at."""
    if not report:
        refused(code, complaints)
    elif form == "json":
        json.loads(report)
    if (WILD.search(report) and form != "patch") or len(report) > LONGEST_REPORT:  # a patch has the lines as they are
        raise Broken(f"the {form} report has {WILD.findall(report)[:3]} among {len(report)} characters")


def fix(case: Case, dice: random.Random) -> None:
    """Rewriting: announced by the diff, readable afterwards, and done once and for all."""
    with laid_out(case):
        before = {name: Path(name).read_bytes() for name in case if os.path.isfile(name)}
        code, announced, complaints = told("check", "--fix", "--diff", ".")
        if code == 2:
            return refused(code, complaints)
        told("check", "--fix", ".", "--quiet", "--exit-zero")
        changed = {n for n, raw in before.items() if Path(n).read_bytes() != raw}
        if bool(changed) != bool(announced):
            raise Broken(f"announced {announced!r}, changed {changed}")
        for name in changed:
            after = load(Path(name).read_bytes(), name)
            is_plain = name.isprintable() and not {'"', "\\"} & {*name}  # git quotes other names
            if after.faults or (is_plain and announced.count(f"+++ b/{name}\n") != 1):
                raise Broken(f"{name} was rewritten to {after.text.text!r}")
        _, again, _ = told("check", "--fix", "--diff", ".")
    if again:
        raise Broken(f"there is more to rewrite after rewriting: {again}")


def admit(case: Case, dice: random.Random) -> None:
    form = dice.choice(("json", "text"))
    with laid_out(case):
        name = dice.choice([n for n in case if os.path.isfile(n)])
        judged(form, *told("admit", f"./{name}", "--in", ".", "--format", form))


def capacity(case: Case, dice: random.Random) -> None:
    form = dice.choice(("json", "text"))
    with laid_out(case):
        judged(form, *told("capacity", ".", "--format", form))


def preemption(case: Case, dice: random.Random) -> None:
    form = dice.choice(("json", "text", "markdown", "html"))
    with laid_out(case):
        judged(form, *told("explain", "preemption", ".", "--format", form))


TARGETS = {
    "check": Target(check),
    "diff": Target(diff),
    "fix": Target(fix),
    "admit": Target(admit),
    "capacity": Target(capacity),
    "preemption": Target(preemption),
}
