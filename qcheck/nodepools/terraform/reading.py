"""Pools of Terraform plans, states and configurations, and of the Kubernetes manifests that they apply."""

from __future__ import annotations

from qcheck.model.value import TYPE_CHECKING
from qcheck.nodepools.terraform import plan, pools

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from qcheck.documents.cursor import Cursor
    from qcheck.documents.text import Text
    from qcheck.model.nodes import NodePool
    from qcheck.model.problems import Problem
    from qcheck.nodepools.terraform.resource import Resource
    from qcheck.nodepools.world import World

MANIFESTS = frozenset({"kubernetes_manifest", "kubectl_manifest"})


def read_pools(root: Cursor, world: World) -> Iterator[NodePool]:
    """The pools of a JSON document; none if it is no plan or state."""
    if plan.is_plan(root):
        yield from of_resources(list(plan.resources(root)), world)


def read_configurations(texts: Sequence[Text], world: World) -> tuple[list[NodePool], list[Problem]]:
    """The pools of HCL files, and the files that are no HCL."""
    from qcheck.nodepools.terraform.configuration import configurations

    roots, problems = configurations(texts)
    return [pool for root in roots for pool in of_resources(list(root.resources()), world)], problems


def of_resources(resources: Sequence[Resource], world: World) -> Iterator[NodePool]:
    from importlib import import_module

    from qcheck.nodepools import READERS

    yield from pools.read(resources, world.own)
    for resource in resources:
        if resource.type.startswith("module "):
            from qcheck.nodepools.terraform import modules

            yield from (pools.repeated(pool, resource.doubt) for pool in modules.read(resource, world.own))
        elif resource.type in MANIFESTS:
            manifest = resource.values["manifest"]
            group = (manifest["apiVersion"].text() or "").rpartition("/")[0]
            module = READERS.get((group, manifest["kind"].text() or ""))
            if module is not None:
                yield from import_module(f"qcheck.nodepools.{module}").read_pools(manifest, world)
