"""NVIDIA's device plugin and MIG manager: the resources that nodes advertise instead of their GPUs.

Configurations are read from ConfigMaps (one per key), from the values of the charts of the GPU operator and the device
plugin, and from the operator's ClusterPolicy. The labels `nvidia.com/device-plugin.config` and `nvidia.com/mig.config`,
or a default, select a node's configuration. Source: the documentation of k8s-device-plugin, mig-parted and the GPU
operator.
"""

from __future__ import annotations

import re

from qcheck.cluster.mig import profiles
from qcheck.cluster.nodes import Certainty
from qcheck.cluster.resources import GPU
from qcheck.cluster.value import TYPE_CHECKING, Value, replace
from qcheck.documents.cursor import root as root_of
from qcheck.nodepools.figures import place

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from qcheck.cluster.nodes import Machine, NodePool
    from qcheck.cluster.place import Place
    from qcheck.documents.cursor import Cursor

PLUGIN_LABEL, MIG_LABEL = "nvidia.com/device-plugin.config", "nvidia.com/mig.config"
KARPENTER = "Karpenter"
"""The autoscaler that counts nodes by what they advertise."""
EVERY = re.compile(r"all-(\d+g\.\d+gb)")


class Sharing(Value):
    """`sharing` of a device-plugin configuration: replicas by resource, renaming, and whether a pod may request only one."""

    place: Place
    replicas: dict[str, int]
    renamed: bool
    one_per_pod: bool = False


class Plugin:
    """All configurations that were read for one cluster.

    `is_unselected`: they share GPUs, but no pool and no operator setting selects one, so nodes may use any of them.
    """

    def __init__(self) -> None:
        self.sharing: dict[str, Sharing] = {}
        self.layouts: dict[str, dict[str, int] | None] = {}
        self.default: str | None = None
        self.is_configured = False
        self.is_unselected = False
        self.strategy: str | None = None

    def add(self, root: Cursor) -> None:
        """Add a ConfigMap, a ClusterPolicy or the values of a chart; ignore anything else."""
        kind = root["kind"].text()
        if kind == "ConfigMap":
            self._texts(root["data"])
            return
        spec = root["spec"] if kind == "ClusterPolicy" else root
        device_plugin = spec["devicePlugin"]
        self.is_configured = self.is_configured or device_plugin["config"].exists or root["config"].exists
        self.strategy = spec["mig"]["strategy"].text() or root["migStrategy"].text() or self.strategy
        self.default = device_plugin["config"]["default"].text() or root["config"]["default"].text() or self.default
        for texts in (device_plugin["config"]["data"], root["config"]["map"], *_manager_texts(spec)):
            self._texts(texts)
        maps = root["config"]["map"]
        if self.default is None and len(list(maps.mapping())) == 1:
            self.default = next(key for key, _ in maps.mapping())

    def _texts(self, at: Cursor) -> None:
        """Add configurations by key, each a YAML text (or, in chart values, its data)."""
        for key, each in at.mapping():
            for config in _parsed(each):
                if config["sharing"].exists:
                    self.sharing[key] = _sharing(config["sharing"])
                for name, entries in config["mig-configs"].mapping():
                    self.layouts[name] = _devices(entries)

    def apply(self, pool: NodePool) -> NodePool:
        """Return the pool with the resources that its nodes advertise."""
        if self.is_unselected and any(_counts_gpus(m) for m in pool.machines):
            return self._undecided(pool)
        mig = pool.labels.get(MIG_LABEL)
        config = self.sharing.get(pool.labels.get(PLUGIN_LABEL, self.default or ""))
        machines = tuple(self._applied(m, mig, config) for m in pool.machines)
        if machines == pool.machines:
            return pool
        shared = replace(pool, machines=machines)
        return _as_karpenter_counts(pool, shared) if pool.autoscaler == KARPENTER else shared

    def _undecided(self, pool: NodePool) -> NodePool:
        """Return the pool with an uncertain number of GPUs, estimated from the configuration if there is only one."""
        name, sharing = next(iter(self.sharing.items()))
        why = f"its GPUs may be shared (no node label and no operator setting selects the configuration {name})"
        only = sharing if len(self.sharing) == 1 else None
        machines = tuple(_probably(m, only) if _counts_gpus(m) else m for m in pool.machines)
        named = {} if pool.why_unknown else {"why_unknown": why, "unknown_place": sharing.place}
        return replace(pool, machines=machines, **named)

    def _applied(self, machine: Machine, mig: str | None, config: Sharing | None) -> Machine:
        gpus = machine.allocatable.get(GPU, 0)
        if not gpus or machine.physical is not None:
            return machine
        cut = self._cut(machine, mig, gpus) if mig else machine
        return _multiplied(cut, config, gpus) if config is not None else cut

    def _cut(self, machine: Machine, name: str, gpus: int) -> Machine:
        """Return the machine with MIG devices under the strategy, `single` unless the operator's settings differ."""
        devices = self._of_layout(name, machine)
        if devices == {} or self.strategy == "none":
            return machine
        if devices is None:
            return replace(machine, unknown=machine.unknown | {GPU})
        rest = {r: n for r, n in machine.allocatable.items() if r != GPU}
        if self.strategy == "mixed":
            made = {f"nvidia.com/mig-{p.replace('+', '.')}": n * gpus for p, n in devices.items()}
        else:
            made = {GPU: sum(devices.values()) * gpus}
        physical = dict.fromkeys(made, gpus)
        return replace(
            machine,
            allocatable={**rest, **made},
            sure={**machine.sure, **dict.fromkeys(made, Certainty.DECLARED)},
            physical=physical,
        )

    def _of_layout(self, name: str, machine: Machine) -> dict[str, int] | None:
        """Return instances per GPU; empty for undivided GPUs, None if they are unknown."""
        if name in self.layouts:
            return self.layouts[name]
        if name == "all-disabled":
            return {}
        offered = profiles(machine.model or "", None)
        match = EVERY.fullmatch(name)
        return {match[1]: offered[match[1]]} if match and match[1] in offered else None


def _counts_gpus(machine: Machine) -> bool:
    """Return whether a machine's GPUs are taken from its type; nodes and declared pools state what they advertise."""
    return bool(machine.allocatable.get(GPU)) and machine.sure.get(GPU) is not Certainty.DECLARED


def _probably(machine: Machine, config: Sharing | None) -> Machine:
    """Return the machine with the replicas of a configuration as estimates; its GPUs are unknown if they may be renamed."""
    shared = machine if config is None else _multiplied(machine, config, machine.allocatable[GPU])
    changed = {r for r, n in shared.allocatable.items() if machine.allocatable.get(r) != n}
    is_open = config is None or GPU not in shared.allocatable
    sure = {**shared.sure, **dict.fromkeys(changed, Certainty.ESTIMATED)}
    return replace(shared, sure=sure, unknown=shared.unknown | {GPU} if is_open else shared.unknown)


def shared(roots: Iterable[Cursor], pools: Iterable[NodePool]) -> list[NodePool]:
    """Return pools with the resources that they advertise under the configuration in some documents."""
    plugin = Plugin()
    for root in roots:
        plugin.add(root)
    listed = list(pools)
    selected = {pool.labels[PLUGIN_LABEL] for pool in listed if PLUGIN_LABEL in pool.labels}
    plugin.is_unselected = not plugin.is_configured and bool(plugin.sharing) and not selected & plugin.sharing.keys()
    return [plugin.apply(pool) for pool in listed]


def _manager_texts(spec: Cursor) -> tuple[Cursor, ...]:
    return spec["migManager"]["config"]["data"], spec["migParted"]["config"]["data"]


def _parsed(at: Cursor) -> Iterator[Cursor]:
    """Yield the configuration in a text, or the value itself if it is not text."""
    if isinstance(at.data, dict):
        yield at
    text = at.text()
    if text and ("sharing" in text or "mig-configs" in text):
        from qcheck.documents.embedded import NotYaml, embedded  # 0.4 ms

        try:
            yield root_of(embedded(at.document, at.route, text))
        except NotYaml:
            return


def _sharing(at: Cursor) -> Sharing:
    for how in ("timeSlicing", "mps"):
        if at[how].exists:
            replicas = {
                r["name"].text() or "": n
                for r in at[how]["resources"].items()
                if (n := r["replicas"].integer()) is not None
            }
            renamed, one = at[how]["renameByDefault"].boolean(), at[how]["failRequestsGreaterThanOne"].boolean()
            return Sharing(place(at[how]).key(), replicas, renamed or False, one or False)
    return Sharing(place(at).key(), {}, False)


def _devices(entries: Cursor) -> dict[str, int] | None:
    """Return the instances of each GPU if one entry applies to all devices; {} if MIG is off."""
    listed = entries.items()
    if len(listed) != 1 or listed[0]["devices"].text() != "all":
        return None
    if listed[0]["mig-enabled"].boolean() is False:
        return {}
    counts = {p: n for p, c in listed[0]["mig-devices"].mapping() if (n := c.integer()) is not None}
    return counts or None


def _as_karpenter_counts(whole: NodePool, shared: NodePool) -> NodePool:
    """Return a pool whose limits apply as in Karpenter: to advertised resources of running nodes, else to GPUs."""
    most, limits = shared.maximum, dict(shared.limits)
    for resource, limit in whole.limits.items():
        nodes = [
            1 + (limit - before) // max(1, now) if limit >= before else 0
            for m, s in zip(whole.machines, shared.machines, strict=True)
            if (before := m.allocatable.get(resource, 0)) and (now := s.allocatable.get(resource, 0)) != before
        ]
        if nodes:
            limits.pop(resource)
            most = min(max(nodes), max(nodes) if most is None else most)
    return replace(shared, maximum=most, limits=limits)


def _multiplied(machine: Machine, config: Sharing, gpus: int) -> Machine:
    """Return the machine with replicas of each advertised resource, renamed if the configuration says so."""
    allocatable, physical = dict(machine.allocatable), dict(machine.physical or {})
    shared: set[str] = set()
    for resource, replicas in config.replicas.items():
        count = allocatable.get(resource, 0)
        if count and replicas > 1:
            name = f"{resource}.shared" if config.renamed else resource
            del allocatable[resource]
            allocatable[name] = count * replicas
            physical[name] = physical.pop(resource, gpus)
            shared.add(name)
    if allocatable == machine.allocatable:
        return machine
    sure = {**machine.sure, **{r: Certainty.DECLARED for r in allocatable if r not in machine.sure}}
    single = frozenset(shared) if config.one_per_pod else frozenset[str]()
    return replace(machine, allocatable=allocatable, sure=sure, physical=physical, one_per_pod=single)
