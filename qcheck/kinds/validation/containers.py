"""Checks of containers: names, images, ports, environment, probes, and the restrictions of init containers.

Source: kubernetes 1.36 `pkg/apis/core/validation` (`validateContainers`, `validateInitContainers`,
`validateContainerPorts`, `ValidateEnv`, `validateProbe`).
"""

from __future__ import annotations

import re
from functools import partial

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.kinds.schema.failure import show
from qcheck.kinds.schema.formats import label_fault, subdomain_fault
from qcheck.kinds.validation.target import by_field, in_range, one_of, refuse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.documents.cursor import Cursor
    from qcheck.kinds.schema.failure import Failure
    from qcheck.kinds.validation.target import FieldCheck

_PORT_NAME = r"[a-z0-9]([a-z0-9-]*[a-z0-9])?"
_ENV_NAME = re.compile(r"[ -<>-~]+")
"""Printable ASCII except `=`."""
_RESTART = ("Always", "OnFailure", "Never")
_HANDLERS = ("exec", "httpGet", "tcpSocket", "grpc")
_FIELDS = frozenset(
    {
        "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName", "status.hostIP",
        "status.hostIPs", "status.podIP", "status.podIPs",
    }
)  # fmt: skip
_FIELD_OF_MAP = r"metadata\.(labels|annotations)\['[^']+'\]"
_OWN_RESOURCES = r"(limits|requests)\.(cpu|memory|ephemeral-storage|hugepages-.+)"


def all_containers(spec: Cursor) -> list[Cursor]:
    """Return the init containers of a pod, then its containers."""
    return [*spec.objects_at("initContainers"), *spec.objects_at("containers")]


def containers(spec: Cursor) -> Iterator[Failure]:
    """Check all containers of a pod spec: each alone, and their names and host ports together."""
    initial, later = spec.objects_at("initContainers"), spec.objects_at("containers")
    if not spec.items_at("containers"):
        yield refuse(spec["containers"], "POD-V05", "Required value: a pod has at least one container")
    if spec.items_at("ephemeralContainers"):
        text = "Forbidden: ephemeral containers are not allowed when a pod is created"
        yield refuse(spec["ephemeralContainers"], "POD-V05", text, on_key=True)
    if initial:
        yield from _distinct([*initial, *later])
    for container in initial:
        yield from _container(container)
        if container.text_at("restartPolicy") != "Always":
            yield from _not_while_initialising(container)
    for container in later:
        yield from _container(container)
    yield from _host_ports(later)
    yield from _host_ports([c for c in initial if c.text_at("restartPolicy") == "Always"])


def _distinct(listed: list[Cursor]) -> Iterator[Failure]:
    """Refuse names that occur in both lists; the structure already checks each list."""
    seen: dict[str, Cursor] = {}
    for container in listed:
        name = container["name"].text()
        if name is None:
            continue
        first = seen.setdefault(name, container)
        if first is not container and first.route[:-1] != container.route[:-1]:
            text = f"Duplicate value: {show(name)}: containers and initContainers share their names"
            yield refuse(container["name"], "POD-V05", text, related=(first.route,))


def _container(at: Cursor) -> Iterator[Failure]:
    image = at["image"]
    if not image.exists or image.text() == "":
        yield refuse(image, "POD-V15", "Required value: a container has an image")
    yield from by_field(at, _OF_CONTAINER)


def _not_while_initialising(at: Cursor) -> Iterator[Failure]:
    """Refuse a lifecycle or probes in init containers that end."""
    for field in ("lifecycle", "livenessProbe", "readinessProbe", "startupProbe"):
        if at[field].exists:
            text = "Forbidden: may not be set for init containers without restartPolicy=Always"
            yield refuse(at[field], "POD-V16", text, on_key=True)


def _ports(at: Cursor) -> Iterator[Failure]:
    first: dict[str, Cursor] = {}
    for each in at.items():
        name = each["name"].text()
        if name and (fault := _port_name_fault(name)):
            yield refuse(each["name"], "POD-V17", f"Invalid value: {show(name)}: {fault}")
        elif name and first.setdefault(name, each) is not each:
            yield refuse(each["name"], "POD-V17", f"Duplicate value: {show(name)}", related=(first[name].route,))
        yield from by_field(each, _OF_PORT)


def _port_name_fault(name: str) -> str | None:
    if len(name) > 15:
        return "must be no more than 15 characters"
    if not re.fullmatch(_PORT_NAME, name) or "--" in name:
        return "must be letters a-z, digits and single '-' between them"
    return None if any(c.isalpha() for c in name) else "must contain at least one letter"


def _port_number(at: Cursor) -> Iterator[Failure]:
    yield from in_range(at, "POD-V17", 1, 65535)


def _host_port(at: Cursor) -> Iterator[Failure]:
    """Check a host port; zero means none."""
    if at.integer() != 0:
        yield from _port_number(at)


def _host_ports(listed: list[Cursor]) -> Iterator[Failure]:
    seen: dict[tuple[str, str, int], Cursor] = {}
    for port in (p for c in listed for p in c.items_at("ports")):
        number = port["hostPort"].integer()
        if not number:
            continue
        key = (port["protocol"].text() or "TCP", port["hostIP"].text() or "", number)
        if seen.setdefault(key, port) is not port:
            shown = f"{key[0]}/{key[1]}/{key[2]}"
            yield refuse(port["hostPort"], "POD-V17", f"Duplicate value: {show(shown)}", related=(seen[key].route,))


def _environment(at: Cursor) -> Iterator[Failure]:
    for variable in at.items():
        name = variable.text_at("name")
        if not _ENV_NAME.fullmatch(name) and variable["name"].text() is not None:
            text = f"Invalid value: {show(name)}: must be printable ASCII characters other than '='"
            yield refuse(variable["name"], "POD-V18", text)
        source = variable["valueFrom"]
        if isinstance(source.data, dict):
            yield from _value_from(source, bool(variable.text_at("value")))


def _environment_from(at: Cursor) -> Iterator[Failure]:
    for source in at.items():
        prefix = source["prefix"].text()
        if prefix and not _ENV_NAME.fullmatch(prefix):
            text = f"Invalid value: {show(prefix)}: must be printable ASCII characters other than '='"
            yield refuse(source["prefix"], "POD-V18", text)
        given = [k for k in ("configMapRef", "secretRef") if source[k].exists]
        if len(given) != 1:
            text = "Invalid value: must specify one of: `configMapRef` or `secretRef`"
            yield refuse(
                source, "POD-V18", text if not given else "Invalid value: may not have more than one field specified"
            )
        for kind in given:
            if not source[kind]["name"].text():
                yield refuse(source[kind]["name"], "POD-V18", "Required value")


def _value_from(source: Cursor, has_value: bool) -> Iterator[Failure]:
    kinds = ("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef")
    given = [k for k in kinds if source[k].exists]
    if not given:
        yield refuse(source, "POD-V18", f"Invalid value: must specify one of: {', '.join(kinds)}")
    elif has_value:
        yield refuse(source, "POD-V18", "Invalid value: may not be specified when `value` is not empty", on_key=True)
    elif len(given) > 1:
        yield refuse(source, "POD-V18", "Invalid value: may not have more than one field specified at a time")
    path = source["fieldRef"]["fieldPath"]
    if path.text() and path.text() not in _FIELDS and not re.fullmatch(_FIELD_OF_MAP, path.text() or ""):
        yield refuse(
            path, "POD-V18", f"Unsupported value: {show(path.data)}: supported values: {', '.join(sorted(_FIELDS))}"
        )
    own = source["resourceFieldRef"]["resource"]
    if own.text() and not re.fullmatch(_OWN_RESOURCES, own.text() or ""):
        text = "must be limits or requests of cpu, memory, ephemeral-storage or hugepages"
        text = f"Unsupported value: {show(own.data)}: {text}"
        yield refuse(own, "POD-V18", text)
    for kind in ("configMapKeyRef", "secretKeyRef"):
        if source[kind].exists and not source[kind]["name"].text():
            yield refuse(source[kind]["name"], "POD-V18", "Required value")


def _probe(at: Cursor, kind: str) -> Iterator[Failure]:
    yield from _one_handler(at, _HANDLERS)
    for field in ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"):
        yield from in_range(at[field], "POD-V19", 0)
    successes = at["successThreshold"].integer()
    if kind != "readinessProbe" and successes not in (None, 0, 1):
        yield refuse(at["successThreshold"], "POD-V19", f"Invalid value: {successes}: must be 1")
    grace = at["terminationGracePeriodSeconds"].integer()
    if grace is not None and kind == "readinessProbe":
        text = f"Invalid value: {grace}: must not be set for readinessProbes"
        yield refuse(at["terminationGracePeriodSeconds"], "POD-V19", text)
    elif grace is not None and grace <= 0:
        yield refuse(at["terminationGracePeriodSeconds"], "POD-V19", f"Invalid value: {grace}: must be greater than 0")


def _one_handler(at: Cursor, kinds: tuple[str, ...]) -> Iterator[Failure]:
    if not isinstance(at.data, dict):
        return
    given = [k for k in kinds if at[k].exists]
    if not given:
        yield refuse(at, "POD-V19", "Required value: must specify a handler type")
    for extra in given[1:]:
        yield refuse(at[extra], "POD-V19", "Forbidden: may not specify more than 1 handler type", on_key=True)
    if "exec" in given and not at["exec"].items_at("command"):
        yield refuse(at["exec"]["command"], "POD-V19", "Required value")
    for kind in ("httpGet", "tcpSocket", "grpc"):
        port = at[kind]["port"]
        if port.text() and (fault := _port_name_fault(port.text() or "")):
            yield refuse(port, "POD-V19", f"Invalid value: {show(port.data)}: {fault}")
        yield from _port_number(port)
    yield from one_of(at["httpGet"]["scheme"], "POD-V19", ("HTTP", "HTTPS"))


def _security(at: Cursor) -> Iterator[Failure]:
    for field in ("runAsUser", "runAsGroup"):
        yield from in_range(at[field], "POD-V14", 0, 2**31 - 1)
    if at["allowPrivilegeEscalation"].boolean() is False:
        if at["privileged"].boolean():
            text = "Invalid value: cannot set `allowPrivilegeEscalation` to false and `privileged` to true"
            yield refuse(at, "POD-V14", text)
        if any(c.text() in ("CAP_SYS_ADMIN", "SYS_ADMIN") for c in at["capabilities"].items_at("add")):
            text = "Invalid value: cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN"
            yield refuse(at, "POD-V14", text)


def _label(at: Cursor) -> Iterator[Failure]:
    name = at.text()
    if name is not None and (fault := label_fault(name)):
        yield refuse(at, "POD-V05", f"Invalid value: {show(name)}: {fault}")


def _lifecycle(at: Cursor) -> Iterator[Failure]:
    for hook in ("postStart", "preStop"):
        yield from _one_handler(at[hook], ("exec", "httpGet", "tcpSocket", "sleep"))


_OF_CONTAINER: dict[str, FieldCheck] = {
    "name": _label,
    "imagePullPolicy": partial(one_of, check="POD-V15", values=("Always", "IfNotPresent", "Never")),
    "terminationMessagePolicy": partial(one_of, check="POD-V15", values=("File", "FallbackToLogsOnError")),
    "restartPolicy": partial(one_of, check="POD-V16", values=_RESTART, allow_empty=False),
    "ports": _ports,
    "env": _environment,
    "envFrom": _environment_from,
    **{kind: partial(_probe, kind=kind) for kind in ("livenessProbe", "readinessProbe", "startupProbe")},
    "lifecycle": _lifecycle,
    "securityContext": _security,
}
"""Checks of single fields of a container."""
_OF_PORT: dict[str, FieldCheck] = {
    "containerPort": _port_number,
    "hostPort": _host_port,
    "protocol": partial(one_of, check="POD-V17", values=("SCTP", "TCP", "UDP")),
}


def claims(spec: Cursor, listed: list[Cursor]) -> Iterator[Failure]:
    """Check the resource claims of the pod, and those that its containers name."""
    known = set()
    for each in spec.items_at("resourceClaims"):
        name = each["name"].text()
        known.add(name)
        if name is not None and (fault := label_fault(name)):
            yield refuse(each["name"], "POD-V20", f"Invalid value: {show(name)}: {fault}")
        given = [k for k in ("resourceClaimName", "resourceClaimTemplateName") if each[k].text()]
        if len(given) != 1:
            text = "must specify one of" if not given else "at most one may be specified of"
            yield refuse(each, "POD-V20", f"Invalid value: {text}: `resourceClaimName`, `resourceClaimTemplateName`")
        for field in given:
            if fault := subdomain_fault(each[field].text() or ""):
                yield refuse(each[field], "POD-V20", f"Invalid value: {show(each[field].data)}: {fault}")
    for container in listed:
        for used in container["resources"].items_at("claims"):
            if used["name"].text() is not None and used["name"].text() not in known:
                text = f"Not found: {show(used['name'].data)}: must be one of the names in pod.spec.resourceClaims"
                yield refuse(used["name"], "POD-V20", text)
