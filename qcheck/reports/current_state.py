"""The state of a running cluster in `capacity`: as text below the table, and as JSON."""

from __future__ import annotations

from qcheck.answers.current_state import current_state
from qcheck.cluster.units import IN_TABLES, named, scale_of, show_amounts
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.reports.wording import plain, plural

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.answers.current_state import (
        CurrentState,
        InactiveQueue,
        OverusedFlavor,
        QuotaUse,
        StuckPods,
        UnqueuedPods,
    )
    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.running import Key
    from qcheck.reports.json_text import Json

MOST_PODS = 3


def now_data(cluster: Cluster) -> dict[str, Json]:
    """Return what `capacity --format json` adds for a running cluster; nothing for files."""
    found = current_state(cluster)
    if found is None:
        return {}
    return {
        "live": {
            "usage": [_use_data(u) for u in found.uses],
            "over": [
                {"flavor": o.flavor, "resource": o.resource, "used": o.used, "static": o.held} for o in found.over
            ],
            "pending": [_stuck_data(s) for s in found.stuck],
            "outside": [{"object": _key_data(o.owner), "pods": o.pods, "devices": o.devices} for o in found.outside],
            "inactive": [
                {"queue": i.queue, "reason": i.reason, "message": i.message, "pending": i.pending}
                for i in found.inactive
            ],
        }
    }


def _use_data(use: QuotaUse) -> Json:
    return {
        "queue": use.queue,
        "flavor": use.flavor,
        "resource": use.resource,
        "used": use.used,
        "reserved": use.reserved,
        "nominal": use.nominal,
    }


def _stuck_data(found: StuckPods) -> Json:
    return {"object": _key_data(found.owner), "pods": list(found.pods), "reason": found.reason, "event": found.event}


def _key_data(key: Key) -> Json:
    kind, namespace, name = key
    return {"kind": kind, "namespace": namespace or None, "name": name}


def now_lines(cluster: Cluster) -> Iterator[str]:
    """Yield one paragraph per topic; nothing for files."""
    found = current_state(cluster)
    if found is None:
        return
    for title, lines in _paragraphs(found):
        if lines:
            yield ""
            yield title
            yield from (f"  {plain(line)}" for line in lines)


def _paragraphs(found: CurrentState) -> Iterator[tuple[str, list[str]]]:
    yield "quota in use", [_use(u) for u in found.uses]
    yield "quota in use beyond the existing nodes", [_over(o) for o in found.over]
    yield "admitted, and not placed", [line for s in found.stuck for line in _stuck(s)]
    yield "accelerators outside any queue", [_outside(o) for o in found.outside]
    yield "inactive queues", [_inactive(i) for i in found.inactive]


def _use(use: QuotaUse) -> str:
    scale = scale_of(use.resource, (use.used, use.reserved, use.nominal or 0), IN_TABLES)
    nominal = scale.name(use.used) + " without quota of its own"
    if use.nominal is not None:
        nominal = f"{scale(use.used)} of {scale.name(use.nominal)}"
    more = f", {scale(use.reserved)} by workloads that wait for admission checks" if use.reserved > use.used else ""
    return f"{use.queue}: {nominal} in {use.flavor}{more}"


def _over(found: OverusedFlavor) -> str:
    used, held = show_amounts(found.resource, found.used, found.held)
    return f"{found.flavor}: {named(found.resource, used)} in use, its ready nodes hold {held}"


def _stuck(found: StuckPods) -> Iterator[str]:
    left = len(found.pods) - MOST_PODS
    more = f" and {left} more" if left > 0 else ""
    yield f"{_name(found.owner)}: {', '.join(found.pods[:MOST_PODS])}{more}"
    yield f"  qcheck: {found.reason or 'fits on a node, as far as known'}"
    yield f"  kube-scheduler: {found.event}"


def _outside(found: UnqueuedPods) -> str:
    devices = ", ".join(f"{amount} {resource}" for resource, amount in sorted(found.devices.items()))
    return f"{_name(found.owner)}: {devices} in {plural(found.pods, 'pod')}"


def _inactive(found: InactiveQueue) -> str:
    waiting = f"; {plural(found.pending, 'workload')} pending" if found.pending else ""
    return f"{found.queue}: {found.reason}: {found.message}{waiting}"


def _name(key: Key) -> str:
    kind, namespace, name = key
    return f"{kind} {namespace}/{name}" if namespace else f"{kind} {name}"
