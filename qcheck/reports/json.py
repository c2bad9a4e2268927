"""The JSON report: schema 1, as printed by `qcheck schema report`. Within a schema, keys are only added."""

from __future__ import annotations

from qcheck import __version__
from qcheck.cluster.place import show_route
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.findings.text_edits import text_edits
from qcheck.reports.fleet import fleet_of
from qcheck.reports.json_text import dump
from qcheck.reports.wording import by_rule, help_of, skipped_rules, url_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qcheck.cluster.edits import Fix
    from qcheck.cluster.objects import ObjectId
    from qcheck.cluster.place import Place, Span
    from qcheck.findings.finding import Finding
    from qcheck.findings.fleet import AcceleratorSum, ClusterSummary
    from qcheck.findings.result import Result
    from qcheck.findings.text_edits import TextEdit
    from qcheck.reports.json_text import Json


def render(result: Result) -> str:
    return dump(as_data(result))


def as_data(result: Result) -> dict[str, Json]:
    return {
        "schema": 1,
        "tool": {"name": "qcheck", "version": __version__},
        "summary": summary(result),
        "inputs": _inputs(result),
        "findings": [finding_data(f) for f in result.findings],
        "clusters": [cluster_data(c) for c in fleet_of(result)],
        **({"statistics": _statistics(result)} if result.view.statistics else {}),
    }


def _statistics(result: Result) -> Json:
    return [
        {"rule": found.rule.id, "name": found.rule.name, "severity": found.severity, "count": count}
        for count, _, found in by_rule(result.counted)
        if found.rule
    ]


def cluster_data(cluster: ClusterSummary) -> Json:
    objects = {} if cluster.objects is None else {"objects": cluster.objects}
    return {"name": cluster.name, **objects, "accelerators": [sum_data(s) for s in cluster.accelerators]}


def sum_data(found: AcceleratorSum) -> Json:
    return {
        "resource": found.resource,
        "nominal": found.nominal,
        "static": found.static,
        "headroom": found.headroom,
    }


def summary(result: Result) -> dict[str, Json]:
    return {
        **{severity: result.count(severity) for severity in ("error", "warning", "note")},
        "suppressed": result.suppressed_count,
        "baselined": result.baselined_count,
        **({"older": len(result.older)} if result.older else {}),
    }


def _inputs(result: Result) -> dict[str, Json]:
    inputs = result.inputs
    return {
        "files": inputs.files,
        "documents": inputs.documents,
        "objects": inputs.objects,
        "notRead": [{"path": n.path, "why": n.why} for n in inputs.not_read],
        "skippedRules": [{"rule": name.split()[0], "why": why} for name, why in skipped_rules(result)],
        "unjudged": list(inputs.unjudged),
        "read": [{"path": f.path, "documents": f.documents, "size": f.size} for f in inputs.read],
    }


def finding_data(found: Finding) -> dict[str, Json]:
    assert found.rule is not None
    return {
        "rule": found.rule.id,
        "name": found.rule.name,
        "severity": found.severity,
        "confidence": "certain" if found.certain else "likely",
        "cluster": found.cluster,
        "message": found.message,
        "help": help_of(found),
        "url": url_of(found),
        "object": object_data(found.object),
        "primary": place_data(found.primary),
        "related": [place_data(p) for p in found.related],
        "data": found.data,
        "fixes": [_fix_data(fix, edits) for fix, edits in text_edits(found.fixes)],
        "fingerprint": found.fingerprint,
    }


def _fix_data(fix: Fix, edits: Sequence[TextEdit]) -> Json:
    return {
        "description": fix.description,
        "safe": fix.is_safe,
        "edits": [{"file": e.path, **span_data(e.span), "new": e.new} for e in edits],
    }


def span_data(span: Span) -> dict[str, Json]:
    line, column, end_line, end_column = span
    return {"line": line, "column": column, "endLine": end_line, "endColumn": end_column}


def object_data(subject: ObjectId | None) -> Json:
    if subject is None:
        return None
    return {
        "apiVersion": subject.api_version,
        "kind": subject.kind,
        "namespace": subject.namespace,
        "name": subject.name,
    }


def place_data(place: Place) -> dict[str, Json]:
    return {
        "file": place.origin.path,
        **span_data(place.span),
        "route": show_route(place.route),
        "caption": place.caption,
        **({"source": place.origin.source} if place.origin.source else {}),
    }
