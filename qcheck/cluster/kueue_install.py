"""An installation of Kueue's manager: its release and its feature gates."""

from __future__ import annotations

from qcheck.cluster.place import Place
from qcheck.cluster.value import TYPE_CHECKING, Value

if TYPE_CHECKING:
    from collections.abc import Sequence

    Release = tuple[int, int]


class KueueInstall(Value):
    """An installation. `release` is None if it is not stated; `gates` are those of the command line."""

    place: Place
    release: Release | None = None
    gates: dict[str, bool] = {}


def oldest(installs: Sequence[KueueInstall]) -> KueueInstall | None:
    """Return the installation of the lowest release; None if none states its release."""
    stated = [(i.release, i) for i in installs if i.release is not None]
    return min(stated, key=lambda found: found[0])[1] if stated else None


def agreed(installs: Sequence[KueueInstall]) -> KueueInstall | None:
    """Return what all installations of one cluster agree on; None without installations."""
    if not installs:
        return None
    first = installs[0]
    releases = {i.release for i in installs if i.release is not None}
    same = all(i.gates == first.gates for i in installs)
    return KueueInstall(first.place, releases.pop() if len(releases) == 1 else None, first.gates if same else {})
