"""Problems that do not occur in the release of Kueue that the files install."""

from __future__ import annotations

from qcheck.cluster.policy import Release
from qcheck.cluster.problems import ProblemCode
from qcheck.cluster.value import TYPE_CHECKING, replace

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence, Set

    from qcheck.cluster.kueue_install import KueueInstall
    from qcheck.cluster.problems import Problem

    Key = tuple[str, str, tuple[str | int, ...], ProblemCode]

REFUSALS = (ProblemCode.API_REJECTED, ProblemCode.UNKNOWN_FIELD, ProblemCode.CONFIGURATION_REJECTED)


def by_installed_release(
    problems: Sequence[Problem],
    install: KueueInstall,
    assumed: Release,
    judged_by: Callable[[Release, Set[str]], Sequence[Problem]],
) -> list[Problem]:
    """Return the problems; those that do not occur in the installed release are uncertain and have no fix.

    `judged_by` returns the problems of the objects in some files for a release.
    """
    refused = {p.place.origin.path for p in problems if p.code in REFUSALS}
    if install.release is None or not refused:
        return list(problems)
    installed = Release(*install.release)
    if installed == assumed:
        return list(problems)
    same = set(map(_key, judged_by(installed, refused)))
    return [p if p.code not in REFUSALS or _key(p) in same else _doubted(p, install, installed) for p in problems]


def _key(problem: Problem) -> Key:
    """Return what identifies a problem; the line, because the documents of a file have equal routes."""
    return problem.place.origin.path, problem.place.line, problem.place.route, problem.code


def _doubted(problem: Problem, install: KueueInstall, release: Release) -> Problem:
    fix = problem.help
    return replace(
        problem,
        certain=False,
        help=f'Set `kueue: "{release}"` in the settings if the cluster runs that release, which accepts this.'
        + (f" Before an upgrade, {fix[:1].lower()}{fix[1:]}" if fix else ""),
        fixes=(),
        related=(*problem.related, install.place.named(f"this installs Kueue {release}")),
    )
