"""Reads pod templates of any kind."""

from __future__ import annotations

from qcheck.cluster.pods import Container, HostPort, PodTemplate, Spread
from qcheck.cluster.quantity import whole
from qcheck.cluster.value import TYPE_CHECKING, replace
from qcheck.cluster.workloads import TopologyRequest, TopologySlice
from qcheck.documents.cursor import Cursor, as_mapping
from qcheck.kinds.same_content import by_content
from qcheck.kinds.shared_fields import label_selector, metadata, node_selection, place, quantities, tolerations

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_PREFIX = "kueue.x-k8s.io/podset-"
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def pod_template(template: Cursor) -> PodTemplate:
    """Return a PodTemplateSpec (`metadata` and `spec`), or a Pod, as a pod template."""
    spec = template["spec"]
    labels, annotations = metadata(template)
    containers, init_containers = spec.items_at("containers"), spec.items_at("initContainers")
    alike = _alike(_without(spec, _WITH_PLACES))
    return replace(
        alike,
        place=place(spec),
        labels=labels,
        annotations=annotations,
        metadata_place=place(template["metadata"]),
        containers=tuple([container(c) for c in containers]),
        init_containers=tuple([container(c) for c in init_containers]),
        host_ports=tuple(_host_ports([*containers, *filter(_is_sidecar, init_containers)], alike.host_network)),
        spreads=tuple([_spread(c, labels) for c in spec.items_at("topologySpreadConstraints") if _is_hard(c)]),
    )


_WITH_PLACES = frozenset({"containers", "initContainers", "topologySpreadConstraints", "volumes"})
"""The fields of a pod from which places are read, or which are long and not used."""


def _without(spec: Cursor, fields: frozenset[str]) -> Cursor:
    """Return a pod's spec without some fields."""
    left = {k: v for k, v in as_mapping(spec.data).items() if k not in fields}
    return Cursor(spec.document, spec.route, left)


@by_content
def _alike(spec: Cursor) -> PodTemplate:
    """Return the pod template of a spec without containers; equal for pods that differ in nothing else."""
    affinity, resources = spec["affinity"], spec["resources"]
    pod, anti = (affinity[side].items_at(_REQUIRED) for side in ("podAffinity", "podAntiAffinity"))
    return PodTemplate(
        place=place(spec),
        labels={},
        annotations={},
        metadata_place=place(spec),
        selection=node_selection(spec),
        tolerations=tolerations(spec["tolerations"]),
        containers=(),
        overhead=quantities(spec["overhead"]),
        pod_requests=quantities(resources["requests"]),
        pod_limits=quantities(resources["limits"]),
        has_pod_resources=isinstance(resources.data, dict),
        scheduler_name=spec.text_at("schedulerName") or None,
        runtime_class=spec.text_at("runtimeClassName") or None,
        priority_class=spec.text_at("priorityClassName") or None,
        priority=spec["priority"].integer(),
        preemption_policy=spec.text_at("preemptionPolicy") or None,
        termination_grace_seconds=spec["terminationGracePeriodSeconds"].integer(),
        node_name=spec.text_at("nodeName") or None,
        host_network=spec["hostNetwork"].boolean() or False,
        scheduling_gates=tuple(g.text_at("name") for g in spec.items_at("schedulingGates")),
        claim_templates=_claims(spec, "resourceClaimTemplateName"),
        claims=_claims(spec, "resourceClaimName"),
        one_per_node=any(t.text_at("topologyKey") == "kubernetes.io/hostname" for t in anti),
        has_pod_affinity=bool(pod or anti),
    )


def _host_ports(containers: Iterable[Cursor], on_host: bool) -> Iterator[HostPort]:
    """Yield the ports used on the node; on the host's network, container ports are host ports by default."""
    for each in containers:
        for at in each.items_at("ports"):
            port = at["hostPort"].count() or (at["containerPort"].count() if on_host else None)
            ip = at.text_at("hostIP")
            if port:
                yield HostPort(at.text_at("protocol") or "TCP", port, "" if ip in _ANY_ADDRESS else ip)


_ANY_ADDRESS = ("", "0.0.0.0", "::")


def _is_hard(constraint: Cursor) -> bool:
    return constraint.text_at("whenUnsatisfiable") == "DoNotSchedule"


def _spread(at: Cursor, labels: dict[str, str]) -> Spread:
    selector = label_selector(at["labelSelector"])
    honoured = (at.text_at("nodeAffinityPolicy") or "Honor") == "Honor"
    ignored = (at.text_at("nodeTaintsPolicy") or "Ignore") == "Ignore"
    return Spread(
        key=at.text_at("topologyKey"),
        max_skew=at["maxSkew"].count() or 1,
        minimum_domains=at["minDomains"].count(),
        counts_own=selector is not None and selector.matches(labels),
        is_plain=honoured and ignored and not at.items_at("matchLabelKeys"),
        place=place(at),
    )


def container(at: Cursor) -> Container:
    resources = at["resources"]
    return Container(
        name=at.text_at("name"),
        place=place(at),
        requests=quantities(resources["requests"]),
        limits=quantities(resources["limits"]),
        is_sidecar=_is_sidecar(at),
    )


def _is_sidecar(at: Cursor) -> bool:
    return at.text_at("restartPolicy") == "Always"


def _claims(spec: Cursor, field: str) -> tuple[str, ...]:
    return tuple(t for c in spec.items_at("resourceClaims") if (t := c.text_at(field)))


def topology_request(template: PodTemplate) -> TopologyRequest | None:
    """Return the topology annotations of a template; None if it has none."""
    asked = {k.removeprefix(_PREFIX): v for k, v in template.annotations.items() if k.startswith(_PREFIX)}
    if not asked:
        return None
    level, size = asked.get("slice-required-topology"), whole(asked.get("slice-size", ""))
    one = (TopologySlice(level, size),) if level and size else ()
    return TopologyRequest(
        place=template.metadata_place.at("annotations"),
        required=asked.get("required-topology"),
        preferred=asked.get("preferred-topology"),
        unconstrained=_truth(asked.get("unconstrained-topology")),
        slice_level=level,
        slice_size=size,
        slices=_layers(asked.get("slice-required-topology-constraints")) or one,
        group=asked.get("group-name") if {"required-topology", "preferred-topology"} & asked.keys() else None,
    )


def _truth(text: str | None) -> bool | None:
    return None if text is None else text in ("1", "t", "T", "true", "TRUE", "True")


def _layers(text: str | None) -> tuple[TopologySlice, ...]:
    """Return nested slices, written as JSON; empty if the text is invalid, which is reported elsewhere."""
    if not text:
        return ()
    import json  # 1.5 ms

    try:
        layers = json.loads(text)
        return tuple(TopologySlice(str(layer["topology"]), int(layer["size"])) for layer in layers)
    except (ValueError, TypeError, KeyError, RecursionError):
        return ()
