"""`qcheck diff`: the effect of a change on quota, supply, headroom and findings, in three formats (JSON: schema 1)."""

from __future__ import annotations

from qcheck.answers.cluster_changes import ChangeKind
from qcheck.answers.share_changes import FIGURES, share_changes
from qcheck.cluster.place import show_route
from qcheck.cluster.units import IN_TABLES, name_amount, named, scale_of, show_amounts
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.findings.causes import Group, causes_first
from qcheck.findings.fingerprint import named_route
from qcheck.reports.capacity import signed
from qcheck.reports.columns import columns
from qcheck.reports.finding_text import finding_lines
from qcheck.reports.json import finding_data
from qcheck.reports.json_text import dump
from qcheck.reports.markdown import escape, findings_table
from qcheck.reports.shares import number
from qcheck.reports.text import Paint
from qcheck.reports.wording import WORST_FIRST, not_judged, plain, plural, title

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from qcheck.answers.capacity import CapacityLine
    from qcheck.answers.cluster_changes import CapacityChange, ClusterChange, FieldChange, ObjectChange
    from qcheck.answers.finding_changes import Comparison
    from qcheck.answers.share_changes import ShareChange
    from qcheck.cluster.cluster import Cluster
    from qcheck.findings.finding import Finding
    from qcheck.quota.shares import QueueShare
    from qcheck.reports.json_text import Json

MOST_SHARES = 20
"""The number of queues' figures to list; the others are counted."""
NOT_DEFINED = "(none)"
MOST_FIELDS = 8
"""The number of an object's fields to list; the others are counted."""
LONGEST = 60
"""The maximum number of characters shown of a value, or of a list item that serves as its own name."""
UNKNOWN = "?"
SIGNS = {ChangeKind.ADDED: "+", ChangeKind.REMOVED: "-", ChangeKind.RENAMED: ">"}
HEADERS = ("flavor", "resource", "quota", "nodes hold", "at most", "headroom")


def render_text(comparison: Comparison, colour: bool = False, width: int | None = None) -> str:
    paint = Paint(colour)
    many = len(comparison.clusters) > 1
    lines = [f"{plain(comparison.before_name)} -> {plain(comparison.after_name)}", ""]
    for change in comparison.clusters:
        lines += _cluster_text(change, many, width)
    for found in causes_first(comparison.new):
        lines += [*finding_lines(found, paint, many), ""]
    lines += [f"fixed: {title(f)} at {plain(f.primary.line)}: {plain(f.message)}" for f in comparison.fixed]
    lines += [f"not judged: {plain(what)}: {plain(why)}" for what, why in not_judged(comparison.after)]
    lines += [f"could not judge: {plain(why)}" for why in comparison.after.inputs.unjudged]
    return "\n".join([*lines, summary(comparison)]) + "\n"


def summary(comparison: Comparison) -> str:
    """Return `new: 1 error, 2 notes; fixed: 1; remaining: 3`."""
    counts = [plural(n, s) for s in WORST_FIRST if (n := sum(f.severity == s for f in comparison.new))]
    new = ", ".join(counts) or "nothing"
    return f"new: {new}; fixed: {len(comparison.fixed)}; remaining: {len(comparison.remaining)}"


def _cluster_text(change: ClusterChange, many: bool, width: int | None) -> Iterator[str]:
    objects, capacity = change.objects, change.capacity
    if many and (objects or capacity):
        yield f"cluster {plain(change.name)}"
    for each in objects:
        yield f"{SIGNS.get(each.how, '~')} {_object(each)} ({plain(each.object.place.line)})"
        yield from (f"    {line}" for line in _fields(each, plain))
    if objects:
        yield ""
    if capacity:
        rows = [HEADERS, *(_cells(pair, change) for pair in capacity)]
        yield from columns(rows, width=width, keys=2)
        yield ""
    moved = [plain(line) for line in _share_lines(change)]
    yield from ([*moved, ""] if moved else [])


def _share_lines(change: ClusterChange) -> Iterator[str]:
    """Yield lines such as `share of research in h100 falls from 60 to 41 nvidia.com/gpu`."""
    found = [(each, *figure) for each in share_changes(change) for figure in each.figures()]
    for each, name, old, new in found[:MOST_SHARES]:
        figure = f"{name} of {each.queue} in {each.pool}"
        if old is None or new is None:
            shown_old, shown_new = (NOT_DEFINED if v is None else name_amount(each.resource, v) for v in (old, new))
            yield f"{figure}: {shown_old} -> {shown_new}"
        else:
            verb = "rises" if new > old else "falls"
            was, now = show_amounts(each.resource, old, new)
            yield f"{figure} {verb} from {was} to {named(each.resource, now)}"
    if len(found) > MOST_SHARES:
        yield f"and {plural(len(found) - MOST_SHARES, 'more figure')} of queues: see `qcheck shares`"


def _object(change: ObjectChange) -> str:
    was = f"{plain(str(change.was))} is now called " if change.was else ""
    return f"{was}{plain(change.object.name if change.was else str(change.object))}"


def _fields(change: ObjectChange, show: Callable[[str], str]) -> Iterator[str]:
    for field in change.fields[:MOST_FIELDS]:
        yield f"{show(_route(change, field))}: {_value(field.before, show)} -> {_value(field.after, show)}"
    if len(change.fields) > MOST_FIELDS:
        yield f"and {plural(len(change.fields) - MOST_FIELDS, 'more field')}"


def _route(change: ObjectChange, field: FieldChange) -> str:
    """Return a field's route with the names of list items, if any: `spec.flavors[h100].count`."""
    place = change.object.place
    names = named_route(place.at(*field.route))[len(place.route) :]
    if field.item is not None:
        names = (*names[:-1], f"[{field.item}]")
    names = tuple(n if len(n) <= LONGEST else f"{n[: LONGEST - 4]}...]" for n in names)
    return "".join(n if n.startswith("[") else f".{n}" for n in names).removeprefix(".")


def _value(value: str | None, show: Callable[[str], str]) -> str:
    if value is None:
        return "(not there)"
    return show(value if len(value) <= LONGEST else f"{value[: LONGEST - 3]}...")


def _cells(pair: CapacityChange, change: ClusterChange) -> tuple[str, ...]:
    lines = [line for line in (pair.before, pair.after) if line is not None]
    amounts = [a for each in lines for a in (each.nominal, each.static, each.ceiling, each.headroom) if a is not None]
    scale = scale_of(pair.resource, amounts, IN_TABLES)

    def both(value: Callable[[CapacityLine], str], is_of_nodes: bool = True) -> str:
        def shown(line: CapacityLine | None, cluster: Cluster) -> str:
            if line is None:
                return "-"
            return UNKNOWN if is_of_nodes and not cluster.has_nodes else value(line)

        before, after = shown(pair.before, change.before), shown(pair.after, change.after)
        return before if before == after else f"{before} -> {after}"

    def amount(units: int | None) -> str:
        return UNKNOWN if units is None else scale(units)

    return (
        plain(pair.flavor),
        plain(pair.resource),
        both(lambda line: amount(line.nominal), is_of_nodes=False),
        both(lambda line: amount(line.static)),
        both(lambda line: "no ceiling" if line.is_known and line.ceiling is None else amount(line.ceiling)),
        both(lambda line: signed(scale, line.headroom) or UNKNOWN),
    )


def render_markdown(comparison: Comparison) -> str:
    """Return markdown for a step summary or a comment on the pull request."""
    many = len(comparison.clusters) > 1
    lines = [f"# qcheck: {escape(comparison.before_name)} → {escape(comparison.after_name)}", ""]
    lines += [f"**{summary(comparison)}**", ""]
    lines += [f"- **could not judge**: {escape(why)}" for why in comparison.after.inputs.unjudged]
    lines += findings_table([Group(f) for f in causes_first(comparison.new)], many)
    for change in comparison.clusters:
        lines += _cluster_markdown(change, many)
    if comparison.fixed:
        lines += ["## Fixed", ""]
        lines += [f"- {title(f)}: {escape(f.message)}" for f in comparison.fixed]
    return "\n".join(lines) + "\n"


def _cluster_markdown(change: ClusterChange, many: bool) -> Iterator[str]:
    objects, capacity = change.objects, change.capacity
    name = f" of {escape(change.name)}" if many else ""
    if capacity:
        yield from (f"## Quota and nodes{name}", "", f"| {' | '.join(HEADERS)} |", "|---|---|---:|---:|---:|---:|")
        yield from (f"| {' | '.join(escape(c) for c in _cells(pair, change))} |" for pair in capacity)
        yield ""
    moved = list(_share_lines(change))
    if moved:
        yield from (f"## Who gets what{name}", "", *(f"- {escape(line)}" for line in moved), "")
    if objects:
        yield from (f"## Objects{name}", "")
        for each in objects:
            yield f"- {each.how}: **{escape(_object(each))}** ({escape(each.object.place.line)})"
            yield from (f"  - {line}" for line in _fields(each, escape))
        yield ""


def render_json(comparison: Comparison) -> str:
    return dump(
        {
            "schema": 1,
            "base": comparison.before_name,
            "head": comparison.after_name,
            "summary": {
                "new": _counts(comparison.new),
                "fixed": _counts(comparison.fixed),
                "remaining": _counts(comparison.remaining),
            },
            "unjudged": list(comparison.after.inputs.unjudged),
            "clusters": [_cluster_data(c) for c in comparison.clusters],
            "new": [finding_data(f) for f in comparison.new],
            "fixed": [finding_data(f) for f in comparison.fixed],
            "remaining": [finding_data(f) for f in comparison.remaining],
        }
    )


def _counts(found: Sequence[Finding]) -> Json:
    return {severity: sum(f.severity == severity for f in found) for severity in WORST_FIRST}


def _cluster_data(change: ClusterChange) -> Json:
    return {
        "name": change.name,
        "capacity": [_capacity_data(pair) for pair in change.capacity],
        "objects": [_object_data(each) for each in change.objects],
        "shares": [_share_data(each) for each in share_changes(change)],
    }


def _capacity_data(pair: CapacityChange) -> Json:
    def both(value: Callable[[CapacityLine], int | None]) -> Json:
        return {
            "before": value(pair.before) if pair.before else None,
            "after": value(pair.after) if pair.after else None,
        }

    return {
        "flavor": pair.flavor,
        "resource": pair.resource,
        "nominal": both(lambda line: line.nominal),
        "static": both(lambda line: line.static),
        "ceiling": both(lambda line: line.ceiling),
        "headroom": both(lambda line: line.headroom),
    }


def _share_data(change: ShareChange) -> Json:
    def side(share: QueueShare | None) -> Json:
        if share is None:
            return None
        figures = ((name, getattr(share, name)) for name in FIGURES)
        return {name: None if value is None else number(value) for name, value in figures}

    return {
        "scheduler": change.scheduler,
        "pool": change.pool,
        "resource": change.resource,
        "queue": change.queue,
        "before": side(change.before),
        "after": side(change.after),
    }


def _object_data(change: ObjectChange) -> Json:
    return {
        "change": change.how,
        "kind": change.object.kind,
        "name": change.object.name,
        "was": change.was.name if change.was else None,
        "file": change.object.place.origin.path,
        "line": change.object.place.span[0],
        "fields": [_field_data(f) for f in change.fields],
    }


def _field_data(field: FieldChange) -> Json:
    return {"route": show_route(field.route), "before": field.before, "after": field.after}
