"""`drift`: a cluster as its files say has none, and each single change of it is one difference."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import running_fleet
from running_fleet import Object
from standin_kubectl import install

from qcheck.api import drift
from qcheck.cli.entrypoint import run
from qcheck.kinds.snapshot.needed import needed
from qcheck.pipeline.drift import COMPARED
from qcheck.pipeline.live import Live
from qcheck.reports.drift import render_json, render_text
from qcheck.reports.drift_schema import json_schema
from qcheck.settings import Settings

Route = tuple[str | int, ...]
CLUSTER = running_fleet.running()


def live(objects: list[Object]) -> Live:
    by_kind: dict[str, list[Object]] = {}
    for each in objects:
        by_kind.setdefault(each["kind"], []).append(each)
    return Live(needed(by_kind))


def differences(objects: list[Object]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(render_json(drift([str(running_fleet.FLEET)], live(objects), Settings())))
    return found


def count(found: dict[str, Any]) -> int:
    return sum(len(found[key]) for key in ("onlyInFiles", "onlyLive", "changed", "nodes"))


def is_compared(found: Object) -> bool:
    return (found["apiVersion"].rpartition("/")[0], found["kind"]) in COMPARED


def leaves(value: object, route: Route = ()) -> Iterator[Route]:
    if isinstance(value, dict):
        for key in value:
            yield from leaves(value[key], (*route, key))
    elif isinstance(value, list):
        for at in range(len(value)):
            yield from leaves(value[at], (*route, at))
    else:
        yield route


def edit(objects: list[Object], at: int, route: Route) -> None:
    """Changes one value of one object."""
    holder: Any = objects[at]
    for step in route[:-1]:
        holder = holder[step]
    old = holder[route[-1]]
    holder[route[-1]] = str(int(old) + 1) if str(old).isdigit() else not old if isinstance(old, bool) else "another"


def remove(objects: list[Object], at: int) -> None:
    objects.pop(at)


def mutations() -> Iterator[tuple[str, Callable[[list[Object]], object]]]:
    """Changes of single values, objects and nodes, each with a name."""
    for at, each in enumerate(CLUSTER):
        if not is_compared(each) or each["metadata"]["name"].startswith("system-"):
            continue
        name = f"{each['kind']}/{each['metadata']['name']}"
        skipped = ("status", "metadata", "apiVersion", "kind", "description")
        if each["kind"] != "DaemonSet":
            for route in leaves({k: v for k, v in each.items() if k not in skipped}):
                yield f"{name}/{'.'.join(map(str, route))}", partial(edit, at=at, route=route)
        yield f"{name}/removed", partial(remove, at=at)
    node = next(i for i, o in enumerate(CLUSTER) if o["kind"] == "Node")
    for route in (
        ("metadata", "labels", "fleet.example/accelerator"),
        ("spec", "taints", 0, "value"),
        ("status", "allocatable", "nvidia.com/gpu"),
        ("status", "allocatable", "cpu"),
    ):
        yield f"node/{route[-1]}", partial(edit, at=node, route=route)
    yield "node/removed", lambda o: o.pop(node)
    yield "node/added", lambda o: o.append({**o[node], "metadata": {**o[node]["metadata"], "name": "one-more"}})
    queue = next(o for o in CLUSTER if o["kind"] == "ClusterQueue")
    yield "ClusterQueue/added", lambda o: o.append({**queue, "metadata": {"name": "one-more"}})
    daemon_set = next(i for i, o in enumerate(CLUSTER) if o["kind"] == "DaemonSet")
    yield "DaemonSet/selector", lambda o: o[daemon_set]["spec"]["template"]["spec"].update(nodeSelector={"a": "b"})


MUTATIONS = dict(mutations())


def test_there_are_enough_mutations() -> None:
    assert len(MUTATIONS) >= 50


def test_a_cluster_as_its_files_say_has_no_drift() -> None:
    found = drift([str(running_fleet.FLEET)], live(CLUSTER), Settings())
    assert render_text(found) == "no differences\n"
    assert found.exit_code == 0


@pytest.mark.parametrize("name", MUTATIONS)
def test_one_change_is_one_difference(name: str) -> None:
    changed = copy.deepcopy(CLUSTER)
    MUTATIONS[name](changed)
    found = differences(changed)
    assert count(found) == 1, found


def test_jobs_pods_and_secrets_are_not_compared() -> None:
    job = next(o for o in CLUSTER if o["kind"] == "Job")
    extra = [
        {**job, "metadata": {"name": "another", "namespace": "x"}},
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "x"}, "spec": {"containers": []}},
    ]
    assert count(differences([*CLUSTER, *extra])) == 0


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.chdir(running_fleet.FLEET)
    return tmp_path


def test_the_command_tells_by_its_exit_code(here: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    install(here / "bin", CLUSTER)
    assert run(["drift", "--live"]) == 0
    install(here / "bin", CLUSTER[:-8])
    assert run(["drift", ".", "--live"]) == 1
    assert b"pool h100" in capsysbinary.readouterr().out


def test_what_may_not_be_listed_is_not_missing(here: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    install(here / "bin", CLUSTER, forbidden=["ClusterQueue", "Node"])
    assert run(["drift", "--live", "--format", "json"]) == 2
    told = capsysbinary.readouterr()
    assert count(json.loads(told.out)) == 0
    assert b"live:ClusterQueue" in told.err


def test_only_configuration_is_asked_for(here: Path) -> None:
    install(here / "bin", CLUSTER)
    run(["drift", "--live"])
    asked = (here / "bin" / "calls.txt").read_text()
    assert "nodes" in asked
    assert "pods" not in asked
    assert "jobs" not in asked


def test_it_needs_a_cluster(here: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert run(["drift"]) == 2
    assert b"--live" in capsysbinary.readouterr().err


def test_an_older_version_in_the_files_is_no_difference(tmp_path: Path) -> None:
    queue = next(o for o in CLUSTER if o["kind"] == "ClusterQueue" and "cohortName" in o["spec"])
    old = copy.deepcopy(queue)
    old["apiVersion"] = "kueue.x-k8s.io/v1beta1"
    old["spec"]["cohort"] = old["spec"].pop("cohortName")
    old["spec"]["flavorFungibility"]["whenCanBorrow"] = "Borrow"
    (tmp_path / "queue.json").write_text(json.dumps(old))
    assert render_text(drift([str(tmp_path)], live([queue]), Settings())) == "no differences\n"


def test_the_report_is_as_its_schema_says() -> None:
    for name in ("node/cpu", "ClusterQueue/added", "node/removed", "DaemonSet/selector"):
        changed = copy.deepcopy(CLUSTER)
        MUTATIONS[name](changed)
        jsonschema.validate(differences(changed), json_schema())


def test_a_pool_without_labels_has_the_nodes_like_its_machines(tmp_path: Path) -> None:
    pool = {
        "apiVersion": "qcheck.dev/v1",
        "kind": "NodePool",
        "metadata": {"name": "cpu"},
        "spec": {"count": 1, "allocatable": {"cpu": "4", "memory": "8Gi"}},
    }
    figures = {"cpu": "4", "memory": "8Gi", "pods": "110"}
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": figures}}
    head = {"apiVersion": "v1", "kind": "Node", "status": {"allocatable": figures}}
    head["metadata"] = {"name": "head", "labels": {"node-role.kubernetes.io/control-plane": ""}}
    (tmp_path / "pool.json").write_text(json.dumps(pool))
    assert render_text(drift([str(tmp_path)], live([node, head]), Settings())) == "no differences\n"
