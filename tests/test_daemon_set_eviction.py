"""Whether pods that do not fit because of a DaemonSet are an error: kube-scheduler may evict what has a lower priority."""

from __future__ import annotations

from pathlib import Path

import pytest

from qcheck.api import audit
from qcheck.findings.finding import Finding
from qcheck.settings.load import load_settings

CASE = Path("fixtures/rules/QC506-shapes-do-not-pack/fail-daemonset-may-be-evicted")


def found(where: Path, changed: dict[str, tuple[str, str]]) -> Finding:
    """The finding of QC506 on the case with a text replaced in some of its files."""
    for file in CASE.iterdir():
        old, new = changed.get(file.name, ("", ""))
        text = file.read_text(encoding="utf-8")
        assert old in text
        (where / file.name).write_text(text.replace(old, new) if old else text, encoding="utf-8")
    result = audit([str(where)], load_settings(explicit=str(where / "qcheck.yaml")))
    (finding,) = [f for f in result.findings if f.rule is not None and f.rule.id == "QC506"]
    return finding


def test_a_daemon_set_below_all_pods_that_ask_gives_a_warning(tmp_path: Path) -> None:
    finding = found(tmp_path, {})
    assert finding.severity == "warning"
    assert finding.data["evicted"] == ["probe"]
    assert "they fit only if kube-scheduler evicts DaemonSet probe (of lower priority, -10) for them" in finding.message


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param({"priorities.yaml": ("value: -10", "value: 10")}, id="equal priority"),
        pytest.param({"priorities.yaml": ("value: 10\n", "value: 10\npreemptionPolicy: Never\n")}, id="never preempts"),
        pytest.param(
            {"queues.yaml": ("spec:\n  nodeLabels", "spec:\n  topologyName: nodes\n  nodeLabels")}, id="topology"
        ),
        pytest.param({"work.yaml": ("gpu: 4", "gpu: 2")}, id="nobody known asks"),
        pytest.param(
            {"nodes.yaml": ("nvidia.com/gpu: 8", "nvidia.com/gpu: 7"), "queues.yaml": ("Quota: 112", "Quota: 96")},
            id="does not fit without it either",
        ),
    ],
)
def test_what_stays_an_error(tmp_path: Path, changed: dict[str, tuple[str, str]]) -> None:
    assert found(tmp_path, changed).severity == "error"
