"""QC213: device plugins that do not run on the nodes whose devices they should advertise."""

from __future__ import annotations

import re

from qcheck.checks.capacity.arithmetic import names
from qcheck.checks.registry import rule
from qcheck.checks.repelling_taints import has_open_taints
from qcheck.cluster.labels import untolerated
from qcheck.cluster.place import follow
from qcheck.cluster.resources import is_compute
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.findings.finding import Finding, finding
from qcheck.supply.eligibility import GKE_NODE, daemon_lands, lasting
from qcheck.supply.groups import NONE
from qcheck.supply.supply import supply_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.labels import Taint
    from qcheck.cluster.workloads import DaemonSet
    from qcheck.supply.groups import NodeGroup

PLUGINS = {
    "nvidia.com/": r"(?<![\w-])(?<!rocm/)k8s-device-plugin|nvidia(?:-k8s|-gpu)?-device-plugin",
    "amd.com/": "amd-?gpu-device-plugin|rocm/k8s-device-plugin",
    "gpu.intel.com/": "intel-gpu-plugin",
    "habana.ai/": r"habana\S*-device-plugin|gaudi-device-plugin",
    "aws.amazon.com/neuron": "neuron-device-plugin",
}
"""The plugin of each family of resources, as regular expressions on its name or image.

Plugins of other devices have similar names, such as `aws-efa-k8s-device-plugin` and `rocm/k8s-device-plugin`.
"""


@rule("QC213")
def device_plugin_cannot_land(cluster: Cluster) -> Iterator[Finding]:
    """Report accelerator pools on which no DaemonSet of their device plugin runs.

    Existing Nodes show what they advertise.
    """
    for family, pattern in PLUGINS.items():
        plugins = [d for d in cluster.daemon_sets if re.search(pattern, _called(d))]
        if not plugins:
            continue
        needing = (group for group in supply_of(cluster).groups if _needs_a_plugin(group, family))
        without = [group for group in needing if not any(_lands(cluster, p, group) for p in plugins)]
        for groups in _by_cause(without, plugins[0]):
            yield _cannot_land(plugins[0], groups, family)


def _called(daemon_set: DaemonSet) -> str:
    """Return the name and images of a DaemonSet."""
    place = daemon_set.template.place.at("containers")
    containers = follow(place.origin.data, place.route)
    images = (
        (str(c.get("image", "")) for c in containers if isinstance(c, dict)) if isinstance(containers, list) else ()
    )
    return " ".join((daemon_set.name, *images))


def _needs_a_plugin(group: NodeGroup, family: str) -> bool:
    """Return whether it is a pool with such devices, on a platform without a built-in plugin."""
    if group.nodes or has_open_taints(group) or not group.classes:
        return False
    has_devices = any(r.startswith(family) and is_compute(r) for c in group.classes for r in c.machine.allocatable)
    return has_devices and not any(GKE_NODE in c.labels for c in group.classes)


def _lands(cluster: Cluster, plugin: DaemonSet, group: NodeGroup) -> bool:
    return any(daemon_lands(cluster, plugin.template, c) != NONE for c in group.classes)


def _by_cause(groups: list[NodeGroup], plugin: DaemonSet) -> list[list[NodeGroup]]:
    """Group the pools by the taint that a plugin does not tolerate; those that it does not select form one group."""
    found: dict[Taint | None, list[NodeGroup]] = {}
    for group in groups:
        found.setdefault(_repelling(plugin, group), []).append(group)
    return list(found.values())


def _repelling(plugin: DaemonSet, group: NodeGroup) -> Taint | None:
    return next(iter(untolerated(lasting(group.classes[0].taints), plugin.template.tolerations)), None)


def _cannot_land(plugin: DaemonSet, groups: list[NodeGroup], family: str) -> Finding:
    devices = names(sorted({r for g in groups for r in g.classes[0].machine.allocatable if r.startswith(family)}))
    taint, pools = _repelling(plugin, groups[0]), names(g.name for g in groups)
    place = plugin.template.place
    if taint:
        where = place.at("tolerations")
        why = f"does not tolerate the taint {taint} of {pools}"
        advice = f"Add a toleration of {taint.key} to the DaemonSet."
    else:
        where = next((at for at in (place.at("nodeSelector"), place.at("affinity")) if at.exists), place)
        why = f"does not select the nodes of {pools}"
        advice = (
            f"Change the DaemonSet to select the nodes of {pools}, or add the labels that it selects to these nodes."
        )
    found = finding(where.key(), f"the device plugin {plugin.name} {why}, so their {devices} is never advertised")
    for group in groups:
        found = found.near(group.place, group.name)
    return (
        found.about(plugin.id).fixed_by(advice).with_data(pool=", ".join(g.name for g in groups), daemonSet=plugin.name)
    )
