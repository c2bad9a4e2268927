"""`qcheck suggest`: alternatives side by side, as text, as JSON (schema 1), and as a patch."""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.reports.json_text import dump
from qcheck.reports.wording import plain, plural

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.answers.suggest import Alternative, Suggestions
    from qcheck.reports.json_text import Json

MOST_REJECTED = 6


def render_json(found: Suggestions) -> str:
    return dump(
        {
            "schema": 1,
            "alternatives": [_alternative(a) for a in found.alternatives],
            "rejected": [{"edit": r.words, "why": r.why} for r in found.rejected],
        }
    )


def _alternative(found: Alternative) -> dict[str, Json]:
    return {
        "kind": found.kind,
        "edits": [{"file": e.file, "line": e.line, "old": e.old, "new": e.new} for e in found.edits],
        "resolves": list(found.resolves),
        "leaves": list(found.leaves),
        "brings": list(found.brings),
        "proof": found.proof,
        "proved": found.proved,
    }


def render_patch(found: Suggestions) -> str:
    """The first alternative as a unified diff; nothing where there is none."""
    return found.alternatives[0].patch if found.alternatives else ""


def render_text(found: Suggestions) -> str:
    return "".join(f"{line}\n" for line in _lines(found))


def _lines(found: Suggestions) -> Iterator[str]:
    if not found.asked and not found.alternatives:
        if not found.result.inputs.unjudged:
            yield "nothing to suggest"
        return
    for finding in found.asked:
        name = finding.rule.id if finding.rule else ""
        yield plain(f"{finding.severity}[{name}] {finding.message}")
        yield plain(f"  --> {finding.primary.line}")
    for number, each in enumerate(found.alternatives, 1):
        yield ""
        yield from _told(number, each, len(found.asked))
    if not found.alternatives:
        yield ""
        yield "no change of a value resolves this"
    if found.rejected:
        yield ""
        yield "tried and rejected"
        for one in found.rejected[:MOST_REJECTED]:
            yield plain(f"  {one.words}: {one.why}")
        if len(found.rejected) > MOST_REJECTED:
            yield f"  and {len(found.rejected) - MOST_REJECTED} more"


def _told(number: int, found: Alternative, asked: int) -> Iterator[str]:
    whole = "" if found.proved else " (the best found, not proved to be the smallest)"
    yield plain(f"{number}. {'; '.join(found.words)}{whole}")
    for edit in found.edits:
        yield plain(f"     {edit.file}:{edit.line}: {edit.old} -> {edit.new}")
    yield plain(f"     {found.proof}")
    brings = f"; brings the warning{'s' * (len(found.brings) > 1)} {', '.join(found.brings)}" if found.brings else ""
    yield f"     resolves {len(found.resolves)} of {plural(asked, 'finding')}{brings}"
