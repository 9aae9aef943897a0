"""The naturalness metrics by name: what the command line calls them, and how each is made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from .. import checks
from ..data.text_ratings import RATED, is_rated, rated_metric
from ..errors import DataError
from ..metrics import Metric, fitting_metrics
from .diversity import MEASURES, lexical_metric
from .mono import LPP_DISTANCE, Mono, lpp_distance_metric

if TYPE_CHECKING:
    from .lm import LanguageModel

__all__ = [
    "COMPRESSION",
    "CRITIC",
    "NAMES",
    "WITH_LM",
    "fitting_metric",
    "is_critic",
    "naturalness_metric",
    "needs_lm",
]


def _lpp(lm: LanguageModel, trg_lang: str) -> Metric:
    from .lm import lpp_metric

    return lpp_metric(lm, trg_lang=trg_lang)


def _bpb(lm: LanguageModel, trg_lang: str) -> Metric:
    from .lm import bits_per_byte_metric

    return bits_per_byte_metric(lm, trg_lang)


def _lpp_distance(lm: LanguageModel, trg_lang: str, mono: Mono | None = None) -> Metric:
    return lpp_distance_metric(lm, mono, trg_lang)


def _zip(lm: LanguageModel, trg_lang: str) -> Metric:
    from .compression import zip_metric

    return zip_metric(lm, trg_lang)


COMBINED = "critic+lpp"
"""The combination beside the bundled critic of the language; critic+lpp:FOLDER is another one."""


def _combined(lm: LanguageModel, trg_lang: str, folder: str = "") -> Metric:
    from .combination import combination_metric, load_combination

    return combination_metric(load_combination(Path(folder) if folder else trg_lang), lm, trg_lang)


WITH_LM: dict[str, Callable[[LanguageModel, str], Metric]] = {
    "lpp": _lpp,
    "bpb": _bpb,
    "zip": _zip,
    COMBINED: _combined,
    LPP_DISTANCE: _lpp_distance,
}
"""Those that a language model is part of; the others are measures of whole corpora, compression of segments too."""

COMPRESSION = "compression"
"""Needs no model and knows every language."""

CRITIC = "critic"
"""The bundled critic of the language; critic:FOLDER is another one."""

NAMES = (*WITH_LM, COMPRESSION, CRITIC, *MEASURES, RATED["naturalness"])


def is_critic(name: str) -> bool:
    """Whether a name is that of a critic, alone or with a language model, perhaps of a folder.

    >>> is_critic("critic:mine"), is_critic("critic+lpp"), is_critic("lpp")
    (True, True, False)
    """
    return name.partition(":")[0] in (CRITIC, COMBINED)


def needs_lm(name: str) -> bool:
    """Whether a language model is part of the metric of that name.

    >>> needs_lm("lpp"), needs_lm("critic+lpp:mine"), needs_lm("critic")
    (True, True, False)
    """
    return (name.partition(":")[0] if is_critic(name) else name) in WITH_LM


def naturalness_metric(
    name: str, trg_lang: str, lm: LanguageModel | None = None, *, mono: Mono | None = None
) -> Metric:
    """A naturalness metric ready to score.

    Parameters
    ----------
    name : one of NAMES: lpp, bpb, zip, critic+lpp and lpp-distance with a language model; critic, compression, ttr,
        mattr, mtld, yules_i, yules_k, shannon, simpson without; critic:FOLDER and critic+lpp:FOLDER for a critic of
        your own; rated-naturalness, or rated-naturalness:FOLDER, for ratings of the very texts.
    trg_lang : language of the texts.
    lm : from `naturalness.lm.load_lm`.
    mono : R, texts that people wrote in the language, which lpp-distance compares with.

    Raises
    ------
    UnknownName; DataError without the language model or the R that is needed, or where the language does not fit.

    >>> naturalness_metric("ttr", "de").score_corpus(["Das ist gut.", "Das nicht."])
    0.8
    """
    if is_rated(name, "naturalness"):
        return rated_metric(name, trg_lang)
    kind, _, folder = name.partition(":")
    if kind == CRITIC:
        from .critic import critic_metric, load_critic

        return critic_metric(load_critic(Path(folder) if folder else trg_lang), trg_lang)
    checks.one_of(kind if kind == COMBINED else name, NAMES, "naturalness metric")
    if name == COMPRESSION:
        from .compression import compression_metric

        return compression_metric()
    if not needs_lm(name):
        return lexical_metric(name, trg_lang)
    if lm is None:
        raise DataError(
            f"{name} needs a language model; name one (--lm MODEL, or lm=load_lm(MODEL)); "
            "compression needs none, for any language."
        )
    if kind == COMBINED:
        return _combined(lm, trg_lang, folder)
    return (
        _lpp_distance(lm, trg_lang, mono) if name == LPP_DISTANCE else WITH_LM[name](lm, trg_lang)
    )


def fitting_metric(
    names: Sequence[str], trg_lang: str, lm: LanguageModel | str | None = None
) -> tuple[Metric, tuple[str, ...]]:
    """The first of these naturalness metrics that fits texts and model, and a sentence for each that does not.

    Parameters
    ----------
    names, trg_lang : as in `naturalness_metric`.
    lm : the language model, or its name as in `load_lm`, by which it is loaded where one of these needs it.

    Raises
    ------
    DataError : none fits, and why; UnknownName.

    >>> metric, why = fitting_metric(["critic", "ttr"], "sw")
    >>> metric.name, len(why)
    ('ttr', 1)
    """

    @cache
    def model() -> LanguageModel | None:
        from .load import load_lm

        return load_lm(lm, lang=trg_lang) if isinstance(lm, str) else lm

    def made(name: str) -> Metric:
        return naturalness_metric(name, trg_lang, model() if needs_lm(name) else None)

    found, missing = fitting_metrics("naturalness", names, made)
    if not found:
        raise DataError(" ".join(missing) or "no metric of naturalness was named.")
    return next(iter(found.values())), missing
