"""The pipeline in one place: discover, load, decode, model, check, settle.

from qcheck.api import audit
result = audit(["clusters/prod"])
"""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.pipeline.check import checked
from qcheck.pipeline.gather import gather
from qcheck.pipeline.read import unwatched
from qcheck.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qcheck.answers.drift import Drift
    from qcheck.answers.simulated import Simulated
    from qcheck.answers.verdict import Judged
    from qcheck.findings.result import Result
    from qcheck.pipeline.live import Live
    from qcheck.pipeline.read import Watch


def audit(
    paths: Sequence[str], settings: Settings | None = None, watch: Watch = unwatched, live: Live | None = None
) -> Result:
    """Check everything under `paths`, and a live cluster. Return the settled result; no input makes it raise.

    Raises `BaselineError` if settings name a baseline that cannot be read.
    """
    settings = settings or Settings()
    return checked(gather(paths, settings, watch, live=live), settings, watch)


def admit(
    workloads: Sequence[str],
    paths: Sequence[str],
    settings: Settings | None = None,
    watch: Watch = unwatched,
    live: Live | None = None,
    busy: bool = False,
) -> Judged:
    """Judge every workload in the files `workloads`, in the clusters that `paths` and `live` describe.

    With `busy`, running workloads and pods count; otherwise the clusters count as idle.
    """
    from qcheck.pipeline.admit import judged  # 10 ms: the simulation

    return judged(workloads, paths, settings or Settings(), watch, live, busy)


def simulate(
    scenario: str,
    paths: Sequence[str],
    settings: Settings | None = None,
    watch: Watch = unwatched,
    live: Live | None = None,
    busy: bool = False,
) -> Simulated:
    """Simulate the workloads in the file `scenario` in the cluster that `paths` and `live` describe.

    With `busy`, the workloads that hold quota in the cluster hold it from the start, beside those of the scenario.

    Raises `QuestionError` for a scenario that cannot be read or that refers to something the cluster does not have.
    """
    from qcheck.pipeline.simulate import run_scenario  # 80 ms

    return run_scenario(scenario, paths, settings or Settings(), watch, live=live, busy=busy).run


def drift(paths: Sequence[str], live: Live, settings: Settings, watch: Watch = unwatched) -> Drift:
    """Return how a running cluster differs from the files under `paths`. The settings must have a single cluster."""
    from qcheck.pipeline.drift import DriftSide, differences  # 11 ms

    written, running = gather(paths, settings, watch), gather((), settings, watch, live=live)
    ours, theirs = DriftSide(written.loaded, written.clusters[0]), DriftSide(running.loaded, running.clusters[0])
    return differences(ours, theirs, live, written.inputs.unjudged)
