"""Quota laid out over nodes: the picture agrees with the sums."""

from __future__ import annotations

from qcheck.answers.node_pictures import SliceKind, device_pictures, pictured_resources
from qcheck.api import audit
from qcheck.schedulers.table import promises_of
from qcheck.supply.supply import supply_of

FLEET = "fixtures/clusters/research-fleet"


def test_the_example_fleet() -> None:
    cluster = audit([FLEET]).clusters[0]
    assert pictured_resources(cluster) == ["nvidia.com/gpu"]
    held = device_pictures(cluster, "nvidia.com/gpu")
    group = held.groups[0]
    assert sum(n.count for n in group.nodes) == 19
    assert {sum(s.amount for s in n.slices) for n in group.nodes} == {8}
    of_queues = sum(n.count * s.amount for n in group.nodes for s in n.slices if s.kind is SliceKind.QUEUE)
    assert of_queues == 133
    assert held.beyond["h100"] == 152 - 133


def test_no_node_holds_more_than_it_has_and_nothing_is_lost() -> None:
    from pathlib import Path

    for case in sorted(Path("fixtures/rules").glob("QC101-*/*")):
        cluster = audit([str(case)]).clusters[0]
        for resource in pictured_resources(cluster):
            held = device_pictures(cluster, resource)
            drawn = sum(
                n.count * s.amount for g in held.groups for n in g.nodes for s in n.slices if s.kind is SliceKind.QUEUE
            )
            known = [(f, qs) for (f, r), qs in promises_of(cluster).cells.items() if r == resource]
            promised = sum(q.promised for f, qs in known if supply_of(cluster).is_known(f, resource) for q in qs)
            assert drawn + sum(held.beyond.values()) == promised, case
