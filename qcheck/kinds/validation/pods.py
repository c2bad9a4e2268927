"""Checks of pod templates of built-in kinds, as the API server does when the object is created.

Source: kubernetes 1.36 `pkg/apis/core/validation` (`ValidatePodTemplateSpec`, `ValidatePodSpec`), after defaulting.
"""

from __future__ import annotations

from functools import partial

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.kinds.schema.failure import show
from qcheck.kinds.schema.formats import is_address, key_fault, label_fault, subdomain_fault
from qcheck.kinds.validation.containers import all_containers, claims, containers
from qcheck.kinds.validation.metadata import labels_and_annotations
from qcheck.kinds.validation.resources import pod_resources
from qcheck.kinds.validation.selectors import affinity, label_map, label_selector, tolerations
from qcheck.kinds.validation.target import by_field, in_range, named, one_of, refuse
from qcheck.kinds.validation.volumes import mounts, volumes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.documents.cursor import Cursor
    from qcheck.kinds.schema.failure import Failure
    from qcheck.kinds.validation.target import FieldCheck

_INT32 = 2**31 - 1
_MOST_NAMESERVERS, _MOST_SEARCHES = 3, 32


def pod_template(
    template: Cursor,
    restart: tuple[str, ...] = ("Always", "OnFailure", "Never"),
    is_pod: bool = False,
    claimed: frozenset[str] = frozenset(),
) -> Iterator[Failure]:
    """Check a PodTemplateSpec or Pod; `restart` are its owner's restart policies, the first the default.

    `claimed` are the volumes that the owner adds. The metadata of a Pod is checked with that of all objects.
    """
    spec = template["spec"]
    listed = all_containers(spec)
    if not is_pod:
        yield from labels_and_annotations(template["metadata"], "POD-V01")
    yield from by_field(spec, _OF_SPEC)
    yield from containers(spec)
    yield from mounts(spec, listed, claimed)
    yield from claims(spec, listed)
    yield from _restart_policy(spec, restart)
    yield from _gates(spec)
    yield from _nameservers(spec)
    if spec["hostNetwork"].boolean():
        yield from _hosts(listed)
    if spec["shareProcessNamespace"].boolean() and spec["hostPID"].boolean():
        text = "Invalid value: true: ShareProcessNamespace and HostPID cannot both be enabled"
        yield refuse(spec["shareProcessNamespace"], "POD-V14", text)
    yield from pod_resources(spec)


def _restart_policy(spec: Cursor, restart: tuple[str, ...]) -> Iterator[Failure]:
    written = spec.text_at("restartPolicy")
    if written in restart or (not written and ("Always" in restart or not spec.exists)):
        return
    policy, shown = spec["restartPolicy"], ", ".join(show(r) for r in restart)
    if written:
        yield refuse(policy, "POD-V06", f"Unsupported value: {show(written)}: supported values: {shown}")
    else:
        yield refuse(policy, "POD-V06", f"Required value: valid values: {shown}", f"write restartPolicy: {restart[0]}")


def _os(at: Cursor) -> Iterator[Failure]:
    yield from one_of(at["name"], "POD-V09", ("linux", "windows"))


def _readiness_gates(at: Cursor) -> Iterator[Failure]:
    for each in at.items():
        kind = each["conditionType"].text()
        if kind is not None and (fault := key_fault(kind)):
            yield refuse(each["conditionType"], "POD-V10", f"Invalid value: {show(kind)}: {fault}")


def _gates(spec: Cursor) -> Iterator[Failure]:
    seen: dict[str, Cursor] = {}
    for each in spec.items_at("schedulingGates"):
        name = each["name"].text() or ""
        if fault := key_fault(name):
            yield refuse(each["name"], "POD-V10", f"Invalid value: {show(name)}: {fault}")
        seen.setdefault(name, each)
    if seen and spec["nodeName"].text():
        text = "Forbidden: cannot be set until all schedulingGates have been cleared"
        yield refuse(spec["nodeName"], "POD-V10", text, on_key=True)


def _nameservers(spec: Cursor) -> Iterator[Failure]:
    if spec.text_at("dnsPolicy") == "None" and not spec["dnsConfig"].items_at("nameservers"):
        text = "Required value: must provide at least one DNS nameserver when `dnsPolicy` is None"
        yield refuse(spec["dnsConfig"]["nameservers"], "POD-V11", text)


def _dns(config: Cursor) -> Iterator[Failure]:
    servers = config.items_at("nameservers")
    if len(servers) > _MOST_NAMESERVERS:
        text = f"Invalid value: must not have more than {_MOST_NAMESERVERS} nameservers"
        yield refuse(config["nameservers"], "POD-V11", text)
    if len(config.items_at("searches")) > _MOST_SEARCHES:
        text = f"Invalid value: must not have more than {_MOST_SEARCHES} search paths"
        yield refuse(config["searches"], "POD-V11", text)
    for option in config.items_at("options"):
        if not option["name"].text():
            yield refuse(option["name"], "POD-V11", "Required value: must not be empty")
    for server in servers:
        yield from _address(server)


def _host_aliases(at: Cursor) -> Iterator[Failure]:
    for alias in at.items():
        yield from _address(alias["ip"])
        for name in alias.items_at("hostnames"):
            if name.text() is not None and (fault := subdomain_fault(name.text() or "")):
                yield refuse(name, "POD-V11", f"Invalid value: {show(name.data)}: {fault}")


def _address(at: Cursor) -> Iterator[Failure]:
    if at.text() and not is_address(at.text() or ""):
        yield refuse(at, "POD-V11", f"Invalid value: {show(at.data)}: must be a valid IP address")


def _hosts(listed: list[Cursor]) -> Iterator[Failure]:
    """Check that a container's port on the host's network is the same on the node."""
    for container in listed:
        for port in container.items_at("ports"):
            own, hosts = port["containerPort"].integer(), port["hostPort"].integer()
            if hosts and own and hosts != own:
                text = f"Invalid value: {hosts}: must match `containerPort` when `hostNetwork` is true"
                yield refuse(port["hostPort"], "POD-V12", text, related=(port["containerPort"].route,))


def _spreads(at: Cursor) -> Iterator[Failure]:
    for each in at.items():
        skew, domains, key = each["maxSkew"], each["minDomains"], each["topologyKey"]
        if skew.integer() is not None and (skew.integer() or 0) <= 0:
            yield refuse(skew, "POD-V13", f"Invalid value: {skew.data}: must be greater than zero")
        if key.text() is not None and (fault := key_fault(key.text() or "")):
            yield refuse(key, "POD-V13", f"Invalid value: {show(key.data)}: {fault}")
        when = each["whenUnsatisfiable"]
        yield from one_of(when, "POD-V13", ("DoNotSchedule", "ScheduleAnyway"), allow_empty=False)
        if domains.integer() is not None and (domains.integer() or 0) <= 0:
            yield refuse(domains, "POD-V13", f"Invalid value: {domains.data}: must be greater than zero")
        elif domains.exists and when.text() == "ScheduleAnyway":
            text = f"Invalid value: {domains.data}: can only use minDomains if whenUnsatisfiable=DoNotSchedule"
            yield refuse(domains, "POD-V13", text)
        for field in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
            yield from one_of(each[field], "POD-V13", ("Ignore", "Honor"), allow_empty=False)
        yield from label_selector(each["labelSelector"], "POD-V13")
        yield from _match_keys(each)


def _match_keys(spread: Cursor) -> Iterator[Failure]:
    selector, keys = spread["labelSelector"], spread["matchLabelKeys"]
    if keys.items() and not selector.exists:
        yield refuse(keys, "POD-V13", "Forbidden: must not be specified when labelSelector is not set", on_key=True)
    selected = set(dict(selector["matchLabels"].mapping())) | {
        e["key"].text() for e in selector.items_at("matchExpressions")
    }
    for key in keys.items():
        if key.text() in selected:
            yield refuse(
                key, "POD-V13", f"Invalid value: {show(key.data)}: exists in both matchLabelKeys and labelSelector"
            )


def _security(at: Cursor) -> Iterator[Failure]:
    for field in ("runAsUser", "runAsGroup", "fsGroup"):
        yield from in_range(at[field], "POD-V14", 0, _INT32)
    for group in at.items_at("supplementalGroups"):
        yield from in_range(group, "POD-V14", 0, _INT32)
    yield from one_of(at["fsGroupChangePolicy"], "POD-V14", ("OnRootMismatch", "Always"), allow_empty=False)


_OF_SPEC: dict[str, FieldCheck] = {
    "nodeSelector": partial(label_map, check="POD-V02"),
    "affinity": partial(affinity, check="POD-V03"),
    "tolerations": partial(tolerations, check="POD-V04"),
    "volumes": volumes,
    "preemptionPolicy": partial(one_of, check="POD-V07", values=("Never", "PreemptLowerPriority")),
    "dnsPolicy": partial(
        one_of, check="POD-V09", values=("ClusterFirst", "ClusterFirstWithHostNet", "Default", "None")
    ),
    "os": _os,
    "terminationGracePeriodSeconds": partial(in_range, check="POD-V08", low=0),
    "activeDeadlineSeconds": partial(in_range, check="POD-V08", low=1, high=_INT32),
    "readinessGates": _readiness_gates,
    "dnsConfig": _dns,
    "hostAliases": _host_aliases,
    "topologySpreadConstraints": _spreads,
    "securityContext": _security,
    **dict.fromkeys(
        ("priorityClassName", "runtimeClassName", "serviceAccountName", "nodeName"),
        partial(named, check="POD-V07", fault_of=subdomain_fault),
    ),
    **dict.fromkeys(("hostname", "subdomain"), partial(named, check="POD-V07", fault_of=label_fault)),
}
"""Checks of single fields of a pod's spec."""
