"""Checks of values that keep the manager from starting: CFG-V of the catalogue (pkg/config of Kueue)."""

from __future__ import annotations

from qcheck.cluster import kueue_gates as gate_table
from qcheck.cluster.did_you_mean import nearest
from qcheck.cluster.labels import LabelSelector, Requirement
from qcheck.cluster.objects import NAMESPACE_NAME_LABEL
from qcheck.cluster.value import TYPE_CHECKING, replace
from qcheck.kinds.schema.failure import show
from qcheck.kinds.schema.formats import value_fault
from qcheck.kinds.validation import manager_servers as servers
from qcheck.kinds.validation.manager_devices import device_classes
from qcheck.kinds.validation.selectors import label_selector
from qcheck.kinds.validation.target import refuse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.documents.cursor import Cursor
    from qcheck.kinds.schema.failure import Failure
    from qcheck.kinds.validation.target import Target

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
REMOVED = {"kubeflow.org/mxjob": (0, 11)}
"""Former integrations, with the first release that lacks each (kueue#4077)."""
_WITHOUT_ADAPTER = ("Deployment.v1.apps", "SparkApplication.v1beta2.sparkoperator.k8s.io")
"""Kinds that MultiKueue cannot dispatch itself."""
_ON_PODS = ("deployment", "statefulset", "leaderworkerset.x-k8s.io/leaderworkerset")
_PODS_IMPLIED = (0, 15)
"""The first release that enables the integration `pod` with those that rely on it (kueue#6736)."""
PROFILES = ("TASProfileMixed", "TASProfileMostFreeCapacity", "TASProfileLeastFreeCapacity")
STRATEGIES = ("LessThanOrEqualToFinalShare", "LessThanInitialShare")


def configuration(root: Cursor, target: Target) -> Iterator[Failure]:
    """Check a Configuration, by the feature gates that it sets itself, not by those of another one."""
    target = replace(target, gates=root["featureGates"].booleans())
    yield from servers.certificates(root["internalCertManagement"])
    yield from servers.tls(root["tls"])
    yield from servers.visibility(root["visibilityServer"])
    yield from servers.metric_labels(root["metrics"]["customLabels"])
    yield from _waiting(root["waitForPodsReady"])
    yield from _integrations(root, target)
    yield from _namespaces(root)
    yield from _multikueue(root["multiKueue"], _enabled(root))
    yield from _fair_sharing(root["fairSharing"], root["admissionFairSharing"], is_v1beta2(root))
    yield from _resources(root["resources"], target)
    yield from _gates(root["featureGates"], target)


def _waiting(at: Cursor) -> Iterator[Failure]:
    for field in ("backoffLimitCount", "backoffBaseSeconds", "backoffMaxSeconds"):
        value = at["requeuingStrategy"][field]
        if (value.integer() or 0) < 0:
            yield refuse(value, "CFG-V01", f"Invalid value: {value.data}: must be greater than or equal to 0")


def is_v1beta2(root: Cursor) -> bool:
    return root.text_at("apiVersion").endswith("/v1beta2")


def _enabled(root: Cursor) -> dict[str, Cursor | None]:
    """Return the kinds of the enabled integrations, with the place that lists each; only Jobs if none is listed."""
    listed = root["integrations"].items_at("frameworks")
    on: dict[str, Cursor | None] = {FRAMEWORKS[f.text() or ""]: f for f in listed if f.text() in FRAMEWORKS}
    return on if listed else {FRAMEWORKS["batch/job"]: None}


def _integrations(root: Cursor, target: Target) -> Iterator[Failure]:
    at = root["integrations"]
    seen: dict[str | None, Cursor] = {}
    for name in at.items_at("frameworks"):
        if isinstance(name.data, str) and name.data not in FRAMEWORKS:
            yield from _unknown(name, name.data, target)
        yield from _again(name, seen, "CFG-V02")
    if target.release < _PODS_IMPLIED and "pod" not in seen:
        for name in (seen[n] for n in _ON_PODS if n in seen):
            text = f"Invalid value: {show(name.data)}: needs the integration pod, which is not enabled"
            yield refuse(name, "CFG-V02", text, "add pod to the list")
    yield from _external(at.items_at("externalFrameworks"), _enabled(root), "CFG-V03")


def _unknown(at: Cursor, name: str, target: Target) -> Iterator[Failure]:
    """Refuse an integration that the release does not have."""
    removed = REMOVED.get(name)
    if removed is None:
        near = nearest(name, FRAMEWORKS)
        text = f"Unsupported value: {show(name)}: is not a built-in integration of Kueue"
        yield refuse(at, "CFG-V02", text, f"write {near}" if near else "")
    elif target.release >= removed:
        text = f"Unsupported value: {show(name)}: Kueue {removed[0]}.{removed[1]} removed this integration"
        yield refuse(at, "CFG-V02", text, "remove the line")


def _external(names: list[Cursor], enabled: dict[str, Cursor | None], check: str) -> Iterator[Failure]:
    """Check names of kinds that other controllers queue: none may be one that an integration of Kueue already has."""
    seen: dict[str | None, Cursor] = {}
    for name in names:
        if not isinstance(name.data, str):
            continue
        kind, _, rest = name.data.partition(".")
        version, _, group = rest.partition(".")
        if not (kind and version and group):
            yield refuse(name, check, f"Invalid value: {show(name.data)}: must be Kind.version.group")
        elif name.data in enabled:
            listed = enabled[name.data]
            text = f"Duplicate value: {show(name.data)}: an enabled integration already handles it"
            yield refuse(name, check, text, related=(listed.route,) if listed else ())
        yield from _again(name, seen, check)


def _again(name: Cursor, seen: dict[str | None, Cursor], check: str) -> Iterator[Failure]:
    first = seen.setdefault(name.text(), name)
    if first is not name and name.text() is not None:
        yield refuse(name, check, f"Duplicate value: {show(name.data)}", related=(first.route,))


def _namespaces(root: Cursor) -> Iterator[Failure]:
    selector = root["managedJobsNamespaceSelector"]
    uses_pods = "pod" in [f.text() for f in root["integrations"].items_at("frameworks")]
    check = "CFG-V04" if uses_pods else "CFG-V05"
    yield from label_selector(selector, check)
    if not isinstance(selector.data, dict):
        return
    found = LabelSelector(
        {k: v.data for k, v in selector["matchLabels"].mapping() if isinstance(v.data, str)},
        tuple(
            Requirement(
                e["key"].text() or "", e["operator"].text() or "", tuple(v.text() or "" for v in e.items_at("values"))
            )
            for e in selector.items_at("matchExpressions")
        ),
    )
    own = root["namespace"].text() or _own_namespace(found)
    for name in ("kube-system", own):
        if found.matches({NAMESPACE_NAME_LABEL: name}):
            text = f"Invalid value: must not match the namespace {name}"
            yield refuse(
                selector,
                check,
                text,
                f"exclude it by {NAMESPACE_NAME_LABEL}: operator NotIn, values [kube-system, {own}]",
            )
            return


def _own_namespace(selector: LabelSelector) -> str:
    """Return Kueue's namespace if the Configuration does not name it: usually the selector excludes that namespace."""
    named = [v for e in selector.expressions if e.key == NAMESPACE_NAME_LABEL for v in e.values if "kueue" in v]
    return named[0] if named else "kueue-system"


def _multikueue(at: Cursor, enabled: dict[str, Cursor | None]) -> Iterator[Failure]:
    origin = at["origin"]
    if origin.text() is not None and (fault := value_fault(origin.text() or "")):
        yield refuse(origin, "CFG-V06", f"Invalid value: {show(origin.data)}: {fault}")
    adapted = {kind: at for kind, at in enabled.items() if kind not in _WITHOUT_ADAPTER}
    yield from _external([f["name"] for f in at.items_at("externalFrameworks")], adapted, "CFG-V06")
    yield from _providers(at["clusterProfile"])
    steps = at["incrementalDispatcherConfig"]
    is_incremental = at["dispatcherName"].text() == "kueue.x-k8s.io/multikueue-dispatcher-incremental"
    if steps.exists and not is_incremental:
        yield refuse(steps, "CFG-V06", "Invalid value: only with the incremental dispatcher", on_key=True)
    elif steps["stepSize"].integer() is not None and (steps["stepSize"].integer() or 0) < 1:
        yield refuse(steps["stepSize"], "CFG-V06", f"Invalid value: {steps['stepSize'].data}: must be at least 1")


def _providers(at: Cursor) -> Iterator[Failure]:
    current, old = at["accessProviders"], at["credentialsProviders"]
    if current.items() and old.items():
        yield refuse(old, "CFG-V06", "Forbidden: accessProviders is given", on_key=True, related=(current.route,))
    for provider in current.items() or old.items():
        command = provider["execConfig"]
        wanted = [provider["name"], *(command[f] for f in ("command", "apiVersion", "interactiveMode"))]
        for field in (*wanted, *(e["name"] for e in command.items_at("env"))):
            if not field.text():
                yield refuse(field, "CFG-V06", "Required value: must be specified")


def _fair_sharing(fair: Cursor, admission: Cursor, has_list: bool) -> Iterator[Failure]:
    """Check fair sharing.

    `has_list` is whether the version requires a list of strategies, because it has no default.
    """
    strategies = fair["preemptionStrategies"]
    if has_list and isinstance(strategies.data, list) and not strategies.data:
        yield refuse(strategies, "CFG-V07", "Required value: must be specified")
        return
    found = tuple(s.text() for s in strategies.items())
    if (
        strategies.exists
        and set(found) <= set(STRATEGIES)
        and found not in ((STRATEGIES[0],), (STRATEGIES[1],), STRATEGIES)
    ):
        text = f"Unsupported value: must be [{STRATEGIES[0]}], [{STRATEGIES[1]}], or both in this order"
        yield refuse(strategies, "CFG-V07", text)
    sampling = admission["usageSamplingInterval"]
    if (sampling.text() or "").startswith("-"):
        yield refuse(sampling, "CFG-V08", f"Invalid value: {show(sampling.data)}: must be greater than 0")
    for _, weight in admission["resourceWeights"].mapping():
        if isinstance(weight.data, (int, float)) and weight.data < 0:
            yield refuse(weight, "CFG-V08", f"Invalid value: {weight.data}: must be greater than or equal to 0")


def _resources(at: Cursor, target: Target) -> Iterator[Failure]:
    inputs: dict[str | None, Cursor] = {}
    for entry in at.items_at("transformations"):
        if entry["input"].text():
            yield from _again(entry["input"], inputs, "CFG-V09")
    yield from device_classes(at["deviceClassMappings"], target)
    prefixes, strategy = at["excludeResourcePrefixes"], at["quotaCheckStrategy"]
    if strategy.text() == "IgnoreUndeclared" and prefixes.data and target.has_gate("QuotaCheckStrategy"):
        text = "Invalid value: IgnoreUndeclared cannot be combined with excludeResourcePrefixes"
        yield refuse(strategy, "CFG-V13", text, related=(prefixes.route,))


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
        if value.data is False:
            yield from _dependents(at, name, value, target)
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


def _dependents(at: Cursor, name: str, off: Cursor, target: Target) -> Iterator[Failure]:
    """Refuse to disable a gate that others need which are on by default: Kueue would not start."""
    left = [d for d in gate_table.dependents(name, target.release) if not at[d].exists]
    if left:
        verbs = "is on by default and needs" if len(left) == 1 else "are on by default and need"
        text = f"Invalid value: {', '.join(left)} {verbs} {name}"
        yield refuse(off, "CFG-V14", text, f"write {', '.join(f'{d}: false' for d in left)} too")


def _gate_hint(name: str, target: Target) -> str:
    known = gate_table.gates()
    if name in known:
        when = "later" if known[name][0][0] > target.release else "earlier"
        return f"only {when} releases of Kueue have it; remove it"
    near = nearest(name, known)
    return f"write {near}" if near else ""
