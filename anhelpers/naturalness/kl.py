"""KL from a system to a language model where the system's own log-probabilities are known (AN eq. 14)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..data.schema import TestSet
from ..divergences.samples import Estimate, kl_from_logprobs
from ..errors import DataError
from ..progress import note
from .lm import LanguageModel, lpp_metric, score_texts

__all__ = ["system_kl"]


def system_kl(
    test: TestSet, logprobs: Mapping[str, ArrayLike], lm: LanguageModel, *, eos: bool | None = None
) -> dict[str, Estimate]:
    """KL(Q || P_LM) of systems, in nats per segment: how much likelier their outputs are to them than to the model.

    The outputs must be samples of the system; of its most probable outputs, as beam search finds them, the mean is no
    estimate of KL. It is KL of the marginal Q(y) for log q(y) only; with the log q(y | x) that a translation system
    gives it is KL plus the mutual information of source and output.

    Parameters
    ----------
    test : its systems' outputs.
    logprobs : system -> (N,) summed natural-log probabilities of its outputs under itself, aligned with them; nan where
        there is none. The end of the text should be part of both sums, or of neither.
    lm : the language model; a DataError where it is known to know another language only.
    eos : whether the model's sum has the end of the text; by default wherever it has such a token.

    Returns
    -------
    system -> Estimate; blank outputs and nan are left out and counted.

    Raises
    ------
    UnknownName for a system, DataError for another number of log-probabilities, for positive or hugely negative ones,
    and where two systems with different outputs have the same.

    References
    ----------
    Flamich et al. 2025, eq. 14.
    """
    _own_each(test, logprobs)
    eos = lm.tokenizer.eos_token_id is not None if eos is None else eos
    model = lpp_metric(lm, eos, test.trg_lang).signature.removeprefix("lpp|")
    estimates = {}
    for system, log_q in logprobs.items():
        hyps = test.systems[checks.one_of(system, test.systems, "system")]
        given: Any = log_q
        checks.same_length(**{f"log-probabilities of {system}": given, "outputs": hyps})
        scores = score_texts(lm, hyps, eos)
        for sentence in scores.notes:
            note(f"{system} under {lm.name}: {sentence}")
        estimate = kl_from_logprobs(log_q, scores.total)
        estimates[system] = replace(estimate, unit="nats per segment", signature=f"kl|{model}|{estimate.signature}")
    return estimates


def _own_each(test: TestSet, logprobs: Mapping[str, ArrayLike]) -> None:
    """A DataError for two systems with the same log-probabilities of different outputs: one file was given twice."""
    for (a, one), (b, two) in combinations(logprobs.items(), 2):
        same = np.array_equal(np.asarray(one, float), np.asarray(two, float), equal_nan=True)
        if same and not np.isnan(np.asarray(one, float)).all() and test.systems.get(a) != test.systems.get(b):
            told = f"the log-probabilities of {a} and {b} are the same, and their outputs are not"
            raise DataError(f"{told}; give each system its own.")
