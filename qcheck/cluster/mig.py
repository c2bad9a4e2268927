"""MIG: the ways to divide a GPU into instances.

A GPU has a row of memory slices; an instance of a profile takes some of them, starting at one of a few fixed positions.
A layout is possible iff its instances can be placed without overlap. Source: the tables of supported profiles and of
their placements in NVIDIA's MIG user guide. The memory of a profile, and so its name, differs between GPU families.
"""

from __future__ import annotations

from functools import lru_cache

from qcheck.cluster.place import Place
from qcheck.cluster.value import TYPE_CHECKING, Value

if TYPE_CHECKING:
    from collections.abc import Mapping

    Starts = tuple[tuple[int, ...], int]

MEMORY_SLICES = 8
"""The number of memory slices of the largest GPU: no GPU holds more instances."""
SEVENTHS: tuple[tuple[str, Starts], ...] = (
    ("1g", ((0, 1, 2, 3, 4, 5, 6), 1)),
    ("1g", ((0, 2, 4, 6), 2)),
    ("2g", ((0, 2, 4), 2)),
    ("3g", ((0, 4), 4)),
    ("4g", ((0,), 4)),
    ("7g", ((0,), 8)),
)
"""The placement of each profile: compute slices, possible start positions, length in memory slices.

The order is that of the memory columns below; the second 1g has twice the memory.
"""
MEMORY: dict[tuple[str, int], tuple[int, ...]] = {
    ("A100", 40): (5, 10, 10, 20, 20, 40),
    ("A100", 80): (10, 20, 20, 40, 40, 80),
    ("H100", 80): (10, 20, 20, 40, 40, 80),
    ("H100 NVL", 94): (12, 24, 24, 47, 47, 94),
    ("GH200", 96): (12, 24, 24, 48, 48, 96),
    ("H200", 141): (18, 35, 35, 71, 71, 141),
    ("GH200", 144): (18, 36, 36, 72, 72, 144),
    ("B200", 180): (23, 45, 45, 90, 90, 180),
    ("B300", 288): (34, 67, 67, 135, 135, 269),
    ("GB200", 186): (23, 47, 47, 93, 93, 186),
    ("GB200", 189): (24, 47, 47, 95, 95, 189),
    ("GB300", 288): (35, 70, 70, 139, 139, 278),
}
_FOURTHS: tuple[Starts, ...] = (((0, 1, 2, 3), 1), ((0, 2), 2), ((0,), 4))
QUARTERS: dict[tuple[str, int], tuple[str, ...]] = {
    ("A30", 24): ("1g.6gb", "2g.12gb", "4g.24gb"),
    ("RTX PRO 6000", 96): ("1g.24gb", "2g.48gb", "4g.96gb"),
}
ONCE = ("me", "me.all")
"""The attributes that only one instance of a GPU can have (media extensions)."""


class MigLayout(Value):
    """The division of one GPU: instances by profile, and their places. `name` is the name of the configuration.

    `is_filtered`: it applies only to GPUs with certain device ids.
    """

    name: str
    instances: dict[str, int]
    places: dict[str, Place]
    place: Place
    is_filtered: bool = False


def placements(model: str, memory_gib: int | None) -> dict[str, Starts]:
    """Return the start positions and length of each profile of a GPU; empty for GPUs without MIG."""
    found: dict[str, Starts] = {}
    for (name, size), memory in MEMORY.items():
        if name == bare(model) and memory_gib in (None, size):
            found |= {f"{slices}.{gib}gb": starts for (slices, starts), gib in zip(SEVENTHS, memory, strict=True)}
    for (name, size), names in QUARTERS.items():
        if name == bare(model) and memory_gib in (None, size):
            found |= dict(zip(names, _FOURTHS, strict=True))
    return found


def profiles(model: str, memory_gib: int | None) -> dict[str, int]:
    """Return the maximum number of instances of each profile of a GPU; empty for GPUs without MIG."""
    return {profile: len(starts) for profile, (starts, _) in placements(model, memory_gib).items()}


def families() -> list[tuple[str, int]]:
    """Return every GPU with MIG as its model and its memory in GB."""
    return [*MEMORY, *QUARTERS]


def bare(model: str) -> str:
    """Return the model without ` PCIe`: PCIe boards are divided like their SXM counterparts."""
    return model.removesuffix(" PCIe")


def without_attributes(profile: str) -> str:
    """Return a profile without its attributes: `1g.24gb` for `1g.24gb+me`, `1g.24gb+gfx` and `1g.24gb-me`."""
    return profile.partition("+")[0].removesuffix("-me")


def is_possible(instances: Mapping[str, int], table: Mapping[str, Starts]) -> bool:
    """Return whether one GPU can hold all the instances. A profile with media extensions fits once per GPU."""
    rows: list[Starts] = []
    for profile, count in instances.items():
        plain, attribute = without_attributes(profile), profile.partition("+")[2]
        if plain not in table or count > MEMORY_SLICES or (attribute in ONCE and count > 1):
            return False
        rows += [table[plain]] * count
    return _place(tuple(sorted(rows, key=lambda row: (-row[1], row[0]))), 0)


@lru_cache(maxsize=4096)
def _place(rows: tuple[Starts, ...], taken: int) -> bool:
    """Return whether the instances fit into the memory slices that are not `taken` (one bit per slice)."""
    if not rows:
        return True
    starts, length = rows[0]
    for start in starts:
        bits = ((1 << length) - 1) << start
        if not taken & bits and _place(rows[1:], taken | bits):
            return True
    return False


def placement_text(profile: str, table: Mapping[str, Starts]) -> str:
    """Return the placement in words: `3g.20gb takes 4 memory slices, starting at 0 or 4`."""
    plain = without_attributes(profile)
    if plain not in table:
        return f"it has no profile {profile}"
    starts, length = table[plain]
    *first, last = map(str, starts)
    positions = f"{', '.join(first)} or {last}" if first else last
    return f"{profile} takes {length} memory slice{'s' * (length > 1)}, starting at {positions}"


def families_like(text: str) -> list[tuple[str, int]]:
    """Return the GPUs that a product name such as `NVIDIA-A100-SXM4-40GB` may refer to; the longest model name wins."""
    words = text.upper().replace("-", " ")
    named = [f for f in families() if f" {f[0].upper()} " in f" {words} "]
    longest = max((len(model) for model, _ in named), default=0)
    named = [f for f in named if len(f[0]) == longest]
    sized = [f for f in named if f"{f[1]}GB" in words.split()]
    return sized or named
