"""Versions of the schedulers' APIs: which release serves which version, and the fields that Kueue's older ones lack."""

from __future__ import annotations

from qcheck.cluster.did_you_mean import nearest
from qcheck.cluster.place import Place
from qcheck.cluster.problems import Problem, ProblemCode
from qcheck.cluster.value import TYPE_CHECKING, replace
from qcheck.kinds.schema.catalogue import (
    CONFIG,
    CONFIG_SERVED,
    DEPRECATED_SINCE,
    KAI,
    KUEUE,
    NOT_DEPRECATED,
    SERVED,
    described,
    described_versions,
)
from qcheck.kinds.schema.failure import field_path

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from qcheck.cluster.objects import ObjectId
    from qcheck.documents.cursor import Cursor
    from qcheck.kinds.schema.catalogue import Release
    from qcheck.kinds.validation.target import Target


FORMER_KINDS = {"Queue": "LocalQueue"}
"""Kinds of the first releases that were later renamed."""


def version_problems(root: Cursor, identity: ObjectId, release: Release) -> Iterator[Problem]:
    """Yield the problems of an object's apiVersion; none for other groups, whose versions depend on the cluster."""
    versions = described_versions(identity.group, identity.kind)
    if versions and identity.version and identity.version not in versions:
        yield _of_no_release(root, identity, versions)
    if identity.group == CONFIG and release < CONFIG_SERVED.get(identity.version, ((999, 0), ()))[0]:
        message = (
            f"Kueue {shown(release)} does not read {identity.api_version}; it reads v1beta1 and, from 0.15 on, v1beta2"
        )
        place = Place(root.document, (*root.route, "apiVersion"))
        yield Problem(
            code=ProblemCode.CONFIGURATION_REJECTED,
            place=place,
            message=message,
            help="",
            object=identity,
            related=(),
            data={"check": "CFG-KEY", "field": "apiVersion"},
        )
    if identity.group != KUEUE or not identity.version:
        return
    if identity.kind not in SERVED and identity.kind not in FORMER_KINDS:
        yield _unknown_kind(root, identity)
        return
    served = served_versions(identity.kind, release)
    if identity.version not in served:
        yield _gone(root, identity, release, served)
        return
    is_flagged = DEPRECATED_SINCE.get(identity.version, (999, 0)) <= release
    if is_flagged and (identity.kind, identity.version) not in NOT_DEPRECATED:
        yield Problem(
            code=ProblemCode.API_VERSION_DEPRECATED,
            place=Place(root.document, (*root.route, "apiVersion")),
            message=f"{identity.api_version} {identity.kind} is deprecated in Kueue {shown(release)}",
            help=f"Write apiVersion: {KUEUE}/{served[-1]}; `qcheck check --fix` rewrites the fields that changed.",
            object=identity,
            related=(),
            data={"version": identity.version, "newest": served[-1]},
        )
    yield from _lost(root, identity)


def served_versions(kind: str, release: Release) -> list[str]:
    """Return the versions of a kind that a release serves, oldest first."""
    return [v for v, (since, gone) in SERVED.get(kind, {}).items() if since <= release < gone]


def installed_versions(kind: str, target: Target) -> Iterator[tuple[Place, Sequence[str]]]:
    """Yield the versions of a kind that each installed release or definition serves, with its place."""
    for each in target.installed:
        if each.release is not None:
            yield each.place.named(f"this installs Kueue {shown(each.release)}"), served_versions(kind, each.release)
        elif kind in each.by_kind:
            versions = each.by_kind[kind]
            yield each.place.named(f"this definition serves {', '.join(versions)}"), versions


def by_installation(problem: Problem, target: Target) -> Problem:
    """Return a problem with an apiVersion; it is uncertain if the files install something older that serves that version."""
    identity = problem.object
    if identity is None or problem.code not in (ProblemCode.API_VERSION_DEPRECATED, ProblemCode.API_VERSION_GONE):
        return problem
    is_gone = problem.code is ProblemCode.API_VERSION_GONE
    fix = problem.help
    for place, versions in installed_versions(identity.kind, target):
        newest = served_versions(identity.kind, target.release)[-1:]
        lacks_newest = not newest or newest[0] not in versions
        if identity.version in versions and (is_gone or lacks_newest):
            problem = replace(problem, related=(*problem.related, place), certain=False)
            if lacks_newest and fix:
                problem = replace(problem, help=f"Upgrade Kueue first, then {fix[:1].lower()}{fix[1:]}")
    return problem


def shown(release: Release) -> str:
    return f"{release[0]}.{release[1]}"


def _gone(root: Cursor, identity: ObjectId, release: Release, served: list[str]) -> Problem:
    span = SERVED.get(identity.kind, {}).get(identity.version)
    if span is None:
        why = "only releases before 0.3 served it" if identity.version.startswith("v1alpha") else "no release serves it"
    elif release < span[0]:
        why = f"release {shown(span[0])} introduced it"
    else:
        why = f"release {shown(span[1])} removed it"
    instead = f"Remove it: this release has no {identity.kind}."
    if identity.kind in FORMER_KINDS:
        kind = FORMER_KINDS[identity.kind]
        version = served_versions(kind, release)[-1]
        instead = f"Write apiVersion: {KUEUE}/{version} and kind: {kind}; {identity.kind} has been renamed."
    elif served:
        changes = list(_changed_fields(root, identity.kind, release, served[-1]))
        instead = f"Write apiVersion: {KUEUE}/{served[-1]}" + "".join(f"; {change}" for change in changes) + "."
    return Problem(
        code=ProblemCode.API_VERSION_GONE,
        place=Place(root.document, (*root.route, "apiVersion")),
        message=f"Kueue {shown(release)} does not serve {identity.api_version} {identity.kind}: {why}",
        help=instead,
        object=identity,
        related=(),
        data={"version": identity.version, "served": ", ".join(served)},
    )


def _of_no_release(root: Cursor, identity: ObjectId, versions: tuple[str, ...]) -> Problem:
    title = "KAI" if identity.group in KAI else "Volcano"
    return Problem(
        code=ProblemCode.API_VERSION_GONE,
        place=Place(root.document, (*root.route, "apiVersion")),
        message=f"{title} does not serve {identity.api_version} {identity.kind}: it serves {identity.group}/{versions[-1]}",
        help=f"Write apiVersion: {identity.group}/{versions[-1]}, and compare the fields with that version.",
        object=identity,
        related=(),
        data={"version": identity.version, "served": ", ".join(versions)},
    )


def _changed_fields(root: Cursor, kind: str, release: Release, version: str) -> Iterator[str]:
    """Yield how each field of an object that another version lacks has to change."""
    from qcheck.kinds.schema.renames import renamed  # 0.1 ms

    found = described(KUEUE, version, kind, release)
    failures = (found.check(root.data) or ()) if found is not None else ()
    for failure in failures:
        if failure.code is ProblemCode.UNKNOWN_FIELD:
            names = tuple(step for step in failure.route if isinstance(step, str))
            name, _ = renamed(kind, names) or (failure.near or "", "")
            path = field_path(failure.route)
            yield f"{path} is {name} there" if name else f"it has no {path}"


def _unknown_kind(root: Cursor, identity: ObjectId) -> Problem:
    near = nearest(identity.kind, SERVED)
    return Problem(
        code=ProblemCode.API_REJECTED,
        place=Place(root.document, (*root.route, "kind")),
        message=f'no matches for kind "{identity.kind}" in version "{identity.api_version}"',
        help=f"Write kind: {near}." if near else "",
        object=identity,
        related=(),
        data={"check": "KIND", "field": "kind"},
    )


def _lost(root: Cursor, identity: ObjectId) -> Iterator[Problem]:
    """Yield a problem for a field that the conversion from v1beta1 to the stored version drops silently."""
    spec = root["spec"]
    plain, strategy = spec["admissionChecks"], spec["admissionChecksStrategy"]["admissionChecks"]
    if identity.version != "v1beta1" or identity.kind != "ClusterQueue" or not (plain.data and strategy.data):
        return
    yield Problem(
        code=ProblemCode.UNKNOWN_FIELD,
        place=Place(root.document, strategy.route, "", True),
        message="spec.admissionChecksStrategy is dropped, with all its onFlavors: if both are set, the plain list "
        "spec.admissionChecks overwrites it",
        help="Remove admissionChecks, and keep the checks in admissionChecksStrategy.",
        object=identity,
        related=(Place(root.document, plain.route, "this list is kept", True),),
        data={"check": "A02", "field": "spec.admissionChecksStrategy.admissionChecks"},
    )
