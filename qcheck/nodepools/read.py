"""Reads every node pool and node in some objects and HCL files."""

from __future__ import annotations

from importlib import import_module

from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.nodepools.formats import CLUSTER_POLICY, CONFIG_MAP, NODE, PLAIN_READERS, READERS, REFERRED, TEMPLATES
from qcheck.nodepools.pool import PoolContext

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from qcheck.cluster.nodes import Machine, Node, NodePool
    from qcheck.cluster.problems import Problem
    from qcheck.documents.cursor import Cursor
    from qcheck.documents.text import Text
    from qcheck.nodepools.manifest_text import BrokenText


class PoolsRead(Value):
    """Every pool and node in some inputs, and the problems of reading them.

    `applied` are other objects that Terraform applies, each with whether it certainly does; `broken` are faults of
    their text.
    """

    pools: tuple[NodePool, ...]
    nodes: tuple[Node, ...]
    problems: tuple[Problem, ...]
    applied: tuple[tuple[Cursor, bool], ...]
    broken: tuple[BrokenText, ...]


def read(roots: Iterable[Cursor], own: Mapping[str, Machine], hcl: Sequence[Text] = ()) -> PoolsRead:
    """Return the pools and nodes in some objects and HCL files; `own` are the machine types in the settings."""
    context = PoolContext(own)
    nodes: list[Cursor] = []
    mine: list[tuple[str, Cursor]] = []
    plugin: list[Cursor] = []
    for root in roots:
        group, kind = root.text_at("apiVersion").rpartition("/")[0], root.text_at("kind")
        if (group, kind) == NODE:
            nodes.append(root)
        elif (group, kind) in READERS:
            mine.append((READERS[group, kind], root))
            context.add(group, kind, root)
        elif (group, kind) in REFERRED or group in TEMPLATES:
            context.add(group, kind, root)
        elif (group, kind) in (CONFIG_MAP, CLUSTER_POLICY):
            plugin.append(root)
        elif not kind:
            plugin.append(root)
            mine += [(module, root) for _, module in PLAIN_READERS]
    pools = [
        pool for module, root in mine for pool in import_module(f"qcheck.nodepools.{module}").read_pools(root, context)
    ]
    problems: list[Problem] = []
    if any(text.path.endswith((".tf", ".tf.json")) for text in hcl):
        from qcheck.nodepools.terraform.read import read_configurations  # 9 ms

        more, problems = read_configurations(hcl, context)
        pools += more
    if classes := [root for module, root in mine if module == "gke_compute_class"]:
        from qcheck.nodepools.gke_compute_class import with_classes  # 0.4 ms

        pools = with_classes(classes, pools)
    if plugin:
        from qcheck.nodepools.nvidia_device_plugin import shared  # 0.4 ms

        pools = shared(plugin, pools)
    return PoolsRead(
        pools=tuple(pools),
        nodes=_nodes(nodes),
        problems=tuple(problems),
        applied=tuple(context.applied),
        broken=tuple(context.broken),
    )


def _nodes(roots: Sequence[Cursor]) -> tuple[Node, ...]:
    if not roots:
        return ()
    from qcheck.nodepools.kubernetes_nodes import read_node  # 0.1 ms

    return tuple(map(read_node, roots))
