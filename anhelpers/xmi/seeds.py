"""Train the models of XMI several times, both ways: what another seed of the same recipe would have given.

Every training writes its row at once, so that a long series can be interrupted; `trainings` reads the rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import product
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import checks
from ..data.writing import write_text
from ..errors import DataError
from .measure import pointwise_xmi
from .models import xmi_from_models
from .scores import UNITS
from .train import train_pair, train_texts
from .trainings import COLUMNS, RECIPE, read_trainings

if TYPE_CHECKING:
    import pandas as pd

    from ..naturalness.load import LanguageModel
    from ..translation import TranslationModel
    from .toy import ToyPair


N_TEST, N_VALID = 300, 100
"""Sentences of a parallel text that are scored, and that choose the step."""

Models = tuple["TranslationModel", "LanguageModel"]


@dataclass(frozen=True)
class Task:
    """A language pair to be learned both ways: what is scored, and how the models of a direction are trained.

    Parameters
    ----------
    pair : its name in tables; src, trg : its languages, "there" is src → trg.
    srcs, trgs : the N sentence pairs that are scored, the same in all trainings.
    n_train : how many pairs are learned from. steps : of the optimiser. mi : the true MI in bits per sentence, nan
        where nobody knows it.
    learn : (back, rng, smoothing) -> q_MT and q_LM of a direction.
    """

    pair: str
    src: str
    trg: str
    srcs: tuple[str, ...] = field(repr=False)
    trgs: tuple[str, ...] = field(repr=False)
    n_train: int
    steps: int
    mi: float
    learn: Callable[[bool, np.random.Generator, float], Models] = field(repr=False)


def toy_task(pair: ToyPair, *, n_test: int = 1000, n_train: int = 20_000, steps: int = 150) -> Task:
    """A toy pair to be learned both ways; the seed of a training also draws the sentences that are learned from.

    Parameters
    ----------
    n_test : sentence pairs that are scored. n_train, steps : as in `train_pair`.
    """

    def learn(back: bool, rng: np.random.Generator, smoothing: float) -> Models:
        of = pair.reversed() if back else pair
        return train_pair(of, rng=rng, n_train=n_train, steps=steps, smoothing=smoothing)

    srcs, trgs = pair.sample(n_test, np.random.default_rng(0))
    return Task(
        f"toy {pair.name}", "a", "b", tuple(srcs), tuple(trgs), n_train, steps, pair.mi, learn
    )


def text_task(
    name: str,
    langs: tuple[str, str],
    texts: tuple[Sequence[str], Sequence[str]],
    *,
    steps: int = 400,
    longest: int = 30,
) -> Task:
    """A parallel text to be learned both ways: 300 pairs are scored, 100 choose the step, the rest is learned from.

    The three parts are drawn once and are the same in all trainings; the seed decides weights, order and dropout.

    Parameters
    ----------
    name : of the text. langs : of its two sides, such as ("en", "de"). texts : N sentences of each.
    steps : as in `train_texts`. longest : pairs with a side of more words are left out, and so are blank ones.

    Raises
    ------
    DataError for sides of different lengths, and where fewer than 500 pairs are left.
    """
    checks.same_length(**dict(zip(langs, texts, strict=True)))
    kept = [
        (s, t)
        for s, t in zip(*texts, strict=True)
        if 0 < len(s.split()) <= longest and 0 < len(t.split()) <= longest
    ]
    if len(kept) < N_TEST + N_VALID + 100:
        raise DataError(
            f"{len(kept)} pairs have 1 to {longest} words on both sides; at least "
            f"{N_TEST + N_VALID + 100} are needed: give more text, or longer sentences."
        )
    order = np.random.default_rng(0).permutation(len(kept))
    sides = [[kept[i][k] for i in order] for k in (0, 1)]
    test, valid, train = (
        [side[a:b] for side in sides]
        for a, b in ((0, N_TEST), (N_TEST, N_TEST + N_VALID), (N_TEST + N_VALID, None))
    )

    def learn(back: bool, rng: np.random.Generator, smoothing: float) -> Models:
        (s, t), held = (part[::-1] if back else part for part in (train, valid))
        return train_texts(s, t, (held[0], held[1]), rng=rng, steps=steps, smoothing=smoothing)

    srcs, trgs = map(tuple, test)
    return Task(name, *langs, srcs, trgs, len(train[0]), steps, math.nan, learn)


def train_both_ways(task: Task, seed: int, smoothing: float = 0.0) -> dict[str, Any]:
    """Train four models, two for each direction, and score the sentences of the task: a row of COLUMNS.

    Parameters
    ----------
    seed : whole number of this training; each direction has a random state of its own, made from it.
    smoothing : as in `train_pair`.

    Raises
    ------
    DataError where a sentence is too long for a model.
    """
    row: dict[str, Any] = _recipe(task, smoothing) | {"seed": seed, "mi": task.mi}
    gaps = []
    for back, end in ((False, ""), (True, "_back")):
        models = task.learn(back, np.random.default_rng([seed, back]), smoothing)
        s, t = (task.trgs, task.srcs) if back else (task.srcs, task.trgs)
        said = xmi_from_models(*models, s, t, rng=np.random.default_rng(0))
        if said.found.left_out:
            raise DataError(
                f"{said.found.left_out} of {len(s)} sentences are longer than the models take; "
                "leave long sentences out of the text."
            )
        bits = -UNITS["nats"] * np.stack([said.lm_logprobs, said.mt_logprobs])
        gaps.append(pointwise_xmi(said.mt_logprobs, said.lm_logprobs))
        row |= {f"h_lm{end}": bits[0].mean(), f"h_mt{end}": bits[1].mean()}
        row[f"se{end}"] = _error(gaps[-1])
    return row | {"se_difference": _error(gaps[0] - gaps[1])}


def _recipe(task: Task, smoothing: float) -> dict[str, Any]:
    """What trainings that may be averaged have in common: RECIPE."""
    scored = sha256("\n".join([*task.srcs, *task.trgs]).encode()).hexdigest()[:8]
    named: dict[str, Any] = {name: getattr(task, name) for name in ("pair", "src", "trg")}
    sizes = {"n_train": task.n_train, "n": len(task.srcs), "steps": task.steps}
    return named | {"scored": scored, **sizes, "smoothing": smoothing}


def _error(each: np.ndarray) -> float:
    """The standard error of a mean over sentences."""
    return float(each.std(ddof=1) / math.sqrt(len(each)))


def write_trainings(
    path: str | PathLike,
    task: Task,
    seeds: Iterable[int],
    smoothings: Iterable[float] = (0.0,),
    *,
    say: Callable[[str], None] = lambda line: None,
) -> pd.DataFrame:
    """Train a task with every seed and label smoothing, and write each row as soon as it is there.

    Rows that stand in the file are not made again: the same command goes on where it was interrupted.

    Parameters
    ----------
    path : of the table, a CSV file. seeds : whole numbers. smoothings : as in `train_pair`.
    say : is told each row that was made.

    Returns
    -------
    The table, as `read_trainings` gives it.
    """
    import pandas as pd

    path = Path(path)
    rows = read_trainings(path)[list(COLUMNS)].to_dict("records") if path.exists() else []
    done = {tuple(row[name] for name in (*RECIPE, "seed")) for row in rows}
    for seed, smoothing in product(seeds, smoothings):
        if (*_recipe(task, smoothing).values(), seed) in done:
            continue
        rows.append(train_both_ways(task, seed, smoothing))
        table = pd.DataFrame(rows, columns=list(COLUMNS))
        write_text(path, table.to_csv(index=False, float_format="%.8g", lineterminator="\n"))
        there, back = (rows[-1][f"h_lm{e}"] - rows[-1][f"h_mt{e}"] for e in ("", "_back"))
        say(
            f"{task.pair}, smoothing {smoothing:g}, seed {seed}: XMI {there:.3f} there, {back:.3f} back"
        )
    return read_trainings(path)
