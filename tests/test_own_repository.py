"""Applications that deploy directories: which are of this repository, and which of another with directories of that name."""

from __future__ import annotations

from pathlib import Path

import pytest

from qcheck.api import audit
from qcheck.sources.remotes import address, remotes

FLAVOR = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: h100}
"""
JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: train, namespace: team, labels: {kueue.x-k8s.io/queue-name: research}}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: trainer}]}}}
"""
APPLICATION = """\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: %s, namespace: argocd}
spec: {source: {repoURL: %s, path: %s}}
"""
FLUX = """\
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: %s, namespace: flux-system}
spec: {url: %s}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: %s-queues, namespace: flux-system}
spec: {path: ./%s, sourceRef: {kind: GitRepository, name: %s}}
"""
OTHER_QUEUE = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: vision, namespace: team}
spec: {clusterQueue: vision}
"""
OWN = "https://github.com/acme/clusters"
SAID = "deploys the directory queues of {}, which was not read: it may define queues"


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a directory `queues` and a job whose queue is not in it."""
    write(tmp_path, {"queues/flavor.yaml": FLAVOR, "queues/vision.yaml": OTHER_QUEUE, "job.yaml": JOB})
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")


def remote(*urls: str) -> dict[str, str]:
    parts = (f'[remote "r{n}"]\n\turl = {url}\n\tfetch = +refs/heads/*\n' for n, url in enumerate(urls))
    return {".git/config": "[core]\n\tbare = false\n" + "".join(parts)}


def said(path: str = ".") -> tuple[list[str], list[str]]:
    """Return what is said about the sources, and the severity of the missing queue."""
    found = audit([path]).findings
    sources = [f.message.partition(" ")[2].partition(" ")[2] for f in found if f.rule and f.rule.id == "QC009"]
    return sources, [str(f.severity) for f in found if f.rule and f.rule.id == "QC403"]


@pytest.mark.parametrize(
    ("url", "remotes"),
    [
        (OWN, [OWN]),
        (f"{OWN}.git", ["git@github.com:acme/clusters.git"]),
        (OWN, ["ssh://git@github.com:22/someone/clusters"]),
        (OWN, ["https://token@git.internal/mirrors/Clusters/"]),
        (OWN, ["https://git.internal/mirrors/acme-clusters"]),
        (OWN, []),
        ("https://github.com/acme/{{ repo }}", [OWN]),
    ],
    ids=["same", "ssh", "fork", "mirror", "renamed mirror", "no remote", "template"],
)
def test_a_directory_of_this_repository_is_read(repository: Path, url: str, remotes: list[str]) -> None:
    write(repository, {"app.yaml": APPLICATION % ("a", f"'{url}'", "queues"), **remote(*remotes)})
    assert said() == ([], ["error"])


@pytest.mark.parametrize(
    ("files", "is_git"),
    [
        ({}, True),
        ({"own.yaml": APPLICATION % ("own", OWN, "job")}, True),
        ({"own.yaml": APPLICATION % ("own", OWN, "."), "other.yaml": APPLICATION % ("own", OWN, "queues")}, False),
    ],
    ids=["remote", "remote elsewhere", "more directories"],
)
def test_a_directory_of_another_repository_is_not(repository: Path, files: dict[str, str], is_git: bool) -> None:
    other = "https://github.com/acme/tenants"
    write(repository, {"app.yaml": APPLICATION % ("a", other, "queues"), **files, **(remote(OWN) if is_git else {})})
    assert said() == ([SAID.format(other)], ["warning"])


def test_flux_names_its_repositories_apart(repository: Path) -> None:
    other = "ssh://git@github.com/acme/tenants"
    own = {"own.yaml": FLUX % ("flux-system", OWN, "own", "queues", "flux-system"), **remote(OWN)}
    write(repository, own)
    assert said() == ([], ["error"])
    write(repository, {"other.yaml": FLUX % ("tenants", other, "other", "queues", "tenants")})
    assert said() == ([SAID.format(other)], ["warning"])


def test_paths_are_relative_to_the_repository(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(repository, {"apps/app.yaml": APPLICATION % ("a", OWN, "queues"), "here/x.yaml": FLAVOR, **remote(OWN)})
    monkeypatch.chdir(repository / "here")
    assert said("..") == ([], ["error"])


def test_a_directory_that_is_not_among_the_paths_is_named(repository: Path) -> None:
    write(repository, {"apps/app.yaml": APPLICATION % ("a", OWN, "queues"), "apps/job.yaml": JOB, **remote(OWN)})
    assert said("apps") == (["deploys the directory queues, which was not read: it may define queues"], ["warning"])


def test_worktrees_and_submodules_name_their_configuration(tmp_path: Path) -> None:
    write(tmp_path, {"main/.git/config": remote(OWN)[".git/config"], "main/.git/worktrees/w/commondir": "../..\n"})
    write(tmp_path, {"w/.git": f"gitdir: {tmp_path}/main/.git/worktrees/w\n"})
    assert remotes(str(tmp_path / "w")) == remotes(str(tmp_path / "main")) == {("github.com", "acme/clusters")}
    assert remotes(str(tmp_path)) == frozenset()


@pytest.mark.parametrize("url", ["git@github.com:acme/clusters.git", "ssh://git@GitHub.com:22/acme/clusters/", OWN])
def test_an_address_is_host_and_path(url: str) -> None:
    assert address(url) == ("github.com", "acme/clusters")
