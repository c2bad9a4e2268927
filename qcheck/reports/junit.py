"""JUnit XML: a case for each finding, and one for each rule that found nothing.

A finding at or above the threshold is a failure; one below it is a passed case with the finding in its output, so that
a test view agrees with the exit code. Rules that could not be judged are skipped cases.
"""

from __future__ import annotations

from xml.etree import ElementTree as Xml

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.reports.wording import help_of, plain, skipped_rules, title

if TYPE_CHECKING:
    from qcheck.findings.finding import Finding
    from qcheck.findings.result import Result


def render(result: Result) -> str:
    suite = Xml.Element("testsuite", name="qcheck")
    failing = {id(f) for f in result.failing}
    taken: dict[str, int] = {}
    for found in result.findings:
        _case(suite, found, id(found) in failing, taken)
    for name, why in skipped_rules(result):
        Xml.SubElement(Xml.SubElement(suite, "testcase", _names(name, "not judged")), "skipped", message=plain(why))
    for why in result.inputs.unjudged:
        case = Xml.SubElement(suite, "testcase", _names("qcheck", f"could not judge: {why}"))
        Xml.SubElement(case, "error", message=plain(why), type="unjudged")
    _passed(suite, result)
    return _document(suite)


def _names(kind: str, name: str) -> dict[str, str]:
    return {"classname": f"qcheck.{kind.replace(' ', '.')}", "name": plain(name), "time": "0"}


def _case(suite: Xml.Element, found: Finding, fails: bool, taken: dict[str, int]) -> None:
    """Add a case for a finding, with a counter: readers drop later cases of the same class and name."""
    name = f"{found.object or found.primary.origin.path} ({', '.join(found.clusters)})"
    key = f"{title(found)} {name}"
    taken[key] = count = taken.get(key, 0) + 1
    case = Xml.SubElement(suite, "testcase", _names(title(found), name if count == 1 else f"{name} #{count}"))
    case.set("file", plain(found.primary.origin.path))
    case.set("line", str(found.primary.span[0]))
    if fails:
        Xml.SubElement(case, "failure", message=plain(found.message), type=found.severity).text = _body(found)
    else:
        Xml.SubElement(case, "system-out").text = f"{found.severity}: {_body(found)}"


def _body(found: Finding) -> str:
    places = [f"{p.line}: {p.caption}" if p.caption else p.line for p in (found.primary, *found.related)]
    return "\n".join(map(plain, (found.message, *places, f"help: {help_of(found)}")))


def _passed(suite: Xml.Element, result: Result) -> None:
    """Add a case for each rule that was judged and found nothing, so that a clean run does not look like "no tests"."""
    spoken = {f.rule.id for f in result.findings if f.rule} | {s.rule.id for s in result.inputs.skipped}
    for rule in result.rules:
        if rule.id not in spoken:
            Xml.SubElement(suite, "testcase", _names(f"{rule.id} {rule.name}", "nothing found"))


def _document(suite: Xml.Element) -> str:
    counts = {
        "tests": len(suite),
        "failures": len(suite.findall("*/failure")),
        "errors": len(suite.findall("*/error")),
        "skipped": len(suite.findall("*/skipped")),
        "time": 0,
    }
    for key, value in counts.items():
        suite.set(key, str(value))
    root = Xml.Element("testsuites", {"name": "qcheck", **{k: str(v) for k, v in counts.items()}})
    root.append(suite)
    Xml.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + Xml.tostring(root, encoding="unicode") + "\n"
