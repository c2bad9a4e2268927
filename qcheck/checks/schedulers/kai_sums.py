"""QC903 to QC905: the quotas and shares of KAI queues at one level."""

from __future__ import annotations

from fractions import Fraction
from math import ceil

from qcheck.checks.capacity.arithmetic import names
from qcheck.checks.registry import rule
from qcheck.checks.sum_edits import cut
from qcheck.cluster.kai import UNLIMITED, Dimension, KaiQueue, KaiTerms
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.findings.finding import Finding, finding
from qcheck.findings.severity import Severity
from qcheck.schedulers.kai.shards import Shard, shards_of, siblings
from qcheck.schedulers.kai.words import FIELDS, added, decimal, named_amount, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.place import Place


@rule("QC903")
def children_exceed_parent(cluster: Cluster) -> Iterator[Finding]:
    """Report departments whose queues are promised more in total, and excessive fractions of GPUs in a shard."""
    for shard in shards_of(cluster):
        for parent, children in siblings(shard):
            if parent is not None:
                over = [d for d in Dimension if _exceeds(parent, children, d)]
                if over:
                    yield _exceeding(parent, children, over)
            else:
                yield from _parts_exceed(shard, children)


def _parts_exceed(shard: Shard, queues: list[KaiQueue]) -> Iterator[Finding]:
    """Report fractions of GPUs that exceed the nodes in total, if QC101, which counts whole GPUs, sees no excess."""
    total = shard.ceiling(Dimension.GPU)
    amounts = _finite(queues, Dimension.GPU)
    if total is None or not shard.is_known(Dimension.GPU) or not sum(int(a) for _, a in amounts) <= total:
        return
    if _sum(queues, Dimension.GPU) > total:
        has = shown(Dimension.GPU, Fraction(total))
        message = f"shard {shard.name} promises {added(Dimension.GPU, amounts)}, but its nodes can supply {has}"
        first, *others = (q for q in queues if q.terms[Dimension.GPU].quota > 0)
        found = finding(first.terms[Dimension.GPU].quota_place, message).about(first.id).likely(not shard.is_whole)
        for other in others:
            terms = other.terms[Dimension.GPU]
            found = found.near(terms.quota_place, f"{shown(Dimension.GPU, terms.quota)} for {other.name}")
        excess = {Dimension.GPU.value: ceil(_sum(queues, Dimension.GPU) - total)}
        found = _lowered(found, queues, {Dimension.GPU: Fraction(total)})
        yield found.with_data(shard=shard.name, resources=[Dimension.GPU.value], supply=total, excess=excess)


def _exceeds(parent: KaiQueue, children: Sequence[KaiQueue], dimension: Dimension) -> bool:
    quota = parent.terms[dimension].quota
    return quota != UNLIMITED and _sum(children, dimension) > max(quota, Fraction(0))


def _finite(children: Sequence[KaiQueue], dimension: Dimension) -> list[tuple[str, Fraction]]:
    return [(q.name, q.terms[dimension].quota) for q in children if q.terms[dimension].quota > 0]


def _sum(children: Sequence[KaiQueue], dimension: Dimension) -> Fraction:
    return sum((amount for _, amount in _finite(children, dimension)), Fraction(0))


def _exceeding(parent: KaiQueue, children: Sequence[KaiQueue], over: list[Dimension]) -> Finding:
    sums = "; ".join(f"{added(d, _finite(children, d))}, but it has {_has(parent.terms[d])}" for d in over)
    message = f"the queues below {parent.name} have more quota than their parent: {sums}"
    first = parent.terms[over[0]]
    found = finding(first.quota_place, message, f"{parent.name} has {_has(first)}").about(parent.id)
    for child in children:
        terms = child.terms[over[0]]
        if terms.quota > 0:
            found = found.near(terms.quota_place, f"{shown(over[0], terms.quota)} for {child.name}")
    quotas = {f"{d.value}Quota": str(parent.terms[d].quota) for d in over}
    promised = {f"{d.value}Promised": str(_sum(children, d)) for d in over}
    excess = {d.value: ceil(_sum(children, d) - parent.terms[d].quota) for d in over}
    found = _raised(
        _lowered(found, children, {d: max(Fraction(0), parent.terms[d].quota) for d in over}), parent, children, over
    )
    return found.with_data(
        parent=parent.name, resources=[d.value for d in over], amounts={**quotas, **promised}, excess=excess
    )


def _lowered(found: Finding, queues: Sequence[KaiQueue], bounds: Mapping[Dimension, Fraction]) -> Finding:
    """Return a finding with an edit that lowers quotas to the available amount."""
    values: list[tuple[Place, str | None]] = []
    words: list[str] = []
    for dimension, bound in bounds.items():
        some = [q for q in queues if q.terms[dimension].quota > 0]
        quotas = [q.terms[dimension].quota for q in some]
        for queue, was, now in zip(some, quotas, cut(quotas, bound), strict=True):
            if now != was:
                terms = queue.terms[dimension]
                values.append((terms.quota_place, decimal(terms.written_quota * now / was)))
                words.append(f"the quota of {queue.name} from {shown(dimension, was)} to {shown(dimension, now)}")
    return _offering(found, values, f"Lower {names(words, len(words))}.")


def _raised(found: Finding, parent: KaiQueue, children: Sequence[KaiQueue], over: Sequence[Dimension]) -> Finding:
    """Return a finding with an edit that raises the parent's quota to the sum of its children's."""
    sums = [(d, parent.terms[d], _sum(children, d)) for d in over]
    written = {d: sum((q.terms[d].written_quota for q in children if q.terms[d].quota > 0), Fraction(0)) for d in over}
    words = [f"the quota of {parent.name} from {shown(d, t.quota)} to {shown(d, total)}" for d, t, total in sums]
    return _offering(
        found, [(t.quota_place, decimal(written[d])) for d, t, _ in sums], f"Raise {names(words, len(words))}."
    )


def _offering(found: Finding, values: Sequence[tuple[Place, str | None]], words: str) -> Finding:
    known = [(place, text) for place, text in values if text is not None and place.exists]
    return found.offering_all(known, words) if len(known) == len(values) else found


def _has(terms: KaiTerms) -> str:
    text = shown(terms.dimension, terms.quota)
    return text if terms.quota_place.exists else f"{text} (no quota is written)"


@rule("QC904")
def unlimited_beside_finite(cluster: Cluster) -> Iterator[Finding]:
    """Report queues with unlimited quota beside others with finite quota."""
    for shard in shards_of(cluster):
        for _, level in siblings(shard):
            for dimension in Dimension:
                unlimited = [q for q in level if q.terms[dimension].quota == UNLIMITED]
                finite = [q for q in level if q.terms[dimension].quota != UNLIMITED]
                if unlimited and finite:
                    yield _takes_all(unlimited, finite, dimension)


def _takes_all(unlimited: list[KaiQueue], finite: list[KaiQueue], dimension: Dimension) -> Finding:
    first = unlimited[0]
    some = names(q.name for q in finite)
    message = (
        f"queue {first.name} has an unlimited quota of {FIELDS[dimension]}, but {some} a finite one: {first.name} may hold "
        "everything, which leaves nothing to divide by weight"
    )
    found = finding(first.terms[dimension].quota_place, message, "-1 means unlimited").about(first.id)
    for other in unlimited[1:]:
        found = found.near(other.terms[dimension].quota_place, f"{other.name} has one too")
    for other in finite:
        terms = other.terms[dimension]
        found = found.near(terms.quota_place, f"{other.name} has {shown(dimension, terms.quota)}")
    return found.with_data(
        resource=dimension.value, unlimited=[q.name for q in unlimited], finite=[q.name for q in finite]
    )


@rule("QC905")
def surplus_unreachable(cluster: Cluster) -> Iterator[Finding]:
    """Report queues that may exceed their quota by their limit, but never by their weight."""
    for shard in shards_of(cluster):
        for _, level in siblings(shard):
            lacking = {q.name: [d for d in Dimension if _lacks_weight(q, d)] for q in level}
            unshared = [d for d in Dimension if not any(q.terms[d].weight > 0 for q in level)]
            for queue in level:
                own = [d for d in lacking[queue.name] if d not in unshared]
                if own:
                    yield _without_weight(queue, own)
            for dimension in unshared:
                weightless = [q for q in level if dimension in lacking[q.name]]
                if weightless:
                    yield _nobody_shares(shard, level, weightless, dimension)


def _lacks_weight(queue: KaiQueue, dimension: Dimension) -> bool:
    """Return whether a queue may exceed its quota but has no weight; QC919 reports cpu or memory without either."""
    terms = queue.terms[dimension]
    return not terms.weight and _wants_surplus(terms) and (dimension is Dimension.GPU or terms.quota != 0)


def _wants_surplus(terms: KaiTerms) -> bool:
    """Return whether the limit is above the quota; a queue without any amount is not intended for the resource."""
    if terms.quota == UNLIMITED:
        return False
    return terms.limit == UNLIMITED or terms.limit > max(terms.quota, Fraction(0))


def _without_weight(queue: KaiQueue, dimensions: list[Dimension]) -> Finding:
    first = queue.terms[dimensions[0]]
    quotas = names(named_amount(d, queue.terms[d].quota) for d in dimensions)
    message = (
        f"queue {queue.name} may hold {_most(first)}, but {_no_weight(first)}: its share never "
        f"exceeds its quota of {quotas}"
    )
    found = finding(first.weight_place, message).about(queue.id)
    for dimension in dimensions[1:]:
        found = found.near(queue.terms[dimension].weight_place, f"no weight for {FIELDS[dimension]} either")
    return found.with_data(queue=queue.name, resources=[d.value for d in dimensions])


def _most(terms: KaiTerms) -> str:
    if terms.limit == UNLIMITED:
        return f"any amount of {FIELDS[terms.dimension]}"
    return f"up to {named_amount(terms.dimension, terms.limit)}"


def _no_weight(terms: KaiTerms) -> str:
    return "its overQuotaWeight is 0" if terms.weight_place.exists else "has no overQuotaWeight, which counts as 0"


def _nobody_shares(shard: Shard, level: list[KaiQueue], weightless: list[KaiQueue], dimension: Dimension) -> Finding:
    """Return a finding, an error if the nodes prove that something is left over."""
    first = weightless[0]
    promised = [(q.name, q.terms[dimension].quota) for q in level]
    is_all = any(q.terms[dimension].quota == UNLIMITED for q in level)
    total = sum((amount for _, amount in promised if amount > 0), Fraction(0))
    available = _available(shard, first.parent, dimension)
    is_idle = available is not None and available > total and not is_all
    rest = f"{shown(dimension, available - total)} of {shown(dimension, available)}" if available is not None else "any"
    message = (
        f"neither {first.name} nor a queue beside it has an overQuotaWeight for {FIELDS[dimension]}, so no share exceeds a "
        f"quota: "
        f"{added(dimension, promised)}" + (f"; {rest} stay idle" if is_idle else "")
    )
    found = finding(first.terms[dimension].weight_place, message).about(first.id)
    for other in weightless[1:]:
        found = found.near(other.terms[dimension].weight_place, f"no weight for {other.name} either")
    found = found.at_least(Severity.ERROR) if is_idle else found
    return found.with_data(resource=dimension.value, queues=[q.name for q in level])


def _available(shard: Shard, parent: str, dimension: Dimension) -> Fraction | None:
    """Return what a level certainly divides: the shard's GPUs at the top, the parent's quota below."""
    if parent:
        quota = shard.queue[parent].terms[dimension].quota if parent in shard.queue else UNLIMITED
        return None if quota == UNLIMITED else quota
    is_certain = dimension is Dimension.GPU and shard.is_known(dimension) and shard.is_whole
    return Fraction(shard.static(dimension)) if is_certain else None
