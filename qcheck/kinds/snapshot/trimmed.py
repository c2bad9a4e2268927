"""Reduces an object from an API server to the fields that the model reads, without any that may be secret.

Environment variables, arguments, commands, volumes and managed fields are dropped everywhere.
"""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.documents.cursor import as_mapping
from qcheck.kinds.annotations import has_effect

if TYPE_CHECKING:
    Object = dict[str, object]

METADATA = ("name", "namespace", "labels", "annotations")
DATED = ("Pod", "Workload", "Event")
"""Kinds whose age counts, for the order in a queue."""
DROPPED = frozenset(
    {
        "env", "envFrom", "command", "args", "arguments", "volumes", "volumeMounts", "volumeDevices",
        "volumeClaimTemplates", "livenessProbe", "readinessProbe", "startupProbe", "lifecycle", "securityContext",
        "imagePullSecrets", "serviceAccount", "serviceAccountName", "managedFields", "hadoopConf", "runtimeEnvYAML",
        "hostAliases", "dnsConfig", "terminationMessagePath", "terminationMessagePolicy", "imagePullPolicy", "userData",
        "providerID", "podCIDR", "podCIDRs", "revisionHistoryLimit", "secretRef", "finalizers",
    }
)  # fmt: skip
"""Fields that do not affect where a pod may run, dropped by name at any depth."""
CONDITION = ("type", "status", "reason", "message")
STATUS: dict[str, tuple[str, ...]] = {
    "Node": ("allocatable", "capacity", "conditions"),
    "Pod": ("phase", "conditions", "nominatedNodeName"),
    "Workload": ("admission", "conditions"),
    "ClusterQueue": (
        "conditions", "flavorsReservation", "flavorsUsage", "pendingWorkloads", "admittedWorkloads", "reservingWorkloads",
    ),
    "LocalQueue": ("conditions",),
    "AdmissionCheck": ("conditions",),
    "MultiKueueCluster": ("conditions",),
    "Queue": ("allocated", "allocatedNonPreemptible", "requested", "state"),
}  # fmt: skip
SPEC: dict[str, tuple[str, ...]] = {
    "HorizontalPodAutoscaler": ("scaleTargetRef", "minReplicas", "maxReplicas"),
    "ScaledObject": ("scaleTargetRef", "minReplicaCount", "maxReplicaCount", "idleReplicaCount"),
}
"""The fields of `spec` to keep, for kinds that do not keep all: triggers may contain addresses and queries."""
CONDITIONS = {"Node": ("Ready",), "Pod": ("PodScheduled",)}
"""The conditions to keep, for kinds that do not keep all."""
EVENT = ("involvedObject", "reason", "message", "lastTimestamp", "eventTime", "type")


def trimmed(item: Object, kind: str) -> Object:
    """Return an object of a kind, trimmed for a snapshot. In the items of a list, the server may omit the kind."""
    metadata = as_mapping(item.get("metadata"))
    kept: Object = {
        "apiVersion": item.get("apiVersion"),
        "kind": item.get("kind") or kind,
        "metadata": _metadata(metadata),
    }
    if kind in DATED and metadata.get("creationTimestamp"):
        kept["metadata"] = {**_metadata(metadata), "creationTimestamp": metadata["creationTimestamp"]}
    if kind == "Event":
        return {**kept, **_event(item)}
    for field, value in item.items():
        if field == "status":
            found = _status(as_mapping(value), kind)
            kept |= {"status": found} if found else {}
        elif field not in ("apiVersion", "kind", "metadata", "description") and not (
            kind == "Namespace" and field == "spec"
        ):
            kept[field] = _inside(value)
    if kind in SPEC:
        kept["spec"] = {field: value for field, value in as_mapping(kept.get("spec")).items() if field in SPEC[kind]}
    if kind == "Job" and isinstance(kept.get("spec"), dict):
        kept["spec"] = _of_job(as_mapping(kept["spec"]))
    return kept


def _of_job(spec: Object) -> Object:
    """Return a Job without the selector that the API server generates, which it rejects if a person writes it."""
    return spec if spec.get("manualSelector") else {k: v for k, v in spec.items() if k != "selector"}


def _metadata(metadata: Object) -> Object:
    kept = {field: metadata[field] for field in METADATA if metadata.get(field)}
    if "annotations" in kept:
        kept["annotations"] = {k: v for k, v in as_mapping(kept["annotations"]).items() if has_effect(k)}
        if not kept["annotations"]:
            del kept["annotations"]
    owners = metadata.get("ownerReferences")
    controllers = [o for o in owners if isinstance(o, dict) and o.get("controller")] if isinstance(owners, list) else []
    if controllers:
        kept["ownerReferences"] = [
            {field: o[field] for field in ("apiVersion", "kind", "name", "controller") if field in o}
            for o in controllers
        ]
    return kept


def _inside(value: object) -> object:
    if isinstance(value, dict):
        return {
            k: _metadata(as_mapping(v)) if k == "metadata" else _inside(v) for k, v in value.items() if k not in DROPPED
        }
    return [_inside(v) for v in value] if isinstance(value, list) else value


def _status(status: Object, kind: str) -> Object:
    kept = {field: status[field] for field in STATUS.get(kind, ()) if field in status}
    conditions = kept.get("conditions")
    if isinstance(conditions, list):
        wanted = CONDITIONS.get(kind)
        met = [c for c in conditions if isinstance(c, dict) and (wanted is None or c.get("type") in wanted)]
        kept["conditions"] = [_condition(c, kind) for c in met]
    return kept


def _condition(condition: Object, kind: str) -> Object:
    """Return a condition without its times, except for a Workload, whose time of quota reservation counts."""
    fields = ("type", "status") if kind == "Node" else CONDITION
    dated = ("lastTransitionTime",) if kind == "Workload" else ()
    return {field: condition[field] for field in (*fields, *dated) if condition.get(field)}


def _event(item: Object) -> Object:
    kept = {field: item[field] for field in EVENT if item.get(field)}
    about = as_mapping(item.get("involvedObject"))
    return {**kept, "involvedObject": {f: about[f] for f in ("kind", "namespace", "name") if f in about}}
