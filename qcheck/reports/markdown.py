"""GitHub markdown for a step summary: the findings, then quota and nodes side by side.

All text from manifests is escaped, so that it cannot act as markup, a mention or a link. GitHub rejects a summary above
1 MiB; this one is cut below that and says so.
"""

from __future__ import annotations

import re

from qcheck.answers.capacity import capacity_lines
from qcheck.answers.cost import cost_of
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.findings.causes import presented
from qcheck.reports import cost
from qcheck.reports.capacity import at_best, held, holders, line_scale, pool_words, signed, taken_first
from qcheck.reports.fleet import HEADERS, fleet_rows
from qcheck.reports.suggest import NONE, REST, advice, headline, outcome
from qcheck.reports.wording import (
    by_rule,
    counted,
    following,
    has_many_clusters,
    help_of,
    looked_at,
    not_judged,
    plain,
    shows_statistics,
    url_of,
    within,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from qcheck.answers.capacity import CapacityLine
    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.units import Scale
    from qcheck.findings.causes import Group
    from qcheck.findings.result import Result
    from qcheck.findings.suggestions import Suggestions

MOST_BYTES = 900_000
SIGNS = {"error": "❌", "warning": "⚠️", "note": "\N{INFORMATION SOURCE}\ufe0f"}
_MARKUP = re.compile(r"([\\`*_\[\]|~$])")
_HTML = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
_LINKS = re.compile(r"([@#](?=\w)|\bwww(?=\.)|:(?=//)|\bGH(?=-\d))", re.IGNORECASE)
"""Text that GitHub would turn into a mention, a reference or a link; an invisible comment prevents it."""
_MOST_PLACES = 10
_MOST_DIFF = 60
_TICKS = re.compile("`+")


def render(result: Result) -> str:
    lines = ["# qcheck", "", f"**{counted(result)}** in {looked_at(result)}", ""]
    lines += [f"- **could not judge**: {escape(why)}" for why in result.inputs.unjudged]
    lines += _fleet(result)
    lines += findings_table(presented(result), has_many_clusters(result))
    if result.suggestions is not None:
        lines += _suggestions(result.suggestions)
    if shows_statistics(result):
        lines += _statistics(result)
    for cluster in result.clusters:
        lines += capacity_section(cluster, len(result.clusters) > 1)
        lines += _cost(cluster)
    lines += _quiet(result)
    return _cut(lines)


def _fleet(result: Result) -> Iterator[str]:
    """Yield a table of the clusters, if there are several."""
    rows = fleet_rows(result)
    if rows:
        yield from (f"| {' | '.join(HEADERS)} |", "|---|---|---|")
        yield from (f"| {' | '.join(map(escape, row))} |" for row in rows)
        yield ""


def escape(text: str) -> str:
    """Escape text so that markdown shows it verbatim on one line, even inside a table."""
    harmless = _MARKUP.sub(r"\\\1", plain(text)).translate(_HTML)
    return _LINKS.sub(r"\1<!-- -->", harmless)


def findings_table(groups: Sequence[Group], many: bool) -> Iterator[str]:
    """Yield one row for each finding and its consequences, in the given order; with clusters if there are `many`."""
    if not groups:
        return
    yield from ("| | rule | where | what |", "|---|---|---|---|")
    for group in groups:
        found = group.head
        rule = f"[{found.rule.id}]({url_of(found)})<br>{found.rule.name}" if found.rule else ""
        where = escape(f"{found.primary.line}{within(found, many)}")
        yield f"| {SIGNS[found.severity]} | {rule} | {where} | {_what(group)} |"
    yield ""


def _what(group: Group) -> str:
    found = group.head
    places = [f"{escape(p.caption)} ({escape(p.line)})" for p in found.related[:_MOST_PLACES]]
    left = len(found.related) - len(places)
    more = [f"and {left} more places"] if left > 0 else []
    parts = [f"**{escape(found.message)}**", *places, *more, f"*{escape(help_of(found))}*"]
    if group.followers:
        parts.append(following(len(group.followers)))
    return "<br>".join(parts)


def _suggestions(found: Suggestions) -> Iterator[str]:
    """Yield the alternatives, each with its patch, and the rejected edits."""
    yield from ("## Suggested edits", "", "Each was applied and checked.", "")
    for number, each in enumerate(found.alternatives, 1):
        yield f"{number}. **{escape(headline(each))}**: {escape(outcome(each, found.asked))}<br>{escape(each.proof)}"
        yield from (f"   - uncovers {escape(one)}" for one in each.uncovers[:_MOST_PLACES])
        yield ""
        yield from (f"   {line}" for line in _fenced("diff", each.patch))
        yield ""
    if left := advice(found):
        yield from (f"{escape((REST if found.alternatives else NONE).capitalize())}:", "")
        yield from (f"- {escape(each.primary.line)}: {escape(text)}" for each, text in left[:_MOST_PLACES])
        yield ""
    if found.rejected:
        yield from (f"<details><summary>Tried and rejected: {len(found.rejected)}</summary>", "")
        yield from (f"- {escape(one.words)}: {escape(one.why)}" for one in found.rejected[:_MOST_PLACES])
        yield from ("", "</details>", "")
    if found.stopped:
        yield from (escape(found.stopped), "")


def _fenced(language: str, text: str) -> Iterator[str]:
    """Yield lines between fences that none of them can end; a long diff is cut."""
    lines = [_shown_line(line) for line in text.splitlines()[:_MOST_DIFF]]
    fence = "`" * max(3, 1 + max((len(run) for line in lines for run in _TICKS.findall(line)), default=0))
    left = len(text.splitlines()) - len(lines)
    return iter([f"{fence}{language}", *lines, *([f"... {left} more lines"] if left > 0 else []), fence])


def _shown_line(line: str) -> str:
    return plain(line.replace("\t", "    "))


def _statistics(result: Result) -> Iterator[str]:
    """Yield the counts by rule."""
    rows = by_rule(result.counted)
    if rows:
        yield from ("## By rule", "", "| | rule | findings |", "|---|---|---:|")
        yield from (f"| {SIGNS[found.severity]} | {name} | {count:,} |" for count, name, found in rows)
        yield ""


def capacity_section(cluster: Cluster, many: bool) -> Iterator[str]:
    """Yield quota and nodes of a cluster in one table: promises on the left, nodes on the right."""
    lines = capacity_lines(cluster)
    if not lines:
        return
    yield f"## Quota and nodes{f' of {escape(cluster.name)}' if many else ''}"
    yield ""
    yield "| flavor | resource | promised by quota | headroom | nodes hold | at most | DaemonSets, reserves | nodes |"
    yield "|---|---|---|---|---|---|---|---|"
    for line in lines:
        yield f"| {' | '.join(_cells(line))} |"
    yield ""


def _cost(cluster: Cluster) -> Iterator[str]:
    """Yield the cost of the nodes if the settings have prices."""
    found = cost_of(cluster)
    if found is None:
        return
    yield f"### {cost.TITLE}"
    yield ""
    yield from (f"| {' | '.join(cost.HEADERS)} |", "|---|---:|---:|")
    yield from (f"| {' | '.join(map(escape, row))} |" for row in cost.cost_rows(found))
    yield ""
    yield from (f"{escape(note)}<br>" for note in (cost.NOTE, cost.unpriced(found)) if note)
    yield ""


def _cells(line: CapacityLine) -> Iterable[str]:
    headroom, scale = line.headroom, line_scale(line)
    fits = headroom is not None and headroom >= 0
    sign = "❔" if headroom is None else "✅" if fits else "🔶" if _fits_at_best(line) else "❌"
    pools = "<br>".join(map(escape, pool_words(line))) or "none selected"
    return (
        escape(line.label),
        escape(line.resource),
        _promised(line, scale),
        f"{sign} {escape(signed(scale, headroom))}",
        f"**{escape(held(line, scale))}**",
        escape(at_best(line, scale)),
        escape(taken_first(line, scale)),
        pools,
    )


def _fits_at_best(line: CapacityLine) -> bool:
    return line.is_known and (line.ceiling is None or line.ceiling >= line.nominal)


def _promised(line: CapacityLine, scale: Scale) -> str:
    who = [f"{escape(c.holder)} {scale(c.promised)}" for c in holders(line)]
    if len(who) > _MOST_PLACES:
        who = [*who[:_MOST_PLACES], f"{len(who) - _MOST_PLACES} more"]
    total = f"**{scale(line.nominal)}**"
    return f"{total}<br>{'<br>'.join(who)}" if len(who) > 1 else f"{total} {''.join(who)}".rstrip()


def _quiet(result: Result) -> Iterator[str]:
    unknown = list(not_judged(result))
    if unknown:
        yield f"<details><summary>Not judged: {len(unknown)}</summary>"
        yield ""
        yield from (f"- {escape(what)}: {escape(why)}" for what, why in unknown)
        yield ""
        yield "</details>"


def _cut(lines: list[str]) -> str:
    """Return as many whole lines as fit."""
    size = 0
    for count, line in enumerate(lines):
        size += len(line.encode("utf-8", "replace")) + 1
        if size > MOST_BYTES:
            return "\n".join([*lines[:count], "", f"**{len(lines) - count} more lines were cut.**"]) + "\n"
    return "\n".join(lines) + "\n"
