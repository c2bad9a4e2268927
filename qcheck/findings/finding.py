"""A finding: one primary place that the user should edit, captioned related places, and the arithmetic as data."""

from __future__ import annotations

from functools import cached_property

from qcheck.cluster.objects import ObjectId
from qcheck.cluster.place import Place
from qcheck.cluster.value import TYPE_CHECKING, Value, replace
from qcheck.findings.severity import SEVERITIES, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from qcheck.cluster.edits import Fix
    from qcheck.findings.catalogue import Rule

    Scalar = str | int | bool | None
    Datum = Scalar | Sequence[Scalar] | Mapping[str, Scalar]
    Data = dict[str, Datum]


FINGERPRINT_LENGTH = 32


class Finding(Value, cached=True):
    """A finding of one rule. Built by `finding(place, message)`; every method returns a new one.

    `certain` is False if a required fact is estimated or may be defined elsewhere: an error then becomes a warning. The
    runner sets `rule` and `cluster`; settling sets `severity` and `identity`, and `copies` if several clusters have
    the same finding: one for each. `fixes` are edits that resolve it.
    """

    primary: Place
    message: str
    related: tuple[Place, ...] = ()
    object: ObjectId | None = None
    data: Data = {}
    help: str | None = None
    certain: bool = True
    ceiling: Severity = Severity.ERROR
    floor: Severity = Severity.NOTE
    rule: Rule | None = None
    severity: Severity = Severity.ERROR
    cluster: str = "default"
    identity: str | tuple[str, ...] = ""
    """The names that distinguish it from others; of a finding from a report, its fingerprint."""
    copies: tuple[Finding, ...] = ()
    fixes: tuple[Fix, ...] = ()

    @cached_property
    def fingerprint(self) -> str:
        """The stable identity of the finding across runs."""
        if isinstance(self.identity, str):
            return self.identity
        from hashlib import sha256  # 3 ms; reports for people need none

        return sha256("\0".join(self.identity).encode("utf-8", "surrogatepass")).hexdigest()[:FINGERPRINT_LENGTH]

    @property
    def clusters(self) -> tuple[str, ...]:
        """The clusters that have the finding, in the order of the settings."""
        return tuple(c.cluster for c in self.copies) or (self.cluster,)

    def near(self, place: Place | None, caption: str) -> Finding:
        """Return the finding with a related place; None is skipped, so that optional places need no branch."""
        return self if place is None else replace(self, related=(*self.related, place.named(caption)))

    def about(self, subject: ObjectId) -> Finding:
        """Return the finding with the object that it is about."""
        return replace(self, object=subject)

    def likely(self, when: bool = True) -> Finding:
        """Return it marked as resting on an estimate or on the completeness of the repository: at most a warning."""
        return replace(self, certain=self.certain and not when)

    def at_most(self, severity: Severity) -> Finding:
        """Return it with its severity capped, for rules that state a milder case (`error; warning when ...`)."""
        lower = min(severity, self.ceiling, key=SEVERITIES.index)
        return replace(self, ceiling=lower)

    def at_least(self, severity: Severity) -> Finding:
        """Return it with its severity raised, for rules that state a more severe case (`warning; error where ...`)."""
        return replace(self, floor=max(severity, self.floor, key=SEVERITIES.index))

    def with_data(self, **data: Datum) -> Finding:
        return replace(self, data={**self.data, **data})

    def fixed_by(self, text: str) -> Finding:
        """Return it with help for this case, which replaces the rule's general fix."""
        return replace(self, help=text)

    def offering_all(self, values: Iterable[tuple[Place, str]], description: str) -> Finding:
        """Return it with an unsafe fix: new values at several places that belong together."""
        from qcheck.cluster.edits import Edit, Fix, How  # 0.2 ms

        edits = tuple(Edit(place, How.REPLACE, text) for place, text in values)
        return replace(self, fixes=(*self.fixes, Fix(edits, description, is_safe=False)))

    def offering(self, place: Place, text: str, description: str) -> Finding:
        """Return it with an unsafe fix: a new value at one place, for a person to decide."""
        return self.offering_all([(place, text)], description)


def finding(place: Place, message: str, caption: str = "") -> Finding:
    """Return a finding at `place`; `caption` labels the primary place in snippets."""
    return Finding(place.named(caption), message)
