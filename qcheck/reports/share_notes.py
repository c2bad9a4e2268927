"""The notes of `qcheck shares`: each printed once per tree, with the queues and resources that it concerns."""

from __future__ import annotations

from qcheck.cluster.resources import is_compute
from qcheck.cluster.value import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from qcheck.quota.shares import PoolShares

    Cell = tuple[str, str]
    """Pool and resource."""

MOST_PLACES = 3
OF_ALL_QUEUES = ("default-configuration", "no-nodes", "unknown-nodes")
"""Notes that concern every queue, although only one queue has them."""


def trees(pools: Iterable[PoolShares]) -> list[list[PoolShares]]:
    """Return the tables of each tree together, accelerators first."""
    found: dict[tuple[str, str], list[PoolShares]] = {}
    for pool in sorted(pools, key=lambda p: not is_compute(p.resource)):
        found.setdefault((pool.scheduler, pool.tree), []).append(pool)
    return [found[key] for key in sorted(found)]


def remarks(tree: Sequence[PoolShares]) -> list[str]:
    """Return a line for each message, with its queues, its place, and its resources if it does not concern all."""
    by_message: dict[str, dict[str, list[Cell]]] = {}
    places: dict[str, dict[str, None]] = {}
    general: list[str] = []
    for pool in tree:
        for queue in pool.queues:
            for note in queue.notes:
                if note.code in OF_ALL_QUEUES:
                    general.append(note.message)
                    continue
                by_message.setdefault(note.message, {}).setdefault(queue.queue, []).append((pool.pool, pool.resource))
                places.setdefault(note.message, {}).update({note.place.line: None} if note.place else {})
    every = [(pool.pool, pool.resource) for pool in tree]
    own = [
        line + _where(list(places[text])) for text, queues in by_message.items() for line in _lines(text, queues, every)
    ]
    return [*dict.fromkeys(general), *own]


def _lines(message: str, queues: dict[str, list[Cell]], every: list[Cell]) -> Iterator[str]:
    """Yield one line for the queues that a message concerns in the same cells."""
    alike: dict[tuple[Cell, ...], list[str]] = {}
    for queue, cells in queues.items():
        alike.setdefault(tuple(cells), []).append(queue)
    for same, names in alike.items():
        only = _cells(same, every) if len(same) < len(every) else ""
        about = "" if len(names) == 1 and names[0] in message else ", ".join(names)
        head = f"{about} ({only})" if about and only else about or only
        yield f"{head}: {message}" if head else message


def _cells(cells: Sequence[Cell], every: Sequence[Cell]) -> str:
    """Return the resources, with their pools if the tree has several."""
    many = len({pool for pool, _ in every}) > 1
    return ", ".join(f"{resource} in {pool}" if many else resource for pool, resource in cells)


def _where(lines: Sequence[str]) -> str:
    more = f" and {len(lines) - MOST_PLACES} more" if len(lines) > MOST_PLACES else ""
    return f" ({', '.join(lines[:MOST_PLACES])}{more})" if lines else ""
