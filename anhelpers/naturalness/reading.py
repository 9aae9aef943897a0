"""What a small language model reads in its training, and in which order: lines held out, examples, batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .. import hub
from ..errors import DataError
from .recipe import Recipe

__all__ = ["batches", "encoded", "examples", "n_predicted", "split_lines"]

Ids = list[list[int]]


def split_lines(lines: Sequence[str], held_out: int, seed: int) -> tuple[list[int], list[int]]:
    """Numbers of distinct non-blank lines, (to train on, held out), each in the order of the text.

    Parameters
    ----------
    held_out : how many lines, at least 1, drawn with the seed.

    Raises
    ------
    DataError : fewer than twice as many distinct lines: more would measure the model than it could learn from.

    >>> split_lines(["a", "b", "a", "", "c", "d"], 1, seed=0)
    ([0, 1, 5], [4])
    """
    if held_out < 1:
        raise DataError(
            f"held_out is {held_out}; hold out at least 1 line, by which the model is measured."
        )
    first: dict[str, int] = {}
    for k, line in enumerate(lines):
        first.setdefault(line.strip(), k)
    first.pop("", None)
    distinct = list(first.values())
    if len(distinct) < 2 * held_out:
        raise DataError(
            f"only {len(distinct):,} distinct lines, too few to hold out {held_out:,}: at least "
            f"{2 * held_out:,} are wanted, so that not more of them measure the model than it "
            "learns from; give more text, or hold out fewer lines (--held-out)."
        )
    held = set(np.random.default_rng(seed).permutation(len(distinct))[:held_out].tolist())
    train = [k for at, k in enumerate(distinct) if at not in held]
    return train, [distinct[at] for at in sorted(held)]


def encoded(tokenizer: Any, lines: Sequence[str], recipe: Recipe) -> tuple[Ids, int]:
    """Token ids with BOS and EOS, and how many lines had to be cut to the length that the recipe allows."""
    ids = hub.plain_ids(tokenizer, lines)
    cut = sum(len(i) + 2 > recipe.max_tokens for i in ids)
    return [
        [tokenizer.bos_token_id, *i, tokenizer.eos_token_id][: recipe.max_tokens] for i in ids
    ], cut


def n_predicted(ids: Ids) -> int:
    """Predicted tokens: all but BOS."""
    return sum(len(i) - 1 for i in ids)


def examples(ids: Ids, of: np.ndarray, recipe: Recipe, epoch: int) -> Ids:
    """What is read in an epoch: each line as often as the weight of its text says, some joined with those after them.

    Parameters
    ----------
    ids : of each line, BOS and EOS included. of : (lines,) the number of its text, as in the recipe's `weights`.
    """
    if not recipe.join and set(recipe.weights) == {1.0}:
        return ids
    rng = np.random.default_rng([recipe.seed, epoch, 1])
    weights = np.array(recipe.weights)[of]
    times = np.floor(weights) + (rng.random(len(ids)) < weights % 1)
    read: Ids = []
    for copy in range(int(times.max(initial=0))):
        chosen = np.flatnonzero(times > copy)
        follows = (np.diff(chosen, prepend=-2) == 1) & (of[chosen] == of[chosen - 1])
        goes_on = follows & (rng.random(len(chosen)) < recipe.join)
        for k, joined in zip(chosen.tolist(), goes_on.tolist(), strict=True):
            if joined and len(read[-1]) + len(ids[k]) - 2 <= recipe.max_tokens:
                read[-1] = read[-1][:-1] + ids[k][1:]
            else:
                read.append(ids[k])
    return read


def batches(ids: Ids, recipe: Recipe, rng: np.random.Generator | None) -> Iterator[Ids]:
    """Batches of ids of similar length within the recipe's token budget; shuffled when `rng` is given."""
    noise = rng.uniform(0.8, 1.25, len(ids)) if rng is not None else np.ones(len(ids))
    order = np.argsort(np.array([len(i) for i in ids]) * noise, kind="stable")
    found: list[Ids] = []
    batch: Ids = []
    longest = 0
    for i in order:
        longest = max(longest, len(ids[i]))
        if batch and longest * (len(batch) + 1) > recipe.tokens_per_batch:
            found.append(batch)
            batch, longest = [], len(ids[i])
        batch.append(ids[i])
    found.append(batch)
    if rng is not None:
        rng.shuffle(found)
    yield from found
