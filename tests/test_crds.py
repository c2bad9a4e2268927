"""Our descriptions against Kueue's own CustomResourceDefinitions, field by field and limit by limit.

The CRDs are not part of this project. The test looks in `QCHECK_CRDS`, else in `../shared/crds`, and is skipped when
there are none. They are of the release after 0.19, whose schemas are those of 0.19.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Any

import plain_yaml
import pytest

from qcheck.kinds.schema.catalogue import KUEUE, SERVED, described
from qcheck.kinds.schema.published import json_schema

FOLDER = Path(os.environ.get("QCHECK_CRDS") or Path(__file__).parents[2] / "shared" / "crds")
RELEASE = (0, 20)
Json = dict[str, Any]
CASES = [
    (kind, version) for kind, versions in SERVED.items() for version in ("v1beta1", "v1beta2") if version in versions
]
EXPLAINED = {
    "status": "written by controllers; the API server drops what a manifest says there",
    "metadata": "described once, as the API server decodes it for every kind; CRDs leave it open",
}
IGNORED = {"description", "x-kubernetes-validations", "x-kubernetes-int-or-string", "x-kubernetes-map-type", "nullable"}
"""Texts; CEL rules, which have twins and a test of their own; and how server-side apply merges."""


@cache
def crd(kind: str) -> Json:
    plural = {"Topology": "topologies", "WorkloadPriorityClass": "workloadpriorityclasses"}.get(
        kind, f"{kind.lower()}s"
    )
    with (FOLDER / f"{KUEUE}_{plural}.yaml").open(encoding="utf-8") as file:
        loaded: Json = plain_yaml.read(file.read())
        return loaded


def schema_of(definition: Json, version: str) -> Json:
    found: Json = next(v for v in definition["spec"]["versions"] if v["name"] == version)["schema"]["openAPIV3Schema"]
    return found


def flat(schema: Json, path: str = "") -> dict[str, object]:
    """Every fact of a schema by its path."""
    facts: dict[str, object] = {}
    for key, value in normal(schema).items():
        if key == "properties":
            for name, inner in value.items():
                facts |= flat(inner, f"{path}.{name}") if path or name not in EXPLAINED else {}
        elif key == "items":
            facts |= flat(value, f"{path}[]")
        elif key == "additionalProperties" and isinstance(value, dict):
            facts |= flat(value, f"{path}{{}}")
        else:
            facts[f"{path}:{key}"] = value
    return facts


def normal(schema: Json) -> Json:
    """One spelling for what the two write differently."""
    found = {k: v for k, v in schema.items() if k not in IGNORED}
    if schema.get("x-kubernetes-int-or-string") or isinstance(schema.get("type"), list):
        found = {k: v for k, v in found.items() if k != "anyOf"} | {"type": "integer or string"}
    if schema.get("format") in ("int32", "int64"):
        bits = int(schema["format"][3:])
        found |= {"minimum": schema.get("minimum", -(2 ** (bits - 1))), "maximum": 2 ** (bits - 1) - 1}
        del found["format"]
    list_type = found.pop("x-kubernetes-list-type", None)
    if list_type == "set":
        found["uniqueItems"] = True
    if found.get("additionalProperties") is False:
        del found["additionalProperties"]
    if isinstance(found.get("default"), dict):
        found["default"] = {k: v["default"] for k, v in schema["properties"].items() if "default" in v} | found[
            "default"
        ]
    if str(found.get("pattern", "")).startswith("^(?i)"):
        found["pattern"] = found["pattern"].replace("(?i)", "").replace("a-z", "a-zA-Z")
    for key in ("enum", "required"):
        if key in found:
            found[key] = sorted(found[key])
    return found


@pytest.mark.skipif(not FOLDER.is_dir(), reason="needs Kueue's CRDs")
@pytest.mark.parametrize(("kind", "version"), CASES)
def test_description_equals_the_crd(kind: str, version: str) -> None:
    found = described(KUEUE, version, kind, RELEASE)
    assert found is not None
    ours, theirs = flat(json_schema(found)), flat(schema_of(crd(kind), version))
    differing = {k: (ours.get(k), theirs.get(k)) for k in {*ours, *theirs} if ours.get(k) != theirs.get(k)}
    assert {k: v for k, v in differing.items() if not explained(kind, version, k)} == {}


def explained(kind: str, version: str, path: str) -> bool:
    """Templates carry whole object metadata, of which Kueue's CRD keeps five fields."""
    return kind == "Workload" and ".metadata" in path
