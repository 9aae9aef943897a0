"""The table of metrics of both axes, and a metric by its name.

Help texts, errors and docs/metrics.md use its rows. A new metric is a file with a scorer and a maker, and a row here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from .. import checks
from ..data.fetch import bundled
from ..data.languages import known_code, short_code
from ..data.schema import TestSet
from ..errors import DataError, UnknownName
from ..metrics import Asked, Metric, fitting_metrics

if TYPE_CHECKING:
    from ..naturalness.lm import LanguageModel
    from ..naturalness.lpp import Mono

LM, CORPUS, R, GIVEN = "language model", "whole corpus", "R", "existing scores or ratings"

# name as typed ([:MODEL] is optional, :MODEL is not) | inputs besides the text | maker | model on
# the hub | meaning of the score
ROWS = {
    "accuracy": """
chrf | reference | accuracy.surface:_named | | F-score of character n-grams up to 6 against the reference
chrf++ | reference | accuracy.surface:_named | | chrF with word n-grams up to 2
bleu | reference | accuracy.surface:_named | | precision of word n-grams up to 4, with brevity penalty
ter | reference | accuracy.surface:_named | | edits per 100 reference words
comet[:MODEL] | source, reference | accuracy.comet:_named | Unbabel/wmt22-comet-da | predicted rating
comet-qe:MODEL | source | accuracy.comet:_named | | predicted rating, without reference
cometkiwi | source | accuracy.comet:_named | Unbabel/wmt22-cometkiwi-da | predicted rating, without reference
xcomet-xl | source, reference | accuracy.comet:_named | Unbabel/XCOMET-XL | COMET with 3.5 billion parameters
xcomet-xl-qe | source | accuracy.comet:_named | Unbabel/XCOMET-XL | XCOMET-XL without reference
xcomet-xxl | source, reference | accuracy.comet:_named | Unbabel/XCOMET-XXL | COMET with 10.7 billion parameters
xcomet-xxl-qe | source | accuracy.comet:_named | Unbabel/XCOMET-XXL | XCOMET-XXL without reference
metricx23[:MODEL] | reference | accuracy.metricx:_named | google/metricx-23-xl-v2p0 | 0 to 25 error points
metricx23-qe[:MODEL] | source | accuracy.metricx:_named | google/metricx-23-qe-xl-v2p0 | 0 to 25 error points
metricx24[:MODEL] | source, reference | accuracy.metricx:_named | google/metricx-24-hybrid-xl-v2p6 | 0 to 25 error points
metricx24-qe[:MODEL] | source | accuracy.metricx:_named | google/metricx-24-hybrid-xl-v2p6 | 0 to 25 error points
metricx:MODEL | source, reference | accuracy.metricx:_named | | one of these four, by the model's name
rated-accuracy[:SET] | source, ratings | data.human:_named | | ratings of the same texts
mqm:FILE | existing scores or ratings | accuracy.external:_named | | penalty of all marked errors
mqm-accuracy:FILE | existing scores or ratings | accuracy.external:_named | | penalty of errors of accuracy only
esa:FILE | existing scores or ratings | accuracy.external:_named | | rating from 0 to 100, given with marked errors
da:FILE | existing scores or ratings | accuracy.external:_named | | direct assessment
stored:PLACE#METRIC | existing scores or ratings | accuracy.external:_named | | stored scores of another metric
""",  # noqa: E501
    "naturalness": """
native[:HEADS] | | naturalness.native:_named | | log-odds of a fluent original under Gemma 3 270M; heads for de, en
lpp | language model | naturalness.lm:_named_lpp | | log-perplexity in nats per token
bpb | language model | naturalness.lm:_named_bpb | | bits per byte, comparable between models with different tokens
zip | language model | naturalness.compression:_named_zip | | code length under the model, less that of a compressor
lpp-distance | language model, R, whole corpus | naturalness.lpp:_named | | distance from the lpp of R (AN §5.1)
critic[:FOLDER] | | naturalness.critic:_named | | log-odds of original against translation; bundled for de, en
compression | | naturalness.compression:_named_compression | | bits per character of a compressor
ttr | whole corpus | naturalness.lexical:_named | | type-token ratio: distinct words per word
mattr | whole corpus | naturalness.lexical:_named | | type-token ratio in a moving window
mtld | whole corpus | naturalness.lexical:_named | | mean length of word sequences that keep a given type-token ratio
yules_i | whole corpus | naturalness.lexical:_named | | Yule's I: higher if words recur less often
yules_k | whole corpus | naturalness.lexical:_named | | Yule's K: higher if words recur more often
shannon | whole corpus | naturalness.lexical:_named | | entropy of the word frequencies
simpson | whole corpus | naturalness.lexical:_named | | probability that two random words differ
rated-naturalness[:SET] | source, ratings | data.human:_named | | ratings of the same texts
mqm-fluency:FILE | existing scores or ratings | accuracy.external:_named | | penalty of errors of fluency only
""",
}
BEHIND = {
    "MODEL": "a folder, a .ckpt file or a hub id[@revision]",
    "HEADS": "a file of heads, or the language of bundled ones",
    "FOLDER": "folder of a critic (else the bundled one, for de and en)",
    "FILE": "ratings of the same systems, or the name of a data set such as mqm/ted-ende",
    "PLACE": "a folder of WMT25 or mt-metrics-eval, or a table",
    "METRIC": "name of the metric there",
    "SET": "a folder or JSONL with ratings.tsv (else those of the teaching set)",
}
"""Meaning of the part after the colon of a name."""


@dataclass(frozen=True)
class _MetricRow:
    """A metric of the table.

    Parameters
    ----------
    axis : {"accuracy", "naturalness"}
    name : str
        As typed, without the part after a colon.
    behind : str
        ":MODEL" if that must follow, "[:MODEL]" if it may, else "". A key of BEHIND.
    sees : tuple of str
        Inputs besides the text: "source", "reference", "ratings", LM, "R"; CORPUS if it scores no single text, GIVEN
        if only systems have scores.
    maker : str
        Module of this package and function, such as "accuracy.surface:_named"; it takes an `Asked`.
    hub : str
        The model of the bare name on the hub, or "".
    description : str
        Meaning of the score, in a few words.
    """

    axis: str
    name: str
    behind: str
    sees: tuple[str, ...]
    maker: str
    hub: str
    description: str

    @property
    def typed(self) -> str:
        """Such as "comet[:MODEL]"."""
        return self.name + self.behind

    def fits(self, name: str) -> bool:
        """Whether this is the metric of that name."""
        called, colon, _ = name.partition(":")
        if called != self.name:
            return False
        return bool(self.behind) if colon else not self.behind.startswith(":")


def _parsed(axis: str, line: str) -> _MetricRow:
    typed, sees, *others = (cell.strip() for cell in line.split("|"))
    name = re.split(r"[\[:]", typed)[0]
    return _MetricRow(
        axis, name, typed[len(name) :], tuple(filter(None, sees.split(", "))), *others
    )


TABLE = tuple(
    _parsed(axis, line) for axis, lines in ROWS.items() for line in lines.strip().split("\n")
)


def row_of(name: str, axis: str = "") -> _MetricRow:
    """The row of a metric by its name.

    Parameters
    ----------
    axis : {"accuracy", "naturalness", ""}
        "" is either.

    Raises
    ------
    UnknownName : with the nearest name.

    >>> row_of("comet:my/folder").axis, row_of("lpp").sees
    ('accuracy', ('language model',))
    """
    rows = [row for row in TABLE if axis in ("", row.axis)]
    if found := next((row for row in rows if row.fits(name)), None):
        return found
    known = [row.name if row.fits(row.name) else row.typed for row in rows]
    raise UnknownName(f"{axis} metric".strip(), name, known)


def _grouped(axis: str) -> dict[str, list[str]]:
    """The metrics of an axis by their inputs besides the text.

    >>> _grouped("accuracy")["source and ratings"]
    ['rated-accuracy[:SET]']
    """
    groups: dict[str, list[str]] = {}
    for row in TABLE:
        if row.axis == axis:
            seen = " and ".join(", ".join(row.sees).rsplit(", ", 1)) or "the text alone"
            groups.setdefault(seen, []).append(row.typed)
    return groups


def listed(axis: str) -> str:
    """The metrics of an axis by their inputs, for help texts.

    >>> listed("accuracy")[:27]
    'from reference: chrf, chrf+'
    """
    typed = "; ".join(f"from {seen}: {', '.join(names)}" for seen, names in _grouped(axis).items())
    return "; ".join([typed, *(f"{one}: {what}" for one, what in BEHIND.items() if one in typed)])


def default_naturalness(lang: str, lm: str = "gemma-3-270m") -> str:
    """The metric of naturalness where none is named: native for the languages of bundled heads, else lpp.

    Under another language model than that of the heads it is lpp as well.

    >>> default_naturalness("deu"), default_naturalness("cs")
    ('native', 'lpp')
    """
    with suppress(UnknownName):
        if lm == "gemma-3-270m" and bundled(f"native/{short_code(lang)}.json"):
            return "native"
    return "lpp"


def accuracy_metric(name: str, trg_lang: str = "", n_refs: int | str = 1, **options: Any) -> Metric:
    """An accuracy metric by its name.

    Parameters
    ----------
    name : str
        Of TABLE, such as "chrf", or "comet:MODEL" with a folder, a .ckpt file or a hub id[@revision].
    trg_lang : str
        Target language, e.g. "de"; it selects BLEU's tokenizer.
    n_refs : int or "var"
        References of every segment that has any, `TestSet.n_refs`.
    **options
        `device` and `dtype` of learned metrics.

    Raises
    ------
    UnknownName, DataError, MissingExtra; AnhelpersError : a model cannot be loaded.

    >>> accuracy_metric("chrf", "de").unit
    'points, 0 to 100'
    """
    return _made(row_of(name, "accuracy"), name, trg_lang, n_refs=n_refs, options=options)


def naturalness_metric(
    name: str, trg_lang: str, lm: LanguageModel | None = None, *, mono: Mono | None = None
) -> Metric:
    """A naturalness metric by its name.

    Parameters
    ----------
    name : str
        Of TABLE, such as "ttr", "critic:FOLDER" or "rated-naturalness:SET".
    trg_lang : str
        Language of the texts.
    lm : LanguageModel, optional
        From `load_lm`.
    mono : Mono, optional
        R, texts written in the language, for lpp-distance.

    Raises
    ------
    UnknownName; DataError : a missing language model or R, or a different language.

    >>> naturalness_metric("ttr", "de").score_corpus(["Das ist gut.", "Das nicht."])
    0.8
    """
    row = row_of(name, "naturalness")
    if (LM in row.sees and lm is None) or (R in row.sees and mono is None):
        raise DataError(f"{name}: expected {'R (--mono FILE)' if lm else 'a model (--lm MODEL)'}.")
    return _made(row, name, trg_lang, lm=lm, mono=mono)


def _made(row: _MetricRow, name: str, lang: str, **given: Any) -> Metric:
    """The metric from the maker of a row, whose module is imported now."""
    module, function = row.maker.split(":")
    model = name.partition(":")[2] or row.hub
    make = getattr(import_module(f"{__name__.partition('.')[0]}.{module}"), function)
    return make(Asked(name, model, row.sees, lang, **given))


def fitting_metric(
    names: Sequence[str], trg_lang: str, lm: LanguageModel | str | None = None
) -> tuple[Metric, tuple[str, ...]]:
    """The first of these naturalness metrics that fits the language, and a sentence per misfit.

    Parameters
    ----------
    names, trg_lang : as in `naturalness_metric`.
    lm : LanguageModel or str, optional
        The language model, or its name as in `load_lm`; it is loaded only if needed.

    Raises
    ------
    DataError : none fits.

    >>> metric, why = fitting_metric(["critic", "ttr"], "sw")
    >>> metric.name, len(why)
    ('ttr', 1)
    """

    def made(name: str) -> Metric:
        row_of(name, "naturalness")
        return metric(name, trg_lang, lm=lm)

    found, missing = fitting_metrics("naturalness", names, made)
    if not found:
        raise DataError(" ".join(missing) or "naturalness metrics: got none, expected a name.")
    return next(iter(found.values())), missing


def metric(
    name: str,
    of: TestSet | str,
    *,
    lm: LanguageModel | str | None = "gemma-3-270m",
    n_refs: int | str | None = None,
    mono: Mono | None = None,
) -> Metric:
    """A metric of accuracy or of naturalness by its name.

    Parameters
    ----------
    name : str
        Of docs/metrics.md: chrf, bleu, comet and others of accuracy; native, lpp, critic and others of naturalness;
        mqm-accuracy:FILE, mqm-fluency:FILE, esa:FILE and stored:PLACE#METRIC for given scores of systems.
    of : TestSet or str
        The test set to be scored, or the language of the translations, e.g. "de".
    lm : LanguageModel, str or None
        Of metrics that need one, or its name as in `load_lm`.
    n_refs : int, "var" or None
        References of every segment that has any; by default the test set's, else 1.
    mono : Mono, optional
        R, texts written in the language, for lpp-distance.

    Raises
    ------
    UnknownName, DataError, MissingExtra : no such metric, none for this language, or a missing library.

    >>> metric("chrf", "de").unit, metric("critic", "en").unit
    ('points, 0 to 100', 'nats per text')
    """
    if isinstance(of, TestSet) and of.stored:
        return of.stored[
            checks.one_of(name, of.stored, "stored metric", "Load the texts for others.")
        ]
    lang, own = (known_code(of), 1) if isinstance(of, str) else (of.trg_lang, of.n_refs or 1)
    row = row_of(name)
    if row.axis == "accuracy":
        return accuracy_metric(name, lang, own if n_refs is None else n_refs)
    if isinstance(lm, str):
        lm = _loaded(lm) if LM in row.sees else None
    return naturalness_metric(name, lang, lm, mono=mono)


@cache
def _loaded(name: str) -> LanguageModel:
    """A language model by its name, loaded once."""
    from ..naturalness.lm import load_lm

    return load_lm(name)
