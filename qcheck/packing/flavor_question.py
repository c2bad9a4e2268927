"""Packing questions from a cluster: the nodes behind flavors, in the best case.

Unknown figures count as unlimited, so that "does not fit" is a proof. Estimated figures first count as unlimited too: a
misfit even then is certain; a misfit only with the estimate's margin is likely.
"""

from __future__ import annotations

from qcheck.cluster.nodes import PLENTY, at_most
from qcheck.cluster.resources import is_compute
from qcheck.cluster.value import TYPE_CHECKING, Value, replace
from qcheck.cluster.views import answered_once, cache_of
from qcheck.packing.pod_shape import KEPT_APART
from qcheck.packing.question import DoesNotFit, Nodes, Pods, Question
from qcheck.packing.solve import solved
from qcheck.supply.supply import supply_of

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.objects import ObjectId
    from qcheck.packing.pod_shape import PodShape
    from qcheck.packing.question import Answer
    from qcheck.supply.groups import NodeClass, NodeGroup

PLAIN, LENIENT, SURE = "plain", "lenient", "sure"
"""Estimated figures as they are, with the margin, or as unlimited."""


class PodDemand(Value):
    """`count` pods of a shape, each of which gets one of `flavors`; `label` names them in messages."""

    label: str
    shape: PodShape
    count: int
    flavors: tuple[str, ...]


class PackingVerdict(Value):
    """The answer to some demands, and the question whose terms it uses. `certain`: no estimate affects it."""

    answer: Answer
    question: Question
    certain: bool

    @property
    def fails(self) -> bool:
        return isinstance(self.answer, DoesNotFit)

    def why(self) -> str:
        """The certificate in words; empty unless the pods do not fit."""
        if not isinstance(self.answer, DoesNotFit):
            return ""
        from qcheck.packing.proof_text import explain  # 0.3 ms

        return explain(self.question, self.answer.certificate)

    def about(self, demands: Iterable[PodDemand]) -> PackingVerdict:
        """Return the same verdict on equal demands with other labels, which only a proof mentions."""
        if not self.fails:
            return self
        pods = tuple(replace(p, label=d.label) for p, d in zip(self.question.pods, demands, strict=True))
        return replace(self, question=replace(self.question, pods=pods))


class Without(Value):
    """Capacity excluded from the question: a number of `nodes` per group name, and the pods of `evicted` DaemonSets."""

    nodes: dict[str, int] = {}
    evicted: frozenset[ObjectId] = frozenset()


NOTHING = Without()


def groups_behind(cluster: Cluster, flavors: Iterable[str]) -> tuple[NodeGroup, ...] | None:
    """Return the node groups that any of the flavors selects, each once; None if one of them is not known."""
    found: dict[str, NodeGroup] = {}
    for flavor in flavors:
        found.update({m.group.name: m.group for m in supply_of(cluster).matches(flavor)})
    return tuple(found.values()) if all(g.is_known for g in found.values()) else None


def judge(cluster: Cluster, demands: Iterable[PodDemand], without: Without = NOTHING) -> PackingVerdict | None:
    """Return whether all demands can be met at once; None if nodes are unknown or there is no demand.

    Cached by equal demands.
    """
    wanted = _joined(demands)
    asked = tuple((d.shape.ask, d.count, d.flavors) for d in wanted)
    key = (asked, tuple(without.nodes.items()), without.evicted)
    known: dict[Hashable, PackingVerdict | None] = cache_of(cluster, judge)
    if key not in known:
        known[key] = _judge(cluster, wanted, without)
    verdict = known[key]
    return None if verdict is None else verdict.about(wanted)


def _judge(cluster: Cluster, wanted: tuple[PodDemand, ...], without: Without) -> PackingVerdict | None:
    groups = groups_behind(cluster, sorted({f for w in wanted for f in w.flavors}))
    if not wanted or groups is None:
        return None

    def ask(view: str) -> Question:
        return _question(cluster, wanted, groups, view, without)

    return _by_certainty(cluster, ask, any(_has_estimates(g) for g in groups))


def _joined(demands: Iterable[PodDemand]) -> tuple[PodDemand, ...]:
    """Combine equal demands with the same name; omit demands for no pods."""
    found: dict[tuple[object, ...], PodDemand] = {}
    for demand in demands:
        if demand.count > 0:
            key = (demand.label, *demand.shape.ask, demand.flavors)
            known = found.get(key)
            found[key] = demand if known is None else replace(known, count=known.count + demand.count)
    return tuple(found.values())


def _by_certainty(cluster: Cluster, ask: Callable[[str], Question], has_estimates: bool) -> PackingVerdict:
    """Answer without estimates first, then with their margin, then with the estimates as they are."""
    sure = ask(SURE)
    answer = solved(cluster, sure)
    if isinstance(answer, DoesNotFit) or not has_estimates:
        return PackingVerdict(answer, sure, certain=True)
    lenient = ask(LENIENT)
    answer = solved(cluster, lenient)
    if not isinstance(answer, DoesNotFit):
        return PackingVerdict(answer, lenient, certain=False)
    plain = ask(PLAIN)
    return PackingVerdict(solved(cluster, plain), plain, certain=False)


def _question(
    cluster: Cluster, demands: tuple[PodDemand, ...], groups: tuple[NodeGroup, ...], view: str, without: Without
) -> Question:
    asked = tuple(sorted({r for w in demands for r in w.shape.request}))
    most = sum(w.count for w in demands)
    nodes = tuple(nodes_of(cluster, g, asked, view, most, without) for g in groups)
    pods = tuple(Pods(w.label, w.shape.request, w.count, _homes(cluster, w, groups)) for w in demands)
    return Question(nodes, pods)


def _homes(cluster: Cluster, demand: PodDemand, groups: tuple[NodeGroup, ...]) -> frozenset[int] | None:
    """Return the groups that a demand may use; None for all of them."""
    selected = {(f, m.group.name) for f in demand.flavors for m in supply_of(cluster).matches(f)}
    homes = frozenset(
        i
        for i, g in enumerate(groups)
        if any((f, g.name) in selected and demand.shape.may_use(cluster, g, f) for f in demand.flavors)
    )
    return None if len(homes) == len(groups) else homes


def nodes_of(
    cluster: Cluster, group: NodeGroup, asked: tuple[str, ...], view: str, most: int, without: Without = NOTHING
) -> Nodes:
    """Return a group in the best case, for the packing engine.

    The count is the most nodes that can exist, or `most` (the pods wanted) without a ceiling; with several machine
    types, each resource has the largest figure.
    """
    count, free = _count(group), _best_free(cluster, group, asked, view, without.evicted)
    return Nodes(label_of(group), free, most if count is None else max(0, count - without.nodes.get(group.name, 0)))


@answered_once
def _best_free(
    _: Cluster, group: NodeGroup, asked: tuple[str, ...], view: str, evicted: frozenset[ObjectId]
) -> dict[str, int]:
    """Return the maximum free amount of each resource on a node of a group."""
    return {r: max((_free(group, c, r, view, evicted) for c in group.classes), default=0) for r in asked}


def label_of(group: NodeGroup) -> str:
    """Return a group's name for sums that state its node count anyway."""
    return group.name.removesuffix(f" ({len(group.nodes)} nodes)")


def _count(group: NodeGroup) -> int | None:
    """Return how many nodes there can be; a pool's own limits allow only whole nodes."""
    if group.pool is None or not group.pool.limits:
        return group.ceiling
    counts = [
        limit // least
        for resource, limit in group.pool.limits.items()
        if (least := min((c.machine.allocatable.get(resource, 0) for c in group.classes), default=0))
    ]
    return min([*counts, *([] if group.ceiling is None else [group.ceiling])], default=None)


def _free(group: NodeGroup, node_class: NodeClass, resource: str, view: str, evicted: frozenset[ObjectId]) -> int:
    if resource == KEPT_APART:
        return 1
    known = resource in node_class.machine.allocatable
    if not node_class.knows(resource) or (not known and not group.nodes and not is_compute(resource)):
        return PLENTY
    free = node_class.left(resource, evicted)
    if not node_class.is_estimated(resource) or view == PLAIN:
        return free
    if view != SURE:
        return at_most(free)
    published = node_class.published(resource, evicted)
    return PLENTY if published is None else published


def _has_estimates(group: NodeGroup) -> bool:
    return any(c.is_estimated(r) for c in group.classes for r in c.machine.allocatable)
