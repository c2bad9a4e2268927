"""GKE node pools, by the fields that Terraform, Config Connector and Crossplane share.

`node_count`, `initial_node_count`, `min_node_count` and `max_node_count` apply to each zone of the pool; only the
`total_` bounds are totals.
"""

from __future__ import annotations

import re

from qcheck.cluster.mig import profiles
from qcheck.cluster.nodes import Certainty, Machine
from qcheck.cluster.place import Place
from qcheck.cluster.resources import GPU
from qcheck.cluster.value import TYPE_CHECKING, Value, replace
from qcheck.nodepools import machine_catalogue
from qcheck.nodepools.figures import Count, Doubt, Figures, first_doubt, fixed, place, unresolved_keys, written_count
from qcheck.nodepools.pool import PoolDraft, PoolMachineTypes, finished, look_up
from qcheck.nodepools.provider_labels import GKE_ACCELERATORS, MEGA, GkePool, gke

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qcheck.cluster.nodes import NodePool
    from qcheck.nodepools.cloud_fields import Fields
    from qcheck.nodepools.machine_type import MachineType

ZONE = re.compile(r"[a-z]+-[a-z]+\d+-[a-z]")
DEFAULT_TYPE = "e2-medium"


class Home(Value):
    """The settings that a pool inherits from its cluster: the zones if it names none, None if they are unknown."""

    zones: tuple[str, ...] | None
    place: Place


def read_pool(
    fields: Fields, name: str, format: str, home: Home | None, own: Mapping[str, Machine], hint: str = ""
) -> NodePool:
    """Return one pool. `home` is None if the cluster was not found."""
    config = fields.block("node_config")
    other = Figures()
    zones = _zones(fields, home, other)
    labels, taints = other.labels(config["labels"]), other.taints(config["taint"])
    kind = Figures()
    machine_type = kind.text(config["machine_type"])
    machine_type = DEFAULT_TYPE if machine_type is None and kind.doubt is None else machine_type
    types, gpu = _machines(config, machine_type, kind, own)
    at = config["machine_type"] if config["machine_type"].exists else fields.at
    return finished(
        PoolDraft(
            name=name,
            format=format,
            place=place(fields.at),
            count=_count(fields, zones),
            machines=types.machines,
            type_place=place(at),
            machine_doubt=types.doubt if kind.doubt is None else f"{kind.doubt}{'; ' + hint if hint else ''}",
            labels=labels,
            taints=taints,
            open_labels=tuple(unresolved_keys(config["labels"])),
            provided=(gke(_described(fields, name, machine_type, gpu, other), types.first),),
            zones=zones or (),
            spot=other.flag(config["spot"]) or other.flag(config["preemptible"]),
            autoscaler="cluster-autoscaler",
            group_label=("cloud.google.com/gke-nodepool", name),
            other=other,
            hint=hint,
        )
    )


def _described(fields: Fields, name: str, machine_type: str | None, gpu: str | None, figures: Figures) -> GkePool:
    """Return what GKE's labels and taints depend on."""
    config = fields.block("node_config")
    sharing, clients = _sharing(config)
    return GkePool(
        name,
        machine_type,
        gpu,
        spot=figures.flag(config["spot"]),
        preemptible=figures.flag(config["preemptible"]),
        flex_start=figures.flag(config["flex_start"]),
        queued=figures.flag(fields.block("queued_provisioning")["enabled"]),
        partition=_accelerator(config)["gpu_partition_size"].text() or None,
        sharing=sharing,
        clients=clients,
        tpu_topology=fields.block("placement_policy")["tpu_topology"].text(),
        arm_taint=config.block("taint_config")["architecture_taint_behavior"].text() != "NONE",
    )


def _zones(fields: Fields, home: Home | None, figures: Figures) -> tuple[str, ...] | None:
    """Return the pool's zones; None if they are unknown."""
    locations = fields["node_locations"]
    if locations.data:
        alone = Figures()
        zones = alone.texts(locations)
        figures.doubt = first_doubt(figures.doubt, alone.doubt)
        return zones if alone.doubt is None else None
    if home is not None and home.zones is not None:
        return home.zones
    location = fields["location"].text() or fields["zone"].text()
    return (location,) if location and ZONE.fullmatch(location) else None


def home_of(cluster: Fields) -> Home:
    """Return the zones of a cluster: the named ones and, for a zonal cluster, its own."""
    location = cluster["location"].text() or ""
    named = [t for each in cluster["node_locations"].items() if (t := each.text())]
    whole = not cluster["node_locations"].exists or isinstance(cluster["node_locations"].data, list)
    zones = [location, *(z for z in named if z != location)] if ZONE.fullmatch(location) else named
    return Home(tuple(zones) if zones and whole else None, place(cluster.at))


def _count(fields: Fields, zones: tuple[str, ...] | None) -> Count:
    """Return the total number of nodes over all zones. A plan shows unset bounds as 0."""
    scaling = fields.block("autoscaling")
    figures = Figures()
    low, high = figures.whole(scaling["total_min_node_count"]), figures.whole(scaling["total_max_node_count"])
    if high or figures.doubt is not None:
        return Count(
            place=place(scaling["total_max_node_count"]),
            minimum=low or 0,
            desired=None,
            maximum=high,
            doubt=figures.doubt,
        )
    low, high = figures.whole(scaling["min_node_count"]), figures.whole(scaling["max_node_count"])
    if high or (scaling["max_node_count"].exists and figures.doubt is not None):
        each = Count(
            place=place(scaling["max_node_count"]),
            minimum=low or 0,
            desired=_initial(fields),
            maximum=high,
            doubt=figures.doubt,
        )
    else:
        each = _fixed(fields)
    if zones is None and (each.maximum or each.doubt):
        missing = Doubt("the number of zones, which multiplies the counts,", "not given", each.place)
        return Count(place=each.place, minimum=0, desired=None, maximum=None, doubt=first_doubt(each.doubt, missing))
    return each.times(len(zones or ()) or 1)


def _initial(fields: Fields) -> int | None:
    return Figures().whole(fields["initial_node_count"])


def _fixed(fields: Fields) -> Count:
    """Return the count without autoscaling: `node_count`, else `initial_node_count`, else 0."""
    for name in ("node_count", "initial_node_count"):
        if fields[name].exists:
            return written_count(fields[name])
    return fixed(0, fields.at)


def _accelerator(config: Fields) -> Fields:
    return config.block("guest_accelerator")


def _machines(
    config: Fields, machine_type: str | None, figures: Figures, own: Mapping[str, Machine]
) -> tuple[PoolMachineTypes, str | None]:
    """Return the machine with its attached accelerators, and the accelerator's name in GKE's label."""
    if machine_type is None:
        return PoolMachineTypes(), None
    types = look_up((machine_type,), "gcp", own)
    machine = types.first
    if machine is None:
        return types, None
    kind = machine_catalogue.find(machine_type, "gcp")
    label = accelerator_label(kind)
    attached = _accelerator(config)
    if attached["type"].exists:
        label = figures.text(attached["type"]) or label
        number = figures.whole(attached["count"])
        if number:
            machine = _with_gpus(machine, number, label)
        elif number is None and attached["count"].exists:
            machine = replace(machine, unknown=machine.unknown | {GPU})
    elif attached.exists and not isinstance(attached.at.data, dict):
        figures.text(attached.at)
    return PoolMachineTypes((_cut(machine, config, label, figures),)), label


def accelerator_label(kind: MachineType | None) -> str | None:
    """Return the label `cloud.google.com/gke-accelerator` of a type's nodes."""
    if kind is None or kind.resource != GPU:
        return None
    if kind.name.startswith("a3-megagpu"):
        return MEGA
    return GKE_ACCELERATORS.get((kind.model or "", (kind.gpu_memory or 0) >> 30))


def _with_gpus(machine: Machine, number: int, label: str | None) -> Machine:
    model = next((m for (m, _), name in GKE_ACCELERATORS.items() if name == label), machine.model)
    return replace(
        machine,
        allocatable={**machine.allocatable, GPU: number},
        sure={**machine.sure, GPU: Certainty.DECLARED},
        unknown=machine.unknown - {GPU},
        model=machine.model or model,
    )


def _sharing(config: Fields) -> tuple[str | None, int | None]:
    """Return strategy and clients per GPU."""
    shared = _accelerator(config).block("gpu_sharing_config")
    return shared["gpu_sharing_strategy"].text(), Figures().whole(shared["max_shared_clients_per_gpu"])


def _cut(machine: Machine, config: Fields, label: str | None, figures: Figures) -> Machine:
    """Apply MIG partitions and shared clients, which multiply what is advertised under the same resource name."""
    gpus = machine.allocatable.get(GPU, 0)
    partition = figures.text(_accelerator(config)["gpu_partition_size"])
    _, clients = _sharing(config)
    parts = 1
    if gpus and partition:
        memory = next((size for (_, size), name in GKE_ACCELERATORS.items() if name == label), None)
        parts = profiles(machine.model or "", memory).get(partition, 0)
        if not parts:
            return replace(machine, unknown=machine.unknown | {GPU})
    factor = parts * (clients or 1)
    if not gpus or factor == 1:
        return machine
    return replace(machine, allocatable={**machine.allocatable, GPU: gpus * factor}, physical={GPU: gpus})
