"""Differences between a running cluster and its files: objects on one side only, fields, nodes against pools."""

from __future__ import annotations

from qcheck.cluster.labels import Taint
from qcheck.cluster.nodes import Certainty, Machine, Node, NodePool
from qcheck.cluster.resources import is_compute
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.supply.pool_members import CONTROL_PLANE, declared, likely_pool_of_each_node

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.objects import ObjectId
    from qcheck.cluster.place import Place, Route

    Plain = dict[str, object]

NAMED_BY = ("name", "key", "nodeLabel", "topologyKey")
"""Fields that identify the items of a list."""
UNORDERED = frozenset(
    {"resources", "coveredResources", "onFlavors", "admissionChecks", "tolerations", "nodeTaints", "clusters",
     "managedResources", "resourceGroups", "containers", "initContainers"}
)  # fmt: skip
"""Lists whose order does not matter."""
HEALTH = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/", "node.cilium.io/", "ToBeDeletedByClusterAutoscaler",
          "DeletionCandidateOfClusterAutoscaler", "karpenter.sh/disrupted", "karpenter.sh/unregistered")  # fmt: skip
"""Taints that depend on the health of a node."""


class DriftObject(Value):
    """One object on one side: `data` in comparable form, and its `place`."""

    id: ObjectId
    place: Place
    data: Plain


class Field(Value):
    """A field that differs: its value in the file and in the cluster; None if it is absent."""

    route: Route
    file: object
    live: object


class Changed(Value):
    """An object on both sides, and the fields that differ. `place` is in the file."""

    id: ObjectId
    place: Place
    fields: tuple[Field, ...]


class NodeDifference(Value):
    """A figure of a pool that differs from the cluster's nodes.

    `pool` is None for nodes of no pool; `nodes` names the nodes that differ, none if their number differs.
    """

    pool: str | None
    place: Place | None
    field: str
    file: object
    live: object
    nodes: tuple[str, ...] = ()


class Drift(Value):
    """All differences, and why some things could not be compared."""

    only_in_files: tuple[DriftObject, ...] = ()
    only_live: tuple[DriftObject, ...] = ()
    changed: tuple[Changed, ...] = ()
    nodes: tuple[NodeDifference, ...] = ()
    not_compared: tuple[str, ...] = ()
    unjudged: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        return len(self.only_in_files) + len(self.only_live) + len(self.changed) + len(self.nodes)

    @property
    def exit_code(self) -> int:
        """0: no differences; 1: differences; 2: could not judge."""
        return 2 if self.unjudged else 1 if self.count else 0


def changed(file: DriftObject, live: DriftObject) -> Changed | None:
    """Return the differences of an object; None if there are none."""
    fields = tuple(_differences(file.data, live.data, ()))
    return Changed(file.id, file.place, fields) if fields else None


def _differences(file: object, live: object, route: Route) -> Iterator[Field]:
    if isinstance(file, dict) and isinstance(live, dict):
        for key in sorted({*file, *live}):
            yield from _differences(file.get(key), live.get(key), (*route, key))
    elif isinstance(file, list) and isinstance(live, list):
        yield from _of_lists(file, live, route)
    elif file != live:
        yield Field(route, file, live)


def _of_lists(file: list[object], live: list[object], route: Route) -> Iterator[Field]:
    ours, theirs = _by_name(file), _by_name(live)
    if ours is None or theirs is None:
        yield from _of_plain_lists(file, live, route)
        return
    for name, (at, item) in ours.items():
        if name not in theirs:
            yield Field((*route, at), item, None)
        else:
            yield from _differences(item, theirs[name][1], (*route, at))
    for name, (_, item) in theirs.items():
        if name not in ours:
            yield Field((*route, len(file)), None, item)
    both = [name for name in ours if name in theirs]
    if not _is_unordered(route) and both != [name for name in theirs if name in ours]:
        yield Field(route, list(ours), list(theirs))


def _of_plain_lists(file: list[object], live: list[object], route: Route) -> Iterator[Field]:
    is_same = sorted(map(repr, file)) == sorted(map(repr, live)) if _is_unordered(route) else file == live
    if is_same:
        return
    if len(file) == len(live) and all(isinstance(item, dict) for item in (*file, *live)):
        for at, (ours, theirs) in enumerate(zip(file, live, strict=True)):
            yield from _differences(ours, theirs, (*route, at))
    else:
        yield Field(route, file, live)


def _is_unordered(route: Route) -> bool:
    return bool(route) and route[-1] in UNORDERED


def _by_name(items: list[object]) -> dict[str, tuple[int, object]] | None:
    """Return the items of a list by name, with their positions; None if the names are not unique."""
    found: dict[str, tuple[int, object]] = {}
    for at, item in enumerate(items):
        name = _name_of(item)
        if name is None or name in found:
            return None
        found[name] = (at, item)
    return found


def _name_of(item: object) -> str | None:
    if isinstance(item, str):
        return item
    if not isinstance(item, dict):
        return None
    covered = item.get("coveredResources")
    if isinstance(covered, list):
        return ",".join(sorted(map(str, covered)))
    return next((str(item[key]) for key in NAMED_BY if isinstance(item.get(key), str)), None)


def node_differences(cluster: Cluster) -> tuple[NodeDifference, ...]:
    """Return the differences between a running cluster's nodes and the pools of its files."""
    owners = likely_pool_of_each_node(cluster)
    found: list[NodeDifference] = []
    for pool in cluster.pools:
        members = [n for n in cluster.nodes if owners.get(n.name) is pool]
        found += _count(pool, len(members))
        found += _grouped(pool, members)
    return (*found, *(_astray(cluster, owners) if cluster.pools else ()))


def _count(pool: NodePool, live: int) -> Iterator[NodeDifference]:
    is_within = pool.minimum <= live and (pool.maximum is None or live <= pool.maximum)
    if pool.count_unknown or is_within:
        return
    at_most = "" if pool.maximum is None else f" to {pool.maximum}"
    file: object = pool.minimum if pool.minimum == pool.maximum else f"{pool.minimum}{at_most or ' or more'}"
    yield NodeDifference(pool=pool.name, place=pool.count_place, field="count", file=file, live=live)


def _grouped(pool: NodePool, members: Iterable[Node]) -> list[NodeDifference]:
    """Return the differences of a pool's nodes; nodes with the same difference are grouped."""
    alike: dict[tuple[str, object, object], list[str]] = {}
    for node in members:
        for field, file, live in _of_node(pool, node):
            alike.setdefault((field, file, live), []).append(node.name)
    return [
        NodeDifference(pool=pool.name, place=pool.place, field=field, file=file, live=live, nodes=tuple(sorted(names)))
        for (field, file, live), names in alike.items()
    ]


def _of_node(pool: NodePool, node: Node) -> Iterator[tuple[str, object, object]]:
    for key, value in sorted(declared(pool).items()):
        if node.node_labels.get(key) != value:
            yield f"labels.{key}", value, node.node_labels.get(key)
    if not pool.taints_unknown:
        yield from _taints(pool.taints, node.taints)
    machine = _closest(pool.machines, node)
    if machine is not None:
        yield from _allocatable(machine, node)


def _taints(file: Sequence[Taint], live: Sequence[Taint]) -> Iterator[tuple[str, object, object]]:
    ours, theirs = _by_key(file), _by_key(live)
    for key in sorted({*ours, *theirs}):
        if ours.get(key) != theirs.get(key):
            yield f"taints.{key}", ours.get(key), theirs.get(key)


def _by_key(taints: Iterable[Taint]) -> dict[str, str]:
    lasting = [t for t in taints if not t.key.startswith(HEALTH)]
    return {t.key: ", ".join(sorted(str(o) for o in lasting if o.key == t.key)) for t in lasting}


def _closest(machines: Sequence[Machine], node: Node) -> Machine | None:
    """Return the machine of a pool that a node resembles most."""

    def differing(machine: Machine) -> int:
        return len(list(_allocatable(machine, node)))

    return min(machines, key=differing, default=None)


def _allocatable(machine: Machine, node: Node) -> Iterator[tuple[str, object, object]]:
    """Yield differing figures that are known, and accelerators that no definition has."""
    seen = {r for r, amount in node.allocatable.items() if amount and is_compute(r)}
    known = {r for r in machine.allocatable if machine.sure.get(r) != Certainty.ESTIMATED}
    for resource in sorted(known | (seen - machine.unknown)):
        file, live = machine.allocatable.get(resource, 0), node.allocatable.get(resource, 0)
        if file != live:
            yield f"allocatable.{resource}", file, live


def _astray(cluster: Cluster, owners: Mapping[str, NodePool]) -> Iterator[NodeDifference]:
    """Yield nodes with accelerators that belong to no pool of the files."""
    for node in cluster.nodes:
        devices = {r: a for r, a in node.allocatable.items() if a and is_compute(r)}
        is_control_plane = any(label in node.node_labels for label in CONTROL_PLANE)
        if node.name not in owners and devices and not is_control_plane:
            amounts = ", ".join(f"{amount} {resource}" for resource, amount in sorted(devices.items()))
            yield NodeDifference(pool=None, place=None, field="node", file=None, live=amounts, nodes=(node.name,))
