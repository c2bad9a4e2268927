"""The published schemas accept what qcheck writes and what it reads."""

from __future__ import annotations

import contextlib
import io
import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from plain_yaml import read_all
from ruamel.yaml.error import YAMLError
from rule_cases import FIXTURES

from qcheck.cli.entrypoint import run

EXAMPLE = FIXTURES / "clusters" / "research-fleet"


def qcheck(*words: str) -> str:
    printed = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="")
    with contextlib.redirect_stdout(printed):
        assert run(words) in (0, 1)
    printed.seek(0)
    return printed.read()


@cache
def validator(name: str) -> Draft202012Validator:
    schema = json.loads(qcheck("schema", name))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def keys_of(value: object) -> set[str]:
    if isinstance(value, dict):
        return set(value).union(*map(keys_of, value.values()))
    return set().union(*map(keys_of, value)) if isinstance(value, list) else set()


def test_the_report_is_what_its_schema_says_and_nothing_more() -> None:
    report = json.loads(qcheck("check", str(EXAMPLE), "--format", "json"))
    schema = validator("report")
    schema.validate(report)
    for finding in report["findings"]:
        finding["data"] = {}
    assert keys_of(report) <= keys_of(schema.schema)


CLUSTERS = sorted(path for path in (FIXTURES / "clusters").iterdir() if path.is_dir())


@pytest.mark.parametrize("folder", CLUSTERS, ids=lambda path: path.name)
@pytest.mark.parametrize("command", ["capacity", "suggest"])
def test_answers_are_what_their_schemas_say(command: str, folder: Path) -> None:
    validator(command).validate(json.loads(qcheck(command, str(folder), "--format", "json")))


def test_the_answer_of_admit_is_what_its_schema_says() -> None:
    answer = qcheck("admit", str(EXAMPLE / "workloads" / "pretrain.yaml"), "--in", str(EXAMPLE), "--format", "json")
    validator("admit").validate(json.loads(answer))


def test_a_comparison_is_what_its_schema_says() -> None:
    answer = qcheck("diff", str(EXAMPLE), str(EXAMPLE.parent / "research-fleet-fixed"), "--format", "json")
    validator("diff").validate(json.loads(answer))


def own_pools() -> list[dict[str, Any]]:
    files = [path for path in FIXTURES.rglob("*.yaml") if not path.parent.name.startswith("fail-")]
    texts = [text for path in files if "qcheck.dev/v1" in (text := path.read_text(encoding="utf-8"))]
    return [d for text in texts for d in documents(text) if d.get("apiVersion") == "qcheck.dev/v1"]


def documents(text: str) -> list[dict[str, Any]]:
    try:
        return [d for d in read_all(text) if isinstance(d, dict)]
    except YAMLError:
        return []


def test_the_node_pools_of_the_fixtures_follow_their_schema() -> None:
    schema = validator("nodepool")
    wrong = [error.message for pool in own_pools() for error in schema.iter_errors(pool)]
    assert not wrong


@pytest.mark.parametrize("spec", [{}, {"count": -1}, {"count": 1, "label": {}}, {"count": {"max": "3"}}])
def test_the_node_pool_schema_refuses(spec: dict[str, Any]) -> None:
    pool = {"apiVersion": "qcheck.dev/v1", "kind": "NodePool", "metadata": {"name": "a"}, "spec": spec}
    assert not validator("nodepool").is_valid(pool)


OUTPUTS = ("report", "capacity", "admit", "diff", "shares", "simulate", "suggest", "drift", "preemption", "rules")


@pytest.mark.parametrize("name", OUTPUTS)
def test_every_number_says_what_it_counts(name: str) -> None:
    schema = json.loads(qcheck("schema", name))
    parts = {**schema.get("$defs", {}), "": schema}
    silent = [
        f"{part}.{key}"
        for part, of in parts.items()
        for key, value in of.get("properties", {}).items()
        if key != "schema" and {"integer", "number"} & types_of(value) and "description" not in json.dumps(value)
    ]
    assert silent == []


def types_of(value: object) -> set[str]:
    """The JSON types that a part of a schema names anywhere."""
    if isinstance(value, dict):
        named = {value["type"]} if isinstance(value.get("type"), str) else set()
        return named.union(*map(types_of, value.values()))
    return set().union(*map(types_of, value)) if isinstance(value, list) else set()


@pytest.mark.parametrize("folder", CLUSTERS, ids=lambda path: path.name)
def test_the_answer_of_explain_preemption_is_what_its_schema_says(folder: Path) -> None:
    answer = json.loads(qcheck("explain", "preemption", str(folder), "--format", "json"))
    schema = validator("preemption")
    schema.validate(answer)
    assert keys_of(answer) <= keys_of(schema.schema)


def test_the_list_of_rules_is_what_its_schema_says() -> None:
    schema = validator("rules")
    for more in ((), ("--messages",)):
        schema.validate(json.loads(qcheck("rules", "--format", "json", *more)))
