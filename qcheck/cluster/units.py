"""Amounts in units for people: `1516 cores`, `1.5 TiB`, `8`. For the notation of manifests and JSON, see `quantity`.

Amounts that are compared share one `Scale`, and so one unit. A scale is exact if that takes few characters. Otherwise
it rounds, but different amounts never look the same, and nonzero amounts never look like zero.
"""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING, Value

if TYPE_CHECKING:
    from collections.abc import Iterable
    from fractions import Fraction

    Amount = int | Fraction | float
    """In base units: milli-cpu, bytes, or whole devices."""

    Ratio = tuple[int, int]
    Units = tuple[tuple[str, int], ...]

_BINARY: Units = (
    ("B", 1),
    ("KiB", 2**10),
    ("MiB", 2**20),
    ("GiB", 2**30),
    ("TiB", 2**40),
    ("PiB", 2**50),
    ("EiB", 2**60),
)
_DECIMAL: Units = (
    ("B", 1),
    ("kB", 10**3),
    ("MB", 10**6),
    ("GB", 10**9),
    ("TB", 10**12),
    ("PB", 10**15),
    ("EB", 10**18),
)
_CORES: Units = (("cores", 1000),)
_DEVICES: Units = (("", 1),)
_BYTES = frozenset({"memory", "ephemeral-storage", "storage"})
_EXACT_DECIMALS, _ROUNDED_DECIMALS, _MOST_DECIMALS = 3, 2, 9
_MOST_DIGITS = 24
"""The digits beyond which a number is written as `1e300`."""
_NEVER = 10**6
"""The length assigned to a number that the available decimals cannot express exactly."""
IN_TABLES, IN_PROSE, IN_SUMS = 6, 9, 24
"""The number of characters up to which numbers remain exact."""


class Scale(Value):
    """The unit and decimals for displaying amounts of one resource; `mark` precedes rounded amounts."""

    resource: str
    unit: str
    size: int
    decimals: int
    mark: str

    def __call__(self, amount: Amount) -> str:
        """Format an amount with its unit: `1.5 TiB`, `1 core`, `8`."""
        number = self.bare(amount)
        if amount and number.lstrip("~-") == "0":
            return self._own(amount)
        unit = "core" if (number, self.unit) == ("1", "cores") else self.unit
        return f"{number} {unit}".rstrip()

    def _own(self, amount: Amount) -> str:
        """Format an amount that would look like zero: in a smaller unit, or with all decimals."""
        own = scale_of(self.resource, (amount,), IN_PROSE)
        above, below = amount.as_integer_ratio()
        decimals = own.decimals if 2 * abs(above) * 10**own.decimals >= below * own.size else _MOST_DECIMALS
        return f"{_number(above, below * own.size, decimals)} {own.unit}".rstrip()

    def bare(self, amount: Amount) -> str:
        """Format the number without its unit."""
        above, below = amount.as_integer_ratio()
        is_exact = above * 10**self.decimals % (below * self.size) == 0
        return ("" if is_exact else self.mark) + _number(above, below * self.size, self.decimals)

    def name(self, amount: Amount) -> str:
        """Format an amount and its resource: `12 cores`, `1.5 TiB of memory`, `8 nvidia.com/gpu`."""
        return named(self.resource, self(amount))


def scale_of(resource: str, amounts: Iterable[Amount], room: int = IN_SUMS) -> Scale:
    """Return the scale for comparing `amounts`: exact if none of them takes more than `room` characters."""
    given = {(abs(above), below) for above, below in (a.as_integer_ratio() for a in amounts)}
    units = _fitting(_family(resource, given), given)
    unit, size = min(units, key=lambda u: (_length(given, u[1]) + _strain(given, u[1]), -u[1]))
    if _length(given, size) <= room:
        return Scale(resource=resource, unit=unit, size=size, decimals=_EXACT_DECIMALS, mark="")
    unit, size = units[-1]
    mark = "" if room == IN_TABLES else "~"
    return Scale(resource=resource, unit=unit, size=size, decimals=_telling(given, size), mark=mark)


def show_amount(resource: str, amount: Amount) -> str:
    """Format one amount that is not compared with others: `12 cores`, `1.5 TiB`, `8`."""
    return scale_of(resource, (amount,), IN_PROSE)(amount)


def name_amount(resource: str, amount: Amount) -> str:
    """Format one amount and its resource: `12 cores`, `1.5 TiB of memory`, `8 nvidia.com/gpu`."""
    return named(resource, show_amount(resource, amount))


def show_amounts(resource: str, *amounts: Amount) -> tuple[str, ...]:
    """Format amounts that are compared with each other."""
    return tuple(map(scale_of(resource, amounts, IN_PROSE), amounts))


def named(resource: str, shown: str) -> str:
    """Add the resource to a formatted amount unless the unit implies it."""
    if resource == "cpu":
        return shown
    return f"{shown} of {resource}" if _is_space(resource) else f"{shown} {resource}"


def _is_space(resource: str) -> bool:
    return resource in _BYTES or resource.startswith("hugepages-")


def _family(resource: str, given: set[Ratio]) -> Units:
    """Return binary units, or decimal units if they express the integer amounts in fewer characters."""
    if resource == "cpu":
        return _CORES
    if not _is_space(resource):
        return _DEVICES
    whole = [{ratio} for ratio in given if ratio[1] == 1]

    def characters(units: Units) -> int:
        return sum(min(_MOST_DIGITS, *(_length(one, size) for _, size in _fitting(units, one))) for one in whole)

    return min((_BINARY, _DECIMAL), key=characters)


def _fitting(units: Units, given: set[Ratio]) -> Units:
    """Return the units in which some amount is at least 1; if there are none, the smallest unit."""
    return tuple(u for u in units if any(above >= below * u[1] for above, below in given)) or units[:1]


def _length(given: set[Ratio], size: int) -> int:
    """Return the characters of the longest number in a unit of `size`."""
    return max((_exact_length(above, below * size) for above, below in given), default=1)


def _strain(given: set[Ratio], size: int) -> int:
    """Return the penalty, in characters, of a unit that makes an amount small: `0.008 PB` reads worse than `8 TB`."""
    return 4 if any(0 < 10 * above < below * size for above, below in given) else 0


def _exact_length(above: int, below: int) -> int:
    is_exact = above * 10**_EXACT_DECIMALS % below == 0 and above // below < 10**_MOST_DIGITS
    return len(_number(above, below, _EXACT_DECIMALS)) if is_exact else _NEVER


def _telling(given: set[Ratio], size: int) -> int:
    """Return the fewest decimals with which different amounts look different."""
    for decimals in range(_ROUNDED_DECIMALS, _MOST_DECIMALS):
        shown = [s for s in (_number(above, below * size, decimals) for above, below in given) if s != "0"]
        if len(shown) == len(set(shown)):
            return decimals
    return _MOST_DECIMALS


def _number(above: int, below: int, decimals: int) -> str:
    """Format a quotient with at most `decimals` decimals and no trailing zeros."""
    sign, above = ("-", -above) if above < 0 else ("", above)
    whole, rest = divmod((2 * above * 10**decimals + below) // (2 * below), 10**decimals)
    if whole >= 10**_MOST_DIGITS:
        return sign + _scientific(str(whole))
    return f"{sign}{whole}.{rest:0{decimals}}".rstrip("0").rstrip(".")


def _scientific(digits: str) -> str:
    """Format digits in scientific notation: `1e300`, `9.22e18`."""
    mantissa = f"{digits[0]}.{digits[1:3]}".rstrip("0").rstrip(".")
    return f"{mantissa}e{len(digits) - 1}"
