"""What must not matter does not: the order of files and documents, how files are split, lines, unrelated documents."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qcheck.api import audit
from qcheck.reports import FORMATS, render

FLEET = Path("fixtures/clusters/research-fleet").resolve()
DOCUMENTS = [
    text.strip() + "\n" for path in sorted(FLEET.rglob("*.yaml")) for text in path.read_text().split("\n---\n")
]
UNRELATED = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {ports: [{port: 80}]}\n"


def known(folder: Path) -> Counter[tuple[str, str]]:
    """Findings by fingerprint and severity."""
    before = os.getcwd()
    os.chdir(folder)
    try:
        return Counter((f.fingerprint, f.severity) for f in audit(["."]).findings)
    finally:
        os.chdir(before)


@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(
    order=st.permutations(DOCUMENTS), cuts=st.lists(st.booleans(), min_size=40, max_size=40), blank=st.integers(0, 3)
)
def test_order_splitting_and_lines_do_not_matter(
    tmp_path_factory: pytest.TempPathFactory, order: list[str], cuts: list[bool], blank: int
) -> None:
    folder = tmp_path_factory.mktemp("shuffled")
    files: list[list[str]] = [[]]
    for document, cut in zip(order, cuts, strict=False):
        files[-1].append("\n" * blank + document)
        if cut:
            files.append([])
    for number, parts in enumerate(files):
        (folder / f"{number}.yaml").write_text("---\n".join(parts))
    assert known(folder) == known(FLEET)


def test_an_unrelated_document_adds_nothing(tmp_path: Path) -> None:
    (tmp_path / "all.yaml").write_text("---\n".join([*DOCUMENTS, UNRELATED]))
    assert known(tmp_path) == known(FLEET)


@pytest.mark.parametrize("form", FORMATS)
def test_what_two_clusters_share_is_one_finding_that_names_both(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from qcheck.settings.load import load_settings

    monkeypatch.chdir(tmp_path)
    (tmp_path / "base.yaml").write_text("---\n".join(DOCUMENTS))
    (tmp_path / "qcheck.yaml").write_text(
        "version: 1\nclusters: {a: {include: [base.yaml]}, b: {include: [base.yaml]}}\n"
    )
    result = audit(["."], load_settings())
    assert len({f.fingerprint for f in result.findings}) == len(result.findings) == sum(known(FLEET).values())
    assert all(f.clusters == ("a", "b") for f in result.findings)
    assert result.inputs.files == 1
    shown = render(result, form)
    if form in ("text", "json", "sarif", "junit", "html"):
        assert "QC101" in shown
