"""`drift`: compare the files of a repository with the cluster for which they are intended."""

from __future__ import annotations

from qcheck.answers.drift import Drift, DriftObject, changed, node_differences
from qcheck.cluster.cluster import SYSTEM_PRIORITIES
from qcheck.cluster.value import TYPE_CHECKING, Value, replace
from qcheck.kinds.comparable import comparable
from qcheck.kinds.decode import roots
from qcheck.kinds.shared_fields import object_id, place
from qcheck.kinds.validation.target import Target
from qcheck.sources import kubectl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.objects import ObjectId
    from qcheck.documents.load import Loaded
    from qcheck.pipeline.live import Live

    Key = tuple[str, str, str | None, str]
    """Group, kind, namespace and name."""

KUEUE, PRIORITIES, APPS = "kueue.x-k8s.io", "scheduling.k8s.io", "apps"


class DriftSide(Value):
    """One side: its inputs, and the cluster built from them."""

    loaded: tuple[Loaded, ...]
    cluster: Cluster


COMPARED = frozenset(
    {(a.group, a.kind) for a in kubectl.CONFIGURATION if a.group in (KUEUE, PRIORITIES)}
    | {("scheduling.run.ai", "Queue"), ("scheduling.volcano.sh", "Queue")}
    | {("kai.scheduler", kind) for kind in ("SchedulingShard", "Topology", "Config")}
    | {("topology.volcano.sh", "HyperNode"), (APPS, "DaemonSet")}
)
"""Kinds of which every object is compared; among DaemonSets, only those that files define."""
WANTED = tuple(a for a in kubectl.CONFIGURATION if (a.group, a.kind) in COMPARED or a.kind == "Node")
MADE_BY_SCHEDULERS = frozenset(
    {
        ("scheduling.volcano.sh", "Queue", "root"),
        ("scheduling.volcano.sh", "Queue", "default"),
        ("scheduling.run.ai", "Queue", "default-parent-queue"),
        ("scheduling.run.ai", "Queue", "default-queue"),
        ("kai.scheduler", "SchedulingShard", "default"),
        ("kai.scheduler", "Config", "kai-config"),
        *((PRIORITIES, "PriorityClass", name) for name in SYSTEM_PRIORITIES),
    }
)
"""Objects that the schedulers themselves, or Kubernetes, create."""


def differences(files: DriftSide, running: DriftSide, live: Live, unjudged: Sequence[str]) -> Drift:
    """Return how the running cluster differs from the files. `unjudged` says which parts of the files were not read."""
    ours, theirs = _sides(files), _sides(running)
    failed = {n.path.partition(":")[2] for n in live.failed}
    found = [changed(ours[key], theirs[key]) for key in ours if key in theirs]
    nodes = replace(running.cluster, pools=files.cluster.pools)
    unknown = {kind for _, kind in COMPARED if any(u.may_define(kind) for u in files.cluster.unread)}
    return Drift(
        only_in_files=tuple(s for key, s in ours.items() if key not in theirs and not {"", key[1]} & failed),
        only_live=tuple(s for key, s in theirs.items() if key not in ours and _is_meant(key) and key[1] not in unknown),
        changed=tuple(c for c in found if c is not None),
        nodes=() if {"", "Node"} & failed else node_differences(nodes),
        not_compared=tuple(
            f"{kind}: objects that only the cluster has, because the files may define more of them"
            for kind in sorted(unknown & {key[1] for key in theirs})
        ),
        unjudged=(*unjudged, *(f"{n.path}: {n.why}" for n in live.failed)),
    )


def _sides(read: DriftSide) -> dict[Key, DriftObject]:
    """Return the objects to compare, by identity; the first definition of each."""
    target = Target((read.cluster.policy.kueue.major, read.cluster.policy.kueue.minor))
    found: dict[Key, DriftObject] = {}
    for root in (r for f in read.loaded for d in f.documents for r in roots(d)):
        identity = object_id(root)
        if (identity.group, identity.kind) in COMPARED:
            found.setdefault(_key(identity), DriftObject(identity, place(root), comparable(root, target)))
    return dict(sorted(found.items(), key=lambda pair: tuple(part or "" for part in pair[0])))


def _key(identity: ObjectId) -> Key:
    return identity.group, identity.kind, identity.namespace, identity.name


def _is_meant(key: Key) -> bool:
    """Return whether files should define an object that only the cluster has."""
    group, kind, _, name = key
    return (group, kind) != (APPS, "DaemonSet") and (group, kind, name) not in MADE_BY_SCHEDULERS
