"""Links from an object or one of its fields to the findings about it."""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.reports.html.markup import Html, tag

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from qcheck.cluster.place import Place, Route
    from qcheck.findings.finding import Finding

    Document = tuple[str, int]
    """Path and first line of a document."""


class Links:
    """Findings by the documents of their places; a finding is identified by its number on the page."""

    def __init__(self, found: Sequence[Finding]) -> None:
        self._found = found
        self._numbers: dict[Document, list[tuple[Route, int]]] = {}
        for number, finding in enumerate(found, 1):
            for place in (finding.primary, *finding.related):
                self._numbers.setdefault(_document(place), []).append((place.route, number))

    def to(self, places: Iterable[Place], cluster: str) -> Html | None:
        """Return links to a cluster's findings about some places and everything below them."""
        about = {
            number
            for place in places
            for route, number in self._numbers.get(_document(place), ())
            if route[: len(place.route)] == place.route and cluster in self._of(number).clusters
        }
        by_rule: dict[str, list[int]] = {}
        for number in sorted(about):
            rule = self._of(number).rule
            by_rule.setdefault(rule.id if rule else "", []).append(number)
        return tag("span", [self._link(rule, same) for rule, same in by_rule.items()], cls="links") if by_rule else None

    def _of(self, number: int) -> Finding:
        return self._found[number - 1]

    def _link(self, rule: str, same: list[int]) -> Html:
        """Return a link to the first of the findings of one rule."""
        found = self._of(same[0])
        name = f"{rule} ×{len(same)}" if len(same) > 1 else rule
        return tag("a", name, href=f"#f{same[0]}", cls=f"badge {found.severity}", title=found.message)


def _document(place: Place) -> Document:
    return place.origin.path, place.origin.span(())[0]
