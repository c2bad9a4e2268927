"""What users get: the wheel in a clean environment does what the checkout does, and `rules/` is found wherever it is."""

from __future__ import annotations

import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest
from rule_cases import FIXTURES

from qcheck import __version__
from qcheck.findings.rulebook import read_rulebook

pytestmark = pytest.mark.slow
ROOT = FIXTURES.parent
WHERE = "from qcheck.findings.catalogue import rules_folder; print(rules_folder())"


def run(*words: str | Path, cwd: Path = ROOT) -> str:
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, check=False, cwd=cwd, timeout=600)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the source distribution, so that both are proven whole."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--outdir", folder, ROOT)
    return next(folder.glob("kueue_qcheck-*.whl"))


@pytest.fixture(scope="module")
def installed(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `bin` of an environment that holds the wheel and what it depends on, nothing else."""
    return environment(tmp_path_factory.mktemp("clean"), str(built))


def environment(folder: Path, *what: str) -> Path:
    """The scripts of a new environment, filled by the pip of this one, which is quicker than installing pip first."""
    venv.create(folder)
    scripts = folder / ("Scripts" if sys.platform == "win32" else "bin")
    pip = (sys.executable, "-m", "pip", "--python", scripts / "python", "--disable-pip-version-check")
    run(*pip, "install", "--quiet", *what)
    return scripts


def test_the_wheel_holds_the_package_and_the_rules(built: Path) -> None:
    names = set(zipfile.ZipFile(built).namelist())
    modules = {path.relative_to(ROOT).as_posix() for path in (ROOT / "qcheck").rglob("*.py")}
    rules = {f"qcheck/rules/{rule.slug}.yaml" for rule in read_rulebook().values()}
    pages = {f"qcheck/rules/pages/{identifier}.md" for identifier in read_rulebook()}
    assert modules | rules | pages | {"qcheck/py.typed"} <= names
    others = {name for name in names if not name.startswith("qcheck/")}
    assert {name.split("/")[0] for name in others} == {f"kueue_qcheck-{__version__}.dist-info"}
    assert any(name.endswith("licenses/LICENSE") for name in others)
    assert not [name for name in names if "__pycache__" in name]


def test_the_wheel_does_what_the_checkout_does(installed: Path, tmp_path: Path) -> None:
    words = ("check", str(FIXTURES / "clusters" / "research-fleet"), "--format", "json")
    assert run(installed / "qcheck", *words, cwd=tmp_path) == run(
        sys.executable, "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r}); from qcheck.__main__ import main; main()",
        *words, cwd=tmp_path,
    )  # fmt: skip
    assert run(installed / "qcheck", "--version", cwd=tmp_path) == f"qcheck {__version__}\n"
    page = (ROOT / "docs" / "rules" / "QC101.md").read_text(encoding="utf-8")
    assert run(installed / "qcheck", "explain", "QC101", cwd=tmp_path) == page
    for schema in ("config", "report", "nodepool"):
        assert run(installed / "qcheck", "schema", schema, cwd=tmp_path).startswith("{")


def test_rules_are_found_in_wheel_checkout_and_editable_install(installed: Path, tmp_path: Path) -> None:
    inside = Path(run(installed / "python", "-c", WHERE, cwd=tmp_path).strip())
    assert inside.parts[-2:] == ("qcheck", "rules")
    assert Path(run(sys.executable, "-c", WHERE).strip()) == ROOT / "rules"
    editable = environment(tmp_path / "editable", "--no-deps", "--editable", str(ROOT))
    (packages,) = (tmp_path / "editable").rglob("site-packages")
    packages.joinpath("zz-dependencies.pth").write_text(
        str(inside.parent.parent)
    )  # after the checkout, as --editable puts it
    assert Path(run(editable / "python", "-c", WHERE, cwd=tmp_path).strip()) == ROOT / "rules"
    assert "QC101" in run(editable / "qcheck", "rules", cwd=tmp_path)
