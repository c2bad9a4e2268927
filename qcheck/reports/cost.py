"""The cost of a cluster in reports: per hour in JSON, per month for people."""

from __future__ import annotations

from fractions import Fraction

from qcheck.answers.cost import HOURS_OF_A_MONTH, cost_of, pool_hour
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.reports.wording import plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.answers.cost import Cost
    from qcheck.cluster.cluster import Cluster
    from qcheck.reports.json_text import Json

HEADERS = ("per month", "cost", "may be lent")
TITLE = "What the nodes cost"
NOTE = f"A month has {HOURS_OF_A_MONTH} hours; amounts are in the currency of `prices`."


def number(amount: Fraction) -> int | float:
    """Return an amount as a JSON number, an integer if possible."""
    return amount.numerator if amount.denominator == 1 else float(amount)


def cost_data(cluster: Cluster) -> dict[str, Json]:
    """Return what `capacity --format json` adds to a cluster; nothing if the settings have no prices."""
    cost = cost_of(cluster)
    if cost is None:
        return {}
    queues: list[Json] = [
        {"queue": q.queue, "reserved": number(q.reserved), "lendable": number(q.lendable)} for q in cost.queues
    ]
    amounts = {
        "hour": cost.hour,
        "reserved": cost.reserved,
        "lendable": cost.lendable,
        "stranded": cost.stranded,
        "unclaimed": cost.unclaimed,
    }
    parts: dict[str, Json] = {name: number(amount) for name, amount in amounts.items()}
    return {"cost": {**parts, "queues": queues, "unpriced": list(cost.unpriced)}}


def flavor_data(cluster: Cluster, pool: str) -> dict[str, Json]:
    """Return what `capacity --format json` adds to each row of a flavor."""
    if not cluster.policy.prices:
        return {}
    hourly = pool_hour(cluster, pool)
    return {"costPerHour": None if hourly is None else number(hourly)}


def cost_rows(cost: Cost) -> list[tuple[str, str, str]]:
    """Return the parts of the cost and their total, in the order of `HEADERS`. The parts add up to the cent."""
    names = [*(q.queue for q in cost.queues), "stranded", "under no quota"]
    amounts = _in_cents([*(q.reserved for q in cost.queues), cost.stranded, cost.unclaimed])
    lent = [*(_shown(round(_cents(q.lendable))) for q in cost.queues), "", ""]
    rows = [(name, _shown(cents), may) for name, cents, may in zip(names, amounts, lent, strict=True)]
    return [*rows, ("all nodes", _shown(sum(amounts)), _shown(round(_cents(cost.lendable))))]


def _cents(hourly: Fraction) -> Fraction:
    return hourly * HOURS_OF_A_MONTH * 100


def _in_cents(hourly: list[Fraction]) -> list[int]:
    """Return monthly amounts in whole cents that add up to the rounded sum: the largest remainders are rounded up."""
    exact = [_cents(amount) for amount in hourly]
    whole = [int(cents) for cents in exact]
    missing = round(sum(exact, Fraction())) - sum(whole)
    for at in sorted(range(len(exact)), key=lambda i: (whole[i] - exact[i], i))[:missing]:
        whole[at] += 1
    return whole


def _shown(cents: int) -> str:
    return f"{cents // 100:,}.{cents % 100:02}"


def unpriced(cost: Cost) -> str:
    """Return the nodes that the cost omits; empty if it includes all of them."""
    return f"without a price: {', '.join(cost.unpriced)}" if cost.unpriced else ""


def cost_lines(cluster: Cluster) -> Iterator[str]:
    """Yield the cost as text; nothing without prices."""
    cost = cost_of(cluster)
    if cost is None:
        return
    rows = [HEADERS, *cost_rows(cost)]
    widths = [max(len(plain(row[at])) for row in rows) for at in range(len(HEADERS))]
    yield ""
    for name, amount, lent in rows:
        yield f"{plain(name).ljust(widths[0])}  {amount.rjust(widths[1])}  {lent.rjust(widths[2])}".rstrip()
    yield f"  {NOTE}"
    if cost.unpriced:
        yield f"  {plain(unpriced(cost))}"
