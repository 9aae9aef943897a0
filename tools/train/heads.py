"""Fit the two heads of the metric native: original or translated, and fluent or damaged by rule.

A head is a logistic regression on the mean hidden states of texts. The score native + w · fluent is calibrated on
held-out texts: scale and shift make it the log-odds, at equal priors, of being written in the language.
"""

import argparse
import json
import random
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import numpy as np
from damage import Damage
from sklearn.linear_model import LogisticRegression

import anhelpers as an
from anhelpers.naturalness.critic import _same_signs, auc, reliability
from anhelpers.naturalness.native import _mean_states

LM = "gemma-3-270m"
SHARE = {"native": 6, "human-translation": 3, "machine-translation": 2, "translation": 5}  # damaged
LENGTHS = range(4, 46)  # words of a text to damage
LAYERS = {"native": 6, "fluent": 9}  # that a head reads
C = {"native": 1e-3, "fluent": 1e-3}
BLOCK, FOLDS = 120, 5  # neighbouring lines in one fold
WEIGHTS = np.arange(0, 4.01, 0.05)  # of fluent, to choose from

Head = tuple[np.ndarray, float]


class Row(NamedTuple):
    group: str  # translations of the same sources have the same
    side: str
    line: int
    text: str


class Pair(NamedTuple):
    base: int  # row of the text
    damaged: str


def read_rows(table: Path | None, native: list[Path], translated: list[Path]) -> list[Row]:
    """Texts from a table (set, side, origin, line, text) or from files of one text a line; signs have one form."""
    if table:
        cells = [line.split("\t") for line in an.data.read_lines(table)[1:]]
        return [Row(g, side, int(line), _same_signs(text)) for g, side, _, line, text in cells]
    return [
        Row(path.name.partition(".")[0], side, line, _same_signs(text))
        for side, paths in (("native", native), ("translation", translated))
        for path in paths
        for line, text in enumerate(an.data.read_lines(path))
    ]


def damaged_pairs(rows: list[Row], lang: str, originals: int) -> list[Pair]:
    """Texts of every side, each once, with 1 to 3 errors; so many originals, or fewer."""
    texts = [row.text for row in rows]
    damage, first = Damage(texts, lang), {}
    for i, text in enumerate(texts):
        first.setdefault(text, i)
    shuffle, rng, bases = random.Random(3).shuffle, np.random.default_rng(13), {}
    for side in sorted({row.side for row in rows}):
        of = [i for t, i in first.items() if rows[i].side == side and len(t.split()) in LENGTHS]
        shuffle(of)
        bases[side] = of[: originals * SHARE[side] // SHARE["native"]]
    order = [i for side in ("native", *sorted({*bases} - {"native"})) for i in bases[side]]
    return [Pair(i, worse) for i in order if (worse := damage(texts[i], rng))]


def fit(x: np.ndarray, good: np.ndarray, head: str) -> Head:
    """Weights and intercept of a logistic regression on standardised states, classes of equal weight."""
    layers = np.repeat(sorted(set(LAYERS.values())), x.shape[1] // len(set(LAYERS.values())))
    read = layers == LAYERS[head]
    mean, sd = x[:, read].mean(0), x[:, read].std(0) + 1e-6
    model = LogisticRegression(C=C[head], max_iter=1000, class_weight="balanced")
    model.fit((x[:, read] - mean) / sd, good)
    w = np.zeros(len(read))
    w[read] = model.coef_[0] / sd
    return w, float(model.intercept_[0] - mean @ w[read])


def heads(x: np.ndarray, native: np.ndarray, good: np.ndarray, bad: np.ndarray) -> list[Head]:
    """Native and fluent."""
    which = np.arange(2 * len(good)) < len(good)
    return [fit(x, native, "native"), fit(np.vstack([good, bad]), which, "fluent")]


def scores(x: np.ndarray, both: list[Head]) -> np.ndarray:
    """(n, 2) of both heads."""
    return np.stack([x @ w + b for w, b in both], 1)


def choose_weight(
    x: np.ndarray, side: np.ndarray, good: np.ndarray, bad: np.ndarray
) -> tuple[float, dict]:
    """The weight of fluent under which the most pairs are in order, and the shares in order without and with it.

    Pairs are of an original and a translation (the mean over kinds of translations), and of a text and its damaged
    copy; both shares count alike. All scores are held out.

    Parameters
    ----------
    x, good, bad : (n, 2), (m, 2), (m, 2) scores of both heads: other texts, texts, damaged copies.
    side : (n,)
    """
    kinds, found = sorted({*side.tolist()} - {"native"}), []
    for weight in WEIGHTS:
        a, b, c = (part @ [1, weight] for part in (x, good, bad))
        aucs = {kind: round(auc(a[side == "native"], a[side == kind]), 4) for kind in kinds}
        found.append(aucs | {"damaged_below": round(float((b > c).mean()), 4)})
    total = [np.mean([one[kind] for kind in kinds]) + one["damaged_below"] for one in found]
    best = int(np.argmax(total))
    return round(float(WEIGHTS[best]), 2), {"native_alone": found[0], "both": found[best]}


def calibration(held: np.ndarray, native: np.ndarray) -> tuple[float, float]:
    """Scale and shift that turn held-out scores into log-odds at equal priors (Platt 1999)."""
    model = LogisticRegression(C=1e9, class_weight="balanced").fit(held[:, None], native)
    return float(model.coef_[0, 0]), float(model.intercept_[0])


def train(args: argparse.Namespace) -> None:
    rows = read_rows(args.table, args.native, args.translated)
    pairs = damaged_pairs(rows, args.lang, args.damaged)
    lm, layers = an.load_lm(args.lm), sorted(set(LAYERS.values()))

    def states(texts: list[str]) -> np.ndarray:
        return _mean_states(lm, texts, layers).astype(np.float64)

    x, bad = states([row.text for row in rows]), states([pair.damaged for pair in pairs])
    native = np.array([row.side == "native" for row in rows])
    base = np.array([pair.base for pair in pairs])
    good = x[base]
    sides = [{row.text for row in rows if (row.side == "native") == own} for own in (True, False)]
    first = {row.text: i for i, row in reversed([*enumerate(rows)])}
    both = sides[0] & sides[1]
    kept = np.array([i for t, i in first.items() if t not in both and np.isfinite(x[i]).all()])

    # held-out scores: blocks of neighbouring lines are dealt to folds, all translations of a line together
    blocks = [f"{row.group} {row.line // BLOCK}" for row in rows]
    names, which = np.unique(blocks, return_inverse=True)
    fold = (np.random.default_rng(13).permutation(len(names)) % FOLDS)[which]
    held, above, below = (np.zeros((len(part), 2)) for part in (rows, pairs, pairs))
    for k in range(FOLDS):
        some, rest = kept[fold[kept] != k], fold[base] != k
        fitted = heads(x[some], native[some], good[rest], bad[rest])
        held[fold == k] = scores(x[fold == k], fitted)
        above[~rest], below[~rest] = scores(good[~rest], fitted), scores(bad[~rest], fitted)

    # the weight is chosen on texts that no head has seen
    side, chosen_on = np.array([row.side for row in rows])[kept], held[kept]
    if args.choose_on:
        other = [row for row in read_rows(args.choose_on, [], []) if row.text]
        theirs = {row.text for row in other}
        some = np.array([i for i in kept if rows[i].text not in theirs])
        rest = np.array([rows[i].text not in theirs for i in base])
        fitted = heads(x[some], native[some], good[rest], bad[rest])
        side = np.array([row.side for row in other])
        chosen_on = scores(states([row.text for row in other]), fitted)
    weight, order = choose_weight(chosen_on, side, above, below)

    total, own = chosen_on @ [1, weight], side == "native"
    scale, shift = calibration(total, own)
    r, q = (scale * total[one] + shift for one in (own, ~own))
    old, ours = held[kept] @ [1, weight], native[kept]
    fitted = heads(x[kept], native[kept], good, bad)
    facts = {
        "language": args.lang,
        "model": lm.name,
        "revision": lm.revision,
        "layers": layers,
        "intercepts": {n: float(f"{b:.6g}") for n, (_, b) in zip(C, fitted, strict=True)},
        "fluent_weight": weight,
        "scale": float(f"{scale:.6g}"),
        "shift": float(f"{shift:.6g}"),
        "reliability": reliability(r, q),
        "counts": dict(Counter(rows[i].side for i in kept)) | {"damaged": len(pairs)},
        "held_out": {
            "auc": round(auc(old[ours], old[~ours]), 4),
            "fluent_alone": round(float((above > below)[:, 1].mean()), 4),
        },
        "chosen_on": {"counts": dict(Counter(side.tolist()))} | order,
        "weights": {n: [float(f"{v:.6g}") for v in w] for n, (w, _) in zip(C, fitted, strict=True)},
    }
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.write_text(json.dumps(facts) + "\n", "utf-8")
    print({name: value for name, value in facts.items() if name != "weights"})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--native", type=Path, nargs="+", default=[])
    parser.add_argument("--translated", type=Path, nargs="+", default=[])
    parser.add_argument("--table", type=Path, help="columns set, side, origin, line, text")
    parser.add_argument(
        "--choose-on",
        type=Path,
        help="a table of other texts, on which the weight of fluent is chosen",
    )
    parser.add_argument("--lang", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--lm", default=LM)
    parser.add_argument("--damaged", type=int, default=3000, help="originals to damage")
    train(parser.parse_args())
