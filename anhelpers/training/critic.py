"""Train a critic from texts written in a language and texts translated into it, and measure it on unseen ones.

A logistic regression over tf-idf, by scipy: classes have the same weight, and so have the files of translations. All
that is said of a critic is cross-fitted: each text is judged by a critic that has not seen it, nor its neighbours, nor
other translations of the same lines.
"""

from __future__ import annotations

import json
import lzma
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import minimize

from .. import checks
from ..data.languages import known_code, spaced
from ..data.writing import make_folder, replace_folder, write_bytes, write_text
from ..errors import DataError
from ..naturalness.critic import (
    FACTS,
    TABLE,
    Critic,
    Shape,
    auc,
    critic_tokens,
    load_critic,
    ngrams,
    reliability,
    tv_lower_bound,
)
from ..progress import progress
from ..provenance import made_by

__all__ = ["CriticRecipe", "train_critic", "write_critic"]

FEWEST = 200
"""Texts of a class from which something can be learnt of it."""
BLOCK = 10
"""Neighbouring lines that are in the same part of a cross-fit: they are of one document more often than not."""
UNEQUAL = 10.0
SAME_SYSTEM, SAME_CLASS = 0.9, 0.2
"""The share of equal lines from which two files are one system, or a file of translations holds originals."""
LEAST_WORDS = 2
"""Of a text that is learnt from."""


@dataclass(frozen=True)
class CriticRecipe:
    """How a critic is trained; the defaults were chosen on WMT23 for German.

    Parameters
    ----------
    language : of the texts, an ISO 639 code with spaces between words.
    words : how many of the most frequent words are not masked, both classes counting alike.
    shape : of the n-grams. min_texts : an n-gram that fewer texts have is not read.
    penalty : of half the squared length of the weights, against the mean loss in nats.
    folds : parts of the cross-fit, at least 2. seed : of these parts.
    """

    language: str
    words: int = 500
    shape: Shape = field(default_factory=Shape)
    min_texts: int = 20
    penalty: float = 2e-4
    folds: int = 5
    seed: int = 13

    def __post_init__(self) -> None:
        object.__setattr__(self, "language", known_code(self.language))
        if not spaced(self.language):
            raise DataError(
                f"'{self.language}' is written without spaces, and the critic reads words."
            )
        for name, least in {"words": 1, "min_texts": 1, "folds": 2}.items():
            checks.whole(name, getattr(self, name), least)
        if not 0 < self.penalty < math.inf:
            raise DataError(f"penalty is {self.penalty}; it must be above 0.")


def train_critic(
    native: Sequence[str],
    translated: Mapping[str, Sequence[str]],
    recipe: CriticRecipe,
    say: Callable[[str], None] = print,
    *,
    unseen: Sequence[str] = (),
) -> tuple[Critic, dict[str, Any]]:
    """A critic and its facts: recipe, what was left out and why, and cross-fitted figures.

    Lines of the same number in several files of translations are taken for translations of the same source, and stay in
    one part of the cross-fit. Kept words, n-grams and their idf are chosen on all texts, whatever their class.

    Parameters
    ----------
    native : texts written in the language. translated : name -> texts translated into it.
    say : told what a user should know. unseen : texts of a test, which are left out of training.

    Raises
    ------
    DataError : too few texts, a file of translations that holds originals, no n-gram in enough texts.
    """
    corpus = _corpus(native, translated, recipe, say, frozenset(map(_folded, unseen)))
    words = _frequent(corpus, recipe.words)
    counts = []
    with progress(len(corpus.tokens), "reading texts", "texts") as step:
        for tokens in corpus.tokens:
            counts.append(Counter(gram for gram, _ in ngrams(tokens, words, recipe.shape)))
            step(1)
    matrix, grams, idf = _tf_idf(counts, recipe.min_texts)
    held = np.full(len(counts), np.nan)
    parts = _parts(corpus.groups, recipe)
    with progress(recipe.folds + 1, "fitting", "fits") as step:
        for part in range(recipe.folds):
            w, b = _fit(
                matrix[parts != part],
                corpus.native[parts != part],
                corpus.weight[parts != part],
                recipe.penalty,
            )
            held[parts == part] = matrix[parts == part] @ w + b
            step(1)
        w, b = _fit(matrix, corpus.native, corpus.weight, recipe.penalty)
        step(1)
    scale, shift = _calibrated(held, corpus.native, corpus.weight)
    facts = {
        "language": recipe.language,
        "shape": asdict(recipe.shape),
        "intercept": float(f"{scale * b + shift:.6g}"),
        "recipe": asdict(recipe),
        **corpus.said,
        "words": len(words),
        "ngrams": len(grams),
        "scale": round(scale, 4),
        **_figures(scale * held + shift, corpus, recipe),
        "made_by": made_by(),
    }
    table = _table(words, zip(grams, idf, scale * w, strict=True))
    with TemporaryDirectory() as scratch:
        (folder := Path(scratch, recipe.language)).mkdir()
        (folder / FACTS).write_text(json.dumps(facts), "utf-8")
        (folder / TABLE).write_bytes(table)
        return load_critic(folder), facts


def write_critic(critic: Critic, facts: Mapping[str, Any], folder: Path) -> None:
    """Write a folder that `critic.load_critic` reads, in one step; texts of your own (.md) in an older one stay.

    Parameters
    ----------
    facts : of `train_critic`.

    Raises
    ------
    DataError : a folder that holds other things than an older critic, or that cannot be written.
    """
    if folder.is_dir() and not (folder / TABLE).is_file() and any(folder.iterdir()):
        raise DataError(
            "is a folder with other things in it, which the critic would replace; name a new "
            "folder.",
            folder,
        )
    fresh = make_folder(folder.parent / f".{folder.name}.fresh")
    rows = ((gram, *numbers) for gram, numbers in critic.table.items())
    write_bytes(fresh / TABLE, _table(critic.words, rows))
    write_text(fresh / FACTS, json.dumps(facts, indent=1) + "\n")
    for own in folder.glob("*.md"):
        write_bytes(fresh / own.name, own.read_bytes())
    replace_folder(fresh, folder)


@dataclass(frozen=True)
class _Corpus:
    texts: list[str]
    tokens: list[list[str]]
    native: np.ndarray  # (n,) bool
    weight: np.ndarray  # (n,) mean 1; each class half of it
    groups: list[str]  # (n,) what stays together
    said: dict[str, Any]


def _folded(text: str) -> str:
    return " ".join(text.split())


def _corpus(
    native: Sequence[str],
    translated: Mapping[str, Sequence[str]],
    recipe: CriticRecipe,
    say: Callable[[str], None],
    unseen: frozenset[str],
) -> _Corpus:
    """The texts of both classes without what would mislead; `unseen` are those of a test."""
    if not translated:
        raise DataError("there are no translations; name at least one file.")
    originals = set(map(_folded, native))
    of_q = {name: list(map(_folded, texts)) for name, texts in translated.items()}
    _tell_leaks(originals, of_q, say)
    both = originals.intersection(*[set().union(*of_q.values())]) - {""}
    sides = {"": list(map(_folded, native)), **of_q}
    left = Counter[str]()
    kept, tokens, groups, sizes = [], [], [], dict.fromkeys(sides, 0)
    for name, texts in sides.items():
        seen: set[str] = set()
        for line, text in enumerate(texts):
            read = critic_tokens(text, recipe.language)
            n_words = sum(token[0].isalpha() for token in read)
            reasons = {
                "blank": not text,
                "in both classes": text in both,
                "in the test": text in unseen,
                "repeated": text in seen,
                f"fewer than {LEAST_WORDS} words": n_words < LEAST_WORDS,
            }
            why = next((reason for reason, holds in reasons.items() if holds), "")
            seen.add(text)
            if why:
                left[why] += 1
                continue
            kept.append(text)
            tokens.append(read)
            groups.append(f"{'q' if name else 'r'}{line // BLOCK}")
            sizes[name] += 1
    if left:
        say(f"left out: {', '.join(f'{n:,} {why}' for why, n in left.items())}.")
    n_r, n_q = sizes[""], sum(sizes.values()) - sizes[""]
    for what, n in (("originals", n_r), ("translations", n_q)):
        if n < FEWEST:
            raise DataError(
                f"{n:,} {what} of two words or more are left, and a critic needs at least "
                f"{FEWEST}; some 3,000 are a beginning."
            )
    if max(n_r, n_q) > UNEQUAL * min(n_r, n_q):
        say(
            f"the classes are of very unequal size ({n_r:,} originals, {n_q:,} translations): "
            "they weigh the same, and the smaller one decides how much is learnt."
        )
    share = 0.5 / sum(sizes[name] > 0 for name in of_q)
    weight = np.concatenate(
        [np.full(n, 0.5 / n_r if not name else share / n) for name, n in sizes.items() if n]
    )
    said = {
        "originals": n_r,
        "translations": {name: sizes[name] for name in of_q},
        "left_out": dict(left),
    }
    return _Corpus(kept, tokens, np.arange(n_r + n_q) < n_r, weight * len(weight), groups, said)


def _tell_leaks(
    originals: set[str], of_q: dict[str, list[str]], say: Callable[[str], None]
) -> None:
    """A DataError for a file of translations that holds originals; a sentence for two files that are one system."""
    names = list(of_q)
    for i, name in enumerate(names):
        lines = set(of_q[name]) - {""}
        if lines and len(lines & originals) > SAME_CLASS * len(lines):
            raise DataError(
                f"{len(lines & originals):,} of {len(lines):,} lines stand among the originals as "
                "well: leave the file out, or give another one.",
                name,
            )
        for other in names[:i]:
            pairs = [(a, b) for a, b in zip(of_q[name], of_q[other], strict=False) if a]
            same = sum(a == b for a, b in pairs)
            if pairs and same >= SAME_SYSTEM * len(pairs):
                say(
                    f"{name} and {other} are the same in {same:,} of {len(pairs):,} lines: one "
                    "system counts twice."
                )


def _frequent(corpus: _Corpus, n: int) -> frozenset[str]:
    """The n words that the most texts have, both classes and all files as they weigh."""
    share: Counter[str] = Counter()
    for tokens, weight in zip(corpus.tokens, corpus.weight.tolist(), strict=True):
        for word in {token.lower() for token in tokens if token[0].isalpha()}:
            share[word] += weight
    return frozenset(sorted(share, key=lambda word: (-round(share[word], 6), word))[:n])


def _tf_idf(
    counts: Sequence[Counter[str]], min_texts: int
) -> tuple[sparse.csr_matrix, list[str], np.ndarray]:
    """(n, F) vectors of length 1, their n-grams, and (F,) log((1 + n) / (1 + texts that have it)) + 1."""
    texts = Counter(gram for row in counts for gram in row)
    grams = sorted(gram for gram, n in texts.items() if n >= min_texts)
    if not grams:
        raise DataError(
            f"no n-gram is in {min_texts} texts; give more texts, or a smaller min_texts."
        )
    index = {gram: i for i, gram in enumerate(grams)}
    idf = np.array(
        [float(f"{math.log((1 + len(counts)) / (1 + texts[gram])) + 1:.6g}") for gram in grams]
    )
    found = [[(index[gram], n) for gram, n in row.items() if gram in index] for row in counts]
    ends = np.cumsum([0, *map(len, found)])
    columns, numbers = np.array([pair for row in found for pair in row]).reshape(-1, 2).T
    matrix = sparse.csr_matrix(
        (numbers * idf[columns], columns, ends), shape=(len(counts), len(grams))
    )
    size = np.sqrt(np.asarray(matrix.multiply(matrix).sum(1)).ravel())
    return sparse.diags(1 / np.where(size > 0, size, 1)).dot(matrix).tocsr(), grams, idf


def _parts(groups: Sequence[str], recipe: CriticRecipe) -> np.ndarray:
    """(n,) the part of the cross-fit of each text."""
    names, index = np.unique(np.array(groups), return_inverse=True)
    if len(names) < recipe.folds:
        raise DataError(
            f"{len(names)} blocks of {BLOCK} lines cannot be cut into {recipe.folds} parts."
        )
    return (np.random.default_rng(recipe.seed).permutation(len(names)) % recipe.folds)[index]


def _fit(
    x: Any, native: np.ndarray, weight: np.ndarray, penalty: float
) -> tuple[np.ndarray, float]:
    """Weights and intercept of the logistic regression: mean weighted loss + penalty / 2 · |w|²."""
    sign, share, turned = np.where(native, 1.0, -1.0), weight / weight.sum(), x.T.tocsr()

    def loss(v: np.ndarray) -> tuple[float, np.ndarray]:
        margin = sign * (x @ v[:-1] + v[-1])
        slope = -share * sign * np.exp(-np.logaddexp(0, margin))
        value = share @ np.logaddexp(0, -margin) + penalty / 2 * (v[:-1] @ v[:-1])
        return value, np.append(turned @ slope + penalty * v[:-1], slope.sum())

    settings = {"maxiter": 1000, "maxcor": 20, "ftol": 1e-12, "gtol": 1e-7}
    found = minimize(
        loss, np.zeros(x.shape[1] + 1), jac=True, method="L-BFGS-B", options=settings
    ).x
    return found[:-1], float(found[-1])


def _calibrated(margin: np.ndarray, native: np.ndarray, weight: np.ndarray) -> tuple[float, float]:
    """Slope and shift that make cross-fitted margins log-odds at equal priors (Platt 1999)."""
    column = sparse.csr_matrix(margin[:, None])
    w, b = _fit(column, native, weight, 1e-9)
    return float(w[0]), b


def _figures(scores: np.ndarray, corpus: _Corpus, recipe: CriticRecipe) -> dict[str, Any]:
    """What the cross-fit says: AUC, reliability, the bound of TV."""
    r, q = scores[corpus.native], scores[~corpus.native]
    groups = np.array(corpus.groups)
    bound = tv_lower_bound(
        r, q, (groups[corpus.native], groups[~corpus.native]), np.random.default_rng(recipe.seed)
    )
    at = bound.bound
    told = {"bound": at.value, "low": at.low, "high": at.high, "accuracy": bound.accuracy}
    counts = {"n_r": bound.n_r, "n_q": bound.n_q, "n_clusters": at.n_docs}
    return {
        "auc": round(auc(r, q), 4),
        "reliability": reliability(r, q),
        "tv_lower_bound": {name: round(value, 4) for name, value in told.items()} | counts,
    }


def _table(words: frozenset[str], rows: Iterable[tuple[str, float, float]]) -> bytes:
    """critic.tsv.xz: numbers with 6 digits, which are what is scored with."""
    lines = ["kind\ttext\tidf\tweight", *(f"word\t{word}\t\t" for word in sorted(words))]
    lines += [f"ngram\t{gram}\t{idf:.6g}\t{weight:.6g}" for gram, idf, weight in rows]
    return lzma.compress(("\n".join(lines) + "\n").encode(), preset=9)
