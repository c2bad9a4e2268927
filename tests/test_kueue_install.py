"""Feature gates and the release of Kueue, as what installs its manager states them."""

from __future__ import annotations

from pathlib import Path

import pytest

from qcheck.cli.entrypoint import run
from qcheck.documents.load import load
from qcheck.kinds.kueue_install import read_installs
from qcheck.pipeline.gather import gather
from qcheck.schedulers.kueue.gates import is_on
from qcheck.settings.load import load_settings

DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: NAME, namespace: kueue-system, labels: {app.kubernetes.io/name: kueue}}
spec:
  template:
    spec:
      containers:
        - {name: proxy, image: "example.com/proxy:v1.2.3", args: [--feature-gates=PartialAdmission=true]}
        - {name: manager, image: "IMAGE", args: ARGS}
"""
RELEASE = """\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: kueue, namespace: kueue-system}
spec:
  chart: {spec: {chart: CHART, version: "VERSION", sourceRef: {kind: HelmRepository, name: kueue}}}
  values: VALUES
"""
APPLICATION = """\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: kueue, namespace: argocd}
spec:
  source: {repoURL: registry.k8s.io/kueue/charts, chart: CHART, targetRevision: "VERSION", helm: {valuesObject: VALUES}}
"""
GATES = "{controllerManager: {featureGates: [{name: PartialAdmission, enabled: false}]}}"
OFF = {"PartialAdmission": False}
FLAG = "--feature-gates=PartialAdmission=false,Other=true"
BOTH = {**OFF, "Other": True}


def read(text: str) -> list[tuple[tuple[int, int] | None, dict[str, bool]]]:
    return [(i.release, i.gates) for i in read_installs([load(text, "a.yaml")])]


def deployment(image: str, arguments: str, name: str = "kueue-controller-manager") -> str:
    return DEPLOYMENT.replace("IMAGE", image).replace("ARGS", arguments).replace("NAME", name)


@pytest.mark.parametrize(
    ("image", "arguments", "expected"),
    [
        ("registry.k8s.io/kueue/kueue:v0.17.1", f"['{FLAG}']", ((0, 17), BOTH)),
        (
            "mirror.example.com:5000/kueue:0.18.0-rc.1",
            "[--feature-gates, 'PartialAdmission=false,Other=true']",
            ((0, 18), BOTH),
        ),
        ("registry.k8s.io/kueue/kueue:main", "[--config=/c.yaml]", (None, {})),
        ("registry.k8s.io/kueue/kueue@sha256:00", "[--feature-gates=]", (None, {})),
        ("registry.k8s.io/kueue/kueueviz:v0.17.1", "[--feature-gates=PartialAdmission]", (None, {})),
    ],
)
def test_the_deployment_states_gates_and_release(
    image: str, arguments: str, expected: tuple[tuple[int, int] | None, dict[str, bool]]
) -> None:
    assert read(deployment(image, arguments)) == [expected]
    assert read(deployment(image, arguments, "prefix-kueue-controller-manager")) == [expected]
    assert read(deployment(image, arguments, "kueue-controller-manager-extra")) == []


@pytest.mark.parametrize("form", [RELEASE, APPLICATION], ids=["Flux", "Argo CD"])
@pytest.mark.parametrize(
    ("version", "release"),
    [
        ("0.17.1", (0, 17)),
        ("v0.17.1", (0, 17)),
        ("~0.17.0", (0, 17)),
        ("0.17.x", (0, 17)),
        (">=0.17", None),
        ("*", None),
    ],
)
def test_the_chart_states_gates_and_release(form: str, version: str, release: tuple[int, int] | None) -> None:
    text = form.replace("VERSION", version).replace("VALUES", GATES)
    assert read(text.replace("CHART", "kueue")) == [(release, OFF)]
    assert read(text.replace("CHART", "other")) == []


@pytest.mark.parametrize(
    ("resource", "release"),
    [
        ("https://github.com/kubernetes-sigs/kueue/releases/download/v0.15.2/manifests.yaml", (0, 15)),
        ("https://github.com/kubernetes-sigs/kueue//config/default?timeout=90s&ref=v0.14.1", (0, 14)),
        ("github.com/kubernetes-sigs/kueue/config/default?ref=main", None),
    ],
)
def test_a_kustomization_states_the_release_that_it_fetches(resource: str, release: tuple[int, int] | None) -> None:
    text = f"resources: ['{resource}']\n"
    expected = [] if release is None else [release]
    assert [i.release for i in read_installs([load(text, "kueue/kustomization.yaml")])] == expected
    assert read_installs([load(text, "kueue/other.yaml")]) == []


def test_a_file_of_values_states_gates() -> None:
    assert read(f"{GATES[:-1]}, managerConfig: {{x: config.kueue.x-k8s.io/v1beta2}}}}") == [(None, OFF)]
    assert read(GATES) == []


@pytest.mark.parametrize(
    ("files", "is_partial"),
    [
        ([deployment("kueue:v0.19.0", f"['{FLAG}']")], False),
        ([deployment("kueue:v0.19.0", f"['{FLAG}']"), RELEASE.replace("CHART", "kueue").replace("VALUES", "{}")], True),
        ([], True),
    ],
    ids=["one", "two that differ", "none"],
)
def test_gates_count_if_all_installations_agree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: list[str], is_partial: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    for number, text in enumerate(files):
        (tmp_path / f"{number}.yaml").write_text(text)
    (cluster,) = gather(["."], load_settings(".")).clusters
    assert is_on(cluster, "PartialAdmission") is is_partial


def test_another_release_is_named_and_the_settings_win(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.yaml").write_text(deployment("kueue:v0.14.2", "[]"))
    why = 'it installs Kueue 0.14, but qcheck assumes 0.19: set `kueue: "0.14"` in the settings'
    assert [(n.path, n.why) for n in gather(["."], load_settings(".")).inputs.not_read] == [("a.yaml", why)]
    assert run(["init", "--output", "-", "."]) == 0
    assert 'kueue: "0.14"' in capsys.readouterr().out
    (tmp_path / "qcheck.yaml").write_text('version: 1\nkueue: "0.14"\n')
    assert not gather(["."], load_settings(".")).inputs.not_read
