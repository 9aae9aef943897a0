"""Lexical measures of systems' outputs: as metrics of a corpus, and as a table with jackknife intervals.

Words are those of running text, lower-cased, without punctuation, in any script that separates them.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import __version__, checks
from ..data.languages import short_code, spaced
from ..data.schema import TestSet
from ..errors import DataError
from ..intervals import effective, few_clusters, student
from ..metrics import Asked, Metric
from ..progress import note_once
from ..stats import clusters_of
from . import lexical

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "MEASURES",
    "TOKENIZER",
    "Measure",
    "check_words",
    "frequency_measures",
    "jackknife",
    "lexical_metric",
    "lexical_table",
    "named",
    "words",
]

TOKENIZER = "tok:nfc-lower-words-cjkchars"
"""What `words` does, for signatures."""

BY_CHARACTER = ("ja", "zh")
"""Languages written without spaces between words, each of whose characters counts as a word."""

CJK = "\u3005\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
JOINERS = "\u200c\u200d"  # within words of Persian and of the scripts of India
LAST_MARK = 0xE01EF  # the last code point of category M


def words(text: str) -> list[str]:
    """The words of a text, lower-cased: runs of letters, digits and marks; an apostrophe between two of them stays.

    In NFC, with ’ as '. A Chinese character or a kana is a word by itself. Hyphens, underscores and all other signs
    separate words and are left out.

    >>> words("Wie geht's, Herr O’Neill? 3-mal gut.")
    ['wie', "geht's", 'herr', "o'neill", '3', 'mal', 'gut']
    >>> words("今日は good")
    ['今', '日', 'は', 'good']
    """
    return _pattern().findall(unicodedata.normalize("NFC", text).lower().replace("’", "'"))


def check_words(trg_lang: str) -> None:
    """A DataError for a language whose words this module cannot tell apart."""
    if not spaced(trg_lang) and short_code(trg_lang) not in BY_CHARACTER:
        raise DataError(
            f"'{trg_lang}' has no spaces between words: lexical measures need its texts as words; "
            "segment them, and give lists of words to the functions of "
            "anhelpers.naturalness.lexical."
        )


@cache
def _pattern() -> re.Pattern[str]:
    """A CJK letter, or a run of other letters, digits, marks and joiners with apostrophes inside."""
    letter = f"[^\\W_{CJK}]"
    inside = f"(?:{letter}|[{_marks()}{JOINERS}])"
    return re.compile(f"(?=\\w)[{CJK}]|{letter}{inside}*(?:'{letter}{inside}*)*")


def _marks() -> str:
    """All characters of category M, as ranges for a character class: `re` does not count them as letters."""
    planes = chain(range(0x300, 0x20000), range(0xE0000, LAST_MARK + 1))  # between them are none
    codes = [c for c in planes if unicodedata.category(chr(c))[0] == "M"]
    starts = [c for i, c in enumerate(codes) if i == 0 or codes[i - 1] != c - 1]
    ends = [c for i, c in enumerate(codes) if i + 1 == len(codes) or codes[i + 1] != c + 1]
    return "".join(f"{chr(a)}-{chr(b)}" for a, b in zip(starts, ends, strict=True))


Code = Callable[[Sequence[Hashable]], np.ndarray]
COLUMNS = [
    "system",
    "measure",
    "value",
    "se",
    "low",
    "high",
    "n_tokens",
    "n_types",
    "n_docs",
    "unit",
    "direction",
    "signature",
]


@dataclass(frozen=True)
class Measure:
    """One number for the words of a corpus.

    Parameters
    ----------
    name, label, unit, higher_is_better : as in Metric; better is "more diverse".
    of : (N,) whole numbers of the tokens -> the measure, nan where it is not defined.
    options : for the signature; "" where there is nothing to choose.
    wants : what a text must have for the measure to be defined.
    code : words -> (N,) whole numbers >= 0.
    """

    name: str
    label: str
    unit: str
    higher_is_better: bool
    of: Callable[[np.ndarray], float] = field(repr=False)
    options: str = ""
    wants: str = "a word"
    code: Code = field(default=lexical.codes_of, repr=False)

    def signature(self, trg_lang: str) -> str:
        """Options, tokenization, language and version, in sacreBLEU's key:value style."""
        parts = [self.name, self.options, TOKENIZER, f"lang:{trg_lang}", f"anhelpers:{__version__}"]
        return "|".join(filter(None, parts))

    @property
    def direction(self) -> str:
        """Which end is the richer vocabulary."""
        return f"{'higher' if self.higher_is_better else 'lower'} is more diverse"


MEASURES: dict[str, Measure] = {
    measure.name: measure
    for measure in (
        Measure("ttr", "type-token ratio", "types per token", True, lexical.ttr),
        Measure(
            "mattr",
            "moving-average type-token ratio",
            "types per token",
            True,
            lexical.mattr,
            f"window:{lexical.WINDOW}",
            f"{lexical.WINDOW} words",
        ),
        Measure(
            "mtld",
            "MTLD",
            "tokens",
            True,
            lexical.mtld,
            f"threshold:≤{lexical.THRESHOLD}",
            "a repeated word",
        ),
        Measure(
            "yules_i", "Yule's I", "no unit", True, lexical.yules_i, "V²/(Σf²-V)", "a repeated word"
        ),
        Measure("yules_k", "Yule's K", "in 10,000", False, lexical.yules_k, "10⁴(Σf²-N)/N²"),
        Measure(
            "shannon",
            "Shannon entropy of words",
            "nats per token",
            True,
            lexical.shannon,
            "plug-in",
        ),
        Measure("simpson", "Simpson diversity", "probability", True, lexical.simpson, "1-Σp²"),
    )
}
"""The measures by the names of the command line."""


def frequency_measures(
    reference_texts: Sequence[str], bands: Sequence[int] = lexical.BANDS
) -> list[Measure]:
    """The two ends of the lexical frequency profile: the share of common words, and that of rare ones.

    Parameters
    ----------
    reference_texts : a large text of the language, whose ranks are the yardstick for all systems.
    bands : as in `lexical.band_of`: words up to the first rank are common, those beyond the last one are rare.
    """
    band = lexical.band_of([word for text in reference_texts for word in words(text)], bands)
    last = len(bands)

    def code(tokens: Sequence[Hashable]) -> np.ndarray:
        return np.fromiter((band.get(token, last) for token in tokens), np.int64, len(tokens))

    options = f"bands:{'+'.join(map(str, bands))}|ranks:{len(reference_texts)}texts"
    return [
        Measure(name, label, "share of tokens", higher, partial(_share, k), options, code=code)
        for name, label, higher, k in (
            ("common", f"words among the {bands[0]} most frequent", False, 0),
            ("rare", f"words beyond the {bands[-1]} most frequent", True, last),
        )
    ]


def jackknife(
    measure: Callable[[np.ndarray], float],
    docs: Sequence[Sequence[Hashable]],
    code: Code = lexical.codes_of,
) -> tuple[float, float, int]:
    """(value, standard error, documents): what leaving out one document at a time does to a measure of a corpus.

    Resampling with replacement, as elsewhere, would repeat documents: the types stay and the tokens double, so that
    every draw is poorer than the corpus. The jackknife repeats nothing; its error is on average a little too large. Its
    time grows with documents times tokens: texts without documents are a document each, and thousands take minutes.

    Parameters
    ----------
    measure : (N,) whole numbers of the tokens -> number; `lexical.ttr` and its like.
    docs : the tokens of each document, in order; documents without a token are not counted.
    code : all tokens -> their whole numbers.

    Returns
    -------
    The measure of all documents in a row; sqrt((m - 1)/m Σ (θ_i - mean θ)²) of the values θ_i without document i, nan
    where one of them is nan or there are fewer than 2 documents; m.

    References
    ----------
    Efron and Stein 1981, Annals of Statistics 9.

    >>> jackknife(lexical.ttr, ["a b".split(), "a c".split(), "a d".split()])
    (0.6666666666666666, 0.0, 3)
    """
    docs = [doc for doc in docs if len(doc)]
    codes, m = code([token for doc in docs for token in doc]), len(docs)
    ends = np.cumsum([0, *map(len, docs)])
    value = float(measure(codes))
    if m < 2:
        return value, np.nan, m
    others = np.array([measure(np.concatenate([codes[:a], codes[b:]])) for a, b in pairwise(ends)])
    return value, float(np.sqrt((m - 1) / m * ((others - others.mean()) ** 2).sum())), m


def lexical_metric(measure: str | Measure, trg_lang: str) -> Metric:
    """A lexical measure as a Metric of whole corpora; it has no segment scores, and no part in a bootstrap.

    Parameters
    ----------
    measure : a name in MEASURES, or a Measure with options of its own.
    trg_lang : language of the texts; a DataError where its words are not separated by spaces.
    """
    check_words(trg_lang)
    measure = (
        MEASURES[checks.one_of(measure, MEASURES, "lexical measure")]
        if isinstance(measure, str)
        else measure
    )

    def score_corpus(hyps: Sequence[str], refs: Any = None, srcs: Any = None) -> float:
        found = [word for text in hyps for word in words(text)]
        value = float(measure.of(measure.code(found)))
        if np.isnan(value):
            note_once(
                f"{measure.name} of a text of {len(found)} words is nan: it needs {measure.wants}."
            )
        return value

    return Metric(
        measure.name,
        measure.label,
        measure.unit,
        measure.higher_is_better,
        (),
        measure.signature(trg_lang),
        None,
        score_corpus,
        skips_blank=True,
        praise="more diverse",
    )


def named(asked: Asked) -> Metric:
    """The measure of a row of the table of metrics."""
    return lexical_metric(asked.name, asked.lang)


def lexical_table(
    test: TestSet, measures: Sequence[str | Measure] = tuple(MEASURES)
) -> pd.DataFrame:
    """Lexical measures of the systems of a test set, with intervals from leaving out one document at a time.

    Parameters
    ----------
    test : its systems; references and other texts can be added to them (`plane.with_human_points`).
    measures : names in MEASURES, or Measures, such as those of `frequency_measures`.

    Returns
    -------
    Tidy table: system, measure, value, se, low, high (95 %, Student's t in `intervals.effective` documents by their
    words), n_tokens, n_types, n_docs, unit, direction, signature. `table.attrs["notes"]` says why a value is nan, and
    where few documents stand behind it. Intervals are of each system by itself: of two systems on the same sources the
    difference is surer than their intervals say.

    Raises
    ------
    UnknownName for a measure, DataError for a language whose words are not separated by spaces.
    """
    import pandas as pd

    check_words(test.trg_lang)
    chosen = [
        MEASURES[checks.one_of(m, MEASURES, "lexical measure")] if isinstance(m, str) else m
        for m in measures
    ]
    clusters = clusters_of(test.docs)
    rows, notes, fewest = [], [], (np.inf, 0)
    for system, hyps in test.systems.items():
        docs = _words_of(hyps, clusters)
        counts = Counter(word for doc in docs for word in doc)
        sizes = [len(doc) for doc in docs if doc]
        counting = float(effective(sizes)) if sizes else 0.0
        fewest = min(fewest, (counting, len(sizes)))
        for m in chosen:
            value, se, n_docs = jackknife(m.of, docs, m.code)
            low, high = (float(end) for end in student(value, se, counting))
            rows.append(
                (
                    system,
                    m.name,
                    value,
                    se,
                    low,
                    high,
                    counts.total(),
                    len(counts),
                    n_docs,
                    m.unit,
                    m.direction,
                    m.signature(test.trg_lang),
                )
            )
            if np.isnan(value):
                notes.append(
                    f"{system}: {m.label} is nan; it needs {m.wants}, and there are "
                    f"{counts.total()} words."
                )
    table = pd.DataFrame(rows, columns=COLUMNS)
    what = "documents" if len(set(clusters.tolist())) < len(clusters) else "texts"
    few = few_clusters(fewest[1], what, fewest[0]) if rows else ""
    table.attrs["notes"] = tuple(filter(None, (*notes, few)))
    return table


def _words_of(hyps: Sequence[str], clusters: np.ndarray) -> list[list[str]]:
    """The words of each document, the documents in the order in which they first occur."""
    docs: dict[Hashable, list[str]] = {}
    for text, doc in zip(hyps, clusters.tolist(), strict=True):
        docs.setdefault(doc, []).extend(words(text))
    return list(docs.values())


def _share(band: int, codes: np.ndarray) -> float:
    """The share of one frequency band in the tokens."""
    return float((codes == band).mean()) if len(codes) else np.nan
