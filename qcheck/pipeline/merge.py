"""`merge`: the JSON reports of several runs as one result, as if one run had judged everything."""

from __future__ import annotations

import json
import re

from pydantic import ValidationError

from qcheck.cluster.objects import ObjectId
from qcheck.cluster.place import Place, read_route
from qcheck.cluster.value import TYPE_CHECKING, Value, replace
from qcheck.findings.catalogue import Rule, load_catalogue
from qcheck.findings.finding import Finding
from qcheck.findings.fleet import AcceleratorSum, ClusterSummary
from qcheck.findings.result import FileRead, Inputs, NotRead, Result, Skipped
from qcheck.findings.same_in_clusters import identity_of, merged
from qcheck.findings.settle import reading_order
from qcheck.findings.severity import SEVERITIES, Severity
from qcheck.reports.schema import Report

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from qcheck.cluster.place import Route, Span

PILES = ("suppressed", "baselined")
IN_CLUSTER = re.compile(r"(.*) \(cluster (.*)\)\Z", re.DOTALL)
"""The text by which a report of several clusters names the one in which a rule was not judged."""


class MergeError(Exception):
    """A file is not a report of `check --format json`; the message names it and says why."""


class ReportedPlace(Value):
    """A place in a report: its path and span, without the file."""

    path: str
    source: str | None
    at: Span

    @property
    def data(self) -> object:
        return None

    def span(self, route: Route, on_key: bool = False) -> Span:  # noqa: ARG002  (known for one route only)
        return self.at

    def line(self, number: int) -> str:  # noqa: ARG002  (the report does not quote the file)
        return ""

    def has(self, route: Route) -> bool:  # noqa: ARG002
        return True

    def written_at(self, route: Route) -> tuple[ReportedPlace, Route]:
        return self, route


def merge(reports: Sequence[tuple[str, bytes]]) -> Result:
    """Return one result from reports, given as names and contents. Raises `MergeError`."""
    read = [(name, _report(name, content)) for name, content in reports]
    catalogue = load_catalogue()
    try:
        return _merged([report for _, report in read], catalogue)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        culprit = next((name for name, report in read if not _is_whole(report, catalogue)), read[0][0])
        raise MergeError(f"{culprit}: is not a complete report: {type(error).__name__} {error}") from None


def _report(name: str, content: bytes) -> dict[str, Any]:
    try:
        data = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise MergeError(f"{name}: is not JSON that can be read: {error}") from None
    if not isinstance(data, dict) or not {"summary", "inputs", "findings"} <= data.keys():
        raise MergeError(f"{name}: is not a report of `qcheck check --format json`")
    if data.get("schema") != 1:
        raise MergeError(f"{name}: has schema {data.get('schema')!r}; this release reads schema 1")
    try:
        Report.model_validate(data, strict=True)
    except ValidationError as error:
        wrong = [e for e in error.errors() if e["type"] != "missing"]  # missing keys that are needed are reported later
        if wrong:
            where = ".".join(map(str, wrong[0]["loc"]))
            raise MergeError(f"{name}: is not a complete report: {where}: {wrong[0]['msg']}") from None
    return data


def _is_whole(report: dict[str, Any], catalogue: Mapping[str, Rule]) -> bool:
    try:
        _merged([report], catalogue)
    except (KeyError, TypeError, ValueError, AttributeError):
        return False
    return True


def _merged(reports: Sequence[dict[str, Any]], catalogue: Mapping[str, Rule]) -> Result:
    fleet = _fleet(reports)
    listed = _once([[f for data in report["findings"] for f in _findings(data, catalogue)] for report in reports])
    return Result(
        findings=merged(sorted(listed, key=reading_order), [c.name for c in fleet]),
        suppressed=(),
        baselined=(),
        inputs=_inputs(reports, catalogue, fleet),
        rules=tuple(catalogue.values()),
        fleet=fleet,
        elsewhere=_elsewhere(reports),
    )


def _once(reports: Iterable[Iterable[Finding]]) -> list[Finding]:
    """Return the findings of all reports; the same finding of one cluster in several reports counts once."""
    kept: dict[tuple[object, ...], list[Finding]] = {}
    for findings in reports:
        alike: dict[tuple[object, ...], list[Finding]] = {}
        for each in findings:
            alike.setdefault((each.cluster, identity_of(each)), []).append(each)
        for key, same in alike.items():
            kept[key] = max(kept.get(key, []), same, key=len)
    return [f for same in kept.values() for f in same]


def _fleet(reports: Iterable[dict[str, Any]]) -> tuple[ClusterSummary, ...]:
    """Return the clusters in the order of the reports; for a cluster in several reports, the largest figures."""
    found: dict[str, dict[str, AcceleratorSum]] = {}
    objects: dict[str, int] = {}
    for report in reports:
        for data in report.get("clusters", ()):
            if "objects" in data:
                objects[data["name"]] = max(objects.get(data["name"], 0), data["objects"])
            sums = found.setdefault(data["name"], {})
            for each in data["accelerators"]:
                made = AcceleratorSum(each["resource"], each["nominal"], each["static"])
                known = sums.get(made.resource, made)
                sums[made.resource] = max(made, known, key=lambda s: (s.nominal, s.static or 0))
        for data in report["findings"]:
            for name in _clusters(data):
                found.setdefault(name, {})
    return tuple(ClusterSummary(name, tuple(sums.values()), objects.get(name)) for name, sums in found.items())


def _clusters(data: dict[str, Any]) -> list[str]:
    """Return the clusters that have a finding."""
    return list(data["data"].get("clusters") or [data["cluster"]])


def _findings(data: dict[str, Any], catalogue: Mapping[str, Rule]) -> Iterator[Finding]:
    """Yield a finding of a report once for each cluster that has it."""
    rule = catalogue.get(data["rule"]) or Rule(
        id=data["rule"], name=data["name"], family="", severity=Severity(data["severity"]), summary="", fix=data["help"]
    )
    own = Finding(
        primary=_place(data["primary"]),
        message=data["message"],
        related=tuple(map(_place, data["related"])),
        object=_object(data["object"]),
        data={key: value for key, value in data["data"].items() if key != "clusters"},
        help=data["help"],
        certain=data["confidence"] == "certain",
        rule=rule,
        severity=Severity(data["severity"]),
        cluster=data["cluster"],
        identity=data["fingerprint"],
    )
    for name in _clusters(data):
        yield own if name == own.cluster else replace(own, cluster=name)


def _place(data: dict[str, Any]) -> Place:
    span = (data["line"], data["column"], data["endLine"], data["endColumn"])
    return Place(ReportedPlace(data["file"], data.get("source"), span), read_route(data["route"]), data["caption"])


def _object(data: dict[str, Any] | None) -> ObjectId | None:
    if data is None:
        return None
    group, _, version = data["apiVersion"].rpartition("/")
    return ObjectId(group=group, version=version, kind=data["kind"], name=data["name"], namespace=data["namespace"])


def _inputs(
    reports: Sequence[dict[str, Any]], catalogue: Mapping[str, Rule], fleet: Sequence[ClusterSummary]
) -> Inputs:
    """Return the inputs of all reports. A file in several reports counts once, if the reports list their files."""
    all_inputs = [report["inputs"] for report in reports]
    unlisted = [i for i in all_inputs if "read" not in i]
    listed = (FileRead(f["path"], f["documents"], f["size"]) for i in all_inputs for f in i.get("read", ()))
    read = tuple(dict.fromkeys(listed))
    objects = [c.objects for c in fleet if c.objects is not None]
    skipped = [s for report in reports for s in _skipped(report, catalogue)]
    return Inputs(
        files=len(read) + sum(i["files"] for i in unlisted),
        documents=sum(f.documents for f in read) + sum(i["documents"] for i in unlisted),
        objects=sum(objects) if len(objects) == len(fleet) else sum(i["objects"] for i in all_inputs),
        not_read=tuple(dict.fromkeys(NotRead(n["path"], n["why"]) for i in all_inputs for n in i["notRead"])),
        skipped=tuple(dict.fromkeys(skipped)),
        unjudged=tuple(dict.fromkeys(why for i in all_inputs for why in i.get("unjudged", ()))),
        read=read,
    )


def _skipped(report: dict[str, Any], catalogue: Mapping[str, Rule]) -> Iterator[Skipped]:
    names = [c["name"] for c in report.get("clusters", ())]
    for data in report["inputs"]["skippedRules"]:
        named = IN_CLUSTER.match(data["why"]) if len(names) > 1 else None
        why, cluster = named.groups() if named else (data["why"], names[0] if names else "default")
        rule = catalogue.get(data["rule"]) or Rule(
            id=data["rule"], name="", family="", severity=Severity.NOTE, summary="", fix=""
        )
        yield Skipped(rule, why, cluster)


def _elsewhere(reports: Iterable[dict[str, Any]]) -> dict[str, int]:
    """Return what the reports count but do not list: piles, and findings below the displayed severity."""
    counts: dict[str, int] = {}
    for report in reports:
        severities = [f["severity"] for f in report["findings"]]
        for name in (*SEVERITIES, *PILES):
            unlisted = report["summary"].get(name, 0) - severities.count(name)
            if unlisted > 0:
                counts[name] = counts.get(name, 0) + unlisted
    return counts
