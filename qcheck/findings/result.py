"""The result of a run: the settled findings, the inputs that were read and those that were not, and the exit code."""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING, Value, replace
from qcheck.findings.finding import Finding
from qcheck.findings.severity import SEVERITIES, Severity

if TYPE_CHECKING:
    from qcheck.cluster.cluster import Cluster
    from qcheck.findings.catalogue import Rule
    from qcheck.findings.fleet import ClusterSummary
    from qcheck.findings.suggestions import Suggestions


class NotRead(Value):
    """A file that was not read, or only in part, and the reason."""

    path: str
    why: str


class FileRead(Value):
    """A file that was read, with the number of its documents and of its characters."""

    path: str
    documents: int
    size: int


class Skipped(Value):
    """A rule that could not be judged in a cluster, and the facts that were missing."""

    rule: Rule
    why: str
    cluster: str = "default"


class BaselineError(Exception):
    """There is no result because the baseline cannot be used; the message names the file and the fault."""


class Inputs(Value):
    """The inputs of a run. `unjudged` gives the reasons why the whole run counts as not judged (exit code 2), if any."""

    files: int = 0
    documents: int = 0
    objects: int = 0
    not_read: tuple[NotRead, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    unjudged: tuple[str, ...] = ()
    read: tuple[FileRead, ...] = ()


class Checkout(Value):
    """The repository that was checked and its commit; `url` is a page about the commit, or empty.

    `is_changed`: tracked files differ from the commit.
    """

    repository: str
    commit: str
    url: str
    is_changed: bool


class View(Value):
    """The requested details: consequences beside their causes (`everything`), and counts by rule."""

    everything: bool = False
    statistics: bool = False


class Result(Value):
    """The settled outcome. `findings` are those shown, sorted by file, line and rule; all piles are counted.

    `hidden` are findings below the displayed severity; they count like those shown. `older` are findings from before
    the change under review; empty without one. For merged reports of other runs, `fleet` replaces `clusters`, and
    `elsewhere` counts by severity or pile what those reports count but do not list. `suggestions`: possible remedies,
    if requested.
    """

    findings: tuple[Finding, ...]
    suppressed: tuple[Finding, ...]
    baselined: tuple[Finding, ...]
    inputs: Inputs
    rules: tuple[Rule, ...] = ()
    clusters: tuple[Cluster, ...] = ()
    older: tuple[Finding, ...] = ()
    hidden: tuple[Finding, ...] = ()
    fail_on: Severity = Severity.ERROR
    strict: bool = False
    view: View = View()
    fleet: tuple[ClusterSummary, ...] = ()
    elsewhere: dict[str, int] = {}
    suggestions: Suggestions | None = None
    checkout: Checkout | None = None

    @property
    def counted(self) -> tuple[Finding, ...]:
        """The listed findings that count, shown or not."""
        return (*self.findings, *self.hidden)

    def count(self, severity: str) -> int:
        listed = sum(f.severity == severity for f in self.counted)
        return listed + self.elsewhere.get(severity, 0)

    @property
    def suppressed_count(self) -> int:
        return len(self.suppressed) + self.elsewhere.get("suppressed", 0)

    @property
    def baselined_count(self) -> int:
        return len(self.baselined) + self.elsewhere.get("baselined", 0)

    @property
    def fails(self) -> bool:
        """True if some finding, listed or not, is at or above the threshold."""
        return any(self.count(s) for s in SEVERITIES[SEVERITIES.index(self.fail_on) :])

    @property
    def failing(self) -> tuple[Finding, ...]:
        """The findings at or above the threshold."""
        bar = SEVERITIES.index(self.fail_on)
        return tuple(f for f in self.counted if SEVERITIES.index(f.severity) >= bar)

    @property
    def exit_code(self) -> int:
        """0: nothing at or above the threshold; 1: findings; 2: could not judge. 2 takes precedence over 1."""
        if self.inputs.unjudged:
            return 2
        return 1 if self.fails or (self.strict and self.inputs.skipped) else 0

    def from_severity(self, lowest: Severity) -> Result:
        """Return the same result with the findings below a severity hidden."""
        bar = SEVERITIES.index(lowest)
        low = tuple(f for f in self.findings if SEVERITIES.index(f.severity) < bar)
        shown = tuple(f for f in self.findings if SEVERITIES.index(f.severity) >= bar)
        return replace(self, findings=shown, hidden=(*self.hidden, *low))
