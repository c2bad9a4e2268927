"""`qcheck suggest`: alternatives side by side, as text, as JSON (schema 1), and as a patch."""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.findings.suggestions import Suggestions
from qcheck.reports.json_text import dump
from qcheck.reports.wording import help_of, plain, plural, within

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from qcheck.findings.finding import Finding
    from qcheck.findings.result import Result
    from qcheck.findings.suggestions import Alternative
    from qcheck.reports.json_text import Json

MOST_REJECTED = 6
MOST_ASKED = 20
MOST_EDITS = 20
MOST_STEPS = 4
MOST_LEFT = 4
NONE = "no change of a value resolves this"
REST = "no change of a value resolves the rest"


def exit_code(result: Result) -> int:
    """Return 0 if nothing was asked about, 1 if something was, resolvable or not, 2 if the input cannot be judged."""
    found = _suggestions(result)
    return 2 if result.inputs.unjudged else 1 if found.asked or found.alternatives else 0


def _suggestions(result: Result) -> Suggestions:
    return result.suggestions or Suggestions((), ())


def render_json(result: Result) -> str:
    found = _suggestions(result)
    return dump(
        {
            "schema": 1,
            "alternatives": [_alternative(a) for a in found.alternatives],
            "rejected": [{"edit": r.words, "why": r.why} for r in found.rejected],
            "stopped": found.stopped,
        }
    )


def _alternative(found: Alternative) -> dict[str, Json]:
    return {
        "kind": found.kind,
        "words": found.words,
        "edits": [{"file": e.file, "line": e.line, "old": e.old, "new": e.new} for e in found.edits],
        "resolves": list(found.resolves),
        "leaves": list(found.leaves),
        "brings": list(found.brings),
        "uncovers": list(found.uncovers),
        "proof": found.proof,
        "proved": found.proved,
    }


def render_patch(result: Result) -> str:
    """Return the first alternative as a unified diff; empty if there is none."""
    alternatives = _suggestions(result).alternatives
    return alternatives[0].patch if alternatives else ""


def render_text(result: Result) -> str:
    return "".join(f"{line}\n" for line in _lines(result))


def _lines(result: Result) -> Iterator[str]:
    found = _suggestions(result)
    if not found.asked and not found.alternatives:
        if not result.inputs.unjudged:
            yield "nothing to suggest"
        return
    many = len(result.clusters) > 1
    for finding in found.asked[:MOST_ASKED]:
        name = finding.rule.id if finding.rule else ""
        yield plain(f"{finding.severity}[{name}] {finding.message}{within(finding, many)}")
        yield plain(f"  --> {finding.primary.line}")
    if len(found.asked) > MOST_ASKED:
        yield f"and {len(found.asked) - MOST_ASKED:,} more"
    yield ""
    yield from suggestion_lines(found)


def suggestion_lines(found: Suggestions) -> Iterator[str]:
    """Yield the alternatives, the rejected edits, and whether the search ended early."""
    for number, each in enumerate(found.alternatives, 1):
        if number > 1:
            yield ""
        yield from _alternative_lines(number, each, found.asked)
    if not found.alternatives:
        yield NONE
    yield from _advice_lines(found)
    if found.rejected:
        yield ""
        yield "tried and rejected"
        yield from (plain(f"  {one.words}: {one.why}") for one in found.rejected[:MOST_REJECTED])
        if len(found.rejected) > MOST_REJECTED:
            yield f"  and {len(found.rejected) - MOST_REJECTED} more"
    if found.stopped:
        yield ""
        yield found.stopped


def advice(found: Suggestions) -> list[tuple[Finding, str]]:
    """Return the findings that no alternative resolves, with the advice of their rule. Each advice appears once."""
    resolved = {fingerprint for a in found.alternatives for fingerprint in a.resolves}
    by_text: dict[str, Finding] = {}
    for each in found.asked:
        if each.fingerprint not in resolved:
            by_text.setdefault(help_of(each), each)
    return [(each, text) for text, each in by_text.items()]


def _advice_lines(found: Suggestions) -> Iterator[str]:
    left = advice(found)
    if left and found.alternatives:
        yield ""
        yield REST
    for each, text in left[:MOST_ASKED]:
        yield plain(f"  {each.rule.id if each.rule else ''} at {each.primary.line}: {text}")


def _alternative_lines(number: int, found: Alternative, asked: Sequence[Finding]) -> Iterator[str]:
    yield plain(f"{number}. {headline(found)}")
    for edit in found.edits[:MOST_EDITS]:
        yield plain(f"     {edit.file}:{edit.line}: {edit.old} -> {edit.new}")
    if len(found.edits) > MOST_EDITS:
        yield f"     and {len(found.edits) - MOST_EDITS:,} more edits: see --format patch"
    yield plain(f"     {found.proof}")
    yield f"     {outcome(found, asked)}"
    for uncovered in found.uncovers[:MOST_LEFT]:
        yield plain(f"     uncovers {uncovered}")
    if len(found.uncovers) > MOST_LEFT:
        yield f"     uncovers {plural(len(found.uncovers) - MOST_LEFT, 'more error')}"


def headline(found: Alternative) -> str:
    """Return the changes in one line, and whether a smaller alternative may exist."""
    whole = "" if found.proved else " (the best found, not proved to be the smallest)"
    words = "; ".join(step.words for step in found.steps[:MOST_STEPS])
    more = f"; and {len(found.steps) - MOST_STEPS:,} more changes" if len(found.steps) > MOST_STEPS else ""
    return f"{words[:1].upper()}{words[1:]}{more}{whole}"


def outcome(found: Alternative, asked: Sequence[Finding]) -> str:
    """Return how many findings an alternative resolves, what it leaves, and which warnings are new."""
    named = dict.fromkeys(f"{f.rule.id} {f.rule.name}" for f in asked if f.rule and f.fingerprint in found.leaves)
    shown = [*named][:MOST_LEFT] + ([plural(len(named) - MOST_LEFT, "more rule")] if len(named) > MOST_LEFT else [])
    leaves = f"; leaves {', '.join(shown)}" if shown else ""
    brings = f"; brings the warning{'s' * (len(found.brings) > 1)} {', '.join(found.brings)}" if found.brings else ""
    resolves = f"resolves {len(found.resolves)} of {plural(len(asked), 'finding')}" if asked else "nothing fails"
    return f"{resolves}{leaves}{brings}"
