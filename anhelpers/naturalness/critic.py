"""A trained critic between texts written in a language and texts translated into it (AN §4.1, E.1), in numpy alone.

The best critic between a system's texts Q and texts R of the language is the likelihood ratio log r(y)/q(y). Here it is
estimated by a linear classifier. Content is masked: it can know how a text is put, and not what it is about. It sees
no grammar: broken German full of particles pleases it, so it stands beside a language model and not in its place.
"""

from __future__ import annotations

import json
import lzma
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from .. import checks
from ..data.fetch import bundled, bundled_too
from ..data.languages import SAY_THE_PAIR, known_code, short_code
from ..data.lines import read_bytes
from ..data.packed import unpacked
from ..errors import DataError, UnknownName
from ..metrics import Asked, Metric, signature_of
from ..progress import note, progress
from .masked import Grams, Hits, Shape, critic_tokens, ngrams
from .prints import seen_beyond_chance, training_lines

__all__ = [
    "Critic",
    "critic_metric",
    "critic_scores",
    "explain",
    "find_critic",
    "foreign",
    "known_words",
    "least_known",
    "load_critic",
    "named",
    "parse_critic",
    "score_critic",
]

TABLE, FACTS = "critic.tsv.xz", "facts.json"
PART = 2**10  # texts that are scored together
FOREIGN, FEWEST = 0.4, 6
"""A text of so many words may be in another language where the critic knows less than this share of what it usually
knows of one: so read 0.1 % of the bundled German candidates, 2 % of WMT24's German references (headlines, names), 99 %
of its English and Czech texts. A sentence half in another language passes, and so do some in a close one (Dutch)."""


@dataclass(frozen=True)
class Critic:
    """A linear critic: the log-odds that a text was written in the language, not translated into it.

    Parameters
    ----------
    name, revision : name of its folder; the first 12 hex digits of the sha256 of its table.
    language : of the texts, an ISO 639 code.
    words : the words that are not masked, in lower case.
    shape : what it reads.
    table : n-gram -> its inverse document frequency, >= 1, and its weight in NATS of the vector of length 1.
    intercept : NATS, of a text of which no n-gram is known.
    training_lines : (n,) `prints.line_fingerprints` of what it was trained on, perhaps shortened; None: unknown.
    """

    name: str
    revision: str
    language: str
    words: frozenset[str] = field(repr=False)
    shape: Shape
    table: Mapping[str, tuple[float, float]] = field(repr=False)
    intercept: float
    training_lines: np.ndarray | None = field(default=None, repr=False, compare=False)

    @property
    def signature(self) -> str:
        """Everything that decides a score, in sacreBLEU's key:value style."""
        shape = {"order": self.shape.order, "ending": self.shape.ending, "words": len(self.words)}
        return signature_of(
            {"critic": None, "model": self.name, "rev": self.revision, "lang": self.language}
            | shape
            | {"features": len(self.table)}
        )

    @cached_property
    def grams(self) -> Grams:
        """The n-grams of the table, to be found in texts."""
        return Grams(self.table, self.words, self.shape)

    @cached_property
    def columns(self) -> np.ndarray:
        """(2, n-grams) float64: the inverse document frequencies and the weights of the table."""
        return np.array([*self.table.values()]).T


def known_words(critic: Critic, text: str) -> tuple[int, int]:
    """How many words a text has, and how many of them the critic keeps as they are: most, in its own language."""
    tokens = critic_tokens(text, critic.language)
    words = [token.lower() for token in tokens if token[0].isalpha()]
    return len(words), sum(word in critic.words for word in words)


def least_known(critic: Critic, texts: Iterable[str]) -> float:
    """The share of known words, in [0, 1], below which a text may be in another language than these.

    Parameters
    ----------
    critic : whose words count as known. texts : in its language; 0 where they have no word.
    """
    counts = (known_words(critic, text) for text in texts)
    shares = [known / words for words, known in counts if words]
    return FOREIGN * float(np.median(shares or [0.0]))


def foreign(critic: Critic, text: str, least: float) -> bool:
    """Whether a text of FEWEST words or more may be in another language than the critic's.

    Parameters
    ----------
    critic : whose words count as known. least : share of known words, of `least_known`.
    """
    words, known = known_words(critic, text)
    return words >= FEWEST and known < least * words


def score_critic(critic: Critic, text: str) -> float:
    """The log-odds at equal priors that a text was written in the language, in NATS; above 0 it reads like an original.

    nan for a text without a word.

    Parameters
    ----------
    critic : of `load_critic`.

    References
    ----------
    AN §4.1, E.1: the best critic is log r(y)/q(y). The weights are those of a logistic regression over tf-idf.
    """
    return float(critic_scores(critic, [text])[0])


def critic_scores(critic: Critic, texts: Sequence[str]) -> np.ndarray:
    """(n,) the `score_critic` of each text, to the bit, in an eighth of the time.

    Parameters
    ----------
    critic : of `load_critic`. texts : in its language; some thousands at a time are enough, and their tokens in memory.
    """
    found = critic.grams.find([critic_tokens(text, critic.language) for text in texts])
    idf, weight = critic.columns[:, found.gram]
    parts = found.times * idf * weight / _lengths(critic, found)[found.text]
    scores = critic.intercept + _sums(parts, found.text, len(texts))
    return np.where(found.worded, scores, np.nan)


def _lengths(critic: Critic, found: Hits) -> np.ndarray:
    """(texts,) lengths of the vectors of texts; 1 for one that has no known n-gram."""
    size = found.times * critic.columns[0, found.gram]
    length = np.sqrt(_sums(size * size, found.text, len(found.worded)))
    return np.where(length > 0, length, 1.0)


def _sums(values: np.ndarray, group: np.ndarray, n: int) -> np.ndarray:
    """(n,) sums of the values of each group, rounded once, so that other texts beside it do not change a text's.

    Parameters
    ----------
    group : ascending.
    """
    stops, listed = np.searchsorted(group, np.arange(n + 1)).tolist(), values.tolist()
    return np.array([math.fsum(listed[start:stop]) for start, stop in pairwise(stops)])


def explain(critic: Critic, text: str) -> list[tuple[str, float]]:
    """What each token adds to a critic's score of a text, in NATS of log-odds; together they are that score.

    Parameters
    ----------
    critic : of `load_critic`.

    An n-gram's part is shared equally by its tokens. The first row, of the token "", is the intercept, which every text
    has. No row for a text without a word. Vectors have length 1, so what one token is worth falls with the length of
    its text.
    """
    base, parts, tokens = _parts(critic, text)
    if base is None:
        return []
    shares: list[list[float]] = [[] for _ in tokens]
    for places, nats in parts:
        for place in places:
            shares[place].append(nats / len(places))
    return [("", base), *zip(tokens, map(math.fsum, shares), strict=True)]


def _parts(critic: Critic, text: str) -> tuple[float | None, list[tuple[range, float]], list[str]]:
    """Intercept (None: no word), then per known n-gram its tokens and nats, then all tokens."""
    tokens = critic_tokens(text, critic.language)
    if not any(token[0].isalpha() for token in tokens):
        return None, [], tokens
    table = critic.table
    found = [
        (gram, places)
        for gram, places in ngrams(tokens, critic.words, critic.shape)
        if gram in table
    ]
    (size,) = _lengths(critic, critic.grams.find([tokens])).tolist()
    return (
        critic.intercept,
        [(places, table[gram][0] * table[gram][1] / size) for gram, places in found],
        tokens,
    )


def critic_metric(critic: Critic, trg_lang: str | None = None) -> Metric:
    """The critic's log-odds as a metric: nats per text, higher is more natural; texts without a word are nan.

    Parameters
    ----------
    trg_lang : language of the texts: a DataError where the critic knows another one.
    """
    lang = short_code(trg_lang or "und")
    if lang not in ("und", short_code(critic.language)):
        other = bundled_too(f"critic/{lang}", lang, f"critic with target language {lang}")
        raise DataError(
            f"the critic {critic.name} knows only '{critic.language}' and the texts are "
            f"'{trg_lang}'; {other}train one (anhelpers train-critic) and name its folder "
            "(critic:FOLDER)."
        )

    def score_segments(
        hyps: Sequence[str], refs: Any = None, srcs: Any = None, segment: Any = None
    ) -> np.ndarray:
        place = {text: i for i, text in enumerate(dict.fromkeys(checks.texts("hyps", hyps)))}
        texts, found = [*place], np.empty(len(place))
        with progress(len(texts), f"scoring by the critic {critic.name}", "texts") as step:
            for i in range(0, len(texts), PART):
                some = texts[i : i + PART]
                found[i : i + PART] = critic_scores(critic, some)
                step(len(some))
        values = found[np.fromiter(map(place.__getitem__, hyps), np.int64, len(hyps))]
        if wordless := int(np.isnan(values).sum()):
            note(
                f"critic {critic.name}: {wordless} of {len(values)} texts have no word, and so no "
                "score (nan)."
            )
        words = [len(text.split()) for text in texts]
        if few := words.count(1):
            note(
                f"critic {critic.name}: {few} of {len(texts)} different texts are a single word, whose "
                "score says next to nothing."
            )
        long = [text for text, n in zip(texts, words, strict=True) if n >= FEWEST]
        if read := len(seen_beyond_chance(long, critic.training_lines)):
            note(
                f"critic {critic.name}: {read} of {len(long)} different texts of {FEWEST} words or more "
                "stand in its training texts, so it knows on which side they are: their scores are "
                "too far from 0, and no figure of it on them holds."
            )
        return values

    return Metric(
        "critic",
        f"log-odds of the critic {critic.name}",
        "nats per text",
        True,
        (),
        critic.signature,
        score_segments,
        lang=critic.language,
    )


def find_critic(name: str | Path) -> Path:
    """The folder of a critic: the bundled one of a language, such as "de", or one of `anhelpers train-critic`.

    Where a folder happens to be called as a language, a text means the language and a Path the folder.

    Raises
    ------
    DataError : no such critic.
    """
    folder = checks.local_path(name)
    if folder.is_dir() and not isinstance(name, str):
        return folder
    try:
        return bundled(f"critic/{short_code(str(name))}")
    except (UnknownName, DataError):
        if folder.is_dir():
            return folder
        told = (
            f"there is no bundled critic '{name}' and no such folder; train one (anhelpers "
            "train-critic) and name"
        )
        raise DataError(
            SAY_THE_PAIR if name == "und" else f"{told} its folder (critic:FOLDER)."
        ) from None


def load_critic(name: str | Path) -> Critic:
    """A critic: the bundled one of a language, such as "de", or one from a folder of `anhelpers train-critic`.

    Raises
    ------
    DataError : no such critic, or a folder that holds none.
    """
    folder = find_critic(name)
    critic = parse_critic(read_bytes(folder / FACTS), read_bytes(folder / TABLE), folder)
    return replace(critic, training_lines=training_lines(folder))


def named(asked: Asked) -> Metric:
    """The critic of a row of the table of metrics: of the folder behind the colon, else the bundled one."""
    return critic_metric(load_critic(Path(asked.model) if asked.model else asked.lang), asked.lang)


def parse_critic(facts: bytes, packed: bytes, folder: Path) -> Critic:
    """A critic from the bytes of its two files.

    Parameters
    ----------
    facts : facts.json, of which language, intercept and shape are read, and how many words and n-grams there are.
    packed : critic.tsv.xz: kind (word or ngram), text, idf, weight.
    folder : where they lie; its name is the critic's.

    Raises
    ------
    DataError where they are no such files.
    """
    try:
        said = json.loads(facts)
        shape = Shape(**{**said["shape"], "lengths": tuple(said["shape"]["lengths"])})
        language, intercept = known_code(said["language"]), float(said["intercept"])
    except (ValueError, KeyError, TypeError, RecursionError):
        raise DataError(
            "is no description of a critic; train it anew (anhelpers train-critic).", folder / FACTS
        ) from None
    plain = unpacked(packed, folder / TABLE)
    try:
        rows = [line.split("\t") for line in plain.decode("utf-8").rstrip("\n").split("\n")[1:]]
        words = frozenset(row[1] for row in rows if row[0] == "word")
        known = [row for row in rows if row[0] == "ngram"]
        table = {gram: (float(idf), float(weight)) for _, gram, idf, weight in known}
        if (len(words), len(table), len(known)) != (said["words"], said["ngrams"], said["ngrams"]):
            raise ValueError
        if not (
            words
            and table
            and all(map(math.isfinite, (intercept, *chain.from_iterable(table.values()))))
        ):
            raise ValueError
    except (ValueError, IndexError, KeyError, lzma.LZMAError):
        raise DataError(
            "is no table of a critic; train it anew (anhelpers train-critic).", folder / TABLE
        ) from None
    revision = sha256(_facts_that_score(said) + plain).hexdigest()[:12]
    name = folder.resolve().name
    return Critic(name, revision, language, words, shape, table, intercept)


def _facts_that_score(facts: Mapping[str, Any]) -> bytes:
    """Those facts of a critic that decide a score, as bytes for its hash."""
    return json.dumps(
        [facts["language"], facts["shape"], facts["intercept"]], sort_keys=True
    ).encode()
