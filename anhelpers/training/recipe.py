"""What decides a small language model that is trained here: its recipe, its size by name, its card; and what it reads,
in which order: lines held out, examples, batches."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import checks, hub
from ..data.languages import known_code
from ..errors import DataError

__all__ = [
    "BYTES",
    "SIZES",
    "WRITTEN",
    "LmRecipe",
    "encoded",
    "examples",
    "model_card",
    "n_predicted",
    "sized",
    "split_lines",
    "training_batches",
]

SIZES = {"nano": (2, 96), "tiny": (4, 192), "small": (6, 384)}
"""Name -> (layers, width): with 4,096 pieces 0.6, 2.6 and 12 million parameters."""

HEAD = 32
"""Width of a head of attention."""

LEARNING_RATE = 2e-3
"""Of models up to TUNED_WIDTH, for which it was chosen; a wider one gets less, in proportion, or it diverges."""

TUNED_WIDTH = 192
STORED = ("float16", "int8")
"""How weights are stored: in half precision, as transformers reads them, or in eight bits, as `load_lm` alone does."""

BYTES = 256 + 3
"""Pieces of a vocabulary without any merge: the bytes, <s>, </s> and <pad>."""


@dataclass(frozen=True)
class LmRecipe:
    """Everything that decides the result: the same recipe, text and thread count give the same model on a CPU.

    On a GPU the order of sums is not fixed, and what dropout leaves out after a resume is another choice.

    Parameters
    ----------
    language : code of the text's language, such as "es" or "pt_BR"; "und" for a model of no language in particular.
    vocab_size : pieces of the tokenizer at most, at least 259. width, layers, heads : of the GPT-2.
    max_tokens : of a text; longer ones are cut.
    dropout, epochs, learning_rate, weight_decay : of the training.
    held_out : lines that only measure, at least 1.
    steps : of the optimiser at most, by which the learning rate falls to 0; None: as many as the epochs have.
    weights : per text, how often each of its lines is read in an epoch; a fraction is a chance.
    join : the chance that a line and the one after it in its text are read as one, so that the model learns how a
        paragraph goes on; 0: each line stands alone.
    stored : a name in STORED.

    Raises
    ------
    DataError : a code of no language, a number out of its range.
    """

    language: str
    vocab_size: int = 4096
    width: int = 192
    layers: int = 4
    heads: int = 6
    max_tokens: int = 256
    dropout: float = 0.15
    epochs: int = 18
    tokens_per_batch: int = 1536
    learning_rate: float = LEARNING_RATE
    weight_decay: float = 0.1
    held_out: int = 500  # lines
    seed: int = 13
    steps: int | None = None
    weights: tuple[float, ...] = (1.0,)
    join: float = 0.0
    stored: str = STORED[0]

    def __post_init__(self) -> None:
        object.__setattr__(self, "language", known_code(self.language))
        least = {
            "vocab_size": BYTES,
            "layers": 1,
            "heads": 1,
            "max_tokens": 4,
            "epochs": 1,
            "steps": 1,
        }
        for name, low in least.items():
            if (value := getattr(self, name)) is not None and value < low:
                raise DataError(f"{name} is {value}; it must be at least {low}.")
        # a list where facts.json is read
        object.__setattr__(self, "weights", tuple(map(float, self.weights)))
        if (
            not self.weights
            or not all(0 <= weight < 1000 for weight in self.weights)
            or not any(self.weights)
        ):
            raise DataError(
                f"weights are {self.weights}; give a number from 0 for each text, and one above 0."
            )
        if not 0 <= self.join < 1:
            raise DataError(f"join is {self.join}; it is a chance, from 0 to below 1.")
        checks.one_of(self.stored, STORED, "way to store weights")
        if self.width < 1 or self.width % self.heads:
            raise DataError(
                f"the width {self.width} cannot be shared by {self.heads} heads; give a multiple."
            )


def sized(size: str) -> dict[str, Any]:
    """What a size decides of an `LmRecipe`: layers, width, heads, and the learning rate that suits the width.

    Parameters
    ----------
    size : a name in SIZES, or LAYERSxWIDTH, the width a multiple of 32.

    >>> sized("8x512")
    {'layers': 8, 'width': 512, 'heads': 16, 'learning_rate': 0.00075}
    """
    match = re.fullmatch(r"([1-9][0-9]{0,2})x([1-9][0-9]{0,4})", size)
    layers, width = map(int, match.groups()) if match else SIZES.get(size, (0, 0))
    if not layers or width % HEAD:
        names = ", ".join(SIZES)
        raise DataError(
            f"unknown size '{size}'; say one of {names}, or LAYERSxWIDTH, such as 6x256, with a "
            f"width that is a multiple of {HEAD}."
        )
    rate = LEARNING_RATE * min(1.0, TUNED_WIDTH / width)
    return {"layers": layers, "width": width, "heads": width // HEAD, "learning_rate": rate}


WRITTEN = (
    "<!-- written by anhelpers train-lm; without this line your own text stays when the model is "
    "trained anew -->"
)
"""The first line of a card that nobody has taken over; a later training replaces it."""


def model_card(facts: dict[str, Any]) -> str:
    """The README of a trained model: what it is, what it was made from and how, and how far it can be trusted.

    Parameters
    ----------
    facts : of `training.lm.train_lm`.
    """
    recipe = facts["recipe"]
    shape = (
        f"{recipe['layers']} layers of width {recipe['width']}, {facts['parameters']:,} parameters"
    )
    pieces = f"{facts['vocabulary']:,} pieces, context {recipe['max_tokens']}"
    learnt = f"{facts['train_lines']:,} distinct lines, {facts['train_tokens']:,} predicted tokens"
    steps = f"{facts['steps_done']:,} steps, {facts['epochs_done']:g}"
    budget = f", within a budget of {facts['minutes']:g} minutes" if "minutes" in facts else ""
    measured = (
        f"{facts['held_out_lines']:,} lines, {facts['held_out_tokens']:,} tokens, end of sentence "
        "included"
    )
    return f"""{WRITTEN}
# A small language model ({facts["language"]})

| | |
|---|---|
| language | {facts["language"]}, as told when it was trained |
| model | GPT-2, {shape}, stored as {recipe["stored"]}; byte-level BPE with {pieces} |
| text | {learnt}; {facts["lines_cut"]:,} lines cut |
| training | {steps} times through the text{budget}; seed {recipe["seed"]} |
| held out | perplexity {facts["held_out_perplexity"]} per token ({measured}) |

The whole recipe is in `facts.json`. The same recipe, text, library versions and thread count give the same model on a
CPU; where a budget of time decided the number of steps, the recipe has their number. The file `train_lines` has hashes
of the training lines, so that a reference text can be checked for lines that the model has seen.

Its perplexities are not comparable with those of any other model (other tokens). For results to publish use a large
model.
"""


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


def encoded(tokenizer: Any, lines: Sequence[str], recipe: LmRecipe) -> tuple[Ids, int]:
    """Token ids with BOS and EOS, and how many lines had to be cut to the length that the recipe allows."""
    ids = hub.plain_ids(tokenizer, lines)
    cut = sum(len(i) + 2 > recipe.max_tokens for i in ids)
    return [
        [tokenizer.bos_token_id, *i, tokenizer.eos_token_id][: recipe.max_tokens] for i in ids
    ], cut


def n_predicted(ids: Ids) -> int:
    """Predicted tokens: all but BOS."""
    return sum(len(i) - 1 for i in ids)


def examples(ids: Ids, of: np.ndarray, recipe: LmRecipe, epoch: int) -> Ids:
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


def training_batches(ids: Ids, recipe: LmRecipe, rng: np.random.Generator | None) -> Iterator[Ids]:
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
