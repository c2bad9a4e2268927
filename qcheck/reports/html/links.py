"""From a line of a file to the findings that speak of it."""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.reports.html.markup import Html, tag

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from qcheck.cluster.place import Place
    from qcheck.findings.finding import Finding


class Links:
    """Findings by the file and line of each of their places; a finding is known by its number on the page."""

    def __init__(self, found: Sequence[Finding]) -> None:
        self._found = found
        self._numbers: dict[tuple[str, int], list[int]] = {}
        for number, finding in enumerate(found, 1):
            for place in (finding.primary, *finding.related):
                self._numbers.setdefault((place.origin.path, place.span[0]), []).append(number)

    def to(self, places: Iterable[Place], cluster: str) -> Html | None:
        """Links to what is said of some places in a cluster."""
        lines = {(p.origin.path, p.span[0]) for p in places}
        numbers = sorted({n for line in lines for n in self._numbers.get(line, ()) if cluster in self._of(n).clusters})
        by_rule: dict[str, list[int]] = {}
        for number in numbers:
            rule = self._of(number).rule
            by_rule.setdefault(rule.id if rule else "", []).append(number)
        return tag("span", [self._link(rule, same) for rule, same in by_rule.items()], cls="links") if numbers else None

    def _of(self, number: int) -> Finding:
        return self._found[number - 1]

    def _link(self, rule: str, same: list[int]) -> Html:
        """To the first of the findings of one rule."""
        found = self._of(same[0])
        name = f"{rule} ×{len(same)}" if len(same) > 1 else rule
        return tag("a", name, href=f"#f{same[0]}", cls=f"badge {found.severity}", title=found.message)
