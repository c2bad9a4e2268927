"""The CEL rules of Kueue's CRDs against our twins: a CEL library referees, on valid objects and on changed ones.

Skipped without the CRDs (see test_crds.py) or the library. Rules with `oldSelf` are for updates (QC801).
"""

from __future__ import annotations

import json
import random
from importlib.util import find_spec
from typing import Any

import pytest
from test_checks import cases, merged, repeated, table
from test_crds import FOLDER, crd, schema_of

from qcheck.documents.cursor import root
from qcheck.documents.load import load
from qcheck.kinds.cel import CelEvaluator
from qcheck.kinds.schema.catalogue import KUEUE
from qcheck.kinds.structural_schemas import defaulted, pruned
from qcheck.kinds.validate import validate
from qcheck.kinds.validation.target import Target

pytestmark = pytest.mark.skipif(
    not FOLDER.is_dir() or find_spec("cel_expr_python") is None, reason="needs Kueue's CRDs and cel-expr-python"
)
OBJECTS = 60


def objects(base: str) -> list[Any]:
    """The valid object, each changed one, and some with several changes at once (the same ones in every run)."""
    valid = table()["bases"][base]
    patches = [repeated(c["with"]) for c in cases() if c["of"] == base and "as" not in c]
    chance = random.Random(base)
    mixed = [chance.sample(patches, min(len(patches), 3)) for _ in range(OBJECTS)] if patches else []
    found = [valid, *(merged(valid, p) for p in patches)]
    for several in mixed:
        made = valid
        for patch in several:
            made = merged(made, patch)
        found.append(made)
    return found


def ours(data: Any) -> tuple[bool, bool]:
    """Whether the structure is refused, and whether a CEL rule is."""
    document = load(json.dumps(data), "case.json").documents[0]
    checks = [str(p.data.get("check")) for p in validate(root(document), Target((0, 20))) if p.code == "api-rejected"]
    return any("-S" in c or c in ("schema", "KIND") for c in checks), any("-C" in c for c in checks)


@pytest.mark.parametrize("base", [b for b, o in table()["bases"].items() if o["apiVersion"].startswith(KUEUE)])
def test_the_library_agrees(base: str) -> None:
    judge = CelEvaluator()
    compared = 0
    for data in objects(base):
        if data["kind"] != table()["bases"][base]["kind"]:
            continue
        schema = schema_of(crd(data["kind"]), data["apiVersion"].rpartition("/")[2])
        is_malformed, is_refused = ours(data)
        if not is_malformed:
            compared += 1
            theirs = [f.text for f in judge.failures(schema, defaulted(schema, pruned(schema, data)))]
            assert bool(theirs) is is_refused, (json.dumps(data), theirs)
    assert compared


@pytest.mark.parametrize(
    "kind", sorted({o["kind"] for o in table()["bases"].values() if o["apiVersion"].startswith(KUEUE)})
)
def test_the_library_knows_every_rule(kind: str) -> None:
    for version in crd(kind)["spec"]["versions"]:
        assert CelEvaluator().unjudged(version["schema"]["openAPIV3Schema"]) == []
