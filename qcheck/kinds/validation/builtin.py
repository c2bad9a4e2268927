"""Checks of built-in kinds with pods: JOB-V, APP-V and the pods inside.

Source: kubernetes 1.36 `pkg/apis/batch/validation`, `pkg/apis/apps/validation`, after defaulting.
"""

from __future__ import annotations

from functools import partial

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.kinds.schema.failure import show
from qcheck.kinds.schema.formats import key_fault, label_fault
from qcheck.kinds.validation.pods import pod_template
from qcheck.kinds.validation.selectors import label_selector
from qcheck.kinds.validation.target import by_field, in_range, one_of, refuse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.documents.cursor import Cursor
    from qcheck.kinds.schema.failure import Failure
    from qcheck.kinds.validation.target import FieldCheck, Target

_FINISHING = ("OnFailure", "Never")
_LONGEST_CRON_JOB = 52
_LONGEST_MANAGER = 63
_KEDA_MOST = 100
_MOST_RULES, _MOST_VALUES = 20, 255


def pod(root: Cursor, target: Target) -> Iterator[Failure]:  # noqa: ARG001
    yield from pod_template(root, is_pod=True)


def job(root: Cursor, target: Target) -> Iterator[Failure]:  # noqa: ARG001
    yield from _job(root)
    spec, name = root["spec"], root["metadata"]["name"].text() or ""
    completions = spec["completions"].integer()
    last = f"{name}-{(completions or 1) - 1}"
    if spec["completionMode"].text() == "Indexed" and name and (fault := label_fault(last)):
        text = f"Invalid value: {show(name)}: will not be able to create pod with invalid DNS label {last}: {fault}"
        yield refuse(root["metadata"]["name"], "JOB-V02", text)


def horizontal_pod_autoscaler(root: Cursor, target: Target) -> Iterator[Failure]:  # noqa: ARG001
    """Check the bounds. A minimum of 0 is accepted only with the feature gate HPAScaleToZero, which files do not state."""
    least, most = root["spec"]["minReplicas"], root["spec"]["maxReplicas"]
    minimum, maximum = least.integer(), most.integer()
    if minimum is not None and minimum < 0:
        yield refuse(least, "HPA-V01", f"Invalid value: {minimum}: must be greater than or equal to 1")
    if maximum is not None and maximum < 1:
        yield refuse(most, "HPA-V01", f"Invalid value: {maximum}: must be greater than 0")
    elif maximum is not None and minimum is not None and maximum < minimum:
        text = f"Invalid value: {maximum}: must be greater than or equal to minReplicas, which is {minimum}"
        yield refuse(most, "HPA-V01", text, related=(least.route,))


def scaled_object(root: Cursor, target: Target) -> Iterator[Failure]:  # noqa: ARG001
    """Check the bounds of KEDA's autoscaler, as its webhook does. The defaults are 0 and 100.

    The webhook reads a written minimum of 0 or less as 1, the least of the HorizontalPodAutoscaler that KEDA creates.
    """
    spec = root["spec"]
    least, most, idle = spec["minReplicaCount"], spec["maxReplicaCount"], spec["idleReplicaCount"]
    written, maximum, resting = least.integer(), most.integer(), idle.integer()
    minimum = 0 if written is None else max(1, written)
    counted = str(minimum) if written in (None, minimum) else f"{written}, counted as {minimum}"
    if minimum > (_KEDA_MOST if maximum is None else maximum):
        shown = f"maxReplicaCount, which {f'defaults to {_KEDA_MOST}' if maximum is None else f'is {maximum}'}"
        text = f"Invalid value: {counted}: must not be greater than {shown}"
        yield refuse(least, "KEDA-W01", text, related=(most.route,) if most.exists else ())
    if resting is not None and resting >= minimum:
        text = f"Invalid value: {resting}: must be less than minReplicaCount, which is {counted}"
        yield refuse(idle, "KEDA-W01", text, related=(least.route,) if least.exists else ())


def cron_job(root: Cursor, target: Target) -> Iterator[Failure]:  # noqa: ARG001
    from qcheck.kinds.validation.cron import schedule_fault  # 0.1 ms

    spec, name = root["spec"], root["metadata"]["name"]
    if len(name.text() or "") > _LONGEST_CRON_JOB:
        text = f"Invalid value: {show(name.data)}: must be no more than {_LONGEST_CRON_JOB} characters"
        yield refuse(name, "JOB-V05", text)
    schedule = spec["schedule"]
    if schedule.text() is not None and (fault := schedule_fault(schedule.text() or "")):
        yield refuse(schedule, "JOB-V05", f"Invalid value: {show(schedule.data)}: {fault}")
    yield from one_of(spec["concurrencyPolicy"], "JOB-V05", ("Allow", "Forbid", "Replace"))
    for field in ("startingDeadlineSeconds", "successfulJobsHistoryLimit", "failedJobsHistoryLimit"):
        yield from in_range(spec[field], "JOB-V05", 0)
    manual = spec["jobTemplate"]["spec"]["manualSelector"]
    if manual.exists:
        yield refuse(manual, "JOB-V05", "Unsupported value: a CronJob's Jobs have no manual selector", on_key=True)
    yield from _job(spec["jobTemplate"])


def _job(at: Cursor) -> Iterator[Failure]:
    spec = at["spec"]
    yield from by_field(spec, _OF_JOB)
    yield from _indexed(spec)
    yield from _failure_policy(spec)
    yield from _success_policy(spec)
    is_stored = at["metadata"]["uid"].exists
    selector = spec["selector"]
    if (
        (selector["matchLabels"].data or selector["matchExpressions"].data)
        and not spec["manualSelector"].boolean()
        and not is_stored
    ):
        text = "Invalid value: `selector` not auto-generated: the API server writes it, unless manualSelector is true"
        yield refuse(selector, "JOB-V03", text, on_key=True)
    if not spec["template"].exists:
        yield refuse(spec["template"], "JOB-V04", "Required value: a Job has a pod template")
        return
    yield from pod_template(spec["template"], _FINISHING)


def _managed_by(at: Cursor) -> Iterator[Failure]:
    by = at.text()
    domain, slash, path = (by or "").partition("/")
    if by is not None and (not slash or not path or key_fault(f"{domain}/x") or len(by) > _LONGEST_MANAGER):
        text = "must be a DNS name, '/' and a path of at most 63 characters in all, such as example.com/controller"
        yield refuse(at, "JOB-V03", f"Invalid value: {show(by)}: {text}")


def _fields(check: str, *names: str) -> dict[str, FieldCheck]:
    """Return checks that the values of some fields are not negative."""
    return dict.fromkeys(names, partial(in_range, check=check, low=0))


_OF_JOB = {
    **_fields("JOB-V01", "parallelism", "completions", "backoffLimit", "activeDeadlineSeconds"),
    **_fields("JOB-V01", "ttlSecondsAfterFinished", "backoffLimitPerIndex", "maxFailedIndexes"),
    "managedBy": _managed_by,
}
"""Checks of single fields of a Job's spec."""


def _indexed(spec: Cursor) -> Iterator[Failure]:
    mode = spec["completionMode"]
    yield from one_of(mode, "JOB-V02", ("NonIndexed", "Indexed"), allow_empty=False)
    is_indexed = mode.text() == "Indexed"
    if is_indexed and not spec["completions"].exists:
        yield refuse(spec["completions"], "JOB-V02", "Required value: when completion mode is Indexed")
    per_index, failed = spec["backoffLimitPerIndex"], spec["maxFailedIndexes"]
    if per_index.exists and not is_indexed:
        yield refuse(per_index, "JOB-V02", "Invalid value: requires indexed completion mode", on_key=True)
    if failed.exists and not per_index.exists:
        yield refuse(per_index, "JOB-V02", "Required value: when maxFailedIndexes is specified")
    if failed.integer() is not None and (failed.integer() or 0) > (spec["completions"].integer() or 2**31):
        yield refuse(failed, "JOB-V02", f"Invalid value: {failed.data}: must be less than or equal to completions")
    if per_index.exists and spec["template"]["spec"]["restartPolicy"].text() == "OnFailure":
        text = 'Invalid value: "OnFailure": must be Never when backoffLimitPerIndex is specified'
        yield refuse(spec["template"]["spec"]["restartPolicy"], "JOB-V02", text)
    replacement = spec["podReplacementPolicy"]
    yield from one_of(replacement, "JOB-V03", ("TerminatingOrFailed", "Failed"), allow_empty=False)
    if replacement.text() == "TerminatingOrFailed" and spec["podFailurePolicy"].exists:
        text = 'Unsupported value: "TerminatingOrFailed": supported values: "Failed", as there is a podFailurePolicy'
        yield refuse(replacement, "JOB-V03", text)


def _failure_policy(spec: Cursor) -> Iterator[Failure]:
    policy = spec["podFailurePolicy"]
    if not policy.exists:
        return
    restart = spec["template"]["spec"]["restartPolicy"]
    if restart.text() == "OnFailure":
        text = 'Invalid value: "OnFailure": only "Never" is supported when podFailurePolicy is specified'
        yield refuse(restart, "JOB-V03", text)
    rules = policy.items_at("rules")
    if len(rules) > _MOST_RULES:
        yield refuse(policy["rules"], "JOB-V03", f"Too many: {len(rules)}: must have at most {_MOST_RULES} items")
    for rule in rules:
        yield from _failure_rule(rule, spec)


def _failure_rule(rule: Cursor, spec: Cursor) -> Iterator[Failure]:
    actions = ("Count", "FailIndex", "FailJob", "Ignore")
    yield from one_of(rule["action"], "JOB-V03", actions, allow_empty=False)
    if rule["action"].text() == "FailIndex" and not spec["backoffLimitPerIndex"].exists:
        yield refuse(rule["action"], "JOB-V03", 'Invalid value: "FailIndex": requires backoffLimitPerIndex')
    codes, conditions = rule["onExitCodes"], rule.items_at("onPodConditions")
    if codes.exists == bool(conditions):
        text = "specifying both onExitCodes and onPodConditions is not supported" if conditions else ""
        yield refuse(
            rule, "JOB-V03", f"Invalid value: {text or 'specifying one of onExitCodes and onPodConditions is required'}"
        )
    yield from one_of(codes["operator"], "JOB-V03", ("In", "NotIn"), allow_empty=False)
    values = codes.items_at("values")
    if codes.exists and not 1 <= len(values) <= _MOST_VALUES:
        yield refuse(codes["values"], "JOB-V03", f"Invalid value: must have between 1 and {_MOST_VALUES} values")
    if codes["operator"].text() == "In" and any(v.integer() == 0 for v in values):
        yield refuse(codes["values"], "JOB-V03", "Invalid value: 0: must not be 0 for the In operator")
    names = {
        c["name"].text() for kind in ("containers", "initContainers") for c in spec["template"]["spec"][kind].items()
    }
    name = codes["containerName"]
    if name.text() is not None and name.text() not in names:
        yield refuse(
            name, "JOB-V03", f"Invalid value: {show(name.data)}: must be one of the container names of the template"
        )
    for condition in conditions:
        yield from one_of(condition["status"], "JOB-V03", ("False", "True", "Unknown"))


def _success_policy(spec: Cursor) -> Iterator[Failure]:
    policy = spec["successPolicy"]
    if not policy.exists:
        return
    if spec["completionMode"].text() != "Indexed":
        yield refuse(policy, "JOB-V03", "Invalid value: requires indexed completion mode", on_key=True)
    if not policy.items_at("rules"):
        yield refuse(policy["rules"], "JOB-V03", "Required value: at least one rules must be specified")
    for rule in policy.items_at("rules"):
        if not rule["succeededCount"].exists and not rule["succeededIndexes"].exists:
            text = "Required value: at least one of succeededCount or succeededIndexes must be specified"
            yield refuse(rule, "JOB-V03", text)


def replicated(root: Cursor, target: Target) -> Iterator[Failure]:  # noqa: ARG001
    """Check that the selector of a Deployment, ReplicaSet, StatefulSet or DaemonSet matches the template's labels."""
    spec = root["spec"]
    for field in ("replicas", "minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds"):
        yield from in_range(spec[field], "JOB-V01", 0)
    yield from label_selector(spec["selector"], "APP-V01")
    yield from _selects_its_pods(spec)
    yield from _strategy(root)
    deadline = spec["template"]["spec"]["activeDeadlineSeconds"]
    if deadline.exists:
        kind = root["kind"].text()
        yield refuse(deadline, "APP-V02", f"Forbidden: activeDeadlineSeconds is not supported in a {kind}", on_key=True)
    claimed = frozenset(c["metadata"]["name"].text() or "" for c in spec.items_at("volumeClaimTemplates"))
    yield from pod_template(spec["template"], ("Always",), claimed=claimed)


def _selects_its_pods(spec: Cursor) -> Iterator[Failure]:
    selector, labels = spec["selector"]["matchLabels"], spec["template"]["metadata"]["labels"]
    if not spec["template"].exists:
        return
    if (
        isinstance(spec["selector"].data, dict)
        and not selector.data
        and not spec["selector"].items_at("matchExpressions")
    ):
        yield refuse(spec["selector"], "APP-V01", "Invalid value: empty selector is invalid")
    for key, value in selector.mapping():
        if labels[key].data != value.data:
            text = "Invalid value: `selector` does not match template `labels`"
            yield refuse(value, "APP-V01", f"{text}: {key} is {show(labels[key].data)} there", related=(labels.route,))


_STRATEGIES = {
    "Deployment": ("strategy", ("Recreate", "RollingUpdate")),
    "StatefulSet": ("updateStrategy", ("OnDelete", "RollingUpdate")),
    "DaemonSet": ("updateStrategy", ("OnDelete", "RollingUpdate")),
}


def _strategy(root: Cursor) -> Iterator[Failure]:
    spec = root["spec"]
    field, kinds = _STRATEGIES.get(root["kind"].text() or "", ("", ()))
    if field:
        yield from one_of(spec[field]["type"], "APP-V02", kinds)
    rolling = spec["strategy"]["rollingUpdate"]
    if spec["strategy"]["type"].text() == "Recreate" and rolling.exists:
        text = "Forbidden: may not be specified when strategy `type` is 'Recreate'"
        yield refuse(rolling, "APP-V02", text, on_key=True)
    policy = spec["podManagementPolicy"]
    yield from one_of(policy, "APP-V02", ("OrderedReady", "Parallel"))
    ready, progress = spec["minReadySeconds"].integer() or 0, spec["progressDeadlineSeconds"].integer()
    if progress is not None and progress <= ready:
        text = f"Invalid value: {progress}: must be greater than minReadySeconds"
        yield refuse(spec["progressDeadlineSeconds"], "APP-V02", text)
