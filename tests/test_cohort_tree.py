"""Kueue's quota arithmetic: the worked examples of its documentation, and what must hold in any tree."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from qcheck.cluster.assemble import assemble
from qcheck.cluster.policy import Policy
from qcheck.documents.load import load
from qcheck.kinds.decode import decode, roots
from qcheck.schedulers.kueue.cohort_tree import CohortTree, cohort_tree

CELL = ("f", "nvidia.com/gpu")


def queue(
    name: str, nominal: int, cohort: str | None = None, borrow: int | None = None, lend: int | None = None
) -> str:
    return _holder("ClusterQueue", name, f"cohortName: {cohort}, " if cohort else "", _cell(nominal, borrow, lend))


def cohort(name: str, nominal: int, parent: str | None = None, borrow: int | None = None) -> str:
    return _holder("Cohort", name, f"parentName: {parent}, " if parent else "", _cell(nominal, borrow, None))


def _cell(nominal: int, borrow: int | None, lend: int | None) -> str:
    cell = {"nominalQuota": nominal, "borrowingLimit": borrow, "lendingLimit": lend}
    return ", ".join(f"{k}: {v}" for k, v in cell.items() if v is not None)


def _holder(kind: str, name: str, above: str, cell: str) -> str:
    flavor = f"{{name: f, resources: [{{name: nvidia.com/gpu, {cell}}}]}}"
    group = f"{{coveredResources: [nvidia.com/gpu], flavors: [{flavor}]}}"
    spec = f"{{{above}resourceGroups: [{group}]}}"
    return f"{{apiVersion: kueue.x-k8s.io/v1beta2, kind: {kind}, metadata: {{name: {name}}}, spec: {spec}}}"


def tree(*documents: str) -> CohortTree:
    loaded = load("\n---\n".join(documents), "tree.yaml")
    objects = [o for d in loaded.documents for r in roots(d) if (o := decode(r)) is not None]
    return cohort_tree(assemble("default", Policy(), objects))


def borrows_from(tree: CohortTree, borrower: str, lender: str) -> int:
    """The most of the lender's quota that the borrower could hold, as loans are computed."""
    return min(tree.lent(lender, CELL), tree.reach(borrower, lender, CELL))


def test_flat_cohort() -> None:
    flat = tree(queue("a", 8, "c"), queue("b", 4, "c", borrow=2), queue("c1", 6, "c", lend=1))
    assert [flat.queue_potential(q, CELL) for q in ("a", "b", "c1")] == [13, 6, 18]
    assert borrows_from(flat, "b", "a") == 2
    assert flat.lent("c1", CELL) == 1


def test_hierarchy() -> None:
    deep = tree(cohort("root", 10), cohort("team", 0, "root", borrow=4), queue("x", 6, "team"))
    assert deep.subtree(deep.cohorts["team"], CELL) == 6
    assert deep.potential(deep.cohorts["team"], CELL) == 10
    assert deep.queue_potential("x", CELL) == 10


def test_cycles_are_found_once_and_end_every_walk() -> None:
    ring = tree(cohort("a", 1, "b"), cohort("b", 1, "a"), cohort("self", 0, "self"), queue("q", 4, "a"))
    assert ring.cycles == (("a", "b"), ("self",))
    assert ring.queue_potential("q", CELL) == 4
    assert ring.root("q") is None
    assert list(ring.members("a")) == ["q"]


quota = st.integers(0, 20)
limit = st.none() | quota


@given(st.lists(st.tuples(quota, limit, limit), min_size=1, max_size=6))
def test_nobody_reaches_more_than_there_is(cells: list[tuple[int, int | None, int | None]]) -> None:
    members = [queue(f"q{i}", n, "c", b, None if le is None else min(le, n)) for i, (n, b, le) in enumerate(cells)]
    flat = tree(*members)
    total = sum(n for n, _, _ in cells)
    for i, (nominal, borrow, _) in enumerate(cells):
        reach = flat.queue_potential(f"q{i}", CELL)
        assert nominal <= reach <= total
        assert borrow is None or reach <= nominal + borrow
        assert (flat.borrowable(f"q{i}", CELL) > 0) >= any(
            borrows_from(flat, f"q{i}", f"q{j}") > 0 for j in range(len(cells)) if j != i
        )
