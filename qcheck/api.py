"""The line, joined once: discover, load, decode, model, check, settle.

from qcheck.api import audit
result = audit(["clusters/prod"])
"""

from __future__ import annotations

from qcheck.answers.verdict import Judged
from qcheck.cluster.value import TYPE_CHECKING, replace
from qcheck.pipeline.check import checked
from qcheck.pipeline.gather import gather
from qcheck.pipeline.read import unwatched
from qcheck.settings import Settings
from qcheck.sources import files

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
    """Checks everything under `paths`, and a live cluster; returns the settled result. Never raises for what they hold.

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
    """The verdict on every workload in the files `workloads`, in the clusters that `paths` and `live` describe.

    With `busy` beside the workloads and pods that run there, else as if nothing ran.
    """
    from qcheck.answers.admission_now import BUSY, NOTHING_RUNS, judge_now  # 49 ms: the simulation
    from qcheck.answers.judge import judge  # 1.1 ms
    from qcheck.answers.workload_changes import smallest_change  # 1.2 ms

    settings = settings or Settings()
    asked = {f.path for f in files.discover(workloads).files}
    gathered = gather((*workloads, *paths), settings, watch, asked, live=live)
    wanted = [(c, w) for c in gathered.clusters for w in c.workloads if w.place.origin.path in asked]
    verdicts = []
    for done, (cluster, workload) in enumerate(wanted):
        watch("judge", done, len(wanted))
        verdict = judge_now(cluster, workload) if busy else judge(cluster, workload)
        change = None if any(r.cause == BUSY for r in verdict.reasons) else smallest_change(cluster, verdict)
        verdicts.append(
            (cluster.name, replace(verdict, change=change.words, edits=change.values) if change else verdict)
        )
    unjudged = list(gathered.unjudged)
    named = {n.path for n in gathered.inputs.not_read if any(text.startswith(f"{n.path}:") for text in unjudged)}
    unjudged += [f"{n.path}: {n.why}" for n in gathered.inputs.not_read if n.path in asked - named]
    if busy and any(c.state is None for c in gathered.clusters):
        unjudged.append(NOTHING_RUNS)
    if not wanted:
        unjudged.append(f"no workload was found in {', '.join(workloads)}")
    return Judged(tuple(verdicts), tuple(unjudged))


def simulate(
    scenario: str,
    paths: Sequence[str],
    settings: Settings | None = None,
    watch: Watch = unwatched,
    live: Live | None = None,
    busy: bool = False,
) -> Simulated:
    """Simulate the workloads in the file `scenario` in the cluster that `paths` and `live` describe.

    With `busy` the workloads that hold quota there hold it from the start, beside those of the scenario.

    Raises `QuestionError` for a scenario that cannot be read or names what the cluster does not have.
    """
    from qcheck.pipeline.simulate import run_scenario  # 25 ms

    return run_scenario(scenario, paths, settings or Settings(), watch, live=live, busy=busy).run


def drift(paths: Sequence[str], live: Live, settings: Settings, watch: Watch = unwatched) -> Drift:
    """Return how a running cluster differs from the files under `paths`. The settings have one cluster."""
    from qcheck.pipeline.drift import DriftSide, differences  # 45 ms

    written, running = gather(paths, settings, watch), gather((), settings, watch, live=live)
    ours, theirs = DriftSide(written.loaded, written.clusters[0]), DriftSide(running.loaded, running.clusters[0])
    return differences(ours, theirs, live, written.inputs.unjudged)
