"""Pod templates of built-in kinds, as the API server checks them when the object is created.

Source: kubernetes 1.36 `pkg/apis/core/validation` (`ValidatePodTemplateSpec`, `ValidatePodSpec`), defaults applied first.
"""

from __future__ import annotations

import ipaddress

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.kinds.schema.failure import show
from qcheck.kinds.schema.formats import key_fault, label_fault, subdomain_fault
from qcheck.kinds.validation.containers import claims, containers
from qcheck.kinds.validation.metadata import labels_and_annotations
from qcheck.kinds.validation.resources import pod_resources
from qcheck.kinds.validation.selectors import affinity, label_map, label_selector, tolerations
from qcheck.kinds.validation.target import one_of, refuse
from qcheck.kinds.validation.volumes import mounts, volumes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.documents.cursor import Cursor
    from qcheck.kinds.schema.failure import Failure

_INT32 = 2**31 - 1
_MOST_NAMESERVERS, _MOST_SEARCHES = 3, 32


def pod_template(
    template: Cursor,
    restart: tuple[str, ...] = ("Always", "OnFailure", "Never"),
    is_pod: bool = False,
    claimed: frozenset[str] = frozenset(),
) -> Iterator[Failure]:
    """A PodTemplateSpec or Pod; `restart` are the restart policies that its owner takes (the first is the default).

    `claimed` are the volumes that the owner adds. What holds of every object's metadata is said of a Pod already.
    """
    spec = template["spec"]
    if not is_pod:
        yield from labels_and_annotations(template["metadata"], "POD-V01")
    yield from label_map(spec["nodeSelector"], "POD-V02")
    yield from affinity(spec["affinity"], "POD-V03")
    yield from tolerations(spec["tolerations"], "POD-V04")
    yield from containers(spec)
    yield from volumes(spec)
    yield from mounts(spec, claimed)
    yield from claims(spec)
    yield from _policies(spec, restart)
    yield from _numbers(spec)
    yield from _names(spec)
    yield from _gates(spec)
    yield from _dns(spec)
    yield from _hosts(spec)
    yield from _spreads(spec)
    yield from _security(spec)
    yield from pod_resources(spec)


def _policies(spec: Cursor, restart: tuple[str, ...]) -> Iterator[Failure]:
    policy = spec["restartPolicy"]
    shown = ", ".join(show(r) for r in restart)
    if policy.text() in (None, "") and "Always" not in restart and spec.exists:
        yield refuse(policy, "POD-V06", f"Required value: valid values: {shown}", f"write restartPolicy: {restart[0]}")
    elif policy.text() and policy.text() not in restart:
        yield refuse(policy, "POD-V06", f"Unsupported value: {show(policy.data)}: supported values: {shown}")
    yield from one_of(spec["preemptionPolicy"], "POD-V07", ("Never", "PreemptLowerPriority"))
    yield from one_of(spec["dnsPolicy"], "POD-V09", ("ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"))
    yield from one_of(spec["os"]["name"], "POD-V09", ("linux", "windows"))


def _numbers(spec: Cursor) -> Iterator[Failure]:
    grace, deadline = spec["terminationGracePeriodSeconds"], spec["activeDeadlineSeconds"]
    if (grace.integer() or 0) < 0:
        yield refuse(grace, "POD-V08", f"Invalid value: {grace.data}: must be greater than or equal to 0")
    if deadline.integer() is not None and not 1 <= (deadline.integer() or 0) <= _INT32:
        text = f"Invalid value: {deadline.data}: must be between 1 and {_INT32}, inclusive"
        yield refuse(deadline, "POD-V08", text)


def _names(spec: Cursor) -> Iterator[Failure]:
    for field in ("priorityClassName", "runtimeClassName", "serviceAccountName", "nodeName"):
        name = spec[field].text()
        if name and (fault := subdomain_fault(name)):
            yield refuse(spec[field], "POD-V07", f"Invalid value: {show(name)}: {fault}")
    for field in ("hostname", "subdomain"):
        name = spec[field].text()
        if name and (fault := label_fault(name)):
            yield refuse(spec[field], "POD-V07", f"Invalid value: {show(name)}: {fault}")


def _gates(spec: Cursor) -> Iterator[Failure]:
    seen: dict[str, Cursor] = {}
    for each in spec["schedulingGates"].items():
        name = each["name"].text() or ""
        if fault := key_fault(name):
            yield refuse(each["name"], "POD-V10", f"Invalid value: {show(name)}: {fault}")
        seen.setdefault(name, each)
    for each in spec["readinessGates"].items():
        kind = each["conditionType"].text()
        if kind is not None and (fault := key_fault(kind)):
            yield refuse(each["conditionType"], "POD-V10", f"Invalid value: {show(kind)}: {fault}")
    if seen and spec["nodeName"].text():
        text = "Forbidden: cannot be set until all schedulingGates have been cleared"
        yield refuse(spec["nodeName"], "POD-V10", text, on_key=True)


def _dns(spec: Cursor) -> Iterator[Failure]:
    config = spec["dnsConfig"]
    servers = config["nameservers"].items()
    if spec["dnsPolicy"].text() == "None" and not servers:
        text = "Required value: must provide at least one DNS nameserver when `dnsPolicy` is None"
        yield refuse(config["nameservers"], "POD-V11", text)
    if len(servers) > _MOST_NAMESERVERS:
        text = f"Invalid value: must not have more than {_MOST_NAMESERVERS} nameservers"
        yield refuse(config["nameservers"], "POD-V11", text)
    if len(config["searches"].items()) > _MOST_SEARCHES:
        text = f"Invalid value: must not have more than {_MOST_SEARCHES} search paths"
        yield refuse(config["searches"], "POD-V11", text)
    for option in config["options"].items():
        if not option["name"].text():
            yield refuse(option["name"], "POD-V11", "Required value: must not be empty")
    aliases = spec["hostAliases"].items()
    for address in (*servers, *(a["ip"] for a in aliases)):
        if address.text() and not _is_address(address.text() or ""):
            yield refuse(address, "POD-V11", f"Invalid value: {show(address.data)}: must be a valid IP address")
    for name in (n for a in aliases for n in a["hostnames"].items()):
        if name.text() is not None and (fault := subdomain_fault(name.text() or "")):
            yield refuse(name, "POD-V11", f"Invalid value: {show(name.data)}: {fault}")


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return "%" not in text


def _hosts(spec: Cursor) -> Iterator[Failure]:
    """On the host's network a port of a container is the node's."""
    if not spec["hostNetwork"].boolean():
        return
    for container in (*spec["initContainers"].items(), *spec["containers"].items()):
        for port in container["ports"].items():
            own, hosts = port["containerPort"].integer(), port["hostPort"].integer()
            if hosts and own and hosts != own:
                text = f"Invalid value: {hosts}: must match `containerPort` when `hostNetwork` is true"
                yield refuse(port["hostPort"], "POD-V12", text, related=(port["containerPort"].route,))


def _spreads(spec: Cursor) -> Iterator[Failure]:
    for each in spec["topologySpreadConstraints"].items():
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
    named = set(dict(selector["matchLabels"].mapping())) | {
        e["key"].text() for e in selector["matchExpressions"].items()
    }
    for key in keys.items():
        if key.text() in named:
            yield refuse(
                key, "POD-V13", f"Invalid value: {show(key.data)}: exists in both matchLabelKeys and labelSelector"
            )


def _security(spec: Cursor) -> Iterator[Failure]:
    context = spec["securityContext"]
    for field in ("runAsUser", "runAsGroup", "fsGroup"):
        number = context[field].integer()
        if number is not None and not 0 <= number <= _INT32:
            text = f"Invalid value: {number}: must be between 0 and {_INT32}, inclusive"
            yield refuse(context[field], "POD-V14", text)
    for group in context["supplementalGroups"].items():
        if group.integer() is not None and not 0 <= (group.integer() or 0) <= _INT32:
            yield refuse(group, "POD-V14", f"Invalid value: {group.data}: must be between 0 and {_INT32}, inclusive")
    yield from one_of(context["fsGroupChangePolicy"], "POD-V14", ("OnRootMismatch", "Always"), allow_empty=False)
    if spec["shareProcessNamespace"].boolean() and spec["hostPID"].boolean():
        text = "Invalid value: true: ShareProcessNamespace and HostPID cannot both be enabled"
        yield refuse(spec["shareProcessNamespace"], "POD-V14", text)
