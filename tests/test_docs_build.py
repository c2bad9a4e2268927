"""The builder of pages: it stops where a rule crashes, whatever else the rule found."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from docs.build import CASES, run_case
from qcheck.checks import registry
from qcheck.cluster.cluster import Cluster
from qcheck.findings.finding import Finding


def test_a_crash_ends_the_build(monkeypatch: pytest.MonkeyPatch) -> None:
    registry.bound_rules()

    def crashing(cluster: Cluster, **_: object) -> Iterator[Finding]:
        nothing: dict[str, list[Finding]] = {}
        yield from nothing[cluster.name]

    monkeypatch.setitem(registry._checks, "QC205", crashing)
    with pytest.raises(SystemExit, match="QC205 flavors-share-nodes stopped with KeyError"):
        run_case(CASES / "QC101-quota-exceeds-capacity" / "pass-exact")
