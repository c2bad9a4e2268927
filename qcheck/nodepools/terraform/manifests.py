"""Kubernetes manifests that Terraform applies: an object as `manifest`, or (`kubectl_manifest`) YAML as text."""

from __future__ import annotations

import re
from itertools import product

from qcheck.cluster.problems import Problem, ProblemCode
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.documents.composed import Unresolved
from qcheck.documents.cursor import Cursor
from qcheck.documents.hcl import HclDocument
from qcheck.documents.load import load_literal
from qcheck.documents.text import Text
from qcheck.nodepools.figures import place
from qcheck.nodepools.formats import READERS
from qcheck.nodepools.manifest_text import BrokenText, faults

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from qcheck.nodepools.terraform.resource import Resource

IDENTITY = ("apiVersion", "kind")
TYPES = frozenset({"kubernetes_manifest", "kubectl_manifest"})
WRITTEN = re.compile(r"""(?:^[ \t]*|[{,]\s*)["']?(apiVersion|kind)["']?\s*[:=]\s*["']?([\w./-]+)""", re.MULTILINE)
"""The apiVersion and kind of an object, on a separate line or inside braces."""
NODES = re.compile(r"(?i)node|pool|karpenter|machine|provisioner|compute")
"""Words of which a manifest of nodes has at least one, in its name or in its text."""
READING = ("file(", "fileset(")
"""Functions that read a file or list files."""
READ_ELSEWHERE = (".yaml", ".yml", ".json")
"""Files that are read on their own, so that an expression that reads them hides nothing."""


class Manifests(Value):
    """The objects of a resource, and the faults of their text."""

    objects: tuple[Cursor, ...]
    faults: tuple[BrokenText, ...]


def manifests(resource: Resource) -> Manifests:
    """Return the objects of a resource, as far as they are known, and the faults of their text."""
    if resource.type not in TYPES:
        return Manifests((), ())
    values = resource.values
    found = [values["manifest"]] if isinstance(values["manifest"].data, dict) else []
    body = values["yaml_body"].text()
    read = load_literal(Text("manifest.yaml", body)) if body is not None else None
    if read is not None:
        found += [Cursor(values.document, values["yaml_body"].route, document.data) for document in read.documents]
    for name in ("manifest", "yaml_body"):
        if isinstance(values[name].data, Unresolved):
            found += _named(values[name])
    return Manifests(tuple(found), tuple(faults(read, values["yaml_body"], resource.address) if read else ()))


def _named(unknown: Cursor) -> Iterator[Cursor]:
    """Yield the objects that a text may contain, by each version and kind in it; `unread` reports possible nodes."""
    document = unknown.document
    written = document.written(unknown.route) if isinstance(document, HclDocument) else ""
    found = {field: dict.fromkeys(name for f, name in WRITTEN.findall(written) if f == field) for field in IDENTITY}
    for version, kind in product(*found.values()):
        if not any(kind == other for _, other in READERS):
            data = {"apiVersion": version, "kind": kind, str(unknown.route[-1]): unknown.data}
            yield Cursor(document, unknown.route, data)


def kind_of(manifest: Cursor) -> tuple[str, str]:
    """Return API group and kind."""
    return (manifest["apiVersion"].text() or "").rpartition("/")[0], manifest["kind"].text() or ""


def unread(resources: Iterable[Resource]) -> list[Problem]:
    """Return one problem for each unknown manifest that may be a node pool, and one per block."""
    found: dict[str, Problem] = {}
    for resource in resources:
        for at in _opaque(resource):
            where = place(at)
            found.setdefault(f"{where.line} {where.route}", _problem(resource, at))
    return list(found.values())


def _opaque(resource: Resource) -> Iterator[Cursor]:
    if resource.type not in TYPES:
        return
    for name in ("manifest", "yaml_body"):
        whole = resource.values[name]
        for at in (whole, whole["apiVersion"], whole["kind"]):
            if isinstance(at.data, Unresolved) and _may_be_a_pool(whole, f"{resource.address} {at.data.expression}"):
                yield at
                break


def _may_be_a_pool(manifest: Cursor, called: str) -> bool:
    """Return whether a manifest may be a pool.

    It is not if it is read from a file that is loaded anyway, or if its text shows another kind or no sign of nodes.
    """
    document = manifest.document
    written = document.written(manifest.route) if isinstance(document, HclDocument) else ""
    repeated = document.written(("for_each",)) if isinstance(document, HclDocument) else ""
    source = f"{called} {written} {repeated}"
    if any(word in source for word in READING) and any(f'{ending}"' in source for ending in READ_ELSEWHERE):
        return False
    kinds = {name for field, name in WRITTEN.findall(written) if field == "kind" and name.isalnum()}
    if not kinds and not NODES.search(f"{called} {written}"):
        return False
    return not kinds or any(kind in kinds for _, kind in READERS)


def _problem(resource: Resource, at: Cursor) -> Problem:
    assert isinstance(at.data, Unresolved)
    message = f"{at.route[-1]} of {resource.address} is {at.data.expression}: it is unknown whether it describes nodes"
    return Problem(ProblemCode.CAPACITY_UNKNOWN, place(at), message, f"If it is a node pool, {resource.hint}.")
