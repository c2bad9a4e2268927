"""`qcheck explain preemption`: whether owners get their quota back, from whom, and how long it may take."""

from __future__ import annotations

from qcheck.cluster.units import named, show_amounts
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.reports.columns import columns
from qcheck.reports.html import document
from qcheck.reports.html.markup import table, tag
from qcheck.reports.json_text import dump
from qcheck.reports.markdown import escape
from qcheck.reports.wording import plain
from qcheck.schedulers.kueue.preemption import ComesBack, LendingClaim, Matrix, Stance
from qcheck.settings.profiles import PROFILES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from qcheck.reports.json_text import Json

CLAIMS = ("owner", "quota", "borrowed by", "reclaimed", "within", "because")
STANCES = ("queue", "cohort", "within queue", "reclaim", "borrow", "what it does")
PARTS = ("rule", "severity", "requirement")
NOTHING_LENT = "No queue lends quota that another queue can use."
_SHOWN = 6


def render_json(matrices: Iterable[Matrix]) -> str:
    return dump({"schema": 1, "clusters": [_matrix_data(m) for m in matrices]})


def _matrix_data(matrix: Matrix) -> dict[str, Json]:
    return {
        "name": matrix.cluster,
        "fairSharing": matrix.fair_sharing,
        "profile": matrix.profile,
        "queues": [_stance_data(s) for s in matrix.stances],
        "claims": [_claim_data(c) for c in matrix.claims],
    }


def _stance_data(stance: Stance) -> dict[str, Json]:
    policy = stance.queue.preemption
    return {
        "name": stance.queue.name,
        "cohort": stance.queue.parent,
        "withinClusterQueue": policy.within_queue,
        "reclaimWithinCohort": policy.reclaim,
        "borrowWithinCohort": policy.borrow,
        "maxPriorityThreshold": policy.borrow_threshold,
        "effects": list(stance.effects),
    }


def _claim_data(claim: LendingClaim) -> dict[str, Json]:
    return {
        "owner": claim.owner.name,
        "flavor": claim.quota.flavor,
        "resource": claim.quota.resource,
        "nominal": claim.quota.nominal,
        "holders": list(claim.holders),
        "amount": claim.amount,
        "comesBack": claim.outcome,
        "why": claim.why,
        "seconds": claim.seconds,
        "slowest": claim.slowest,
        "assumed": claim.is_assumed,
    }


def render_text(matrices: Sequence[Matrix], width: int | None = None) -> str:
    return "\n".join(_text_of(m, len(matrices) > 1, width) for m in matrices)


def _text_of(matrix: Matrix, many: bool, width: int | None) -> str:
    title = f"cluster {plain(matrix.cluster)}\n\n" if many else ""
    lent = _table([CLAIMS, *(claim_cells(c) for c in matrix.claims)], width) if matrix.claims else f"{NOTHING_LENT}\n"
    policies = _table([STANCES, *(stance_cells(s) for s in matrix.stances)], width)
    profile = f"\n{_profile(matrix)}\n\n{_table(profile_rows(matrix), width)}" if matrix.profile else ""
    return f"{title}Lent quota and how it is reclaimed\n\n{lent}\nEffect of the policies\n\n{policies}{profile}"


def _profile(matrix: Matrix) -> str:
    return f"Requirements of the profile {matrix.profile}"


def profile_rows(matrix: Matrix) -> list[tuple[str, ...]]:
    """Return the parts of the profile with the rule that checks each."""
    return [PARTS, *((part.rule, part.severity, part.demand) for part in PROFILES[matrix.profile or ""])]


def _table(rows: Sequence[tuple[str, ...]], width: int | None) -> str:
    return "\n".join(columns(rows, width=width)) + "\n"


def claim_cells(claim: LendingClaim) -> tuple[str, ...]:
    """Return a claim as cells in the order of `CLAIMS`."""
    resource = claim.quota.resource
    most, nominal = show_amounts(resource, claim.amount, claim.quota.nominal)
    held = f"{plain(_some(claim.holders))}: up to {most}"
    quota = f"{plain(named(resource, nominal))} ({plain(claim.quota.flavor)})"
    return plain(claim.owner.name), quota, held, claim.outcome, how_long(claim), plain(claim.why)


def how_long(claim: LendingClaim) -> str:
    """Return how long nodes remain occupied after the decision."""
    if claim.outcome is ComesBack.NEVER:
        return "no bound"
    if claim.is_assumed:
        return f"{claim.seconds} s (assumed)"
    return f"{claim.seconds} s ({plain(claim.slowest or '')})"


def _some(names: Sequence[str]) -> str:
    rest = len(names) - _SHOWN
    return ", ".join(names) if rest <= 1 else f"{', '.join(names[:_SHOWN])} and {rest} more"


def stance_cells(stance: Stance) -> tuple[str, ...]:
    """Return a stance as cells in the order of `STANCES`."""
    policy = stance.queue.preemption
    threshold = f" (up to {policy.borrow_threshold})" if policy.borrow_threshold is not None else ""
    return (
        plain(stance.queue.name),
        plain(stance.queue.parent or "none"),
        plain(policy.within_queue),
        plain(policy.reclaim),
        plain(f"{policy.borrow}{threshold}"),
        plain("; ".join(stance.effects)),
    )


def render_markdown(matrices: Sequence[Matrix]) -> str:
    return "\n".join(_markdown_of(m, len(matrices) > 1) for m in matrices)


def _markdown_of(matrix: Matrix, many: bool) -> str:
    title = f"# Cluster {escape(matrix.cluster)}\n\n" if many else ""
    lent = _markdown_table(CLAIMS, map(claim_cells, matrix.claims)) if matrix.claims else f"{NOTHING_LENT}\n"
    policies = _markdown_table(STANCES, map(stance_cells, matrix.stances))
    profile = ""
    if matrix.profile:
        profile = f"\n## {_profile(matrix)}\n\n{_markdown_table(PARTS, profile_rows(matrix)[1:])}"
    return f"{title}## Lent quota and how it is reclaimed\n\n{lent}\n## Effect of the policies\n\n{policies}{profile}"


def _markdown_table(headers: Sequence[str], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [headers, ["---"] * len(headers), *([escape(c) for c in r] for r in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def render_html(matrices: Sequence[Matrix]) -> str:
    body = [tag("header", tag("h1", "qcheck explain preemption"), cls="top")]
    level = "h3" if len(matrices) > 1 else "h2"
    for matrix in matrices:
        if len(matrices) > 1:
            body.append(tag("h2", f"Cluster {matrix.cluster}"))
        body.append(tag(level, "Lent quota and how it is reclaimed"))
        claims = [claim_cells(c) for c in matrix.claims]
        body.append(table(CLAIMS, claims) if claims else tag("p", NOTHING_LENT))
        body.append(tag(level, "Effect of the policies"))
        body.append(table(STANCES, [stance_cells(s) for s in matrix.stances]))
        if matrix.profile:
            body.append(tag(level, _profile(matrix)))
            body.append(table(PARTS, profile_rows(matrix)[1:]))
    return document("qcheck: preemption", tag("main", body))
