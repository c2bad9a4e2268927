"""Helm charts in a repository: their directories, and whether the values that they are installed with are known."""

from __future__ import annotations

import posixpath
import re

from qcheck.cluster.place import Place
from qcheck.cluster.value import TYPE_CHECKING, Value

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qcheck.documents.text import Text

CHART = "Chart.yaml"
VALUES = re.compile(r"(?:^|[-_./])values[-_./].*\.ya?ml$|[-_.]values\.ya?ml$")
"""Names of values files other than the chart's own."""
OWN_VALUES = "values.yaml"


class Chart(Value):
    """A chart: its directory, its place, and the values files, besides its own, of which one is chosen."""

    folder: str
    name: str
    place: Place
    choices: tuple[str, ...]

    def values_for(self, cluster: str) -> tuple[str, ...] | None:
        """Return the values files for a cluster, as far as their names show; None if they do not."""
        if not self.choices:
            return ()
        words = re.compile(rf"(?:^|[-_./]){re.escape(cluster)}(?:[-_./]|$)")
        meant = [path for path in self.choices if words.search(path.removeprefix(self.folder))]
        return (meant[0],) if len(meant) == 1 else None


def charts(texts: Iterable[Text]) -> list[Chart]:
    """Return the charts whose Chart.yaml is among some texts; a chart inside another one is part of it."""
    known = {posixpath.normpath(t.path): t for t in texts if t.path.endswith((".yaml", ".yml"))}
    folders = sorted(posixpath.dirname(path) or "." for path in known if posixpath.basename(path) == CHART)
    outer = [f for f in folders if not any(is_below(f, other) for other in folders if other != f)]
    return [_chart(folder, known) for folder in outer]


def _chart(folder: str, known: dict[str, Text]) -> Chart:
    text = known[posixpath.normpath(posixpath.join(folder, CHART))]
    found = re.search(r"""(?m)^name:[ \t]*["']?([^\s"'#]+)""", text.text)
    own = posixpath.normpath(posixpath.join(folder, OWN_VALUES))
    inside = (p for p in known if is_below(p, folder) and p != own and not is_below(p, f"{folder}/templates"))
    choices = (p for p in inside if VALUES.search(p.removeprefix(folder).lstrip("/")) and "/charts/" not in p)
    place = Place(text.spot(0, len(text.text.partition("\n")[0])))
    return Chart(folder, found[1] if found else posixpath.basename(folder), place, tuple(sorted(choices)))


def is_below(path: str, folder: str) -> bool:
    """Return whether a normalised path is in a directory."""
    return folder == "." or path.startswith(f"{folder}/")
