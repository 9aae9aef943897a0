"""Which inputs go through a model together, and how they become one array."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import need

__all__ = ["METRIC_TOKENS_PER_BATCH", "TOKENS_PER_BATCH", "batches", "padded"]

TOKENS_PER_BATCH = {"cpu": 2048, "cuda": 16384}
"""Padded tokens of a forward pass, by `hub.kind` of the device: on a CPU more leaves the cache and is slower."""

METRIC_TOKENS_PER_BATCH = {"cpu": 2048, "cuda": 32768}
"""The same for metrics, which give a number for a text and need no logits of every token."""


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
        if (
            found
            and lengths[found[-1][0]] * (len(found[-1]) + 1) <= budget
            and len(found[-1]) < most
        ):
            found[-1].append(i)
        else:
            found.append([i])
    return found


def padded(rows: Sequence[Sequence[int]], fill: int, device: str) -> tuple[Any, Any]:
    """Two (b, longest) tensors on the device: token ids, filled up on the right, and whether a place is real (bool).

    Parameters
    ----------
    rows : the token ids of each of b inputs. fill : the id at places that are not real.
    """
    torch = need("torch", "a neural model")
    ids = [torch.tensor(row, dtype=torch.long) for row in rows]
    x = torch.nn.utils.rnn.pad_sequence(ids, batch_first=True, padding_value=fill)
    real = torch.arange(x.shape[1]) < torch.tensor([[len(row)] for row in rows])
    return x.to(device), real.to(device)
