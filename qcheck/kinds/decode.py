"""Turns documents into manifests: selects the decoder for each group and kind."""

from __future__ import annotations

import re
from importlib import import_module

from qcheck.cluster.objects import Other
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.documents.cursor import root
from qcheck.kinds import core, kueue
from qcheck.kinds.shared_fields import metadata, object_id, place

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from qcheck.cluster.objects import Object
    from qcheck.documents.cursor import Cursor
    from qcheck.documents.document import Document


MODULES: dict[str, tuple[str, tuple[str, ...]]] = {
    "ray.io": ("ray", ("RayCluster", "RayJob", "RayService")),
    "kubeflow.org": ("kubeflow", ("PyTorchJob", "TFJob", "XGBoostJob", "PaddleJob", "JAXJob", "MPIJob")),
    "trainer.kubeflow.org": ("trainer", ("TrainJob", "TrainingRuntime", "ClusterTrainingRuntime")),
    "workload.codeflare.dev": ("appwrapper", ("AppWrapper",)),
    "sparkoperator.k8s.io": ("spark", ("SparkApplication",)),
    "scheduling.run.ai": ("kai", ("Queue", "PodGroup")),
    "kai.scheduler": ("kai", ("SchedulingShard", "Topology", "Config")),
    "autoscaling": ("autoscaling", ("HorizontalPodAutoscaler",)),
    "keda.sh": ("autoscaling", ("ScaledObject",)),
    "kyverno.io": ("kyverno", ("Policy", "ClusterPolicy")),
    "scheduling.volcano.sh": ("volcano", ("Queue", "PodGroup")),
    "batch.volcano.sh": ("volcano", ("Job", "CronJob")),
    "topology.volcano.sh": ("volcano", ("HyperNode",)),
    "flow.volcano.sh": ("volcano", ("JobFlow", "JobTemplate")),
}
"""Groups of frameworks, of other schedulers, and of controllers that create objects.

Each maps to the module that reads it, imported on first use, and its kinds.
"""


POD_TEMPLATE = r"(?i)pod[-_]?template[^/]*$"
"""File names of pod templates for `spark.kubernetes.driver.podTemplateFile`."""
DEFINITIONS, DEFINITION = "apiextensions.k8s.io", "CustomResourceDefinition"
"""The API group and the kind of CustomResourceDefinitions."""
EVENT = ("", "Event")
"""The kind of kube-scheduler's events about pods, which are part of a cluster's state."""


def decoder(group: str, kind: str) -> Callable[[Cursor], Object] | None:
    """Return the decoder of a kind, determined by group and kind; None for kinds that are not in the model."""
    if group == kueue.GROUP:
        return kueue.DECODERS.get(kind)
    module, kinds = MODULES.get(group, ("", ()))
    if kind in kinds:
        decoders: dict[str, Callable[[Cursor], Object]] = import_module(f"qcheck.kinds.{module}").DECODERS
        return decoders[kind]
    return core.DECODERS.get((group, kind))


def recognises(api_version: str, kind: str) -> bool:
    """Return whether documents of this apiVersion and kind are read; others need not even be parsed."""
    group = api_version.rpartition("/")[0]
    return group in (kueue.GROUP, DEFINITIONS) or (group, kind) == EVENT or decoder(group, kind) is not None


def is_definition(root: Cursor) -> bool:
    """Return whether an object defines a kind."""
    return root.text_at("kind") == DEFINITION and root.text_at("apiVersion").startswith(f"{DEFINITIONS}/")


def mentions_configuration(text: str) -> bool:
    """Return whether a text may contain the manager's Configuration, including in a ConfigMap or Helm values."""
    return "config.kueue.x-k8s.io/" in text


def mentions_install(text: str) -> bool:
    """Return whether a text may install Kueue's manager: its Deployment, or its chart."""
    return (
        "kueue-controller-manager" in text
        or "kubernetes-sigs/kueue" in text
        or ("kueue" in text and ("featureGates" in text or "argoproj.io/" in text or "helm.toolkit.fluxcd.io/" in text))
    )


def mentions_layouts(text: str) -> bool:
    """Return whether a text may contain MIG layouts, including in a ConfigMap or Helm values."""
    return "mig-configs:" in text


def mentions_volcano_scheduler(text: str) -> bool:
    """Return whether a text may contain a configuration of Volcano's scheduler, including in Helm values."""
    return "tiers:" in text and "plugins:" in text and "actions:" in text


def mentions_settings(text: str) -> bool:
    """Return whether a text may contain settings of a controller that qcheck reads."""
    return mentions_configuration(text) or mentions_layouts(text) or mentions_volcano_scheduler(text)


def roots(document: Document) -> Iterator[Cursor]:
    """Yield the objects of a document: itself, or the items of a List or list.

    A file that Spark completes to pods has none.
    """
    whole = root(document)
    kind = whole["kind"].text() or ""
    if kind == "Pod" and re.search(POD_TEMPLATE, document.path) and _is_partial(whole["spec"]):
        return
    if kind.endswith("List") and isinstance(whole["items"].data, list):
        yield from whole.items_at("items")
    elif isinstance(whole.data, list):
        yield from whole.items()
    else:
        yield whole


def is_of_cluster(data: object) -> bool:
    """Return whether an API server wrote part of an object. Takes plain data, because it is called for every object."""
    if not isinstance(data, dict):
        return False
    metadata = data.get("metadata")
    return data.get("status") is not None or (
        isinstance(metadata, dict) and metadata.get("ownerReferences") is not None
    )


def _is_partial(spec: Cursor) -> bool:
    containers = spec.items_at("containers")
    return not containers or not all(each["image"].exists for each in containers)


def decode(root: Cursor) -> Object | None:
    """Return the object of a document: an `Other` if its kind is not in the model, None if it is not an object."""
    group, _, version = root.text_at("apiVersion").rpartition("/")
    kind = root.text_at("kind")
    if not kind or not version:
        return None
    read = decoder(group, kind)
    if read is None:
        return Other(object_id(root), place(root), *metadata(root))
    return read(root)
