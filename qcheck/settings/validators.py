"""Checks of settings beyond the type of a value; used by `schema.py` and by the reader without pydantic.

Each returns its argument, or raises `ValueError` with the correction.
"""

from __future__ import annotations

import math

from qcheck.cluster.quantity import parse_quantity
from qcheck.sources.patterns import Pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol, TypeVar

    class RenderLike(Protocol):
        """A part of the settings that names a source to render."""

        kustomize: str | None
        helm: str | None
        values: list[str]
        release: str | None
        namespace: str | None

    class ReserveLike(Protocol):
        """The part of the settings that describes a reserve."""

        per_node: Any
        total: Any

    class ClusterLike(Protocol):
        """A part that describes a cluster."""

        include: list[str]
        render: Any

    class SettingsLike(Protocol):
        """The settings as a whole."""

        clusters: Any
        render: Any

    L = TypeVar("L", bound=list[str] | dict[str, Any])

    class PartLike(Protocol):
        @property
        def model_fields_set(self) -> set[str]: ...

    P = TypeVar("P", bound=PartLike)
    R = TypeVar("R", bound=RenderLike)
    V = TypeVar("V", bound=ReserveLike)
    C = TypeVar("C", bound=ClusterLike)
    S = TypeVar("S", bound=SettingsLike)

AUTO = "auto"
CHOICES = ("clusters", "select", "flavors")
"""Keys that choose clusters, rules or flavors. Without such a key, all are chosen."""


def version_number(value: object) -> object:
    """Check the format version of a file: in Python, `true` and 1.0 equal 1, but they are not valid versions."""
    if isinstance(value, (bool, float)):
        raise ValueError(f"should be 1, not {str(value).lower()}")
    return value


def not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be empty; write a value, or remove the key")
    return text


def not_empty(items: L) -> L:
    if not items:
        raise ValueError("must not be empty; name at least one, or remove the key")
    return items


def below_root(path: str) -> str:
    parts = path.replace("\\", "/").split("/")
    if path.startswith(("/", "~")) or ":" in parts[0] or ".." in parts:
        raise ValueError(f"{path!r} is outside the folder of the settings file; move the settings file up")
    return path


def pattern_below_root(pattern: str) -> str:
    """Check a pattern; a leading slash anchors it at the folder of the settings file, as in a .gitignore."""
    below_root(pattern.removeprefix("/"))
    return pattern


def a_pattern(pattern: str) -> str:
    if not Pattern(pattern).is_valid:
        raise ValueError(f"{pattern!r} is not a .gitignore pattern")
    return pattern


def a_quantity(value: str | int) -> str | int:
    if parse_quantity(value).nanos < 0:
        raise ValueError(f"{value!r} is negative; write 0 or more")
    return value


def a_price(value: float) -> float:
    if not 0 <= value < math.inf:
        raise ValueError("a price is a number, 0 or more")
    return value


def one_tool(part: R) -> R:
    if (part.kustomize is None) == (part.helm is None):
        raise ValueError("name either kustomize or helm")
    if part.kustomize is not None and (part.values or part.release or part.namespace):
        raise ValueError("values, release and namespace apply only to helm")
    return part


def reserves_something(part: V) -> V:
    if not part.per_node and not part.total:
        raise ValueError("a reserve needs perNode or total")
    return part


def has_inputs(part: C) -> C:
    if not part.include and (not part.render or part.render == AUTO):
        raise ValueError("a cluster needs include or render")
    return part


def no_empty_choice(part: P) -> P:
    """Check that each key in `CHOICES` names at least one item: an empty choice would be treated as a missing key."""
    for key in CHOICES:
        if key in part.model_fields_set and not getattr(part, key):
            raise ValueError(f"{key} must not be empty; name at least one, or remove the key")
    return part


def clusters_or_renders(part: S) -> S:
    if part.clusters and part.render and part.render != AUTO:
        raise ValueError("with clusters, set render in a cluster")
    return part
