"""Public Terraform modules whose arguments describe node pools.

terraform-aws-modules/eks, terraform-google-modules/kubernetes-engine, Azure/aks and oracle-terraform-modules/oke, by
their documented inputs and defaults. Their code is not read; the effect of the arguments is implemented here.
"""

from __future__ import annotations

import re

from qcheck.cluster.nodes import LabelOrigin, Machine, NodePool
from qcheck.cluster.value import TYPE_CHECKING, replace
from qcheck.documents.composed import Unresolved
from qcheck.documents.cursor import Cursor
from qcheck.nodepools import gke
from qcheck.nodepools.cloud_fields import Fields
from qcheck.nodepools.figures import Count, Figures, place, written_count, written_taint
from qcheck.nodepools.pool import PoolDraft, PoolMachineTypes, finished, look_up
from qcheck.nodepools.provider_labels import Provided
from qcheck.nodepools.terraform.neoclouds import oci_types
from qcheck.nodepools.terraform.pools import azure_pool, eks_group, scaled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from qcheck.nodepools.terraform.resource import Resource

    Own = Mapping[str, Machine]
    Reader = Callable[[Resource, Own], Iterator[NodePool]]

MODULE = LabelOrigin("the Terraform module", before_boot=True)
SWITCHED = ("eks_managed_node_groups", "self_managed_node_groups", "worker_pools")
"""Arguments whose entries have a switch, `create`."""
NODE_LABELS = re.compile(r"--node-labels[= ]'?\"?([^\s'\"]+)")
NODE_TAINTS = re.compile(r"--register-with-taints[= ]'?\"?([^\s'\"]+)")


def read(resource: Resource, own: Own) -> Iterator[NodePool]:
    """Yield the pools that a call of a module creates; none for unknown modules."""
    source = resource.type.removeprefix("module ").removeprefix("git::")
    for pattern, reader in READERS:
        if re.search(pattern, source):
            yield from reader(resource, own)
            return


def is_known(source: str) -> bool:
    """Return whether the module at a source is supported here."""
    return any(re.search(pattern, source) for pattern, _ in READERS)


def is_created(group: Cursor) -> bool:
    """Return whether an entry of a map of pools is certainly created: `create` is true by default."""
    return not group["create"].exists or group["create"].meant() == "true"


def _entries(at: Cursor, figures: Figures) -> list[tuple[str, Cursor]]:
    """Return key and value of each entry of a map of pools."""
    if isinstance(at.data, Unresolved):
        figures.text(at)
    return list(at.mapping())


def unknown_pool(resource: Resource, figures: Figures, format: str) -> Iterator[NodePool]:
    """Yield one pool in place of pools whose names are unknown."""
    doubt = figures.doubt
    if doubt is not None:
        nothing = Count(place=doubt.place, minimum=0, desired=None, maximum=None, doubt=doubt)
        yield finished(
            PoolDraft(
                name=resource.address,
                format=format,
                place=doubt.place,
                count=nothing,
                machines=(),
                type_place=doubt.place,
                hint=resource.hint,
            )
        )


def _eks(resource: Resource, own: Own) -> Iterator[NodePool]:
    values, figures = resource.values, Figures()
    for key, group in _entries(values["eks_managed_node_groups"], figures):
        merged = _with_defaults(group, values["eks_managed_node_group_defaults"])
        if is_created(group):
            yield _managed(Fields(merged), key, own, resource.hint)
    for key, group in _entries(values["self_managed_node_groups"], figures):
        merged = _with_defaults(group, values["self_managed_node_group_defaults"])
        if is_created(group):
            yield _self_managed(Fields(merged), key, own, resource.hint)
    yield from unknown_pool(resource, figures, "EKS module")


def _with_defaults(group: Cursor, defaults: Cursor) -> Cursor:
    """Return a group merged over the defaults for all groups, which releases before 21 of the module have."""
    if not isinstance(group.data, dict) or not isinstance(defaults.data, dict):
        return group
    return Cursor(group.document, group.route, {**defaults.data, **group.data})


def _managed(group: Fields, key: str, own: Own, hint: str) -> NodePool:
    name = group["name"].text() or key
    found = eks_group(group, group, name, "EKS module, managed node group", own, hint, group["taints"])
    return _sized(found, group)


def _eks_submodule(resource: Resource, own: Own) -> Iterator[NodePool]:
    yield _managed(resource.fields, resource.label, own, resource.hint)


def _sized(pool: NodePool, group: Fields) -> NodePool:
    """Apply the module's defaults: 1 to 3 nodes, 1 desired."""
    if pool.count_unknown:
        return pool
    low = pool.minimum if group["min_size"].exists else 1
    high = pool.maximum if group["max_size"].exists else 3
    desired = pool.desired if pool.desired is not None else max(low, 1)
    return replace(pool, minimum=low, desired=desired, maximum=high)


def _self_managed(group: Fields, key: str, own: Own, hint: str) -> NodePool:
    """Return a self-managed group; its labels and taints are in the nodes' start-up script."""
    figures, kind = Figures(), Figures()
    size = kind.text(group["instance_type"])
    types = look_up((size or "m6i.large",), "aws", own) if kind.doubt is None else PoolMachineTypes()
    boot = " ".join(str(group[f].data or "") for f in ("bootstrap_extra_args", "cloudinit_pre_nodeadm", "user_data"))
    labels = dict(pair.partition("=")[::2] for found in NODE_LABELS.findall(boot) for pair in found.split(","))
    taints = tuple(written_taint(t) for found in NODE_TAINTS.findall(boot) for t in found.split(","))
    pool = finished(
        PoolDraft(
            name=figures.text(group["name"]) or key,
            format="EKS module, self-managed node group",
            place=place(group.at),
            count=scaled(group["min_size"], group["desired_size"], group["max_size"]),
            machines=types.machines,
            type_place=place(group["instance_type"]),
            machine_doubt=f"{kind.doubt}; {hint}" if kind.doubt else types.doubt,
            labels=labels,
            taints=taints,
            autoscaler="cluster-autoscaler",
            other=figures,
            hint=hint,
        )
    )
    return _sized(pool, group)


def _gke(resource: Resource, own: Own) -> Iterator[NodePool]:
    values, figures = resource.values, Figures()
    if isinstance(values["node_pools"].data, Unresolved):
        figures.text(values["node_pools"])
    home = _gke_home(values)
    for pool in values["node_pools"].items():
        yield _gke_pool(pool, values, home, own, resource.hint)
    yield from unknown_pool(resource, figures, "GKE module")


def _gke_home(values: Cursor) -> gke.Home:
    zones = tuple(t for each in values["zones"].items() if (t := each.text()))
    return gke.Home(zones or None, place(values["zones"]))


def _gke_pool(at: Cursor, values: Cursor, home: gke.Home, own: Own, hint: str) -> NodePool:
    name = at["name"].text() or "default-node-pool"
    scaling = Figures().flag(at["autoscaling"]) or not at["autoscaling"].exists
    zones = at["node_locations"].text()
    made: dict[str, object] = {
        "node_locations": zones.split(",") if zones else at["node_locations"].data,
        "node_config": _gke_config(at, values, name),
        "queued_provisioning": [{"enabled": at["queued_provisioning"].data}],
    }
    if scaling:
        totals = at["total_max_count"].exists
        made["autoscaling"] = {
            "min_node_count": None if totals else _or(at["min_count"], 1),
            "max_node_count": None if totals else _or(at["max_count"], 100),
            "total_min_node_count": at["total_min_count"].data,
            "total_max_node_count": at["total_max_count"].data,
        }
    else:
        made["node_count"] = _or(at["node_count"], _or(at["min_count"], 1))
    fields = Fields(Cursor(at.document, at.route, made))
    pool = gke.read_pool(fields, name, "GKE module node pool", home, own, hint)
    own_labels = {"node_pool": name}
    cluster = values["name"].text()
    if cluster:
        own_labels["cluster_name"] = cluster
    counted = next((f for f in ("total_max_count", "max_count", "node_count", "min_count") if at[f].exists), "name")
    return replace(
        pool,
        labels={**own_labels, **pool.labels},
        added={**dict.fromkeys(own_labels, MODULE), **pool.added},
        count_place=place(at[counted]),
    )


def _or(at: Cursor, default: object) -> object:
    return at.data if at.exists else default


def _gke_config(at: Cursor, values: Cursor, name: str) -> dict[str, object]:
    labels, taints = values["node_pools_labels"], values["node_pools_taints"]
    config: dict[str, object] = {
        "machine_type": at["machine_type"].data,
        "spot": at["spot"].data,
        "preemptible": at["preemptible"].data,
        "flex_start": at["flex_start"].data,
        "labels": _for_pool(labels, name, {}),
        "taint": _for_pool(taints, name, []),
    }
    if at["accelerator_type"].text() or at["accelerator_count"].exists:
        config["guest_accelerator"] = {
            "type": at["accelerator_type"].data,
            "count": at["accelerator_count"].data,
            "gpu_partition_size": at["gpu_partition_size"].data or None,
            "gpu_sharing_config": {
                "gpu_sharing_strategy": at["gpu_sharing_strategy"].data,
                "max_shared_clients_per_gpu": at["max_shared_clients_per_gpu"].data,
            },
        }
    return config


def _for_pool(at: Cursor, name: str, nothing: object) -> object:
    """Merge the settings of all pools and of one; both are maps or both are lists."""
    if isinstance(at.data, Unresolved):
        return at.data
    common, special = at["all"].data or nothing, at[name].data or nothing
    if isinstance(common, dict) and isinstance(special, dict):
        return {**common, **special}
    if isinstance(common, list) and isinstance(special, list):
        return [*common, *special]
    return special if isinstance(special, Unresolved) else common


def _aks(resource: Resource, own: Own) -> Iterator[NodePool]:
    values, figures = resource.values, Figures()
    for key, group in _entries(values["node_pools"], figures):
        name = group["name"].text() or key
        yield azure_pool(Fields(group), name, "AKS module node pool", own, resource.hint)
    yield from unknown_pool(resource, figures, "AKS module")


def _oke(resource: Resource, own: Own) -> Iterator[NodePool]:
    """Yield the pools in `worker_pools`, whose defaults are separate arguments."""
    values, figures = resource.values, Figures()
    for key, group in _entries(values["worker_pools"], figures):
        if is_created(group):
            yield _oke_pool(group, values, key, own, resource.hint)
    yield from unknown_pool(resource, figures, "OKE module")


def _oke_pool(at: Cursor, values: Cursor, name: str, own: Own, hint: str) -> NodePool:
    figures, kind = Figures(), Figures()
    default = values["worker_shape"]
    shape = kind.text(at["shape"] if at["shape"].exists else default["shape"])
    config = Cursor(at.document, at.route, {"ocpus": at["ocpus"].data, "memory_in_gbs": at["memory"].data})
    types = oci_types(shape, config, own) if shape or kind.doubt else PoolMachineTypes((), "no shape is given")
    counted = at["size"] if at["size"].exists else values["worker_pool_size"]
    scaling = figures.flag(at["autoscale"])
    return finished(
        PoolDraft(
            name=name,
            format="OKE module worker pool",
            place=place(at),
            count=scaled(at["min_size"], counted, at["max_size"]) if scaling else written_count(counted),
            machines=types.machines,
            type_place=place(at["shape"]),
            machine_doubt=f"{kind.doubt}; {hint}" if kind.doubt else types.doubt,
            labels=figures.labels(at["node_labels"]),
            provided=(Provided(MODULE, {"oke.oraclecloud.com/pool.name": name}),),
            autoscaler="cluster-autoscaler",
            group_label=("oke.oraclecloud.com/pool.name", name),
            other=figures,
            hint=hint,
        )
    )


READERS: tuple[tuple[str, Reader], ...] = (
    (r"terraform-aws-(modules/)?eks(/aws)?(\.git)?//modules/eks-managed-node-group", _eks_submodule),
    (r"terraform-aws-modules/(terraform-aws-)?eks(/aws)?(\.git)?([/?]|$)", _eks),
    (r"terraform-google-modules/(terraform-google-)?kubernetes-engine(/google)?", _gke),
    (r"Azure/(terraform-azurerm-)?aks(/azurerm)?", _aks),
    (r"oracle-terraform-modules/(terraform-oci-)?oke(/oci)?", _oke),
)
"""The reader of each module, by a pattern of its source."""
