"""Words that several reports share, and the single function that makes text from manifests harmless."""

from __future__ import annotations

import re

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.findings.severity import SEVERITIES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from qcheck.cluster.place import Place, Span
    from qcheck.findings.finding import Finding
    from qcheck.findings.result import Result

UNSAFE = "[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff]"
"""Control characters, characters that reorder or hide text, and unpaired surrogates."""

WORST_FIRST = SEVERITIES[::-1]
MOST_NAMED = 3
"""Files that are named if many were not read for the same reason."""


def plain(text: str) -> str:
    """Return one line that no terminal, log or parser can misread: unsafe characters are escaped."""
    if text.isprintable():  # true for nearly all text; spares the pattern, which is slow to compile
        return text
    return re.sub(UNSAFE, lambda m: " " if m[0] in "\n\t" else f"\\u{ord(m[0]):04x}", text)


def editable(place: Place) -> tuple[str, Span]:
    """Return the file that a person edits and the span in it: for rendered text, the first line of its source."""
    source = place.origin.source
    return (place.origin.path, place.span) if source is None else (source, (1, 1, 1, 1))


def rendered_note(place: Place) -> str:
    """Return `rendered from x.yaml, line 12 of the output`; empty for handwritten text."""
    source = place.origin.source
    return f"rendered from {source}; line {place.span[0]} of the output" if source else ""


def unjudged_lines(unjudged: Iterable[str]) -> Iterator[str]:
    """Yield the reasons why an answer may be wrong, one line each."""
    return (f"could not judge: {plain(why)}\n" for why in unjudged)


def plural(count: int, word: str) -> str:
    """Return `1 error` or `2 errors`."""
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"


def title(found: Finding) -> str:
    """Return the rule of a finding: `QC101 quota-exceeds-capacity`."""
    return f"{found.rule.id} {found.rule.name}" if found.rule else ""


def help_of(found: Finding) -> str:
    """Return the finding's own help, else the rule's general fix."""
    return found.help or (found.rule.fix if found.rule else "")


def url_of(found: Finding) -> str:
    return found.rule.url if found.rule else ""


def has_many_clusters(result: Result) -> bool:
    judged = (*(c.name for c in result.clusters), *(c.name for c in result.fleet))
    return len({*judged, *(name for f in result.findings for name in f.clusters)}) > 1


LIKELY = "not a proof: it relies on an estimate, or on facts that these files may not contain"
"""The caption of findings that are not certain."""


def within(found: Finding, many: bool) -> str:
    """Return ` (cluster a)` or ` (clusters a, b)` if there are several clusters, else nothing."""
    names = ", ".join(found.clusters)
    return f" (cluster{'s' * (len(found.clusters) > 1)} {names})" if many else ""


def following(count: int) -> str:
    """Return `and 11 findings that follow: --all`."""
    verb = "follows" if count == 1 else "follow"
    return f"and {plural(count, 'finding')} that {verb}: --all"


LONG = 25
"""The number of findings from which a report for people ends with the counts by rule."""


def shows_statistics(result: Result) -> bool:
    """Return whether a report for people ends with the counts by rule."""
    return result.view.statistics or len(result.findings) >= LONG


def by_rule(findings: Iterable[Finding]) -> list[tuple[int, str, Finding]]:
    """Return the counts by rule and severity, most severe and most frequent first, each with one finding."""
    met: dict[tuple[str, str], list[Finding]] = {}
    for found in findings:
        met.setdefault((found.severity, title(found)), []).append(found)
    rows = [(len(same), name, same[0]) for (_, name), same in met.items()]
    return sorted(rows, key=lambda row: (WORST_FIRST.index(row[2].severity), -row[0], row[1]))


def worst_first(result: Result) -> list[Finding]:
    """Return the findings by severity; among equals in the order of files."""
    return sorted(result.findings, key=lambda f: WORST_FIRST.index(f.severity))


def counted(result: Result) -> str:
    """Return `2 errors, 1 note; 1 suppressed` or `no findings`."""
    shown = [plural(n, s) for s in WORST_FIRST if (n := result.count(s))]
    quiet = [
        f"{count:,} {word}"
        for count, word in (
            (len(result.hidden), "not shown"),
            (result.suppressed_count, "suppressed"),
            (result.baselined_count, "accepted by the baseline"),
            (len(result.older), "older than the change"),
        )
        if count
    ]
    return "; ".join(filter(None, (", ".join(shown) or "no findings", ", ".join(quiet))))


def looked_at(result: Result) -> str:
    """Return `10 files, 16 documents, 24 objects`."""
    inputs = result.inputs
    return ", ".join(
        (plural(inputs.files, "file"), plural(inputs.documents, "document"), plural(inputs.objects, "object"))
    )


def not_judged(result: Result) -> Iterator[tuple[str, str]]:
    """Yield what the result does not cover: a file, or the rules that lack the same fact, and the reason; each once."""
    yield from _files_not_read(result)
    lacking: dict[str, list[str]] = {}
    for rule, why in skipped_rules(result):
        lacking.setdefault(why, []).append(rule)
    for why, rules in lacking.items():
        yield (rules[0] if len(rules) == 1 else ", ".join(rule.partition(" ")[0] for rule in rules)), why


def _files_not_read(result: Result) -> Iterator[tuple[str, str]]:
    """Yield files and the reason. Many with one reason are named together, unless they make the run unjudged."""
    found = list(dict.fromkeys((n.path, n.why) for n in result.inputs.not_read))
    alike: dict[str, list[str]] = {}
    for path, why in found:
        alike.setdefault(why, []).append(path)
    for path, why in found:
        paths = alike[why]
        if len(paths) <= MOST_NAMED + 1 or f"{path}: {why}" in result.inputs.unjudged:
            yield path, why
        elif path == paths[0]:
            yield f"{', '.join(paths[:MOST_NAMED])} and {len(paths) - MOST_NAMED} more", why


def skipped_rules(result: Result) -> Iterator[tuple[str, str]]:
    """Yield rule (id and name) and reason, each once; with the cluster if there are several."""
    many = len(result.clusters) > 1 or len(result.fleet) > 1
    for skipped in dict.fromkeys(
        (s.rule.id, s.rule.name, f"{s.why} (cluster {s.cluster})" if many else s.why) for s in result.inputs.skipped
    ):
        yield f"{skipped[0]} {skipped[1]}", skipped[2]
