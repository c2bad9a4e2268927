"""Rules whose subject a cluster does not have find nothing there, so that their modules need not be imported."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from rule_cases import FIXTURES, RULES

from qcheck.checks import MODULES
from qcheck.checks.registry import bound_rules
from qcheck.checks.run import SCHEDULERS
from qcheck.checks.subjects import SUBJECTS, has_subject
from qcheck.cluster.cluster import Cluster
from qcheck.findings.catalogue import load_catalogue
from qcheck.pipeline.gather import gather
from qcheck.settings import Settings
from qcheck.settings.load import load_settings

CATALOGUE = load_catalogue()
FOLDERS = sorted({*RULES.glob("*"), *(FIXTURES / "clusters").glob("*")})


def clusters(folder: Path) -> tuple[Cluster, ...]:
    own = folder / "qcheck.yaml"
    with contextlib.chdir(folder):
        settings = load_settings(explicit=str(own)) if own.exists() else Settings()
        return gather(["."], settings).clusters


def cases(folder: Path) -> list[Path]:
    return sorted(p for p in folder.glob("*-*") if p.is_dir()) if folder.parent == RULES else [folder]


def test_subjects_name_modules() -> None:
    assert set(SUBJECTS) <= {f"{family}.{module}" for family, modules in MODULES.items() for module in modules}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_rules_without_their_subject_find_nothing(folder: Path) -> None:
    checks = bound_rules()
    for cluster in (c for case in cases(folder) for c in clusters(case)):
        present = {name for name, has in SCHEDULERS.items() if has(cluster)}
        for identifier, check in checks.items():
            rule = CATALOGUE[identifier]
            module = check.__module__.removeprefix("qcheck.checks.")
            if rule.scheduler in present and not has_subject(cluster, module):
                assert not list(check(cluster, **rule.params)), f"{identifier} has found something"


def test_rules_with_a_crashing_test_of_their_subject_are_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(_: Cluster) -> object:
        raise ValueError("a fault")

    monkeypatch.setitem(SUBJECTS, "topology.mig", crash)
    assert has_subject(Cluster("default"), "topology.mig")
