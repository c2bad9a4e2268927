"""Objects that Terraform applies (`kubernetes_manifest`, `kubectl_manifest`), in addition to those in files."""

from __future__ import annotations

from qcheck.cluster.problems import Problem, ProblemCode, Unread
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.documents.composed import Unresolved
from qcheck.documents.cursor import Cursor
from qcheck.kinds.decode import recognises
from qcheck.kinds.shared_fields import object_id, place
from qcheck.pipeline.relevance import concerns_queues, concerns_queues_text, kinds_in

if TYPE_CHECKING:
    from qcheck.nodepools.read import PoolsRead

HELP = "Add the plan as JSON (`terraform show -json`) to the paths: it contains the resolved value."


class Applied(Value):
    """The objects of relevant kinds; for those with unknown values, problems and what they may define.

    `uncertain` are objects that may not exist.
    """

    objects: list[Cursor]
    uncertain: list[Cursor]
    problems: list[Problem]
    unread: list[Unread]


def applied(read: PoolsRead) -> Applied:
    """Sort the objects that Terraform applies into known ones and those that contain an unknown value."""
    news = [broken for broken in read.broken if concerns_queues_text(broken.text)]
    unread = [
        Unread(b.problem.place.origin.path, kinds_in(b.text))
        for b in news
        if b.problem.code is not ProblemCode.DUPLICATE_KEY
    ]
    found = Applied([], [], [b.problem for b in news], unread)
    for each, is_certain in read.applied:
        kind = each.text_at("kind")
        if not recognises(each.text_at("apiVersion"), kind):
            continue
        gap = _gap(each)
        if gap is None:
            known = Cursor(each.document, each.route, _without_nulls(each.data))
            found.objects.append(known)
            if not is_certain:
                found.uncertain.append(known)
            continue
        found.unread.append(Unread(each.document.path, frozenset({kind})))
        if concerns_queues(each):
            found.problems.append(_unknown(each, gap))
    return found


def _gap(at: Cursor) -> Cursor | None:
    """Return the first unknown value."""
    if isinstance(at.data, Unresolved):
        return at
    parts = [inner for _, inner in at.mapping()] or list(at.items())
    return next((gap for inner in parts if (gap := _gap(inner)) is not None), None)


def _unknown(manifest: Cursor, gap: Cursor) -> Problem:
    assert isinstance(gap.data, Unresolved)
    route = ".".join(map(str, tuple(gap.route)[len(tuple(manifest.route)) :]))
    name = object_id(manifest) if manifest["metadata"].text_at("name") else manifest.text_at("kind")
    message = f"{name}, which Terraform applies, was not read: {route} is {gap.data.expression}"
    return Problem(ProblemCode.TEMPLATE_NOT_RENDERED, place(gap), message, HELP)


def _without_nulls(data: object) -> object:
    """Return the data that Terraform sends: attributes that are null are omitted."""
    if isinstance(data, dict):
        return {key: _without_nulls(value) for key, value in data.items() if value is not None}
    return [_without_nulls(item) for item in data] if isinstance(data, list) else data
