"""The topology part of `qcheck capacity`: what fits on a flavor's nodes and what stays idle, as text and as data."""

from __future__ import annotations

from qcheck.cluster.units import name_amount
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.reports.wording import plain, plural

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.answers.fragmentation import ShapeUse, Usability
    from qcheck.reports.json_text import Json


def usability_lines(flavor: str, resource: str, found: Usability) -> Iterator[str]:
    """Yield a heading and the details below it, indented."""
    yield plain(f"{flavor}: {name_amount(resource, found.free)} free")
    yield plain(f"  pods that fit, by size: {', '.join(f'{u.pods} of {u.size}{_idle(u)}' for u in found.sizes)}")
    for use in found.shapes:
        yield plain(f"  {use.name} ({use.size} each): {plural(use.pods, 'pod')}{_idle(use)}")
    if found.free:
        rates = ", ".join(f"{_percent(*u.fragmentation)} for pods of {u.name}" for u in found.references)
        yield plain(f"  fragmentation rate: {rates}")
    if found.ceilings:
        most = " and ".join(name_amount(r, _round_down(r, n)) for r, n in found.ceilings.items())
        yield plain(f"  no accelerator is stranded up to {most} per {resource}")
    if found.fragment is not None:
        yield plain(f"  expected fragment for the declared shapes: {_ratio(*found.fragment)} of {found.free}")
    for level, size in found.domains.items():
        yield plain(
            f"  largest domain of {level}: {plural(size.nodes, 'node')} with {name_amount(resource, size.free)}"
        )
        gangs = ", ".join(f"{u.gangs[level]} of {u.name}" for u in (*found.sizes, *found.shapes) if level in u.gangs)
        yield plain(f"  largest gang in one domain of {level}, in pods: {gangs}")


def _round_down(resource: str, units: int) -> int:
    """Round memory to whole GiB: nobody writes a request to the byte."""
    return units // 2**30 * 2**30 if resource == "memory" and units >= 2**30 else units


def _idle(use: ShapeUse) -> str:
    if not use.idle:
        return ""
    causes: dict[str, int] = {}
    for each in use.stranded:
        causes[each.by] = causes.get(each.by, 0) + each.amount
    return f" ({use.idle} idle: {', '.join(causes)})" if len(causes) == 1 else f" ({use.idle} idle: {_parts(causes)})"


def _parts(causes: dict[str, int]) -> str:
    return ", ".join(f"{amount} by {by}" for by, amount in causes.items())


def _ratio(above: int, below: int) -> str:
    return str(above) if below == 1 else f"{above}/{below}"


def _percent(above: int, below: int) -> str:
    """Format a percentage: `50 %`, or `42.9 % (3/7)` with the exact ratio."""
    whole, rest = divmod(100 * above, below)
    if not rest:
        return f"{whole} %"
    tenths = (2000 * above + below) // (2 * below)
    return f"{tenths // 10}.{tenths % 10} % ({above}/{below})"


def usability_data(found: Usability) -> dict[str, Json]:
    """Return the same as data: integers in base units, ratios as `[numerator, denominator]`."""
    return {
        "free": found.free,
        "sizes": [_use_data(u) for u in found.sizes],
        "shapes": [_use_data(u) for u in found.shapes],
        "expectedFragment": None if found.fragment is None else [*found.fragment],
        "perAccelerator": {**found.ceilings},
        "largestDomains": {
            level: {"nodes": size.nodes, "accelerators": size.free} for level, size in found.domains.items()
        },
    }


def _use_data(use: ShapeUse) -> dict[str, Json]:
    return {
        "name": use.name,
        "size": use.size,
        "pods": use.pods,
        "idle": use.idle,
        "fragmentation": [*use.fragmentation],
        "largestGangs": {**use.gangs},
        "stranded": [{"pool": s.label, "amount": s.amount, "by": s.by} for s in use.stranded],
    }
