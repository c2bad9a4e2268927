"""Built-in kinds that hold pods: JOB-V, APP-V and the pods inside."""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.kinds.refusals.pods import pod_template
from qcheck.kinds.refusals.selectors import label_selector
from qcheck.kinds.refusals.target import refuse
from qcheck.kinds.schema.failure import show

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.documents.cursor import Cursor
    from qcheck.kinds.refusals.target import Target
    from qcheck.kinds.schema.failure import Failure

_FINISHING = ("OnFailure", "Never")


def pod(root: Cursor, target: Target) -> Iterator[Failure]:  # noqa: ARG001
    yield from pod_template(root)


def job(root: Cursor, target: Target) -> Iterator[Failure]:  # noqa: ARG001
    yield from _job(root)


def cron_job(root: Cursor, target: Target) -> Iterator[Failure]:  # noqa: ARG001
    yield from _job(root["spec"]["jobTemplate"])


def _job(at: Cursor) -> Iterator[Failure]:
    spec = at["spec"]
    for field in ("parallelism", "completions", "backoffLimit", "activeDeadlineSeconds"):
        yield from _not_negative(spec[field])
    mode = spec["completionMode"]
    if mode.text() not in (None, "NonIndexed", "Indexed"):
        text = f'Unsupported value: {show(mode.data)}: supported values: "NonIndexed", "Indexed"'
        yield refuse(mode, "JOB-V02", text)
    elif mode.text() == "Indexed" and not spec["completions"].exists:
        yield refuse(spec["completions"], "JOB-V02", "Required value: when completion mode is Indexed")
    yield from pod_template(spec["template"], _FINISHING)


def _not_negative(at: Cursor) -> Iterator[Failure]:
    value = at.integer()
    if value is not None and value < 0:
        yield refuse(at, "JOB-V01", f"Invalid value: {value}: must be greater than or equal to 0")


def replicated(root: Cursor, target: Target) -> Iterator[Failure]:  # noqa: ARG001
    """Deployment, ReplicaSet, StatefulSet, DaemonSet: the selector must match the template's labels."""
    spec = root["spec"]
    yield from _not_negative(spec["replicas"])
    yield from label_selector(spec["selector"], "APP-V01")
    yield from _selects_its_pods(spec)
    yield from pod_template(spec["template"], ("Always",))


def _selects_its_pods(spec: Cursor) -> Iterator[Failure]:
    selector, labels = spec["selector"]["matchLabels"], spec["template"]["metadata"]["labels"]
    if not spec["template"].exists:
        return
    for key, value in selector.mapping():
        if labels[key].data != value.data:
            text = "Invalid value: `selector` does not match template `labels`"
            yield refuse(value, "APP-V01", f"{text}: {key} is {show(labels[key].data)} there", related=(labels.route,))
