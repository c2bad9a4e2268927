"""`check --fix`: what is rewritten, what is left alone, and that comments and layout stay."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from qcheck.api import audit
from qcheck.cli.entrypoint import run
from qcheck.pipeline.fix import rewritten
from qcheck.pipeline.rewritten_file import RewrittenFile, write
from qcheck.settings import ClusterScope, RuleChoice, Settings

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
BETA = "apiVersion: kueue.x-k8s.io/v1beta1\n"
NEW = "apiVersion: kueue.x-k8s.io/v1beta2\n"

QUEUE = "kind: ClusterQueue  # ours\nmetadata: {name: team-a}\nspec:\n"
CHECK = "kind: AdmissionCheck\nmetadata: {name: a}\nspec:\n  controllerName: example.com/a\n"
REMOTE = "kind: MultiKueueCluster\nmetadata: {name: a}\nspec:\n"
CELLS = (
    QUEUE + "  resourceGroups:\n  - coveredResources: [x/y, x/z]\n    flavors:\n    - name: h100\n      resources:\n"
)
JSON = '{"apiVersion": "kueue.x-k8s.io/%s", "kind": "ClusterQueue", "metadata": {"name": "a"}, "spec": {"%s": "b"}}\n'
CASES = {
    "cohort": (BETA + QUEUE + "  cohort: research  # shared\n", NEW + QUEUE + "  cohortName: research  # shared\n"),
    "checks in block style": (
        BETA + QUEUE + "  admissionChecks:\n    # first\n    - a\n    - 'b'  # second\n  stopPolicy: None\n",
        NEW
        + QUEUE
        + "  admissionChecksStrategy:\n    admissionChecks:\n      # first\n      - name: a\n      - name: 'b'  # second\n"
        + "  stopPolicy: None\n",
    ),
    "checks in flow style": (
        BETA + QUEUE + "  admissionChecks: [a, b]\n",
        NEW + QUEUE + "  admissionChecksStrategy: {admissionChecks: [{name: a}, {name: b}]}\n",
    ),
    "old fungibility": (
        BETA + QUEUE + "  flavorFungibility:\n    whenCanBorrow: Borrow\n    whenCanPreempt: 'Preempt'\n",
        NEW + QUEUE + "  flavorFungibility:\n    whenCanBorrow: MayStopSearch\n    whenCanPreempt: 'MayStopSearch'\n",
    ),
    "renamed within v1beta2": (NEW + QUEUE + "  cohort: research\n", NEW + QUEUE + "  cohortName: research\n"),
    "a field that went": (
        BETA + CHECK + "  retryDelayMinutes: 5 # min\n",
        NEW + CHECK,
    ),
    "a field that moved": (
        BETA + REMOTE + "  kubeConfig:\n    location: a\n\n    locationType: Path\n",
        NEW
        + REMOTE
        + "  clusterSource:\n    kubeConfig:\n      location: a\n\n"
        + "      locationType: Path\n",
    ),
    "alpha": (
        "apiVersion: kueue.x-k8s.io/v1alpha1\nkind: Cohort\nmetadata: {name: a}\nspec: {parent: root}\n",
        NEW + "kind: Cohort\nmetadata: {name: a}\nspec: {parentName: root}\n",
    ),
    "json": (JSON % ("v1beta1", "cohort"), JSON % ("v1beta2", "cohortName")),
    "quantities": (
        NEW + CELLS + "      - {name: x/y, nominalQuota: 4000m}  # four\n      - {name: x/z, nominalQuota: \"1024Mi\"}\n",
        NEW + CELLS + "      - {name: x/y, nominalQuota: 4}  # four\n      - {name: x/z, nominalQuota: \"1Gi\"}\n",
    ),
}  # fmt: skip

LEFT_ALONE = {
    "both ways of naming checks": BETA
    + QUEUE
    + "  admissionChecks: [a]\n  admissionChecksStrategy:\n    admissionChecks: [{name: a, onFlavors: [b]}]\n",
    "refused by the new version": BETA + QUEUE + "  admissionScope:\n    admissionMode: Whatever\n",
    "a quantity by alias": NEW
    + CELLS
    + "      - {name: x/y, nominalQuota: &n 1000m}\n      - {name: x/z, nominalQuota: *n}\n",
    "nothing to do": NEW + QUEUE + "  cohortName: research\n",
    "a file that does not parse": BETA + QUEUE + "  cohort: [\n",
}


def fixed(folder: Path, text: str, settings: Settings | None = None) -> str:
    path = folder / "queues.yaml"
    path.write_text(text, encoding="utf-8")
    for each in rewritten(audit([str(path)], settings or Settings(scopes=(ClusterScope("default"),)))):
        write(each)
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize("case", CASES)
def test_rewrites_what_is_safe_and_only_once(tmp_path: Path, case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    before, after = CASES[case]
    assert fixed(tmp_path, before) == after
    assert fixed(tmp_path, after) == after


@pytest.mark.parametrize("case", LEFT_ALONE)
def test_leaves_alone_what_is_not(tmp_path: Path, case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert fixed(tmp_path, LEFT_ALONE[case]) == LEFT_ALONE[case]


INSTALL = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: kueue-controller-manager, namespace: kueue-system}
spec: {template: {spec: {containers: [{name: manager, image: "registry.k8s.io/kueue/kueue:TAG"}]}}}
"""
CHART = """\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: kueue, namespace: kueue-system}
spec: {chart: {spec: {chart: kueue, version: "VERSION", sourceRef: {kind: HelmRepository, name: kueue}}}}
"""
DEFINITION = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: cohorts.kueue.x-k8s.io}
spec:
  group: kueue.x-k8s.io
  names: {kind: Cohort, plural: cohorts}
  versions:
  - {name: v1beta1, served: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {
      parentName: {type: string}, resourceGroups: {type: array, x-kubernetes-preserve-unknown-fields: true},
      fairSharing: {type: object, x-kubernetes-preserve-unknown-fields: true}}}}}}}
  - {name: v1beta2, served: SERVED, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {
      parentName: {type: string}, resourceGroups: {type: array, x-kubernetes-preserve-unknown-fields: true},
      fairSharing: {type: object, x-kubernetes-preserve-unknown-fields: true}}}}}}}
"""
COHORT = "kind: Cohort\nmetadata: {name: a}\nspec: {parentName: root}\n"


@pytest.mark.parametrize(
    ("installed", "migrates"),
    [
        ([INSTALL.replace("TAG", "v0.14.2")], False),
        ([INSTALL.replace("TAG", "v0.15.0")], True),
        ([CHART.replace("VERSION", "0.13.1")], False),
        ([CHART.replace("VERSION", "0.16.0")], True),
        ([INSTALL.replace("TAG", "v0.19.0"), CHART.replace("VERSION", "0.14.0")], False),
        ([DEFINITION.replace("SERVED", "false")], False),
        ([DEFINITION.replace("SERVED", "true")], True),
        ([], True),
    ],
    ids=["image", "newer image", "chart", "newer chart", "two releases", "definition", "newer definition", "none"],
)
def test_writes_no_version_that_the_installed_kueue_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, installed: list[str], migrates: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    others = "".join(f"---\n{text}" for text in installed)
    assert fixed(tmp_path, BETA + COHORT + others) == (NEW if migrates else BETA) + COHORT + others


def test_writes_no_field_that_the_installed_kueue_lacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    before = BETA + QUEUE + "  cohortName: research\n---\n"
    old, new = (INSTALL.replace("TAG", tag) for tag in ("v0.13.0", "v0.16.0"))
    assert fixed(tmp_path, before + old) == before.replace("cohortName", "cohort") + old
    assert fixed(tmp_path, before + new) == before.replace("v1beta1", "v1beta2") + new


def test_rules_that_are_ignored_mend_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    before, _ = CASES["cohort"]
    assert fixed(tmp_path, before, Settings(rules=RuleChoice(ignore=("QC006",)))) == before


def test_the_diff_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before, _ = CASES["cohort"]
    Path("queues.yaml").write_text(before, encoding="utf-8")
    assert run(["check", "--diff", "."]) == 1
    assert "+  cohortName: research  # shared\n" in capsys.readouterr().out
    assert Path("queues.yaml").read_text(encoding="utf-8") == before
    run(["check", "--fix", "--quiet", "."])
    assert run(["check", "--diff", "."]) == 0


def test_the_diff_knows_no_line_ends_but_newlines() -> None:
    fixed = RewrittenFile("a.json", '{"a": "x\u2028y\x85z",\n"b": 1}', '{"a": "x\u2028y\x85z",\n"b": 2}', 1)
    none = "\\ No newline at end of file\n"
    assert fixed.diff().partition("@@\n")[2] == f' {{"a": "x\u2028y\x85z",\n-"b": 1}}\n{none}+"b": 2}}\n{none}'


def test_an_interrupted_rewrite_leaves_the_file_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    before, _ = CASES["cohort"]
    Path("queues.yaml").write_text(before, encoding="utf-8")

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("os.replace", interrupted)
        assert run(["check", "--fix", "."]) == 130
    assert [(p.name, p.read_text(encoding="utf-8")) for p in tmp_path.iterdir()] == [("queues.yaml", before)]


def test_a_link_stays_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    before, after = CASES["cohort"]
    Path("queues.txt").write_text(before, encoding="utf-8")
    Path("queues.yaml").symlink_to("queues.txt")
    run(["check", "--fix", "."])
    assert Path("queues.yaml").is_symlink()
    assert Path("queues.txt").read_text(encoding="utf-8") == after


def test_only_the_fixed_file_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A repository may contain a link with the name of a temporary file, to make qcheck overwrite another file."""
    monkeypatch.chdir(tmp_path)
    before, after = CASES["cohort"]
    Path("queues.yaml").write_text(before, encoding="utf-8")
    Path("other.txt").write_text("kept", encoding="utf-8")
    for ending in ("qcheck", "tmp", "part"):
        Path(f"queues.yaml.{ending}").symlink_to("other.txt")
    files = set(tmp_path.iterdir())
    run(["check", "--fix", "--quiet", "."])
    assert Path("queues.yaml").read_text(encoding="utf-8") == after
    assert not Path("queues.yaml").is_symlink()
    assert Path("other.txt").read_text(encoding="utf-8") == "kept"
    assert set(tmp_path.iterdir()) == files


def test_what_is_rewritten_once_needs_no_second_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for number, path in enumerate(sorted(FIXTURES.rglob("*.yaml"))):
        Path(f"{number}.yaml").write_bytes(path.read_bytes())
    reading = ["--quiet", "--select", "QC0", "."]  # the rules that offer safe fixes, see test_rule_fixtures.py
    run(["check", "--fix", "--format", "json=report.json", *reading])
    assert run(["check", "--diff", *reading]) == 0


COPIES = {"a.yaml": CASES["cohort"], "b/c.yaml": CASES["cohort"]}
WITH_QUANTITIES = {
    "queues.yaml": (
        BETA + CELLS + "      - {name: x/y, nominalQuota: 4000m}\n      - {name: x/z, nominalQuota: 1024Mi}\n",
        NEW + CELLS + "      - {name: x/y, nominalQuota: 4}\n      - {name: x/z, nominalQuota: 1Gi}\n",
    ),
    "copy.yaml": (
        BETA + CELLS + "      - {name: x/y, nominalQuota: 4000m}\n      - {name: x/z, nominalQuota: 1024Mi}\n",
        NEW + CELLS + "      - {name: x/y, nominalQuota: 4}\n      - {name: x/z, nominalQuota: 1Gi}\n",
    ),
}


@pytest.mark.parametrize("files", [COPIES, WITH_QUANTITIES], ids=["identical copies", "several rules and copies"])
def test_the_diff_is_what_is_written(
    files: dict[str, tuple[str, str]],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, (before, _) in files.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(before, encoding="utf-8")
    assert run(["check", "--diff", "."]) == 1
    shown = capsys.readouterr().out
    Path("shown.patch").write_text(shown, encoding="utf-8")
    subprocess.run(["git", "apply", "--check", "shown.patch"], check=True, timeout=60)
    run(["check", "--fix", "--quiet", "."])
    assert {name: Path(name).read_text(encoding="utf-8") for name in files} == {n: a for n, (_, a) in files.items()}
    subprocess.run(["git", "apply", "--reverse", "shown.patch"], check=True, timeout=60)
    assert {name: Path(name).read_text(encoding="utf-8") for name in files} == {n: b for n, (b, _) in files.items()}


def test_the_diff_refuses_what_fix_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("queues.yaml").write_text(CASES["cohort"][0], encoding="utf-8")
    for flag in ("--fix", "--diff"):
        for more in (("--since", "HEAD", "."), ("-",), ("--set", "a/b/c=1", ".")):
            assert run(["check", flag, *more]) == 2, (flag, more)


def test_all_identical_files_are_rewritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    before, after = CASES["cohort"]
    for number in range(13):
        Path(str(number)).mkdir()
        Path(f"{number}/queues.yaml").write_text(before, encoding="utf-8")
    run(["check", "--fix", "--quiet", "."])
    assert {path.read_text(encoding="utf-8") for path in tmp_path.rglob("*.yaml")} == {after}


TERRAFORM = """resource "kubernetes_manifest" "queue" {
  manifest = {
    apiVersion = "kueue.x-k8s.io/v1beta1"
    kind       = "ResourceFlavor"
    metadata   = { name = "h100" }
  }
}
"""


def test_identical_files_of_one_terraform_module_are_rewritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.tf", "b.tf"):
        Path(name).write_text(TERRAFORM, encoding="utf-8")
    run(["check", "--fix", "--quiet", "."])
    texts = {Path(name).read_text(encoding="utf-8") for name in ("a.tf", "b.tf")}
    assert texts == {TERRAFORM.replace("v1beta1", "v1beta2")}


def test_a_file_that_cannot_be_written_stops_its_copies_and_no_other_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before, after = CASES["cohort"]
    other = before.replace("name: ", "name: other-")
    for name, text in (("a.yaml", before), ("b.yaml", before), ("c.yaml", other)):
        Path(name).write_text(text, encoding="utf-8")
    monkeypatch.setattr("os.access", lambda path, _: not str(path).endswith("b.yaml"))
    assert run(["check", "--fix", "--quiet", "."]) == 2
    assert Path("a.yaml").read_text(encoding="utf-8") == Path("b.yaml").read_text(encoding="utf-8") == before
    assert Path("c.yaml").read_text(encoding="utf-8") == after.replace("name: ", "name: other-")
    said = capsys.readouterr().err
    assert "rewrote 1 object in c.yaml" in said
    assert "a.yaml is not rewritten, because its copy b.yaml cannot be rewritten" in said
    assert "error: 1 file cannot be rewritten: b.yaml (" in said


def test_all_copies_of_an_object_are_rewritten_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    before, after = CASES["cohort"]
    Path("many.yaml").write_text("---\n".join([before] * 30), encoding="utf-8")
    Path("other.yaml").write_text(f"# another copy\n{before}", encoding="utf-8")
    run(["check", "--fix", "--quiet", "."])
    assert Path("many.yaml").read_text(encoding="utf-8") == "---\n".join([after] * 30)
    assert Path("other.yaml").read_text(encoding="utf-8") == f"# another copy\n{after}"


def test_a_copy_with_a_suppression_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    before, after = CASES["cohort"]
    suppressed = f"# qcheck: ignore[QC006] kept for the old release\n{before}"
    Path("a.yaml").write_text(before, encoding="utf-8")
    Path("b.yaml").write_text(suppressed, encoding="utf-8")
    run(["check", "--fix", "--quiet", "."])
    assert Path("a.yaml").read_text(encoding="utf-8") == after
    assert Path("b.yaml").read_text(encoding="utf-8") == suppressed
