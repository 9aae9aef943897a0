"""How much critic and language model count in their combination: fitted on originals, translations, damaged
originals.

On originals against translations alone the language model would get a negative weight, because systems write more
probable text than people do. So half of the loss is about fluency: which of two texts is the original, and which is
the same one damaged by rule?

The damage is a word in another form, out of place, missing or doubled. Its rules know no language: other forms of a
word are the words of the texts that share its beginning. They hit case, agreement and word order in most languages
with spaces, and now and then leave a text that is as good as before.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize

from ..data.writing import write_text
from ..errors import DataError
from ..naturalness.critic import Combination, Critic, auc, critic_metric
from ..naturalness.lm import LanguageModel, lpp_metric
from ..provenance import made_by

__all__ = ["damaged", "fit_weights", "other_forms", "train_combination", "write_combination"]

WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
FRAMED = re.compile(rf"(\W*)({WORD.pattern})(\W*)")
"""A word and the signs around it, which stay in their place."""
ENDING = 2
"""Letters at the end in which two forms of a word may differ."""
FARTHEST = 6
"""Places that a word moves at most."""
TRIES = 20
N_ERRORS = {1: 0.5, 2: 0.25, 3: 0.15, 4: 0.1}
"""Errors in a text, with their probabilities."""

Forms = Mapping[str, tuple[list[str], np.ndarray]]


def other_forms(texts: Iterable[str]) -> Forms:
    """Word -> (words that differ from it only in the last two letters, their (n,) probabilities, by frequency).

    At least half of a word, and two letters of it, stay.

    Parameters
    ----------
    texts : of the language.

    >>> forms = other_forms(["dem Haus das", "das Haus den den"])
    >>> forms["dem"][0], "Haus" in forms
    (['den'], False)
    """
    counts = Counter(word for text in texts for word in WORD.findall(text))
    alike: dict[str, list[str]] = defaultdict(list)
    for word in sorted(counts):
        for stem in _stems(word):
            alike[stem].append(word)
    forms = {}
    for word in counts:
        others = sorted({other for stem in _stems(word) for other in alike[stem]} - {word})
        if others:
            n = np.array([counts[other] for other in others], dtype=np.float64)
            forms[word] = others, n / n.sum()
    return forms


def _stems(word: str) -> list[str]:
    return [
        word[: len(word) - cut]
        for cut in range(ENDING + 1)
        if len(word) - cut >= max(2, len(word) / 2)
    ]


def damaged(text: str, forms: Forms, rng: np.random.Generator) -> str | None:
    """The text with 1 to 4 errors (one in half of the cases); None where no rule can change it.

    Parameters
    ----------
    forms : of `other_forms`.
    rng : decides how many errors, which and where.
    """
    words = text.split(" ")
    wanted = rng.choice(list(N_ERRORS), p=list(N_ERRORS.values()))
    for _ in range(TRIES):
        rule = RULES[rng.choice(len(RULES), p=SHARES)]
        places = [i for i, word in enumerate(words) if FRAMED.fullmatch(word)]
        if len(places) < 3:
            break
        new = rule(words, int(rng.choice(places)), forms, rng)
        if new is not None and new != words:
            words, wanted = new, wanted - 1
        if not wanted:
            break
    changed = " ".join(words)
    return None if changed == text else changed


def _other_form(
    words: list[str], i: int, forms: Forms, rng: np.random.Generator
) -> list[str] | None:
    """Another form of the word: mostly a false case, number or person."""
    before, word, after = _parts(words[i])
    if word not in forms:
        return None
    others, p = forms[word]
    return [*words[:i], before + others[rng.choice(len(others), p=p)] + after, *words[i + 1 :]]


def _moved(words: list[str], i: int, forms: Forms, rng: np.random.Generator) -> list[str] | None:
    """The word a few places further, not beyond a sign; the first word of the text keeps its capital."""
    j = i + int(rng.integers(1, FARTHEST + 1)) * int(rng.choice([-1, 1]))
    low, high = min(i, j), max(i, j)
    if low < 0 or high >= len(words):
        return None
    parts = [FRAMED.fullmatch(word) for word in words[low : high + 1]]
    if not all(parts) or any(p[1] for p in parts[1:] if p) or any(p[3] for p in parts[:-1] if p):
        return None
    bare = [p[2] for p in parts if p]
    order = [*bare[1:], bare[0]] if j > i else [bare[-1], *bare[:-1]]
    if not low and bare[0][:1].isupper() and order[0] != bare[0]:
        order = [order[0][:1].upper() + order[0][1:], *order[1:]]
    order = [_parts(words[low])[0] + order[0], *order[1:]]
    order[-1] += _parts(words[high])[2]
    return [*words[:low], *order, *words[high + 1 :]]


def _dropped(words: list[str], i: int, forms: Forms, rng: np.random.Generator) -> list[str] | None:
    """Without the word; one beside a sign stays."""
    before, _, after = _parts(words[i])
    return None if before or after else [*words[:i], *words[i + 1 :]]


def _doubled(words: list[str], i: int, forms: Forms, rng: np.random.Generator) -> list[str] | None:
    """The word twice."""
    before, word, _ = _parts(words[i])
    return [*words[:i], before + word, words[i][len(before) :], *words[i + 1 :]]


def _parts(word: str) -> tuple[str, str, str]:
    """Signs before, the word, signs after."""
    found = FRAMED.fullmatch(word)
    return (found[1], found[2], found[3]) if found else ("", word, "")


RULES: tuple[Callable[[list[str], int, Forms, np.random.Generator], list[str] | None], ...] = (
    _other_form,
    _moved,
    _dropped,
    _doubled,
)
SHARES = (0.45, 0.35, 0.1, 0.1)


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
    seen = set()
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
    found = Combination(critic, heard, -read, intercept, f"{lm.name}@{lm.revision}")
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
    write_text(path := folder / "combination.json", json.dumps(facts, indent=1) + "\n")
    return path


def _distinct(lines: Sequence[str]) -> list[str]:
    return [line for line in dict.fromkeys(lines) if line.strip()]


def _scores(metrics: Sequence[Any], texts: Sequence[str], whole: bool = False) -> np.ndarray:
    """(n, 2) scores of texts; without those that a judge has none for, unless all are wanted."""
    scores = np.stack([np.asarray(metric.score_segments(texts)) for metric in metrics], 1)
    return scores if whole else scores[~np.isnan(scores).any(1)]
