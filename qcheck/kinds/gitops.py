"""Argo CD's Applications and Flux's Kustomizations and HelmReleases: what they deploy, of a repository or from elsewhere."""

from __future__ import annotations

import posixpath

from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.documents.cursor import root
from qcheck.documents.load import load
from qcheck.kinds.decode import roots
from qcheck.kinds.shared_fields import object_id, place

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from qcheck.cluster.place import Place
    from qcheck.documents.cursor import Cursor
    from qcheck.documents.text import Text

ARGO, FLUX, FLUX_HELM = "argoproj.io/", "kustomize.toolkit.fluxcd.io/", "helm.toolkit.fluxcd.io/"


class Deployment(Value):
    """A directory that is deployed. `values`, `release` and `namespace` are a chart's; `cluster` is where it goes, if named.

    `place` is the path of the file that says so.
    """

    path: str
    place: str
    values: tuple[str, ...] = ()
    release: str | None = None
    namespace: str | None = None
    cluster: str | None = None


class Source(Value):
    """The source of an application's objects: a directory, or a chart of a registry. `by` names the application.

    `values` holds what it writes for the chart itself, beside files; `at` is where.
    """

    by: str
    at: Place
    path: str = ""
    chart: str = ""
    values: str = ""


def sources(texts: Iterable[Text]) -> list[Source]:
    """Everything that the applications among some texts deploy."""
    found = []
    for text in texts:
        if (ARGO in text.text and "Application" in text.text) or FLUX_HELM in text.text:
            for document in load(text.text, text.path).documents:
                for each in roots(document):
                    found += list(_sources(each))
    return found


def _sources(at: Cursor) -> Iterator[Source]:
    group, kind = at.text_at("apiVersion"), at.text_at("kind")
    by = str(object_id(at))
    if group.startswith(FLUX_HELM) and kind == "HelmRelease":
        spec = at["spec"]
        named = spec["chart"]["spec"]["chart"].text() or spec["chartRef"]["name"].text() or ""
        path = _normal(named) if named.startswith(".") else ""
        values = _written(spec["values"]) + _written(spec["valuesFrom"])
        yield Source(by=by, at=place(at), path=path, chart="" if path else named, values=values)
    elif group.startswith(ARGO) and kind in ("Application", "ApplicationSet"):
        spec = at["spec"] if kind == "Application" else at["spec"]["template"]["spec"]
        for source in (spec["source"], *spec["sources"].items()):
            if source.exists:
                helm = source["helm"]
                inline = (_written(helm[field]) for field in ("values", "valuesObject", "parameters", "fileParameters"))
                path = source.text_at("path")
                yield Source(
                    by=by,
                    at=place(source),
                    path=_normal(path) if path else "",
                    chart=source.text_at("chart"),
                    values="".join(inline),
                )


def _written(at: Cursor) -> str:
    return str(at.data) if at.data else ""


def deployments(texts: Iterable[Text]) -> list[Deployment]:
    """Return what the applications among some texts deploy of the repository that they are in."""
    found = []
    for text in texts:
        if (ARGO in text.text and "Application" in text.text) or FLUX in text.text:
            for document in load(text.text, text.path).documents:
                found += list(_of(root(document), text.path))
    return found


def _of(at: Cursor, place: str) -> Iterator[Deployment]:
    group, kind = at.text_at("apiVersion"), at.text_at("kind")
    if group.startswith(FLUX) and kind == "Kustomization" and at["spec"].text_at("path"):
        yield Deployment(_normal(at["spec"].text_at("path")), place)
    elif group.startswith(ARGO) and kind == "Application":
        sources = [at["spec"]["source"], *at["spec"]["sources"].items()]
        for source in sources:
            if source.text_at("path"):
                yield _argo(at, source, place)


def _argo(at: Cursor, source: Cursor, place: str) -> Deployment:
    folder, helm = _normal(source.text_at("path")), source["helm"]
    files = (t for v in helm["valueFiles"].items() if (t := v.text()) and "://" not in t)
    values = (
        _normal(v.partition("/")[2]) if v.startswith("$") else _normal(posixpath.join(folder, v))
        for v in files  # `$values/prod.yaml` is below the root of another source, most often of the same repository
    )
    destination = at["spec"]["destination"]
    return Deployment(
        path=folder,
        place=place,
        values=tuple(values),
        release=helm["releaseName"].text() or at["metadata"]["name"].text(),
        namespace=destination["namespace"].text(),
        cluster=destination["name"].text(),
    )


def _normal(path: str) -> str:
    return posixpath.normpath(path.lstrip("/") or ".")
