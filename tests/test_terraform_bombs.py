"""Terraform that asks for more than any machine can do: an answer in time, and what was not worked out is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from qcheck.api import audit
from qcheck.nodepools.terraform.effort import Effort, TooMuch
from qcheck.nodepools.terraform.functions import Fails, distinct, joined

POOL = """\
resource "google_container_node_pool" "p" {{
  name           = "p"
  cluster        = "c"
  node_locations = ["a"]
  node_count     = {count}
  node_config {{
    machine_type = "a3-highgpu-8g"
    labels       = {labels}
  }}
}}
"""


def doubling(first: str, step: str) -> str:
    """Forty names, each made of the one before."""
    lines = [f"  a{n} = {step.replace('$', f'local.a{n - 1}')}\n" for n in range(1, 40)]
    return f"locals {{\n  a0 = {first}\n{''.join(lines)}}}\n"


def pool(count: str = "1", labels: str = "{}") -> str:
    return POOL.format(count=count, labels=labels)


NESTED = "[for i in range(1000) : [for j in range(1000) : [for k in range(1000) : k]]]"
UNKNOWN = {
    "squares": doubling("1e999", "$ * $") + pool("local.a39"),
    "fractions": doubling("1/3", "$ * $ + 1/7") + pool("local.a39"),
    "a long number": pool("1e999 * 1e999 * 1e999 * 1e999 * 1e999"),
    "a number of many digits": pool('tonumber("1e99999999")'),
    "text as a number": pool('"1e99999999" + 1'),
    "concatenation": doubling("[1, 2, 3]", "concat($, $)") + pool("length(local.a39)"),
}
QUEUE = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: all}
spec: {tolerations: [{key: nvidia.com/gpu, operator: Exists}]}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: a}
spec:
  namespaceSelector: {}
  resourceGroups: [{coveredResources: [cpu], flavors: [{name: all, resources: [{name: cpu, nominalQuota: 1}]}]}]
"""
"""Whoever has quota on all nodes depends on each pool."""
HARMLESS = {
    "a long number as text": pool(labels='{x = "${1e999 * 1e999 * 1e999 * 1e999 * 1e999}"}'),
    "lists of lists": doubling("[1]", "[$, $]") + pool(labels="{x = local.a39}"),
    "lists compared": doubling("[1]", "[$, $]") + pool("local.a39 == [1] ? 1 : 1"),
    "maps": doubling("{a = 1}", "{for k, v in {a = $, b = $} : k => v}") + pool(labels="local.a39"),
    "text": doubling('"0123456789"', '"${$}${$}"') + pool(labels="{x = local.a39}"),
    "replacement": doubling('"aaaaaaaaaa"', 'replace($, "a", "aaaaaaaaaa")') + pool(labels="{x = local.a39}"),
    "format": doubling('"%s%s"', "format($, $, $)") + pool(labels="{x = local.a39}"),
    "parentheses": pool("(" * 3000 + "1" + ")" * 3000),
}
TOO_MUCH = {
    "loops in loops": pool(f"length({NESTED})"),
    "words": pool(labels="{x = [" + "1," * 80_000 + "]}"),
}


def said(folder: Path, text: str) -> list[tuple[str, str, int]]:
    """Rule, message and line of what is found."""
    (folder / "main.tf").write_text(text)
    (folder / "queue.yaml").write_text(QUEUE)
    found = audit([str(folder)]).findings
    assert not [f for f in found if f.rule and f.rule.id == "QC000"]
    return [(f.rule.id if f.rule else "", f.message, f.primary.span[0]) for f in found]


@pytest.mark.parametrize("name", UNKNOWN)
def test_a_count_that_is_too_much_work_is_not_known(tmp_path: Path, name: str) -> None:
    [(rule, message, _)] = [f for f in said(tmp_path, UNKNOWN[name]) if f[0] == "QC010"]
    assert rule == "QC010"
    assert "node_count is" in message
    assert len(message) < 500


@pytest.mark.parametrize("name", HARMLESS)
def test_what_grows_elsewhere_hurts_nobody(tmp_path: Path, name: str) -> None:
    assert "QC001" not in {rule for rule, _, _ in said(tmp_path, HARMLESS[name])}


@pytest.mark.parametrize("name", TOO_MUCH)
def test_what_takes_too_long_is_refused_with_its_place(tmp_path: Path, name: str) -> None:
    [(_, message, line)] = [f for f in said(tmp_path, TOO_MUCH[name]) if f[0] == "QC001"]
    assert "more than" in message
    assert line == 1


def test_modules_that_multiply(tmp_path: Path) -> None:
    for n in range(8):
        (tmp_path / f"m{n}").mkdir()
        calls = [f'module "x{c}" {{\n  source = "../m{n + 1}"\n  count = 100\n}}\n' for c in range(10)]
        (tmp_path / f"m{n}" / "main.tf").write_text("".join(calls) + pool())
    result = audit([str(tmp_path)])
    [found] = [f for f in result.findings if f.rule and f.rule.id == "QC001"]
    assert "300,000 steps" in found.message
    assert result.clusters[0].unread


def test_effort() -> None:
    effort = Effort()
    twice: list[object] = [1]
    for _ in range(60):
        twice = [twice, twice]
    assert effort.is_too_large(twice)  # type: ignore[arg-type]
    with pytest.raises(TooMuch):
        effort.spend_on(twice)  # type: ignore[arg-type]


def test_what_is_joined_stays_short() -> None:
    assert joined(["a", "b"], ", ") == "a, b"
    with pytest.raises(Fails):
        joined("x" * 1000 for _ in range(10**9))


def test_distinct_keeps_the_first_of_each() -> None:
    assert distinct([2, 1, 2, True, "1", [1], [1], {"a": 1, "b": 2}, {"b": 2, "a": 1}, None]) == [
        2, 1, True, "1", [1], {"a": 1, "b": 2}, None,
    ]  # fmt: skip
