"""What must move in one direction does: more nodes and less quota break nothing, and names mean nothing."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from qcheck.answers.verdict import Verdict
from qcheck.api import admit, audit

GPU = "nvidia.com/gpu"
TEAMS, POOLS = ("a", "b", "c"), ("x", "y", "z")


class Pool(NamedTuple):
    """Nodes of one size; some flavors select its own label, some the tier that pools share."""

    least: int
    more: int
    gpus: int
    tier: str
    is_tainted: bool


class Team(NamedTuple):
    """A queue with quota of a flavor, and a Job that goes to it."""

    flavor: str
    quota: int
    in_cohort: bool
    pods: int
    each: int


class Fleet(NamedTuple):
    pools: dict[str, Pool]
    teams: dict[str, Team]
    has_daemons: bool


POOL = st.builds(
    Pool,
    least=st.integers(0, 3),
    more=st.integers(0, 2),
    gpus=st.sampled_from([1, 2, 4, 8]),
    tier=st.sampled_from(["fast", "slow"]),
    is_tainted=st.booleans(),
)
TEAM = st.builds(
    Team,
    flavor=st.sampled_from([*POOLS[:2], "fast", "slow", "any"]),
    quota=st.integers(0, 30),
    in_cohort=st.booleans(),
    pods=st.integers(1, 5),
    each=st.sampled_from([1, 2, 3, 8]),
)
FLEET = st.builds(
    Fleet,
    pools=st.dictionaries(st.sampled_from(POOLS), POOL, min_size=1),
    teams=st.dictionaries(st.sampled_from(TEAMS), TEAM, min_size=1),
    has_daemons=st.booleans(),
)
CAPACITY = frozenset({"QC101", "QC505", "QC506"})
"""Errors of quotas and shapes that no set of nodes can hold."""


def objects(fleet: Fleet, named: dict[str, str]) -> list[dict[str, Any]]:
    """The manifests of a fleet, each name as `named` has it."""

    def kueue(kind: str, name: str, spec: dict[str, Any], **metadata: str) -> dict[str, Any]:
        return {
            "apiVersion": "kueue.x-k8s.io/v1beta2",
            "kind": kind,
            "metadata": {"name": named.get(name, name), **metadata},
            "spec": spec,
        }

    found = []
    for name, pool in fleet.pools.items():
        own, tier = named.get(name, name), named.get(pool.tier, pool.tier)
        spec: dict[str, Any] = {
            "count": {"min": pool.least, "max": pool.least + pool.more},
            "labels": {"pool": own, "tier": tier},
            "allocatable": {"cpu": "64", "memory": "512Gi", "pods": 110, GPU: pool.gpus},
        }
        if pool.is_tainted:
            spec["taints"] = [{"key": "reserved", "effect": "NoSchedule"}]
        found.append({"apiVersion": "qcheck.dev/v1", "kind": "NodePool", "metadata": {"name": own}, "spec": spec})
    for flavor in sorted({team.flavor for team in fleet.teams.values()}):
        key = "pool" if flavor in POOLS else "tier"
        labels = {} if flavor == "any" else {key: named.get(flavor, flavor)}
        tolerations = [{"key": "reserved", "operator": "Exists"}] if flavor != "slow" else []
        found.append(kueue("ResourceFlavor", f"on-{flavor}", {"nodeLabels": labels, "tolerations": tolerations}))
    for name, team in fleet.teams.items():
        quota = {"name": named.get(f"on-{team.flavor}", f"on-{team.flavor}"), "resources": [{"name": GPU}]}
        quota["resources"][0]["nominalQuota"] = team.quota  # type: ignore[index]
        spec = {"namespaceSelector": {}, "resourceGroups": [{"coveredResources": [GPU], "flavors": [quota]}]}
        spec |= {"cohortName": named.get("all", "all")} if team.in_cohort else {}
        found.append(kueue("ClusterQueue", name, spec))
        found.append(kueue("LocalQueue", name, {"clusterQueue": named.get(name, name)}, namespace="team"))
        found.append(job(named.get(f"job-{name}", f"job-{name}"), named.get(name, name), team))
    return [*found, daemons()] if fleet.has_daemons else found


def job(name: str, queue: str, team: Team) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "team", "labels": {"kueue.x-k8s.io/queue-name": queue}}
    spec = {"parallelism": team.pods, "completions": team.pods, "template": {"spec": pod(team.each)}}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec}


def pod(gpus: int) -> dict[str, Any]:
    container = {"name": "main", "image": "train", "resources": {"limits": {GPU: gpus}}}
    return {"restartPolicy": "Never", "containers": [container]}


def daemons() -> dict[str, Any]:
    template = {"metadata": {"labels": {"app": "probe"}}, "spec": {**pod(1), "restartPolicy": "Always"}}
    spec = {"selector": {"matchLabels": {"app": "probe"}}, "template": template}
    metadata = {"name": "probe", "namespace": "health"}
    return {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": metadata, "spec": spec}


def written(fleet: Fleet, folder: str, named: dict[str, str] | None = None) -> str:
    path = Path(folder) / "all.yaml"
    path.write_text("\n---\n".join(json.dumps(each) for each in objects(fleet, named or {})))
    return str(path)


def broken(fleet: Fleet) -> set[tuple[str, str]]:
    """The rules whose errors say that capacity is short, with the resource."""
    with TemporaryDirectory() as folder:
        found = audit([written(fleet, folder)]).findings
    errors = [f for f in found if f.severity == "error" and f.rule is not None and f.rule.id in CAPACITY]
    return {(f.rule.id, str(f.data.get("resource", ""))) for f in errors if f.rule is not None}


def verdicts(fleet: Fleet) -> dict[str, Verdict]:
    with TemporaryDirectory() as folder:
        return {v.workload.name: v for _, v in admit([written(fleet, folder)], []).verdicts}


@settings(max_examples=30)
@given(fleet=FLEET, which=st.sampled_from(POOLS))
def test_one_more_node_breaks_no_quota_and_no_workload(fleet: Fleet, which: str) -> None:
    name = which if which in fleet.pools else next(iter(fleet.pools))
    pool = fleet.pools[name]
    grown = fleet._replace(pools={**fleet.pools, name: pool._replace(least=pool.least + 1)})
    assert {e for e in broken(grown) if e[0] == "QC101"} <= broken(fleet)
    before, after = verdicts(fleet), verdicts(grown)
    assert not [job for job, verdict in before.items() if verdict.runs and after[job].runs is False]


@settings(max_examples=30)
@given(fleet=FLEET, which=st.sampled_from(TEAMS), less=st.integers(1, 10))
def test_less_quota_exceeds_nothing(fleet: Fleet, which: str, less: int) -> None:
    name = which if which in fleet.teams else next(iter(fleet.teams))
    team = fleet.teams[name]
    lowered = fleet._replace(teams={**fleet.teams, name: team._replace(quota=max(0, team.quota - less))})
    assert {e for e in broken(lowered) if e[0] == "QC101"} <= broken(fleet)
    now = verdicts(lowered)
    assert not [
        job for job, v in verdicts(fleet).items() if v.decision.admitted is False and now[job].decision.admitted
    ]


@settings(max_examples=30)
@given(fleet=FLEET, order=st.permutations(range(12)))
def test_names_mean_nothing(fleet: Fleet, order: list[int]) -> None:
    flavors = [f"on-{f}" for f in (*POOLS[:2], "fast", "slow", "any")]
    old = [*TEAMS, *POOLS, *flavors[:5], "all"]
    named = {name: f"n{number:02}" for name, number in zip(old, order, strict=True)}
    named |= {f"job-{team}": f"job-{named[team]}" for team in TEAMS}
    with TemporaryDirectory() as first, TemporaryDirectory() as second:
        plain, renamed = (audit([p]) for p in (written(fleet, first), written(fleet, second, named)))
    assert counted(plain.findings) == counted(renamed.findings)


def counted(findings: Any) -> list[tuple[str, str]]:
    return sorted((f.rule.id, str(f.severity)) for f in findings)
