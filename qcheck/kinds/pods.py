"""Reads pod templates of any kind."""

from __future__ import annotations

from qcheck.cluster.pods import Container, HostPort, PodTemplate, Spread
from qcheck.cluster.quantity import whole
from qcheck.cluster.value import TYPE_CHECKING, replace
from qcheck.cluster.workloads import TopologyRequest, TopologySlice
from qcheck.documents.cursor import Cursor, as_mapping
from qcheck.kinds.shared_fields import (
    by_content,
    label_selector,
    metadata,
    node_selection,
    place,
    quantities,
    tolerations,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_PREFIX = "kueue.x-k8s.io/podset-"
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


_NO_LABELS: Mapping[str, str] = {}


def pod_template(template: Cursor, added: Mapping[str, str] = _NO_LABELS) -> PodTemplate:
    """Return a PodTemplateSpec (`metadata` and `spec`) or a Pod as a pod template; `added` are labels of its controller."""
    spec = template["spec"]
    labels, annotations = metadata(template)
    own = {**added, **labels}
    containers, init_containers = spec.objects_at("containers"), spec.objects_at("initContainers")
    alike = _alike(_without(spec, _WITH_PLACES))
    apart, affine = _affinities(spec["affinity"], own) if alike.has_pod_affinity else (False, False)
    return replace(
        alike,
        one_per_node=apart,
        has_pod_affinity=affine,
        place=place(spec),
        labels=labels,
        annotations=annotations,
        metadata_place=place(template["metadata"]),
        containers=tuple([container(c) for c in containers]),
        init_containers=tuple([container(c) for c in init_containers]),
        host_ports=tuple(_host_ports([*containers, *filter(_is_sidecar, init_containers)], alike.host_network)),
        spreads=tuple([_spread(c, own) for c in spec.items_at("topologySpreadConstraints") if _is_hard(c)]),
    )


_WITH_PLACES = frozenset({"containers", "initContainers", "topologySpreadConstraints", "volumes"})
"""Fields of a pod that contain places of interest, or that are long and unused."""


def _without(spec: Cursor, fields: frozenset[str]) -> Cursor:
    """Return a pod's spec without some fields."""
    left = {k: v for k, v in as_mapping(spec.data).items() if k not in fields}
    return Cursor(spec.document, spec.route, left)


@by_content
def _alike(spec: Cursor) -> PodTemplate:
    """Return the pod template of a spec without its containers."""
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
        has_pod_affinity=bool(pod or anti),
    )


def _affinities(affinity: Cursor, labels: Mapping[str, str]) -> tuple[bool, bool]:
    """Return whether the pods exclude each other from their nodes, and whether they also depend on other pods or domains."""
    anti = affinity["podAntiAffinity"].items_at(_REQUIRED)
    apart = sum(_keeps_apart(term, labels) for term in anti)
    return apart > 0, bool(affinity["podAffinity"].items_at(_REQUIRED)) or apart < len(anti)


def _keeps_apart(term: Cursor, labels: Mapping[str, str]) -> bool:
    """Return whether an anti-affinity certainly allows only one of the pods per node."""
    elsewhere = ("namespaces", "namespaceSelector", "mismatchLabelKeys")
    if term.text_at("topologyKey") != "kubernetes.io/hostname" or any(term[f].exists for f in elsewhere):
        return False
    return _selects_own(term, labels) is True


def _selects_own(at: Cursor, labels: Mapping[str, str]) -> bool | None:
    from qcheck.kinds.own_labels import selects_own  # 0.2 ms

    return selects_own(label_selector(at["labelSelector"]), labels)


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


def _spread(at: Cursor, labels: Mapping[str, str]) -> Spread:
    own = _selects_own(at, labels)
    honoured = (at.text_at("nodeAffinityPolicy") or "Honor") == "Honor"
    ignored = (at.text_at("nodeTaintsPolicy") or "Ignore") == "Ignore"
    return Spread(
        key=at.text_at("topologyKey"),
        max_skew=at["maxSkew"].count() or 1,
        minimum_domains=at["minDomains"].count(),
        counts_own=own is True,
        is_plain=honoured and ignored and own is not None and not at.items_at("matchLabelKeys"),
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
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
        return ()
