"""A metric by its name, of either axis: what `an.metric` and the commands' -m find."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from .. import checks
from ..accuracy import registry
from ..data.languages import known_code
from ..data.schema import TestSet
from ..data.text_ratings import is_rated
from ..errors import DataError
from ..metrics import Metric
from ..naturalness.registry import NAMES, is_critic, naturalness_metric, needs_lm

if TYPE_CHECKING:
    from ..naturalness.lm import LanguageModel
    from ..naturalness.mono import Mono

__all__ = ["known_metric", "metric"]


def known_metric(name: str) -> str:
    """The name itself; an UnknownName with the nearest one where no metric is called so.

    >>> known_metric("chrf")
    'chrf'
    """
    if not (registry.is_accuracy(name) or is_rated(name, "naturalness") or is_critic(name)):
        checks.one_of(name, [*registry.NAMES, *NAMES], "metric")
    return name


def metric(
    name: str,
    of: TestSet | str,
    *,
    lm: LanguageModel | str | None = "bundled",
    n_refs: int | str | None = None,
    mono: Mono | None = None,
) -> Metric:
    """A metric of accuracy or of naturalness by its name, ready to score.

    Parameters
    ----------
    name : accuracy: chrf, chrf++, bleu, ter, comet, metricx24 and others, see `accuracy.registry`; naturalness: lpp,
        bpb, zip, critic, critic+lpp and others, see `naturalness.registry`.
    of : the test set that it will score, or the language of the translations, e.g. "de"; it decides BLEU's tokenizer
        and which critic and which bundled model is meant.
    lm : the language model of those that need one, or its name as in `load_lm`; by default the bundled one of the
        language.
    n_refs : how many references every segment that has any will have, or "var"; by default the test set's, else 1.
    mono : R, texts that people wrote in the language, for lpp-distance alone.

    Raises
    ------
    UnknownName, DataError, MissingExtra: no such metric, none for this language, or its library is missing.

    >>> metric("chrf", "de").unit, metric("critic", "en").unit
    ('points, 0 to 100', 'nats per text')
    """
    if isinstance(of, str) and re.fullmatch(r"[a-z]{2,3}-[a-z]{2,3}", of):
        raise DataError(
            f"'{of}' is a pair of languages; give the test set, or the target language, "
            f"{of[-2:]!r}."
        )
    lang, own = (known_code(of), 1) if isinstance(of, str) else (of.trg_lang, of.n_refs)
    if registry.is_accuracy(known_metric(name)):
        return registry.accuracy_metric(name, lang, own if n_refs is None else n_refs)
    if isinstance(lm, str):
        from ..naturalness.load import BUNDLED, load_lm

        lm = None if not needs_lm(name) else _bundled(lang) if lm == BUNDLED else load_lm(lm)
    return naturalness_metric(name, lang, lm, mono=mono)


@cache
def _bundled(lang: str) -> LanguageModel:
    """A bundled model once, however many metrics need it; a folder may have changed since, and is read again."""
    from ..naturalness.load import BUNDLED, load_lm

    return load_lm(BUNDLED, lang=lang)
