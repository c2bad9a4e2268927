"""CustomResourceDefinitions among the inputs: other operators' kinds are judged by them, CEL rules where a library is."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from qcheck.api import audit
from qcheck.settings.load import load_settings

HAS_CEL = find_spec("cel_expr_python") is not None

DEFINITION = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Widget, plural: widgets}
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              required: [size]
              x-kubernetes-validations:
                - {rule: "self.most >= self.size", message: most must be at least size}
              properties:
                size: {type: integer, minimum: 1}
                most: {type: integer, default: 5}
                weight: {x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}]}
                free: {type: object, x-kubernetes-preserve-unknown-fields: true}
                shape: {type: string, enum: [round, flat]}
                note: {type: string, nullable: true, pattern: "^(?i)[a-z]+$"}
                words: {type: string, pattern: '^(\\pL+ ?)+$'}
                bytes: {type: string, pattern: '\\C'}
                parts:
                  type: array
                  x-kubernetes-list-type: map
                  x-kubernetes-list-map-keys: [name]
                  items: {type: object, properties: {name: {type: string}}}
"""
WIDGET = "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: a, namespace: b}\nspec: "


def said(
    folder: Path, spec: str, monkeypatch: pytest.MonkeyPatch, definition: str = DEFINITION
) -> list[tuple[str, str]]:
    monkeypatch.chdir(folder)
    Path("a-widget.yaml").write_text(WIDGET + spec + "\n", encoding="utf-8")
    Path("crd.yaml").write_text(definition, encoding="utf-8")
    return [(f.rule.id, f.message) for f in audit(["."]).findings if f.rule and f.rule.id in ("QC003", "QC004")]


@pytest.mark.parametrize(
    "spec",
    [
        "{size: 1, weight: 5, note: null, free: {any: [thing]}, parts: [{name: a}, {name: b}]}",
        "{size: 1, weight: 5k, most: null, shape: round, note: Round}",
    ],
)
def test_a_valid_object_passes(tmp_path: Path, spec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert said(tmp_path, spec, monkeypatch) == []


@pytest.mark.parametrize(
    ("spec", "rule", "text"),
    [
        ("{}", "QC003", "spec.size: Required value"),
        ("{size: 0}", "QC003", "spec.size"),
        ("{size: 1, siez: 2}", "QC004", 'unknown field "spec.siez"'),
        ("{size: 1, shape: square}", "QC003", "spec.shape"),
        ("{size: 1, weight: 0.5}", "QC003", "spec.weight"),
        ("{size: 1, note: a1}", "QC003", "spec.note: Invalid value: 'a1' does not match"),
        ("{size: 1, words: %s!}" % ("a" * 50_000), "QC003", "spec.words: Invalid value"),
        ("{size: 1, parts: [{name: a}, {name: a}]}", "QC003", "spec.parts[1]: Duplicate value"),
    ],
)
def test_what_the_schema_refuses(
    tmp_path: Path, spec: str, rule: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = said(tmp_path, spec, monkeypatch)
    assert [r for r, _ in found] == [rule]
    assert found[0][1].startswith(text)


def test_an_object_may_fit_any_definition_of_its_kind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "b-other.yaml").write_text(DEFINITION.replace("[round, flat]", "[square]"), encoding="utf-8")
    assert said(tmp_path, "{size: 1, shape: round}", monkeypatch) == []
    assert said(tmp_path, "{size: 1, shape: square}", monkeypatch) == []
    assert [rule for rule, _ in said(tmp_path, "{size: 1, shape: star}", monkeypatch)] == ["QC003"]


def test_a_kustomization_changes_no_schema(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "namePrefix: a-\nresources: [b-other.yaml]\n"
    (tmp_path / "kustomization.yaml").write_text(text, encoding="utf-8")
    (tmp_path / "b-other.yaml").write_text(DEFINITION.replace("[round, flat]", "[square]"), encoding="utf-8")
    assert said(tmp_path, "{size: 1, shape: square}", monkeypatch) == []


def test_a_hint_names_a_field_with_a_related_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    named = DEFINITION.replace("shape:", "storageConfig:")
    Path("crd.yaml").write_text(named, encoding="utf-8")
    helps = {}
    for name in ("autoscalingConfig", "storageConfg", "storageConfiguration", "poolStorageConfig"):
        Path("a-widget.yaml").write_text(f"{WIDGET}{{size: 1, {name}: round}}\n", encoding="utf-8")
        found = audit(["."]).findings
        helps[name] = next(f.help or "" for f in found if f.rule and f.rule.id == "QC004")
    assert "storageConfig" not in helps.pop("autoscalingConfig")
    assert set(helps.values()) == {"Write storageConfig."}


def test_another_release_of_kueue_accepts_no_field_of_other_kinds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "kustomization.yaml").write_text(
        "resources: [https://github.com/kubernetes-sigs/kueue/releases/download/v0.12.3/manifests.yaml]\n",
        encoding="utf-8",
    )
    said(tmp_path, "{size: 1, siez: 2}", monkeypatch)
    found = next(f for f in audit(["."]).findings if f.rule and f.rule.id == "QC004")
    assert found.severity.value == "error"
    assert "kueue" not in (found.help or "")


def test_definitions_named_in_settings_hold_in_every_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in {
        "clusters/a/widget.yaml": WIDGET + "{size: 0}\n",
        "vendor/crds.yaml": DEFINITION,
        "qcheck.yaml": "version: 1\nclusters: {a: {include: [clusters/a/**]}}\ncrds: [vendor]\n",
    }.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text, encoding="utf-8")
    found = audit(["clusters"], load_settings(".")).findings
    assert [f.message.partition(":")[0] for f in found if f.rule and f.rule.id == "QC003"] == ["spec.size"]


@pytest.mark.skipif(not HAS_CEL, reason="needs cel-expr-python")
def test_cel_rules_see_the_defaults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert said(tmp_path, "{size: 5}", monkeypatch) == []
    assert said(tmp_path, "{size: 6}", monkeypatch) == [("QC003", "spec: Invalid value: most must be at least size")]


@pytest.mark.skipif(not HAS_CEL, reason="needs cel-expr-python")
def test_a_rule_that_takes_too_long_is_reported_as_not_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parts = ", ".join(f"{{name: p{n}}}" for n in range(200))
    assert said(tmp_path, f"{{size: 1, parts: [{parts}]}}", monkeypatch) == []
    rule = "self.parts.all(a, self.parts.all(b, a.name == b.name || a != b))"
    text = DEFINITION.replace(
        "x-kubernetes-validations:", f'x-kubernetes-validations:\n                - {{rule: "{rule}"}}'
    )
    Path("crd.yaml").write_text(text, encoding="utf-8")
    found = audit(["."])
    assert not [f.message for f in found.findings if f.rule and f.rule.id in ("QC000", "QC003")]
    [why] = [n.why for n in found.inputs.not_read if "CEL" in n.why]
    assert why.endswith("takes too many iterations")


def test_without_a_library_rules_are_named_as_not_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> object:
        raise ImportError(name)

    monkeypatch.setattr("qcheck.kinds.cel.import_module", missing)
    assert said(tmp_path, "{size: 6}", monkeypatch) == []
    assert any("CEL" in n.why for n in audit(["."]).inputs.not_read)


def test_a_pattern_that_cannot_be_evaluated_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert said(tmp_path, "{size: 1, bytes: a}", monkeypatch) == []
    [why] = [n.why for n in audit(["."]).inputs.not_read if "pattern" in n.why]
    assert why == r"a pattern of example.com/v1 Widget was not judged: '\\C' cannot be evaluated"


NO_SCHEMAS = (
    "{type: 5}",
    "{type: [{}]}",
    "{type: text}",
    "{properties: {size: {required: [5]}}}",
    "{anyOf: [{minimum: a}]}",
    "{type: object, properties: [1]}",
    "{type: object, required: {a: b}}",
    "{properties: {size: {pattern: 3}}}",
)


@pytest.mark.parametrize("wrong", NO_SCHEMAS)
def test_a_definition_that_is_none_judges_nothing(tmp_path: Path, wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    head = DEFINITION.partition("        openAPIV3Schema:")[0]
    Path("crd.yaml").write_text(f"{head}        openAPIV3Schema: {wrong}\n", encoding="utf-8")
    Path("a-widget.yaml").write_text(WIDGET + "{size: 1}\n", encoding="utf-8")
    assert all(f.rule is not None and f.rule.id != "QC000" for f in audit(["."]).findings)


def test_a_definition_with_a_factor_of_0_is_invalid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert said(tmp_path, "{size: 1}", monkeypatch, DEFINITION.replace("minimum: 1", "multipleOf: 0")) == []
    why = "the schema of example.com/v1 Widget is invalid: its objects were not checked"
    assert why in [n.why for n in audit(["."]).inputs.not_read]


def test_a_fraction_as_a_factor_is_not_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    definition = DEFINITION.replace("size: {type: integer, minimum: 1}", "size: {type: number, multipleOf: 0.1}")
    assert said(tmp_path, "{size: 0.7}", monkeypatch, definition) == []


def test_each_definition_of_a_kind_is_named_as_not_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "b-other.yaml").write_text(DEFINITION.replace("[round, flat]", "[square]"), encoding="utf-8")
    assert said(tmp_path, "{size: 1, bytes: a}", monkeypatch) == []
    assert [n.path for n in audit(["."]).inputs.not_read if "pattern" in n.why] == ["b-other.yaml", "crd.yaml"]
