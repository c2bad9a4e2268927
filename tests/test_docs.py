"""Documents: links lead somewhere, examples can be used as they stand."""

from __future__ import annotations

import re
from pathlib import Path

import plain_yaml
import pytest
from rule_cases import FIXTURES

from qcheck.pipeline.gather import gather
from qcheck.settings import Settings

ROOT = FIXTURES.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
LINK = re.compile(r"\]\((?!https?://)([^)#\s]+)(?:#[^)]*)?\)")
YAML = re.compile(r"^```yaml\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    broken = [link for link in LINK.findall(page.read_text(encoding="utf-8")) if not (page.parent / link).exists()]
    assert not broken


@pytest.mark.parametrize("page", [p for p in PAGES if p.parent.name != "rules"], ids=lambda p: str(p.relative_to(ROOT)))
def test_yaml_examples_are_yaml(page: Path) -> None:
    for example in YAML.findall(page.read_text(encoding="utf-8")):
        assert plain_yaml.read(example)


def test_nobody_is_told_to_install_another_project() -> None:
    assert not [page for page in PAGES if re.search(r"install (--\w+ )*qcheck\b", page.read_text(encoding="utf-8"))]


def test_the_documented_node_pool_is_read(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "node-pools.md").read_text(encoding="utf-8")
    (tmp_path / "pool.yaml").write_text(YAML.findall(page)[0], encoding="utf-8")
    gathered = gather([str(tmp_path)], Settings())
    [pool] = gathered.clusters[0].pools
    assert (pool.minimum, pool.maximum, pool.machines[0].allocatable["nvidia.com/gpu"]) == (19, 19, 8)
    assert not gathered.clusters[0].problems
    assert pool.why_unknown is None
