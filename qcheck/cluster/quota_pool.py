"""A quota pool: the set of nodes that some quota is stated for, whichever scheduler divides it."""

from __future__ import annotations

from enum import StrEnum

from qcheck.cluster.labels import Labels, Taint, Toleration
from qcheck.cluster.place import Place
from qcheck.cluster.value import Value


class SchedulerName(StrEnum):
    """The schedulers whose queues are judged."""

    KUEUE = "kueue"
    KAI = "kai"
    VOLCANO = "volcano"


def pool_name(key: str) -> str:
    """Return how a pool's scheduler calls it: keys are names, after the scheduler's name and a slash for all but Kueue."""
    return key.rpartition("/")[2]


def is_flavor(key: str) -> bool:
    """Return whether the key of a pool is the name of a flavor of Kueue."""
    return "/" not in key


class QuotaPool(Value):
    """The nodes that carry all of `node_labels` and none of the keys in `absent_labels`.

    * `key` is unique in a cluster, `name` is how its scheduler calls it, and `word` is what it is called: a flavor (Kueue),
      a shard (KAI) or a node group (Volcano).
    * `tolerations` are added to the pods that get the pool; with `node_taints` admission asks for a toleration.
    * `levels`: labels of its topology, from coarse to fine. `has_topology`: admission places pods on its nodes itself.
    * `labels_place` is where its labels are written.
    """

    key: str
    name: str
    word: str
    scheduler: SchedulerName
    node_labels: Labels
    place: Place
    labels_place: Place
    absent_labels: tuple[str, ...] = ()
    node_taints: tuple[Taint, ...] = ()
    tolerations: tuple[Toleration, ...] = ()
    levels: tuple[str, ...] = ()
    has_topology: bool = False

    @property
    def title(self) -> str:
        """The pool with what it is, such as `flavor h100`."""
        return f"{self.word} {self.name}"
