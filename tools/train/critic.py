"""Train a critic: texts written in a language against texts translated into it, by logistic regression over tf-idf.

All figures are cross-fitted: each text is scored by a critic that was trained neither on it, nor on its neighbours, nor
on other translations of the same lines.
"""

import argparse
import json
import lzma
from collections import Counter
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, cross_val_predict

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

BLOCK = 10  # neighbouring lines in one fold: they are mostly of one document
SEED = 13


def corpus(native: Path, translated: list[Path]) -> list[tuple[str, str, str]]:
    """(text, file, group) without blank and repeated texts, and without texts of both classes.

    Equal line numbers of the translated files are translations of one source, and stay in one group.
    """
    sides = {
        path.name: [" ".join(text.split()) for text in read_lines(path)] for path in translated
    }
    originals = [" ".join(text.split()) for text in read_lines(native)]
    both = {*originals}.intersection({text for texts in sides.values() for text in texts})
    rows = []
    for name, texts in {"": originals, **sides}.items():
        first = {text: i for i, text in reversed([*enumerate(texts)])}
        for i, text in enumerate(texts):
            if text and text not in both and first[text] == i:
                rows.append((text, name, f"{'q' if name else 'r'}{i // BLOCK}"))
    return rows


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


def train(args: argparse.Namespace) -> None:
    rows = corpus(args.native, args.translated)
    tokens = [critic_tokens(text, args.lang) for text, *_ in rows]
    kept = [i for i, text in enumerate(tokens) if sum(t[0].isalpha() for t in text) >= 2]
    tokens, rows = [tokens[i] for i in kept], [rows[i] for i in kept]
    files = np.array([name for _, name, _ in rows])
    groups = np.array([group for *_, group in rows])
    native, weight, shape = files == "", weights(files), _Shape()
    words = frequent_words(tokens, weight, args.words)

    def grams(text: list[str]) -> list[str]:
        return [gram for gram, _ in ngrams(text, words, shape)]

    vectors = TfidfVectorizer(analyzer=grams, min_df=args.min_texts)
    matrix = vectors.fit_transform(tokens)
    # mean weighted loss + penalty / 2 · |w|²
    model = LogisticRegression(C=1 / args.penalty, tol=1e-7, max_iter=1000)
    folds = GroupKFold(5, shuffle=True, random_state=SEED)
    held = cross_val_predict(
        model,
        matrix,
        native,
        groups=groups,
        cv=folds,
        method="decision_function",
        params={"sample_weight": weight},
    )
    model.fit(matrix, native, sample_weight=weight)
    # margins become log-odds at equal priors (Platt 1999)
    platt = LogisticRegression(C=1e9).fit(held[:, None], native, sample_weight=weight)
    scale, shift = float(platt.coef_[0, 0]), float(platt.intercept_[0])
    r, q = (scale * held[side] + shift for side in (native, ~native))
    rng = np.random.default_rng(SEED)
    bound = tv_lower_bound(r, q, (groups[native], groups[~native]), rng).bound
    facts = {
        "language": args.lang,
        "shape": {"order": shape.order, "lengths": shape.lengths, "ending": shape.ending},
        "intercept": float(f"{scale * model.intercept_[0] + shift:.6g}"),
        "originals": int(native.sum()),
        "translations": {path.name: int((files == path.name).sum()) for path in args.translated},
        "words": len(words),
        "ngrams": matrix.shape[1],
        "auc": round(float(auc(r, q)), 4),
        "reliability": reliability(r, q),
        "tv_lower_bound": {"bound": bound.value, "low": bound.low, "high": bound.high},
    }
    lines = ["kind\ttext\tidf\tweight", *(f"word\t{word}\t\t" for word in sorted(words))]
    for gram, idf, w in zip(
        vectors.get_feature_names_out(), vectors.idf_, scale * model.coef_[0], strict=True
    ):
        lines.append(f"ngram\t{gram}\t{idf:.6g}\t{w:.6g}")
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "critic.tsv.xz").write_bytes(lzma.compress(("\n".join(lines) + "\n").encode()))
    (args.out / "facts.json").write_text(json.dumps(facts, indent=1) + "\n", "utf-8")
    print(load_critic(args.out), f"AUC {facts['auc']:.3f}, {facts['originals']} originals")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("native", type=Path)
    parser.add_argument("translated", type=Path, nargs="+")
    parser.add_argument("--lang", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--words", type=int, default=500, help="most frequent words, not masked")
    parser.add_argument(
        "--min-texts", type=int, default=20, help="an n-gram is in at least so many"
    )
    parser.add_argument("--penalty", type=float, default=2e-4)
    train(parser.parse_args())
