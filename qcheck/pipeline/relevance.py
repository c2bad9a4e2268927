"""The kinds that a text or an object may define, and whether it concerns queues: other templates are not reported."""

from __future__ import annotations

import re

from qcheck.cluster.problems import NODES
from qcheck.cluster.resources import looks_like_accelerator
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.kinds.decode import DEFINITION
from qcheck.nodepools import formats

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qcheck.documents.cursor import Cursor

KIND = r"""(?m)^[ \t-]*["']?kind["']?[ \t]*:[ \t]*["']?([^\s"',}]+)"""
NAME = r"[A-Z][A-Za-z]+"
INCLUDED = r"\{\{-?\s*(?:include|template|tpl)\b"
"""Inclusion of other templates, which may be whole objects."""
BATCH = ("kueue.x-k8s.io/", "kai.scheduler", "scheduling.run.ai")
"""API groups and labels that show that an object concerns queues."""
VOLCANO = r"(?<!serving\.)volcano\.sh/"
"""The same for Volcano, without the groups of Kthena, which serves models."""
SEPARATOR = r"(?m)^---"
TOP_KIND = r"""(?m)^["']?kind["']?[ \t]*:[ \t]*["']?(\w+)"""
OF_SOFTWARE = frozenset(
    {DEFINITION, "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding", "ServiceAccount", "Service"}
)
"""Kinds whose objects mention kinds and groups of queues, but define no queues, nodes or pods."""
TAKING = frozenset({"DaemonSet", "Deployment", "StatefulSet", "Job"})
"""Kinds of pods, which may take accelerators."""
REFERRED = frozenset({"PriorityClass"})
"""Other kinds to which queued workloads refer."""


def kinds_in(text: str) -> frozenset[str] | None:
    """Return the kinds of the objects that a text may contain; None if they are unknown."""
    written = [kind for part in re.split(SEPARATOR, text) for kind in _kinds_of_part(part)]
    if not all(re.fullmatch(NAME, kind) for kind in written) or (not written and re.search(INCLUDED, text)) or not text:
        return None
    return _with_nodes(frozenset(written))


def _kinds_of_part(text: str) -> list[str]:
    """Return the kinds in the text of a document; a definition or a role only names the other kinds."""
    top = re.search(TOP_KIND, text)
    return [top[1]] if top is not None and top[1] in OF_SOFTWARE else re.findall(KIND, text)


def kinds_of(objects: Iterable[Cursor]) -> frozenset[str]:
    """Return the kinds of some objects."""
    return _with_nodes(frozenset(found.text_at("kind") for found in objects))


def concerns_queues(found: Cursor) -> bool:
    """Return whether an object is a queue, a node or a queued workload, or one that these refer to."""
    if found.text_at("kind") == DEFINITION:
        return False
    if formats.describes_nodes(found) or found.text_at("kind") in REFERRED:
        return True
    return _names_a_scheduler(str(found.data))


def _names_a_scheduler(text: str) -> bool:
    return any(word in text for word in BATCH) or ("volcano.sh/" in text and re.search(VOLCANO, text) is not None)


def concerns_nodes_or_queues(found: Cursor) -> bool:
    """Return whether an object concerns queues, or takes accelerators of nodes."""
    if found.text_at("kind") == DEFINITION:
        return False
    return concerns_queues(found) or _takes_accelerators(found.data)


def _takes_accelerators(data: object) -> bool:
    """Return whether anything below requests or limits accelerators."""
    if isinstance(data, list):
        return any(map(_takes_accelerators, data))
    if not isinstance(data, dict):
        return False
    amounts = (data.get(key) for key in ("requests", "limits"))
    asked = (name for given in amounts if isinstance(given, dict) for name in given)
    return any(looks_like_accelerator(str(name)) for name in asked) or any(map(_takes_accelerators, data.values()))


def concerns_queues_text(text: str) -> bool:
    """Return the same for a text that is not parsed."""
    if not _may_concern_queues(text):
        return False
    parts = (
        part
        for part in re.split(SEPARATOR, text)
        if (top := re.search(TOP_KIND, part)) is None or top[1] not in OF_SOFTWARE
    )
    return any(map(_may_concern_queues, parts))


def _may_concern_queues(text: str) -> bool:
    return _names_a_scheduler(text) or not (REFERRED | POOL_KINDS).isdisjoint(re.findall(KIND, text))


def most_relevant_first(kinds: Iterable[str]) -> list[str]:
    """Return kinds by name, those of queues and nodes first."""
    return sorted(kinds, key=lambda kind: (kind not in QUEUE_KINDS | POOL_KINDS, kind not in TAKING, kind))


POOL_KINDS = frozenset(kind for _, kind in formats.READERS)
QUEUE_KINDS = frozenset({"ClusterQueue", "LocalQueue", "ResourceFlavor", "Cohort", "Topology", "Queue"})


def _with_nodes(kinds: frozenset[str]) -> frozenset[str]:
    return kinds | {NODES} if kinds & POOL_KINDS else kinds
