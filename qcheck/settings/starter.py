"""A first qcheck.yaml from what a repository holds: every guess is marked as one, and nothing is switched off."""

from __future__ import annotations

from qcheck.cluster.policy import Release
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.documents.write import Entry, comment, to_yaml

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.kueue import ClusterQueue
    from qcheck.cluster.nodes import NodePool

DUPLICATE = "duplicate-object"


def starter(cluster: Cluster) -> str:
    """The text of the file. `cluster` is everything that was found, as if it were one cluster."""
    entries = [*_basics(cluster), *_clusters(cluster), *_capacity(cluster.pools)]
    return to_yaml(entries) + comment(_examples(cluster))


def _basics(cluster: Cluster) -> Iterator[Entry]:
    above = (
        "Settings of qcheck. docs/settings.md explains them, `qcheck schema config` prints their JSON Schema.",
        f"Written by `qcheck init` from what it found ({_found(cluster)}).",
    )
    yield Entry("version", 1, above=above)
    yield Entry("kueue", str(Release()), beside="the release that the clusters run")
    yield Entry("complete", True, beside="false: objects may also be defined outside of this repository")


def _found(cluster: Cluster) -> str:
    counts = {
        "cluster queues": len(cluster.queues),
        "flavors": len(cluster.flavors),
        "node pools": len(cluster.pools),
        "nodes": len(cluster.nodes),
        "workloads": len(cluster.workloads),
    }
    return ", ".join(f"{what}: {count}" for what, count in counts.items())


def _clusters(cluster: Cluster) -> Iterator[Entry]:
    folders = cluster_folders(cluster)
    if folders:
        above = (
            "",
            "The same objects stand in several folders, so these are taken for clusters. Check the names and paths,",
            "and add to each what it shares with others, such as node pools: a file may belong to several clusters.",
        )
        included = {folder.rsplit("/", 1)[-1]: {"include": [f"{folder}/**"]} for folder in folders}
        yield Entry("clusters", included, above=above)


def cluster_folders(cluster: Cluster) -> list[str]:
    """The folders that tell objects of the same name apart: where the paths of two of them part."""
    folders: set[str] = set()
    for problem in cluster.problems:
        if problem.code == DUPLICATE:
            for other in problem.related:
                folders |= _parting(problem.place.origin.path, other.origin.path)
    return sorted(folders)


def _parting(one: str, other: str) -> set[str]:
    """`a/x/q.yaml` and `a/y/q.yaml` part at `a/x` and `a/y`; nothing where a file itself is where they part."""
    first, second = one.split("/"), other.split("/")
    for at, (left, right) in enumerate(zip(first, second, strict=False)):
        if left != right:
            whole = at + 1 in (len(first), len(second))
            return set() if whole else {"/".join(first[: at + 1]), "/".join(second[: at + 1])}
    return set()


def _capacity(pools: Sequence[NodePool]) -> Iterator[Entry]:
    autoscaled = [pool for pool in pools if pool.is_autoscaled]
    if autoscaled:
        above = ("", f"autoscaled: max, or min, or desired: what these count as: {', '.join(map(_range, autoscaled))}")
        yield Entry("capacity", {"autoscaled": "max"}, above=above)


def _examples(cluster: Cluster) -> Iterator[str]:
    """Lines to put in: what is not known, what looks like a pattern, and where known findings go."""
    unknown = [pool for pool in cluster.pools if pool.why_unknown]
    if unknown:
        yield from ("", "Not known, so nothing can be said about quota on them:")
        yield from (f"  {pool.name}: {pool.why_unknown}" for pool in unknown)
        allocatable = {"cpu": "96", "memory": "900Gi", "nvidia.com/gpu": 8}
        yield from to_yaml([Entry("instanceTypes", {"the.type": {"allocatable": allocatable}})]).splitlines()
    yield from _queues(cluster.queues)
    yield from ("", "Findings that are known and shall not fail the gate; `qcheck baseline write` makes the file.")
    yield from to_yaml([Entry("baseline", "qcheck-baseline.json")]).splitlines()


def _range(pool: NodePool) -> str:
    return f"{pool.name} ({pool.minimum} to {'any number' if pool.maximum is None else pool.maximum})"


def _queues(queues: Sequence[ClusterQueue]) -> Iterator[str]:
    """Queues that own quota and may not borrow look reserved, those that own none look shared."""
    reserved = [q.name for q in queues if any(c.nominal and c.borrowing_limit == 0 for c in q.quotas())]
    shared = [q.name for q in queues if q.parent and not any(c.nominal for c in q.quotas())]
    if reserved and shared:
        yield from (
            "",
            "It looks like the reserved/shared pattern. With these lines its rules are held (QC412 and others):",
        )
        yield from to_yaml([Entry("queues", {"reserved": reserved, "shared": shared})]).splitlines()
