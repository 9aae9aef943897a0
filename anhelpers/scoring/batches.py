"""Which inputs go through a model together."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["batches"]


def batches(lengths: Sequence[int], budget: int, most: float = float("inf")) -> list[list[int]]:
    """Indices of inputs in batches of at most `budget` padded tokens and `most` inputs, the longest first.

    So padding is small, and memory runs out at once or never. An input longer than the budget is a batch by itself.

    Parameters
    ----------
    lengths : tokens of each input; of equal ones the first comes first.

    >>> batches([2, 5, 1, 2], 5)
    [[1], [0, 3], [2]]
    """
    found: list[list[int]] = []
    for i in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        if found and lengths[found[-1][0]] * (len(found[-1]) + 1) <= budget and len(found[-1]) < most:
            found[-1].append(i)
        else:
            found.append([i])
    return found
