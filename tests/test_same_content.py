"""Equal parts of documents give one cached value, and each object keeps its own places."""

from __future__ import annotations

from qcheck.documents.composed import Unresolved
from qcheck.documents.cursor import root
from qcheck.documents.load import load
from qcheck.kinds.pods import pod_template
from qcheck.kinds.shared_fields import by_content

PODS = """\
spec: {{nodeSelector: {{pool: a}}, containers: [{{name: main, resources: {{requests: {{cpu: {0}}}}}}}]}}
---
spec: {{nodeSelector: {{pool: a}}, containers: [{{name: main, resources: {{requests: {{cpu: {1}}}}}}}]}}
"""


@by_content
def content(at: object) -> list[object]:
    return [at]


def read(text: str) -> list[object]:
    return [content(root(d)) for d in load(text, "some.yaml").documents]


def test_equal_data_is_read_once() -> None:
    first, second, other = read("a: [1, x]\n---\na: [1, x]\n---\na: [true, x]\n")
    assert first is second
    assert first is not other


def test_a_terraform_value_is_read_each_time() -> None:
    (document,) = load("a: 1\n", "some.yaml").documents
    document.data = {"a": Unresolved("var.a")}
    assert content(root(document)) is not content(root(document))


def test_equal_pods_have_their_own_places() -> None:
    first, second = (pod_template(root(d)) for d in load(PODS.format(1, 1), "pods.yaml").documents)
    assert first.ask == second.ask
    assert first.selection is second.selection
    assert (first.place.span[0], second.place.span[0]) == (1, 3)
    assert (first.place_of("cpu").line, second.place_of("cpu").line) == ("pods.yaml:1", "pods.yaml:3")


def test_pods_with_other_requests_are_not_equal() -> None:
    first, second = (pod_template(root(d)) for d in load(PODS.format(1, 2), "pods.yaml").documents)
    assert (first.amounts(), second.amounts()) == ({"cpu": 1000}, {"cpu": 2000})
