"""`qcheck admit`: the verdict on each workload, as text and as JSON (schema 1)."""

from __future__ import annotations

from qcheck.cluster.units import name_amount
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.reports.json import object_data, place_data
from qcheck.reports.json_text import dump
from qcheck.reports.wording import plain, plural

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from qcheck.answers.verdict import Judged, Verdict
    from qcheck.cluster.reasons import Reason
    from qcheck.packing.kube_scheduler import Placed
    from qcheck.reports.json_text import Json
    from qcheck.schedulers.kueue.assignment import Assigned

_SIGNS = {True: "+", False: "x", None: "?"}
_NAMES_SHOWN = 4


def render_json(judged: Judged) -> str:
    workloads = [verdict_data(cluster, v) for cluster, v in judged.verdicts]
    return dump({"schema": 1, "workloads": workloads, "unjudged": list(judged.unjudged)})


def verdict_data(cluster: str, verdict: Verdict) -> dict[str, Json]:
    decision = verdict.decision
    return {
        "object": object_data(verdict.workload.id),
        "cluster": cluster,
        "queue": decision.queue,
        "clusterQueue": decision.cluster_queue,
        "verdict": verdict.word,
        "admitted": verdict.admitted,
        "runs": verdict.runs,
        "flavors": flavors_of(decision.assigned) if verdict.admitted is not False else {},
        "podSets": [_pod_set_data(a) for a in decision.assigned],
        "placement": [_placed_data(p) for p in verdict.witness],
        "reasons": [_reason_data(r) for r in verdict.reasons],
        "change": verdict.change,
        "edits": [*_edits_data(verdict)],
    }


def _edits_data(verdict: Verdict) -> Iterator[dict[str, Json]]:
    """Yield the values of the smallest change at the places that people edit; none for rendered files."""
    for place, text in ((p.written(), text) for p, text in verdict.edits):
        if place.origin.source is None:
            yield {"file": place.origin.path, "line": place.span[0], "new": text}


def flavors_of(assigned: Iterable[Assigned]) -> dict[str, str]:
    """Return flavors by resource over all pod sets; several flavors for one resource are listed in order."""
    found: dict[str, dict[str, None]] = {}
    for each in assigned:
        for resource, flavor in each.flavors.items():
            found.setdefault(resource, {})[flavor] = None
    return {resource: ", ".join(found[resource]) for resource in sorted(found)}


def _pod_set_data(assigned: Assigned) -> dict[str, Json]:
    return {
        "name": assigned.pod_set.name,
        "count": assigned.demand.count,
        "requests": dict(sorted(assigned.demand.amounts.items())),
        "flavors": dict(sorted(assigned.flavors.items())),
    }


def _placed_data(placed: Placed) -> dict[str, Json]:
    return {"pool": placed.group, "nodes": placed.nodes, "names": list(placed.names), "podsPerNode": placed.pods}


def _reason_data(reason: Reason) -> dict[str, Json]:
    return {
        "code": reason.code,
        "cause": reason.cause,
        "message": reason.message,
        "place": place_data(reason.place),
        "related": [place_data(p) for p in reason.near],
        "flavor": reason.flavor,
        "resource": reason.resource,
        "change": reason.change,
    }


def render_text(judged: Judged) -> str:
    """Return one block per workload (its verdict, and where it runs or why it does not), then a summary."""
    many = len({cluster for cluster, _ in judged.verdicts}) > 1
    blocks = ["\n".join(_block(v, f" in {cluster}" if many else "")) for cluster, v in judged.verdicts]
    blocks += [f"? {plain(text)}" for text in judged.unjudged]
    return "\n\n".join((*blocks, _summary(judged))) + "\n"


def _block(verdict: Verdict, where: str) -> Iterator[str]:
    decision = verdict.decision
    yield plain(f"{_SIGNS[verdict.runs]} {verdict.workload.id}{where}: {verdict.word}")
    if decision.queue is not None:
        behind = "" if verdict.is_start_decision else f" -> {decision.cluster_queue or 'no ClusterQueue'}"
        yield plain(f"    queue: {decision.queue}{behind}")
    if verdict.admitted is not False:
        yield from (plain(f"    {line}") for line in map(_assigned_line, decision.assigned))
    yield from (plain(f"    runs on {_placed_line(p)}") for p in verdict.witness)
    for reason in verdict.reasons:
        yield plain(f"    {reason.code}: {reason.message}")
        yield plain(f"      --> {reason.place.line}")
        yield from (plain(f"      --> {p.line}") for p in reason.near)
        if reason.change and not verdict.change:
            yield plain(f"      would help: {reason.change}")
    if verdict.change:
        yield plain(f"    smallest change: {verdict.change}")
        yield from (plain(f"      --> {e['file']}:{e['line']}: {e['new']}") for e in _edits_data(verdict))


def _assigned_line(assigned: Assigned) -> str:
    """Return `pod set main, 4 pods: 32 nvidia.com/gpu from h100, 64 cores from h100`."""
    amounts = assigned.demand.amounts
    shares = [f"{name_amount(r, amounts.get(r, 0))} from {f}" for r, f in sorted(assigned.flavors.items())]
    return f"pod set {assigned.pod_set.name}, {plural(assigned.demand.count, 'pod')}: {', '.join(shares) or 'no quota'}"


def _placed_line(placed: Placed) -> str:
    """Return `3 nodes of h100, each 7 main (node-a, node-b, node-c)`."""
    pods = " + ".join(f"{n} {name}" for name, n in placed.pods.items())
    more = len(placed.names) - _NAMES_SHOWN
    shown = [*placed.names[:_NAMES_SHOWN], *([f"{more} more"] if more > 0 else [])]
    names = f" ({', '.join(shown)})" if shown else ""
    return f"{plural(placed.nodes, 'node')} of {placed.group}, each {pods}{names}"


def _summary(judged: Judged) -> str:
    runs = [v.runs for _, v in judged.verdicts]
    parts = [f"{runs.count(True)} run", f"{runs.count(False)} will not", f"{runs.count(None)} unknown"]
    return f"{plural(len(runs), 'workload')}: {', '.join(parts)}"
