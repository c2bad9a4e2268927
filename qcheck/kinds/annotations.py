"""Annotations that a scheduler or an autoscaler acts on; others have no effect on queues and nodes."""

from __future__ import annotations

import re

EFFECTIVE = re.compile(
    r"(^|\.)(kueue\.x-k8s\.io|qcheck\.dev|kai\.scheduler|run\.ai|volcano\.sh|scheduling\.k8s\.io|ray\.io"
    r"|cluster-autoscaler\.kubernetes\.io|cluster\.x-k8s\.io|openshift\.io)/"
    r"|^(gpu-(fraction|memory)|(mps|pod-group-name)$|workload\.codeflare\.dev)"
)


def has_effect(key: str) -> bool:
    """Return whether the annotation `key` may change where pods run or what they count."""
    return EFFECTIVE.search(key) is not None
