"""A normal form of an object, so that its text in a file can be compared with the API server's copy.

Defaults are filled in, quantities are canonical, Kueue's v1beta1 is converted to v1beta2, and empty values become
absent. Status, metadata and descriptions are omitted.
"""

from __future__ import annotations

from qcheck.cluster.quantity import QuantityError, parse_quantity
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.kinds.rewrite import as_newest
from qcheck.kinds.schema.catalogue import described
from qcheck.kinds.shared_fields import object_id

if TYPE_CHECKING:
    from qcheck.documents.cursor import Cursor
    from qcheck.kinds.schema.node import SchemaNode
    from qcheck.kinds.validation.target import Target

    Plain = dict[str, object]

LEFT_OUT = frozenset({"apiVersion", "kind", "metadata", "status", "description"})
EMPTY_MEANS_SOMETHING = frozenset({"namespaceSelector"})
"""Selectors: an empty one selects everything, an absent one nothing."""
WEBHOOK_DEFAULTS: dict[tuple[str, str], Plain] = {
    ("scheduling.k8s.io", "PriorityClass"): {"globalDefault": False},
    ("scheduling.volcano.sh", "Queue"): {"spec": {"weight": 1, "reclaimable": True, "parent": "root"}},
}
"""Defaults that a webhook or a Go type sets but no schema states."""
POD_FIELDS = (
    "nodeSelector", "affinity", "tolerations", "priorityClassName", "runtimeClassName", "hostNetwork", "overhead",
    "topologySpreadConstraints", "resourceClaims", "nodeName",
)  # fmt: skip
"""Fields that determine where pods run and what they request. The rest of a pod template is not compared."""
CONTAINER_FIELDS = ("name", "image")


def comparable(root: Cursor, target: Target) -> Plain:
    """Return the object's own fields in normal form."""
    identity = object_id(root)
    if (identity.group, identity.kind) == ("apps", "DaemonSet"):
        return {"spec": {"template": {"spec": _pod_spec(root["spec"]["template"]["spec"])}}}
    newest = as_newest(root, target)
    version = str(newest.get("apiVersion", "")).rpartition("/")[2]
    found = described(identity.group, version, identity.kind, target.release_of(identity.group))
    data = {key: value for key, value in newest.items() if key not in LEFT_OUT}
    data = _filled(data, WEBHOOK_DEFAULTS.get((identity.group, identity.kind), {}))
    made = _by(data, found.tree if found else None)
    return made if isinstance(made, dict) else {}


def _filled(data: Plain, defaults: Plain) -> Plain:
    filled = dict(data)
    for key, value in defaults.items():
        own = filled.get(key)
        if isinstance(value, dict):
            filled[key] = _filled(own if isinstance(own, dict) else {}, value)
        elif own is None or own == "":
            filled[key] = value
    return filled


def _by(value: object, node: SchemaNode | None) -> object:
    """Return the normal form of a value by its description; unchanged without one, None if it is empty."""
    if isinstance(value, dict):
        return _mapping(value, node)
    if isinstance(value, list):
        return [_by(item, node.item if node else None) for item in value] or None
    if node is not None and node.kind == "quantity":
        return _canonical(value)
    return None if value == "" else value


def _mapping(value: Plain, node: SchemaNode | None) -> Plain | None:
    is_map = node is not None and node.kind == "map"
    children = {} if node is None or is_map else node.children
    made: Plain = {}
    for key, inner in value.items():
        of = node.item if node is not None and is_map else children.get(key)
        found = _by(inner, of)
        if found is not None:
            made[key] = found
        elif inner is not None and key in EMPTY_MEANS_SOMETHING:
            made[key] = {}
    for key, child in children.items():
        if key not in made and child.default is not None and (found := _by(child.default, child)) is not None:
            made[key] = found
    return made or None


def _canonical(value: object) -> object:
    try:
        return parse_quantity(value).canonical
    except QuantityError:
        return value


def _pod_spec(spec: Cursor) -> Plain:
    made: Plain = {field: found for field in POD_FIELDS if (found := _by(spec[field].data, None)) not in (None, False)}
    for field in ("initContainers", "containers"):
        if spec[field].items():
            made[field] = [_container(c) for c in spec[field].items()]
    return made


def _container(at: Cursor) -> Plain:
    """Return a container's fields; requests that are not written default to the limits, as on the API server."""
    limits, requests = at["resources"]["limits"].data, at["resources"]["requests"].data
    limits, requests = (r if isinstance(r, dict) else {} for r in (limits, requests))
    amounts = {"limits": limits, "requests": {**limits, **requests}}
    made: Plain = {field: at[field].data for field in CONTAINER_FIELDS if at[field].data}
    resources = {side: {r: _canonical(a) for r, a in found.items()} for side, found in amounts.items() if found}
    return {**made, **({"resources": resources} if resources else {})}
