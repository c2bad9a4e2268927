"""The line, joined once: discover, load, decode, model, check, settle.

from qcheck.api import audit
result = audit(["clusters/prod"])
"""

from __future__ import annotations

from qcheck.checks.run import run
from qcheck.documents.load import load
from qcheck.findings.catalogue import choose, load_catalogue
from qcheck.findings.result import Inputs, NotRead
from qcheck.findings.settle import settle
from qcheck.kinds.decode import decode, is_wanted, roots
from qcheck.model.assemble import assemble
from qcheck.model.place import Place
from qcheck.model.problems import Problem
from qcheck.model.value import TYPE_CHECKING
from qcheck.nodepools import read as read_pools
from qcheck.settings import ClusterScope, Settings
from qcheck.sources.files import discover

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from qcheck.documents.load import Fault, Loaded
    from qcheck.findings.catalogue import Rule
    from qcheck.findings.result import Result
    from qcheck.model.cluster import Cluster


def audit(paths: Sequence[str], settings: Settings | None = None) -> Result:
    """Checks everything under `paths` and returns the settled result. Never raises for what the inputs hold."""
    settings = settings or Settings()
    catalogue = load_catalogue()
    rules = chosen_rules(catalogue, settings)
    files, not_read = read(paths)
    clusters = [model(scope, files, settings) for scope in settings.clusters or (ClusterScope("default"),)]
    outcomes = [run(cluster, rules, settings.params, catalogue) for cluster in clusters]
    objects = sum(len(c.all_objects()) + len(c.pools) for c in clusters)
    unjudged = [f"{n.path}: {n.why}" for n in not_read] + [c for o in outcomes for c in o.crashed]
    if not objects and not any(c.problems for c in clusters):
        unjudged.append("nothing relevant was found: no Kueue object, node pool or workload")
    inputs = Inputs(
        files=len(files),
        documents=sum(len(f.documents) + f.passed_over for f in files),
        objects=objects,
        not_read=(*not_read, *_left_out(files)),
        skipped=tuple(s for o in outcomes for s in o.skipped),
        unjudged=tuple(unjudged),
    )
    findings = [f for o in outcomes for f in o.findings]
    return settle(findings, files, inputs, rules, clusters, settings)


def chosen_rules(catalogue: dict[str, Rule], settings: Settings) -> tuple[Rule, ...]:
    """The rules that settings select and do not ignore; an empty selection is all of them."""
    selected, _ = choose(catalogue.values(), settings.select) if settings.select else (set(catalogue), [])
    ignored, _ = choose(catalogue.values(), settings.ignore)
    return tuple(r for r in catalogue.values() if r.id in selected - ignored)


def read(paths: Sequence[str]) -> tuple[list[Loaded], tuple[NotRead, ...]]:
    """Discover and load: every file once, in order."""
    found = discover(paths)
    files = [load(f.read(), f.path, wanted=is_wanted) for f in found.files]
    return files, tuple(NotRead(path, why) for path, why in found.not_read)


def model(scope: ClusterScope, files: Iterable[Loaded], settings: Settings) -> Cluster:
    """Decode and assemble the files that belong to one cluster."""
    mine = [f for f in files if scope.holds(f.text.path)]
    documents = [d for f in mine for d in f.documents]
    objects = [o for d in documents for r in roots(d) if (o := decode(r)) is not None]
    pools, nodes, pool_problems = read_pools(documents)
    problems = [_problem(fault) for f in mine for fault in f.faults]
    return assemble(
        scope.name,
        settings.policy,
        [*objects, *nodes],
        pools,
        problems=[*problems, *pool_problems],
        unread=[f.text.path for f in mine if f.faults],
    )


def _problem(fault: Fault) -> Problem:
    return Problem(
        fault.code,
        Place(fault.spot),
        fault.message,
        fault.help,
        related=tuple(Place(spot, caption=caption) for caption, spot in fault.related),
        data=dict(fault.data),
    )


def _left_out(files: Iterable[Loaded]) -> list[NotRead]:
    """Files of which something could not be read."""
    unread = ("yaml-syntax", "template-not-rendered", "limit", "not-text")
    return [NotRead(f.text.path, fault.message) for f in files for fault in f.faults if fault.code in unread]
