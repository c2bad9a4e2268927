"""Node pools of OCI, Nebius, Crusoe and IBM as Terraform resources."""

from __future__ import annotations

from qcheck.cluster.nodes import Machine, NodePool
from qcheck.cluster.value import TYPE_CHECKING, replace
from qcheck.nodepools import machine_families
from qcheck.nodepools.figures import Count, Figures, place, unresolved_keys, written_count
from qcheck.nodepools.machine_capacity import of_type
from qcheck.nodepools.machine_type import GIB
from qcheck.nodepools.pool import PoolDraft, PoolMachineTypes, finished, look_up
from qcheck.nodepools.provider_labels import oci

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from qcheck.cluster.labels import Labels
    from qcheck.documents.cursor import Cursor
    from qcheck.nodepools.terraform.resource import Resource

    Own = Mapping[str, Machine]

AUTOSCALER = "cluster-autoscaler"


def oci_pool(resource: Resource, own: Own) -> Iterator[NodePool]:
    """Yield a pool; `size` is a total over the placement configurations. There is no field for taints."""
    fields, figures, kind = resource.fields, Figures(), Figures()
    details = fields.block("node_config_details")
    name = figures.text(fields["name"]) or resource.label
    shape = kind.text(fields["node_shape"])
    types = oci_types(shape, fields.block("node_shape_config").at, own)
    domains = tuple(t for each in details.blocks("placement_configs") if (t := each["availability_domain"].text()))
    spot = any(each["preemptible_node_config"].data for each in details.blocks("placement_configs"))
    yield finished(
        PoolDraft(
            name=name,
            format=resource.type,
            place=place(fields.at),
            count=written_count(details["size"]),
            machines=types.machines,
            type_place=place(fields["node_shape"]),
            machine_doubt=_type_doubt(kind, types, resource),
            labels=_pairs(fields["initial_node_labels"], figures),
            provided=(oci(name, types.first),),
            zones=domains,
            spot=spot,
            other=figures,
            hint=resource.hint,
        )
    )


def oci_types(shape: str | None, config: Cursor, own: Own) -> PoolMachineTypes:
    """Return the machine types; flexible shapes have the requested memory and cores (two vCPU per OCPU)."""
    if shape is None:
        return PoolMachineTypes()
    if not shape.endswith(".Flex"):
        return look_up((shape,), "oci", own)
    figures = Figures()
    ocpus, memory = figures.whole(config["ocpus"]), figures.whole(config["memory_in_gbs"])
    size = None if memory is None else memory * GIB
    kind = machine_families.plain(
        "oci", shape, None if ocpus is None else ocpus * 2, size, "the pool's shape configuration"
    )
    return PoolMachineTypes((of_type(kind),))


def _pairs(at: Cursor, figures: Figures) -> Labels:
    """Return labels from a list of `{key, value}`."""
    found = ((figures.text(each["key"]), figures.text(each["value"])) for each in at.items())
    return {k: v or "" for k, v in found if k}


def _type_doubt(kind: Figures, types: PoolMachineTypes, resource: Resource) -> str | None:
    return f"{kind.doubt}; {resource.hint}" if kind.doubt else types.doubt


def nebius_group(resource: Resource, own: Own) -> Iterator[NodePool]:
    """Yield a pool with `fixed_node_count` or bounds; its machine is a platform with a preset."""
    fields, figures, kind = resource.fields, Figures(), Figures()
    template = fields.block("template")
    resources, scaling = template.block("resources"), fields.block("autoscaling")
    name = figures.text(fields["name"]) or resource.label
    platform, preset = kind.text(resources["platform"]), kind.text(resources["preset"])
    types = look_up((f"{platform}/{preset}",), "nebius", own) if platform and preset else PoolMachineTypes()
    labels = figures.labels(template.block("metadata")["labels"])
    yield finished(
        PoolDraft(
            name=name,
            format=resource.type,
            place=place(fields.at),
            count=_fixed_or_scaled(fields["fixed_node_count"], scaling["min_node_count"], scaling["max_node_count"]),
            machines=types.machines,
            type_place=place(resources["preset"]),
            machine_doubt=_type_doubt(kind, types, resource),
            labels={k: v for k, v in labels.items() if "kubernetes.io/" not in k and "k8s.io/" not in k},
            taints=figures.taints(template["taints"]),
            spot=template["preemptible"].data not in (None, []),
            autoscaler=AUTOSCALER,
            other=figures,
            hint=resource.hint,
        )
    )


def _fixed_or_scaled(fixed: Cursor, low: Cursor, high: Cursor) -> Count:
    figures = Figures()
    number = figures.whole(fixed)
    if number is not None or figures.doubt is not None:
        return Count(place=place(fixed), minimum=number or 0, desired=number, maximum=number, doubt=figures.doubt)
    least, most = figures.whole(low), figures.whole(high)
    return Count(place=place(high), minimum=least or 0, desired=None, maximum=most, doubt=figures.doubt)


def crusoe_pool(resource: Resource, own: Own) -> Iterator[NodePool]:
    """Yield a pool with a fixed number of instances."""
    fields, figures, kind = resource.fields, Figures(), Figures()
    size = kind.text(fields["type"])
    types = look_up((size,), "crusoe", own) if size else PoolMachineTypes((), "no type is given")
    yield finished(
        PoolDraft(
            name=figures.text(fields["name"]) or resource.label,
            format=resource.type,
            place=place(fields.at),
            count=written_count(fields["instance_count"]),
            machines=types.machines,
            type_place=place(fields["type"]),
            machine_doubt=_type_doubt(kind, types, resource),
            labels=figures.labels(fields["requested_node_labels"]),
            taints=figures.taints(fields["node_taints"]),
            open_labels=tuple(unresolved_keys(fields["requested_node_labels"])),
            other=figures,
            hint=resource.hint,
        )
    )


def ibm_pool(resource: Resource, own: Own) -> Iterator[NodePool]:
    """Yield a pool; `worker_count` applies to each zone. Flavors have dots where machine profiles have dashes."""
    fields, figures, kind = resource.fields, Figures(), Figures()
    zones = tuple(t for each in fields.blocks("zones") if (t := figures.text(each["name"])))
    flavor = kind.text(fields["flavor"])
    types = _ibm_types(flavor, own) if flavor else PoolMachineTypes((), "no flavor is given")
    yield finished(
        PoolDraft(
            name=figures.text(fields["worker_pool_name"]) or resource.label,
            format=resource.type,
            place=place(fields.at),
            count=written_count(fields["worker_count"]).times(max(1, len(zones))),
            machines=types.machines,
            type_place=place(fields["flavor"]),
            machine_doubt=_type_doubt(kind, types, resource),
            labels=figures.labels(fields["labels"]),
            taints=figures.taints(fields["taints"]),
            open_labels=tuple(unresolved_keys(fields["labels"])),
            zones=zones,
            other=figures,
            hint=resource.hint,
        )
    )


def _ibm_types(flavor: str, own: Own) -> PoolMachineTypes:
    profile = _ibm_profile(flavor)
    types = look_up((profile,), "ibm", own)
    renamed = tuple(replace(m, instance_type=flavor) for m in types.machines)
    return PoolMachineTypes(renamed, types.doubt and types.doubt.replace(profile, flavor))


def _ibm_profile(flavor: str) -> str:
    """Return the machine profile of a flavor: `gx3d.160x1792.8h100` is `gx3d-160x1792x8h100`."""
    family, _, size = flavor.partition(".")
    size, _, gpus = size.partition(".")
    if not gpus:
        return flavor.replace(".", "-", 1)
    return f"{family}-{size}x{gpus if gpus[0].isdigit() else f'1{gpus}'}"
