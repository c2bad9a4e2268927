"""Kustomizations: their inputs, and the objects that each one changes.

Source: the reference of kustomization.yaml (kustomize 5). Images and build metadata do not affect anything that qcheck
reads.
"""

from __future__ import annotations

import posixpath
import re

from qcheck.cluster.place import Place
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.documents.cursor import root
from qcheck.documents.embedded import NotYaml, embedded
from qcheck.documents.load import load, load_literal
from qcheck.kinds.annotations import has_effect
from qcheck.kinds.go_patterns import matcher
from qcheck.kinds.shared_fields import CLUSTER_SCOPED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from qcheck.documents.cursor import Cursor
    from qcheck.documents.document import Document
    from qcheck.documents.text import Text

    ReadText = Callable[[str], Text | None]
    """Returns the text of a file, or None if there is none."""

NAMES = ("kustomization.yaml", "kustomization.yml", "Kustomization")
QUEUE_WORDS = ("kueue", "queue", "kai.scheduler", "volcano")
"""Words in labels that a batch scheduler acts on."""
PLAIN_KINDS = frozenset({"LocalQueue"})
"""Namespaced kinds whose labels have no effect here."""
UPSTREAM = re.compile(
    r"(?:github\.com[/:]|raw\.githubusercontent\.com/)"
    r"(?:kubernetes|kubernetes-sigs|NVIDIA|kubeflow|argoproj|ray-project|cert-manager|prometheus-operator|fluxcd|volcano-sh"
    r"|kyverno|external-secrets|tektoncd|istio|knative|open-policy-agent|k8snetworkplumbingwg|ROCm)/"
)
"""Projects whose repositories contain software to install, but no queues or nodes."""


class KustomizeChange(Value):
    """A change to the objects below a kustomization: `what` names the field, `place` is its position.

    `kind` and `name` are regular expressions, None for any. `test` narrows it to a class of objects. `patches` are what
    it writes, if it is a patch.
    """

    what: str
    place: Place
    kind: str | None = None
    name: str | None = None
    test: str = ""
    argument: str = ""
    patches: tuple[Document, ...] = ()

    def touches(self, found: Cursor) -> bool:
        """Return whether the change modifies the object `found`."""
        kind, metadata = found.text_at("kind"), found["metadata"]
        named = _matches(self.name, metadata.text_at("name")) or self.name is None
        if not _matches(self.kind, kind) or not named:
            return False
        match self.test:
            case "namespace":
                return kind not in CLUSTER_SCOPED and metadata.text_at("namespace") != self.argument
            case "labels":
                return any(word in self.argument for word in QUEUE_WORDS) or kind not in CLUSTER_SCOPED | PLAIN_KINDS
            case "own labels":
                return any(word in self.argument for word in (*QUEUE_WORDS, "priority")) or kind == "Pod"
            case "variable":
                return f"$({self.argument})" in str(found.data)
        return True


class Kustomization(Value):
    """One kustomization file; paths are normalised, and `resources` are files or directories.

    `remote` lists bases from elsewhere, `opaque` generators of objects of unknown kinds (plugins, charts): field and
    place.
    """

    path: str
    place: Place
    is_component: bool
    resources: tuple[str, ...]
    components: tuple[str, ...]
    remote: tuple[str, ...]
    patch_files: tuple[str, ...]
    changes: tuple[KustomizeChange, ...]
    opaque: tuple[tuple[str, Place], ...]

    @property
    def folder(self) -> str:
        return posixpath.dirname(self.path) or "."


def read_kustomization(text: Text, read: ReadText) -> Kustomization | None:
    """Return the kustomization in a file; None if it cannot be read.

    `read` returns the texts of the files that it names.
    """
    documents = load_literal(text, 1).documents
    if not documents or not isinstance(documents[0].data, dict):
        return None
    at = root(documents[0])
    folder = posixpath.dirname(text.path)
    named = [path for field in ("resources", "bases") for path in _texts(at[field])]
    components = [p for p in _texts(at["components"]) if not is_remote(p)]
    return Kustomization(
        path=text.path,
        place=Place(documents[0]),
        is_component=at.text_at("kind") == "Component",
        resources=tuple(_below(folder, p) for p in named if not is_remote(p)),
        components=tuple(_below(folder, p) for p in components),
        remote=tuple(p for p in (*named, *_texts(at["components"])) if is_remote(p)),
        patch_files=tuple(_below(folder, p) for p in _patch_files(at)),
        changes=tuple(_changes(at, folder, read)),
        opaque=tuple(_opaque(at)),
    )


def is_remote(path: str) -> bool:
    """Return whether kustomize would fetch a resource: a URL, or a repository on a known host."""
    host = path.partition("/")[0]
    return "://" in path or path.startswith("git@") or "?ref=" in path or ("." in host.strip(".") and "//" in path)


def _below(folder: str, path: str) -> str:
    return posixpath.normpath(posixpath.join(folder, path))


def _texts(at: Cursor) -> list[str]:
    return [t for c in at.items() if (t := c.text())]


def _patch_files(at: Cursor) -> Iterator[str]:
    """Yield the patch files: `path` in `patches` and `patchesJson6902`, and the files in `patchesStrategicMerge`."""
    for field in ("patches", "patchesJson6902"):
        yield from (path for patch in at[field].items() if (path := patch["path"].text()))
    yield from (path for path in _texts(at["patchesStrategicMerge"]) if "\n" not in path)


def _changes(at: Cursor, folder: str, read: ReadText) -> Iterator[KustomizeChange]:
    if namespace := at.text_at("namespace"):
        yield KustomizeChange("namespace", _key(at, "namespace"), test="namespace", argument=namespace)
    for field in ("namePrefix", "nameSuffix"):
        if at.text_at(field):
            yield KustomizeChange(field, _key(at, field))
    yield from _labels(at)
    yield from _patches(at, folder, read)
    yield from _replacements(at, folder, read)
    for each in at.items_at("vars"):
        yield KustomizeChange("vars", _place(each), test="variable", argument=each.text_at("name"))
    for each in at.items_at("replicas"):
        yield KustomizeChange("replicas", _place(each), name=re.escape(each.text_at("name")))
    if at.items_at("transformers"):
        yield KustomizeChange("transformers", _key(at, "transformers"))


def _labels(at: Cursor) -> Iterator[KustomizeChange]:
    notes = [key for key, _ in at["commonAnnotations"].mapping() if has_effect(key)]
    for field, keys in (
        ("commonLabels", [key for key, _ in at["commonLabels"].mapping()]),
        ("commonAnnotations", notes),
    ):
        if keys:
            yield KustomizeChange(field, _key(at, field), test="labels", argument=" ".join(keys))
    for each in at.items_at("labels"):
        keys = [key for key, _ in each["pairs"].mapping()]
        fields = each.items_at("fields")
        is_wide = fields or any(each[f].boolean() for f in ("includeSelectors", "includeTemplates"))
        test = "labels" if is_wide else "own labels"
        yield KustomizeChange("labels", _key(at, "labels"), test=test, argument=" ".join(keys))
        for further in fields:  # such as the labels of the nodes of a pool
            if keys and not further.text_at("path").startswith("metadata/"):
                kind = further.text_at("kind")
                yield KustomizeChange("labels", _key(at, "labels"), re.escape(kind) if kind else None)


def _patches(at: Cursor, folder: str, read: ReadText) -> Iterator[KustomizeChange]:
    for field in ("patches", "patchesJson6902"):
        for each in at[field].items():
            target, path = each["target"], each["path"].text()
            objects = _objects(read(_below(folder, path))) if path else _embedded(each["patch"])
            if target.exists:
                kind, name = target["kind"].text(), target["name"].text()
                patches = tuple(o.document for o in objects or ())
                yield KustomizeChange(field, _place(each), kind or None, name or None, patches=patches)
            else:
                yield from _of_objects(field, _place(each), objects)
    for each in at.items_at("patchesStrategicMerge"):
        text = each.text() or ""
        objects = _embedded(each) if "\n" in text else _objects(read(_below(folder, text)))
        yield from _of_objects("patchesStrategicMerge", _place(each), objects)


def _of_objects(what: str, place: Place, objects: list[Cursor] | None) -> Iterator[KustomizeChange]:
    """Yield the changes by strategic merge patches, to objects of their kind and name; to any if unreadable."""
    if objects is None:
        yield KustomizeChange(what, place)
    for each in objects or ():
        kind, name = re.escape(each.text_at("kind")), re.escape(each["metadata"].text_at("name"))
        yield KustomizeChange(what, place, kind, name, patches=(each.document,))


def _objects(text: Text | None) -> list[Cursor] | None:
    return None if text is None else [root(d) for d in load(text.text, text.path).documents]


def _embedded(at: Cursor) -> list[Cursor] | None:
    try:
        return [root(embedded(at.document, at.route, at.text() or ""))]
    except NotYaml:
        return None


def _replacements(at: Cursor, folder: str, read: ReadText) -> Iterator[KustomizeChange]:
    for each in at.items_at("replacements"):
        path = each["path"].text()
        inner = _objects(read(_below(folder, path))) if path else [each]
        if inner is None:
            yield KustomizeChange("replacements", _place(each))
        for one in inner or ():
            for target in one.items_at("targets"):
                select = target["select"]
                yield KustomizeChange("replacements", _place(each), select["kind"].text(), select["name"].text())


def _opaque(at: Cursor) -> Iterator[tuple[str, Place]]:
    """Yield the generators whose objects no file contains; kustomize's own generate only ConfigMaps and Secrets."""
    for field in ("helmCharts", "helmChartInflationGenerator", "generators"):
        if at[field].items():
            yield field, _key(at, field)


def _place(at: Cursor) -> Place:
    return Place(at.document, at.route)


def _key(at: Cursor, field: str) -> Place:
    return Place(at.document, (*at.route, field)).key()


def _matches(pattern: str | None, text: str) -> bool:
    """Return whether the target of a patch matches a text; kustomize anchors such expressions."""
    test = None if pattern is None else matcher(f"^(?:{pattern})$")
    return test is None or test(text)
