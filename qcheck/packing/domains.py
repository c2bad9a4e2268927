"""Domains: nested groups of nodes such as racks, blocks and NVLink islands.

Sources: Kueue counts per domain and rounds down at each level of slices (`pkg/cache/scheduler/tas_flavor_snapshot.go`
of release 0.19); a gang of equal pods fits into a domain iff the domain holds at least that many such pods.
"""

from __future__ import annotations

from qcheck.cluster.pods import fits_times
from qcheck.cluster.value import TYPE_CHECKING, Value, replace

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from qcheck.cluster.pods import Amounts
    from qcheck.packing.question import Nodes


class Domain(Value):
    """`count` equal domains of one level, each with `nodes` directly in it and smaller domains in `parts`.

    `level` is the node label's key; `label` names them in messages ("rack of pool gb200").
    """

    level: str
    label: str
    count: int
    nodes: tuple[Nodes, ...] = ()
    parts: tuple[Domain, ...] = ()

    def all_nodes(self) -> Iterator[Nodes]:
        """Yield the nodes of one of these domains, at any depth, with their counts in it."""
        yield from self.nodes
        for part in self.parts:
            yield from (replace(n, count=n.count * part.count) for n in part.all_nodes())


class Slice(Value):
    """A constraint that every `size` pods (or smaller slices) share a domain of `level`."""

    level: str
    size: int


def at_level(domains: Iterable[Domain], level: str) -> tuple[Domain, ...]:
    """Return the domains of a level, under any parent, with their total counts."""
    return tuple(_at_level(domains, level, 1))


def _at_level(domains: Iterable[Domain], level: str, times: int) -> Iterator[Domain]:
    for domain in domains:
        if domain.level == level:
            yield replace(domain, count=domain.count * times)
        else:
            yield from _at_level(domain.parts, level, times * domain.count)


def capacity(domain: Domain, request: Amounts, slices: tuple[Slice, ...] = ()) -> int:
    """Return how many pods of one shape one of these domains holds.

    With `slices` (coarse to fine), return how many whole slices of the coarsest kind it holds.
    """
    return _units(domain, request, {s.level: s.size for s in slices})


def _units(domain: Domain, request: Amounts, sizes: dict[str, int]) -> int:
    pods = sum(n.count * (fits_times(n.free, request) or 0) for n in domain.nodes)
    units = pods + sum(p.count * _units(p, request, sizes) for p in domain.parts)
    return units // sizes[domain.level] if domain.level in sizes else units


def gangs_per_domain(domain: Domain, request: Amounts, members: int, slices: tuple[Slice, ...] = ()) -> int:
    """Return how many gangs of `members` equal pods one domain holds.

    With slices, a gang is `members // (pods per coarsest slice)` whole slices, as Kueue places them.
    """
    per_slice = 1
    for each in slices:
        per_slice *= each.size
    units = members // per_slice
    return capacity(domain, request, slices) // units if units > 0 else 0


def largest_gang(domains: Iterable[Domain], request: Amounts) -> int:
    """Return the most pods of one shape that fit into one domain."""
    return max((capacity(d, request) for d in domains if d.count > 0), default=0)
