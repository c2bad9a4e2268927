"""QC510: MIG layouts that no GPU, or not the GPU in question, supports."""

from __future__ import annotations

import re

from qcheck.checks.capacity.arithmetic import names, plural
from qcheck.checks.registry import rule
from qcheck.cluster.mig import families, families_like, is_possible, placement_text, placements, without_attributes
from qcheck.cluster.quantity import whole
from qcheck.cluster.resources import GPU
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.findings.finding import Finding, finding
from qcheck.packing.mig import MigQuestion
from qcheck.packing.proof_text import explain
from qcheck.packing.question import DoesNotFit
from qcheck.packing.solve import solve
from qcheck.supply.supply import supply_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.mig import MigLayout, Starts
    from qcheck.cluster.place import Place
    from qcheck.supply.groups import NodeClass, NodeGroup

    Family = tuple[str, int]

MIG = "nvidia.com/mig-"
ATTRIBUTE = r"\.(me|gfx)\b"
"""The attribute of a profile in a resource name, where a dot replaces the plus sign."""
COUNT, PRODUCT, CONFIG = "nvidia.com/gpu.count", "nvidia.com/gpu.product", "nvidia.com/mig.config"


@rule("QC510")
def mig_geometry_impossible(cluster: Cluster) -> Iterator[Finding]:
    """Report impossible layouts for mig-parted, and impossible instances that nodes declare."""
    for layout in cluster.mig_layouts:
        yield from list(_of_layout(layout)) or _on_nodes(cluster, layout)
    for group in supply_of(cluster).groups:
        for node_class in group.classes:
            if any(r.startswith(MIG) and n for r, n in node_class.machine.allocatable.items()):
                yield from _of_nodes(group, node_class)


def _of_layout(layout: MigLayout) -> Iterator[Finding]:
    """Report a layout that is impossible on every GPU with all of its profiles."""
    tables = {family: placements(*family) for family in families()}
    plain = {without_attributes(profile) for profile in layout.instances}
    able = [family for family, table in tables.items() if plain <= table.keys()]
    if any(is_possible(layout.instances, tables[family]) for family in able):
        return
    cut = " + ".join(f"{n} x {profile}" for profile, n in layout.instances.items())
    first = layout.places[next(iter(layout.instances))]
    if not able:
        message = f"MIG layout {layout.name} divides a GPU into {cut}, and no known GPU has all of these profiles"
        yield _near_all(finding(first, message), layout).likely().with_data(layout=layout.name)
        return
    table = tables[able[0]]
    taken = sum(table[without_attributes(p)][1] * n for p, n in layout.instances.items())
    message = (
        f"MIG layout {layout.name} divides a GPU into {cut}, which {_models(able)} cannot hold: "
        f"{'; '.join(placement_text(p, table) for p in layout.instances)} ({taken} slices in all)"
    )
    yield _near_all(finding(first, message), layout).with_data(layout=layout.name, slices=taken, gpus=_labels(able))


def _on_nodes(cluster: Cluster, layout: MigLayout) -> Iterator[Finding]:
    """Report a layout that is impossible on the GPUs of the nodes that select it, once for each GPU model."""
    seen: set[str] = set()
    for group in supply_of(cluster).groups:
        for node_class in group.classes:
            product = (node_class.machine.model or node_class.labels.get(PRODUCT, "")).partition("-MIG-")[0]
            found = families_like(product)
            is_selected = node_class.labels.get(CONFIG) == layout.name and not layout.is_filtered
            if not is_selected or not found or product in seen:
                continue
            if not any(_is_able(layout, placements(*family)) for family in found):
                seen.add(product)
                yield _unable(layout, group, found)


def _is_able(layout: MigLayout, table: dict[str, Starts]) -> bool:
    return all(without_attributes(p) in table for p in layout.instances) and is_possible(layout.instances, table)


def _unable(layout: MigLayout, group: NodeGroup, found: list[Family]) -> Finding:
    cut = " + ".join(f"{n} x {profile}" for profile, n in layout.instances.items())
    table = placements(*found[0])
    unknown = [p for p in layout.instances if without_attributes(p) not in table]
    why = f"its profiles are {names(table, most=len(table))}"
    if not unknown:
        why = "; ".join(placement_text(p, table) for p in layout.instances)
    message = (
        f"the nodes of {group.name} select MIG layout {layout.name}, which divides a GPU into {cut}, but an {_models(found)} "
        f"cannot hold it: {why}"
    )
    first = layout.places[next(iter(unknown or layout.instances))]
    result = _near_all(finding(first, message), layout) if not unknown else finding(first, message).likely()
    return result.near(group.place, f"selected by {CONFIG}").with_data(layout=layout.name, gpus=_labels(found))


def _near_all(found: Finding, layout: MigLayout) -> Finding:
    for profile in list(layout.instances)[1:]:
        found = found.near(layout.places[profile], f"{layout.instances[profile]} x {profile}")
    return found


def _labels(families: list[Family]) -> list[str | int | bool | None]:
    return [f"{model} {size} GB" for model, size in families]


def _models(families: list[Family]) -> str:
    return names(f"{model} {size} GB" for model, size in families)


def _of_nodes(group: NodeGroup, node_class: NodeClass) -> Iterator[Finding]:
    """Report instances that a node declares but its GPUs do not support."""
    product = node_class.machine.model or node_class.labels.get(PRODUCT, "")
    found = families_like(product.partition("-MIG-")[0])
    instances = {
        re.sub(ATTRIBUTE, r"+\1", r.removeprefix(MIG)): n
        for r, n in node_class.machine.allocatable.items()
        if r.startswith(MIG) and n
    }
    problems = [_impossible(group, node_class, f, instances, placements(*f)) for f in found]
    if problems and all(p is not None for p in problems):
        yield next(p for p in problems if p is not None)


def _impossible(
    group: NodeGroup, node_class: NodeClass, family: Family, instances: dict[str, int], table: dict[str, Starts]
) -> Finding | None:
    unknown = [p for p in instances if without_attributes(p) not in table]
    if unknown:
        message = (
            f"the nodes of {group.name} declare MIG instances {names(unknown)}; an {_models([family])} has the "
            f"profiles {names(table, most=len(table))}"
        )
        return finding(_place(group, unknown[0]), message).likely().with_data(pool=group.name, profiles=list(unknown))
    return _too_many(group, node_class, family, instances, table)


def _too_many(
    group: NodeGroup, node_class: NodeClass, family: Family, instances: dict[str, int], table: dict[str, Starts]
) -> Finding | None:
    count = whole(node_class.labels.get(COUNT, ""))
    if count is None:
        return None
    gpus = count - node_class.machine.allocatable.get(GPU, 0)
    question = MigQuestion(f"{family[0]} {family[1]} GB", max(0, gpus), instances, table)
    answer = solve(question)
    if not isinstance(answer, DoesNotFit):
        return None
    message = (
        f"{plural(max(0, gpus), 'GPU')} of each node of {group.name} cannot be divided into the MIG instances that it "
        f"declares: {explain(question, answer.certificate)}"
    )
    first = next(iter(instances))
    return finding(_place(group, first), message).with_data(pool=group.name, gpus=gpus, instances=dict(instances))


def _place(group: NodeGroup, profile: str) -> Place:
    """Return the place of a profile's instances, or the group itself."""
    resource = MIG + profile.replace("+", ".")
    root = group.nodes[0].place if group.nodes else group.place
    for part in ("spec", "status"):
        if root.at(part, "allocatable", resource).exists:
            return root.at(part, "allocatable", resource)
    return group.place
