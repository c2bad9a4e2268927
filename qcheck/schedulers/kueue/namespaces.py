"""Namespaces that a selector matches, and namespaces that Kueue manages."""

from __future__ import annotations

from qcheck.cluster.objects import NAMESPACE_NAME_LABEL
from qcheck.cluster.value import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.labels import LabelSelector


def is_managed_namespace(cluster: Cluster, namespace: str) -> bool | None:
    """Return whether managedJobsNamespaceSelector matches a namespace; None if its labels are unknown."""
    manager = cluster.configuration
    if manager is None or manager.managed_namespaces is None:
        return namespace not in ("kube-system", manager.namespace if manager else "kueue-system")
    return selects(cluster, manager.managed_namespaces, namespace)


def selects(cluster: Cluster, selector: LabelSelector, namespace: str) -> bool | None:
    """Return whether a selector matches a namespace; None if it needs labels of one that is not in the repository."""
    known = cluster.namespace.get(namespace)
    if known is not None:
        return selector.matches(known.labels)
    if selector.matches({NAMESPACE_NAME_LABEL: namespace}) and not any(True for _ in _unknown_keys(selector)):
        return True
    sure = [e for e in selector.expressions if e.key == NAMESPACE_NAME_LABEL]
    named = selector.match_labels.get(NAMESPACE_NAME_LABEL, namespace) == namespace
    if not named or not all(e.matches({NAMESPACE_NAME_LABEL: namespace}) for e in sure):
        return False
    return None


def _unknown_keys(selector: LabelSelector) -> Iterator[str]:
    yield from (k for k in selector.match_labels if k != NAMESPACE_NAME_LABEL)
    yield from (e.key for e in selector.expressions if e.key != NAMESPACE_NAME_LABEL)
