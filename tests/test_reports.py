"""What holds for every report: it keeps the findings, names cannot break out of it, it follows its format's rules."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest
from made import incomplete_inputs, of_rule, over_quota, place, settled

from qcheck.api import audit
from qcheck.cluster.value import replace
from qcheck.findings.result import Result
from qcheck.reports import FORMATS, render
from qcheck.reports.markdown import MOST_BYTES, escape

SCHEMAS = Path(__file__).parent / "schemas"
FLEET = "fixtures/clusters/research-fleet"

HOSTILE = (
    "\x1b[31mred\x1b[0m",
    "\x9b31m",
    "a\r\n::error::b",
    "::stop-commands::x",
    "%0A::warning::b",
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "'><svg/onload=alert(1)>",
    "</style></title><b>",
    "]]><x/>",
    "| a | b |",
    "[text](javascript:alert(1))",
    "`code` *bold* ~~gone~~ $x$",
    "@someone #1 www.example.com https://example.com",
    "right\u202eleft",
    "\ud800half",
    "nul\x00 bell\x07",
    "\u2028separator",
    "日本 é",
)


def hostile_result(text: str) -> Result:
    """A finding whose every text, from path to captions, is `text`; its source line holds it too."""
    quoted = json.dumps(text, ensure_ascii=True)
    at = place(f'{{"a": {quoted}}}', f"dir/{text}.json", ("a",))
    found = over_quota(at).near(place("b: 1\n", f"{text}.yaml", ("b",)), text).fixed_by(text)
    found = found.offering(at, text, text)
    found = replace(
        found, message=text, cluster=text, object=replace(found.object, name=text) if found.object else None
    )
    return settled(found, inputs=replace(incomplete_inputs(), unjudged=(text,)))


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("form", FORMATS)
def test_no_text_reaches_a_terminal_or_file_as_anything_but_text(form: str, text: str) -> None:
    shown = render(hostile_result(text), form)
    shown.encode("utf-8")
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2028]", shown)


@pytest.mark.parametrize("text", HOSTILE)
def test_names_give_no_workflow_commands(text: str) -> None:
    lines = render(hostile_result(text), "github").splitlines()
    numbers = r"line=1,endLine=1,col=\d+,endColumn=\d+"
    assert re.match(rf"::error file=dir/[^:,]*\.json,{numbers},title=QC101 quota-exceeds-capacity::", lines[0])
    assert lines[1].startswith("::error title=qcheck could not judge::")
    assert lines[2:] == ["qcheck: 1 error"]


class Elements(HTMLParser):
    """Element names and attribute names of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen |= {tag, *(f"@{name}" for name, _ in attrs)}


@pytest.mark.parametrize("text", HOSTILE)
def test_names_make_no_elements_in_html(text: str) -> None:
    harmless, hostile = Elements(), Elements()
    harmless.feed(render(hostile_result("name"), "html"))
    hostile.feed(render(hostile_result(text), "html"))
    assert hostile.seen == harmless.seen
    assert not {"script", "img", "svg", "@onload", "@onerror"} & hostile.seen


def test_html_needs_nothing_from_elsewhere() -> None:
    page = render(audit([FLEET]), "html")
    assert "default-src &#x27;none&#x27;" in page
    assert not re.search(r"(?:src|url|@import)\s*[=(]", page.partition("<body>")[0])
    assert "<script" not in page
    assert "<link" not in page


@pytest.mark.parametrize("text", [t for t in HOSTILE if "\ud800" not in t])
def test_markdown_shows_names_as_they_are(text: str) -> None:
    from markdown_it import MarkdownIt

    from qcheck.reports.wording import plain

    made = MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(f"| x |\n|---|\n| {escape(text)} |\n")
    cell = made.partition("<tbody>")[2].partition("<td>")[2].partition("</td>")[0]
    bare = cell.replace("<!-- -->", "")
    assert "<" not in bare
    assert html.unescape(bare) == plain(text).strip()
    assert not re.search(r"@\w|#\d|www\.|://", cell)


def test_a_summary_stays_below_what_github_takes() -> None:
    many = [over_quota(place(path=f"{'x' * 400}/{n}.yaml")) for n in range(1500)]
    text = render(settled(*many), "markdown")
    assert len(text.encode()) < MOST_BYTES + 200
    assert "more lines were cut" in text


def validate(name: str, text: str) -> None:
    schema = json.loads((SCHEMAS / f"{name}.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(json.loads(text))


RESULTS: dict[str, Callable[[], Result]] = {
    "clean": settled,
    "two": lambda: settled(over_quota(), of_rule(over_quota().likely(), "QC205")),
    "unjudged": lambda: settled(over_quota(), inputs=incomplete_inputs()),
    "hostile": lambda: hostile_result(HOSTILE[5]),
    "fleet": lambda: audit([FLEET]),
    "folded": lambda: settled(
        of_rule(over_quota(), "QC415").with_data(flavor="h100"), over_quota().with_data(flavor="h100")
    ),
    "many": lambda: settled(*[over_quota(place(path=f"{n}.yaml")) for n in range(30)]),
    "clusters": lambda: settled(replace(over_quota(), cluster="east"), replace(over_quota(), cluster="west")),
}


FOLLOWING = re.compile(r"and ([\d,]+) findings? that follows?: --all")


def folded(text: str) -> int:
    """How many findings a report for people folds into their causes."""
    return sum(int(n.replace(",", "")) for n in FOLLOWING.findall(text))


def in_github(text: str) -> int:
    commands = re.findall(r"^::(?:error|warning|notice) file=", text, re.MULTILINE)
    more = re.findall(r"::… and ([\d,]+) more", text)
    return len(commands) + sum(int(n.replace(",", "")) for n in more)


def in_junit(text: str) -> int:
    suite = ElementTree.fromstring(text)
    return len(suite.findall(".//failure")) + len(suite.findall(".//system-out"))


COUNTED: dict[str, Callable[[str], int]] = {
    "text": lambda text: len(re.findall(r"^(?:error|warning|note)\[QC", text, re.MULTILINE)) + folded(text),
    "json": lambda text: len(json.loads(text)["findings"]),
    "sarif": lambda text: len(json.loads(text)["runs"][0]["results"]),
    "github": in_github,
    "gitlab": lambda text: len(json.loads(text)),
    "junit": in_junit,
    "rdjson": lambda text: len(json.loads(text)["diagnostics"]),
    "markdown": lambda text: len(re.findall(r"^\| \S+ \| \[QC", text, re.MULTILINE)) + folded(text),
    "html": lambda text: text.count("<article"),
}
"""How many findings a report of each format holds: the one table that a new format adds itself to."""
SILENT = ("gitlab", "rdjson")
"""Formats in which nothing but findings has a place."""


def test_every_format_is_in_the_tables() -> None:
    readme = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
    assert set(COUNTED) == set(FORMATS)
    assert [form for form in FORMATS if f"`{form}`" not in readme and f"--format {form}" not in readme] == []


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", RESULTS)
def test_the_report_is_valid_and_keeps_the_count(form: str, name: str) -> None:
    result = RESULTS[name]()
    text = render(result, form)
    assert COUNTED[form](text) == len(result.findings)
    assert text.endswith("\n")
    if (SCHEMAS / f"{form}.json").exists():
        validate(form, text)


@pytest.mark.parametrize("form", FORMATS)
def test_what_was_not_judged_is_said(form: str) -> None:
    assert ("broken.yaml" in render(RESULTS["unjudged"](), form)) is (form not in SILENT)


@pytest.mark.parametrize("name", RESULTS)
def test_junit_fails_where_the_run_does(name: str) -> None:
    result = RESULTS[name]()
    suite = ElementTree.fromstring(render(result, "junit"))
    assert len(suite.findall(".//failure")) == len(result.failing)
    assert suite.get("failures") == str(len(result.failing))


def test_code_scanning_gets_what_it_asks_for() -> None:
    """GitHub refuses a file with one result without a place, and warns of a fingerprint that is not its own."""
    run = json.loads(render(audit([FLEET]), "sarif"))["runs"][0]
    rules = [r["id"] for r in run["tool"]["driver"]["rules"]]
    assert len(rules) == len(set(rules)) > 20
    for result in run["results"]:
        assert rules[result["ruleIndex"]] == result["ruleId"]
        assert "primaryLocationLineHash" not in result["partialFingerprints"]
        uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        assert not uri.startswith(("/", "./"))
        for link in re.findall(r"\]\((\d+)\)", result["message"]["text"]):
            assert int(link) in {r["id"] for r in result["relatedLocations"]}


def test_github_gets_ten_of_a_kind_and_a_count_of_the_rest() -> None:
    many = [over_quota(place(path=f"{n}.yaml")) for n in range(25)]
    lines = [line for line in render(settled(*many), "github").splitlines() if line.startswith("::error")]
    assert len(lines) == 10
    assert "16 more errors" in lines[-1]


def test_gitlab_fingerprints_are_unique() -> None:
    issues = json.loads(render(settled(*[over_quota() for _ in range(5)]), "gitlab"))
    assert len({i["fingerprint"] for i in issues}) == 5


def test_rdjson_columns_count_bytes() -> None:
    found = over_quota(place("a: ['日本', 96]\n", "x.yaml", ("a", 1)))
    start = json.loads(render(settled(found), "rdjson"))["diagnostics"][0]["location"]["range"]["start"]
    assert start == {"line": 1, "column": len("a: ['日本', ".encode()) + 1}


@pytest.mark.parametrize("form", FORMATS)
def test_reports_are_the_same_from_run_to_run(form: str) -> None:
    assert render(audit([FLEET]), form) == render(audit([FLEET]), form)


@pytest.fixture
def hostile_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The example fleet, in which the names of a queue, its cohort, a flavor, a pool and a DaemonSet are hostile."""
    names = {"research": HOSTILE[5], "pretraining": HOSTILE[2], "h100": HOSTILE[6], "gpu-health": HOSTILE[0]}
    for source in sorted(Path(FLEET).rglob("*.yaml")):
        text = source.read_text()
        for name, hostile in names.items():
            text = re.sub(rf"((?:name|cohortName|clusterQueue|accelerator): *){name}\b", rf"\1{name}-MARK", text)
            text = text.replace(f"{name}-MARK", json.dumps(name + hostile))
        (tmp_path / source.name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return [name + hostile for name, hostile in names.items()]


@pytest.mark.parametrize("form", FORMATS)
def test_hostile_names_in_a_whole_repository(form: str, hostile_repository: list[str]) -> None:
    result = audit(["."])
    assert len(result.findings) > 1
    assert {q.name for q in result.clusters[0].queues} & set(hostile_repository)
    shown = render(result, form)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", shown)
    if form == "html":
        page = Elements()
        page.feed(shown)
        assert not {"script", "img", "@onerror"} & page.seen
    if form == "markdown":
        assert "<script>" not in shown
        assert "<img" not in shown
