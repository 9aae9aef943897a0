"""The same candidates before several judges: which of them there are for these texts, and their oracle studies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..accuracy.registry import accuracy_metric
from ..data.schema import CandidateSet, TestSet
from ..data.text_ratings import RATED
from ..errors import DataError
from ..metrics import Metric, fitting_metrics
from ..naturalness.registry import naturalness_metric
from ..scoring import score_all
from .oracle import OracleStudy, oracle_studies

if TYPE_CHECKING:
    from ..naturalness.lm import LanguageModel

__all__ = ["judged_studies"]


def judged_studies(
    test: TestSet,
    cands: CandidateSet,
    accuracies: Sequence[str],
    naturalnesses: Sequence[str],
    *,
    lm: LanguageModel | None = None,
    max_blank_share: float = 1.0,
) -> tuple[list[OracleStudy], tuple[str, ...]]:
    """`oracle_studies` by all of the named judges that these texts have, and a sentence for each that is missing.

    A judge is missing where its metric is a DataError for this language, as without a bundled critic, or where
    candidates have no rating. One that is named twice counts once.

    Parameters
    ----------
    accuracies : names for `accuracy.registry.accuracy_metric`.
    naturalnesses : names for `naturalness.registry.naturalness_metric`, with `lm` for those that need a language model.
    max_blank_share : as in `oracle_study`.

    Raises
    ------
    DataError : an axis has no judge at all.
    """

    def rated(name: str, metric: Metric) -> Metric:
        if name.partition(":")[0] in RATED.values():
            _all_rated(test, cands, metric)
        return metric

    def accuracy(name: str) -> Metric:
        return rated(name, accuracy_metric(name, test.trg_lang, test.n_refs))

    def naturalness(name: str) -> Metric:
        return rated(name, naturalness_metric(name, test.trg_lang, lm))

    by, missing = fitting_metrics("accuracy", accuracies, accuracy)
    beside, also_missing = fitting_metrics("naturalness", naturalnesses, naturalness)
    for axis, found, why in (("accuracy", by, missing), ("naturalness", beside, also_missing)):
        if not found:
            raise DataError(" ".join(why) or f"there is no judge of {axis}; name one.")
    studies = oracle_studies(
        test, cands, [*by.values()], [*beside.values()], max_blank_share=max_blank_share
    )
    return studies, (*missing, *also_missing)


def _all_rated(test: TestSet, cands: CandidateSet, metric: Metric) -> None:
    """A DataError where a candidate with text has no rating."""
    scores, _ = score_all(test, metric, cands)
    if without := int((np.isnan(scores) & [bool(text.strip()) for text in cands.texts]).sum()):
        raise DataError(f"{without} of {len(cands)} candidates have no rating.")
