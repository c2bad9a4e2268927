"""From a scenario's file to the simulated run: on the working files, or before and after a change."""

from __future__ import annotations

import os

from qcheck.answers.admission_now import NOTHING_RUNS, holders
from qcheck.answers.full_queues import full
from qcheck.answers.question import QuestionError
from qcheck.answers.simulate import simulate
from qcheck.cluster.value import TYPE_CHECKING, Value, replace
from qcheck.pipeline.diff import gathered, sides
from qcheck.pipeline.gather import gather
from qcheck.pipeline.scenario import read_scenario
from qcheck.sources import files

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qcheck.answers.scenario import Scenario
    from qcheck.answers.simulated import Simulated
    from qcheck.cluster.cluster import Cluster
    from qcheck.pipeline.gather import Gathered
    from qcheck.pipeline.live import Live
    from qcheck.pipeline.read import Watch
    from qcheck.pipeline.scenario import ScenarioFile
    from qcheck.settings import Settings


class SimulatedRun(Value):
    """A run, the name of its state, and why something could not be read, if so."""

    name: str
    run: Simulated
    unjudged: tuple[str, ...]


def run_scenario(
    scenario: str,
    paths: Sequence[str],
    settings: Settings,
    watch: Watch,
    full_with: str | None = None,
    live: Live | None = None,
    busy: bool = False,
) -> SimulatedRun:
    """Return the run on the files under `paths` and a `live` cluster. Raises `QuestionError`.

    With `busy`, the workloads that hold quota in the cluster hold it from the start.
    """
    written = read_scenario(scenario)
    manifests = [os.path.relpath(p) for p in written.manifests if os.path.exists(p)]
    names = {f.path for f in files.discover(manifests).files}
    read = gather((*manifests, *paths), settings, watch, names, live=live)
    return _run("the working files", written, read, watch, full_with, busy)


def run_change(
    scenario: str, change: str, paths: Sequence[str], settings: Settings, watch: Watch, full_with: str | None
) -> tuple[SimulatedRun, SimulatedRun]:
    """Return the runs before and after a change `BASE..HEAD`; without HEAD, after means the working files.

    The scenario and its manifests are the same in both: the working files. Raises `QuestionError`, `GitError`.
    """
    base, _, head = change.partition("..")
    written = read_scenario(scenario)
    manifests = files.discover([os.path.relpath(p) for p in written.manifests if os.path.exists(p)])
    names = {f.path for f in manifests.files}
    runs = []
    for side in sides(base, head or None, paths, settings):
        kept = [f for f in side.found.files if f.path not in names]
        found = files.Found((*manifests.files, *kept), side.found.not_read)
        read = gathered(replace(side, found=found), watch, names)
        runs.append(_run(side.name, written, read, watch, full_with))
    return runs[0], runs[1]


def _run(
    name: str, written: ScenarioFile, read: Gathered, watch: Watch, full_with: str | None, busy: bool = False
) -> SimulatedRun:
    if len(read.clusters) != 1:
        names = ", ".join(c.name for c in read.clusters)
        raise QuestionError([f"{written.path}: the paths hold several clusters ({names}); name one with --cluster"])
    cluster = read.clusters[0]
    try:
        scenario = _staged(written, cluster, full_with, busy)
        run = simulate(cluster, scenario, lambda number, _: watch("simulate", number, 0))
    except QuestionError as error:
        raise QuestionError([*read.inputs.unjudged, *error.faults]) from None
    return SimulatedRun(name, run, read.unjudged)


def _staged(written: ScenarioFile, cluster: Cluster, full_with: str | None, busy: bool) -> Scenario:
    """Return the scenario with other holders of quota: what runs in the cluster, and full queues."""
    found = [w for w in cluster.workloads if os.path.abspath(w.place.origin.path) in written.manifests]
    scenario = written.scenario(found)
    if busy and cluster.state is None:
        raise QuestionError([NOTHING_RUNS])
    if busy:
        scenario = replace(scenario, workloads=(*holders(cluster), *scenario.workloads))
    return scenario if full_with is None else full(cluster, scenario, full_with)
