"""A live cluster as another source of files: one per kind, with YAML documents as in a snapshot."""

from __future__ import annotations

from qcheck.cluster.problems import Unread
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.documents.load import SNAPSHOT
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
    """The objects read from a cluster, by kind, as in a snapshot, and what could not be read."""

    objects: dict[str, list[Object]]
    failed: tuple[NotLoaded, ...] = ()

    def found(self) -> Found:
        """Return the same as readable files: `live:ClusterQueue` contains the cluster's ClusterQueues."""
        contents = [
            Content(f"{LIVE}:{kind}", to_yaml(objects).encode("utf-8", "replace"))
            for kind, objects in self.objects.items()
        ]
        return Found(contents, list(self.failed))

    def unread(self) -> list[Unread]:
        """Return the kinds that could not be listed as unread inputs."""
        kinds = [(n.path, n.path.partition(":")[2]) for n in self.failed]
        return [Unread(path, frozenset({kind}) if kind else None) for path, kind in kinds]


def read_live(context: str, watch: Watch, wanted: Sequence[Asked] = kubectl.EVERYTHING) -> Live:
    """Return the cluster of a kubeconfig context; "" is the current one."""
    listed = kubectl.list_cluster(context, wanted, watch)
    return Live(needed(listed.objects), listed.failed)


def snapshot_text(live: Live, redact: bool = False) -> str:
    """Return a cluster as one file. With `redact`, names are replaced consistently."""
    objects = redacted(live.objects) if redact else live.objects
    head = [f"{SNAPSHOT}{sum(map(len, objects.values()))} objects"]
    head += [f"# not read: {kind}" for kind in sorted({n.path for n in live.failed})]
    return "\n".join([*head, to_yaml(o for found in objects.values() for o in found)])
