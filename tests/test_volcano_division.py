"""Volcano's division of a cluster among queues: its three ways, on small clusters that can be worked out by hand."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from qcheck.schedulers.volcano import amounts as listed
from qcheck.schedulers.volcano.amounts import UNLIMITED, amounts
from qcheck.schedulers.volcano.division import NotReady, QueueDivision, VolcanoTerms, capacity, hierarchy, proportion

GPU = "nvidia.com/gpu"


def of(gpus: int, cpu: int = 0, memory: int = 0) -> dict[str, int]:
    return {"cpu": cpu, "memory": memory, GPU: gpus}


TOTAL = of(12, 96_000, 768)
ALL = amounts(TOTAL)


def gpus(parts: dict[str, QueueDivision]) -> dict[str, object]:
    return {name: part.deserved.get(GPU, 0) for name, part in parts.items()}


def below_root(*queues: VolcanoTerms, jobs: tuple[str, ...] = ()) -> dict[str, QueueDivision]:
    parts = hierarchy((VolcanoTerms("root"), *queues), ALL, dict.fromkeys(jobs, ALL))
    assert isinstance(parts, dict)
    return parts


def test_weights_divide_what_every_queue_wants() -> None:
    parts = proportion((VolcanoTerms("a", 1), VolcanoTerms("b", 5)), ALL, {"a": ALL, "b": ALL})
    assert gpus(parts) == {"a": 2, "b": 10}
    assert parts["b"].deserved["cpu"] == 80_000


def test_what_one_queue_does_not_want_goes_to_the_others() -> None:
    parts = proportion((VolcanoTerms("a", 2), VolcanoTerms("b", 1)), ALL, {"a": amounts(of(3, 1000, 8)), "b": ALL})
    assert gpus(parts) == {"a": 3, "b": 9}


def test_the_weight_of_an_idle_queue_does_not_count_but_its_guarantee_is_set_aside() -> None:
    queues = (VolcanoTerms("a"), VolcanoTerms("b"), VolcanoTerms("idle", 10, guarantee=of(2)))
    parts = proportion(queues, ALL, {"a": ALL, "b": ALL})
    assert gpus(parts) == {"a": 6, "b": 6}
    assert parts["a"].limit[GPU] == 10


def test_a_guarantee_raises_what_is_deserved_above_the_request() -> None:
    parts = proportion((VolcanoTerms("a", guarantee=of(8)), VolcanoTerms("b")), ALL, {"a": amounts(of(1)), "b": ALL})
    assert parts["a"].deserved[GPU] == 8
    assert parts["b"].limit[GPU] == 4


def test_cpu_and_memory_that_a_capability_omits_are_unlimited() -> None:
    parts = proportion((VolcanoTerms("a", 3, capability={GPU: 1}), VolcanoTerms("b", 1)), ALL, {"a": ALL, "b": ALL})
    assert parts["a"].deserved == {"cpu": 72_000, "memory": 576, GPU: 1}
    assert parts["a"].capability == {"cpu": UNLIMITED, "memory": UNLIMITED, GPU: 1}


def test_guarantees_above_the_cluster_hand_out_devices_twice_under_proportion() -> None:
    """The devices disappear from the third queue's limit, and what a limit does not name is unlimited there."""
    queues = (
        VolcanoTerms("a", guarantee=of(9, 60_000, 500)),
        VolcanoTerms("b", guarantee=of(9, 60_000, 500)),
        VolcanoTerms("c"),
    )
    parts = proportion(queues, ALL, dict.fromkeys("abc", ALL))
    assert gpus(parts) == {"a": 9, "b": 9, "c": 4}
    assert parts["c"].deserved["cpu"] == 0
    assert GPU not in parts["c"].limit


def test_the_capacity_plugin_cuts_each_queue_alone() -> None:
    queues = (
        VolcanoTerms("a", deserved=of(20)),
        VolcanoTerms("b", deserved=of(20)),
        VolcanoTerms("idle", guarantee=of(4)),
    )
    parts = capacity(queues, ALL, {"a": ALL, "b": ALL})
    assert gpus(parts) == {"a": 8, "b": 8}
    assert set(parts) == {"a", "b"}


def test_a_queue_without_deserved_deserves_nothing_and_may_use_all() -> None:
    part = capacity((VolcanoTerms("a", 9),), ALL, {"a": ALL})["a"]
    assert part.deserved == amounts()
    assert part.limit == ALL


def test_a_child_inherits_what_its_capability_omits() -> None:
    parts = below_root(
        VolcanoTerms("org", capability=of(6, 50_000, 400)), VolcanoTerms("team", parent="org", capability={GPU: 9})
    )
    assert parts["team"].capability == of(9, 50_000, 400)
    assert parts["team"].limit == of(6, 50_000, 400)


def test_guarantees_below_root_take_nothing_from_an_unlimited_root() -> None:
    parts = below_root(VolcanoTerms("x", deserved=of(50), guarantee=of(50)), VolcanoTerms("y", deserved=of(1)))
    assert parts["y"].limit[GPU] == UNLIMITED
    assert parts["root"].deserved[GPU] == 51


def test_a_guarantee_of_a_sibling_narrows_a_limited_parent() -> None:
    parts = below_root(
        VolcanoTerms("org", capability=of(10, 9, 9), deserved=of(10), guarantee=of(4)),
        VolcanoTerms("a", parent="org", deserved=of(6), guarantee=of(4)),
        VolcanoTerms("b", parent="org", deserved=of(4)),
    )
    assert (parts["a"].limit[GPU], parts["b"].limit[GPU]) == (10, 6)


def test_a_root_with_a_capability_for_devices_only_leaves_no_cpu() -> None:
    parts = hierarchy(
        (VolcanoTerms("root", capability={GPU: 8}), VolcanoTerms("a", deserved=of(4, 1000))), ALL, {"a": ALL}
    )
    assert isinstance(parts, dict)
    assert parts["a"].limit == {"cpu": 0, "memory": 0, GPU: 8}


def test_requests_add_up_to_the_root() -> None:
    parts = below_root(
        VolcanoTerms("org"), VolcanoTerms("a", parent="org"), VolcanoTerms("b", parent="org"), jobs=("a", "b")
    )
    assert parts["root"].request[GPU] == parts["org"].request[GPU] == 24


def test_what_stops_every_queue() -> None:
    org, team = VolcanoTerms("org"), VolcanoTerms("team", parent="org")
    assert hierarchy((VolcanoTerms("root"), org, team), ALL, {"org": ALL}) == NotReady("org")
    assert hierarchy((VolcanoTerms("root"), team), ALL, {}) == NotReady("team", "org")
    assert hierarchy((org,), ALL, {}) == NotReady("org", "root")


def test_queues_in_a_cycle_get_nothing_and_the_others_go_on() -> None:
    parts = below_root(
        VolcanoTerms("x", parent="y", deserved=of(4)), VolcanoTerms("y", parent="x"), VolcanoTerms("z"), jobs=("z",)
    )
    assert parts["x"].limit == amounts()
    assert parts["z"].limit[GPU] == UNLIMITED


QUEUES = st.lists(
    st.tuples(st.integers(1, 9), st.integers(1, 40), st.none() | st.integers(1, 12)),
    min_size=1,
    max_size=5,
)


@given(QUEUES)
@settings(max_examples=150, deadline=None)
def test_weights_never_give_more_than_there_is_or_than_is_wanted(drawn: list[tuple[int, int, int | None]]) -> None:
    """Guarantees excepted, which may raise the sum above the total; what is left over is wanted by nobody who may have it."""
    queues, requests = [], {}
    for number, (weight, wanted, capability) in enumerate(drawn):
        queues.append(VolcanoTerms(f"q{number}", weight, {} if capability is None else of(capability)))
        requests[f"q{number}"] = amounts(of(wanted))
    parts = proportion(queues, amounts(of(24)), requests)
    given_out = sum(Fraction(p.deserved[GPU]) for p in parts.values())
    assert given_out <= 24
    assert all(p.deserved[GPU] <= min(p.request[GPU], p.limit[GPU]) for p in parts.values())
    hungry = [p for p in parts.values() if p.deserved[GPU] < min(p.request[GPU], p.limit[GPU])]
    assert not hungry or 24 - given_out < listed.negligible(GPU)
