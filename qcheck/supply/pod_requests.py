"""Requests of a pod set: as Kueue charges them to quota, and as kube-scheduler sees them.

The two differ. Kueue reads the template: a LimitRange's default request takes precedence over a container's own limit,
and excluded and transformed resources change names. The API server instead uses the container's limit first and
transforms nothing.

Source: Kueue 0.19 `pkg/workload/resources.go`, `pkg/workload/workload.go`; Kubernetes `pkg/apis/core/v1/defaults.go`
and the LimitRanger plugin.
"""

from __future__ import annotations

from qcheck.cluster.pods import Amounts, Container, PodTemplate, Quantities, add, in_base_units, larger, smaller
from qcheck.cluster.quantity import NANO, Quantity
from qcheck.cluster.value import TYPE_CHECKING, Value, replace
from qcheck.cluster.views import ByIdentity, answered_once, cache_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.kueue_configuration import Transformation
    from qcheck.cluster.place import Place

PODS = "pods"
_POD_LEVEL_SINCE = 17
_MULTIPLY_SINCE = 16


class LimitRangeBounds(Value):
    """All LimitRanges of a namespace combined: the lowest max, the highest min, the first default of each resource."""

    default_requests: Quantities = {}
    default_limits: Quantities = {}
    container_max: Quantities = {}
    container_min: Quantities = {}
    pod_max: Quantities = {}
    pod_min: Quantities = {}
    pod_default_requests: Quantities = {}
    pod_default_limits: Quantities = {}


UNBOUNDED = LimitRangeBounds()


def bounds(cluster: Cluster, namespace: str) -> LimitRangeBounds:
    """Return the LimitRanges of a namespace, combined as Kueue does; every call returns the same object."""
    if not cluster.limit_ranges:
        return UNBOUNDED
    return _joined(cluster, namespace)


@answered_once
def _joined(cluster: Cluster, namespace: str) -> LimitRangeBounds:
    whole = UNBOUNDED
    for each in cluster.limit_ranges:
        if each.namespace != namespace:
            continue
        whole = LimitRangeBounds(
            default_requests={**each.default_requests, **whole.default_requests},
            default_limits={**each.default_limits, **whole.default_limits},
            container_max=smaller(whole.container_max, each.container_max),
            container_min=larger(whole.container_min, each.container_min),
            pod_max=smaller(whole.pod_max, each.pod_max),
            pod_min=larger(whole.pod_min, each.pod_min),
            pod_default_requests={**each.pod_default_requests, **whole.pod_default_requests},
            pod_default_limits={**each.pod_default_limits, **whole.pod_default_limits},
        )
    return whole


def adjusted(cluster: Cluster, template: PodTemplate, limits: LimitRangeBounds, as_pod: bool) -> PodTemplate:
    """Return the template with overhead and LimitRange defaults, and with limits used for missing requests.

    `as_pod`: apply them in the order in which the API server completes a pod, else in Kueue's order for a template.
    """
    if template.is_wrapped and not as_pod:
        template = _as_wrapped(template)
    containers = _with_injected(cluster, template, as_pod)
    changes: dict[str, object] = {
        "overhead": template.overhead or _overhead(cluster, template),
        "containers": tuple(_complete(c, limits, as_pod) for c in containers),
        "init_containers": tuple(_complete(c, limits, as_pod) for c in template.init_containers),
    }
    if template.has_pod_resources:
        pod_limits = {**limits.pod_default_limits, **template.pod_limits}
        defaults = limits.pod_default_requests
        changes["pod_limits"] = pod_limits
        changes["pod_requests"] = {**pod_limits, **defaults, **template.pod_requests}
    if not cluster.policy.kueue.at_least(_POD_LEVEL_SINCE) and not as_pod:
        changes.update(pod_requests={}, pod_limits={})
    return replace(template, **changes)


def _as_wrapped(template: PodTemplate) -> PodTemplate:
    """Return the part of a template that an AppWrapper passes on."""
    init = tuple(replace(c, is_sidecar=False) for c in template.init_containers)
    return replace(
        template, init_containers=init, runtime_class=None, pod_requests={}, pod_limits={}, has_pod_resources=False
    )


def _with_injected(cluster: Cluster, template: PodTemplate, as_pod: bool) -> tuple[Container, ...]:
    """Return the containers plus those that an operator adds: all in a pod; for Kueue, those its release counts."""
    containers = list(template.containers)
    for each in template.injected:
        if not as_pod and not cluster.policy.kueue.at_least(each.since):
            continue
        if each.is_floor and containers:
            containers[0] = replace(containers[0], requests=larger(containers[0].requests, each.container.requests))
        elif not each.is_floor:
            containers.append(each.container)
    return tuple(containers)


def _overhead(cluster: Cluster, template: PodTemplate) -> Quantities:
    return next((c.overhead for c in cluster.runtime_classes if c.name == template.runtime_class), {})


def _complete(container: Container, limits: LimitRangeBounds, as_pod: bool) -> Container:
    all_limits = {**limits.default_limits, **container.limits}
    if as_pod:
        requests = {**all_limits, **limits.default_requests, **container.limits, **container.requests}
    else:
        requests = {**all_limits, **limits.default_requests, **container.requests}
    return replace(container, requests=requests, limits=all_limits)


def completed(cluster: Cluster, template: PodTemplate, limits: LimitRangeBounds, as_pod: bool) -> Quantities:
    """Return the requests of a pod of the adjusted template, cached by equal templates under the same `limits`."""
    known = cache_of(cluster, completed)
    key = (template.ask, ByIdentity(limits), as_pod)
    if key not in known:
        known[key] = adjusted(cluster, template, limits, as_pod).requests()
    found: Quantities = known[key]
    return found


def charged(cluster: Cluster, template: PodTemplate, limits: LimitRangeBounds, as_pod: bool = False) -> Amounts:
    """Return what Kueue charges to quota for one pod, in base units, rounded up; zero amounts are kept.

    `as_pod`: for integrations that see pods as the API server completed them (Pod, Deployment).
    """
    asked = completed(cluster, template, limits, as_pod)
    manager = cluster.configuration
    if manager is not None:
        asked = {r: q for r, q in asked.items() if not r.startswith(manager.exclude_prefixes or ("\0",))}
        multiplies = cluster.policy.kueue.at_least(_MULTIPLY_SINCE)
        asked = _transform(asked, {t.input: t for t in manager.transformations}, multiplies)
    return {r: max(0, amount) for r, amount in in_base_units(asked).items()}


def _transform(asked: Quantities, rules: Mapping[str, Transformation], multiplies: bool) -> Quantities:
    """Apply resource transformations: outputs are whole inputs times a factor, summed by name, never below zero."""
    kept = {r: q for r, q in asked.items() if r not in rules or not rules[r].is_replaced}
    outputs: Quantities = {}
    for resource, quantity in asked.items():
        rule = rules.get(resource)
        if rule is None:
            continue
        many = quantity.units
        if multiplies and rule.multiply_by in asked:
            many = -(-quantity.nanos * asked[rule.multiply_by].units // NANO)
        outputs = add(outputs, {r: Quantity(f.nanos * many, f.family, "") for r, f in rule.outputs.items()})
    floored = {r: q if q.nanos >= 0 else replace(q, nanos=0) for r, q in outputs.items()}
    return add(kept, floored)


def scheduled(cluster: Cluster, template: PodTemplate, limits: LimitRangeBounds) -> Amounts:
    """Return what kube-scheduler needs on a node for one pod: its requests and one pod slot, without zero amounts."""
    asked = in_base_units(completed(cluster, template, limits, as_pod=True))
    return {**{r: amount for r, amount in asked.items() if amount > 0}, PODS: 1}


class Breach(Value):
    """A container or pod whose requests or limits Kueue rejects; the workload then waits as Misconfigured."""

    place: Place
    message: str


def breaches(cluster: Cluster, template: PodTemplate, limits: LimitRangeBounds) -> Iterator[Breach]:
    """Yield requests above limits, and violations of a LimitRange's minimum or maximum."""
    whole = adjusted(cluster, template, limits, as_pod=False)
    for container in whole.all_containers():
        yield from _over_limit(container)
        most, least = larger(container.requests, container.limits), smaller(container.requests, container.limits)
        yield from _outside(container.place, f"container {container.name}", most, limits.container_max, over=True)
        yield from _outside(container.place, f"container {container.name}", least, limits.container_min, over=False)
    total = whole.requests()
    yield from _outside(template.place, "the pod", total, limits.pod_max, over=True)
    yield from _outside(template.place, "the pod", total, limits.pod_min, over=False)


def _over_limit(container: Container) -> Iterator[Breach]:
    for resource, quantity in container.requests.items():
        limit = container.limits.get(resource)
        if limit is not None and quantity.nanos > limit.nanos:
            asked = f"container {container.name} requests {quantity.canonical} {resource}"
            yield Breach(container.place.at("resources"), f"{asked}, more than its limit {limit.canonical}")


def _outside(place: Place, what: str, asked: Quantities, bound: Quantities, over: bool) -> Iterator[Breach]:
    for resource, limit in bound.items():
        quantity = asked.get(resource)
        if quantity is None or (quantity.nanos <= limit.nanos if over else quantity.nanos >= limit.nanos):
            continue
        side = "more than the maximum" if over else "less than the minimum"
        shown = f"{quantity.canonical} {resource}, {side} {limit.canonical}"
        yield Breach(place, f"{what} asks for {shown} that a LimitRange of the namespace allows")
