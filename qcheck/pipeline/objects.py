"""The objects, pools and nodes of a cluster as one set, from files, renders, Terraform and a running cluster."""

from __future__ import annotations

from qcheck.cluster.problems import NODES, QUEUE_KINDS, Problem, ProblemCode, Unread
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.kinds.decode import decode, roots
from qcheck.kinds.shared_fields import object_id
from qcheck.nodepools import formats
from qcheck.nodepools.read import read as read_pools
from qcheck.pipeline.duplicates import Distinct, distinct
from qcheck.sources.files import is_live

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from qcheck.cluster.nodes import Machine, Node, NodePool
    from qcheck.cluster.objects import Object
    from qcheck.documents.cursor import Cursor
    from qcheck.documents.load import Loaded
    from qcheck.pipeline.unrendered_files import UnrenderedFiles

LOOKED_UP = frozenset({"ClusterQueue", "Cohort", "ResourceFlavor", "Topology", "Queue", "SchedulingShard"})
"""Kinds whose objects have unique names."""


class ClusterObjects(Value):
    """The objects of a cluster, each once, its node pools and nodes, their problems, and what could not be read.

    `uncertain` are objects that may not exist. `is_live`: some objects come from a running cluster.
    """

    distinct: Distinct
    pools: tuple[NodePool, ...]
    nodes: tuple[Node, ...]
    problems: list[Problem]
    unread: list[Unread]
    uncertain: list[Cursor]
    is_live: bool

    @property
    def written(self) -> list[Cursor]:
        """Return all definitions in files; those of a running cluster were already accepted by its API server."""
        definitions = [*self.distinct.first, *self.distinct.others]
        return [r for r in definitions if not is_live(r.document.path)] if self.is_live else definitions


def objects_of(rendered: Sequence[Loaded], as_is: UnrenderedFiles, own_types: Mapping[str, Machine]) -> ClusterObjects:
    """Return the objects of rendered files, of files that are read as they are, and of Terraform."""
    manifests, live = _of_files_first([*(r for f in rendered for d in f.documents for r in roots(d)), *as_is.objects()])
    found = distinct(manifests, as_is.chart_files)
    hcl = [f.text for f in (*rendered, *as_is.files) if f.text.path.endswith(formats.HCL)]
    by_pools = read_pools(found.first, own_types, hcl)
    problems, unread = list(by_pools.problems), list(_unread(by_pools.problems))
    uncertain: list[Cursor] = []
    if by_pools.applied or by_pools.broken:
        from qcheck.pipeline.terraform_objects import applied  # 0.2 ms

        by_terraform = applied(by_pools)
        everything = [*manifests, *by_terraform.objects]
        found = distinct(everything, as_is.chart_files) if by_terraform.objects else found
        problems += by_terraform.problems
        unread += by_terraform.unread
        uncertain = by_terraform.uncertain
    return ClusterObjects(
        distinct=found,
        pools=by_pools.pools,
        nodes=by_pools.nodes,
        problems=[*problems, *found.problems],
        unread=unread,
        uncertain=uncertain,
        is_live=live,
    )


def decoded(manifests: Iterable[Cursor]) -> Iterator[Object]:
    """Yield the typed objects, except those that describe nodes, which are read with the pools.

    Queues and flavors are looked up by name: among several with the same generated or missing name, the first counts.
    """
    seen: set[tuple[str, str, str]] = set()
    for manifest in manifests:
        found = None if formats.describes_nodes(manifest) else decode(manifest)
        if found is None:
            continue
        if found.id.is_generated and found.id.kind in LOOKED_UP:
            key = (found.id.group, found.id.kind, found.id.full_name)
            if key in seen:
                continue
            seen.add(key)
        yield found


def _of_files_first(manifests: list[Cursor]) -> tuple[list[Cursor], bool]:
    """Return the objects without live ones that files also define, and whether there is a live cluster."""
    live = {path for path in {r.document.path for r in manifests} if is_live(path)}
    if not live:
        return manifests, False
    defined = {_identity(r) for r in manifests if r.document.path not in live}
    return [r for r in manifests if r.document.path not in live or _identity(r) not in defined], True


def _identity(root: Cursor) -> tuple[str, str, str | None, str]:
    found = object_id(root)
    return found.group, found.kind, found.namespace, found.name


def _unread(problems: Iterable[Problem]) -> Iterator[Unread]:
    """Yield files that may contain unknown node pools, from the problems with pools."""
    for problem in problems:
        if problem.code in (ProblemCode.YAML_SYNTAX, ProblemCode.LIMIT):
            yield Unread(problem.place.origin.path, frozenset({NODES}))
        elif problem.code is ProblemCode.NODES_ELSEWHERE:
            yield Unread(problem.place.origin.path, frozenset({NODES}), problem.place, problem.message)
        elif problem.code is ProblemCode.QUEUES_ELSEWHERE:
            yield Unread(problem.place.origin.path, QUEUE_KINDS)
