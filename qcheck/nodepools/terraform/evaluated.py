"""The type of values of Terraform expressions."""

from __future__ import annotations

from fractions import Fraction
from typing import TypeAlias

from qcheck.documents.composed import Unresolved

Evaluated: TypeAlias = "bool | int | Fraction | str | list[Evaluated] | dict[str, Evaluated] | Unresolved | None"
