"""Machines of Cluster API (`cluster.x-k8s.io`) and of OpenShift (`machine.openshift.io`).

Both store a count in `replicas` and the autoscaler's bounds in annotations (OpenShift also in a MachineAutoscaler), and
describe the capacity of future nodes in annotations. The machine type is in the infrastructure template or in
`providerSpec`.
"""

from __future__ import annotations

from qcheck.cluster.nodes import Certainty, LabelOrigin, Machine
from qcheck.cluster.value import TYPE_CHECKING, replace
from qcheck.nodepools.capacity_annotations import annotated_capacity, annotated_labels, annotated_taints
from qcheck.nodepools.figures import Count, Figures, place, texts, unresolved_keys
from qcheck.nodepools.pool import PoolDraft, PoolMachineTypes, finished, look_up
from qcheck.nodepools.provider_labels import Provided

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from qcheck.cluster.labels import Labels, Taint
    from qcheck.cluster.nodes import NodePool
    from qcheck.documents.cursor import Cursor
    from qcheck.nodepools.pool import PoolContext

NODE_GROUP = "cluster-api-autoscaler-node-group"
SIZES = tuple(
    (f"{domain}/{NODE_GROUP}-min-size", f"{domain}/{NODE_GROUP}-max-size")
    for domain in ("cluster.x-k8s.io", "machine.openshift.io")
)
"""Annotations with the lower and upper bounds."""
SYNCED = ("node-role.kubernetes.io", "node-restriction.kubernetes.io", "node.cluster.x-k8s.io")
"""Domains whose labels Cluster API copies from Machines to Nodes."""
CAPI = LabelOrigin("Cluster API", before_boot=True)


def read_pools(root: Cursor, context: PoolContext) -> Iterator[NodePool]:
    """Yield the pool of a MachineDeployment, MachineSet or MachinePool, or those of a Cluster's topology."""
    is_openshift = (root["apiVersion"].text() or "").startswith("machine.openshift.io/")
    spec, kind = root["spec"], root["kind"].text() or ""
    if kind == "Cluster":
        for field in ("machineDeployments", "machinePools"):
            for group in spec["topology"]["workers"][field].items():
                yield _of_topology(group, context)
    elif is_openshift:
        yield _openshift(root, context)
    elif not any(owner["kind"].text() == "MachineDeployment" for owner in root["metadata"]["ownerReferences"].items()):
        yield _capi(root, kind, context)


def _capi(root: Cursor, kind: str, context: PoolContext) -> NodePool:
    spec, annotations = root["spec"], root["metadata"]["annotations"]
    template = spec["template"]["spec"]
    reference = template["infrastructureRef"]
    infra = context.find(reference["kind"].text() or "", reference["name"].text())
    boot = context.find(
        template["bootstrap"]["configRef"]["kind"].text() or "", template["bootstrap"]["configRef"]["name"].text()
    )
    managed = infra["spec"] if infra is not None and kind == "MachinePool" else None
    figures = Figures()
    declared, taints = _registered(boot, figures)
    synced = {
        k: v for k, v in spec["template"]["metadata"]["labels"].strings().items() if k.partition("/")[0] in SYNCED
    }
    declared = {**annotated_labels(annotations), **synced, **declared}
    taints = (*taints, *figures.taints(template["taints"]), *annotated_taints(annotations))
    if managed is not None:
        declared |= (
            managed["nodeLabels"].strings() | managed["labels"].strings() | managed["kubernetesLabels"].strings()
        )
        taints = (*taints, *_managed_taints(managed, figures))
    types, at = _type_of(infra, annotations, context.own, reference)
    return finished(
        PoolDraft(
            name=root["metadata"]["name"].text() or "",
            format=f"Cluster API {kind}",
            place=place(root),
            count=_count(spec["replicas"], annotations, managed),
            machines=types.machines,
            type_place=place(at),
            machine_doubt=types.doubt,
            labels=declared,
            taints=taints,
            zones=tuple(t for t in (template["failureDomain"].text(),) if t) or texts(spec["failureDomains"]),
            spot=_is_spot(infra),
            autoscaler="cluster-autoscaler",
            other=figures,
        )
    )


def _count(replicas: Cursor, annotations: Cursor, managed: Cursor | None = None) -> Count:
    """Return `replicas` or the bounds; without either 1, and without replicas the lower bound."""
    figures = Figures()
    number = figures.whole(replicas)
    for low_key, high_key in SIZES:
        low, high = annotations[low_key], annotations[high_key]
        if low.exists and high.exists:
            least, most = figures.whole(low), figures.whole(high)
            return Count(
                place=place(high),
                minimum=least or 0,
                desired=number if number is not None else least,
                maximum=most,
                doubt=figures.doubt,
            )
    scaling = managed["scaling"] if managed is not None else None
    if scaling is not None and scaling.exists:
        names = ("maxSize", "maxCount") if scaling["maxSize"].exists else ("maxCount", "minCount")
        high = scaling[names[0]]
        low = scaling["minSize"] if scaling["minSize"].exists else scaling["minCount"]
        least, most = figures.whole(low), figures.whole(high)
        return Count(place=place(high), minimum=least or 0, desired=number, maximum=most, doubt=figures.doubt)
    if figures.doubt is not None:
        return Count(place=place(replicas), minimum=0, desired=None, maximum=None, doubt=figures.doubt)
    return Count(place(replicas), *(1 if number is None else number,) * 3)


def _type_of(
    infra: Cursor | None, annotations: Cursor, own: Mapping[str, Machine], at: Cursor
) -> tuple[PoolMachineTypes, Cursor]:
    """Return the machine type of the infrastructure template, overridden by annotations."""
    annotated = annotated_capacity(annotations)
    found = _type_field(infra) if infra is not None else None
    if found is None:
        if annotated:
            return PoolMachineTypes(
                (Machine(None, annotated, dict.fromkeys(annotated, Certainty.DECLARED), source="annotations"),)
            ), annotations
        return PoolMachineTypes(
            (), f"its infrastructure template {at['name'].text() or ''} was not found in the files"
        ), at
    name = found.text() or ""
    types = look_up((name,), None, own)
    if types.first is None:
        if annotated:
            return PoolMachineTypes(
                (Machine(name, annotated, dict.fromkeys(annotated, Certainty.DECLARED), source="annotations"),)
            ), found
        return types, found
    machine = types.first
    return PoolMachineTypes((replace(machine, allocatable={**machine.allocatable, **annotated}),)), found


def _type_field(infra: Cursor) -> Cursor | None:
    spec = infra["spec"]
    for at in (spec["template"]["spec"], spec, spec["awsLaunchTemplate"]):
        for field in ("instanceType", "vmSize", "sku", "machineType", "flavor"):
            if at[field].text():
                return at[field]
    return None


def _is_spot(infra: Cursor | None) -> bool:
    if infra is None:
        return False
    spec = infra["spec"]
    template = spec["template"]["spec"]
    fields = (template["spotMarketOptions"], template["spotVMOptions"], spec["spotVMOptions"])
    chosen = (spec["capacityType"].text(), spec["scaleSetPriority"].text())
    return any(f.exists for f in fields) or "spot" in chosen or "Spot" in chosen


def _registered(boot: Cursor | None, figures: Figures) -> tuple[Labels, tuple[Taint, ...]]:
    """Return the labels and taints with which kubeadm registers a node."""
    if boot is None:
        return {}, ()
    node = boot["spec"]["template"]["spec"]["joinConfiguration"]["nodeRegistration"]
    extra = node["kubeletExtraArgs"]
    listed = {e["name"].text(): e["value"].text() for e in extra.items()}
    text = listed.get("node-labels") or extra["node-labels"].text() or ""
    found = dict(pair.partition("=")[::2] for pair in text.split(",") if pair)
    return found, figures.taints(node["taints"])


def _managed_taints(managed: Cursor, figures: Figures) -> tuple[Taint, ...]:
    """Return the taints of managed pools, whose effects have three spellings."""
    effects = {"no-schedule": "NoSchedule", "no-execute": "NoExecute", "prefer-no-schedule": "PreferNoSchedule"}
    found = (*figures.taints(managed["taints"]), *figures.taints(managed["kubernetesTaints"]))
    return tuple(replace(t, effect=effects.get(t.effect, t.effect)) for t in found)


def _of_topology(group: Cursor, context: PoolContext) -> NodePool:
    """Return a worker class of a Cluster's topology.

    The machine type is inside the ClusterClass unless a variable with a usual name states it.
    """
    figures = Figures()
    annotations = group["metadata"]["annotations"]
    annotated = annotated_capacity(annotations)
    named = next(
        (v["value"] for v in group["variables"]["overrides"].items() if v["value"].text() and _names_type(v)), None
    )
    if named is not None:
        types = look_up((named.text() or "",), None, context.own)
    elif annotated:
        types = PoolMachineTypes(
            (Machine(None, annotated, dict.fromkeys(annotated, Certainty.DECLARED), source="annotations"),)
        )
    else:
        types = PoolMachineTypes((), f"the machine type is in the class {group['class'].text() or ''}")
    declared = {k: v for k, v in group["metadata"]["labels"].strings().items() if k.partition("/")[0] in SYNCED}
    name = group["name"].text() or ""
    return finished(
        PoolDraft(
            name=name,
            format="Cluster API topology",
            place=place(group),
            count=_count(group["replicas"], annotations),
            machines=types.machines,
            type_place=place(named if named is not None else group["class"]),
            machine_doubt=types.doubt,
            labels={**annotated_labels(annotations), **declared},
            taints=(*figures.taints(group["taints"]), *annotated_taints(annotations)),
            provided=(Provided(CAPI, {"topology.cluster.x-k8s.io/deployment-name": name}),),
            autoscaler="cluster-autoscaler",
            other=figures,
        )
    )


def _names_type(variable: Cursor) -> bool:
    name = (variable["name"].text() or "").lower()
    return any(word in name for word in ("instancetype", "machinetype", "vmsize", "flavor"))


def _openshift(root: Cursor, context: PoolContext) -> NodePool:
    spec, annotations, name = root["spec"], root["metadata"]["annotations"], root["metadata"]["name"].text() or ""
    figures = Figures()
    template = spec["template"]["spec"]
    provider = template["providerSpec"]["value"]
    types, at = _type_of(_wrapped(provider), annotations, context.own, provider)
    gpus = Figures().whole(provider["gpus"][0]["count"])
    if gpus and types.first is not None:
        types = PoolMachineTypes(
            (replace(types.first, allocatable={**types.first.allocatable, "nvidia.com/gpu": gpus}),)
        )
    zone = provider["placement"]["availabilityZone"].text() or provider["zone"].text()
    return finished(
        PoolDraft(
            name=name,
            format="OpenShift MachineSet",
            place=place(root),
            count=_autoscaled(name, context) or _count(spec["replicas"], annotations),
            machines=types.machines,
            type_place=place(at),
            machine_doubt=types.doubt,
            labels={**annotated_labels(annotations), **figures.labels(template["metadata"]["labels"])},
            taints=(*figures.taints(template["taints"]), *annotated_taints(annotations)),
            open_labels=tuple(unresolved_keys(template["metadata"]["labels"])),
            zones=(zone,) if zone else (),
            spot=provider["spotMarketOptions"].exists or provider["spotVMOptions"].exists,
            autoscaler="cluster-autoscaler",
            other=figures,
        )
    )


def _wrapped(provider: Cursor) -> Cursor:
    """Return `providerSpec.value` as an infrastructure object, so that its fields are found as in a template."""
    route = provider.route[:-1]
    return type(provider)(provider.document, route, {"spec": provider.data}) if provider.exists else provider


def _autoscaled(name: str, context: PoolContext) -> Count | None:
    """Return the bounds of a MachineAutoscaler that targets the set."""
    for each in context.of_kind("MachineAutoscaler"):
        spec, figures = each["spec"], Figures()
        if spec["scaleTargetRef"]["name"].text() == name:
            low, high = figures.whole(spec["minReplicas"]), figures.whole(spec["maxReplicas"])
            return Count(
                place=place(spec["maxReplicas"]), minimum=low or 0, desired=None, maximum=high, doubt=figures.doubt
            )
    return None
