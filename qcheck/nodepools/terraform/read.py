"""Pools of Terraform plans, states and configurations, and of the Kubernetes manifests that they apply."""

from __future__ import annotations

import posixpath
from importlib import import_module

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.nodepools.formats import READERS, REFERRED
from qcheck.nodepools.terraform import manifests, modules, plan, pools
from qcheck.nodepools.terraform.configuration import too_much
from qcheck.nodepools.terraform.directories import configurations
from qcheck.nodepools.terraform.disabled_pools import switched_off
from qcheck.nodepools.terraform.effort import TooMuch
from qcheck.nodepools.terraform.unread_sources import elsewhere

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from qcheck.cluster.nodes import NodePool
    from qcheck.cluster.problems import Problem
    from qcheck.documents.cursor import Cursor
    from qcheck.documents.text import Text
    from qcheck.nodepools.pool import PoolContext
    from qcheck.nodepools.terraform.resource import Resource


def read_pools(root: Cursor, context: PoolContext) -> Iterator[NodePool]:
    """Yield the pools of a JSON document; none if it is not a plan or state."""
    if plan.is_plan(root):
        yield from of_resources(list(plan.resources(root)), context)


def read_configurations(texts: Sequence[Text], context: PoolContext) -> tuple[list[NodePool], list[Problem]]:
    """Return the pools of HCL files, and problems for invalid files and unknown manifests."""
    roots, problems = configurations(texts)
    folders = {posixpath.normpath(posixpath.dirname(t.path) or ".") for t in texts}
    found: list[list[Resource]] = []
    for root in roots:
        try:
            resources = list(root.resources())
            disabled = list(switched_off(root, resources))
        except TooMuch:
            problems.append(too_much(root))
            continue
        found.append(resources)
        problems += [
            *manifests.unread(resources),
            *elsewhere(resources, folders),
            *disabled,
        ]
    return [pool for resources in found for pool in of_resources(resources, context)], problems


def of_resources(resources: Sequence[Resource], context: PoolContext) -> Iterator[NodePool]:
    found = [(r, manifests.manifests(r)) for r in resources]
    objects = [(manifests.kind_of(m), m, r.doubt is None) for r, mine in found for m in mine.objects]
    context.broken += [fault for _, mine in found for fault in mine.faults]
    for (group, kind), each, _ in objects:
        if (group, kind) in REFERRED:
            context.add(group, kind, each)
    yield from pools.read(resources, context.own)
    for resource in resources:
        if resource.type.startswith("module "):
            yield from (pools.repeated(pool, resource.doubt) for pool in modules.read(resource, context.own))
    for key, each, is_certain in objects:
        if key not in READERS and key not in REFERRED:
            context.applied.append((each, is_certain))
        elif key in READERS:
            yield from import_module(f"qcheck.nodepools.{READERS[key]}").read_pools(each, context)
