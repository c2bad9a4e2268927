"""Which groups of nodes may host some pods, by labels and taints, and how sure that is.

Two answers per group: `possible`, if nothing that was read rules it out, and `sure`, if it holds for each of its nodes.
What is not possible is a proof; what is sure is the ground for a witness.
"""

from __future__ import annotations

from qcheck.cluster.labels import Taint, untolerated
from qcheck.cluster.resources import looks_like_accelerator
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.supply.landing import ALL, NONE, devices_are_tolerated, lasting, select
from qcheck.supply.supply import NodeGroup, supply_of

if TYPE_CHECKING:
    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.labels import Labels, NodeSelection
    from qcheck.cluster.pods import Amounts, PodTemplate
    from qcheck.supply.supply import Varying


class Host(Value):
    """A group as pods see it. `labels_match` says whether it is selected at all; `repels`: a taint that keeps them off."""

    group: NodeGroup
    labels_match: bool
    repels: Taint | None
    possible: bool
    sure: bool


def hosts(cluster: Cluster, template: PodTemplate, request: Amounts) -> tuple[Host, ...]:
    """Every group of the cluster, judged for pods of a template that ask for `request`."""
    return tuple(_host(g, template, request) for g in supply_of(cluster).groups)


def _host(group: NodeGroup, template: PodTemplate, request: Amounts) -> Host:
    if group.classes:
        answers = {select(template.selection, c.labels, c.varying) for c in group.classes}
        taints, labels = group.classes[0].taints, group.classes[0].labels
    else:
        pool = group.pool
        labels, varying = (pool.labels, pool.varying) if pool else ({}, {})
        answers = {_loosely(template.selection, labels, varying)}
        taints = pool.taints if pool else ()
    untouched = untolerated(lasting(taints), template.tolerations)
    firm = [t for t in untouched if not _plugin_tolerates(t, request)]
    left = firm if devices_are_tolerated(labels) else untouched
    selected = answers != {NONE}
    return Host(
        group,
        selected,
        next(iter([*firm, *left]), None),
        possible=selected and not firm,
        sure=answers == {ALL} and not left,
    )


def _loosely(selection: NodeSelection, labels: Labels, varying: Varying) -> int:
    """For a pool whose machines are not known: labels that the provider would add may have any value."""
    open_keys: Varying = {k: () for k in selection.keys if k not in labels}
    return select(selection, labels, {**open_keys, **varying})


def _plugin_tolerates(taint: Taint, request: Amounts) -> bool:
    """Whether the ExtendedResourceToleration admission plugin, where it runs, makes the pods tolerate a taint."""
    return looks_like_accelerator(taint.key) and request.get(taint.key, 0) > 0
