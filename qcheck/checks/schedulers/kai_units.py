"""QC909 and QC910: amounts of KAI queues in another unit than KAI counts, and negative ones."""

from __future__ import annotations

from fractions import Fraction

from qcheck.checks.capacity.arithmetic import names
from qcheck.checks.registry import rule
from qcheck.cluster.kai import UNLIMITED, Dimension, KaiQueue, KaiTerms
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.findings.finding import Finding, finding
from qcheck.schedulers.kai.words import decimal, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.place import Place

ONE_CORE = 1000
LEAST_CPU_PER_GPU = 100
"""Millicores per GPU below which an amount was probably meant in cores."""
LEAST_MEMORY_PER_GPU = 1024
"""Units of 10^6 bytes per GPU below which an amount was probably meant in GiB."""
MOST_MEMORY = 10**9
"""Units of 10^6 bytes above which an amount was probably meant in bytes."""


@rule("QC909")
def unit_suspicious(cluster: Cluster) -> Iterator[Finding]:
    """Report amounts that were probably written in another unit; one finding per unit."""
    by_unit: dict[tuple[Dimension, str], list[_Mistaken]] = {}
    for each in _mistaken(cluster):
        by_unit.setdefault((each.dimension, each.meant), []).append(each)
    for amounts in by_unit.values():
        yield _suspicious(amounts)


class _Mistaken(Value):
    """An amount in the unit `meant`; `instead`: the same amount in KAI's `unit`."""

    queue: KaiQueue
    place: Place
    dimension: Dimension
    amount: Fraction
    unit: str
    meant: str
    instead: Fraction

    @property
    def counted(self) -> str:
        """The amount as KAI counts it."""
        return shown(self.dimension, self.amount * (10**6 if self.dimension is Dimension.MEMORY else 1))


def _mistaken(cluster: Cluster) -> Iterator[_Mistaken]:
    """Yield the amounts that were probably written in another unit."""
    for queue in cluster.kai_queues:
        gpu = queue.terms[Dimension.GPU].written_quota
        for place, amount in _written(queue.terms[Dimension.CPU]):
            if amount > 0 and gpu > 0 and (amount < ONE_CORE or amount < LEAST_CPU_PER_GPU * gpu):
                yield _in_unit(queue, place, Dimension.CPU, amount, "cores", Fraction(1000))
        for place, amount in _written(queue.terms[Dimension.MEMORY]):
            if amount > MOST_MEMORY:
                yield _in_unit(queue, place, Dimension.MEMORY, amount, "bytes", Fraction(1, 10**6))
            elif amount > 0 and gpu > 0 and amount < LEAST_MEMORY_PER_GPU * gpu:
                yield _in_unit(queue, place, Dimension.MEMORY, amount, "GB", Fraction(1000))


def _in_unit(
    queue: KaiQueue, place: Place, dimension: Dimension, amount: Fraction, meant: str, factor: Fraction
) -> _Mistaken:
    return _Mistaken(
        queue=queue,
        place=place,
        dimension=dimension,
        amount=amount,
        unit="millicores" if dimension is Dimension.CPU else "10^6 bytes",
        meant=meant,
        instead=amount * factor,
    )


def _written(terms: KaiTerms) -> Iterator[tuple[Place, Fraction]]:
    """Yield the quota and the limit as written; an equal limit is omitted."""
    yield terms.quota_place, terms.written_quota
    if terms.written_limit != terms.written_quota:
        yield terms.limit_place, terms.written_limit


def _suspicious(amounts: list[_Mistaken]) -> Finding:
    first, *others = amounts
    name, field = first.queue.name, first.place.route[-1]
    gpus = shown(Dimension.GPU, first.queue.terms[Dimension.GPU].written_quota)
    beside = f" for {gpus}" if first.meant != "bytes" else ""
    also = sorted({o.queue.name for o in others} - {name})
    too = f"; the same applies to {names(also)}" if also else ""
    message = (
        f"queue {name} has a {first.dimension.value} {field} of {_number(first.amount)}, which KAI counts in {first.unit}: "
        f"{first.counted}{beside}; {first.meant} were probably intended{too}"
    )
    found = finding(first.place, message, f"{first.counted} in KAI's unit").about(first.queue.id)
    for other in others:
        found = found.near(other.place, f"{other.counted} for {other.queue.name}")
    return found.fixed_by(f"Write {_number(first.instead)} if {first.meant} were intended.").with_data(
        queue=name,
        resource=first.dimension.value,
        written=_number(first.amount),
        unit=first.unit,
        queues=sorted({a.queue.name for a in amounts}),
    )


def _number(amount: Fraction) -> str:
    return decimal(amount) or str(float(amount))


@rule("QC910")
def negative_amount(cluster: Cluster) -> Iterator[Finding]:
    """Report negative amounts that do not mean "no bound"."""
    for queue in cluster.kai_queues:
        for terms in queue.terms.values():
            for place, amount in (
                (terms.quota_place, terms.written_quota),
                (terms.limit_place, terms.written_limit),
                (terms.weight_place, terms.weight),
            ):
                is_weight = place.route[-1] == "overQuotaWeight"
                if amount < 0 and (is_weight or amount != UNLIMITED):
                    yield _negative(queue, terms.dimension, place, amount)


def _negative(queue: KaiQueue, dimension: Dimension, place: Place, amount: Fraction) -> Finding:
    field = str(place.route[-1])
    effect = "KAI reads it as -1, no limit" if dimension is Dimension.MEMORY else "KAI uses it in its sums"
    if field == "overQuotaWeight":
        effect = "KAI subtracts it from the sum of the weights"
    message = f"queue {queue.name} has a {dimension.value} {field} of {_number(amount)}: {effect}"
    fix = "Write 0 or a positive weight." if field == "overQuotaWeight" else "Write -1 for no limit, or an amount."
    return (
        finding(place, message)
        .about(queue.id)
        .fixed_by(fix)
        .with_data(queue=queue.name, resource=dimension.value, field=field, written=_number(amount))
    )
