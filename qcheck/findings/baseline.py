"""The baseline: findings that were accepted earlier, so that only new ones count.

The file is JSON, sorted by fingerprint, without line numbers, so that moved lines do not change it.
"""

from __future__ import annotations

import json
import os

from qcheck.cluster.place import Place, show_route
from qcheck.cluster.value import TYPE_CHECKING, Value, replace
from qcheck.documents import limits
from qcheck.documents.load import load
from qcheck.findings.finding import Finding, finding
from qcheck.findings.result import BaselineError
from qcheck.findings.same_in_clusters import apart
from qcheck.findings.severity import SEVERITIES
from qcheck.findings.worsening import amounts, is_worse
from qcheck.sources.files import File

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from qcheck.documents.document import Document
    from qcheck.documents.text import Text
    from qcheck.findings.result import Result


class BaselineEntry(Value):
    """One accepted finding. `fingerprint` identifies it; `severity` and `amounts` state how bad it was when accepted.

    The other fields inform readers and identify what was checked. Files of earlier releases lack severity and amounts.
    """

    fingerprint: str
    rule: str
    cluster: str
    file: str
    object: str
    field: str
    message: str
    severity: str = ""
    amounts: dict[str, int] = {}

    def covers(self, found: Finding) -> bool:
        """Return whether the finding with this fingerprint is no worse than when it was accepted."""
        return not is_worse(self.severity, self.amounts, found)


TEXTS = ("fingerprint", "rule", "cluster", "file", "object", "field", "message")
"""The fields that every entry has in all releases."""


class Baseline(Value):
    """The entries of a file by fingerprint, and the file's text, to locate entries in it."""

    text: Text
    entries: dict[str, BaselineEntry]

    def place(self, entry: BaselineEntry) -> Place:
        start = self.text.text.find(entry.fingerprint)
        return Place(self.text.spot(start, start + len(entry.fingerprint)))


def read_baseline(path: str) -> Baseline:
    """Read a baseline file. Raises `BaselineError` if it is missing or not a baseline."""
    shown = path.replace(os.sep, "/")
    try:
        loaded = load(File(shown, path).read(limits.DEFAULT.bytes), shown)
    except OSError as error:
        raise BaselineError(f"{path}: {error.strerror}; `qcheck baseline write` creates it") from None
    if loaded.faults:
        fault = loaded.faults[0]
        raise BaselineError(f"{shown}:{fault.spot.span()[0]}: {fault.message}")
    document = loaded.documents[0] if loaded.documents else None
    data = document.data if document else None
    if (
        document is None
        or not isinstance(data, dict)
        or data.get("schema") != 1
        or not isinstance(data.get("findings"), list)
    ):
        raise BaselineError(
            f'{shown}:1: not a baseline of this release: an object with "schema": 1 and "findings" is expected'
        )
    entries = [_entry(document, position, item) for position, item in enumerate(data["findings"])]
    return Baseline(loaded.text, {e.fingerprint: e for e in entries})


def _entry(document: Document, position: int, item: object) -> BaselineEntry:
    if not isinstance(item, dict) or not all(isinstance(item.get(f), str) for f in TEXTS):
        line = document.span(("findings", position))[0]
        raise BaselineError(f"{document.path}:{line}: findings[{position}] needs the strings {', '.join(TEXTS)}")
    severity, known = item.get("severity"), item.get("amounts")
    accepted = {str(key): n for key, n in known.items() if isinstance(n, int)} if isinstance(known, dict) else {}
    texts = {field: item[field] for field in TEXTS}
    return BaselineEntry(**texts, severity=severity if severity in SEVERITIES else "", amounts=accepted)


def write_text(result: Result, kept: Iterable[BaselineEntry] = ()) -> str:
    """Return a baseline of everything shown or already accepted in `result`, plus `kept` entries."""
    return _text([*map(entry_of, apart((*result.findings, *result.baselined))), *kept])


def prune_text(baseline: Baseline, result: Result) -> str:
    """Return the baseline without the entries that no longer occur; entries that this run did not judge remain."""
    gone = {e.fingerprint for e in stale(baseline, result)}
    return _text(e for e in baseline.entries.values() if e.fingerprint not in gone)


def entry_of(found: Finding) -> BaselineEntry:
    place = found.primary
    rule = found.rule.id if found.rule else ""
    about = str(found.object) if found.object else ""
    return BaselineEntry(
        fingerprint=found.fingerprint,
        rule=rule,
        cluster=found.cluster,
        file=place.origin.path,
        object=about,
        field=show_route(place.route),
        message=found.message,
        severity=found.severity,
        amounts=amounts(found),
    )


def _text(entries: Iterable[BaselineEntry]) -> str:
    unique = {e.fingerprint: {f: getattr(e, f) for f in BaselineEntry.__fields__} for e in entries}
    findings = [unique[key] for key in sorted(unique)]
    return json.dumps({"schema": 1, "findings": findings}, indent=1) + "\n"


def stale(baseline: Baseline, result: Result) -> list[BaselineEntry]:
    """Return entries that no longer occur.

    One whose rule or cluster was not judged, or whose file was not read, still may.
    """
    alive = {f.fingerprint for f in apart((*result.findings, *result.suppressed, *result.baselined))}
    skipped = {(s.rule.id, s.cluster) for s in result.inputs.skipped}
    ran = {r.id for r in result.rules}
    read = {file.path for file in result.inputs.read}
    clusters = {c.name for c in result.clusters}
    return [
        e
        for e in baseline.entries.values()
        if e.fingerprint not in alive
        and e.rule in ran
        and (e.rule, e.cluster) not in skipped
        and (e.cluster in clusters or not clusters)
        and (e.file in read or not os.path.exists(e.file))
    ]


def stale_findings(baseline: Baseline, result: Result) -> Iterator[Finding]:
    """Yield a QC013 finding per stale entry, in the baseline file."""
    for entry in stale(baseline, result):
        what = f"{entry.rule} at {entry.object or entry.file}"
        found = finding(baseline.place(entry), f"the baseline still accepts {what}, which no longer occurs")
        yield replace(found, cluster=entry.cluster).fixed_by("Run `qcheck baseline prune`.")
