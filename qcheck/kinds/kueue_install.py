"""Installations of Kueue's manager: its Deployment, and releases and values of its chart.

Feature gates are on the manager's command line (`--feature-gates`), which the chart writes from
`controllerManager.featureGates`; the release is in the tag of its image, or is the version of the chart.
"""

from __future__ import annotations

import posixpath
import re
from itertools import zip_longest

from qcheck.cluster.kueue_install import KueueInstall
from qcheck.cluster.place import Place
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.documents.load import load
from qcheck.kinds.decode import mentions_install, roots
from qcheck.kinds.gitops import ARGO, FLUX_HELM
from qcheck.kinds.installed_charts import installed_charts
from qcheck.kinds.kustomize import NAMES
from qcheck.kinds.shared_fields import metadata, place

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from qcheck.cluster.kueue_install import Release
    from qcheck.documents.cursor import Cursor
    from qcheck.documents.load import Loaded
    from qcheck.documents.text import Text

NAME, CHART = "kueue-controller-manager", "kueue"
IMAGE = re.compile(r"(?:^|/)kueue:v?(\d{1,3})\.(\d{1,3})(?=[.-]|\Z)", re.ASCII)
VERSION = re.compile(r"[~^=v]*(\d{1,3})\.(\d{1,3})(?=[.-]|\Z)", re.ASCII)
REMOTE = re.compile(
    r"kubernetes-sigs/kueue(?:/releases/download/v(\d{1,3})\.(\d{1,3})\.|[^\s'\"]*[?&]ref=v(\d{1,3})\.(\d{1,3})\.)",
    re.ASCII,
)
FLAG = "--feature-gates"
GATE = re.compile(r"\s*(\w+)\s*=\s*(true|false)\s*\Z", re.IGNORECASE)


def read_installs(loaded: Iterable[Loaded]) -> list[KueueInstall]:
    """Return every installation of the manager in some files."""
    found: list[KueueInstall] = []
    for file in loaded:
        text = file.text.text
        if not mentions_install(text):
            continue
        if posixpath.basename(file.text.path) in NAMES:
            found += _remote(file.text)
        if NAME in text:
            found += [i for d in file.documents for at in roots(d) if (i := _deployment(at)) is not None]
        if "featureGates" in text or ARGO in text or FLUX_HELM in text:
            documents = load(text, file.text.path).documents
            found += [i for d in documents for at in roots(d) for i in _of_chart(at)]
    return found


def _remote(kustomization: Text) -> Iterator[KueueInstall]:
    """Yield the manifests of a release that a kustomization fetches."""
    for found in REMOTE.finditer(kustomization.text):
        major, minor = (int(number) for number in found.groups() if number)
        yield KueueInstall(Place(kustomization.spot(*found.span())), (major, minor))


def _deployment(at: Cursor) -> KueueInstall | None:
    labels, _ = metadata(at)
    name = at["metadata"].text_at("name")
    is_manager = name == NAME or (labels.get("app.kubernetes.io/name") == CHART and name.endswith("controller-manager"))
    if at.text_at("kind") != "Deployment" or not is_manager:
        return None
    containers = at["spec"]["template"]["spec"]["containers"].items()
    manager = next((c for c in containers if c.text_at("name") == "manager"), None)
    if manager is None:
        return None
    words = [word.text() or "" for field in ("command", "args") for word in manager[field].items()]
    return KueueInstall(place(manager), _release(IMAGE.search(manager.text_at("image"))), _flags(words))


def _flags(words: list[str]) -> dict[str, bool]:
    """Return the gates of `--feature-gates=A=true,B=false`; the value may also be the next word."""
    found: dict[str, bool] = {}
    for word, following in zip_longest(words, words[1:], fillvalue=""):
        flag, _, value = word.partition("=")
        if flag == FLAG:
            gates = (GATE.match(part) for part in (value or following).split(","))
            found.update((gate[1], gate[2].lower() == "true") for gate in gates if gate)
    return found


def _of_chart(at: Cursor) -> Iterator[KueueInstall]:
    """Yield installations of the chart: by Flux, by Argo CD, or with a file of values."""
    for chart in installed_charts(at, CHART):
        yield _chart(chart.at, chart.version, chart.values)
    if not at.text_at("apiVersion") and not at.text_at("kind") and _is_own_values(at):
        yield _chart(at["controllerManager"], "", [at])


def _is_own_values(at: Cursor) -> bool:
    """Return whether a file contains values of Kueue's chart: no other chart has both keys."""
    return at["managerConfig"].exists and at["controllerManager"]["featureGates"].exists


def _chart(at: Cursor, version: str, values: Iterable[Cursor]) -> KueueInstall:
    release, gates = _release(VERSION.match(version)), {}
    for each in values:
        manager = each["controllerManager"]
        release = _release(VERSION.match(manager["manager"]["image"].text_at("tag"))) or release
        for gate in manager["featureGates"].items():
            if gate.text_at("name") and (is_on := gate["enabled"].boolean()) is not None:
                gates[gate.text_at("name")] = is_on
    return KueueInstall(place(at), release, gates)


def _release(found: re.Match[str] | None) -> Release | None:
    return (int(found[1]), int(found[2])) if found else None
