"""Verdicts on the workloads of some files, in the clusters that other files describe."""

from __future__ import annotations

from qcheck.answers.admission_now import NOTHING_RUNS, judge_now
from qcheck.answers.judge import judge
from qcheck.answers.verdict import Judged
from qcheck.answers.workload_changes import smallest_change
from qcheck.cluster.value import TYPE_CHECKING, replace
from qcheck.pipeline.gather import gather
from qcheck.sources import files

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence, Set

    from qcheck.answers.verdict import Verdict
    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.workloads import Workload
    from qcheck.pipeline.gather import Gathered
    from qcheck.pipeline.live import Live
    from qcheck.pipeline.read import Watch
    from qcheck.settings import Settings


def judged(
    workloads: Sequence[str],
    paths: Sequence[str],
    settings: Settings,
    watch: Watch,
    live: Live | None = None,
    busy: bool = False,
) -> Judged:
    """Return the verdict on each workload in the files `workloads`; with `busy`, beside what runs in the cluster."""
    asked = {f.path for f in files.discover(workloads).files}
    gathered = gather((*workloads, *paths), settings, watch, asked, live=live)
    wanted = [(c, w) for c in gathered.clusters for w in c.workloads if w.place.origin.path in asked]
    verdicts = []
    for done, (cluster, workload) in enumerate(wanted):
        watch("judge", done, len(wanted))
        verdicts.append((cluster.name, _verdict(cluster, workload, busy)))
    unjudged = [*gathered.unjudged, *_unread(gathered, asked)]
    if busy and any(c.state is None for c in gathered.clusters):
        unjudged.append(NOTHING_RUNS)
    if not wanted:
        unjudged.append(f"no workload was found in {', '.join(workloads)}")
    return Judged(tuple(verdicts), tuple(unjudged))


def _verdict(cluster: Cluster, workload: Workload, busy: bool) -> Verdict:
    """Return the verdict with the smallest change that helps; without one if the workload only waits for others."""
    found = judge_now(cluster, workload) if busy else judge(cluster, workload)
    change = None if any(r.cause == "busy" for r in found.reasons) else smallest_change(cluster, found)
    return replace(found, change=change.words, edits=change.values) if change else found


def _unread(gathered: Gathered, asked: Set[str]) -> Iterator[str]:
    """Yield the files in question that were not fully read and that `gathered` does not mention."""
    for each in gathered.inputs.not_read:
        if each.path in asked and not any(text.startswith(f"{each.path}:") for text in gathered.unjudged):
            yield f"{each.path}: {each.why}"
