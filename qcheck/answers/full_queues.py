"""A scenario with full queues at its start: every queue holds as many equal workloads as its own quota admits."""

from __future__ import annotations

from collections import Counter
from itertools import chain, islice

from qcheck.answers.question import QuestionError
from qcheck.answers.scenario import MOST_WORKLOADS, Admitted, ScenarioWorkload, pods, written_workload
from qcheck.cluster.kai import UNLIMITED
from qcheck.cluster.quantity import NANO, Quantity, QuantityError, amount, parse_quantity
from qcheck.cluster.value import TYPE_CHECKING, replace
from qcheck.schedulers.kai.shards import RESOURCES, shards_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.answers.scenario import Scenario
    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.kai import KaiQueue
    from qcheck.cluster.kueue import ClusterQueue

    Spot = tuple[str, str, str]

MAIN = "main"


def full(cluster: Cluster, scenario: Scenario, shape: str) -> Scenario:
    """Return the scenario with full queues at its start; quota that its own workloads hold counts.

    `shape` is the name of a shape in the settings or `RESOURCE=AMOUNT,...`. Raises `QuestionError`.
    """
    requests = _requests(cluster, shape)
    taken = {entry.name for entry in scenario.workloads}
    held = _held(cluster, scenario)
    fillers = chain(
        (a for q in cluster.queues for a in _fillers(q, requests, scenario, held)),
        (a for s in shards_of(cluster) for q in s.leaves for a in _kai_fillers(q, requests, scenario, held)),
    )
    added = list(islice((a for a in fillers if a.name not in taken), MOST_WORKLOADS + 1))
    if len(added) > MOST_WORKLOADS:
        raise QuestionError(
            [
                f"--full-with {shape}: the queues have quota for more than {MOST_WORKLOADS} such workloads; use larger ones"
            ]
        )
    if not added:
        raise QuestionError([f"--full-with {shape}: no queue has quota for one such workload"])
    return replace(scenario, workloads=(*added, *scenario.workloads))


def _requests(cluster: Cluster, shape: str) -> dict[str, int]:
    """Return the requests of one workload, in base units."""
    named = {s.name: s.requests for s in cluster.policy.shapes}
    if "=" not in shape:
        if shape in named:
            return named[shape]
        known = ", ".join(named) or "none"
        raise QuestionError(
            [f"--full-with: the settings have no shape {shape!r} (they have: {known}); or write nvidia.com/gpu=8"]
        )
    found = {}
    for part in shape.split(","):
        resource, _, text = part.partition("=")
        try:
            found[resource] = amount(resource, parse_quantity(text))
        except QuantityError as error:
            raise QuestionError([f"--full-with {part}: {error}"]) from None
    return found


def _held(cluster: Cluster, scenario: Scenario) -> Counter[Spot]:
    """Return the quota that the scenario's workloads hold at its start, by queue, flavor and resource."""
    held: Counter[Spot] = Counter()
    for entry in scenario.workloads:
        local = cluster.local_queue.get(entry.local_queue) if entry.local_queue else None
        queue = entry.cluster_queue or (local.cluster_queue if local else None) or ""
        for pod_set in entry.workload.pod_sets if entry.admitted else ():
            flavors = entry.admitted.flavors.get(pod_set.name, {}) if entry.admitted else {}
            for resource, n in pod_set.template.amounts().items():
                held[queue, flavors.get(resource, ""), resource] += n * pod_set.count
    return held


def _fillers(
    queue: ClusterQueue, requests: dict[str, int], scenario: Scenario, held: Counter[Spot]
) -> Iterator[ScenarioWorkload]:
    """Yield workloads that hold the rest of a queue's nominal quota, flavor by flavor."""
    for flavor in dict.fromkeys(f.name for f in queue.flavors()):
        cells = [q for q in queue.quotas() if q.flavor == flavor]
        quotas = {q.resource: max(0, q.nominal - held[queue.name, flavor, q.resource]) for q in cells}
        asked = {r: n for r, n in requests.items() if n > 0 and r in quotas}
        many = min((quotas[r] // n for r, n in asked.items()), default=0)
        flavors = {MAIN: dict.fromkeys(asked, flavor)}
        for number in range(1, many + 1):
            yield _filler(f"full-{queue.name}-{flavor}-{number}", queue.name, asked, flavors, scenario)


def _kai_fillers(
    queue: KaiQueue, requests: dict[str, int], scenario: Scenario, held: Counter[Spot]
) -> Iterator[ScenarioWorkload]:
    """Yield workloads that hold the rest of a KAI queue's quota; a resource without a bound does not count."""
    bounds = {RESOURCES[d]: terms.quota for d, terms in queue.terms.items() if terms.quota != UNLIMITED}
    asked = {r: n for r, n in requests.items() if n > 0}
    many = min((int(bounds[r] - held[queue.name, "", r]) // n for r, n in asked.items() if r in bounds), default=0)
    for number in range(1, many + 1):
        yield _filler(f"full-{queue.name}-{number}", queue.name, asked, {}, scenario)


def _filler(
    name: str, queue: str, asked: dict[str, int], flavors: dict[str, dict[str, str]], scenario: Scenario
) -> ScenarioWorkload:
    quantities = {r: Quantity(n * (10**6 if r == "cpu" else NANO), "decimal", "") for r, n in asked.items()}
    return ScenarioWorkload(
        name=name,
        place=scenario.place,
        workload=written_workload(name, None, scenario.place, (pods(MAIN, 1, quantities, scenario.place),)),
        cluster_queue=queue,
        local_queue=None,
        priority=0,
        priority_class=None,
        created=scenario.start,
        admitted=Admitted(scenario.start, flavors, scenario.place),
        runs_for=None,
    )
