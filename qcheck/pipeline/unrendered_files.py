"""The files of a cluster that are read directly: neither rendered sources nor objects that a kustomization changes."""

from __future__ import annotations

import posixpath

from qcheck.cluster.problems import ProblemCode
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.kinds.decode import is_definition, roots

if TYPE_CHECKING:
    from qcheck.cluster.problems import Problem, Unread
    from qcheck.documents.cursor import Cursor
    from qcheck.documents.load import Loaded
    from qcheck.pipeline.kustomizations import Source
    from qcheck.settings import Render

    Spot = tuple[str, int, tuple[str | int, ...]]
    """An object: the path of its file, the index of its document, and its route."""

TEXTS = (("metadata", "annotations"), ("metadata", "labels"))
"""Fields whose values are always text."""
ENTRIES = frozenset({"kustomization.yaml", "kustomization.yml", "Kustomization", "Chart.yaml"})
"""Files that mark a directory as something to render."""


class UnrenderedFiles(Value):
    """The files of a cluster to read as they are, without the objects in `changed`, and what is omitted.

    `in_charts`: templates of charts, which are separate problems; `chart_files`: also the templates that need no values.
    The files in `built` are processed by kustomize. `renders` are to be rendered, together with the files in `rendered`;
    `sources` are the objects that kustomize transforms, by the path of the render.
    """

    files: tuple[Loaded, ...]
    changed: frozenset[Spot] = frozenset()
    in_charts: frozenset[str] = frozenset()
    chart_files: frozenset[str] = frozenset()
    problems: tuple[Problem, ...] = ()
    unread: tuple[Unread, ...] = ()
    renders: tuple[Render, ...] = ()
    rendered: frozenset[str] = frozenset()
    built: frozenset[str] = frozenset()
    sources: dict[str, tuple[Source, ...]] = {}

    def is_completed(self, problem: Problem) -> bool:
        """Return whether kustomize fixes what the API server would reject: it writes labels and annotations as text."""
        if (
            problem.code is not ProblemCode.API_REJECTED
            or posixpath.normpath(problem.place.origin.path) not in self.built
        ):
            return False
        route = problem.place.route
        return (
            any(route[at : at + 2] in TEXTS for at in range(len(route))) and "must be of type string" in problem.message
        )

    def objects(self) -> list[Cursor]:
        """Return every object of the files that the cluster receives unchanged.

        This includes the definitions of kinds, because kustomizations do not change schemas.
        """
        found = (r for f in self.files for d in f.documents for r in roots(d))
        return [r for r in found if not self.changed or spot(r) not in self.changed or is_definition(r)]


def spot(found: Cursor) -> Spot:
    """Return the place of an object as a key."""
    return found.document.path, found.document.index, found.route
