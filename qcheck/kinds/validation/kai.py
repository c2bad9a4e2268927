"""Checks of KAI's webhooks and of its CRDs' CEL rules: KQ, KP, KS and KT. Source: KAI 0.17."""

from __future__ import annotations

import re

from qcheck.cluster.problems import ProblemCode
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.kinds.schema.failure import show
from qcheck.kinds.validation.target import refuse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.documents.cursor import Cursor
    from qcheck.kinds.schema.failure import Failure
    from qcheck.kinds.validation.target import Target

HOSTNAME = "kubernetes.io/hostname"
WINDOW = re.compile(r"0|(\d+y)?(\d+w)?(\d+d)?(\d+h)?(\d+m)?(\d+s)?(\d+ms)?")
"""The syntax of durations in Prometheus."""


def queue(root: Cursor, target: Target) -> Iterator[Failure]:  # noqa: ARG001  (every check has this shape)
    if not root["spec"]["resources"].exists:
        text = "Required value: a queue must have resources"
        yield refuse(root["spec"]["resources"], "KQ-W01", text, "add resources with gpu, cpu and memory")


def pod_group(root: Cursor, target: Target) -> Iterator[Failure]:  # noqa: ARG001
    spec = root["spec"]
    if _both(spec):
        yield refuse(spec["minSubGroup"], "KP-W01", "Invalid value: minMember and minSubGroup are mutually exclusive")
    groups = {g.text_at("name"): g for g in spec.items_at("subGroups")}
    yield from _repeated_names(spec.items_at("subGroups"))
    parents = {name: g["parent"].text() for name, g in groups.items()}
    for name, group in groups.items():
        parent = parents[name]
        if parent is not None and parent not in groups:
            text = f"Invalid value: {show(parent)}: there is no subgroup with this name"
            yield refuse(group["parent"], "KP-W03", text)
        elif _is_in_cycle(name, parents):
            yield refuse(group["parent"], "KP-W04", f"Invalid value: {show(parent)}: the parents form a cycle")
    inner = set(parents.values())
    for name, group in groups.items():
        yield from _minimum(group, is_leaf=name not in inner)


def _both(at: Cursor) -> bool:
    return at["minMember"].exists and at["minSubGroup"].exists


def _repeated_names(groups: list[Cursor]) -> Iterator[Failure]:
    seen: dict[str, Cursor] = {}
    for group in groups:
        name = group.text_at("name")
        first = seen.setdefault(name, group)
        if first is not group:
            text = f"Duplicate value: {show(name)}: the names of subgroups must be unique"
            yield refuse(group["name"], "KP-W02", text, related=(first["name"].route,))


def _is_in_cycle(name: str, parents: dict[str, str | None]) -> bool:
    at = parents.get(name)
    for _ in parents:
        if at is None or at == name:
            break
        at = parents.get(at)
    return at == name


def _minimum(group: Cursor, is_leaf: bool) -> Iterator[Failure]:
    minimum, children = group["minMember"], group["minSubGroup"]
    if _both(group):
        yield refuse(children, "KP-W01", "Invalid value: minMember and minSubGroup are mutually exclusive")
    elif is_leaf and children.exists:
        yield refuse(children, "KP-W05", "Invalid value: a subgroup without children has no minSubGroup")
    elif is_leaf and not minimum.exists:
        yield refuse(minimum, "KP-W05", "Required value: a subgroup without children needs minMember")
    elif not is_leaf and minimum.exists:
        text = "Invalid value: a subgroup with children has no minMember"
        yield refuse(minimum, "KP-W06", text, "write minSubGroup instead")


def scheduling_shard(root: Cursor, target: Target) -> Iterator[Failure]:
    size = root["spec"]["usageDBConfig"]["usageParams"]["windowSize"]
    has_pattern = target.release_of("kai.scheduler") >= (0, 15)
    if has_pattern and size.text() is not None and not WINDOW.fullmatch(size.text() or ""):
        text = f"Invalid value: {show(size.data)}: is not a Prometheus duration, such as 1w or 168h"
        yield refuse(size, "KS-S04", text, "write a duration such as 1w or 168h")


def topology(root: Cursor, target: Target) -> Iterator[Failure]:  # noqa: ARG001
    levels = root["spec"].items_at("levels")
    yield from _repeated(levels, "nodeLabel", "KT-C01")
    for level in levels[:-1]:
        if level.text_at("nodeLabel") == HOSTNAME:
            text = f"Invalid value: {show(HOSTNAME)}: must be the last level"
            yield _invalid(refuse(level["nodeLabel"], "KT-C02", text))
    yield from _repeated(levels, "alias", "KT-W01")
    labels = {level.text_at("nodeLabel") for level in levels}
    for level in levels:
        if level.text_at("alias") in labels - {""}:
            text = f"Invalid value: {show(level['alias'].data)}: an alias must not be the node label of a level"
            yield _invalid(refuse(level["alias"], "KT-W01", text))


def _repeated(levels: list[Cursor], field: str, check: str) -> Iterator[Failure]:
    seen: dict[str, Cursor] = {}
    for level in levels:
        name = level.text_at(field)
        first = seen.setdefault(name, level)
        if name and first is not level:
            text = f"Duplicate value: {show(name)}: each level needs its own {field}"
            yield _invalid(refuse(level[field], check, text, related=(first[field].route,)))


def _invalid(failure: Failure) -> Failure:
    """Mark a failure as one that QC916 reports."""
    failure.code = ProblemCode.KAI_TOPOLOGY_INVALID
    return failure
