"""A quota pool: the set of nodes for which a quota is stated, whichever scheduler divides it."""

from __future__ import annotations

from enum import StrEnum

from qcheck.cluster.labels import Labels, Taint, Toleration
from qcheck.cluster.place import Place
from qcheck.cluster.value import Value


class SchedulerName(StrEnum):
    """The supported schedulers."""

    KUEUE = "kueue"
    KAI = "kai"
    VOLCANO = "volcano"


def pool_name(key: str) -> str:
    """Return a pool's name in its scheduler: its key without `kai/` or `volcano/`; Kueue's keys have no prefix."""
    return key.rpartition("/")[2]


def is_flavor(key: str) -> bool:
    """Return whether a pool's key is the name of a Kueue flavor."""
    return "/" not in key


class QuotaPool(Value):
    """The nodes that carry all of `node_labels` and none of the keys in `absent_labels`.

    * `key` is unique in a cluster, `name` is the pool's name in its scheduler, and `word` is the scheduler's term:
      flavor (Kueue), shard (KAI) or node group (Volcano).
    * `tolerations` are added to the pods that get the pool; admission requires tolerations of `node_taints`.
    * `levels`: labels of its topology, from coarse to fine. `has_topology`: admission itself assigns pods to nodes.
    * `labels_place` is the place of its labels.
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
        """The pool's term and name, such as `flavor h100`."""
        return f"{self.word} {self.name}"
