"""From loaded files to one model per cluster: decode, validate and assemble, joined."""

from __future__ import annotations

import posixpath

from qcheck.cluster.assemble import assemble
from qcheck.cluster.place import Place
from qcheck.cluster.problems import Problem, ProblemCode, Unread
from qcheck.cluster.value import TYPE_CHECKING, replace
from qcheck.documents import limits
from qcheck.documents.load import load
from qcheck.findings.result import NotRead
from qcheck.kinds.decode import (
    is_definition,
    is_of_cluster,
    mentions_configuration,
    mentions_install,
    mentions_layouts,
    mentions_volcano_scheduler,
    roots,
)
from qcheck.kinds.schema.catalogue import KAI, VOLCANO
from qcheck.kinds.validation.target import ServedVersions, Target
from qcheck.nodepools.formats import may_be_unread
from qcheck.pipeline import validation
from qcheck.pipeline.deep_queues import without_deep_queues
from qcheck.pipeline.objects import decoded, objects_of
from qcheck.pipeline.relevance import concerns_queues_text, kinds_in
from qcheck.sources.files import File

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.kueue_configuration import Configuration
    from qcheck.cluster.kueue_install import KueueInstall
    from qcheck.cluster.mig import MigLayout
    from qcheck.cluster.nodes import Machine
    from qcheck.cluster.policy import Policy, Release
    from qcheck.cluster.running import State
    from qcheck.cluster.volcano import VolcanoScheduler
    from qcheck.documents.cursor import Cursor
    from qcheck.documents.fault import Fault
    from qcheck.documents.load import Loaded
    from qcheck.pipeline.render import Renders
    from qcheck.pipeline.unrendered_files import UnrenderedFiles
    from qcheck.settings import ClusterScope, Settings

ARGO, FLUX = "argoproj.io/", ".toolkit.fluxcd.io/"


def model(
    scope: ClusterScope,
    as_is: UnrenderedFiles,
    own_types: Mapping[str, Machine],
    renders: Renders | None = None,
    unread: Iterable[Unread] = (),
) -> Cluster:
    """Return the cluster decoded and assembled from its files and their rendered output.

    `unread` are inputs that could not be read at all.
    """
    rendered = renders.loaded if renders else ()
    files = [*rendered, *as_is.files]
    found = objects_of(rendered, as_is, own_types)
    configuration, misconfigured = _configuration(files, scope.policy.kueue)
    install, oldest = _installs(files)
    target = _target(scope.policy, configuration, install, oldest)
    rejected = validation.begin(found.written, target)
    scheduler, misread = _volcano_scheduler(scope, files)
    own, state = _own(found.distinct.first)
    kept = without_deep_queues(list(decoded(own)))
    problems, not_read = _gaps(files, as_is, renders)

    def judged_by(release: Release, paths: Set[str]) -> list[Problem]:
        written = [m for m in found.written if m.document.path in paths or is_definition(m)]
        other = replace(target, release=(release.major, release.minor))
        return [*_configuration(files, release)[1], *validation.refused(written, other)]

    refused = [*misconfigured, *(p for p in rejected() if not as_is.is_completed(p))]
    return assemble(
        scope.name,
        _policy(scope.policy, files),
        [*kept.objects, *found.nodes],
        found.pools,
        configuration=configuration,
        install=install,
        problems=[
            *problems,
            *_as_installed(refused, install, scope.policy.kueue, judged_by),
            *misread,
            *found.problems,
            *kept.problems,
        ],
        copies=decoded([*found.distinct.others, *found.uncertain]),
        unread=[*not_read, *found.unread, *kept.unread, *unread],
        mig_layouts=_mig_layouts(files),
        volcano_scheduler=scheduler,
        live=found.is_live,
        state=state,
    )


def _as_installed(
    refused: list[Problem],
    install: KueueInstall | None,
    assumed: Release,
    judged_by: Callable[[Release, Set[str]], list[Problem]],
) -> list[Problem]:
    """Return the problems; those that the installed release does not have are no proof."""
    if install is None or not refused:
        return refused
    from qcheck.pipeline.installed_release import by_installed_release  # 0.3 ms

    return by_installed_release(refused, install, assumed, judged_by)


def _own(manifests: list[Cursor]) -> tuple[list[Cursor], State | None]:
    """Return the objects that somebody configured, and the runtime state; None if no object is from a cluster."""
    if not any(is_of_cluster(r.data) for r in manifests):
        return manifests, None
    from qcheck.kinds.running import split  # 0.4 ms

    return split(manifests)


def _gaps(
    files: Sequence[Loaded], as_is: UnrenderedFiles, renders: Renders | None
) -> tuple[list[Problem], list[Unread]]:
    """Return problems of files that cannot be read or are not rendered, and what these may define."""
    applications, brought = _applications(as_is.files)
    faults = [_problem(fault) for f in files for fault in f.faults if not _is_no_news(f, fault, as_is)]
    failed = [Unread(n.path) for n in (renders.failed if renders else ())]
    return [*faults, *as_is.problems, *applications], [
        *_unread_files(files, as_is),
        *as_is.unread,
        *brought,
        *failed,
        *_unread_formats(files),
    ]


def _unread_formats(files: Sequence[Loaded]) -> Iterable[Unread]:
    """Return the files that define node pools in a format that is not read."""
    if not any(may_be_unread(f.text.text) for f in files):
        return ()
    from qcheck.pipeline.unread_formats import unread_formats  # 0.3 ms

    return unread_formats(files)


def _target(
    policy: Policy, configuration: Configuration | None, install: KueueInstall | None, oldest: KueueInstall | None
) -> Target:
    """Return the releases and gates by which a cluster's API server and webhooks judge."""
    others = {**dict.fromkeys(KAI, policy.kai.release), **dict.fromkeys(VOLCANO, policy.volcano.release)}
    return Target(
        release=(policy.kueue.major, policy.kueue.minor),
        gates={**(install.gates if install else {}), **(configuration.feature_gates if configuration else {})},
        others=others,
        installed=(ServedVersions(oldest.place, oldest.release),) if oldest else (),
    )


def _configuration(loaded: Iterable[Loaded], release: Release) -> tuple[Configuration | None, list[Problem]]:
    """Return the manager's Configuration, if a file contains one, and problems with it."""
    documents = [d for f in loaded if mentions_configuration(f.text.text) for d in f.documents]
    if not documents:
        return None, []
    from qcheck.kinds.configuration import read_configuration  # 0.7 ms

    return read_configuration(documents, (release.major, release.minor))


def _policy(policy: Policy, loaded: Sequence[Loaded]) -> Policy:
    """Return the settings, completed by what the values of charts state."""
    if policy.kai.gpu_sharing is not None or not any("gpuSharing" in f.text.text for f in loaded):
        return policy
    from qcheck.kinds.kai_install import shares_gpus  # 0.5 ms

    return replace(policy, kai=replace(policy.kai, gpu_sharing=True)) if shares_gpus(loaded) else policy


def _installs(loaded: Sequence[Loaded]) -> tuple[KueueInstall | None, KueueInstall | None]:
    """Return the installation of Kueue, as far as the files agree, and the oldest one."""
    if not any(mentions_install(f.text.text) for f in loaded):
        return None, None
    from qcheck.cluster.kueue_install import agreed, oldest  # 0.1 ms
    from qcheck.kinds.kueue_install import read_installs  # 0.7 ms

    installs = read_installs(loaded)
    return agreed(installs), oldest(installs)


def _volcano_scheduler(scope: ClusterScope, loaded: Iterable[Loaded]) -> tuple[VolcanoScheduler | None, list[Problem]]:
    """Return the configuration of Volcano's scheduler, if a file contains one, and problems with it."""
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
    """Return a file that the settings name and that is not among the paths; nothing if unreadable (see QC014)."""
    try:
        return [load(File(path, path).read(limits.DEFAULT.bytes), path)]
    except OSError:
        return []


def _applications(loaded: Sequence[Loaded]) -> tuple[list[Problem], list[Unread]]:
    """Return what Argo CD and Flux bring in that is not read, if a file mentions them."""
    if not any(ARGO in f.text.text or FLUX in f.text.text for f in loaded):
        return [], []
    from qcheck.pipeline.gitops_sources import unread  # 2 ms

    return unread(loaded)


def _mig_layouts(loaded: Iterable[Loaded]) -> tuple[MigLayout, ...]:
    """Return the MIG layouts of mig-parted, if a file states them."""
    documents = [d for f in loaded if mentions_layouts(f.text.text) for d in f.documents]
    if not documents:
        return ()
    from qcheck.kinds.mig import read_layouts  # 0.5 ms

    return read_layouts(documents)


def _is_no_news(file: Loaded, fault: Fault, as_is: UnrenderedFiles) -> bool:
    """Return whether a template belongs to a chart that is reported as a whole, or does not concern queues."""
    is_template = fault.code is ProblemCode.TEMPLATE_NOT_RENDERED
    return is_template and (file.text.path in as_is.in_charts or not concerns_queues_text(file.text.text))


def _unread_files(loaded: Iterable[Loaded], as_is: UnrenderedFiles) -> Iterator[Unread]:
    """Yield files that could be read only in part."""
    for file in loaded:
        if left_out([file]) and file.text.path not in as_is.in_charts:
            kinds = kinds_in(file.text.text)
            is_no_news = all(_is_no_news(file, fault, as_is) for fault in file.faults)
            yield Unread(file.text.path, frozenset() if kinds is None and is_no_news else kinds)


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
    """Return files that could be read only in part; repeated keys do not count."""
    return [
        NotRead(f.text.path, fault.message)
        for f in loaded
        for fault in f.faults
        if fault.code is not ProblemCode.DUPLICATE_KEY
    ]


def unjudged_rules(loaded: Iterable[Loaded], settings: Settings) -> list[NotRead]:
    """Return CEL rules of CustomResourceDefinitions that cannot be evaluated here."""
    if not any(validation.mentions_definition(f.text.text) for f in loaded):
        return []
    manifests = [r for f in loaded for d in f.documents for r in roots(d)]
    release = settings.policy.kueue
    return [NotRead(path, why) for path, why in validation.unjudged(manifests, (release.major, release.minor))]
