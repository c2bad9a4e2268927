"""Rewrites of an object that do not change its effect on the cluster.

These are canonical quantities, fields under their name in the object's version, and v1beta1 as v1beta2, as Kueue's own
conversion does it. An object that would lose a value, or be rejected afterwards, stays unchanged.
"""

from __future__ import annotations

from qcheck.cluster.edits import Edit, Fix
from qcheck.cluster.place import Place
from qcheck.cluster.problems import ProblemCode
from qcheck.cluster.value import TYPE_CHECKING, replace
from qcheck.documents.cursor import Cursor
from qcheck.documents.edits import Change, Nest, Remove, Rename, Replace, Wrap, changed
from qcheck.kinds.api_versions import by_installation, installed_versions, served_versions
from qcheck.kinds.schema.catalogue import KUEUE, described
from qcheck.kinds.schema.renames import renamed
from qcheck.kinds.shared_fields import object_id
from qcheck.kinds.validate import validate

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from qcheck.cluster.objects import ObjectId
    from qcheck.cluster.problems import Problem
    from qcheck.kinds.schema.node import SchemaNode
    from qcheck.kinds.validation.target import Target

NEWEST = "v1beta2"
OLD = (ProblemCode.API_VERSION_DEPRECATED, ProblemCode.API_VERSION_GONE)
FIXABLE = (*OLD, ProblemCode.QUANTITY_NOT_CANONICAL, ProblemCode.UNKNOWN_FIELD)
OLD_VERSIONS = ("v1alpha1", "v1beta1")
_REFUSED = (ProblemCode.API_REJECTED, ProblemCode.UNKNOWN_FIELD, ProblemCode.API_VERSION_GONE)


def with_fixes(root: Cursor, target: Target, problems: Iterable[Problem]) -> list[Problem]:
    """Return the problems of one object, with the safe fixes that resolve them."""
    found = list(problems)
    if not any(p.code in FIXABLE for p in found):
        return found
    identity = object_id(root)
    quantities = [_canonical(p) for p in found if p.code is ProblemCode.QUANTITY_NOT_CANONICAL]
    is_old = any(p.code in OLD for p in found)
    if is_old and target.installed:
        found = [by_installation(p, target) for p in found]
    can_move = is_old and all(NEWEST in versions for _, versions in installed_versions(identity.kind, target))
    migration = list(_migration(root, identity, target)) if can_move else []
    if migration and not _is_accepted(root, [*quantities, *migration], target):
        migration = []
    return [_with_fix(root, identity, target, problem, migration) for problem in found]


def _with_fix(root: Cursor, identity: ObjectId, target: Target, problem: Problem, migration: list[Change]) -> Problem:
    changes: list[Change] = []
    if problem.code is ProblemCode.QUANTITY_NOT_CANONICAL:
        changes = [_canonical(problem)]
    elif problem.code in OLD:
        changes = migration
    elif problem.code is ProblemCode.UNKNOWN_FIELD and not migration:
        changes = list(_renames(root, identity, target, problem))
    if not changes:
        return problem
    edits = tuple(Edit(Place(root.document, c.route), c.how, c.text) for c in changes)
    return replace(problem, fixes=(Fix(edits, problem.help or _description(changes[0])),))


def _description(change: Change) -> str:
    return f"Write {change.text}."


def _canonical(problem: Problem) -> Change:
    return Replace(problem.place.route, str(problem.data["canonical"]))


def _renames(root: Cursor, identity: ObjectId, target: Target, problem: Problem) -> Iterator[Change]:
    """Yield the renaming of a field whose name differs in the object's version, if nothing else has to change."""
    route = problem.place.route
    inner = route[len(root.route) :]
    if len(inner) != 2 or identity.group != KUEUE:
        return
    new, _ = renamed(identity.kind, tuple(str(s) for s in inner)) or ("", "")
    known = _known_to_all(identity, target, str(inner[0]))
    if new == "admissionChecksStrategy" and new in known:
        yield from _strategy(root["spec"])
    elif new.startswith("clusterSource.") and not root["spec"]["clusterSource"].exists:
        yield Nest(route, "clusterSource")
    elif new in known and not root[inner[0]][new].exists and known[new].kind == "string":
        yield Rename(route, new)


def _known_to_all(identity: ObjectId, target: Target, part: str) -> dict[str, SchemaNode]:
    """Return the fields below `part` that exist in the target and in every installed release that serves the version."""
    releases = [target.release, *(each.release for each in target.installed if each.release is not None)]
    found = [described(identity.group, identity.version, identity.kind, release) for release in releases]
    if found[0] is None:
        return {}
    fields, *others = (each.tree.children[part].children for each in found if each is not None)
    return {name: field for name, field in fields.items() if all(name in other for other in others)}


def _strategy(spec: Cursor) -> Iterator[Change]:
    """Yield the changes from the plain list of checks to a strategy; none if both are written, as one would be lost."""
    plain = spec["admissionChecks"]
    if plain.exists and not spec["admissionChecksStrategy"].exists and plain.data:
        yield Nest(plain.route, "admissionChecksStrategy")
        for check in plain.items():
            yield Wrap(check.route, "name")


def as_newest(root: Cursor, target: Target) -> dict[str, object]:
    """Return the data of an object converted to the newest version; unchanged if nothing differs."""
    asked = list(_migration(root, object_id(root), target))
    data = changed(root.data, asked, root.route) if asked else root.data
    return data if isinstance(data, dict) else {}


def _migration(root: Cursor, identity: ObjectId, target: Target) -> Iterator[Change]:
    """Yield all changes that v1beta2 requires (`*_conversion.go` of Kueue's v1beta1)."""
    is_old = identity.group == KUEUE and identity.version in OLD_VERSIONS
    if not is_old or identity.kind not in _MIGRATIONS or NEWEST not in served_versions(identity.kind, target.release):
        return
    yield Replace(root["apiVersion"].route, f"{KUEUE}/{NEWEST}")
    yield from _MIGRATIONS[identity.kind](root["spec"])


def _cluster_queue(spec: Cursor) -> Iterator[Change]:
    if spec["cohort"].exists:
        yield Rename(spec["cohort"].route, "cohortName")
    yield from _strategy(spec)
    fungibility = spec["flavorFungibility"]
    for field, legacy in (("whenCanBorrow", "Borrow"), ("whenCanPreempt", "Preempt")):
        if fungibility[field].text() == legacy:
            yield Replace(fungibility[field].route, "MayStopSearch")


def _cohort(spec: Cursor) -> Iterator[Change]:
    if spec["parent"].exists and not spec["parentName"].exists:
        yield Rename(spec["parent"].route, "parentName")


def _admission_check(spec: Cursor) -> Iterator[Change]:
    if spec["retryDelayMinutes"].exists:
        yield Remove(spec["retryDelayMinutes"].route)


def _multikueue_cluster(spec: Cursor) -> Iterator[Change]:
    if spec["kubeConfig"]["location"].text():
        yield Nest(spec["kubeConfig"].route, "clusterSource")


def _only_the_version(spec: Cursor) -> Iterator[Change]:  # noqa: ARG001  (nothing else differs)
    yield from ()


_MIGRATIONS = {
    "ClusterQueue": _cluster_queue,
    "Cohort": _cohort,
    "AdmissionCheck": _admission_check,
    "MultiKueueCluster": _multikueue_cluster,
    "LocalQueue": _only_the_version,
    "ResourceFlavor": _only_the_version,
    "Topology": _only_the_version,
    "ProvisioningRequestConfig": _only_the_version,
    "WorkloadPriorityClass": _only_the_version,
    "MultiKueueConfig": _only_the_version,
}
"""Controllers create Workloads, in the newest version, so they are not migrated."""


def _is_accepted(root: Cursor, asked: list[Change], target: Target) -> bool:
    """Return whether the new version rejects and loses nothing."""
    data = changed(root.data, asked, root.route)
    return not any(p.code in _REFUSED for p in validate(Cursor(root.document, root.route, data), target))
