"""Checks of label selectors, node selectors, affinities, taints and tolerations, as the API server does.

Source: k8s.io/apimachinery `apis/meta/v1/validation`, kubernetes `pkg/apis/core/validation`.
"""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.kinds.schema.failure import show
from qcheck.kinds.schema.formats import key_fault, value_fault
from qcheck.kinds.validation.target import refuse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.documents.cursor import Cursor
    from qcheck.kinds.schema.failure import Failure

EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
LABEL_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist")
NODE_OPERATORS = (*LABEL_OPERATORS, "Gt", "Lt")


def label_map(at: Cursor, check: str) -> Iterator[Failure]:
    """Check the keys and values of a map of labels."""
    for key, value in at.mapping():
        fault = key_fault(key)
        if fault:
            yield refuse(value, check, f"Invalid value: {show(key)}: {fault}", on_key=True)
        fault = value_fault(value.data) if isinstance(value.data, str) else None
        if fault:
            yield refuse(value, check, f"Invalid value: {show(value.data)}: {fault}")


def annotation_keys(at: Cursor, check: str) -> Iterator[Failure]:
    """Check annotation keys, which are label keys regardless of case; values are free."""
    for key, value in at.mapping():
        fault = key_fault(key.lower())
        if fault:
            yield refuse(value, check, f"Invalid value: {show(key)}: {fault}", on_key=True)


def label_selector(at: Cursor, check: str) -> Iterator[Failure]:
    yield from label_map(at["matchLabels"], check)
    for expression in at.items_at("matchExpressions"):
        yield from _requirement(expression, check, LABEL_OPERATORS, "is not a valid selector operator")


def node_selector_term(at: Cursor, check: str, is_preferred: bool = False) -> Iterator[Failure]:
    """Check a term of a node affinity. In a preferred term, values need not be label values."""
    for expression in at.items_at("matchExpressions"):
        unknown = "is not a valid selector operator"
        yield from _requirement(expression, check, NODE_OPERATORS, unknown, checks_values=not is_preferred)
    for field in at.items_at("matchFields"):
        yield from _field(field, check)


def _requirement(
    at: Cursor, check: str, operators: tuple[str, ...], unknown: str, checks_values: bool = True
) -> Iterator[Failure]:
    key, operator, values = at["key"], at["operator"], at["values"]
    count = len(values.items())
    if operator.text() is not None and operator.text() not in operators:
        yield refuse(operator, check, f"Invalid value: {show(operator.data)}: {unknown}: {', '.join(operators)}")
    elif operator.text() in ("In", "NotIn") and not count:
        text = "Required value: must be specified when `operator` is 'In' or 'NotIn'"
        yield refuse(values, check, text)
    elif operator.text() in ("Exists", "DoesNotExist") and count:
        text = "Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
        yield refuse(values, check, text)
    elif operator.text() in ("Gt", "Lt") and count != 1:
        text = "Required value: must be specified single value when `operator` is 'Lt' or 'Gt'"
        yield refuse(values, check, text)
    if key.text() is not None and (fault := key_fault(key.text() or "")):
        yield refuse(key, check, f"Invalid value: {show(key.data)}: {fault}")
    for value in values.items() if checks_values else ():
        if isinstance(value.data, str) and (fault := value_fault(value.data)):
            yield refuse(value, check, f"Invalid value: {show(value.data)}: {fault}")


def _field(at: Cursor, check: str) -> Iterator[Failure]:
    """Check a term over fields: only metadata.name, In or NotIn, and one value."""
    if at["key"].text() not in (None, "metadata.name"):
        yield refuse(at["key"], check, f"Invalid value: {show(at['key'].data)}: not a valid field selector key")
    if at["operator"].text() not in (None, "In", "NotIn"):
        text = f"Invalid value: {show(at['operator'].data)}: not a valid selector operator for fields: In, NotIn"
        yield refuse(at["operator"], check, text)
    elif len(at.items_at("values")) != 1:
        yield refuse(at["values"], check, "Required value: must be only one value for fields")


def affinity(at: Cursor, check: str) -> Iterator[Failure]:
    if not at.exists:
        return
    node = at["nodeAffinity"]
    terms = node["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    if isinstance(terms.data, list) and not terms.data:
        yield refuse(terms, check, "Required value: must have at least one node selector term")
    for term in terms.items():
        yield from node_selector_term(term, check)
    for preferred in node.items_at("preferredDuringSchedulingIgnoredDuringExecution"):
        yield from _weight(preferred["weight"], check)
        yield from node_selector_term(preferred["preference"], check, is_preferred=True)
    for kind in ("podAffinity", "podAntiAffinity"):
        for term in at[kind].items_at("requiredDuringSchedulingIgnoredDuringExecution"):
            yield from _pod_term(term, check)
        for preferred in at[kind].items_at("preferredDuringSchedulingIgnoredDuringExecution"):
            yield from _weight(preferred["weight"], check)
            yield from _pod_term(preferred["podAffinityTerm"], check)


def _weight(at: Cursor, check: str) -> Iterator[Failure]:
    weight = at.integer()
    if weight is not None and not 1 <= weight <= 100:
        yield refuse(at, check, f"Invalid value: {weight}: must be in the range 1-100")


def _pod_term(at: Cursor, check: str) -> Iterator[Failure]:
    yield from label_selector(at["labelSelector"], check)
    yield from label_selector(at["namespaceSelector"], check)
    key = at["topologyKey"]
    if key.text() is not None and (fault := key_fault(key.text() or "")):
        yield refuse(key, check, f"Invalid value: {show(key.data)}: {fault}")


def tolerations(at: Cursor, check: str) -> Iterator[Failure]:
    """Check a pod's tolerations. `Lt` and `Gt` are left to the cluster: newer releases accept them."""
    for each in at.items():
        key, operator, effect = each["key"].text() or "", each["operator"], each["effect"]
        if key and (fault := key_fault(key)):
            yield refuse(each["key"], check, f"Invalid value: {show(key)}: {fault}")
        if not key and operator.text() != "Exists":
            text = 'Invalid value: operator must be Exists when `key` is empty, which means "match all values and all keys"'
            yield refuse(operator, check, text)
        elif operator.text() == "Exists" and each["value"].text():
            text = f"Invalid value: {show(each['value'].data)}: value must be empty when `operator` is 'Exists'"
            yield refuse(each["value"], check, text)
        if operator.text() not in (None, "", "Exists", "Equal", "Lt", "Gt"):
            text = f'Unsupported value: {show(operator.data)}: supported values: "Equal", "Exists"'
            yield refuse(operator, check, text)
        if each["tolerationSeconds"].exists and effect.text() != "NoExecute":
            text = "Invalid value: effect must be 'NoExecute' when `tolerationSeconds` is set"
            yield refuse(each["tolerationSeconds"], check, text, on_key=True)
        if effect.text() and effect.text() not in EFFECTS:
            shown = ", ".join(show(e) for e in EFFECTS)
            yield refuse(effect, check, f"Unsupported value: {show(effect.data)}: supported values: {shown}")
