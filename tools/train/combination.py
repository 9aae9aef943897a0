"""Fit how much a critic and a language model count in critic+lpp: originals, translations and damaged originals.

With originals and translations only, the language model would get a negative weight, because systems write more
probable texts than people. So half of the loss is about fluency: the original against the same text damaged by rule (a
word in another form, moved, dropped or doubled). The rules know no language: other forms of a word are the words of
the texts that share its beginning.
"""

import argparse
import json
import re
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression

import anhelpers as an
from anhelpers.naturalness.critic import auc

WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
FRAMED = re.compile(rf"(\W*)({WORD.pattern})(\W*)")  # a word between signs, which keep their place
N_ERRORS = {1: 0.5, 2: 0.25, 3: 0.15, 4: 0.1}  # errors in a text -> probability
FARTHEST = 6  # places that a word moves at most
TRIES = 20

Forms = dict[str, tuple[list[str], np.ndarray]]


def other_forms(texts: list[str]) -> Forms:
    """Word -> (words that differ from it only in the last two letters, their probabilities by frequency)."""
    counts = Counter(word for text in texts for word in WORD.findall(text))

    def stems(word: str) -> list[str]:
        return [word[: len(word) - k] for k in range(3) if len(word) - k >= max(2, len(word) / 2)]

    alike = defaultdict(list)
    for word in sorted(counts):
        for stem in stems(word):
            alike[stem].append(word)
    forms = {}
    for word in counts:
        if others := sorted({other for stem in stems(word) for other in alike[stem]} - {word}):
            n = np.array([counts[other] for other in others], float)
            forms[word] = others, n / n.sum()
    return forms


def parts(word: str) -> tuple[str, str, str]:
    """Signs before, the word, signs after."""
    found = FRAMED.fullmatch(word)
    return (found[1], found[2], found[3]) if found else ("", word, "")


def another_form(
    words: list[str], i: int, forms: Forms, rng: np.random.Generator
) -> list[str] | None:
    before, word, after = parts(words[i])
    if word not in forms:
        return None
    others, p = forms[word]
    return [*words[:i], before + others[rng.choice(len(others), p=p)] + after, *words[i + 1 :]]


def moved(words: list[str], i: int, forms: Forms, rng: np.random.Generator) -> list[str] | None:
    """The word some places away, not beyond a sign; the first word of a text keeps its capital."""
    j = i + int(rng.integers(1, FARTHEST + 1)) * int(rng.choice([-1, 1]))
    low, high = min(i, j), max(i, j)
    if low < 0 or high >= len(words):
        return None
    found = [FRAMED.fullmatch(word) for word in words[low : high + 1]]
    if not all(found) or any(p[1] for p in found[1:]) or any(p[3] for p in found[:-1]):
        return None
    bare = [p[2] for p in found]
    order = [*bare[1:], bare[0]] if j > i else [bare[-1], *bare[:-1]]
    if not low and bare[0][:1].isupper() and order[0] != bare[0]:
        order = [order[0][:1].upper() + order[0][1:], *order[1:]]
    order = [found[0][1] + order[0], *order[1:]]
    order[-1] += found[-1][3]
    return [*words[:low], *order, *words[high + 1 :]]


def dropped(words: list[str], i: int, forms: Forms, rng: np.random.Generator) -> list[str] | None:
    before, _, after = parts(words[i])
    return None if before or after else [*words[:i], *words[i + 1 :]]


def doubled(words: list[str], i: int, forms: Forms, rng: np.random.Generator) -> list[str] | None:
    before, word, _ = parts(words[i])
    return [*words[:i], before + word, words[i][len(before) :], *words[i + 1 :]]


RULES = {another_form: 0.45, moved: 0.35, dropped: 0.1, doubled: 0.1}


def damaged(text: str, forms: Forms, rng: np.random.Generator) -> str | None:
    """The text with 1 to 4 errors; None if no rule can change it."""
    words, rules = text.split(" "), [*RULES]
    wanted = rng.choice([*N_ERRORS], p=[*N_ERRORS.values()])
    for _ in range(TRIES):
        places = [i for i, word in enumerate(words) if FRAMED.fullmatch(word)]
        if len(places) < 3 or not wanted:
            break
        rule = rules[rng.choice(len(rules), p=[*RULES.values()])]
        new = rule(words, int(rng.choice(places)), forms, rng)
        if new is not None and new != words:
            words, wanted = new, wanted - 1
    return None if (changed := " ".join(words)) == text else changed


def fit_weights(r: np.ndarray, q: list[np.ndarray], moves: np.ndarray) -> np.ndarray:
    """Weights of critic and log-probability, and an intercept: the least mean of two logistic losses.

    The first: original or translation, at equal priors. The second: an original against its damaged copy, without
    intercept. r : (N, 2) of originals; q : (M, 2) per file of translations; moves : (P, 2) originals less damaged.
    """
    x = np.vstack([r, *q])
    x = np.vstack(
        [np.column_stack([x, np.ones(len(x))]), np.column_stack([moves, 0 * moves[:, 0]])]
    )
    x = np.vstack([x, -x[-len(moves) :]])  # each pair in both directions: both classes are there
    y = np.concatenate(
        [np.ones(len(r)), np.zeros(sum(map(len, q))), np.ones(len(moves)), 0 * moves[:, 0]]
    )
    share = [np.full(len(r), 0.5 / len(r)), *(np.full(len(m), 0.5 / len(q) / len(m)) for m in q)]
    share = np.concatenate([*share, np.full(2 * len(moves), 0.5 / len(moves))])
    model = LogisticRegression(C=1e9, fit_intercept=False, tol=1e-10, max_iter=10_000)
    return model.fit(x, y, sample_weight=share).coef_[0]


def train(args: argparse.Namespace) -> None:
    critic = an.load_critic(args.critic)
    lm = an.load_lm(args.lm, lang=critic.language)
    metrics = an.naturalness.critic_metric(critic), an.naturalness.lpp_metric(lm)

    def scores(texts: list[str]) -> np.ndarray:
        """(n, 2) critic and mean log-probability, higher is more natural."""
        return np.stack([m.oriented(np.asarray(m.score_segments(texts))) for m in metrics], 1)

    native, *sides = (
        [text for text in dict.fromkeys(an.data.read_lines(path)) if text.strip()]
        for path in (args.native, *args.translated)
    )
    both = {*native} & {text for side in sides for text in side}
    native, *sides = ([text for text in side if text not in both] for side in (native, *sides))
    rng, forms = np.random.default_rng(13), other_forms(native)
    pairs = [(text, worse) for text in native if (worse := damaged(text, forms, rng))]
    r, q = scores(native), [scores(side) for side in sides]
    moves = scores([text for text, _ in pairs]) - scores([worse for _, worse in pairs])
    critic_weight, lpp_weight, intercept = (float(f"{w:.4g}") for w in fit_weights(r, q, moves))
    if critic_weight <= 0 or lpp_weight <= 0:
        raise SystemExit(
            "a weight is not positive: check that native and translated are not swapped"
        )
    weight = np.array([critic_weight, lpp_weight])
    facts = {
        "critic": critic.revision,
        "lm": f"{lm.name}@{lm.revision}",
        "critic_weight": critic_weight,
        "lpp_weight": lpp_weight,
        "intercept": intercept,
        "originals": len(r),
        "translations": {
            path.name: len(side) for path, side in zip(args.translated, q, strict=True)
        },
        "damaged": len(moves),
        "auc_translations": round(
            float(np.mean([auc(r @ weight, side @ weight) for side in q])), 4
        ),
        "damaged_below_original": round(float((moves @ weight > 0).mean()), 4),
    }
    path = Path(args.critic) / "combination.json"
    path.write_text(json.dumps(facts, indent=1) + "\n", "utf-8")
    print(f"wrote {path}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("native", type=Path)
    parser.add_argument("translated", type=Path, nargs="+")
    parser.add_argument("--critic", required=True, help="folder that critic.py wrote")
    parser.add_argument("--lm", default="bundled")
    train(parser.parse_args())
