"""Stable identities of findings across runs; `Finding.fingerprint` is their hash.

They consist of the rule, the cluster, the object and the names of fields and list items, but no lines or numbers, so
they survive moved lines, reordered documents and list items, and changed quotas.
"""

from __future__ import annotations

import os

from qcheck.cluster.value import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qcheck.cluster.place import Place
    from qcheck.findings.finding import Finding

TELLING = ("check", "reason", "cause", "flavor", "resource", "field", "key", "level")
"""Entries of `data` that distinguish findings at one place; they hold names, never amounts."""

NAME_KEYS = ("name", "key", "topologyKey", "nodeLabel")
"""Fields that identify items of a list; the first one that an item has is used."""


def identities(findings: Sequence[Finding], root: str = ".") -> list[tuple[str, ...]]:
    """Return names for each finding, in order, all different. Equal findings are distinguished by a counter.

    Anything other than an object is identified by its path relative to `root`.
    """
    order = sorted(range(len(findings)), key=lambda i: (findings[i].message, findings[i].primary.origin.path))
    seen: dict[tuple[str, ...], int] = {}
    made: list[tuple[str, ...]] = [()] * len(findings)
    for i in order:
        parts = identity(findings[i], root)
        seen[parts] = count = seen.get(parts, 0) + 1
        made[i] = (*parts, str(count))
    return made


def identity(finding: Finding, root: str) -> tuple[str, ...]:
    """Return the names that distinguish a finding from others."""
    rule = finding.rule.id if finding.rule else ""
    telling = (f"{key}={finding.data[key]}" for key in TELLING if isinstance(finding.data.get(key), str))
    return (rule, finding.cluster, *_subject(finding, root), *named_route(finding.primary), *telling)


def _subject(finding: Finding, root: str) -> tuple[str, ...]:
    """Return the object that the finding is about; else the object written at its place; else the file."""
    if finding.object is not None:
        found = finding.object
        return (found.group, found.kind, found.namespace or "", found.name)
    data = finding.primary.origin.data
    if isinstance(data, dict) and isinstance(data.get("metadata"), dict):
        group = str(data.get("apiVersion", "")).rpartition("/")[0]
        metadata = data["metadata"]
        return (group, str(data.get("kind", "")), str(metadata.get("namespace", "")), str(metadata.get("name", "")))
    return (os.path.relpath(finding.primary.origin.path, root).replace(os.sep, "/"),)


def named_route(place: Place) -> tuple[str, ...]:
    """Return the route with list positions replaced by the names of items that have one."""
    value = place.origin.data
    names = []
    for step in place.route:
        value = _inside(value, step)
        names.append(f"[{_name_of(value, step)}]" if isinstance(step, int) else step)
    return tuple(names)


def _inside(value: object, step: str | int) -> object:
    if isinstance(value, dict):
        return value.get(step)
    if isinstance(value, list) and isinstance(step, int) and step < len(value):
        return value[step]
    return None


def _name_of(item: object, position: int) -> str:
    if isinstance(item, str):
        return item
    if isinstance(item, dict):
        if isinstance(item.get("metadata"), dict):
            return f"{item.get('kind', '')} {item['metadata'].get('namespace', '')}/{item['metadata'].get('name', '')}"
        name = next((item[k] for k in NAME_KEYS if isinstance(item.get(k), str)), None)
        if name is not None:
            return str(name)
        covered = item.get("coveredResources")
        if isinstance(covered, list):
            return ",".join(sorted(map(str, covered)))
    return str(position)
