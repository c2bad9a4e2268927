"""MIG: into how many instances of a profile a GPU can be cut.

Source: NVIDIA's MIG user guide, tables of supported profiles. Families differ in the memory that a profile has, hence in its
name; the numbers of instances are the same for all GPUs with seven compute slices.
"""

from __future__ import annotations

SEVENTHS = (("1g", 7), ("1g", 4), ("2g", 3), ("3g", 2), ("4g", 1), ("7g", 1))
"""Compute slices and most instances, in the order of the memory columns below; the second 1g has twice the memory."""
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
    ("GB300", 288): (35, 70, 70, 139, 139, 278),
}
QUARTERS = {
    ("A30", 24): {"1g.6gb": 4, "2g.12gb": 2, "4g.24gb": 1},
    ("RTX PRO 6000", 96): {"1g.24gb": 4, "2g.48gb": 2, "4g.96gb": 1},
}


def profiles(model: str, memory_gib: int | None) -> dict[str, int]:
    """Profile names of a GPU and how many instances of each it holds at the most; empty for GPUs without MIG."""
    found: dict[str, int] = {}
    for (name, size), memory in MEMORY.items():
        if name == bare(model) and memory_gib in (None, size):
            found |= {f"{slices}.{gib}gb": most for (slices, most), gib in zip(SEVENTHS, memory, strict=True)}
    for (name, size), table in QUARTERS.items():
        if name == bare(model) and memory_gib in (None, size):
            found |= table
    return found


def bare(model: str) -> str:
    """PCIe boards are cut like their SXM siblings."""
    return model.removesuffix(" PCIe")
