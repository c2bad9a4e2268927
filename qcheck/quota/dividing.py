"""Division of a total by weights, in whole units."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def divided(total: int, weights: Sequence[int], floors: Sequence[int]) -> list[int]:
    """Divide a total by weights in whole units, each share at least its floor; the rest goes to the largest remainders.

    Floors that exceed the total still apply.
    """
    amounts = list(floors)
    free = [i for i, weight in enumerate(weights) if weight]
    while free:
        left = total - sum(amounts[i] for i in range(len(weights)) if i not in free)
        whole = sum(weights[i] for i in free)
        short = [i for i in free if left * weights[i] < floors[i] * whole]
        if not short:
            shares = {i: left * weights[i] // whole for i in free}
            rest = sorted(free, key=lambda i: (-(left * weights[i] % whole), i))
            for i in free:
                amounts[i] = shares[i] + (rest.index(i) < left - sum(shares.values()))
            break
        free = [i for i in free if i not in short]
    return amounts
