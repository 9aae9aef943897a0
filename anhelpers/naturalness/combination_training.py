"""How much critic and language model count in their combination: fitted on originals, translations, damaged originals.

On originals against translations alone the language model would get a negative weight, because systems write more
probable text than people do. So half of the loss is about fluency: which of two texts is the original, and which is the
same one damaged by rule?
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize

from ..data.writing import write_text
from ..errors import DataError
from ..provenance import made_by
from .combination import FILE, Combination, identity
from .critic import Critic, critic_metric
from .critic_figures import auc
from .damage import damaged, other_forms
from .lm import lpp_metric
from .load import LanguageModel
from .lpp import shared_lines

__all__ = ["fit_weights", "train_combination", "write_combination"]

FEWEST = 200
"""Originals, and texts of a file of translations, from which weights can be fitted."""


def train_combination(
    native: Sequence[str],
    translated: Mapping[str, Sequence[str]],
    judges: tuple[Critic, LanguageModel],
    say: Callable[[str], None] = print,
    *,
    seed: int = 13,
) -> tuple[Combination, dict[str, Any]]:
    """A combination and its facts.

    Parameters
    ----------
    native : texts written in the language that neither judge was trained on; those that the language model knows, as
        far as its folder tells, are left out.
    translated : name -> texts translated into it; the files weigh the same.
    judges : the critic and the language model.
    say : told what a user should know. seed : of the damage.

    Raises
    ------
    DataError : fewer than 200 texts of a kind; a judge that is no better than chance, as where the two sides are
        swapped.
    """
    critic, lm = judges
    texts = {
        "": _distinct(native),
        **{name: _distinct(lines) for name, lines in translated.items()},
    }
    seen = set() if lm.training_lines is None else set(shared_lines(texts[""], lm.training_lines))
    both = set(texts[""]).intersection(*[set().union(*(t for name, t in texts.items() if name))])
    for what, lines in (f"known to {lm.name}", seen), ("in both classes", both):
        if lines:
            say(f"left out: {len(lines):,} originals {what}.")
    texts = {
        name: [text for text in lines if text not in seen | both] for name, lines in texts.items()
    }
    rng, forms = np.random.default_rng(seed), other_forms(texts[""])
    pairs = [(text, worse) for text in texts[""] if (worse := damaged(text, forms, rng))]
    metrics = critic_metric(critic, critic.language), lpp_metric(lm, trg_lang=critic.language)
    scores = {name: _scores(metrics, lines) for name, lines in texts.items()}
    better, worse = (
        _scores(metrics, [pair[side] for pair in pairs], whole=True) for side in (0, 1)
    )
    moves = (better - worse)[~np.isnan(better - worse).any(1)]
    r, q = scores.pop(""), scores
    for what, n in (
        ("originals", len(r)),
        *((f"texts of {name}", len(rows)) for name, rows in q.items()),
    ):
        if n < FEWEST:
            raise DataError(
                f"{n:,} {what} are left, and weights need at least {FEWEST} of each kind."
            )
    heard, read, intercept = (
        float(f"{number:.4g}") for number in fit_weights(r, list(q.values()), moves)
    )
    if heard <= 0:
        raise DataError(
            f"the critic {critic.name} finds these translations more original than the originals; "
            "are NATIVE and TRANSLATED swapped, or is it a critic of something else?"
        )
    if read >= 0:
        raise DataError(
            f"{lm.name} does not tell originals from damaged ones: nothing is won by it."
        )
    found = Combination(critic, heard, -read, intercept, identity(lm))
    value = {name: rows @ [heard, read] for name, rows in q.items()}
    facts = {
        "critic": critic.revision,
        "lm": found.lm,
        "critic_weight": heard,
        "lpp_weight": -read,
        "intercept": intercept,
        "seed": seed,
        "originals": len(r),
        "translations": {name: len(rows) for name, rows in q.items()},
        "damaged": len(moves),
        "auc_translations": round(
            float(np.mean([auc(r @ [heard, read], v) for v in value.values()])), 4
        ),
        "damaged_below_original": round(float((moves @ [heard, read] > 0).mean()), 4),
        "made_by": made_by(),
    }
    return found, facts


def fit_weights(r: np.ndarray, q: Sequence[np.ndarray], moves: np.ndarray) -> np.ndarray:
    """Weights of the two judges and an intercept, (3,): the least mean of two logistic losses.

    The first: is a text an original or a translation, at equal priors, all files of translations weighing the same? The
    second: by how much is an original above its damaged self? There the intercept plays no part.

    Parameters
    ----------
    r : (N, 2) critic and log-perplexity of originals. q : per file (M, 2) of translations.
    moves : (P, 2) originals less their damaged selves.

    >>> fit_weights(np.array([[1.0, 0], [-1, 0]]), [np.array([[1.0, 0], [-1, 0]])], np.zeros((1, 2))).round(6) + 0.0
    array([0., 0., 0.])
    """
    x = np.vstack([r, *q])
    sign = np.where(np.arange(len(x)) < len(r), 1.0, -1.0)
    share = np.concatenate(
        [np.full(len(r), 0.5 / len(r)), *(np.full(len(m), 0.5 / len(q) / len(m)) for m in q)]
    )

    def loss(v: np.ndarray) -> tuple[float, np.ndarray]:
        margin, gain = sign * (x @ v[:2] + v[2]), moves @ v[:2]
        pull = -share * sign * np.exp(-np.logaddexp(0, margin))
        push = -np.exp(-np.logaddexp(0, gain)) / len(gain)
        value = share @ np.logaddexp(0, -margin) + np.logaddexp(0, -gain).mean()
        return value / 2, np.append(x.T @ pull + moves.T @ push, pull.sum()) / 2

    return minimize(
        loss, np.zeros(3), jac=True, method="L-BFGS-B", options={"ftol": 1e-13, "gtol": 1e-9}
    ).x


def write_combination(facts: Mapping[str, Any], folder: Path) -> Path:
    """Put the facts of `train_combination` beside the critic of a folder; return the file."""
    write_text(path := folder / FILE, json.dumps(facts, indent=1) + "\n")
    return path


def _distinct(lines: Sequence[str]) -> list[str]:
    return [line for line in dict.fromkeys(lines) if line.strip()]


def _scores(metrics: Sequence[Any], texts: Sequence[str], whole: bool = False) -> np.ndarray:
    """(n, 2) scores of texts; without those that a judge has none for, unless all are wanted."""
    scores = np.stack([np.asarray(metric.score_segments(texts)) for metric in metrics], 1)
    return scores if whole else scores[~np.isnan(scores).any(1)]
