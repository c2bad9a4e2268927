"""Compares the division and the refusals of Volcano's queues with recordings of Volcano itself.

`differences(path)` names each difference; a recording in which it finds none agrees. The recordings are not part of this
repository.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from volcano_requests import Operation, refusals

from qcheck.cluster.quantity import Quantity, parse_quantity
from qcheck.schedulers.volcano import division
from qcheck.schedulers.volcano.amounts import BASIC, UNLIMITED, added, amounts, is_empty, scaled, share
from qcheck.schedulers.volcano.stored_queue import StoredQueue

if TYPE_CHECKING:
    from qcheck.schedulers.volcano.amounts import Amounts

TOLERANCE = Fraction(1, 1000)
"""In the scheduler's units. Runs of one scenario differ by half as much, by the order in which floats are added."""
PLUGINS = {
    "proportion": division.proportion,
    "capacity": division.capacity,
    "capacity-hierarchy": division.hierarchy,
}
FIELDS = {"deserved": "deserved", "limit": "realCapability", "request": "request", "guarantee": "guarantee"}


def count(path: Path) -> int:
    """How many scenarios or objects a recording holds."""
    recording = json.loads(path.read_text(encoding="utf-8"))
    return len(recording.get("scenarios") or recording["cases"])


def differences(path: Path) -> Iterator[str]:
    """One line for each thing that differs from a recording of the division or of the webhook."""
    recording = json.loads(path.read_text(encoding="utf-8"))
    for scenario in recording.get("scenarios", ()):
        for difference in _division(scenario):
            yield f"{path.name}: {scenario['name']}: {difference}"
    for case in recording.get("cases", ()):
        for difference in _webhook(case):
            yield f"{path.name}: {case['name']}: {difference}"


def _division(scenario: dict[str, Any]) -> Iterator[str]:
    total = amounts()
    requests: dict[str, Amounts] = {}
    for node in scenario["nodes"]:
        total = added(total, _read(node))
    for job in scenario["jobs"]:
        wanted = scaled(_read(job["request"]), Fraction(job["pods"]))
        requests[job["queue"]] = added(requests.get(job["queue"], amounts()), wanted)
    queues = [_terms(q["name"], q["spec"]) for q in scenario["queues"]]
    parts = PLUGINS[scenario["plugin"]](queues, total, requests)
    recorded = scenario["result"]
    if isinstance(parts, division.NotReady):
        if recorded["ready"]:
            yield f"not ready because of {parts.queue}, recorded as ready"
        return
    if not recorded["ready"]:
        yield "ready, recorded as not ready"
        return
    if set(parts) != set(recorded["queues"]):
        yield f"queues {sorted(parts)}, recorded {sorted(recorded['queues'])}"
    for name, part in parts.items():
        for field, recorded_as in FIELDS.items():
            yield from _field(f"{name} {field}", getattr(part, field), recorded["queues"][name][recorded_as])
        if scenario["plugin"] == "capacity-hierarchy":
            yield from _field(f"{name} capability", part.capability, recorded["queues"][name]["capability"])
        if scenario["plugin"] != "proportion":
            expected = recorded["queues"][name]["share"]
            found = 1 if is_empty(part.deserved) else share(amounts(), part.deserved)
            if found != expected:
                yield f"{name} share {found}, recorded {expected}"


def _field(what: str, found: Amounts, recorded: dict[str, Any]) -> Iterator[str]:
    """A resource that is missing is not the same as one of which there is 0."""
    if set(found) != set(recorded):
        yield f"{what} names {sorted(found)}, recorded {sorted(recorded)}"
        return
    for resource, amount in found.items():
        expected = recorded[resource]
        if expected == "unlimited" or amount == UNLIMITED:
            same = (amount == UNLIMITED) == (expected == "unlimited")
        else:
            units = 1 if resource in BASIC else 1000
            same = abs(Fraction(amount) * units - Fraction(str(expected))) <= TOLERANCE
        if not same:
            yield f"{what} {resource} {float(amount)}, recorded {expected}"


def _webhook(case: dict[str, Any]) -> Iterator[str]:
    existing = {q.name: q for q in map(_stored, case["existing"])}
    old = _stored(case["old"]) if "old" in case else None
    found = list(refusals(Operation(case["operation"]), _stored(case["object"]), existing, old))
    if bool(found) == case["allowed"]:
        yield f"refused because of {found}, recorded as allowed" if found else "allowed, recorded as refused"


def _stored(manifest: dict[str, Any]) -> StoredQueue:
    spec, metadata, status = manifest["spec"], manifest["metadata"], manifest.get("status", {})
    return StoredQueue(
        metadata["name"],
        parent=spec.get("parent", ""),
        capability=_quantities(spec.get("capability", {})),
        deserved=_quantities(spec.get("deserved", {})),
        guarantee=_quantities(spec.get("guarantee", {}).get("resource", {})),
        annotations=metadata.get("annotations", {}),
        state=status.get("state", ""),
        pods=int(status.get("allocated", {}).get("pods", 0)),
    )


def _quantities(listed: dict[str, str]) -> dict[str, Quantity]:
    return {name: parse_quantity(text) for name, text in listed.items()}


def _terms(name: str, spec: dict[str, Any]) -> division.VolcanoTerms:
    return division.VolcanoTerms(
        name,
        weight=spec.get("weight") or 1,
        capability=_read(spec.get("capability", {}), basic=False),
        deserved=_read(spec.get("deserved", {}), basic=False),
        guarantee=_read(spec.get("guarantee", {}).get("resource", {}), basic=False),
        parent=spec.get("parent"),
    )


def _read(listed: dict[str, str], basic: bool = True) -> dict[str, int]:
    found = {}
    for name, text in listed.items():
        quantity = parse_quantity(text)
        found[name] = quantity.milli if name == "cpu" else quantity.units
    return {**dict.fromkeys(BASIC, 0), **found} if basic else found
