"""Search for domains that hold gangs at the level that they require, on the nodes of a flavor."""

from __future__ import annotations

from qcheck.cluster.nodes import PLENTY
from qcheck.cluster.pods import fits_times
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.packing.domains import Slice, at_level, capacity, gangs_per_domain, largest_gang
from qcheck.packing.flavor_domains import HOSTNAME, anything, layout
from qcheck.packing.flavor_question import LENIENT, PLAIN, SURE, label_of
from qcheck.packing.proof_text import explain
from qcheck.packing.question import DoesNotFit, Pods
from qcheck.supply.supply import supply_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.pods import Amounts
    from qcheck.packing.domains import Domain
    from qcheck.packing.flavor_domains import Admits, Layout


class GangRequest(Value):
    """Pods that must share a domain of `level`; with `slices`, every slice must share one of its level.

    Without a `level` only the slices are constrained. `members` are shapes with their counts. `sums`: see `layout`.
    """

    name: str
    members: tuple[Pods, ...]
    level: str | None
    slices: tuple[Slice, ...] = ()
    sums: bool = False

    @property
    def size(self) -> int:
        return sum(m.count for m in self.members)

    @property
    def asked(self) -> set[str]:
        return {r for m in self.members for r in m.request}


class Misfit(Value):
    """The reason why no domain holds the gang, and the most pods that the largest one holds (None for unlike pods)."""

    why: str
    most: int | None
    certain: bool


def misfit(
    cluster: Cluster, flavor: str, levels: tuple[str, ...], party: GangRequest, admits: Admits = anything
) -> Misfit | None:
    """Return why a gang fits no domain of a flavor's nodes that `admits` allows; None if it fits or may fit."""
    sure = _misfit(cluster, flavor, levels, party, SURE, admits)
    if sure is not None or not _misfit(cluster, flavor, levels, party, LENIENT, admits):
        return sure
    found = _misfit(cluster, flavor, levels, party, PLAIN, admits)
    return found and Misfit(found.why, found.most, certain=False)


def _misfit(
    cluster: Cluster, flavor: str, levels: tuple[str, ...], party: GangRequest, view: str, admits: Admits
) -> Misfit | None:
    laid = layout(cluster, flavor, levels, party.asked, view, party.size, admits, party.sums)
    if laid is None:
        return None
    bound = party.level or party.slices[0].level
    certain = bound not in laid.unclear
    domains = at_level(laid.domains, bound)
    if party.slices and len(party.members) == 1:
        return _sliced(laid, domains, party, certain)
    if len(party.members) == 1:
        return _counted(domains, party, bound, certain)
    return _packed(domains, party, bound, certain)


def _counted(domains: tuple[Domain, ...], party: GangRequest, level: str, certain: bool) -> Misfit | None:
    """Decide for equal pods, by the count of the largest domain."""
    request = party.members[0].request
    most = max((capacity(d, request) for d in domains if d.count), default=0)
    if most >= party.size:
        return None
    largest = next((d for d in domains if d.count and capacity(d, request) == most), None)
    if largest is None:
        return Misfit(f"no node is in a domain of {level}", 0, certain)
    where = largest.label if "=" in largest.label else f"in {largest.label}"
    held = f"{most} of them if all its nodes count as one" if party.sums else _sum(largest, request)
    return Misfit(f"the largest domain of {level} ({where}) holds {held}", most, certain)


def _sum(domain: Domain, request: dict[str, int]) -> str:
    """Return the count as a sum: `18 nodes x 1 = 18 of them`."""
    nodes = [n for n in domain.all_nodes() if n.count]
    parts = [f"{n.count} {'node' if n.count == 1 else 'nodes'} x {fits_times(n.free, request) or 0}" for n in nodes]
    return f"{' + '.join(parts) or 'no node'} = {capacity(domain, request)} of them"


def _sliced(laid: Layout, domains: tuple[Domain, ...], party: GangRequest, certain: bool) -> Misfit | None:
    """Decide for equal pods in slices: count whole slices per domain or, without a level, over all domains."""
    request, per_slice = party.members[0].request, party.slices[0].size
    wanted = party.size // per_slice
    if party.level is None:
        held = sum(d.count * capacity(d, request, party.slices) for d in at_level(laid.domains, party.slices[0].level))
        if held >= wanted:
            return None
        why = f"all domains of {party.slices[0].level} hold {held} slices of {per_slice}; needed: {wanted}"
        return Misfit(why, held * per_slice, certain)
    if any(gangs_per_domain(d, request, party.size, party.slices) for d in domains if d.count):
        return None
    held = max((capacity(d, request, party.slices) for d in domains if d.count), default=0)
    why = f"the largest domain of {party.level} holds {held} slices of {per_slice}; needed: {wanted}"
    return Misfit(why, held * per_slice, certain)


def _packed(domains: tuple[Domain, ...], party: GangRequest, level: str, certain: bool) -> Misfit | None:
    """Decide for unlike pods (a leader and its workers): pack them onto each domain's nodes."""
    from qcheck.packing.gangs import Gang, GangQuestion, pack_gangs  # 0.3 ms

    answer, posed = pack_gangs(GangQuestion(domains, (Gang(party.name, party.members, 1),)))
    if not isinstance(answer, DoesNotFit):
        return None
    return Misfit(f"in domains of {level}: {explain(posed, answer.certificate)}", None, certain)


class DomainSize(Value):
    """The size of the largest domain of a level: its `nodes`, and its `free` and `whole` accelerators."""

    label: str
    nodes: int
    free: int
    whole: int


def domain_size(cluster: Cluster, flavor: str, level: str, resource: str) -> DomainSize | None:
    """Return the size of a full domain of a level; None if it is unknown, or the level is the node itself."""
    laid = _clear_layout(cluster, flavor, level, [resource])
    if level == HOSTNAME or laid is None:
        return None
    groups = [m.group for m in supply_of(cluster).matches(flavor)]
    whole = {label_of(g): max((c.machine.allocatable.get(resource, 0) for c in g.classes), default=0) for g in groups}
    sizes = [
        DomainSize(
            d.label,
            sum(n.count for n in d.nodes),
            sum(n.count * n.free.get(resource, 0) for n in d.nodes),
            sum(n.count * whole[n.label] for n in d.nodes),
        )
        for d in laid.domains
    ]
    return max(sizes, key=lambda s: s.free)


def gang_size(cluster: Cluster, flavor: str, level: str, request: Amounts) -> int | None:
    """Return the most pods of one shape that fit into one domain of a level; None if its domains are unknown."""
    laid = _clear_layout(cluster, flavor, level, request)
    return None if laid is None else largest_gang(laid.domains, request)


def domains_to_lose(cluster: Cluster, flavor: str, level: str) -> dict[str, dict[str, int]]:
    """Return the nodes lost with one domain of a level, by the domain's name and node group; equal domains appear once.

    The result is empty if the domains are unknown or there is only one.
    """
    laid = _clear_layout(cluster, flavor, level, [])
    if level == HOSTNAME or laid is None or sum(d.count for d in laid.domains) < 2:
        return {}
    groups = {label_of(m.group): m.group.name for m in supply_of(cluster).matches(flavor)}
    alike: dict[tuple[tuple[str, int], ...], str] = {}
    for domain in laid.domains:
        nodes: dict[str, int] = {}
        for each in domain.all_nodes():
            nodes[groups[each.label]] = nodes.get(groups[each.label], 0) + each.count
        alike.setdefault(tuple(sorted(nodes.items())), domain.label)
    return {label: dict(nodes) for nodes, label in alike.items()}


def _clear_layout(cluster: Cluster, flavor: str, level: str, asked: Iterable[str]) -> Layout | None:
    """Return the domains of a level; None if there are none or any of them is unknown or unbounded."""
    laid = layout(cluster, flavor, (level,), asked, PLAIN, PLENTY)
    if laid is None or level in laid.unclear or not laid.domains:
        return None
    boundless = any(n.count >= PLENTY for d in laid.domains for n in d.all_nodes())
    return None if boundless else laid
