"""Checks of the manager's servers and metrics: certificates, TLS, visibility server, custom metric labels: CFG-V11."""

from __future__ import annotations

import re

from qcheck.cluster.did_you_mean import nearest
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.kinds.schema.failure import show
from qcheck.kinds.schema.formats import is_address, key_fault, subdomain_fault
from qcheck.kinds.validation.target import refuse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.documents.cursor import Cursor
    from qcheck.kinds.schema.failure import Failure

_CHECK = "CFG-V11"
VERSIONS = ("VersionTLS12", "VersionTLS13")
CIPHERS = frozenset(
    {
        "TLS_AES_128_GCM_SHA256",
        "TLS_AES_256_GCM_SHA384",
        "TLS_CHACHA20_POLY1305_SHA256",
        "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305",
        "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305",
        "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
        "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
        "TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA",
        "TLS_RSA_WITH_3DES_EDE_CBC_SHA",
        *(
            f"{exchange}_WITH_{cipher}"
            for exchange in ("TLS_RSA", "TLS_ECDHE_RSA", "TLS_ECDHE_ECDSA")
            for cipher in (
                "RC4_128_SHA",
                "AES_128_CBC_SHA",
                "AES_256_CBC_SHA",
                "AES_128_CBC_SHA256",
                "AES_128_GCM_SHA256",
                "AES_256_GCM_SHA384",
            )
        ),
    }
)
"""The names that Go's crypto/tls knows, including the insecure ones."""
_SERVICE = re.compile("[a-z]([-a-z0-9]{0,61}[a-z0-9])?")
_LABEL = re.compile("[a-zA-Z][a-zA-Z0-9_]*")
_MOST_LABELS = 20
_MOST_OF_KIND = 6
_MOST_OF_WORKLOADS = 2
_MOST_TRACKED = 16
_MOST_TRACKED_OF_WORKLOADS = 12


def certificates(at: Cursor) -> Iterator[Failure]:
    if at["enable"].data is False:
        return
    service, secret = at["webhookServiceName"], at["webhookSecretName"]
    if service.text() is not None and not _SERVICE.fullmatch(service.text() or ""):
        text = "must be a service's name: at most 63 of a-z, digits and '-', starting with a letter"
        yield refuse(service, _CHECK, f"Invalid value: {show(service.data)}: {text}")
    if secret.text() is not None and (fault := subdomain_fault(secret.text() or "")):
        yield refuse(secret, _CHECK, f"Invalid value: {show(secret.data)}: {fault}")


def tls(at: Cursor) -> Iterator[Failure]:
    version, suites = at["minVersion"], at["cipherSuites"]
    if version.text() and version.text() not in VERSIONS:
        yield refuse(version, _CHECK, f"Unsupported value: {show(version.data)}: must be {' or '.join(VERSIONS)}")
    for suite in suites.items():
        if suite.text() is not None and suite.text() not in CIPHERS:
            near = nearest(suite.text() or "", sorted(CIPHERS))
            text = f"Unsupported value: {show(suite.data)}: is not a cipher suite of Go's crypto/tls"
            yield refuse(suite, _CHECK, text, f"write {near}" if near else "")
    if version.text() == "VersionTLS13" and suites.items():
        text = "Forbidden: TLS 1.3 has fixed cipher suites, so no cipher suite can be set with minVersion VersionTLS13"
        yield refuse(suites, _CHECK, text, related=(version.route,))


def visibility(at: Cursor) -> Iterator[Failure]:
    address, port = at["bindAddress"], at["bindPort"]
    if address.text() is not None and not is_address(address.text() or ""):
        yield refuse(address, _CHECK, f"Invalid value: {show(address.data)}: must be an IP address")
    number = port.integer()
    if number is not None and not 1 <= number <= 65535:
        yield refuse(port, _CHECK, f"Invalid value: {number}: must be a port from 1 to 65535")


def metric_labels(at: Cursor) -> Iterator[Failure]:
    seen: dict[str, Cursor] = {}
    of_kind: dict[str, list[Cursor]] = {}
    if len(at.items()) > _MOST_LABELS:
        yield refuse(at, _CHECK, f"Too many: {len(at.items())}: must have at most {_MOST_LABELS} items")
    for entry in at.items():
        yield from _metric_label(entry)
        first = seen.setdefault(entry.text_at("name"), entry)
        if first is not entry:
            text = f"Duplicate value: {show(entry['name'].data)}"
            yield refuse(entry["name"], _CHECK, text, related=(first["name"].route,))
        of_kind.setdefault(entry.text_at("sourceKind") or "ClusterQueue", []).append(entry)
    for kind, entries in of_kind.items():
        most = _MOST_OF_WORKLOADS if kind == "Workload" else _MOST_OF_KIND
        if len(entries) > most:
            text = f"Invalid value: {len(entries)} labels come from {kind} objects, at most {most} are allowed"
            yield refuse(entries[most], _CHECK, text)


def _metric_label(entry: Cursor) -> Iterator[Failure]:
    name, label, annotation = (entry[f] for f in ("name", "sourceLabelKey", "sourceAnnotationKey"))
    if name.text() is not None and not _LABEL.fullmatch(name.text() or ""):
        yield refuse(name, _CHECK, f"Invalid value: {show(name.data)}: must be letters, digits and '_' after a letter")
    if label.text() and annotation.text():
        text = "Invalid value: sourceLabelKey and sourceAnnotationKey are mutually exclusive"
        yield refuse(annotation, _CHECK, text, on_key=True, related=(label.route,))
    source = next((c for c in (label, annotation) if c.text()), name)
    if source.text() is not None and (fault := key_fault(source.text() or "")):
        yield refuse(source, _CHECK, f"Invalid value: {show(source.data)}: {fault}")
    tracked = entry["trackedValues"]
    values = [v.text() for v in tracked.items()]
    of_workloads = entry["sourceKind"].text() == "Workload"
    most = _MOST_TRACKED_OF_WORKLOADS if of_workloads else _MOST_TRACKED
    if len(values) > most or (of_workloads and not values):
        least = "from 1 to" if of_workloads else "at most"
        yield refuse(tracked, _CHECK, f"Invalid value: has {len(values)} items, must have {least} {most}")
    if len(set(values)) < len(values):
        yield refuse(tracked, _CHECK, "Invalid value: must not repeat a value")
