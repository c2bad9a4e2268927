"""Objects that are defined more than once: identical copies are one object, differing copies are a problem.

For objects that differ between two directories there is one problem, because the directories usually describe two
clusters.
"""

from __future__ import annotations

import posixpath

from qcheck.cluster.place import Place
from qcheck.cluster.problems import Problem, ProblemCode
from qcheck.cluster.value import TYPE_CHECKING, Value, replace
from qcheck.kinds.decode import DEFINITION
from qcheck.kinds.shared_fields import object_id
from qcheck.pipeline.relevance import concerns_queues

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence, Set

    from qcheck.documents.cursor import Cursor

    Pair = tuple[Cursor, Cursor]
    """The first definition of an object, and another one."""

SERVER_FIELDS = frozenset({"creationTimestamp", "generation", "managedFields", "resourceVersion", "selfLink", "uid"})
"""Fields of `metadata` that the API server writes."""
SERVER_ANNOTATIONS = ("kubectl.kubernetes.io/last-applied-configuration", "config.kubernetes.io/")
OWN_GROUP = "qcheck.dev"
"""qcheck's own group: no API server holds its node pools, and several of one name may represent one pool's machines."""
ON_NODES = frozenset({"DaemonSet"})
"""Kinds that use node resources themselves."""
MULTIKUEUE = frozenset({"MultiKueueCluster", "MultiKueueConfig"})
MOST_NAMED = 3
APART = "If these are several clusters, `qcheck init` writes settings for them; otherwise delete one of the two."


class Distinct(Value):
    """The first definition of each object, differing later definitions, and problems about the latter."""

    first: list[Cursor]
    others: list[Cursor]
    problems: list[Problem]


def distinct(manifests: Sequence[Cursor], chart_files: Set[str] = frozenset()) -> Distinct:
    """Return each object once. Objects with generated names are all different.

    Objects in `chart_files`, the templates of charts, may not be installed.
    """
    alike: dict[tuple[str, str, str, str], list[Cursor]] = {}
    for at, found in enumerate(manifests):
        key = _key(found) if found["metadata"].text_at("name") else ("", "", "", str(at))
        alike.setdefault(key, []).append(found)
    first, doubles = [], []
    for key, same in alike.items():
        differing = _differing(same) if len(same) > 1 else same
        if key[0] == OWN_GROUP or key[1] == DEFINITION:
            first += differing
        else:
            first.append(same[0])
            doubles += [differing] if len(differing) > 1 and any(map(_counts, differing)) else []
    problems = _problems(doubles, chart_files, _top(manifests), _is_multikueue(manifests)) if doubles else []
    return Distinct(first, [copy for same in doubles for copy in same[1:]], problems)


def _top(manifests: Sequence[Cursor]) -> str:
    """Return the directory that contains all files."""
    folders = {posixpath.dirname(found.document.path) for found in manifests}
    return posixpath.commonpath(folders) or "." if len({posixpath.isabs(f) for f in folders}) == 1 else "."


def _is_multikueue(manifests: Sequence[Cursor]) -> bool:
    return any(found.text_at("kind") in MULTIKUEUE for found in manifests)


def _counts(found: Cursor) -> bool:
    """Return whether an object concerns queues or nodes; for other objects, it does not matter which copy counts."""
    return found.text_at("kind") in ON_NODES or concerns_queues(found)


def _key(found: Cursor) -> tuple[str, str, str, str]:
    identity = object_id(found)
    return identity.group, identity.kind, identity.namespace or "", identity.name


def _differing(same: list[Cursor]) -> list[Cursor]:
    """Return the first object, and those that differ from it and from each other."""
    found: list[tuple[object, Cursor]] = []
    for each in same:
        meant = _meant(each.data)
        if all(meant != other for other, _ in found):
            found.append((meant, each))
    return [each for _, each in found]


def _meant(data: object) -> object:
    """Return an object without the additions of a server or a renderer."""
    if not isinstance(data, dict):
        return data
    metadata = data.get("metadata")
    if not isinstance(metadata, dict):
        return data
    left = {k: v for k, v in metadata.items() if k not in SERVER_FIELDS and k != "annotations"}
    annotations = metadata.get("annotations")
    if isinstance(annotations, dict):
        left["annotations"] = {
            k: v for k, v in annotations.items() if not str(k).startswith(SERVER_ANNOTATIONS)
        } or None
    plain = {k: v for k, v in left.items() if v is not None}
    return {**{k: v for k, v in data.items() if k != "status"}, "metadata": plain}


def _problems(doubles: list[list[Cursor]], chart_files: Set[str], top: str, is_multikueue: bool) -> list[Problem]:
    pairs: dict[str, dict[str, list[Pair]]] = {}
    problems = []
    for original, *copies in doubles:
        inside = [copy for copy in copies if _folder(copy) == _folder(original)]
        problems += [_in_one_folder(original, inside, top, is_multikueue)] if inside else []
        for copy in copies:
            if _folder(copy) != _folder(original):
                pairs.setdefault(_folder(original), {}).setdefault(_folder(copy), []).append((original, copy))
    problems += [_in_folders(folder, others, top, is_multikueue) for folder, others in pairs.items()]
    return [
        replace(p, certain=not any(at.origin.path in chart_files for at in (p.place, *p.related))) if p.certain else p
        for p in problems
    ]


def _folder(found: Cursor) -> str:
    """Return the directory of a file, or the directory that was rendered."""
    tool, colon, rendered = found.document.path.partition(":")
    return rendered if colon and tool in ("kustomize", "helm") else posixpath.dirname(found.document.path) or "."


def _doubt_of(definitions: Sequence[Cursor], top: str, is_multikueue: bool) -> str:
    from qcheck.pipeline.alternatives import doubt_of  # 0.3 ms

    return doubt_of(definitions, top, is_multikueue)


def _in_one_folder(original: Cursor, copies: list[Cursor], top: str, is_multikueue: bool) -> Problem:
    again, *more = copies
    times = "twice" if not more else f"{len(copies) + 1} times"
    identity = object_id(again)
    doubt = _doubt_of([original, *copies], top, is_multikueue)
    return Problem(
        ProblemCode.DUPLICATE_OBJECT,
        _name_place(again),
        f"{identity} is defined {times}, with different contents{doubt}",
        object=identity,
        certain=not doubt,
        related=(
            _name_place(original).named("first defined here"),
            *(_name_place(copy).named("and here") for copy in more),
        ),
    )


def _in_folders(one: str, others: dict[str, list[Pair]], top: str, is_multikueue: bool) -> Problem:
    """Return the problem of the objects of a directory that other directories define differently."""
    found = [pair for pairs in others.values() for pair in pairs]
    ids = list(dict.fromkeys(object_id(copy) for _, copy in found))
    what = f"{ids[0]} is" if len(ids) == 1 else f"{len(ids)} objects are"
    listed = "" if len(ids) == 1 else f": {_listed(ids)}"
    where = next(iter(others)) if len(others) == 1 else f"{len(others)} other directories ({_listed(list(others))})"
    doubt = _doubt_of([each for pair in found for each in pair], top, is_multikueue)
    return Problem(
        ProblemCode.DUPLICATE_OBJECT,
        _name_place(found[0][1]),
        f"{what} defined differently in {one} and in {where}{listed}{doubt}",
        help=APART,
        certain=not doubt,
        object=ids[0],
        related=tuple(_related(one, others)),
        data={"first": one, "second": next(iter(others)), "objects": len(ids), "directories": len(others) + 1},
    )


def _listed(names: Sequence[object]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(map(str, names[:MOST_NAMED])) + more


def _related(one: str, others: dict[str, list[Pair]]) -> Iterator[Place]:
    """Yield the first definitions, and the other ones: of one directory several objects, of several one each."""
    (folder, found), *more = others.items()
    for original, _ in found[:MOST_NAMED]:
        yield _name_place(original).named(f"{object_id(original)} in {one}")
    for _, copy in found[1:MOST_NAMED] if not more else ():
        yield _name_place(copy).named(f"{object_id(copy)} in {folder}")
    for other, ((_, copy), *_) in more[: MOST_NAMED - 1]:
        yield _name_place(copy).named(f"{object_id(copy)} in {other}")


def _name_place(found: Cursor) -> Place:
    return Place(found.document, (*found.route, "metadata", "name"))
