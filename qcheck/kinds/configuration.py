"""The manager's Configuration: a document, text in the ConfigMap `kueue-manager-config`, or a string in Helm values."""

from __future__ import annotations

from qcheck.cluster.kueue_configuration import Configuration, DeviceClassMapping, Transformation
from qcheck.cluster.place import Place
from qcheck.cluster.problems import Problem, ProblemCode
from qcheck.cluster.value import TYPE_CHECKING, replace
from qcheck.documents.cursor import Cursor, root
from qcheck.documents.embedded import NotYaml, embedded_roots
from qcheck.kinds.schema.catalogue import CONFIG
from qcheck.kinds.shared_fields import label_selector, place, quantities, text_list
from qcheck.kinds.validate import validate
from qcheck.kinds.validation.target import Target

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qcheck.documents.document import Document
    from qcheck.kinds.schema.catalogue import Release

MARK = "config.kueue.x-k8s.io/"


def read_configuration(documents: Iterable[Document], release: Release) -> tuple[Configuration | None, list[Problem]]:
    """Return the Configuration of a cluster (the first one found), and the problems of those inside other objects.

    A Configuration that is a document of its own is validated like every object. If they differ, it is open which one
    the manager gets.
    """
    read: list[Configuration] = []
    problems: list[Problem] = []
    for document in documents:
        found, unreadable = find(document)
        problems += unreadable
        for at in found:
            if at.document is not document:
                problems += validate(at, Target(release))
            read.append(decode(at, release))
    if not read:
        return None, problems
    first, *others = read
    return replace(first, is_contested=any(replace(o, place=first.place) != first for o in others)), problems


def find(document: Document) -> tuple[list[Cursor], list[Problem]]:
    """Return the Configurations in a document, and a problem for each string of one that is not valid YAML."""
    top = root(document)
    if _is_configuration(top):
        return [top], []
    if isinstance(top["tests"].data, list):  # a helm-unittest suite, with values for testing a chart
        return [], []
    found: list[Cursor] = []
    problems: list[Problem] = []
    for text, inner in embedded_roots(top, lambda text: MARK in text):
        if isinstance(inner, NotYaml):
            message = f"the manager's Configuration is not valid YAML: {inner}"
            problems.append(Problem(ProblemCode.CONFIGURATION_REJECTED, place(text), message, data={"check": "YAML"}))
        elif _is_configuration(inner):
            found.append(inner)
    return found, problems


def _is_configuration(at: Cursor) -> bool:
    return (at["apiVersion"].text() or "").startswith(MARK)


def decode(at: Cursor, release: Release) -> Configuration:
    """Return the parts of a Configuration that affect queues, with the manager's defaults."""
    version = (at["apiVersion"].text() or "").removeprefix(f"{CONFIG}/")
    integrations, resources = at["integrations"], at["resources"]
    fair = at["fairSharing"]
    frameworks = integrations["frameworks"]
    return Configuration(
        version=version,
        place=Place(at.document, at.route),
        frameworks=text_list(frameworks) or ("batch/job",),
        external_frameworks=text_list(integrations["externalFrameworks"]),
        manage_without_queue_name=at["manageJobsWithoutQueueName"].boolean() or False,
        managed_namespaces=label_selector(at["managedJobsNamespaceSelector"]),
        namespace=at["namespace"].text() or "kueue-system",
        waits_for_pods_ready=_waits_for_pods_ready(at, version, release),
        fair_sharing=bool(fair["enable"].boolean()) if version == "v1beta1" else fair.exists,
        preemption_strategies=text_list(fair["preemptionStrategies"]),
        admission_fair_sharing=at["admissionFairSharing"].exists,
        usage_half_life=at["admissionFairSharing"]["usageHalfLifeTime"].text(),
        usage_sampling=at["admissionFairSharing"]["usageSamplingInterval"].text(),
        ignore_undeclared=resources["quotaCheckStrategy"].text() == "IgnoreUndeclared",
        exclude_prefixes=text_list(resources["excludeResourcePrefixes"]),
        transformations=tuple(_transformation(t) for t in resources.items_at("transformations")),
        device_classes=tuple(_device_class(m) for m in resources.items_at("deviceClassMappings")),
        feature_gates=at["featureGates"].booleans(),
    )


def _waits_for_pods_ready(root: Cursor, version: str, release: Release) -> bool:
    """Return whether the manager waits for the pods of workloads that it admits; the default depends on the version."""
    at = root["waitForPodsReady"]
    if version == "v1beta1":
        return bool(at["enable"].boolean())
    is_left_out = release < (0, 19) or root["featureGates"]["DisableWaitForPodsReady"].data is True
    return at.exists or not is_left_out


def _transformation(at: Cursor) -> Transformation:
    return Transformation(
        input=at["input"].text() or "",
        is_replaced=at["strategy"].text() == "Replace",
        outputs=quantities(at["outputs"]),
        multiply_by=at["multiplyBy"].text() or None,
        place=place(at),
    )


def _device_class(at: Cursor) -> DeviceClassMapping:
    return DeviceClassMapping(at["name"].text() or "", text_list(at["deviceClassNames"]), place(at))
