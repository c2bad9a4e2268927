"""The objects that a snapshot needs: none that have finished, or that a DaemonSet or a newer owner creates.

Of an object that a controller created, only name, labels and owner are kept, and only if it is in the chain of owners
of a pod.
"""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.documents.cursor import as_mapping
from qcheck.kinds.snapshot.trimmed import trimmed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    Object = dict[str, object]
    Key = tuple[str, str, str]
    """Kind, namespace, name."""

OVER = frozenset({"Complete", "Completed", "Failed", "Succeeded", "Finished"})
ENDED = ("Succeeded", "Failed")
NOT_OWNED = ("Pod", "Workload", "Event", "Node")
"""Kinds that are kept in full although something owns them."""
POD = "Pod"
UNPLACED = "FailedScheduling"
"""The reason of the events that are kept."""


def needed(objects: dict[str, list[Object]]) -> dict[str, list[Object]]:
    """Return the needed objects by kind, trimmed and sorted, so that the same cluster gives the same snapshot."""
    whole = {kind: [o for o in found if not _is_over(o, kind)] for kind, found in objects.items()}
    known = {_key(o, kind): o for kind, found in whole.items() for o in found}
    kept: dict[str, list[Object]] = {}
    for kind, found in sorted(whole.items()):
        own = [o for o in found if kind in NOT_OWNED or owner_of(o) not in known]
        kept[kind] = [trimmed(o, kind) for o in own if not (kind == POD and _belongs_to_node(o))]
    for key in _between(kept.get(POD, ()), known):
        if key[0] not in NOT_OWNED:
            item = trimmed(known[key], key[0])
            kept[key[0]].append({field: item[field] for field in ("apiVersion", "kind", "metadata")})
    if "Event" in kept:
        kept["Event"] = list(_newest(kept["Event"], {_key(o, POD) for o in kept.get(POD, ())}))
    return {kind: sorted(found, key=_order) for kind, found in kept.items() if found}


def owner_of(item: Object) -> Key | None:
    """Return the object whose controller created this one."""
    metadata = as_mapping(item.get("metadata"))
    owners = metadata.get("ownerReferences")
    for each in owners if isinstance(owners, list) else ():
        if isinstance(each, dict) and each.get("controller"):
            return str(each.get("kind")), str(metadata.get("namespace") or ""), str(each.get("name"))
    return None


def _key(item: Object, kind: str) -> Key:
    metadata = as_mapping(item.get("metadata"))
    return kind, str(metadata.get("namespace") or ""), str(metadata.get("name"))


def _order(item: Object) -> tuple[str, ...]:
    metadata = as_mapping(item.get("metadata"))
    return str(item.get("apiVersion")), str(metadata.get("namespace") or ""), str(metadata.get("name"))


def _is_over(item: Object, kind: str) -> bool:
    """Return whether a workload has ended, so that it no longer requests anything."""
    status = as_mapping(item.get("status"))
    if kind == POD and status.get("phase") in ENDED:
        return True
    if status.get("jobDeploymentStatus") in OVER:
        return True
    conditions = status.get("conditions")
    found = conditions if isinstance(conditions, list) else []
    return any(isinstance(c, dict) and c.get("type") in OVER and c.get("status") == "True" for c in found)


def _belongs_to_node(pod: Object) -> bool:
    """Return whether a pod is one of a DaemonSet, which the model computes itself, or a static pod."""
    owner = owner_of(pod)
    return owner is not None and owner[0] in ("DaemonSet", "Node")


def _between(pods: Iterable[Object], known: dict[Key, Object]) -> list[Key]:
    """Return the objects between pods and the objects that a person created, each once."""
    found: dict[Key, None] = {}
    for pod in pods:
        key = owner_of(pod)
        while key in known and (above := owner_of(known[key])) in known and key not in found:
            found[key] = None
            key = above
    return list(found)


def _newest(events: Iterable[Object], pods: set[Key]) -> Iterator[Object]:
    """Yield the last event of each existing pod."""
    last: dict[Key, Object] = {}
    for event in events:
        about = as_mapping(event.get("involvedObject"))
        key = (str(about.get("kind")), str(about.get("namespace") or ""), str(about.get("name")))
        if key in pods and event.get("reason") == UNPLACED and (key not in last or _time(event) >= _time(last[key])):
            last[key] = event
    yield from last.values()


def _time(event: Object) -> tuple[str, str]:
    return str(event.get("lastTimestamp") or event.get("eventTime") or ""), _order(event)[-1]
