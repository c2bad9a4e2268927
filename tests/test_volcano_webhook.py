"""What Volcano's queue webhook refuses, one request each."""

from __future__ import annotations

import pytest
from volcano_requests import WEIGHTS, Operation, refusals

from qcheck.cluster.quantity import parse_quantity
from qcheck.schedulers.volcano.stored_queue import Check, StoredQueue
from qcheck.schedulers.volcano.webhook import PATH

GPU = "nvidia.com/gpu"


def queue(name: str, parent: str = "", **fields: object) -> StoredQueue:
    """A queue whose amounts are texts by resource, or a number of GPUs."""
    read: dict[str, object] = {}
    for field, value in fields.items():
        if field in ("capability", "deserved", "guarantee"):
            texts = value if isinstance(value, dict) else {GPU: value}
            read[field] = {r: parse_quantity(q) for r, q in texts.items()}
        else:
            read[field] = value
    return StoredQueue(name, parent, **read)  # type: ignore[arg-type]


def refused(new: StoredQueue, *existing: StoredQueue, old: StoredQueue | None = None) -> list[Check]:
    operation = Operation.CREATE if old is None else Operation.UPDATE
    return [v.check for v in refusals(operation, new, {q.name: q for q in existing}, old)]


DEEP = (queue("c1"), *(queue(f"c{n}", f"c{n - 1}") for n in range(2, 6)))
PARENT = queue("p", capability=16, deserved=12, guarantee=4)


@pytest.mark.parametrize(
    ("new", "existing", "checks"),
    [
        (queue("a"), (), []),
        (queue("a", capability={GPU: "1500m"}), (), [Check.QUANTITY]),
        (queue("a", capability={"cpu": "1500m", "gpu": "1500m", "x.kubernetes.io/y": "1500m"}), (), []),
        (queue("a", deserved={"cpu": "-1"}), (), [Check.QUANTITY]),
        (queue("a", guarantee=2), (), [Check.GUARANTEE_WITHOUT_DESERVED]),
        (queue("a", guarantee=2, deserved=1), (), [Check.DESERVED_BELOW_GUARANTEE]),
        (queue("a", guarantee=2, deserved=2, capability=2), (), []),
        (queue("a", deserved=3, capability=2), (), [Check.DESERVED_ABOVE_CAPABILITY]),
        (queue("a", deserved=3, capability={"cpu": "1"}), (), []),
        (queue("a", state="Closing"), (), [Check.STATE]),
        (queue("a", parent="a"), (), [Check.PARENT_IS_SELF]),
        (queue("a", parent="b"), (), [Check.PARENT_MISSING]),
        (queue("a", parent="root", deserved=10_000), (), []),
        (queue("a", parent="c4"), DEEP, []),
        (queue("a", parent="c5"), DEEP, [Check.DEPTH]),
        (queue("a", parent="b"), (queue("b", pods=1),), [Check.PARENT_HAS_PODS]),
        (queue("a", parent="b"), (queue("b", pods=1), queue("c", "b")), []),
        (queue("a", "p", capability=17), (PARENT,), [Check.CAPABILITY_ABOVE_ANCESTOR]),
        (queue("a", "m", capability=17), (PARENT, queue("m", "p")), [Check.CAPABILITY_ABOVE_ANCESTOR]),
        (queue("a", "p", deserved=5), (PARENT, queue("b", "p", deserved=7)), []),
        (queue("a", "p", deserved=6), (PARENT, queue("b", "p", deserved=7)), [Check.CHILDREN_ABOVE_PARENT]),
        (queue("a", "m", deserved=0), (queue("m"),), [Check.CHILDREN_ABOVE_PARENT]),
        (queue("a", "m", deserved={"cpu": "0"}), (queue("m"),), []),
        (
            queue("m", capability=4),
            (queue("n", "m"), queue("o", "n", capability=5)),
            [Check.CAPABILITY_BELOW_DESCENDANT],
        ),
        (queue("root", capability=1), (queue("a", "root", capability=9),), []),
    ],
)
def test_creation(new: StoredQueue, existing: tuple[StoredQueue, ...], checks: list[Check]) -> None:
    assert refused(new, queue("root"), *existing) == checks


def test_the_older_hierarchy_wants_as_many_weights_as_levels_and_no_queue_above_another() -> None:
    def annotated(name: str, path: str, weights: str) -> StoredQueue:
        return queue(name, annotations={PATH: path, WEIGHTS: weights})

    below = annotated("b", "root/eng/dev", "1/2/3")
    assert refused(annotated("a", "root/eng", "1/2"), below) == [Check.HIERARCHY_ANNOTATIONS]
    assert refused(annotated("a", "root/engine", "1/2"), below) == []
    assert refused(annotated("a", "root/eng/dev/x", "1/2/3/4"), below) == []
    assert refused(annotated("a", "root/eng", "1"), queue("c")) == [Check.HIERARCHY_ANNOTATIONS]
    assert refused(annotated("a", "root/eng", "1/0"), queue("c")) == [Check.HIERARCHY_ANNOTATIONS]
    assert refused(annotated("a", "root/eng", "1/x"), queue("c")) == [Check.HIERARCHY_ANNOTATIONS]


def test_an_update_is_compared_with_the_rest_only_where_it_changes_amounts_or_the_parent() -> None:
    over = (queue("p", deserved=1), queue("b", "p", deserved=9))
    assert refused(queue("p", deserved=1, annotations={"x": "y"}), *over, old=over[0]) == []
    assert refused(queue("p", deserved=2), *over, old=over[0]) == [Check.CHILDREN_ABOVE_PARENT]
    moved = queue("b", "q", deserved=9)
    assert refused(moved, *over, queue("q"), old=over[1]) == [Check.CHILDREN_ABOVE_PARENT]


def test_the_resources_of_root_never_change() -> None:
    assert refused(queue("root", capability=9), old=queue("root", capability=8)) == [Check.ROOT_CHANGED]
    assert refused(queue("root", annotations={"x": "y"}), old=queue("root")) == []


def test_a_cycle_that_an_edit_closes_is_accepted() -> None:
    stored = (queue("x"), queue("y", "x"))
    assert refused(queue("x", "y"), *stored, old=stored[0]) == []


def test_deletion() -> None:
    existing = {q.name: q for q in (queue("p"), queue("a", "p"), queue("root"), queue("default"))}
    allowed = [name for name, q in existing.items() if not list(refusals(Operation.DELETE, q, existing))]
    assert allowed == ["a"]
