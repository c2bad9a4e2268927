"""Argo CD's Applications, Flux's Kustomizations and HelmReleases: what they deploy, and from where."""

from __future__ import annotations

import posixpath
import re

from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.documents.cursor import root
from qcheck.documents.load import load
from qcheck.kinds.decode import roots
from qcheck.kinds.shared_fields import object_id, place

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from qcheck.cluster.place import Place
    from qcheck.documents.cursor import Cursor
    from qcheck.documents.text import Text

ARGO, FLUX, FLUX_HELM = "argoproj.io/", "kustomize.toolkit.fluxcd.io/", "helm.toolkit.fluxcd.io/"
FLUX_SOURCE = "source.toolkit.fluxcd.io/"


class Deployment(Value):
    """A directory that is deployed; `values`, `release` and `namespace` are a chart's, `cluster` its target.

    `cluster` is None if it is not named. `place` is the path of the file that declares the deployment.
    """

    path: str
    place: str
    values: tuple[str, ...] = ()
    release: str | None = None
    namespace: str | None = None
    cluster: str | None = None


class ChartValues(Value):
    """The keys of a chart's values: `sections` contain mappings or lists, `fields` single values."""

    sections: frozenset[str] = frozenset()
    fields: frozenset[str] = frozenset()


class GitSource(Value):
    """The source of an application's objects: a directory, or a chart of a registry. `by` names the application.

    `repository` is the URL of the directory's git repository, if known. `values` are those that the application sets
    for the chart itself, in addition to files; `at` is its place.
    """

    by: str
    at: Place
    path: str = ""
    repository: str = ""
    chart: str = ""
    values: ChartValues = ChartValues()

    @property
    def is_template(self) -> bool:
        """Return whether the directory is known only once the application is generated."""
        return "{{" in self.path or "${" in self.path


def sources(texts: Iterable[Text]) -> list[GitSource]:
    """Return the sources of all applications in some texts."""
    documents = [
        each for text in texts if _deploys(text.text) for d in load(text.text, text.path).documents for each in roots(d)
    ]
    repositories: dict[str, set[str]] = {}
    for at in documents:
        if at.text_at("apiVersion").startswith(FLUX_SOURCE) and at.text_at("kind") == "GitRepository":
            repositories.setdefault(at["metadata"].text_at("name"), set()).add(at["spec"].text_at("url"))
    known = {name: urls.pop() for name, urls in repositories.items() if len(urls) == 1}
    return [source for at in documents for source in _sources(at, known)]


def _deploys(text: str) -> bool:
    return (ARGO in text and "Application" in text) or any(group in text for group in (FLUX, FLUX_HELM, FLUX_SOURCE))


def _sources(at: Cursor, repositories: Mapping[str, str]) -> Iterator[GitSource]:
    """Yield the sources of an application; `repositories` are the URLs of Flux's GitRepositories by name."""
    group, kind, spec = at.text_at("apiVersion"), at.text_at("kind"), at["spec"]
    if group.startswith(FLUX_HELM) and kind == "HelmRelease":
        yield _release(at, repositories)
    elif group.startswith(FLUX) and kind == "Kustomization":
        url = _repository(spec["sourceRef"], repositories)
        yield GitSource(by=str(object_id(at)), at=place(at), path=_normal(spec.text_at("path")), repository=url)
    else:
        yield from (_argo_source(at, source) for source in argo_sources(at))


def argo_sources(at: Cursor) -> list[Cursor]:
    """Return the sources of an Argo CD Application, or of an ApplicationSet's template; empty for any other object."""
    kind, spec = at.text_at("kind"), at["spec"]
    if not at.text_at("apiVersion").startswith(ARGO) or kind not in ("Application", "ApplicationSet"):
        return []
    inside = spec if kind == "Application" else spec["template"]["spec"]
    return [source for source in (inside["source"], *inside.items_at("sources")) if source.exists]


def _release(at: Cursor, repositories: Mapping[str, str]) -> GitSource:
    spec = at["spec"]
    named = spec["chart"]["spec"]["chart"].text() or spec["chartRef"]["name"].text() or ""
    path = _normal(named) if named.startswith(".") else ""
    return GitSource(
        by=str(object_id(at)),
        at=place(at),
        path=path,
        repository=_repository(spec["chart"]["spec"]["sourceRef"], repositories),
        chart="" if path else named,
        values=_chart_values([spec["values"].data], spec.items_at("valuesFrom")),
    )


def _repository(reference: Cursor, repositories: Mapping[str, str]) -> str:
    return repositories.get(reference.text_at("name"), "") if reference.text_at("kind") == "GitRepository" else ""


def _argo_source(at: Cursor, source: Cursor) -> GitSource:
    helm, path = source["helm"], source.text_at("path")
    inline = [_parsed(helm["values"], at), helm["valuesObject"].data]
    return GitSource(
        by=str(object_id(at)),
        at=place(source),
        path=_normal(path) if path else "",
        repository=source.text_at("repoURL") if path else "",
        chart=source.text_at("chart"),
        values=_chart_values(inline, [*helm.items_at("parameters"), *helm.items_at("fileParameters")]),
    )


def _parsed(values: Cursor, application: Cursor) -> object:
    """Return the values that an application contains as text."""
    found = load(values.text() or "", application.document.path).documents
    return found[0].data if found else None


def _chart_values(inline: Iterable[object], named: Iterable[Cursor]) -> ChartValues:
    """Return the keys of inline values, and of parameters (`nodePools[0].count`) or objects with more values."""
    sections: set[str] = set()
    fields: set[str] = set()
    for key, is_section in (found for data in inline for found in _keys(data)):
        (sections if is_section else fields).add(key)
    for each in named:
        *above, last = re.split(r"[.\[\]]+", each.text_at("name"))
        sections.update(above)
        fields.add(last)
    return ChartValues(frozenset(sections), frozenset(fields))


def _keys(data: object) -> Iterator[tuple[str, bool]]:
    """Yield the keys at any depth, each with whether its value is a mapping or list."""
    for key, value in data.items() if isinstance(data, dict) else ():
        yield str(key), isinstance(value, dict | list)
    for inner in data.values() if isinstance(data, dict) else data if isinstance(data, list) else ():
        yield from _keys(inner)


def deployments(texts: Iterable[Text]) -> list[Deployment]:
    """Return the directories that the applications in some texts deploy from their own repository."""
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
    elif kind == "Application":
        for source in argo_sources(at):
            if source.text_at("path"):
                yield _argo(at, source, place)


def _argo(at: Cursor, source: Cursor, place: str) -> Deployment:
    folder, helm = _normal(source.text_at("path")), source["helm"]
    files = (t for v in helm.items_at("valueFiles") if (t := v.text()) and "://" not in t)
    values = (
        _normal(v.partition("/")[2]) if v.startswith("$") else _normal(posixpath.join(folder, v))
        for v in files  # `$values/prod.yaml` is below the root of another source, usually in the same repository
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
