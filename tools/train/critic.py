"""Train a critic: texts written in a language against texts translated into it, by logistic regression over tf-idf.

A file holds one text a line, and its set is its name up to the first dot: translations of the same sources are files
such as en-de.mt1.txt and en-de.mt2.txt. All figures are cross-fitted, by several designs (`designs`). The headline
leaves out one set of originals and one of translations at a time: a critic that knows the documents or the topics of
the texts that it judges makes the bound of total variation too large.
"""

import argparse
import json
import lzma
from collections import Counter
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from anhelpers.data import read_lines
from anhelpers.naturalness.critic import (
    _Shape,
    auc,
    critic_tokens,
    load_critic,
    ngrams,
    reliability,
    tv_lower_bound,
)

BLOCKS = (10, 40, 120)  # neighbouring lines in one fold
LEFT_OUT = "one set left out"
SEED = 13


def corpus(native: list[Path], translated: list[Path]) -> list[tuple[str, str, str, int]]:
    """(text, file, set, line) without blank and repeated texts, and without texts of both classes.

    The file of an original is "".
    """
    rows = [
        (" ".join(text.split()), path.name if side else "", path.name.partition(".")[0], line)
        for side, paths in enumerate((native, translated))
        for path in paths
        for line, text in enumerate(read_lines(path))
    ]
    both = {text for text, file, *_ in rows if file} & {text for text, file, *_ in rows if not file}
    first = {row[:2]: row for row in reversed(rows) if row[0] and row[0] not in both}
    return [row for row in rows if first.get(row[:2]) is row]


def weights(files: np.ndarray) -> np.ndarray:
    """Sample weights that sum to 1: half for each class, equal shares for the files of translations."""
    counts = Counter(files.tolist())
    share = {name: 0.5 if not name else 0.5 / (len(counts) - 1) for name in counts}
    return np.array([share[name] / counts[name] for name in files])


def frequent_words(tokens: list[list[str]], weight: np.ndarray, n: int) -> frozenset[str]:
    """The n words that the most texts have, both classes counting alike."""
    share: Counter[str] = Counter()
    for text, w in zip(tokens, weight.tolist(), strict=True):
        for word in {token.lower() for token in text if token[0].isalpha()}:
            share[word] += w
    return frozenset(sorted(share, key=lambda word: (-round(share[word], 12), word))[:n])


def designs(
    native: np.ndarray, sets: np.ndarray, line: np.ndarray
) -> Iterator[tuple[str, np.ndarray, list[np.ndarray]]]:
    """Name, block of each text, and the masks of the texts that are judged together by a critic of all others.

    Blocks of neighbouring lines are dealt to five folds, all translations of a line together. Then each pair of a set
    of originals and a set of translations is left out; a class of one set is cut into five stretches instead.
    """
    rng, sides = np.random.default_rng(SEED), (native, ~native)
    for length in BLOCKS:
        names = zip(native.tolist(), sets, (line // length).tolist(), strict=True)
        blocks = np.array([f"{'qr'[own]} {of} {i}" for own, of, i in names])
        kinds, which = np.unique(blocks, return_inverse=True)
        fold = (rng.permutation(len(kinds)) % 5)[which]
        yield f"blocks of {length} lines", blocks, [fold == k for k in range(5)]
    parts = sets.astype(object)
    for side in sides:
        if len(set(sets[side])) == 1:
            parts[side] = line[side] * 5 // (line[side].max() + 1)
    pairs = product(*(dict.fromkeys(parts[side]) for side in sides))
    yield LEFT_OUT, blocks, [np.where(native, parts == r, parts == q) for r, q in pairs]


def cross_fit(
    model: Any, matrix: Any, files: np.ndarray, judged: list[np.ndarray]
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Indices and log-odds of the texts of each mask, by the model fitted on all others."""
    for mask in judged:
        others = files[~mask]
        model.fit(matrix[~mask], others == "", sample_weight=weights(others))
        yield np.flatnonzero(mask), model.decision_function(matrix[mask])


def bound(
    at: np.ndarray, odds: np.ndarray, native: np.ndarray, blocks: np.ndarray
) -> dict[str, float]:
    """The bound of total variation with its interval over blocks, and the AUC."""
    own = native[at]
    r, q, clusters = odds[own], odds[~own], (blocks[at[own]], blocks[at[~own]])
    found = tv_lower_bound(r, q, clusters, np.random.default_rng(SEED)).bound
    figures = {"bound": found.value, "low": found.low, "high": found.high, "auc": auc(r, q)}
    return {name: round(float(value), 4) for name, value in figures.items()}


def train(args: argparse.Namespace) -> None:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    rows = corpus(args.native, args.translated)
    tokens = [critic_tokens(text, args.lang) for text, *_ in rows]
    kept = [i for i, text in enumerate(tokens) if sum(t[0].isalpha() for t in text) >= 2]
    tokens = [tokens[i] for i in kept]
    files, sets, line = (np.array([rows[i][k] for i in kept]) for k in (1, 2, 3))
    native, weight, shape = files == "", weights(files), _Shape()
    words = frequent_words(tokens, weight, args.words)

    def grams(text: list[str]) -> list[str]:
        return [gram for gram, _ in ngrams(text, words, shape)]

    vectors = TfidfVectorizer(analyzer=grams, min_df=args.min_texts)
    matrix = vectors.fit_transform(tokens)
    # mean weighted loss + penalty / 2 · |w|²
    model = LogisticRegression(C=1 / args.penalty, tol=1e-7, max_iter=1000)
    bounds, held = {}, np.zeros(0)
    for name, blocks, judged in designs(native, sets, line):
        parts = [*cross_fit(model, matrix, files, judged)]
        at, odds = map(np.concatenate, zip(*parts, strict=True))
        held = held if len(held) else odds[np.argsort(at)]  # of the shortest blocks
        bounds[name] = bound(at, odds, native, blocks)
        print(name, bounds[name])
    pairs = [bound(*part, native, blocks)["bound"] for part in parts]
    bounds[LEFT_OUT] |= {"lowest pair": min(pairs), "highest pair": max(pairs)}
    print(f"pairs of sets: {min(pairs)} to {max(pairs)}")
    model.fit(matrix, native, sample_weight=weight)
    # margins become log-odds at equal priors (Platt 1999)
    platt = LogisticRegression(C=1e9).fit(held[:, None], native, sample_weight=weight)
    scale, shift = float(platt.coef_[0, 0]), float(platt.intercept_[0])
    r, q = (scale * held[side] + shift for side in (native, ~native))
    facts = {
        "language": args.lang,
        "shape": {"order": shape.order, "lengths": shape.lengths, "ending": shape.ending},
        "intercept": float(f"{scale * model.intercept_[0] + shift:.6g}"),
        "originals": int(native.sum()),
        "translations": {path.name: int((files == path.name).sum()) for path in args.translated},
        "words": len(words),
        "ngrams": matrix.shape[1],
        "reliability": reliability(r, q),
        "tv_lower_bound": bounds,
    }
    lines = ["kind\ttext\tidf\tweight", *(f"word\t{word}\t\t" for word in sorted(words))]
    for gram, idf, w in zip(
        vectors.get_feature_names_out(), vectors.idf_, scale * model.coef_[0], strict=True
    ):
        lines.append(f"ngram\t{gram}\t{idf:.6g}\t{w:.6g}")
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "critic.tsv.xz").write_bytes(lzma.compress(("\n".join(lines) + "\n").encode()))
    (args.out / "facts.json").write_text(json.dumps(facts, indent=1) + "\n", "utf-8")
    print(load_critic(args.out), f"{facts['originals']} originals")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--native", type=Path, nargs="+", required=True)
    parser.add_argument("--translated", type=Path, nargs="+", required=True)
    parser.add_argument("--lang", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--words", type=int, default=500, help="most frequent words, not masked")
    parser.add_argument(
        "--min-texts", type=int, default=20, help="an n-gram is in at least so many"
    )
    parser.add_argument("--penalty", type=float, default=2e-4)
    train(parser.parse_args())
