"""Checks of ResourceFlavor, Topology, MultiKueue and AdmissionCheck: RF-C, RF-W, TO-C, MKC-C, MKF-C."""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.kinds.schema.failure import show
from qcheck.kinds.schema.formats import key_fault, value_fault
from qcheck.kinds.validation.selectors import EFFECTS, label_map
from qcheck.kinds.validation.target import refuse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.documents.cursor import Cursor
    from qcheck.kinds.schema.failure import Failure
    from qcheck.kinds.validation.target import Target

_EFFECTS = ", ".join(show(e) for e in EFFECTS)
HOSTNAME = "kubernetes.io/hostname"


def resource_flavor(root: Cursor, target: Target) -> Iterator[Failure]:  # noqa: ARG001
    spec = root["spec"]
    yield from label_map(spec["nodeLabels"], "RF-W01")
    yield from _taints(spec["nodeTaints"])
    for toleration in spec.items_at("tolerations"):
        yield from _toleration(toleration)
    if spec["topologyName"].exists and not spec["nodeLabels"].data:
        text = "Invalid value: at least one nodeLabel is required when topology is set"
        yield refuse(spec["topologyName"], "RF-C07", text, on_key=True)


def _taints(at: Cursor) -> Iterator[Failure]:
    seen: dict[tuple[str | None, str | None], Cursor] = {}
    for taint in at.items():
        key, value, effect = taint["key"], taint["value"], taint["effect"]
        if isinstance(effect.data, str) and effect.data not in EFFECTS:
            yield refuse(
                effect, "RF-C01", f"Unsupported value: {show(effect.data)}: supported taint effects: {_EFFECTS}"
            )
        if isinstance(key.data, str) and (fault := key_fault(key.data)):
            yield refuse(key, "RF-W02", f"Invalid value: {show(key.data)}: {fault}")
        if isinstance(value.data, str) and (fault := value_fault(value.data)):
            yield refuse(value, "RF-W02", f"Invalid value: {show(value.data)}: {fault}")
        first = seen.setdefault((key.text(), effect.text()), taint)
        if first is not taint and None not in (key.text(), effect.text()):
            text = f"Duplicate value: {key.data}:{effect.data}: taints must be unique by key and effect"
            yield refuse(taint, "RF-W03", text, related=(first.route,))


def _toleration(at: Cursor) -> Iterator[Failure]:
    """Check a toleration. CEL tests whether a field is written; an empty string is."""
    key, operator, value, effect = at["key"], at["operator"], at["value"], at["effect"]
    if not key.exists and operator.data != "Exists":
        text = "Invalid value: operator must be Exists when 'key' is empty, which means 'match all values and all keys'"
        yield refuse(operator, "RF-C02", text)
    if at["tolerationSeconds"].exists and effect.data != "NoExecute":
        text = "Invalid value: effect must be 'NoExecute' when 'tolerationSeconds' is set"
        yield refuse(at["tolerationSeconds"], "RF-C03", text, on_key=True)
    if operator.exists and operator.data not in ("Equal", "Exists"):
        text = f'Unsupported value: {show(operator.data)}: supported operators: "Equal" (default), "Exists"'
        yield refuse(operator, "RF-C04", text)
    if operator.data == "Exists" and value.exists:
        yield refuse(
            value, "RF-C05", "Invalid value: a value must be left out when 'operator' is 'Exists'", on_key=True
        )
    if effect.exists and effect.data not in EFFECTS:
        yield refuse(effect, "RF-C06", f"Unsupported value: {show(effect.data)}: supported taint effects: {_EFFECTS}")
    if key.text() and (fault := key_fault(key.text() or "")):
        yield refuse(key, "RF-W04", f"Invalid value: {show(key.data)}: {fault}")


def topology(root: Cursor, target: Target) -> Iterator[Failure]:  # noqa: ARG001
    levels = [level["nodeLabel"] for level in root["spec"].items_at("levels")]
    seen: dict[str | None, Cursor] = {}
    for level in levels:
        first = seen.setdefault(level.text(), level)
        if first is not level and level.text() is not None:
            text = f"Duplicate value: {show(level.data)}: levels must be unique"
            yield refuse(level, "TO-C01", text, related=(first.route,))
        elif level.data == HOSTNAME and level is not levels[-1]:
            text = f"Invalid value: the label {HOSTNAME} can only be used at the lowest level of topology"
            yield refuse(level, "TO-C02", text, "make it the last level")


def multikueue_cluster(root: Cursor, target: Target) -> Iterator[Failure]:  # noqa: ARG001
    source = root["spec"]["clusterSource"]
    given = [f for f in ("kubeConfig", "clusterProfileRef") if source[f].exists]
    if isinstance(source.data, dict) and len(given) != 1:
        text = f"Invalid value: exactly one of kubeConfig and clusterProfileRef must be set, not {len(given)}"
        yield refuse(source, "MKC-C01", text)


def multikueue_config(root: Cursor, target: Target) -> Iterator[Failure]:  # noqa: ARG001
    if root["apiVersion"].text() != "kueue.x-k8s.io/v1beta2":
        return
    seen: dict[str | None, Cursor] = {}
    for name in root["spec"].items_at("clusters"):
        first = seen.setdefault(name.text(), name)
        if first is not name and name.text() is not None:
            text = f"Duplicate value: {show(name.data)}: clusters must be unique"
            yield refuse(name, "MKF-C01", text, related=(first.route,))
