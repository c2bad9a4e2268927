"""From loaded files to one model per cluster: decode, validate and assemble, joined."""

from __future__ import annotations

import posixpath
from functools import partial

from qcheck.cluster.assemble import assemble
from qcheck.cluster.place import Place
from qcheck.cluster.problems import Problem, ProblemCode
from qcheck.cluster.unread import NODES, Unread
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.documents.load import load
from qcheck.findings.result import NotRead
from qcheck.kinds import validate_cluster
from qcheck.kinds.decode import (
    decode,
    mentions_configuration,
    mentions_layouts,
    mentions_volcano_scheduler,
    roots,
)
from qcheck.kinds.running import split
from qcheck.kinds.schema.catalogue import KAI, VOLCANO
from qcheck.kinds.shared_fields import object_id
from qcheck.kinds.validation.target import Target
from qcheck.nodepools import formats
from qcheck.nodepools.read import read as read_pools
from qcheck.pipeline.deep_queues import without_deep_queues
from qcheck.pipeline.duplicates import distinct
from qcheck.pipeline.relevance import concerns_queues_text, kinds_in
from qcheck.pipeline.second_process import beside
from qcheck.pipeline.terraform_objects import applied
from qcheck.sources.files import is_live

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.kueue_configuration import Configuration
    from qcheck.cluster.mig import MigLayout
    from qcheck.cluster.nodes import Machine, Node, NodePool
    from qcheck.cluster.objects import Object
    from qcheck.cluster.policy import Policy, Release
    from qcheck.cluster.volcano import VolcanoScheduler
    from qcheck.documents.cursor import Cursor
    from qcheck.documents.fault import Fault
    from qcheck.documents.load import Loaded
    from qcheck.documents.text import Text
    from qcheck.pipeline.render import Renders
    from qcheck.pipeline.unrendered_files import UnrenderedFiles
    from qcheck.settings import ClusterScope, Settings

ARGO, FLUX = "argoproj.io/", "helm.toolkit.fluxcd.io/"
MANY = 1000
"""Objects of which a second process pays for its start."""
SHARE = 4
"""One of so many objects is judged here, beside decoding them all."""


def model(
    scope: ClusterScope,
    as_is: UnrenderedFiles,
    own_types: Mapping[str, Machine],
    renders: Renders | None = None,
    unread: Iterable[Unread] = (),
) -> Cluster:
    """Decode and assemble what one cluster's files hold, and what was rendered for it.

    `unread` are inputs that could not be read at all.
    """
    made = renders.loaded if renders else ()
    mine = [*made, *as_is.files]
    found, live = _of_files_first([*(r for f in made for d in f.documents for r in roots(d)), *as_is.objects()])
    defined = _defined(found, own_types, [f.text for f in mine if f.text.path.endswith(formats.HCL)])
    configuration, misconfigured = _configuration(mine, scope.policy.kueue)
    judged = [*defined.manifests, *defined.copies]
    refused = _refused(_written(judged) if live else judged, _target(scope.policy, configuration))
    scheduler, misread = _volcano_scheduler(scope, mine)
    applications, brought = _applications(as_is.files)
    own, state = split(defined.manifests)
    kept = without_deep_queues(list(_decoded(own)))
    problems = [_problem(fault) for f in mine for fault in f.faults if not _is_no_news(f, fault, as_is)]
    problems += [*as_is.problems, *misconfigured, *misread, *(p for p in refused() if not as_is.is_completed(p))]
    return assemble(
        scope.name,
        scope.policy,
        [*kept.objects, *defined.nodes],
        defined.pools,
        configuration=configuration,
        problems=[*problems, *defined.problems, *applications, *kept.problems],
        copies=_decoded(defined.copies),
        unread=[
            *_unread_files(mine, defined.problems, as_is),
            *as_is.unread,
            *defined.unread,
            *brought,
            *(Unread(n.path) for n in (renders.failed if renders else ())),
            *kept.unread,
            *unread,
        ],
        mig_layouts=_mig_layouts(mine),
        volcano_scheduler=scheduler,
        live=live,
        state=state,
    )


class _Defined(Value):
    """Every object once, with definitions that differ from it in `copies`, and the node pools; what is wrong with them."""

    manifests: list[Cursor]
    copies: list[Cursor]
    pools: tuple[NodePool, ...]
    nodes: tuple[Node, ...]
    problems: list[Problem]
    unread: list[Unread]


def _defined(found: list[Cursor], own_types: Mapping[str, Machine], hcl: list[Text]) -> _Defined:
    """The objects of files, and those that Terraform applies."""
    alike = distinct(found)
    pools, nodes, problems, others_applied = read_pools(alike.first, own_types, hcl)
    by_terraform = applied(others_applied)
    if by_terraform.objects:
        alike = distinct([*found, *by_terraform.objects])
    return _Defined(
        manifests=alike.first,
        copies=alike.others,
        pools=pools,
        nodes=nodes,
        problems=[*problems, *by_terraform.problems, *alike.problems],
        unread=by_terraform.unread,
    )


def _decoded(manifests: Iterable[Cursor]) -> Iterator[Object]:
    return (o for r in manifests if not formats.describes_nodes(r) and (o := decode(r)) is not None)


def _target(policy: Policy, configuration: Configuration | None) -> Target:
    """Return what the API server and the webhooks of a cluster judge by."""
    others = {**dict.fromkeys(KAI, policy.kai.release), **dict.fromkeys(VOLCANO, policy.volcano.release)}
    gates = configuration.feature_gates if configuration else {}
    return Target((policy.kueue.major, policy.kueue.minor), gates, others)


def _written(manifests: list[Cursor]) -> list[Cursor]:
    """Those that a file holds: what a cluster holds its API server has accepted."""
    written = {path for path in {r.document.path for r in manifests} if not is_live(path)}
    return [r for r in manifests if r.document.path in written]


def _of_files_first(manifests: list[Cursor]) -> tuple[list[Cursor], bool]:
    """The objects without those of a live cluster that files define too, and whether there is a live cluster."""
    live = {path for path in {r.document.path for r in manifests} if is_live(path)}
    if not live:
        return manifests, False
    defined = {_identity(r) for r in manifests if r.document.path not in live}
    return [r for r in manifests if r.document.path not in live or _identity(r) not in defined], True


def _identity(root: Cursor) -> tuple[str, str, str | None, str]:
    found = object_id(root)
    return found.group, found.kind, found.namespace, found.name


def _refused(manifests: list[Cursor], target: Target) -> Callable[[], list[Problem]]:
    """Begins to judge the objects, and returns what waits for the problems. Of many objects a second process looks for
    those that have problems, while they are decoded here.
    """
    if len(manifests) < MANY or validate_cluster.has_definitions(manifests):
        return partial(validate_cluster.refused, manifests, target)

    def problems(at: int) -> list[Problem]:
        return validate_cluster.refused([manifests[at]], target)

    mine, theirs = range(0, len(manifests), SHARE), [at for at in range(len(manifests)) if at % SHARE]
    faulty = beside(lambda: [at for at in theirs if problems(at)])

    def wait() -> list[Problem]:
        found = {at: problems(at) for at in mine}
        told = faulty()
        found |= {at: problems(at) for at in (theirs if told is None else told)}
        return [problem for at in sorted(found) for problem in found[at]]

    return wait


def _configuration(loaded: Iterable[Loaded], release: Release) -> tuple[Configuration | None, list[Problem]]:
    """The manager's Configuration, where some file speaks of one."""
    documents = [d for f in loaded if mentions_configuration(f.text.text) for d in f.documents]
    if not documents:
        return None, []
    from qcheck.kinds.configuration import read_configuration  # 0.7 ms

    return read_configuration(documents, (release.major, release.minor))


def _volcano_scheduler(scope: ClusterScope, loaded: Iterable[Loaded]) -> tuple[VolcanoScheduler | None, list[Problem]]:
    """The configuration of Volcano's scheduler, where some file has one."""
    files, named = list(loaded), scope.policy.volcano.scheduler
    wanted = None if named is None else posixpath.normpath(posixpath.join(scope.root, named))
    if wanted is not None and all(posixpath.normpath(f.text.path) != wanted for f in files):
        files += _named_file(wanted)
    documents = [d for f in files if mentions_volcano_scheduler(f.text.text) for d in f.documents]
    if not documents:
        return None, []
    from qcheck.kinds.volcano_scheduler import read_scheduler  # 0.9 ms

    return read_scheduler(documents, wanted)


def _named_file(path: str) -> list[Loaded]:
    """A file that the settings name and that is not among the paths; nothing if it cannot be read, which QC014 tells."""
    try:
        with open(path, "rb") as file:
            return [load(file.read(), path)]
    except OSError:
        return []


def _applications(loaded: Sequence[Loaded]) -> tuple[list[Problem], list[Unread]]:
    """Return what Argo CD and Flux bring in that is not read, if a file mentions them."""
    if not any(ARGO in f.text.text or FLUX in f.text.text for f in loaded):
        return [], []
    from qcheck.pipeline.gitops_sources import unread  # 1 ms

    return unread(loaded)


def _mig_layouts(loaded: Iterable[Loaded]) -> tuple[MigLayout, ...]:
    """Return how mig-parted is to cut GPUs, if a file states it."""
    documents = [d for f in loaded if mentions_layouts(f.text.text) for d in f.documents]
    if not documents:
        return ()
    from qcheck.kinds.mig import read_layouts  # 0.5 ms

    return read_layouts(documents)


def _is_no_news(file: Loaded, fault: Fault, as_is: UnrenderedFiles) -> bool:
    """Return whether a template is part of a chart that is named, or has nothing to do with queues."""
    is_template = fault.code is ProblemCode.TEMPLATE_NOT_RENDERED
    return is_template and (file.text.path in as_is.in_charts or not concerns_queues_text(file.text.text))


def _unread_files(loaded: Iterable[Loaded], problems: Iterable[Problem], as_is: UnrenderedFiles) -> Iterator[Unread]:
    """Files of which something could not be read; `problems` are those of node pools."""
    for file in loaded:
        if left_out([file]) and file.text.path not in as_is.in_charts:
            kinds = kinds_in(file.text.text)
            is_no_news = all(_is_no_news(file, fault, as_is) for fault in file.faults)
            yield Unread(file.text.path, frozenset() if kinds is None and is_no_news else kinds)
    for problem in problems:
        if problem.code in (ProblemCode.YAML_SYNTAX, ProblemCode.LIMIT):
            yield Unread(problem.place.origin.path, frozenset({NODES}))
        elif problem.code is ProblemCode.NODES_ELSEWHERE:
            yield Unread(problem.place.origin.path, frozenset({NODES}), problem.place, problem.message)


def _problem(fault: Fault) -> Problem:
    return Problem(
        fault.code,
        Place(fault.spot),
        fault.message,
        fault.help,
        related=tuple(Place(spot, caption=caption) for caption, spot in fault.related),
        data=dict(fault.data),
    )


def left_out(loaded: Iterable[Loaded]) -> list[NotRead]:
    """Files of which something could not be read; a repeated key leaves nothing out."""
    return [
        NotRead(f.text.path, fault.message)
        for f in loaded
        for fault in f.faults
        if fault.code is not ProblemCode.DUPLICATE_KEY
    ]


def unjudged_rules(loaded: Iterable[Loaded], settings: Settings) -> list[NotRead]:
    """CEL rules of CustomResourceDefinitions that cannot be judged here."""
    if not any(validate_cluster.DEFINITION in f.text.text for f in loaded):
        return []
    manifests = [r for f in loaded for d in f.documents for r in roots(d)]
    release = settings.policy.kueue
    return [NotRead(path, why) for path, why in validate_cluster.unjudged(manifests, (release.major, release.minor))]
