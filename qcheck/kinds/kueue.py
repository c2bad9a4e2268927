"""Group `kueue.x-k8s.io`: ClusterQueue and the kinds around it, in v1beta1 and v1beta2."""

from __future__ import annotations

from qcheck.cluster import kueue as queues
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.cluster.workloads import PRIORITY_CLASS, PodSet, TopologyRequest, TopologySlice, Workload
from qcheck.kinds.pods import pod_template
from qcheck.kinds.shared_fields import (
    label_selector,
    metadata,
    object_id,
    place,
    quantity,
    quantity_at,
    taints,
    text_list,
    tolerations,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypedDict

    from qcheck.cluster.objects import Object
    from qcheck.cluster.place import Place
    from qcheck.cluster.quantity import Quantity
    from qcheck.documents.cursor import Cursor

    class HolderFields(TypedDict):
        parent: str | None
        parent_place: Place
        groups: tuple[queues.ResourceGroup, ...]
        weight: Quantity | None


GROUP = "kueue.x-k8s.io"
_LEGACY_FUNGIBILITY = ("Borrow", "Preempt")


def resource_flavor(root: Cursor) -> Object:
    spec = root["spec"]
    return queues.ResourceFlavor(
        object_id(root),
        place(root),
        *metadata(root),
        node_labels=spec["nodeLabels"].strings(),
        node_taints=taints(spec["nodeTaints"]),
        tolerations=tolerations(spec["tolerations"]),
        topology=spec["topologyName"].text(),
    )


def cluster_queue(root: Cursor) -> Object:
    spec = root["spec"]
    parent = spec["cohortName" if is_current(root) else "cohort"]
    return queues.ClusterQueue(
        object_id(root),
        place(root),
        *metadata(root),
        **_holder(spec, parent),
        strategy=spec["queueingStrategy"].choice(queues.QueueingStrategy.BEST_EFFORT_FIFO),
        namespace_selector=label_selector(spec["namespaceSelector"]),
        preemption=_preemption(spec["preemption"]),
        fungibility=_fungibility(spec["flavorFungibility"]),
        checks=_checks(spec, is_current(root)),
        stop_policy=spec["stopPolicy"].choice(queues.StopPolicy.NONE),
        admission_mode=spec["admissionScope"]["admissionMode"].choice(queues.AdmissionMode.NOT_BY_USAGE),
    )


def _holder(spec: Cursor, parent: Cursor) -> HolderFields:
    """Return the fields of `QuotaHolder`, which ClusterQueue and Cohort share."""
    return {
        "parent": parent.text() or None,
        "parent_place": place(parent),
        "groups": _groups(spec["resourceGroups"]),
        "weight": quantity(spec["fairSharing"]["weight"]),
    }


def is_current(root: Cursor) -> bool:
    return (root["apiVersion"].text() or "") != f"{GROUP}/v1beta1"


def _groups(at: Cursor) -> tuple[queues.ResourceGroup, ...]:
    return tuple(
        queues.ResourceGroup(
            covered=text_list(g["coveredResources"]),
            flavors=tuple(_flavor_quotas(f) for f in g.items_at("flavors")),
            place=place(g),
        )
        for g in at.items()
    )


def _flavor_quotas(at: Cursor) -> queues.FlavorQuotas:
    name = at.text_at("name")
    cells = (_quota(name, r) for r in at.items_at("resources"))
    return queues.FlavorQuotas(name, place(at), tuple(c for c in cells if c is not None))


def _quota(flavor: str, at: Cursor) -> queues.Quota | None:
    nominal, resource = quantity_at(at, "nominalQuota"), at.text_at("name")
    if nominal is None or not resource:
        return None
    return queues.Quota(
        flavor=flavor,
        resource=resource,
        nominal_quantity=nominal,
        place=place(at),
        borrowing_quantity=quantity_at(at, "borrowingLimit"),
        lending_quantity=quantity_at(at, "lendingLimit"),
    )


def _preemption(at: Cursor) -> queues.Preemption:
    borrow = at["borrowWithinCohort"]
    return queues.Preemption(
        within_queue=at["withinClusterQueue"].choice(queues.PreemptionPolicy.NEVER),
        reclaim=at["reclaimWithinCohort"].choice(queues.PreemptionPolicy.NEVER),
        borrow=borrow["policy"].choice(queues.PreemptionPolicy.NEVER),
        borrow_threshold=borrow["maxPriorityThreshold"].integer(),
        place=place(at),
    )


def _fungibility(at: Cursor) -> queues.Fungibility:
    return queues.Fungibility(
        _fungibility_policy(at["whenCanBorrow"], queues.FungibilityPolicy.MAY_STOP_SEARCH),
        _fungibility_policy(at["whenCanPreempt"], queues.FungibilityPolicy.TRY_NEXT_FLAVOR),
        place(at),
        at["preference"].choice(queues.FlavorPreference.BORROWING_OVER_PREEMPTION),
    )


def _fungibility_policy(at: Cursor, default: queues.FungibilityPolicy) -> queues.FungibilityPolicy:
    return queues.FungibilityPolicy.MAY_STOP_SEARCH if at.text() in _LEGACY_FUNGIBILITY else at.choice(default)


def _checks(spec: Cursor, is_current: bool) -> tuple[queues.CheckUse, ...]:
    """Return the checks in force: in v1beta1 the plain list silently overwrites the strategy."""
    plain = [] if is_current else spec.items_at("admissionChecks")
    if plain:
        return tuple(queues.CheckUse(c.text() or "", (), place(c), place(c)) for c in plain)
    return tuple(
        queues.CheckUse(c["name"].text() or "", text_list(c["onFlavors"]), place(c["name"]), place(c["onFlavors"]))
        for c in spec["admissionChecksStrategy"].items_at("admissionChecks")
    )


def cohort(root: Cursor) -> Object:
    spec = root["spec"]
    parent = spec["parent" if (root["apiVersion"].text() or "").endswith("/v1alpha1") else "parentName"]
    return queues.Cohort(object_id(root), place(root), *metadata(root), **_holder(spec, parent))


def local_queue(root: Cursor) -> Object:
    spec = root["spec"]
    return queues.LocalQueue(
        object_id(root),
        place(root),
        *metadata(root),
        cluster_queue=spec["clusterQueue"].text() or None,
        stop_policy=spec["stopPolicy"].choice(queues.StopPolicy.NONE),
        weight=quantity(spec["fairSharing"]["weight"]),
    )


def topology(root: Cursor) -> Object:
    levels = tuple(lv["nodeLabel"].text() or "" for lv in root["spec"].items_at("levels"))
    return queues.Topology(object_id(root), place(root), *metadata(root), levels=levels)


def admission_check(root: Cursor) -> Object:
    spec, parameters = root["spec"], root["spec"]["parameters"]
    return queues.AdmissionCheck(
        object_id(root),
        place(root),
        *metadata(root),
        controller=spec["controllerName"].text() or "",
        parameters_kind=parameters["kind"].text(),
        parameters_group=parameters["apiGroup"].text(),
        parameters_name=parameters["name"].text(),
    )


def provisioning_request_config(root: Cursor) -> Object:
    spec = root["spec"]
    return queues.ProvisioningRequestConfig(
        object_id(root),
        place(root),
        *metadata(root),
        managed_resources=text_list(spec["managedResources"]),
    )


def multikueue_config(root: Cursor) -> Object:
    spec = root["spec"]
    clusters, automated = text_list(spec["clusters"]), spec["quotaManagement"].text() == "Automated"
    return queues.MultiKueueConfig(
        object_id(root), place(root), *metadata(root), clusters=clusters, is_automated=automated
    )


def multikueue_cluster(root: Cursor) -> Object:
    spec = root["spec"]
    config = spec["clusterSource"]["kubeConfig"] if is_current(root) else spec["kubeConfig"]
    location = config["location"].text()
    return queues.MultiKueueCluster(object_id(root), place(root), *metadata(root), location=location)


def workload_priority_class(root: Cursor) -> Object:
    value = root["value"].integer() or 0
    return queues.WorkloadPriorityClass(object_id(root), place(root), *metadata(root), value=value)


def workload(root: Cursor) -> Object:
    """Return a handwritten (prebuilt) Workload; controllers create the others."""
    spec = root["spec"]
    labels, annotations = metadata(root)
    priority_class = spec["priorityClassRef"]["name"] if is_current(root) else spec["priorityClassName"]
    return Workload(
        object_id(root),
        place(root),
        labels,
        annotations,
        framework=None,
        queue=spec["queueName"].text() or None,
        queue_place=place(spec["queueName"]),
        priority_class=priority_class.text() or labels.get(PRIORITY_CLASS),
        priority_class_place=place(priority_class),
        pod_sets=tuple(pod_set(p) for p in spec.items_at("podSets")),
    )


def pod_set(at: Cursor) -> PodSet:
    """Return a pod set of a Workload. Its topology request is a field; annotations of its template have no effect."""
    template = pod_template(at["template"])
    count = at["count"].count()
    return PodSet(
        name=at["name"].text() or "main",
        template=template,
        count=1 if count is None else count,
        count_place=place(at["count"]),
        minimum=at["minCount"].count(),
        topology=_topology_request(at["topologyRequest"]),
    )


def _topology_request(at: Cursor) -> TopologyRequest | None:
    if not isinstance(at.data, dict):
        return None
    level, size = at.text_at("podSetSliceRequiredTopology") or None, at["podSetSliceSize"].count()
    layers = tuple(
        TopologySlice(each.text_at("topology"), each["size"].count() or 0)
        for each in at.items_at("podsetSliceRequiredTopologyConstraints")
    )
    return TopologyRequest(
        place=place(at),
        required=at.text_at("required") or None,
        preferred=at.text_at("preferred") or None,
        unconstrained=at["unconstrained"].boolean(),
        slice_level=level,
        slice_size=size,
        slices=layers or ((TopologySlice(level, size),) if level and size else ()),
        group=at.text_at("podSetGroupName") or None,
    )


DECODERS: dict[str, Callable[[Cursor], Object]] = {
    "ResourceFlavor": resource_flavor,
    "ClusterQueue": cluster_queue,
    "Cohort": cohort,
    "LocalQueue": local_queue,
    "Topology": topology,
    "AdmissionCheck": admission_check,
    "ProvisioningRequestConfig": provisioning_request_config,
    "MultiKueueConfig": multikueue_config,
    "MultiKueueCluster": multikueue_cluster,
    "WorkloadPriorityClass": workload_priority_class,
    "Workload": workload,
}
