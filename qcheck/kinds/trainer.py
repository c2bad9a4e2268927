"""Group `trainer.kubeflow.org`: TrainJob and the runtimes that it refers to.

A TrainJob has no pod template of its own; `qcheck.cluster.workload_parts` combines it with its runtime.
"""

from __future__ import annotations

from qcheck.cluster import workloads
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.kinds.core import pod_set, queued
from qcheck.kinds.pod_sets import replicated_job
from qcheck.kinds.shared_fields import metadata, node_selection, object_id, place, quantities, tolerations

if TYPE_CHECKING:
    from collections.abc import Callable

    from qcheck.cluster.objects import Object
    from qcheck.documents.cursor import Cursor

_STEP = "trainer.kubeflow.org/trainjob-ancestor-step"


def train_job(root: Cursor) -> Object:
    spec = root["spec"]
    reference, trainer = spec["runtimeRef"], spec["trainer"]
    recipe = workloads.TrainRecipe(
        runtime=reference["name"].text() or "",
        runtime_kind=reference["kind"].text() or "ClusterTrainingRuntime",
        nodes=trainer["numNodes"].count(),
        nodes_place=place(trainer["numNodes"]),
        requests=quantities(trainer["resourcesPerNode"]["requests"]),
        limits=quantities(trainer["resourcesPerNode"]["limits"]),
        overrides=tuple(_override(o) for o in spec.items_at("podTemplateOverrides")),
    )
    framework = "trainer.kubeflow.org/trainjob"
    return queued(root, framework, root, (), recipe=recipe)


def _override(at: Cursor) -> workloads.TemplateOverride:
    return workloads.TemplateOverride(
        jobs=tuple(name for j in at.items_at("targetJobs") if (name := j["name"].text())),
        selection=node_selection(at["spec"]),
        tolerations=tolerations(at["spec"]["tolerations"]),
    )


def training_runtime(root: Cursor) -> Object:
    spec = root["spec"]
    jobs = spec["template"]["spec"].items_at("replicatedJobs")
    steps = tuple(metadata(j["template"])[0].get(_STEP) for j in jobs)
    return workloads.TrainingRuntime(
        object_id(root),
        place(root),
        *metadata(root),
        pod_sets=tuple(pod_set(replicated_job(j)) for j in jobs),
        trainer=tuple(index for index, step in enumerate(steps) if step == "trainer"),
        nodes=spec["mlPolicy"]["numNodes"].count(),
    )


DECODERS: dict[str, Callable[[Cursor], Object]] = {
    "TrainJob": train_job,
    "TrainingRuntime": training_runtime,
    "ClusterTrainingRuntime": training_runtime,
}
