"""A starter qcheck.yaml for a repository: every guess is marked, and no rule is disabled."""

from __future__ import annotations

from qcheck import DOCS
from qcheck.cluster.policy import Release
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.documents.commented_yaml import YamlEntry, comment, to_yaml

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.kueue import ClusterQueue
    from qcheck.cluster.nodes import NodePool
    from qcheck.settings import Render

SCHEMA = (
    "yaml-language-server: $schema=https://raw.githubusercontent.com/qcheck-dev/qcheck/main/docs/schemas/config.json"
)
"""The line by which editors find the schema."""


class Proposed(Value):
    """A cluster to propose: patterns of its files and its rendered sources. Without a name it is the only one."""

    name: str
    include: tuple[str, ...]
    renders: tuple[Render, ...]


def starter(cluster: Cluster, proposed: Sequence[Proposed], missing_tools: Collection[str] = ()) -> str:
    """Return the text of the file. `cluster` is everything that was found, as if it were one cluster.

    The renders of missing tools are written as comments.
    """
    entries = [*_basics(cluster), *_clusters(proposed, missing_tools), *_capacity(cluster.pools)]
    return comment([SCHEMA]) + to_yaml(entries) + comment([*_left_out(proposed, missing_tools), *_examples(cluster)])


def _basics(cluster: Cluster) -> Iterator[YamlEntry]:
    above = (
        f"Settings for qcheck, explained in {DOCS}/settings.md; `qcheck schema config` prints their JSON Schema.",
        f"Written by `qcheck init` from what it found ({_found(cluster)}).",
    )
    yield YamlEntry("version", 1, above=above)
    others = list(_other_releases(cluster))
    if cluster.queues or cluster.flavors or cluster.install or not others:
        installed = cluster.install.release if cluster.install else None
        release = ".".join(map(str, installed)) if installed else str(Release())
        yield YamlEntry("kueue", release, beside="the release that the clusters run")
    yield YamlEntry("complete", True, beside="false: objects may also be defined outside this repository")
    yield from others


def _other_releases(cluster: Cluster) -> Iterator[YamlEntry]:
    """Yield the releases of KAI and Volcano, if their queues were found."""
    others = (
        ("kai", "KAI", cluster.kai_queues, cluster.policy.kai.version),
        ("volcano", "Volcano", cluster.volcano_queues, cluster.policy.volcano.version),
    )
    for key, title, queues, version in others:
        if queues:
            yield YamlEntry(
                key, {"version": str(version)}, above=("", f"The release of {title} that the clusters run.")
            )


def _found(cluster: Cluster) -> str:
    schedulers = {"KAI queues": len(cluster.kai_queues), "Volcano queues": len(cluster.volcano_queues)}
    counts = {
        "cluster queues": len(cluster.queues),
        "flavors": len(cluster.flavors),
        **{what: count for what, count in schedulers.items() if count},
        "node pools": len(cluster.pools),
        "nodes": len(cluster.nodes),
        "workloads": len(cluster.workloads),
    }
    return ", ".join(f"{what}: {count}" for what, count in counts.items())


def _clusters(proposed: Sequence[Proposed], missing: Collection[str]) -> Iterator[YamlEntry]:
    if all(p.name for p in proposed):
        above = (
            "",
            "The environments found in directories, values and tfvars. Check the names, the patterns and what is",
            "rendered: a file may belong to several clusters.",
        )
        yield YamlEntry("clusters", {p.name: _cluster(p, missing) for p in proposed}, above=above)
        return
    renders = [_written(r) for p in proposed for r in p.renders if r.tool not in missing]
    if renders:
        note = "Sources to render with the installed kustomize and helm, instead of reading them directly."
        yield YamlEntry("render", renders, above=("", note))


def _cluster(proposed: Proposed, missing: Collection[str]) -> dict[str, object]:
    renders = [_written(r) for r in proposed.renders if r.tool not in missing]
    include = {"include": list(proposed.include)} if proposed.include else {}
    return {**include, **({"render": renders} if renders else {})}


def _written(render: Render) -> dict[str, object]:
    named = {"release": render.release, "namespace": render.namespace}
    values = {"values": list(render.values)} if render.values else {}
    return {render.tool: render.path, **values, **{key: name for key, name in named.items() if name}}


def _left_out(proposed: Sequence[Proposed], missing: Collection[str]) -> Iterator[str]:
    """Yield, as comments, the renders that need a missing tool."""
    for each in proposed:
        renders = [_written(r) for r in each.renders if r.tool in missing]
        if renders:
            are = "are" if len(missing) > 1 else "is"
            yield from ("", f"Not rendered, because {' and '.join(sorted(missing))} {are} not installed{_of(each)}:")
            yield from to_yaml([YamlEntry("render", renders)]).splitlines()


def _of(proposed: Proposed) -> str:
    return f" ({proposed.name})" if proposed.name else ""


def _capacity(pools: Sequence[NodePool]) -> Iterator[YamlEntry]:
    autoscaled = [pool for pool in pools if pool.is_autoscaled and not pool.count_unknown]
    if autoscaled:
        which = ", ".join(map(_range, autoscaled))
        above = (
            "",
            f"autoscaled: max, min or desired; how these pools count: {which}",
            "max accepts quota that waits for new nodes. Remove it to get warnings about such quota (QC102).",
        )
        yield YamlEntry("capacity", {"autoscaled": "max"}, above=above)


def _examples(cluster: Cluster) -> Iterator[str]:
    """Yield suggested lines: for unknown figures, for a likely pattern, and for known findings."""
    unknown = [pool for pool in cluster.pools if pool.why_unknown and ".tfvars" not in pool.why_unknown]
    if unknown:
        yield from ("", "Unknown, so quota on them cannot be checked:")
        yield from (f"  {pool.name}: {pool.why_unknown}" for pool in unknown)
    if any(not pool.count_unknown for pool in unknown):
        allocatable = {"cpu": "96", "memory": "900Gi", "nvidia.com/gpu": 8}
        yield from to_yaml([YamlEntry("instanceTypes", {"the.type": {"allocatable": allocatable}})]).splitlines()
    yield from _queues(cluster.queues)
    yield from ("", "Known findings that do not fail the gate; `qcheck baseline write` creates the file.")
    yield from to_yaml([YamlEntry("baseline", "qcheck-baseline.json")]).splitlines()


def _range(pool: NodePool) -> str:
    return f"{pool.name} ({pool.minimum} to {'any number' if pool.maximum is None else pool.maximum})"


def _queues(queues: Sequence[ClusterQueue]) -> Iterator[str]:
    """Yield queues that look reserved (they own quota and may not borrow) or shared (they own none)."""
    reserved = [q.name for q in queues if any(c.nominal and c.borrowing_limit == 0 for c in q.quotas())]
    shared = [q.name for q in queues if q.parent and not any(c.nominal for c in q.quotas())]
    if reserved and shared:
        yield from (
            "",
            "This looks like the reserved/shared pattern. These lines enable its rules (QC412 and others):",
        )
        yield from to_yaml([YamlEntry("queues", {"reserved": reserved, "shared": shared})]).splitlines()
