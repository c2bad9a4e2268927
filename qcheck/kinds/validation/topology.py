"""Checks of topology annotations of pod templates: TAS-W01 to TAS-W06."""

from __future__ import annotations

from itertools import pairwise

from qcheck.cluster.quantity import integer
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.kinds.schema.failure import show
from qcheck.kinds.schema.formats import key_fault
from qcheck.kinds.validation.target import refuse

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from qcheck.documents.cursor import Cursor
    from qcheck.kinds.pod_sets import WrittenPodSet
    from qcheck.kinds.schema.failure import Failure
    from qcheck.kinds.validation.target import Target

PREFIX = "kueue.x-k8s.io/podset-"
BASES = ("required-topology", "preferred-topology", "unconstrained-topology")
SLICE_LEVEL, SLICE_SIZE = "slice-required-topology", "slice-size"
LAYERS, GROUP = "slice-required-topology-constraints", "group-name"
TRUTHS = frozenset({"1", "t", "T", "true", "TRUE", "True", "0", "f", "F", "false", "FALSE", "False"})


def topology(sets: Iterable[WrittenPodSet], target: Target) -> Iterator[Failure]:
    """Check all annotations of one object's templates, each alone and in groups."""
    groups: dict[str, list[WrittenPodSet]] = {}
    for each in sets:
        asked = {
            k.removeprefix(PREFIX): c
            for k, c in each.annotations.mapping()
            if k.startswith(PREFIX) and isinstance(c.data, str)
        }
        if asked:
            yield from _template(asked, each.count, target)
        if GROUP in asked:
            groups.setdefault(str(asked[GROUP].data), []).append(each)
    for name, members in groups.items():
        yield from _group(name, members)


def _template(asked: dict[str, Cursor], count: int | None, target: Target) -> Iterator[Failure]:
    bases = [asked[b] for b in BASES if b in asked]
    if len(bases) > 1:
        text = f"Invalid value: must not contain more than one of {', '.join(PREFIX + b for b in BASES)}"
        yield refuse(bases[1], "TAS-W01", text, on_key=True, related=(bases[0].route,))
    for name in (*BASES[:2], SLICE_LEVEL):
        if name in asked and (fault := key_fault(str(asked[name].data))):
            yield refuse(asked[name], "TAS-W02", f"Invalid value: {show(asked[name].data)}: {fault}")
    free = asked.get(BASES[2])
    if free is not None and free.data not in TRUTHS:
        yield refuse(free, "TAS-W02", f"Invalid value: {show(free.data)}: must be true or false")
    yield from _slices(asked, count)
    if GROUP in asked:
        yield from _group_name(asked)
    if LAYERS in asked and target.has_gate("TASMultiLayerTopology"):
        yield from _layers(asked, count)
    elif LAYERS in asked:
        text = f"Forbidden: {PREFIX}{LAYERS} needs the feature gate TASMultiLayerTopology"
        yield refuse(asked[LAYERS], "TAS-W06", text, on_key=True)


def _slices(asked: dict[str, Cursor], count: int | None) -> Iterator[Failure]:
    level, size = asked.get(SLICE_LEVEL), asked.get(SLICE_SIZE)
    if size is None:
        if level is not None:
            text = f"Required value: {PREFIX}{SLICE_SIZE} must be set when {PREFIX}{SLICE_LEVEL} is"
            yield refuse(level, "TAS-W03", text, on_key=True)
        return
    if level is None:
        text = f"Forbidden: {PREFIX}{SLICE_SIZE} may not be set without {PREFIX}{SLICE_LEVEL}"
        yield refuse(size, "TAS-W03", text, on_key=True)
    number = integer(str(size.data))
    if number is None or number < 1:
        yield refuse(size, "TAS-W03", f"Invalid value: {show(size.data)}: must be an integer of at least 1")
    elif count is not None and number > count:
        text = f"Invalid value: {number}: must not be greater than the pod set's count of {count}"
        yield refuse(size, "TAS-W03", text)


def _group_name(asked: dict[str, Cursor]) -> Iterator[Failure]:
    group = asked[GROUP]
    if str(group.data).isdecimal():
        yield refuse(group, "TAS-W04", f"Invalid value: {show(group.data)}: must not be a number")
    for clash in (SLICE_LEVEL, SLICE_SIZE, LAYERS):
        if clash in asked:
            text = f"Forbidden: may not be set together with {PREFIX}{clash}"
            yield refuse(group, "TAS-W04", text, on_key=True, related=(asked[clash].route,))
            break
    if not any(b in asked for b in BASES[:2]):
        text = f"Required value: needs {PREFIX}{BASES[0]} or {PREFIX}{BASES[1]}"
        yield refuse(group, "TAS-W04", text, on_key=True)


def _group(name: str, members: list[WrittenPodSet]) -> Iterator[Failure]:
    at = members[0].annotations[PREFIX + GROUP]
    related = tuple(m.annotations[PREFIX + GROUP].route for m in members[1:])
    if len(members) != 2:
        text = f"Invalid value: {show(name)}: a group has exactly two pod sets, not {len(members)}"
        yield refuse(at, "TAS-W05", text, related=related)
        return
    if all(m.count is not None and m.count != 1 for m in members):
        text = f"Invalid value: {show(name)}: one pod set of a group must have exactly one pod"
        yield refuse(at, "TAS-W05", text, related=related)
    for base in BASES[:2]:
        first, second = (m.annotations[PREFIX + base] for m in members)
        if first.data != second.data:
            given = first if first.exists else second
            text = f"Invalid value: {show(given.data)}: pod sets of a group must request the same {PREFIX}{base}"
            yield refuse(given, "TAS-W05", text, related=(second.route if given is first else at.route,))


def _layers(asked: dict[str, Cursor], count: int | None) -> Iterator[Failure]:
    at = asked[LAYERS]
    for clash in (SLICE_LEVEL, SLICE_SIZE):
        if clash in asked:
            text = f"Forbidden: may not be set together with {PREFIX}{clash}"
            yield refuse(at, "TAS-W06", text, on_key=True, related=(asked[clash].route,))
            break
    import json  # 1.5 ms

    try:
        layers = json.loads(str(at.data))
    except (ValueError, RecursionError):
        layers = None
    fault = _layers_fault(layers, count)
    if fault:
        yield refuse(at, "TAS-W06", f"Invalid value: {fault}")


def _layers_fault(layers: object, count: int | None) -> str | None:
    if not isinstance(layers, list) or not 1 <= len(layers) <= 3:
        return 'must be a JSON array of one to three objects, such as [{"topology": "example.com/rack", "size": 4}]'
    for layer in layers:
        if not isinstance(layer, dict) or not {"topology", "size"} <= set(layer):
            return "every object must have the keys topology and size"
        size = layer["size"]
        if not isinstance(layer["topology"], str) or key_fault(layer["topology"]):
            return f"{show(layer['topology'])} is not a label key"
        if type(size) is not int or not 1 <= size < 2**31:
            return f"the size of {layer['topology']} must be an integer of at least 1"
    names = [layer["topology"] for layer in layers]
    sizes = [layer["size"] for layer in layers]
    if len(set(names)) != len(names):
        return "a topology level may occur only once"
    for outer, inner in pairwise(sizes):
        if outer % inner:
            return f"every size must divide the one before it: {outer} is not a multiple of {inner}"
    if count is not None and sizes[0] > count:
        return f"the first size, {sizes[0]}, is greater than the pod set's count of {count}"
    return None
