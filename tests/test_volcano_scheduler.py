"""Where the configuration of Volcano's scheduler is read from, and what is made of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from qcheck.cluster.volcano import DEFAULT_SCHEDULER, VolcanoScheduler
from qcheck.pipeline.gather import gather
from qcheck.schedulers.volcano.queues import queues_of
from qcheck.settings import Settings
from qcheck.settings.load import load_settings

CAPACITY = """\
actions: "enqueue, allocate, reclaim"
tiers:
- plugins:
  - name: gang
- plugins:
  - name: capacity
    enableHierarchy: true
  - name: nodegroup
    arguments: {strict: false}
"""
PROPORTION = 'actions: "allocate, preempt"\ntiers:\n- plugins:\n  - name: proportion\n'
QUEUE = "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: a}\n"


def indented(text: str, by: int) -> str:
    return "".join(" " * by + line + "\n" for line in text.splitlines())


def config_map(text: str, key: str = "volcano-scheduler.conf", name: str = "c") -> str:
    head = f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: v}}\n"
    return f"{head}data:\n  {key}: |\n{indented(text, 4)}"


def scheduler(folder: Path, files: dict[str, str]) -> VolcanoScheduler:
    for name, text in {"queue.yaml": QUEUE, **files}.items():
        (folder / name).write_text(text, encoding="utf-8")
    settings = load_settings(str(folder)) if "qcheck.yaml" in files else Settings()
    (cluster,) = gather([str(folder)], settings).clusters
    assert not [p.message for p in cluster.problems]
    return queues_of(cluster).scheduler


@pytest.mark.parametrize(
    "text",
    [CAPACITY, config_map(CAPACITY), f"custom:\n  scheduler_config_override: |\n{indented(CAPACITY, 4)}"],
    ids=["bare", "ConfigMap", "Helm values"],
)
def test_it_is_read_wherever_it_stands(text: str, tmp_path: Path) -> None:
    found = scheduler(tmp_path, {"scheduler.yaml": text})
    assert (found.actions, found.by_capacity, found.by_weight, found.hierarchy) == (
        ("enqueue", "allocate", "reclaim"),
        True,
        False,
        True,
    )
    assert [(p.name, p.tier) for p in found.plugins] == [("gang", 0), ("capacity", 1), ("nodegroup", 1)]
    assert (found.reclaims, found.preempts) == (True, False)
    assert found.place is not None


def test_the_key_of_the_scheduler_counts_before_others(tmp_path: Path) -> None:
    files = {"a.yaml": config_map(PROPORTION, "other.conf", "d"), "b.yaml": config_map(CAPACITY), "c.yaml": PROPORTION}
    assert scheduler(tmp_path, files).by_capacity


def test_settings_name_the_one_that_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    files = {
        "a.yaml": config_map(CAPACITY),
        "b.yaml": PROPORTION,
        "qcheck.yaml": "version: 1\nvolcano: {scheduler: b.yaml}\n",
    }
    found = scheduler(tmp_path, files)
    assert (found.by_weight, found.preempts, found.reclaims) == (True, True, False)


def test_without_one_the_default_of_the_chart_holds(tmp_path: Path) -> None:
    found = scheduler(tmp_path, {})
    assert found is DEFAULT_SCHEDULER
    assert found.by_weight
    assert [found.by_capacity, found.reclaims, found.preempts, found.hierarchy] == [False] * 4


def test_an_action_that_does_not_exist_and_broken_yaml_are_told(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(config_map(PROPORTION.replace("preempt", "evict")), encoding="utf-8")
    (tmp_path / "b.yaml").write_text(config_map(PROPORTION + "- plugins: {a: b: c}\n", name="d"), encoding="utf-8")
    (cluster,) = gather([str(tmp_path)], Settings()).clusters
    assert sorted(str(p.data["check"]) for p in cluster.problems) == ["VS-ACTION", "VS-YAML"]
    assert all(p.place.line.startswith(str(tmp_path)) for p in cluster.problems)
