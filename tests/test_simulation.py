"""The simulated scheduler: what must hold on any cluster, and stories with known ends."""

from __future__ import annotations

import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qcheck import api
from qcheck.answers.scenario import Admitted, Scenario, ScenarioWorkload, pods, written_workload
from qcheck.answers.simulate import simulate
from qcheck.answers.simulated import Simulated
from qcheck.answers.simulated_queues import simulated_queues
from qcheck.cli import entrypoint
from qcheck.cluster.assemble import assemble
from qcheck.cluster.cluster import Cluster
from qcheck.cluster.place import Place
from qcheck.cluster.policy import Policy, Release
from qcheck.cluster.quantity import parse_quantity
from qcheck.documents.load import load
from qcheck.kinds.decode import decode, roots
from qcheck.pipeline.question_file import read_question
from qcheck.pipeline.scenario import ScenarioPart
from qcheck.pipeline.scenario import json_schema as scenario_schema
from qcheck.reports.simulation import as_data
from qcheck.reports.simulation_schema import json_schema
from qcheck.schedulers.kueue.cohort_tree import cohort_tree
from qcheck.schedulers.kueue.simulation.ledger import Ledger
from qcheck.schedulers.kueue.simulation.outcomes import Cause, Outcome, PendingPlace, WaitReason
from qcheck.schedulers.kueue.simulation.timeline import End

STORIES = Path(__file__).parent.parent / "fixtures" / "scenarios"
GPU = "nvidia.com/gpu"
MAIN = Policy(kueue=Release(0, 20))
FAIRLY = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])

Spec = dict[str, Any]


def world(queues: dict[str, Spec], cohorts: dict[str, Spec] | None = None, policy: Policy = MAIN) -> Cluster:
    """A cluster of queues; `cells` of a spec are quotas by flavor."""
    documents = [_object("ResourceFlavor", f, {}) for f in sorted({f for q in queues.values() for f in q["cells"]})]
    documents += [_object("Cohort", n, _groups(spec)) for n, spec in (cohorts or {}).items()]
    documents += [_object("ClusterQueue", n, {"namespaceSelector": {}, **_groups(s)}) for n, s in queues.items()]
    loaded = load("\n---\n".join(map(json.dumps, documents)), "cluster.yaml")
    found = [o for d in loaded.documents for r in roots(d) if (o := decode(r)) is not None]
    return assemble("default", policy, found, [])


def _object(kind: str, name: str, spec: Spec) -> Spec:
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": kind, "metadata": {"name": name}, "spec": spec}


def _groups(spec: Spec) -> Spec:
    rest = {k: v for k, v in spec.items() if k != "cells"}
    flavors = [{"name": f, "resources": [{"name": GPU, **cell}]} for f, cell in spec["cells"].items()]
    return {**rest, "resourceGroups": [{"coveredResources": [GPU], "flavors": flavors}]} if flavors else rest


def job(name: str, queue: str, gpus: int, created: int = 0, **more: Any) -> ScenarioWorkload:
    """A workload of one pod; `held` names the flavor that it has from the start, since second `since`."""
    place = Place(load("{}", "scenario.yaml").documents[0])
    held = more.get("held")
    pod_set = pods("main", 1, {GPU: parse_quantity(gpus)}, place)
    return ScenarioWorkload(
        name=name,
        place=place,
        workload=written_workload(name, None, place, (pod_set,)),
        cluster_queue=queue,
        local_queue=None,
        priority=more.get("priority", 0),
        priority_class=None,
        created=created,
        admitted=Admitted(more.get("since", created), {"main": {GPU: held}}, place) if held else None,
        runs_for=more.get("runs_for"),
    )


def run(cluster: Cluster, *entries: ScenarioWorkload, fair: bool = False, delay: int = 0, start: int = 0) -> Simulated:
    place = Place(load("{}", "scenario.yaml").documents[0])
    return simulate(cluster, Scenario(place=place, is_fair=fair, start=start, eviction_delay=delay, workloads=entries))


def heads(found: Simulated) -> list[list[tuple[str, Outcome]]]:
    return [list(c.heads) for c in found.timeline.cycles]


LIMITS = st.one_of(st.none(), st.integers(0, 6))
POLICIES = st.sampled_from(["Never", "LowerPriority", "Any"])


@st.composite
def worlds(draw: st.DrawFn) -> tuple[Cluster, list[ScenarioWorkload], bool]:
    """A cohort tree of two levels with random quota and policies, and workloads that come and go."""
    flavors = draw(st.sampled_from([["f"], ["f", "g"]]))

    def cells(parent: bool) -> Spec:
        found = {}
        for flavor in flavors:
            limits = {"borrowingLimit": draw(LIMITS), "lendingLimit": draw(LIMITS)} if parent else {}
            found[flavor] = {
                "nominalQuota": draw(st.integers(0, 8)),
                **{k: v for k, v in limits.items() if v is not None},
            }
        return found

    cohorts: dict[str, Spec] = {"root": {"cells": cells(False)}, "below": {"parentName": "root", "cells": {}}}
    queues = {
        f"q{i}": {
            "cohortName": draw(st.sampled_from(["root", "below"])),
            "queueingStrategy": draw(st.sampled_from(["BestEffortFIFO", "StrictFIFO"])),
            "preemption": {
                "withinClusterQueue": draw(st.sampled_from(["Never", "LowerPriority", "LowerOrNewerEqualPriority"])),
                "reclaimWithinCohort": draw(POLICIES),
                "borrowWithinCohort": {"policy": draw(st.sampled_from(["Never", "LowerPriority"]))},
            },
            "fairSharing": {"weight": draw(st.sampled_from([0, 1, 2]))},
            "cells": cells(True),
        }
        for i in range(draw(st.integers(1, 4)))
    }
    entries = [
        job(
            f"w{i}",
            draw(st.sampled_from(sorted(queues))),
            draw(st.integers(1, 8)),
            created=draw(st.integers(-5, 20)) * 1000 + i,
            priority=draw(st.sampled_from([0, 10])),
            runs_for=draw(st.sampled_from([None, 50, 5000])),
        )
        for i in range(draw(st.integers(1, 10)))
    ]
    return world(queues, cohorts), entries, draw(st.booleans())


@FAIRLY
@given(worlds())
def test_nothing_is_admitted_above_what_the_tree_allows(given: tuple[Cluster, list[ScenarioWorkload], bool]) -> None:
    cluster, entries, fair = given
    found = run(cluster, *entries, fair=fair)
    ledger = Ledger(cohort_tree(cluster))
    ends = [(s.end, 0, s) for s in found.timeline.spans if s.end is not None]
    for _, is_start, span in sorted([*ends, *((s.start, 1, s) for s in found.timeline.spans)], key=lambda e: e[:2]):
        cells = ledger.queues[span.job.queue].cells
        for key, amount in span.held.items():
            if not is_start:
                cells[key].remove(amount)
                continue
            assert cells[key].takes(amount)
            cells[key].add(amount)


@FAIRLY
@given(worlds())
def test_every_workload_is_in_one_place_and_a_second_run_is_the_same(
    given: tuple[Cluster, list[ScenarioWorkload], bool],
) -> None:
    cluster, entries, fair = given
    found = run(cluster, *entries, fair=fair)
    running = [s.job.name for s in found.timeline.running]
    waiting = [w.job.name for w in found.timeline.waiting]
    finished = [s.job.name for s in found.timeline.spans if s.end is not None and s.preempted_by is None]
    assert sorted([*running, *waiting, *finished]) == sorted(a.name for a in entries)
    assert as_data(found) == as_data(run(cluster, *entries, fair=fair))


@FAIRLY
@given(worlds(), st.integers(0, 30))
def test_an_unrelated_queue_changes_nothing(given: tuple[Cluster, list[ScenarioWorkload], bool], created: int) -> None:
    cluster, entries, fair = given
    loaded = load(
        json.dumps(_object("ClusterQueue", "alone", _groups({"cells": {"f": {"nominalQuota": 4}}}))), "a.yaml"
    )
    alone = [o for d in loaded.documents for r in roots(d) if (o := decode(r)) is not None]
    wider = assemble("default", MAIN, [*cluster.flavors, *cluster.queues, *cluster.cohorts, *alone], [])
    before, after = run(cluster, *entries, fair=fair), run(wider, *entries, job("x", "alone", 3, created), fair=fair)

    def spans(of: Simulated) -> list[tuple[str, int, int, str, str]]:
        kept = [s for s in of.timeline.spans if s.job.name != "x"]
        told = [(s.job.name, s.start, s.end or -1, str(s.flavors), s.preempted_by or "") for s in kept]
        return sorted(told)

    if End.CYCLING not in (before.timeline.outcome, after.timeline.outcome):
        assert spans(before) == spans(after)


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(1, 9)), max_size=12))
def test_quota_is_conserved(charges: list[tuple[int, int]]) -> None:
    cells = {"f": {"nominalQuota": 5, "lendingLimit": 2}}
    queues = {f"q{i}": {"cohortName": "below" if i else "root", "cells": cells} for i in range(3)}
    ledger = Ledger(cohort_tree(world(queues, {"root": {"cells": {}}, "below": {"parentName": "root", "cells": {}}})))
    empty = ledger.usage()
    for queue, amount in charges:
        ledger.queues[f"q{queue}"].cells["f", GPU].add(amount)
    for queue, amount in sorted(charges):
        ledger.queues[f"q{queue}"].cells["f", GPU].remove(amount)
    assert ledger.usage() == empty


def test_a_strict_queue_waits_for_its_head_and_another_does_not() -> None:
    for strategy, admitted in (("StrictFIFO", []), ("BestEffortFIFO", ["small"])):
        cluster = world({"q": {"queueingStrategy": strategy, "cells": {"f": {"nominalQuota": 4}}}})
        found = run(cluster, job("large", "q", 8, 1), job("small", "q", 2, 2), start=10)
        assert [s.job.name for s in found.timeline.running] == admitted
        place = {w.job.name: (w.site, w.reason) for w in found.timeline.waiting}
        expected = PendingPlace.HEAP if strategy == "StrictFIFO" else PendingPlace.INADMISSIBLE
        assert place["large"] == (expected, WaitReason.EXCEEDS_MAX_QUOTA)


def test_equal_workloads_are_set_aside_together() -> None:
    cluster = world({"q": {"cells": {"f": {"nominalQuota": 4}}}})
    found = run(cluster, *(job(f"w{i}", "q", 8, i) for i in range(5)), start=10)
    assert heads(found) == [[("w0", Outcome.NO_FIT)]]
    assert all(w.site is PendingPlace.INADMISSIBLE for w in found.timeline.waiting)


def test_a_victim_holds_its_quota_for_the_eviction_delay() -> None:
    queue = {"preemption": {"withinClusterQueue": "LowerPriority"}, "cells": {"f": {"nominalQuota": 4}}}
    found = run(
        world({"q": queue}), job("low", "q", 4, 0, held="f"), job("high", "q", 4, 100, priority=5), delay=60, start=50
    )
    spans = {s.job.name: (s.start, s.end, s.preempted_by) for s in found.timeline.spans}
    assert spans == {"low": (0, 160, "high"), "high": (160, None, None)}
    assert [p.cause for c in found.timeline.cycles for p in c.preempted] == [Cause.IN_QUEUE]
    [lane] = simulated_queues(found)
    assert (lane.preempted, lane.waited) == (1, 60)
    assert lane.device_hours == Fraction(4 * (160 - 50), 3600)


def test_an_owner_takes_back_what_is_borrowed() -> None:
    queues = {
        "a": {"cohortName": "c", "preemption": {"reclaimWithinCohort": "Any"}, "cells": {"f": {"nominalQuota": 4}}},
        "b": {"cohortName": "c", "cells": {"f": {"nominalQuota": 0}}},
    }
    found = run(world(queues), job("mine", "a", 4, 5), job("theirs", "b", 4, 1, held="f"), start=10)
    assert found.timeline.outcome is End.QUIET
    assert [s.job.name for s in found.timeline.running] == ["mine"]
    assert [p.cause for c in found.timeline.cycles for p in c.preempted] == [Cause.RECLAMATION]


def test_whether_a_queue_is_within_its_own_quota_is_decided_before_any_preemption() -> None:
    mine: Spec = {"preemption": {"withinClusterQueue": "LowerPriority", "reclaimWithinCohort": "Any"}}
    queues = {
        "a": {"cohortName": "c", **mine, "cells": {"f": {"nominalQuota": 4}}},
        "b": {"cohortName": "c", "cells": {"f": {"nominalQuota": 2}}},
    }
    found = run(
        world(queues),
        job("low", "a", 3, 1, held="f"),
        job("theirs", "b", 3, 2, held="f"),
        job("high", "a", 4, 5, priority=5),
        fair=True,
        start=10,
    )
    preempted = {p.workload: p.cause for p in found.timeline.cycles[0].preempted}
    assert preempted == {"low": Cause.IN_QUEUE, "theirs": Cause.FAIR_SHARING}


def told(story: str) -> Spec:
    """The answer to a scenario of the fixtures."""
    words = ["simulate", "scenario.yaml", "--in", "cluster", "--format", "json"]
    command = [sys.executable, "-m", "qcheck", *words]
    done = subprocess.run(command, cwd=STORIES / story, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: Spec = json.loads(done.stdout)
    return found


def test_the_story_of_the_owner_who_takes_its_quota_back() -> None:
    found = told("reserved-and-borrowed")
    jsonschema.validate(found, json_schema())
    preempted = [(c["at"], p) for c in found["cycles"] for p in c["preempted"]]
    victim = {"workload": "notebook-2", "by": "foundation-model", "reason": "InCohortReclamation"}
    assert preempted == [(600, victim)]
    admitted = [(c["at"], a["workload"]) for c in found["cycles"] for a in c["admitted"]]
    assert admitted == [(600 + 25 * 60, "foundation-model"), (600 + 25 * 60 + 7200, "notebook-2")]


def test_the_story_of_the_large_job_that_waits_for_small_ones() -> None:
    found = told("one-large-job")
    jsonschema.validate(found, json_schema())
    [at] = [c["at"] for c in found["cycles"] if any(a["workload"] == "large" for a in c["admitted"])]
    assert at > 180 * 60, "it starts only when the small jobs become fewer"


BROKEN = [
    ("version: 1\nmode: unfair\nworkloads: []\n", ":2: mode"),
    ("version: 1\nworkloads:\n- {name: a, clusterQueue: q}\n", ":3: workloads[0]: give either podSets or manifest"),
    (
        "version: 1\nworkloads:\n- {name: a, clusterQueue: q, podSets: [{requests: {cpu: x}}]}\n",
        ":3: workloads[0].podSets",
    ),
    (
        f"version: 1\nworkloads:\n- {{name: a, clusterQueue: q, podSets: [{{}}], duration: {'9' * 23}h}}\n",
        ":3: workloads[0].duration",
    ),
    (f"version: 1\nstart: -{'9' * 23}\nworkloads: []\n", ":2: start"),
    ("version: 1\nworkloads:\n- {name: a, clusterQueue: q, podSets: [{}], priorty: 1}\n", ":3: workloads[0].priorty"),
    (
        "version: 1\nworkloads:\n- {name: a, clusterQueue: nope, podSets: [{}]}\n",
        ":3: a: there is no ClusterQueue nope",
    ),
    ("version: 1\nworkloads:\n- {name: a, clusterQueue: q, manifest: x.yaml}\n", ":3: a: x.yaml does not exist"),
    ("version: 1\nevictionDelay: soon\nworkloads: []\n", ":2: evictionDelay: write a duration"),
    ("version: 1\nworkloads: [\n", "scenario.yaml:"),
    ("", "scenario.yaml:1"),
]


@pytest.mark.parametrize(("text", "said"), BROKEN)
def test_a_wrong_scenario_is_an_error_with_its_line(
    text: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("cluster.yaml").write_text(json.dumps(_object("ClusterQueue", "q", _groups({"cells": {}}))), encoding="utf-8")
    Path("scenario.yaml").write_text(text, encoding="utf-8")
    assert entrypoint.run(["simulate", "scenario.yaml", "--in", "cluster.yaml"]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("story", sorted(p.name for p in STORIES.iterdir()))
def test_scenarios_follow_their_schema(story: str) -> None:
    document, _ = read_question(str(STORIES / story / "scenario.yaml"), ScenarioPart)
    jsonschema.validate(document.data, scenario_schema())


def test_partial_admission_takes_the_largest_size_that_fits(tmp_path: Path) -> None:
    """Four of six pods fit beside the one that holds quota; the minimum would be two."""
    queue = _groups({"cells": {"h100": {"nominalQuota": 5}}})
    objects = [_object("ResourceFlavor", "h100", {}), _object("ClusterQueue", "q", {"namespaceSelector": {}, **queue})]
    (tmp_path / "cluster.yaml").write_text("\n---\n".join(map(json.dumps, objects)))
    container = {"name": "c", "image": "i", "resources": {"requests": {GPU: 1}, "limits": {GPU: 1}}}
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "job", "annotations": {"kueue.x-k8s.io/job-min-parallelism": "2"}},
        "spec": {"parallelism": 6, "template": {"spec": {"restartPolicy": "Never", "containers": [container]}}},
    }
    (tmp_path / "job.yaml").write_text(json.dumps(job))
    held = {"name": "a", "clusterQueue": "q", "created": 0, "podSets": [{"name": "main", "requests": {GPU: 1}}]}
    held["admitted"] = {"at": 0, "flavors": {"main": {GPU: "h100"}}}
    new = {"name": "b", "clusterQueue": "q", "created": 0, "manifest": "job.yaml"}
    scenario = tmp_path / "scenario.yaml"
    scenario.write_text(json.dumps({"version": 1, "workloads": [held, new]}))
    run = as_data(api.simulate(str(scenario), [str(tmp_path / "cluster.yaml")]))
    assert run["admitted"] == [
        {"workload": "a", "flavors": {"main": {GPU: "h100"}}},
        {"workload": "b", "flavors": {"main": {GPU: "h100"}}, "counts": {"main": 4}},
    ]
    jsonschema.validate(run, json_schema())


def test_a_manifest_is_found_from_any_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    story = STORIES / "reserved-and-borrowed"
    run = api.simulate(str(story / "scenario.yaml"), [str(story / "cluster")])
    assert "foundation-model" in {job.name for job in run.jobs}
