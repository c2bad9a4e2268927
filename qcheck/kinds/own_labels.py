"""Label selectors of pods that may match the pods of their own workload.

A controller adds labels to those of the template, such as the name of the Job. A selector may match a label whose value
is unknown.
"""

from __future__ import annotations

from qcheck.cluster.labels import LabelSelector
from qcheck.cluster.value import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

DOMAINS = frozenset(
    {
        "apps.kubernetes.io",
        "batch.kubernetes.io",
        "batch.volcano.sh",
        "jobset.sigs.k8s.io",
        "kueue.x-k8s.io",
        "leaderworkerset.sigs.k8s.io",
        "ray.io",
        "sparkoperator.k8s.io",
        "statefulset.kubernetes.io",
        "trainer.kubeflow.org",
        "training.kubeflow.org",
        "volcano.sh",
        "workload.codeflare.dev",
    }
)
PLAIN = frozenset({"controller-revision-hash", "controller-uid", "job-name", "pod-template-hash"})
"""Domains and names of labels that controllers add to pods."""


def selects_own(selector: LabelSelector | None, labels: Mapping[str, str]) -> bool | None:
    """Return whether a selector matches pods with these labels; None if it depends on labels of their controller."""
    if selector is None:
        return False
    if selector.matches(labels):
        return True
    known = LabelSelector(
        {k: v for k, v in selector.match_labels.items() if not _is_added(k, labels)},
        tuple(e for e in selector.expressions if not _is_added(e.key, labels)),
    )
    return None if known.matches(labels) else False


def _is_added(key: str, labels: Mapping[str, str]) -> bool:
    """Return whether a controller may add a label that is not among the known ones."""
    return key not in labels and (key in PLAIN or key.partition("/")[0] in DOMAINS)
