"""Terraform resources that are node pools, and the function that reads each type.

Sources: the providers' registry pages (google, aws, azurerm, oci, nebius, crusoe, ibm).
"""

from __future__ import annotations

from qcheck.cluster.nodes import Machine, NodePool
from qcheck.cluster.value import TYPE_CHECKING, replace
from qcheck.nodepools import gke
from qcheck.nodepools.cloud_fields import Fields, camel_case
from qcheck.nodepools.figures import Count, Figures, place, unresolved_keys, written_count, written_taint
from qcheck.nodepools.pool import PoolDraft, PoolMachineTypes, finished, look_up
from qcheck.nodepools.provider_labels import Provided, aks, eks
from qcheck.nodepools.terraform import neoclouds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from qcheck.documents.cursor import Cursor
    from qcheck.nodepools.figures import Doubt
    from qcheck.nodepools.terraform.resource import Resource

    Own = Mapping[str, Machine]
    Reader = Callable[[Resource, "TerraformContext", Own], Iterator[NodePool]]


AKS = "microsoft.containerservice/managedclusters"


class AgentPoolFields(Fields):
    """The fields of an agent pool of the Azure API under the names of Terraform's own resources."""

    def __getitem__(self, name: str) -> Cursor:
        renamed = {"node_count": "count", "priority": "scaleSetPriority", "auto_scaling_enabled": "enableAutoScaling"}
        return self.at[renamed.get(name) or camel_case(name)]


class TerraformContext:
    """All resources of one configuration, for resources that refer to others."""

    def __init__(self, resources: Sequence[Resource]) -> None:
        self.resources = resources

    def clusters(self, name: str | None) -> list[Resource]:
        """Return the GKE clusters of a name; all of them if the name is unknown."""
        found = [r for r in self.resources if r.type == "google_container_cluster"]
        return [r for r in found if name is None or r.values["name"].text() in (name, None)]


def read(resources: Sequence[Resource], own: Own) -> Iterator[NodePool]:
    """Yield the pools among some resources."""
    context = TerraformContext(resources)
    for resource in resources:
        reader = READERS.get(resource.type)
        if reader is not None:
            yield from (repeated(pool, resource.doubt) for pool in reader(resource, context, own))


def repeated(pool: NodePool, doubt: Doubt | None) -> NodePool:
    """Return the pool with an unknown count if the number of its instances is unknown."""
    if doubt is None:
        return pool
    return replace(
        pool,
        minimum=0,
        desired=None,
        maximum=None,
        count_unknown=True,
        why_unknown=str(doubt),
        unknown_place=doubt.place,
    )


def pool_name(resource: Resource, *fields: str) -> str:
    """Return the pool's name if it is known, else the resource's label."""
    for field in fields:
        name = Figures().text(resource.values[field])
        if name:
            return name
    return resource.label


def _google_pool(resource: Resource, context: TerraformContext, own: Own) -> Iterator[NodePool]:
    clusters = context.clusters(resource.values["cluster"].text())
    home = gke.home_of(clusters[0].fields) if len(clusters) == 1 else None
    name = pool_name(resource, "name", "name_prefix")
    yield gke.read_pool(resource.fields, name, resource.type, home, own, resource.hint)


def _google_cluster(resource: Resource, _: TerraformContext, own: Own) -> Iterator[NodePool]:
    """Yield inline pools, and the default pool unless it is removed."""
    cluster = resource.fields
    home = gke.home_of(cluster)
    inline = cluster.blocks("node_pool")
    for at, fields in enumerate(inline):
        name = fields["name"].text() or f"{resource.label}-{at}"
        yield gke.read_pool(fields, name, "google_container_cluster node_pool", home, own, resource.hint)
    removed = Figures().flag(cluster["remove_default_node_pool"])
    autopilot = Figures().flag(cluster["enable_autopilot"])
    if not inline and not removed and not autopilot and cluster["initial_node_count"].exists:
        yield gke.read_pool(cluster, "default-pool", "google_container_cluster", home, own, resource.hint)


def _eks_group(resource: Resource, _: TerraformContext, own: Own) -> Iterator[NodePool]:
    fields = resource.fields
    name = pool_name(resource, "node_group_name", "node_group_name_prefix")
    yield eks_group(fields, fields.block("scaling_config"), name, resource.type, own, resource.hint, fields["taint"])


def eks_group(
    fields: Fields, scaling: Fields, name: str, format: str, own: Own, hint: str, tainted: Cursor
) -> NodePool:
    """Return a managed node group from the provider's fields; `tainted` contains its taints."""
    figures, kind = Figures(), Figures()
    types = _eks_types(fields, kind, own)
    capacity_type = figures.text(fields["capacity_type"]) or "ON_DEMAND"
    labels, taints = figures.labels(fields["labels"]), figures.taints(tainted)
    at = fields["instance_types"] if fields["instance_types"].exists else fields.at
    return finished(
        PoolDraft(
            name=name,
            format=format,
            place=place(fields.at),
            count=scaled(scaling["min_size"], scaling["desired_size"], scaling["max_size"]),
            machines=types.machines,
            type_place=place(at),
            machine_doubt=f"{kind.doubt}; {hint}" if kind.doubt else types.doubt,
            labels=labels,
            taints=taints,
            open_labels=tuple(unresolved_keys(fields["labels"])),
            provided=(eks(name, capacity_type),),
            spot=capacity_type == "SPOT",
            autoscaler="cluster-autoscaler",
            group_label=("eks.amazonaws.com/nodegroup", name),
            other=figures,
            hint=hint,
        )
    )


def _eks_types(fields: Fields, figures: Figures, own: Own) -> PoolMachineTypes:
    names = figures.texts(fields["instance_types"])
    if figures.doubt is not None:
        return PoolMachineTypes()
    if not names and fields["launch_template"].data:
        return PoolMachineTypes((), "its machine type is in the launch template")
    return look_up(names or ("t3.medium",), "aws", own)


def scaled(low: Cursor, want: Cursor, high: Cursor) -> Count:
    """Return bounds that are totals; a missing lower bound is 0, a missing upper bound means none."""
    figures = Figures()
    least, desired, most = figures.whole(low), figures.whole(want), figures.whole(high)
    at = next((c for c in (high, want, low) if c.exists), high)
    return Count(place=place(at), minimum=least or 0, desired=desired, maximum=most, doubt=figures.doubt)


def _azure_pool(resource: Resource, _: TerraformContext, own: Own) -> Iterator[NodePool]:
    yield azure_pool(resource.fields, pool_name(resource, "name"), resource.type, own, resource.hint)


def _azure_cluster(resource: Resource, _: TerraformContext, own: Own) -> Iterator[NodePool]:
    for fields in resource.fields.blocks("default_node_pool"):
        name = fields["name"].text() or "default"
        yield azure_pool(fields, name, "azurerm_kubernetes_cluster default_node_pool", own, resource.hint, "System")


def _azapi(resource: Resource, _: TerraformContext, own: Own) -> Iterator[NodePool]:
    """Yield an AKS agent pool, or those of a cluster, as the Azure API describes them."""
    kind = (resource.values["type"].text() or "").partition("@")[0].lower()
    properties = resource.values["body"]["properties"]
    if kind == f"{AKS}/agentpools":
        yield azure_pool(
            AgentPoolFields(properties), pool_name(resource, "name"), "azapi agentPools", own, resource.hint
        )
    elif kind == AKS:
        for each in properties["agentPoolProfiles"].items():
            fields = AgentPoolFields(each)
            name = fields["name"].text() or resource.label
            yield azure_pool(fields, name, "azapi agentPoolProfiles", own, resource.hint)


def azure_pool(fields: Fields, name: str, format: str, own: Own, hint: str, mode: str = "User") -> NodePool:
    """Return a pool; counts are totals over zones, and `node_count` is 1 unless the pool is autoscaled."""
    figures, kind = Figures(), Figures()
    size = kind.text(fields["vm_size"])
    types = look_up((size,), "azure", own) if size else PoolMachineTypes((), "no vm_size is given")
    spot = figures.text(fields["priority"]) == "Spot"
    taints = [written_taint(t) for t in figures.texts(fields["node_taints"])]
    if figures.flag(fields["only_critical_addons_enabled"]):
        taints.append(written_taint("CriticalAddonsOnly=true:NoSchedule"))
    provided: Provided = aks(name, figures.text(fields["mode"]) or mode, spot, types.first)
    labels = figures.labels(fields["node_labels"])
    return finished(
        PoolDraft(
            name=name,
            format=format,
            place=place(fields.at),
            count=_azure_count(fields),
            machines=types.machines,
            type_place=place(fields["vm_size"]),
            machine_doubt=f"{kind.doubt}; {hint}" if kind.doubt else types.doubt,
            labels=labels,
            taints=tuple(taints),
            open_labels=tuple(unresolved_keys(fields["node_labels"])),
            provided=(provided,),
            spot=spot,
            autoscaler="cluster-autoscaler",
            group_label=("kubernetes.azure.com/agentpool", name),
            other=figures,
            hint=hint,
        )
    )


def _azure_count(fields: Fields) -> Count:
    figures = Figures()
    scaling = figures.flag(fields["auto_scaling_enabled"]) or figures.flag(fields["enable_auto_scaling"])
    if figures.doubt is not None:
        return Count(place=figures.doubt.place, minimum=0, desired=None, maximum=None, doubt=figures.doubt)
    if scaling:
        return scaled(fields["min_count"], fields["node_count"], fields["max_count"])
    return written_count(fields["node_count"], default=1)


READERS: dict[str, Reader] = {
    "google_container_node_pool": _google_pool,
    "google_container_cluster": _google_cluster,
    "aws_eks_node_group": _eks_group,
    "azurerm_kubernetes_cluster_node_pool": _azure_pool,
    "azurerm_kubernetes_cluster": _azure_cluster,
    "azapi_resource": _azapi,
    "oci_containerengine_node_pool": lambda r, _, own: neoclouds.oci_pool(r, own),
    "nebius_mk8s_v1_node_group": lambda r, _, own: neoclouds.nebius_group(r, own),
    "crusoe_kubernetes_node_pool": lambda r, _, own: neoclouds.crusoe_pool(r, own),
    "ibm_container_vpc_worker_pool": lambda r, _, own: neoclouds.ibm_pool(r, own),
}
"""The reader of each type of resource."""
