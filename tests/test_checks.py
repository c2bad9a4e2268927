"""Every check id of the API server and Kueue's webhooks: a valid object passes, its changed twin is refused by that id."""

from __future__ import annotations

import json
import os
import re
from functools import cache
from pathlib import Path
from typing import Any

import plain_yaml
import pytest
from jsonschema import Draft202012Validator

from qcheck.documents.cursor import root
from qcheck.documents.load import load
from qcheck.kinds.decode import roots
from qcheck.kinds.schema.published import kueue_schema
from qcheck.kinds.validate import validate
from qcheck.kinds.validation.target import Target

HERE = Path(__file__).resolve().parent
REFERENCE = Path(os.environ.get("QCHECK_REFERENCE") or HERE.parents[1] / "shared" / "reference" / "kueue.md")
CORPUS = Path(os.environ.get("QCHECK_CORPUS") or HERE.parents[1] / "shared" / "corpus")
REFUSED = (
    "api-rejected",
    "unknown-field",
    "requests-invalid",
    "configuration-rejected",
    "kai-topology-invalid",
    "volcano-hypernode-invalid",
)
ROW = re.compile(r"^\| ((?:CQ|CO|RF|LQ|AC|TO|PRC|WPC|MKC|MKF|WL|JOB|TAS|CFG)-[SCWV]\d\d) \|", re.MULTILINE)


@cache
def table() -> dict[str, Any]:
    loaded: dict[str, Any] = plain_yaml.read((HERE / "data" / "checks.yaml").read_text(encoding="utf-8"))
    return loaded


def cases() -> list[dict[str, Any]]:
    return [c for c in table()["checks"] if "of" in c]


def repeated(value: Any, number: str = "#") -> Any:
    """`{repeat: n, item: x}` as a list, `#` as the number."""
    if isinstance(value, dict):
        if set(value) == {"repeat", "item"}:
            return [repeated(value["item"], f"{number}{at}".lstrip("#")) for at in range(value["repeat"])]
        return {k: repeated(v, number) for k, v in value.items()}
    if isinstance(value, list):
        return [repeated(v, number) for v in value]
    return value.replace("#", number) if isinstance(value, str) and number != "#" else value


def merged(base: Any, patch: Any) -> Any:
    """A JSON merge patch (RFC 7396)."""
    if not isinstance(patch, dict):
        return patch
    found = dict(base) if isinstance(base, dict) else {}
    for key, value in patch.items():
        if value is None:
            found.pop(key, None)
        else:
            found[key] = merged(found.get(key), value)
    return found


def refusals(data: Any, case: dict[str, Any]) -> dict[str, str]:
    gates = dict.fromkeys(case.get("gates", ()), True) | dict.fromkeys(case.get("without", ()), False)
    if data["kind"] == "Configuration" and gates:  # it is judged by the gates that it sets itself
        data = {**data, "featureGates": data.get("featureGates", {}) | gates}
    document = load(json.dumps(data), "case.json").documents[0]
    target = Target(tuple(case.get("release", (0, 19))), gates)
    refused = [p for p in validate(root(document), target) if p.code in REFUSED and p.certain]
    return {str(p.data.get("check")): p.message for p in refused}


@pytest.mark.parametrize("case", table()["accepted"], ids=str)
def test_what_the_api_server_takes_is_not_refused(case: dict[str, Any]) -> None:
    assert refusals(merged(table()["bases"][case["of"]], case["with"]), case) == {}


@pytest.mark.parametrize("case", cases(), ids=lambda c: f"{c['id']}-{c['of']}")
def test_a_changed_object_is_refused(case: dict[str, Any]) -> None:
    changed = merged(table()["bases"][case["of"]], repeated(case["with"]))
    if "as" in case:
        changed["apiVersion"] = f"kueue.x-k8s.io/{case['as']}"
    found = refusals(changed, case)
    assert case["id"] in found, found


@pytest.mark.parametrize("name", table()["bases"])
@pytest.mark.parametrize("release", [(0, 19), (0, 20)])
def test_the_unchanged_object_is_not(name: str, release: tuple[int, int]) -> None:
    case = {"release": release, "gates": ["ConcurrentAdmission", "PriorityBoost", "SparkApplicationIntegration"]}
    assert refusals(table()["bases"][name], case) == {}


@pytest.mark.parametrize(
    "name", [n for n, o in table()["bases"].items() if o["apiVersion"].startswith("kueue.x-k8s.io")]
)
def test_the_published_schema_takes_the_unchanged_object_too(name: str) -> None:
    valid = table()["bases"][name]
    version = valid["apiVersion"].rpartition("/")[2]
    validator = Draft202012Validator(kueue_schema(valid["kind"], version, (0, 19)))
    assert [e.message for e in validator.iter_errors(valid)] == []
    assert list(validator.iter_errors({**valid, "sepc": {}}))


def test_every_id_of_the_code_has_a_case() -> None:
    folder = HERE.parent / "qcheck" / "kinds"
    ids = {
        i for p in folder.rglob("*.py") for i in re.findall(r"\b[A-Z]{2,4}-[SCWV]\d\d\b", p.read_text(encoding="utf-8"))
    }
    assert ids - {c["id"] for c in table()["checks"]} == set()


@pytest.mark.skipif(not REFERENCE.is_file(), reason="needs the reference of Kueue's checks")
def test_every_id_of_the_reference_has_a_case_or_a_reason() -> None:
    ids = set(ROW.findall(REFERENCE.read_text(encoding="utf-8")))
    assert len(ids) > 100
    assert ids - {c["id"] for c in table()["checks"]} == set()


@pytest.mark.skipif(not CORPUS.is_dir(), reason="needs the corpus of public manifests")
def test_no_valid_manifest_of_the_corpus_is_refused() -> None:
    refused = [
        f"{p.place.line}: {p.message}"
        for path in sorted(CORPUS.glob("*.y*ml*"))
        for document in load(path.read_bytes(), path.name).documents
        for at in roots(document)
        for p in validate(at, Target((0, 19)))
        if p.code in REFUSED
    ]
    assert refused == []
