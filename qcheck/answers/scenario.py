"""A scenario: workloads that hold quota, wait or arrive, for the scheduler to be simulated on."""

from __future__ import annotations

from qcheck.cluster.place import Place
from qcheck.cluster.value import Value
from qcheck.cluster.workloads import Workload


class Admitted(Value):
    """Quota that a workload holds from the start: since second `at`, with flavors by pod set and resource."""

    at: int
    flavors: dict[str, dict[str, str]]
    place: Place


class Actor(Value):
    """A workload of a scenario. `place` is its entry.

    `workload` has the pod sets; its own queue and priority count where the entry names neither: `cluster_queue` or
    `local_queue` (namespace, name), `priority` or `priority_class`. Times are seconds; `runs_for` None: until the end.
    """

    name: str
    place: Place
    workload: Workload
    cluster_queue: str | None
    local_queue: tuple[str, str] | None
    priority: int | None
    priority_class: str | None
    created: int
    admitted: Admitted | None
    runs_for: int | None


class Scenario(Value):
    """`is_fair` None: fair sharing if the Configuration has it. `eviction_delay`: seconds until a victim's quota is free.

    `files` are the manifests that its workloads come from.
    """

    place: Place
    is_fair: bool | None
    start: int
    eviction_delay: int
    actors: tuple[Actor, ...]
