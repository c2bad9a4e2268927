"""What each queue gets: worked divisions, and what must hold in any tree."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from manifests import FLAVOR, cluster_queue

from qcheck.cli import entrypoint
from qcheck.reports.shares_schema import json_schema
from qcheck.schedulers.kueue.fair_division import Branch, divide


def leaf(
    name: str, own: int = 0, weight: int = 1, wanted: int | None = None, cap: int | None = None, kept: int = 0
) -> Branch:
    return Branch(
        name=name, own=own, kept=kept, cap=cap, wanted=wanted, milli_weight=weight * 1000, is_queue=True, below=()
    )


def cohort(name: str, *below: Branch, own: int = 0, weight: int = 1, cap: int | None = None) -> Branch:
    total = own + sum(b.own - b.kept for b in below)
    return Branch(
        name=name, own=total, kept=0, cap=cap, wanted=None, milli_weight=weight * 1000, is_queue=False, below=below
    )


def divided(root: Branch) -> dict[str, object]:
    return dict(divide(root, root.own))


def test_surplus_goes_by_weight_and_weight_zero_comes_last() -> None:
    root = cohort("root", leaf("a", weight=2), leaf("b"), leaf("z", weight=0), own=90)
    assert divided(root) == {"a": 60, "b": 30, "z": 0}
    root = cohort("root", leaf("a", weight=2, wanted=10), leaf("b", wanted=20), leaf("z", weight=0), own=90)
    assert divided(root) == {"a": 10, "b": 20, "z": 60}


def test_own_quota_comes_first_and_a_borrowing_limit_binds() -> None:
    root = cohort("root", leaf("a", own=40), leaf("b", own=0, cap=5), leaf("c", own=0), own=20)
    assert divided(root) == {"a": Fraction(95, 2), "b": 5, "c": Fraction(15, 2)}


def test_levels_are_divided_one_after_the_other() -> None:
    team = cohort("team", leaf("x", weight=1), leaf("y", weight=3))
    assert divided(cohort("root", team, leaf("z"), own=80)) == {"x": 10, "y": 30, "z": 40}


def test_what_a_queue_keeps_is_not_divided() -> None:
    root = cohort("root", leaf("c", own=12, kept=10, wanted=0), leaf("a", own=16))
    assert divided(root) == {"c": 0, "a": 18}


BRANCHES = st.builds(
    leaf,
    name=st.uuids().map(str),
    own=st.integers(0, 20),
    weight=st.integers(0, 3),
    wanted=st.one_of(st.none(), st.integers(0, 50)),
)


@given(st.lists(BRANCHES, min_size=1, max_size=5), st.lists(BRANCHES, min_size=1, max_size=3), st.integers(0, 40))
def test_nobody_gets_less_than_it_wants_of_its_own_and_all_get_what_there_is(
    queues: list[Branch], below: list[Branch], own: int
) -> None:
    root = cohort("root", *queues, cohort("team", *below), own=own)
    got = divide(root, root.own)
    leaves = [*queues, *below]
    assert all(got[q.name] >= min(q.own, q.own if q.wanted is None else q.wanted) for q in leaves)
    assert all(q.wanted is None or got[q.name] <= q.wanted for q in leaves)
    wants_more = any(q.wanted is None or got[q.name] < q.wanted for q in leaves)
    total = sum((Fraction(v) for v in got.values()), Fraction(0))
    assert total == root.own or (total < root.own and not wants_more)


QUEUES = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: owner}
spec:
  cohortName: lab
  namespaceSelector: {}
  preemption: {reclaimWithinCohort: RECLAIM}
  resourceGroups:
  - coveredResources: [nvidia.com/gpu]
    flavors: [{name: h100, resources: [{name: nvidia.com/gpu, nominalQuota: 16, lendingLimit: 4}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: guest}
spec:
  cohortName: lab
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [nvidia.com/gpu]
    flavors: [{name: h100, resources: [{name: nvidia.com/gpu, nominalQuota: 0}]}]
"""


@pytest.mark.parametrize(("reclaim", "reserved", "back"), [("Any", 16, 4), ("Never", 12, 0)])
def test_lent_quota_is_reserved_only_where_it_can_be_taken_back(
    reclaim: str, reserved: int, back: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "queues.yaml").write_text(QUEUES.replace("RECLAIM", reclaim), encoding="utf-8")
    assert entrypoint.run(["shares", str(tmp_path), "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    jsonschema.validate(found, json_schema())
    [pool] = found["clusters"][0]["pools"]
    guest, owner = pool["queues"]
    assert (pool["total"], pool["tree"], guest["limit"]) == (16, "lab", 4)
    assert (owner["reserved"], owner["entitled"], owner["share"], owner["limit"]) == (reserved, 16, None, 16)
    assert (owner["reclaimable"]["amount"], owner["reclaimable"]["from"]) == (back, ["guest"] if back else [])


def test_an_unknown_queue_is_an_error_with_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "queues.yaml").write_text(QUEUES.replace("RECLAIM", "Any"), encoding="utf-8")
    demand = tmp_path / "demand.yaml"
    demand.write_text(
        "version: 1\nqueues:\n  guest: {nvidia.com/gpu: 8}\n  gost: {nvidia.com/gpu: 8}\n", encoding="utf-8"
    )
    assert entrypoint.run(["shares", str(tmp_path), "--demand", str(demand)]) == 2
    assert "demand.yaml:4: there is no queue 'gost'; there are: guest, owner" in capsys.readouterr().err
    assert entrypoint.run(["shares", str(tmp_path), "--busy", ","]) == 2
    assert "--busy lists no names" in capsys.readouterr().err
    assert entrypoint.run(["shares", str(tmp_path), "--busy", "gost"]) == 2


def test_an_unknown_key_is_an_error_with_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "queues.yaml").write_text(QUEUES.replace("RECLAIM", "Any"), encoding="utf-8")
    demand = tmp_path / "demand.yaml"
    demand.write_text("version: 1\nqueus: {}\n", encoding="utf-8")
    for option in ("--demand", "--usage"):
        assert entrypoint.run(["shares", str(tmp_path), option, str(demand)]) == 2
        assert "demand.yaml:2: queus: there is no such key; did you mean queues?" in capsys.readouterr().err


def test_what_is_taken_back_from_nobody_has_no_from(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    queue = "apiVersion: scheduling.run.ai/v2\nkind: Queue\nmetadata: {name: a}\nspec:\n  resources:\n"
    (tmp_path / "q.yaml").write_text(queue + "    gpu: {quota: 1, limit: -1, overQuotaWeight: 1}\n")
    assert entrypoint.run(["shares", str(tmp_path)]) == 0
    assert not [line for line in capsys.readouterr().out.splitlines() if line.endswith(" from")]


def test_a_note_is_said_once_for_all_resources(capsys: pytest.CaptureFixture[str]) -> None:
    fleet = Path(__file__).parent.parent / "fixtures" / "clusters" / "research-fleet"
    assert entrypoint.run(["shares", str(fleet)]) == 0
    text = capsys.readouterr().out
    assert text.count("no share is defined") == 1
    assert text.count("nominalQuota 0") == 1
    assert "queues/shared.yaml:14" in text
    assert "queues/shared.yaml:16" in text


def test_a_queue_and_a_cohort_of_the_same_name_are_two_trees(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    member = cluster_queue(8, "member").replace("spec:\n", "spec:\n  cohortName: lab\n")
    (tmp_path / "q.yaml").write_text("---\n".join([FLAVOR, cluster_queue(4, "lab"), member]))
    assert entrypoint.run(["shares", str(tmp_path), "--format", "json"]) in (0, 2)
    [cluster] = json.loads(capsys.readouterr().out)["clusters"]
    assert [(p["tree"], p["total"], [q["queue"] for q in p["queues"]]) for p in cluster["pools"]] == [
        ("lab", 4, ["lab"]),
        ("lab", 8, ["member"]),
    ]
