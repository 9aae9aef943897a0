"""A linear critic between texts written in a language and texts translated into it (AN §4.1, E.1).

The best critic between a system's texts Q and texts R of the language is the likelihood ratio log r(y)/q(y). Here a
linear classifier over n-grams estimates it. Content words are masked, so the critic reads how a text is phrased and
not its topic. It sees no grammar: broken German with many particles gets a high score, so use it with a language model.
"""

import json
import lzma
import math
import os
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..bootstrap import bootstrap_means
from ..data.fetch import bundled
from ..data.io import parse_json, read_bytes
from ..data.languages import short_code
from ..errors import DataError, UnknownName
from ..estimate import Estimate
from ..metrics import Asked, Metric, check_language, signature_of
from ..progress import note, progress
from ..stats import mean_ranks

TABLE, FACTS = "critic.tsv.xz", "facts.json"
FEWEST = 6  # words of a text of which the language can be told

# -- what a critic reads -----------------------------------------------------------------------------------------------

_START, _END = "<s>", "</s>"
# Forms of quotes, dashes and dots depend on who typed a text, so all forms of a sign become one.
_SAME_SIGNS = [  # marks in pairs first: two ` are one quotation mark
    (re.compile("[„“”«»‟\"]|[’‘‚`´']{2}"), '"'),
    (re.compile("[’‘‚`´]"), "'"),
    (re.compile("…"), "..."),
    (re.compile("(?:^|\\s)[–—−-]+(?=\\s|$)|--+|—"), " - "),
]
_TOKEN = re.compile(r"#[A-Z_\-]+#|\d+(?:[.,:]\d+)*|\w+(?:['-]\w+)*|\.\.+|[^\w\s]")
# Signs at the end of a text are skipped: a line may be a sentence or a headline.
_LAST = frozenset((".", "!", "?", "...", '"'))


@dataclass(frozen=True)
class _Shape:
    """Which n-grams a critic reads.

    Parameters
    ----------
    order : int
        Tokens of the longest n-gram.
    lengths : tuple of int
        Ascending numbers of letters; the outline of a masked word counts those that it exceeds.
    ending : int
        Last letters in the outline of a masked lower-case word of more than 4 letters.
    """

    order: int = 2
    lengths: tuple[int, ...] = (5, 8, 12)
    ending: int = 2


def critic_tokens(text: str, language: str) -> list[str]:
    """Words, numbers and signs of a text, with one form for each sign; in German ß becomes ss.

    >>> critic_tokens("„Daß“ – na ja…", "de")
    ['"', 'Dass', '"', '-', 'na', 'ja', '...']
    """
    text = _same_signs(text)
    return _TOKEN.findall(text.replace("ß", "ss") if short_code(language) == "de" else text)


def _same_signs(text: str) -> str:
    """A text with one form for each sign, and one blank between words."""
    text = unicodedata.normalize("NFC", text)
    for form, sign in _SAME_SIGNS:
        text = form.sub(sign, text)
    return " ".join(text.split())


def ngrams(
    tokens: Sequence[str], words: frozenset[str], shape: _Shape
) -> Iterator[tuple[str, range]]:
    """Each n-gram that a critic reads, and the indices of its tokens.

    A word that is not kept becomes N if capitalised and x if not; a number becomes 0. A second pass yields the
    n-grams that change if each masked word shows its outline: its mask, the number of `shape.lengths` that it exceeds
    and, in lower case, its last letters. Signs at the end of the text are skipped.

    Parameters
    ----------
    tokens : of `critic_tokens`.
    words : words that are kept.

    >>> kept = frozenset({"das", "er"})
    >>> [gram for gram, _ in ngrams(["Das", "Rechnen", "lernte", "er"], kept, _Shape())][:5]
    ['das', 'N', 'x', 'er', '<s> das']
    """
    n = len(tokens)
    while n and tokens[n - 1] in _LAST:
        n -= 1
    masked = (_masked(token, words, shape) for token in tokens[:n])
    forms = [(_START, _START), *masked, (_END, _END)]
    coarse, outlines = zip(*forms, strict=True)
    for row in (coarse, outlines):
        for k in range(1, shape.order + 1):
            # a start or an end alone is not an n-gram
            for i in range(len(forms) - k + 1) if k > 1 else range(1, len(forms) - 1):
                if row is coarse or coarse[i : i + k] != row[i : i + k]:
                    yield " ".join(row[i : i + k]), range(max(i - 1, 0), min(i + k - 1, n))


def _masked(token: str, words: frozenset[str], shape: _Shape) -> tuple[str, str]:
    """A token as its mask, and as its outline (see `ngrams`)."""
    first = token[0]
    if first.isdigit():
        return "0", "0"
    if not first.isalpha():
        return ("N", "N") if first == "#" and len(token) > 1 else (token, token)
    if (lower := token.lower()) in words:
        return lower, lower
    bare = "N" if first.isupper() else "x"
    ending = f"-{lower[-shape.ending :]}" if bare == "x" and shape.ending and len(token) > 4 else ""
    return bare, f"{bare}{sum(len(token) > most for most in shape.lengths)}{ending}"


# -- the critic --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Critic:
    """A linear critic: the log-odds that a text was written in the language, not translated into it.

    Parameters
    ----------
    name, revision : str
        Name of its folder; the first 12 hex digits of the sha256 of its table.
    language : str
        ISO 639 code of the texts.
    words : words that are not masked, in lower case.
    shape : _Shape
    table : dict
        n-gram -> (inverse document frequency >= 1, weight in NATS of the vector of length 1).
    intercept : float
        NATS, of a text without known n-grams.
    """

    name: str
    revision: str
    language: str
    words: frozenset[str] = field(repr=False)
    shape: _Shape
    table: Mapping[str, tuple[float, float]] = field(repr=False)
    intercept: float

    @property
    def signature(self) -> str:
        """Everything that decides a score, in sacreBLEU's key:value style."""
        parts = {"critic": None, "model": self.name, "rev": self.revision, "lang": self.language}
        shape = {"order": self.shape.order, "ending": self.shape.ending, "words": len(self.words)}
        return signature_of(parts | shape | {"features": len(self.table)})


def explain(critic: Critic, text: str) -> list[tuple[str, float]]:
    """What each token adds to a critic's score of a text, in NATS of log-odds; the sum is the score.

    The tokens of an n-gram share its part equally. The first row, of the token "", is the intercept. Empty for a text
    without a word. Vectors have length 1, so a token counts less in a longer text.

    Parameters
    ----------
    critic : of `load_critic`.
    """
    tokens = critic_tokens(text, critic.language)
    if not any(token[0].isalpha() for token in tokens):
        return []
    table = critic.table
    found = [(g, at) for g, at in ngrams(tokens, critic.words, critic.shape) if g in table]
    counts = Counter(gram for gram, _ in found)
    size = math.hypot(*(n * table[gram][0] for gram, n in counts.items())) or 1.0
    shares = [0.0] * len(tokens)
    for gram, places in found:
        idf, weight = table[gram]
        for place in places:
            shares[place] += idf * weight / size / len(places)
    return [("", critic.intercept), *zip(tokens, shares, strict=True)]


def score_critic(critic: Critic, text: str) -> float:
    """The log-odds at equal priors that a text was written in the language, in NATS.

    Above 0 it reads like an original; nan for a text without a word.

    Parameters
    ----------
    critic : of `load_critic`.

    References
    ----------
    AN §4.1, E.1: the best critic is log r(y)/q(y). The weights are those of a logistic regression over tf-idf.
    """
    parts = explain(critic, text)
    return math.fsum(nats for _, nats in parts) if parts else math.nan


def critic_metric(critic: Critic, trg_lang: str | None = None) -> Metric:
    """The critic's log-odds as a metric: nats per text, higher is more natural; nan without a word.

    Parameters
    ----------
    trg_lang : str or None
        Language of the texts; a DataError if the critic is for a different one.
    """
    check_language(trg_lang, critic.language, f"the critic {critic.name}")

    def score_segments(hyps: Sequence[str], **others: Any) -> np.ndarray:
        found = dict.fromkeys(checks.texts("hyps", hyps), math.nan)
        with progress(len(found), f"scoring by the critic {critic.name}", "texts") as step:
            for text in found:
                found[text] = score_critic(critic, text)
                step(1)
        values = np.array([found[text] for text in hyps], dtype=np.float64)
        if n := int(np.isnan(values).sum()):
            note(f"critic {critic.name}: {n} of {len(values)} texts have no word: no score (nan).")
        return values

    facts = "critic", f"log-odds of the critic {critic.name}", "nats per text", True
    return Metric(*facts, (), critic.signature, score_segments, lang=critic.language)


def _find_critic(name: str | Path) -> Path:
    """The folder of a critic: the bundled one of a language such as "de", or a folder.

    Where a folder is named like a language, a str means the language and a Path the folder.
    """
    folder = Path(os.path.expanduser(name))
    if folder.is_dir() and not isinstance(name, str):
        return folder
    try:
        return bundled(f"critic/{short_code(str(name))}")
    except (UnknownName, DataError):
        if folder.is_dir():
            return folder
        raise DataError(f"critic: got '{name}', expected a folder, or de or en.") from None


def load_critic(name: str | Path) -> Critic:
    """Load a critic: the bundled one of a language such as "de", or one of a folder.

    Raises
    ------
    DataError : no such critic, or damaged files.
    """
    folder = _find_critic(name)
    facts = parse_json(read_bytes(folder / FACTS), folder / FACTS)
    try:
        shape = _Shape(**{**facts["shape"], "lengths": tuple(facts["shape"]["lengths"])})
        language, intercept = str(facts["language"]), float(facts["intercept"])
        plain = lzma.decompress((folder / TABLE).read_bytes())
        rows = [line.split("\t") for line in plain.decode("utf-8").rstrip("\n").split("\n")[1:]]
        words = frozenset(row[1] for row in rows if row[0] == "word")
        known = [row for row in rows if row[0] == "ngram"]
        table = {gram: (float(idf), float(weight)) for _, gram, idf, weight in known}
        checks.same_length(known=known, table=table, stated=range(facts["ngrams"]))
        checks.finite("weights", [intercept, *chain.from_iterable(table.values())])
    except (ValueError, LookupError, TypeError, OSError, EOFError, lzma.LZMAError) as error:
        raise DataError(f"cannot be read as a critic: {error!r:.80}.", folder) from None
    scoring = json.dumps([facts["language"], facts["shape"], facts["intercept"]], sort_keys=True)
    revision = sha256(scoring.encode() + plain).hexdigest()[:12]
    return Critic(folder.resolve().name, revision, language, words, shape, table, intercept)


def _named(asked: Asked) -> Metric:
    """The maker of `critic_metric` in the table of metrics."""
    return critic_metric(load_critic(Path(asked.model) if asked.model else asked.lang), asked.lang)


# -- two language models in place of a classifier ----------------------------------------------------------------------


def t_index(
    critic: Critic, texts: Sequence[str], known: tuple[Sequence[str], Sequence[str]], order: int = 1
) -> np.ndarray:
    """The T-index: log-perplexity under a model of originals minus log-perplexity under a model of translations.

    Both are n-gram models of tokens in which content words are masked, interpolated by Witten and Bell's rule down to a
    uniform distribution. The critic only masks: its weights have no influence.

    Parameters
    ----------
    texts : n texts that are not known.
    known : (originals, translations), on which the models are fitted.
    order : int
        Tokens of the longest n-gram. On WMT22, with the sets of the scored texts left out, 1 separates best.

    Returns
    -------
    (n,) in NATS per token; above 0 a text reads like a translation. nan for a text without a word.

    References
    ----------
    Liu et al. 2025, who fine-tune two large models; Witten and Bell 1991 (method C).
    """
    checks.whole("order", order)
    rows, *sides = (
        [_masked_row(critic, text, order) for text in checks.texts("texts", some)]
        for some in (texts, *known)
    )
    checks.some(np.array([all(map(any, sides))]), "known: one side has no text with a word.")
    size = len({token for side in sides for row in side for token in row[order - 1 :]}) + 1
    original, translation = (_fitted(side, order, size) for side in sides)
    return np.array([original(row) - translation(row) if row else math.nan for row in rows])


def _masked_row(critic: Critic, text: str, order: int) -> list[str]:
    """Masked tokens after order - 1 starts and before an end; empty for a text without a word."""
    tokens = critic_tokens(text, critic.language)
    while tokens and tokens[-1] in _LAST:
        tokens.pop()
    if not any(token[0].isalpha() for token in tokens):
        return []
    masked = (_masked(token, critic.words, critic.shape)[0] for token in tokens)
    return [*[_START] * (order - 1), *masked, _END]


def _windows(row: Sequence[str], order: int) -> Iterator[tuple[str, ...]]:
    """The n-grams that end at each token, the shortest first."""
    for i in range(order - 1, len(row)):
        yield from (tuple(row[i - k : i + 1]) for k in range(order))


def _fitted(rows: Sequence[Sequence[str]], order: int, size: int) -> Callable[..., float]:
    """Log-perplexity of a row in NATS per token under the Witten-Bell model of other rows."""
    counts = Counter(gram for row in rows for gram in _windows(row, order))
    after = Counter(gram[:-1] for row in rows for gram in _windows(row, order))
    kinds = Counter(gram[:-1] for gram in counts)

    def log_perplexity(row: Sequence[str]) -> float:
        total, p = 0.0, 1.0
        for gram in _windows(row, order):
            seen, new = after[gram[:-1]], kinds[gram[:-1]]
            p = p if len(gram) > 1 else 1 / size
            p = (counts[gram] + new * p) / (seen + new) if seen else p
            total -= math.log(p) if len(gram) == order else 0.0
        return total / (len(row) - order + 1)

    return log_perplexity


# -- how well it separates originals from translations -----------------------------------------------------------------


@dataclass(frozen=True)
class _TVBound:
    """A lower bound of the total variation TV(Q, R), from a critic's decisions on unseen texts.

    Parameters
    ----------
    bound : Estimate
        2 · accuracy - 1 and its 95 % interval, clipped to [0, 1].
    accuracy : float
        Mean of the two classes' shares of right decisions.
    n_r, n_q : int
        Texts.
    """

    bound: Estimate
    accuracy: float
    n_r: int
    n_q: int

    def __str__(self) -> str:
        return f"{self.bound.text(3)}; accuracy {self.accuracy:.3f}"


def tv_lower_bound(
    scores_r: ArrayLike,
    scores_q: ArrayLike,
    clusters: tuple[ArrayLike, ArrayLike],
    rng: np.random.Generator,
) -> _TVBound:
    """The lower bound 2 · accuracy - 1 of TV(Q, R), with an interval that resamples clusters.

    It bounds TV only where the critic was fitted neither on these texts nor on others of their documents and topics.
    Q and R have equal weight.

    Parameters
    ----------
    scores_r, scores_q : (N,), (M,)
        Log-odds of originals and of translations in nats; nan is left out.
    clusters : (N,) and (M,)
        The document of each text; one name in both is one cluster.
    rng : 1,000 resamples.

    Raises
    ------
    DataError : a class without scores, fewer than 2 clusters, or unequal lengths.

    References
    ----------
    AN §4.1, eq. 7, E.1: TV is the best critic's gap R(f > 0) - Q(f > 0).
    """
    rows, of = [], []
    for side, (given, names) in enumerate(zip((scores_r, scores_q), clusters, strict=True)):
        values, names = np.asarray(given, dtype=np.float64), np.asarray(names, dtype=str)
        checks.same_length(scores=values, clusters=names)
        there = ~np.isnan(values)
        checks.finite(f"scores of {('originals', 'translations')[side]}", values[there])
        block = np.zeros((int(there.sum()), 4))
        block[:, 2 * side], block[:, 2 * side + 1] = (values[there] > 0) != bool(side), 1
        rows.append(block)
        of += names[there].tolist()
    _, index = np.unique(of, return_inverse=True)
    found = bootstrap_means(np.concatenate(rows), index, rng, of=_gap)
    n_r, n_q = map(len, rows)
    gap = found.estimate(0, "TV(Q, R) is at least", of="texts")
    low, high = np.clip(gap.interval, 0, 1).tolist()
    also = ((n_r, "originals"), (n_q, "translations"))
    bound = replace(gap, value=max(0.0, gap.value), low=low, high=high, also=also)
    return _TVBound(bound, (1 + gap.value) / 2, n_r, n_q)


def _gap(means: np.ndarray) -> np.ndarray:
    """(..., 4) means of (right, there) per class -> (..., 1) sum of the shares of right decisions - 1."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return (means[..., 0] / means[..., 1] + means[..., 2] / means[..., 3] - 1)[..., None]


def auc(scores_r: ArrayLike, scores_q: ArrayLike) -> float:
    """The probability that an original has a higher score than a translation, ties counting half.

    Parameters
    ----------
    scores_r, scores_q : (N,), (M,) scores; nan is left out.

    References
    ----------
    Mann and Whitney 1947.

    >>> auc([2.0, 1.0], [1.0, 0.0])
    0.875
    """
    given = {"originals": np.asarray(scores_r, float), "translations": np.asarray(scores_q, float)}
    r, q = (v[~np.isnan(v)] for v in given.values())
    for name, values in zip(given, (r, q), strict=True):
        checks.finite(f"scores of {name}", values)
    ranks = mean_ranks(np.concatenate([r, q]))[: len(r)].sum()
    return float((ranks - len(r) * (len(r) + 1) / 2) / (len(r) * len(q)))


def reliability(
    scores_r: ArrayLike, scores_q: ArrayLike, bins: int = 8
) -> list[tuple[float, float, int]]:
    """Calibration of log-odds: per bin (predicted probability, share of originals, texts).

    Bins have about the same number of texts; in each the classes are weighted to equal priors.

    Parameters
    ----------
    scores_r, scores_q : (N,), (M,) log-odds in nats without nan.

    >>> reliability([1.0, 1.0, 1.0, -1.0], [-1.0, -1.0, -1.0, 1.0], bins=2)
    [(0.269, 0.25, 4), (0.731, 0.75, 4)]
    """
    r, q = np.asarray(scores_r, float), np.asarray(scores_q, float)
    score, native = np.concatenate([r, q]), np.arange(len(r) + len(q)) < len(r)
    weight = np.where(native, 0.5 / len(r), 0.5 / len(q))
    rows = []
    for part in np.array_split(np.argsort(score, kind="stable"), bins):
        total = weight[part].sum()
        said = float((weight[part] / (1 + np.exp(-score[part]))).sum() / total)
        share = float(weight[part][native[part]].sum() / total)
        rows.append((round(said, 3), round(share, 3), len(part)))
    return rows
