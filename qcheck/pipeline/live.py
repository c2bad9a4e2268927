"""A live cluster as one more source of files: one for each kind, with YAML documents as a snapshot has them."""

from __future__ import annotations

from qcheck.cluster.unread import Unread
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.documents.yaml_text import to_yaml
from qcheck.kinds.snapshot.needed import needed
from qcheck.kinds.snapshot.redacted import redacted
from qcheck.sources import kubectl
from qcheck.sources.files import LIVE, Content, Found, NotLoaded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qcheck.pipeline.read import Watch
    from qcheck.sources.kubectl import Asked, Object


class Live(Value):
    """The objects read from a cluster, by kind, as a snapshot keeps them, and what could not be read."""

    objects: dict[str, list[Object]]
    failed: tuple[NotLoaded, ...] = ()

    def found(self) -> Found:
        """The same as readable files: `live:ClusterQueue` holds the cluster's ClusterQueues."""
        contents = [
            Content(f"{LIVE}:{kind}", to_yaml(objects).encode("utf-8", "replace"))
            for kind, objects in self.objects.items()
        ]
        return Found(contents, list(self.failed))

    def unread(self) -> list[Unread]:
        """The kinds that could not be listed, as what may hold any object of them."""
        kinds = [(n.path, n.path.partition(":")[2]) for n in self.failed]
        return [Unread(path, frozenset({kind}) if kind else None) for path, kind in kinds]


def read_live(context: str, watch: Watch, wanted: Sequence[Asked] = kubectl.EVERYTHING) -> Live:
    """The cluster that a kubeconfig context names; "" is the current one."""
    listed = kubectl.list_cluster(context, wanted, watch)
    return Live(needed(listed.objects), listed.failed)


def snapshot_text(live: Live, redact: bool = False) -> str:
    """A cluster as one file. With `redact` its names are replaced, the same one always by the same."""
    objects = redacted(live.objects) if redact else live.objects
    head = [f"# qcheck snapshot: {sum(map(len, objects.values()))} objects"]
    head += [f"# not read: {kind}" for kind in sorted({n.path for n in live.failed})]
    return "\n".join([*head, to_yaml(o for found in objects.values() for o in found)])
