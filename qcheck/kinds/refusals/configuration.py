"""Values of the manager's Configuration that keep it from starting: CFG-V of the catalogue (pkg/config of Kueue)."""

from __future__ import annotations

from qcheck.cluster import kueue_gates as gate_table
from qcheck.cluster.labels import LabelSelector, Requirement
from qcheck.cluster.nearest import nearest
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.kinds.refusals.queues import amount
from qcheck.kinds.refusals.selectors import label_selector
from qcheck.kinds.refusals.target import refuse
from qcheck.kinds.schema.failure import show
from qcheck.kinds.schema.formats import subdomain_fault, value_fault

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.documents.cursor import Cursor
    from qcheck.kinds.refusals.target import Target
    from qcheck.kinds.schema.failure import Failure

FRAMEWORKS = {
    "batch/job": "Job.v1.batch",
    "kubeflow.org/mpijob": "MPIJob.v2beta1.kubeflow.org",
    "ray.io/rayjob": "RayJob.v1.ray.io",
    "ray.io/raycluster": "RayCluster.v1.ray.io",
    "ray.io/rayservice": "RayService.v1.ray.io",
    "jobset.x-k8s.io/jobset": "JobSet.v1alpha2.jobset.x-k8s.io",
    "kubeflow.org/paddlejob": "PaddleJob.v1.kubeflow.org",
    "kubeflow.org/pytorchjob": "PyTorchJob.v1.kubeflow.org",
    "kubeflow.org/tfjob": "TFJob.v1.kubeflow.org",
    "kubeflow.org/xgboostjob": "XGBoostJob.v1.kubeflow.org",
    "kubeflow.org/jaxjob": "JAXJob.v1.kubeflow.org",
    "trainer.kubeflow.org/trainjob": "TrainJob.v1alpha1.trainer.kubeflow.org",
    "workload.codeflare.dev/appwrapper": "AppWrapper.v1beta2.workload.codeflare.dev",
    "sparkoperator.k8s.io/sparkapplication": "SparkApplication.v1beta2.sparkoperator.k8s.io",
    "pod": "Pod.v1.",
    "deployment": "Deployment.v1.apps",
    "statefulset": "StatefulSet.v1.apps",
    "leaderworkerset.x-k8s.io/leaderworkerset": "LeaderWorkerSet.v1.leaderworkerset.x-k8s.io",
}
"""Built-in integrations and the kind of each."""
PROFILES = ("TASProfileMixed", "TASProfileMostFreeCapacity", "TASProfileLeastFreeCapacity")
STRATEGIES = ("LessThanOrEqualToFinalShare", "LessThanInitialShare")
_NAME = "kubernetes.io/metadata.name"


def configuration(root: Cursor, target: Target) -> Iterator[Failure]:
    yield from _certificates(root["internalCertManagement"])
    yield from _waiting(root["waitForPodsReady"])
    yield from _integrations(root["integrations"])
    yield from _namespaces(root)
    yield from _multikueue(root["multiKueue"])
    yield from _fair_sharing(root["fairSharing"], root["admissionFairSharing"])
    yield from _resources(root["resources"])
    yield from _gates(root["featureGates"], target)


def _certificates(at: Cursor) -> Iterator[Failure]:
    for field in ("webhookServiceName", "webhookSecretName"):
        name = at[field].text()
        if at["enable"].data is not False and name is not None and (fault := subdomain_fault(name)):
            yield refuse(at[field], "CFG-V11", f"Invalid value: {show(name)}: {fault}")


def _waiting(at: Cursor) -> Iterator[Failure]:
    for field in ("backoffLimitCount", "backoffBaseSeconds", "backoffMaxSeconds"):
        value = at["requeuingStrategy"][field]
        if (value.integer() or 0) < 0:
            yield refuse(value, "CFG-V01", f"Invalid value: {value.data}: must be greater than or equal to 0")


def _integrations(at: Cursor) -> Iterator[Failure]:
    seen: dict[str | None, Cursor] = {}
    for name in at["frameworks"].items():
        if isinstance(name.data, str) and name.data not in FRAMEWORKS:
            near = nearest(name.data, FRAMEWORKS)
            text = f"Unsupported value: {show(name.data)}: is no built-in integration of Kueue"
            yield refuse(name, "CFG-V02", text, f"write {near}" if near else "")
        yield from _again(name, seen, "CFG-V02")
    yield from _external(at["externalFrameworks"].items(), "CFG-V03")


def _external(names: list[Cursor], check: str) -> Iterator[Failure]:
    seen: dict[str | None, Cursor] = {}
    for name in names:
        if not isinstance(name.data, str):
            continue
        kind, _, rest = name.data.partition(".")
        version, _, group = rest.partition(".")
        if not (kind and version and group):
            yield refuse(name, check, f"Invalid value: {show(name.data)}: must be Kind.version.group")
        elif name.data in FRAMEWORKS.values():
            yield refuse(name, check, f"Duplicate value: {show(name.data)}: is built in")
        yield from _again(name, seen, check)


def _again(name: Cursor, seen: dict[str | None, Cursor], check: str) -> Iterator[Failure]:
    first = seen.setdefault(name.text(), name)
    if first is not name and name.text() is not None:
        yield refuse(name, check, f"Duplicate value: {show(name.data)}", related=(first.route,))


def _namespaces(root: Cursor) -> Iterator[Failure]:
    selector = root["managedJobsNamespaceSelector"]
    uses_pods = "pod" in [f.text() for f in root["integrations"]["frameworks"].items()]
    check = "CFG-V04" if uses_pods else "CFG-V05"
    yield from label_selector(selector, check)
    if not isinstance(selector.data, dict):
        return
    found = LabelSelector(
        {k: v.data for k, v in selector["matchLabels"].mapping() if isinstance(v.data, str)},
        tuple(
            Requirement(
                e["key"].text() or "", e["operator"].text() or "", tuple(v.text() or "" for v in e["values"].items())
            )
            for e in selector["matchExpressions"].items()
        ),
    )
    own = root["namespace"].text() or _own_namespace(found)
    for name in ("kube-system", own):
        if found.matches({_NAME: name}):
            text = f"Invalid value: must not match the namespace {name}"
            yield refuse(selector, check, text, f"exclude it by {_NAME}: operator NotIn, values [kube-system, {own}]")
            return


def _own_namespace(selector: LabelSelector) -> str:
    """Where Kueue runs if the Configuration does not say: as a rule the selector leaves out that namespace."""
    named = [v for e in selector.expressions if e.key == _NAME for v in e.values if "kueue" in v]
    return named[0] if named else "kueue-system"


def _multikueue(at: Cursor) -> Iterator[Failure]:
    origin = at["origin"]
    if origin.text() is not None and (fault := value_fault(origin.text() or "")):
        yield refuse(origin, "CFG-V06", f"Invalid value: {show(origin.data)}: {fault}")
    yield from _external([f["name"] for f in at["externalFrameworks"].items()], "CFG-V06")
    steps = at["incrementalDispatcherConfig"]
    is_incremental = at["dispatcherName"].text() == "kueue.x-k8s.io/multikueue-dispatcher-incremental"
    if steps.exists and not is_incremental:
        yield refuse(steps, "CFG-V06", "Invalid value: only with the incremental dispatcher", on_key=True)
    elif steps["stepSize"].integer() is not None and (steps["stepSize"].integer() or 0) < 1:
        yield refuse(steps["stepSize"], "CFG-V06", f"Invalid value: {steps['stepSize'].data}: must be at least 1")


def _fair_sharing(fair: Cursor, admission: Cursor) -> Iterator[Failure]:
    strategies = fair["preemptionStrategies"]
    found = tuple(s.text() for s in strategies.items())
    if (
        strategies.exists
        and set(found) <= set(STRATEGIES)
        and found not in ((STRATEGIES[0],), (STRATEGIES[1],), STRATEGIES)
    ):
        text = f"Unsupported value: must be [{STRATEGIES[0]}], [{STRATEGIES[1]}], or both in this order"
        yield refuse(strategies, "CFG-V07", text)
    sampling = admission["usageSamplingInterval"]
    if admission.exists and sampling.text() is not None and not (sampling.text() or "").strip("0.nuµmsh"):
        yield refuse(sampling, "CFG-V08", f"Invalid value: {show(sampling.data)}: must be greater than 0")
    for _, weight in admission["resourceWeights"].mapping():
        if isinstance(weight.data, (int, float)) and weight.data < 0:
            yield refuse(weight, "CFG-V08", f"Invalid value: {weight.data}: must be greater than or equal to 0")


def _resources(at: Cursor) -> Iterator[Failure]:
    inputs: dict[str | None, Cursor] = {}
    for entry in at["transformations"].items():
        if entry["input"].text():
            yield from _again(entry["input"], inputs, "CFG-V09")
        for _, value in entry["outputs"].mapping():
            quantity = amount(value)
            if quantity is not None and quantity.nanos < 0:
                yield refuse(value, "CFG-V09", f"Invalid value: {show(quantity.text)}: must not be negative")
    yield from _device_classes(at["deviceClassMappings"])
    prefixes, strategy = at["excludeResourcePrefixes"], at["quotaCheckStrategy"]
    if strategy.text() == "IgnoreUndeclared" and prefixes.data:
        text = "Invalid value: IgnoreUndeclared does not go with excludeResourcePrefixes"
        yield refuse(strategy, "CFG-V13", text, related=(prefixes.route,))


def _device_classes(at: Cursor) -> Iterator[Failure]:
    mappings = at.items()
    names: dict[str | None, Cursor] = {}
    classes: dict[str | None, Cursor] = {}
    if len(mappings) > 16:
        yield refuse(at, "CFG-V10", f"Too many: {len(mappings)}: must have at most 16 items")
    for mapping in mappings:
        if mapping["name"].text():
            yield from _again(mapping["name"], names, "CFG-V10")
        listed = mapping["deviceClassNames"].items()
        if isinstance(mapping["deviceClassNames"].data, list) and not 1 <= len(listed) <= 8:
            text = f"Invalid value: has {len(listed)} items, must have from 1 to 8"
            yield refuse(mapping["deviceClassNames"], "CFG-V10", text)
        for name in listed:
            if name.text() and (fault := subdomain_fault((name.text() or "").replace("/", "."))):
                yield refuse(name, "CFG-V10", f"Invalid value: {show(name.data)}: {fault}")
            if not mapping["sources"].exists:
                yield from _again(name, classes, "CFG-V10")


def _gates(at: Cursor, target: Target) -> Iterator[Failure]:
    on = {name for name, value in at.mapping() if value.data is True}
    for name, value in at.mapping():
        stage = gate_table.stage(name, target.release)
        if stage is None:
            yield refuse(
                value, "CFG-V14", f"Invalid value: unrecognized feature gate: {name}", _gate_hint(name, target), True
            )
        elif stage == "g" and value.data is False:
            yield refuse(value, "CFG-V14", f"Invalid value: {name} is locked to true in this release")
        for needed in gate_table.needed_by(name) if value.data is True else ():
            if at[needed].data is False or (needed not in on and not target.has_gate(needed)):
                yield refuse(
                    value,
                    "CFG-V14",
                    f"Invalid value: {name} needs {needed}",
                    related=(at[needed].route,) if at[needed].exists else (),
                )
    profiles = [p for p in PROFILES if p in on]
    if len(profiles) > 1:
        text = f"Invalid value: at most one TAS profile can be on: {', '.join(profiles)}"
        yield refuse(at[profiles[1]], "CFG-V14", text, related=(at[profiles[0]].route,))


def _gate_hint(name: str, target: Target) -> str:
    known = gate_table.gates()
    if name in known:
        when = "later" if known[name][0][0] > target.release else "earlier"
        return f"only {when} releases of Kueue have it: remove it"
    near = nearest(name, known)
    return f"write {near}" if near else ""
