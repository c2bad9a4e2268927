"""A cluster's settings as plain values."""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING, Value

if TYPE_CHECKING:
    from fractions import Fraction
    from typing import Literal

    Counted = Literal["max", "min", "desired"]
    """The size of an autoscaled pool that counts."""

VOLCANO_SCHEDULER, VOLCANO_JOBS = "volcano", "batch.volcano.sh"
"""The name of Volcano's scheduler, and the API group of its jobs."""
KAI_SCHEDULER, KAI_QUEUE_LABEL = "kai-scheduler", "kai.scheduler/queue"
"""The default names of KAI Scheduler and of its queue label."""
KAI_CLASSES = {"train": 50, "build-preemptible": 75, "build": 100, "inference": 125}
"""The priority classes that KAI's chart creates, with their values."""


class Reserve(Value):
    """Capacity that is kept free of quota: per node, or in total over the pools that match the patterns in `pools`."""

    pools: tuple[str, ...]
    per_node: dict[str, int]
    total: dict[str, int]
    reason: str


class Shape(Value):
    """Pods that must fit: `pods` of them at once, each requesting `requests` (base units)."""

    name: str
    requests: dict[str, int]
    flavors: tuple[str, ...] = ()
    pods: int | None = None
    level: str | None = None


class Release(Value):
    """A Kueue release, comparable by `at_least`."""

    major: int = 0
    minor: int = 19

    def at_least(self, minor: int, major: int = 0) -> bool:
        return (self.major, self.minor) >= (major, minor)

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"


NEWEST_KUEUE = Release(0, 20)
"""The newest Kueue release that qcheck knows: the one in development."""


class KaiPolicy(Value):
    """Facts about KAI Scheduler that no manifest contains; None if the manifests or KAI's defaults apply.

    With `full_hierarchy` off, departments take no part in the division. Names and labels replace KAI's defaults.
    """

    version: Release = Release(0, 17)
    gpu_sharing: bool | None = None
    full_hierarchy: bool | None = None
    scheduler_name: str | None = None
    queue_label: str | None = None
    node_pool_label: str | None = None

    @property
    def release(self) -> tuple[int, int]:
        return self.version.major, self.version.minor


class VolcanoPolicy(Value):
    """Facts about Volcano that no manifest contains. `scheduler`: the file with its scheduler's configuration."""

    version: Release = Release(1, 15)
    scheduler: str | None = None

    @property
    def release(self) -> tuple[int, int]:
        return self.version.major, self.version.minor


class Policy(Value):
    """A cluster's settings as far as its model needs them.

    `autoscaled`: the size at which an autoscaled pool counts; None, if not set, means max. `complete`: an object that
    was not read does not exist. `prices`: per node and hour, by machine type.
    """

    kueue: Release = Release()
    complete: bool = True
    autoscaled: Counted | None = None
    reserves: tuple[Reserve, ...] = ()
    virtual_resources: tuple[str, ...] = ()
    shapes: tuple[Shape, ...] = ()
    reserved_queues: tuple[str, ...] = ()
    shared_queues: tuple[str, ...] = ()
    shares: dict[str, int] = {}
    profile: str | None = None
    prices: dict[str, Fraction] = {}
    kai: KaiPolicy = KaiPolicy()
    volcano: VolcanoPolicy = VolcanoPolicy()

    def is_virtual(self, resource: str) -> bool:
        """Return whether the settings declare `resource` as having no nodes behind it (a licence, a token)."""
        return matches_any(resource, self.virtual_resources)

    def is_reserved(self, queue: str) -> bool:
        return matches_any(queue, self.reserved_queues)

    def is_shared(self, queue: str) -> bool:
        return matches_any(queue, self.shared_queues)


def matches_any(name: str, patterns: tuple[str, ...]) -> bool:
    """Return whether `name` matches any of the glob patterns."""
    if not patterns:
        return False
    from fnmatch import fnmatchcase  # 0.1 ms

    return any(fnmatchcase(name, p) for p in patterns)
