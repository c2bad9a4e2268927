"""Running rules: a crash is a finding and no traceback, and facts that are missing are named."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from qcheck.api import audit
from qcheck.checks import registry
from qcheck.cluster.cluster import Cluster
from qcheck.cluster.policy import Policy
from qcheck.findings.finding import Finding
from qcheck.settings import ClusterScope, RuleChoice, Settings

EXAMPLE = str(Path(__file__).parent.parent / "fixtures" / "clusters" / "research-fleet")


def test_a_crashed_rule_is_a_finding_and_the_others_still_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(cluster: Cluster) -> Iterator[Finding]:
        raise ZeroDivisionError("nobody expected this")

    audit([EXAMPLE])
    monkeypatch.setitem(registry._checks, "QC106", broken)
    result = audit([EXAMPLE])
    crashed = [f for f in result.findings if f.rule and f.rule.id == "QC000"]
    line = broken.__code__.co_firstlineno + 1
    stopped = "the rule QC106 capacity-unreserved stopped with ZeroDivisionError: nobody expected this"
    assert [f.message for f in crashed] == [f"{stopped} (broken, line {line})"]
    assert result.exit_code == 2
    assert any(f.rule and f.rule.id == "QC101" for f in result.findings)


def test_rules_that_lack_facts_are_named(tmp_path: Path) -> None:
    (tmp_path / "queues.yaml").write_text(Path(EXAMPLE, "queues", "reserved.yaml").read_text())
    result = audit([str(tmp_path)])
    assert {"QC101", "QC201"} <= {s.rule.id for s in result.inputs.skipped}
    assert audit([str(tmp_path)], Settings(rules=RuleChoice(select=("QC101",)))).findings == ()


def test_incomplete_repositories_miss_nothing(tmp_path: Path) -> None:
    (tmp_path / "queues.yaml").write_text(Path(EXAMPLE, "queues", "reserved.yaml").read_text())
    whole = audit([str(tmp_path)], Settings(rules=RuleChoice(select=("QC401",))))
    (tmp_path / "broken.yaml").write_text(
        "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\nmetadata: {name: [\n"
    )
    partial = audit([str(tmp_path)], Settings(rules=RuleChoice(select=("QC401",))))
    assert len(whole.findings) == 1
    assert [f.severity for f in partial.findings] == ["warning"]
    open_ended = Settings(
        scopes=(ClusterScope("default", policy=Policy(complete=False)),), rules=RuleChoice(select=("QC401",))
    )
    assert [s.rule.id for s in audit([str(tmp_path)], open_ended).inputs.skipped] == ["QC401"]
