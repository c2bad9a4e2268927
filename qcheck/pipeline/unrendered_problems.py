"""Messages for kustomizations and charts that are not rendered: what is unknown, and the command that renders them."""

from __future__ import annotations

from qcheck.cluster.place import Place
from qcheck.cluster.problems import Problem, ProblemCode
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.documents.load import load_literal
from qcheck.documents.templates import first_mark
from qcheck.pipeline.kustomizations import DEEPEST, MOST_REACHED
from qcheck.pipeline.relevance import most_relevant_first
from qcheck.sources.renderers import installed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from qcheck.documents.cursor import Cursor
    from qcheck.documents.text import Text
    from qcheck.kinds.helm import Chart
    from qcheck.kinds.kustomize import Kustomization, KustomizeChange

MOST_NAMED = 3


class UnrenderedReason(Value):
    """Reasons why a kustomization cannot be rendered: remote bases, parts of unknown kinds.

    `asked`: rendering is on.
    """

    remote: Sequence[str]
    opaque: Sequence[tuple[str, Place]]
    asked: bool


def kustomization_problem(
    top: Kustomization, missed: Sequence[tuple[Cursor, KustomizeChange]], left: UnrenderedReason
) -> Problem:
    """Return one problem for a kustomization root and all objects that it changes."""
    place = missed[0][1].place if missed and missed[0][1].place.origin.path == top.path else top.place
    facts = []
    if missed:
        fields = sorted({change.what for _, change in missed})
        facts.append(f"it changes {_names(map(_name, (f for f, _ in missed)))} ({', '.join(fields)})")
    if left.remote:
        facts.append(f"it uses {_names(left.remote)}, which qcheck never downloads")
    if left.opaque:
        facts.append(f"it uses {_names(field for field, _ in left.opaque)}, which qcheck never runs")
    if left.asked and not left.remote and not left.opaque and not installed("kustomize"):
        facts.append("neither kustomize nor kubectl is installed")
    return Problem(
        ProblemCode.TEMPLATE_NOT_RENDERED,
        place,
        f"the kustomization {top.folder} is not rendered, so its output was not read: {'; '.join(facts)}",
        _how(
            f"kustomize build{' --enable-helm' if left.opaque else ''} {top.folder}", f"kustomize: {top.folder}", left
        ),
        related=_others(place, missed),
        data={"engine": "kustomize", "root": top.folder},
    )


def incomplete_problem(top: Kustomization) -> Problem:
    """Return one problem for a kustomization that includes files which were not followed."""
    return Problem(
        ProblemCode.TEMPLATE_NOT_RENDERED,
        top.place,
        f"the kustomization {top.folder} includes others in more than {MOST_REACHED} ways or more than {DEEPEST} "
        "levels deep: qcheck does not follow all of them, and reads the files of the rest unrendered",
        f"Check only its output: `kustomize build {top.folder} | qcheck check -`.",
        data={"engine": "kustomize", "root": top.folder},
    )


def _others(first: Place, missed: Sequence[tuple[Cursor, KustomizeChange]]) -> tuple[Place, ...]:
    """Return the places of other changes, each once."""
    places: dict[Place, str] = {}
    for found, change in missed:
        if change.place != first:
            places.setdefault(change.place, f"changes {_name(found)}")
    return tuple(place.named(caption) for place, caption in list(places.items())[:MOST_NAMED])


def unreadable(text: Text) -> Problem | None:
    """Return the fault of a kustomization's text; None for an empty text or a template."""
    fault = next(iter(load_literal(text, 1).faults), None)
    if fault is None or first_mark(text.text) is not None:
        return None
    related = tuple(Place(spot, caption=caption) for caption, spot in fault.related)
    return Problem(fault.code, Place(fault.spot), f"{fault.message}; the kustomization was not read", related=related)


def chart_problem(chart: Chart, kinds: frozenset[str], values: tuple[str, ...] | None, asked: bool) -> Problem:
    """Return one problem for a chart and all its templates."""
    facts = [f"its templates may define {_names(most_relevant_first(kinds)) if kinds else 'queues'}"]
    if values is None:
        facts.append(f"its values may be those of {_names(chart.choices)}")
    elif asked and not installed("helm"):
        facts.append("helm is not installed")
    chosen = f" -f {(values or chart.choices)[0]}" if chart.choices else ""
    return Problem(
        ProblemCode.TEMPLATE_NOT_RENDERED,
        chart.place,
        f"the chart {chart.folder} is not rendered, so its templates were not read: {'; '.join(facts)}",
        _how(f"helm template {chart.folder}{chosen}", f"helm: {chart.folder}", None),
        data={"engine": "helm", "root": chart.folder},
    )


def _how(command: str, render: str, left: UnrenderedReason | None) -> str:
    """Return the commands to type."""
    piped = f"`{command} | qcheck check - .`"
    if left is not None and (left.remote or left.opaque):
        return f"Check its output: {piped}."
    return (
        f"Render it with `qcheck check --render`, list it in the settings (`render: [{{{render}}}]`), or run {piped}."
    )


def _names(some: Iterable[str]) -> str:
    found = list(dict.fromkeys(some))
    more = f" and {len(found) - MOST_NAMED} more" if len(found) > MOST_NAMED else ""
    return ", ".join(found[:MOST_NAMED]) + more


def _name(found: Cursor) -> str:
    return f"{found.text_at('kind')} {found['metadata'].text_at('name')}".strip()
