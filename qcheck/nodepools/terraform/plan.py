"""Plans and states of Terraform and OpenTofu as JSON: three forms, all with evaluated values.

`terraform show -json` of a plan (`planned_values`) and of a state (`values`), and the raw `terraform.tfstate`.
"""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.documents.composed import Unresolved
from qcheck.documents.cursor import Cursor
from qcheck.nodepools.terraform.resource import Resource

if TYPE_CHECKING:
    from collections.abc import Iterator

LATER = "known only after apply"
HINT = "apply first, and add the state (`terraform show -json`) or the nodes to the paths"


def is_plan(root: Cursor) -> bool:
    """Return whether a JSON document has one of the three forms."""
    if isinstance(root["resources"].data, list) and root["version"].integer() == 4:
        return True
    return root["format_version"].text() is not None and (
        root["planned_values"]["root_module"].exists or root["values"]["root_module"].exists
    )


def resources(root: Cursor) -> Iterator[Resource]:
    """Yield every managed resource that exists after apply."""
    if isinstance(root["resources"].data, list):
        yield from _raw_state(root)
        return
    planned = root["planned_values"] if root["planned_values"].exists else root["values"]
    yield from _module(planned["root_module"], _unknown_later(root))


def _module(module: Cursor, later: dict[str, Cursor]) -> Iterator[Resource]:
    for each in module["resources"].items():
        if each["mode"].text() == "managed":
            values = each["values"]
            address = each["address"].text() or ""
            yield Resource(each["type"].text() or "", _plain(address), _with_unknown(values, later.get(address)), HINT)
    for child in module["child_modules"].items():
        yield from _module(child, later)


def _plain(address: str) -> str:
    """Return an address with the values of indexes as suffixes: `x.gpu["a"]` as `x.gpu-a`."""
    head, bracket, index = address.rpartition("[")
    return f"{head}-{index[:-1].strip(chr(34))}" if bracket and address.endswith("]") else address


def _unknown_later(root: Cursor) -> dict[str, Cursor]:
    """Return, by address, the attributes that a plan leaves unknown."""
    return {
        change["address"].text() or "": change["change"]["after_unknown"]
        for change in root["resource_changes"].items()
        if change["change"]["after_unknown"].data
    }


def _with_unknown(values: Cursor, later: Cursor | None) -> Cursor:
    """Return the values, with `Unresolved` for those that are known only after apply."""
    if later is None:
        return values
    return Cursor(values.document, values.route, _merged(values.data, later.data))


def _merged(values: object, later: object) -> object:
    if later is True:
        return Unresolved(LATER) if values is None else values
    if isinstance(later, dict) and isinstance(values, dict):
        open_ones = {k: _merged(values.get(k), v) for k, v in later.items() if v and not (v is True and k in COMPUTED)}
        return {**values, **open_ones}
    if isinstance(later, list) and isinstance(values, list) and len(later) == len(values):
        return [_merged(v, o) for v, o in zip(values, later, strict=True)]
    return values


COMPUTED = frozenset(
    {
        "capacity_type", "effective_labels", "gpu_driver_installation_config", "initial_node_count", "instance_types",
        "labels", "launch_template", "location", "mode", "name", "name_prefix", "node_count", "node_group_name",
        "node_labels", "node_locations", "node_taints", "priority", "taint", "zones", "guest_accelerator", "min_count",
        "max_count", "machine_type", "autoscaling", "node_config",
    }
)  # fmt: skip
"""Attributes that providers compute if they are omitted: unknown in a plan, but no doubt."""


def _raw_state(root: Cursor) -> Iterator[Resource]:
    for each in root["resources"].items():
        if each["mode"].text() != "managed":
            continue
        kind, name = each["type"].text() or "", each["name"].text() or ""
        for instance in each["instances"].items():
            index = instance["index_key"].data
            label = name if index is None else f"{name}-{index}"
            yield Resource(kind, f"{kind}.{label}", instance["attributes"], HINT)
