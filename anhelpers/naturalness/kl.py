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
from ..divergences.samples import kl_from_logprobs
from ..errors import DataError
from ..estimate import Estimate
from ..progress import note
from ..stats import clusters_of, correlation_interval, spearman
from .lm import LanguageModel, lpp_metric, score_texts

__all__ = ["system_kl"]

# Spearman's correlation and segments, as measured for XMI, see xmi.scores
LEAST_RANKS, FEWEST = 0.5, 10


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
    system -> Estimate; blank outputs and nan are left out and counted. A note tells of log-probabilities that hardly
    are sums over the system's own outputs: a KL whose interval is below 0, or a Spearman correlation with the model's
    sums, over 10 segments or more, whose 95 % interval lies below 0.5, while both grow with the length of a text (see
    `xmi.score_doubts`).

    Raises
    ------
    UnknownName for a system, DataError for another number of log-probabilities, for positive or hugely negative ones,
    and where two systems with different outputs have the same.

    References
    ----------
    Flamich et al. 2025, eq. 14.
    """
    _own_each(test, logprobs)
    eos = lm.ends if eos is None else eos
    model = lpp_metric(lm, eos, test.trg_lang).signature.removeprefix("lpp|")
    estimates = {}
    for system, log_q in logprobs.items():
        hyps = test.systems[checks.one_of(system, test.systems, "system")]
        given: Any = log_q
        checks.same_length(**{f"log-probabilities of {system}": given, "outputs": hyps})
        scores = score_texts(lm, hyps, eos)
        for sentence in scores.notes:
            note(f"{system} under {lm.name}: {sentence}")
        estimate = kl_from_logprobs(log_q, scores.total, clusters_of(test.docs))
        for sentence in _doubts(np.asarray(log_q, dtype=np.float64), scores.total, estimate):
            note(f"{system}: {sentence}")
        estimates[system] = replace(
            estimate, unit="nats per segment", signature=f"kl|{model}|{estimate.signature}"
        )
    return estimates


def _doubts(log_q: np.ndarray, log_p: np.ndarray, kl: Estimate) -> list[str]:
    """Sentences on log-probabilities that hardly are sums over the tokens of these outputs."""
    said, there = [], ~(np.isnan(log_q) | np.isnan(log_p))
    n, ask = int(there.sum()), "are they sums over the tokens, in nats, of these very outputs?"
    r = float(spearman(log_q[there], log_p[there])) if n >= FEWEST else np.nan
    if float(correlation_interval(r, n)[1]) < LEAST_RANKS:
        told = "its log-probabilities hardly go together with those of the language model"
        said.append(f"{told} (Spearman's correlation {r:.2f} over {n} segments): {ask}")
    if kl.interval[1] < 0:
        said.append(f"KL is {kl.value:.4g} nats per segment, and none is below 0: {ask}")
    return said


def _own_each(test: TestSet, logprobs: Mapping[str, ArrayLike]) -> None:
    """A DataError for two systems with the same log-probabilities of different outputs: one file was given twice."""
    for (a, one), (b, two) in combinations(logprobs.items(), 2):
        same = np.array_equal(np.asarray(one, float), np.asarray(two, float), equal_nan=True)
        if (
            same
            and not np.isnan(np.asarray(one, float)).all()
            and test.systems.get(a) != test.systems.get(b)
        ):
            told = f"the log-probabilities of {a} and {b} are the same, and their outputs are not"
            raise DataError(f"{told}; give each system its own.")
