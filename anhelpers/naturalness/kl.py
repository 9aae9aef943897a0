"""KL from a system to a language model where the system's own log-probabilities are known (AN eq. 14)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from numpy.typing import ArrayLike

from .. import checks
from ..bootstrap import clusters_of
from ..data.schema import TestSet
from ..divergences.samples import kl_from_logprobs
from ..estimate import Estimate
from .lm import LanguageModel, lpp_metric, score_texts


def system_kl(
    test: TestSet, logprobs: Mapping[str, ArrayLike], lm: LanguageModel, *, eos: bool | None = None
) -> dict[str, Estimate]:
    """KL(Q || P_LM) of systems in nats per segment.

    The outputs must be samples of the system, not its most probable outputs. It is KL of the marginal Q(y) for log q(y)
    only; with the log q(y | x) of a translation system it is KL plus the mutual information of source and output.

    Parameters
    ----------
    test : TestSet
        With the systems' outputs.
    logprobs : dict
        System -> (N,) summed natural-log probabilities of its outputs under itself; nan: none. The end of the text must
        be part of both sums, or of neither.
    lm : LanguageModel
        A DataError if it knows another language only.
    eos : bool or None
        Whether the model's sum has the end of the text; by default if it has such a token.

    Returns
    -------
    System -> Estimate; blank outputs and nan are left out and counted.

    Raises
    ------
    UnknownName for a system; DataError for another number of log-probabilities, or positive ones.

    References
    ----------
    Flamich et al. 2025, eq. 14.
    """
    eos = lm.ends if eos is None else eos
    model = lpp_metric(lm, eos, test.trg_lang).signature.removeprefix("lpp|")
    estimates = {}
    for system, log_q in logprobs.items():
        hyps = test.systems[checks.one_of(system, test.systems, "system")]
        given: Any = log_q
        checks.same_length(**{f"log-probabilities of {system}": given, "outputs": hyps})
        total = score_texts(lm, hyps, eos).total
        estimate = kl_from_logprobs(log_q, total, clusters_of(test.docs))
        signature = f"kl|{model}|{estimate.signature}"
        estimates[system] = replace(estimate, unit="nats per segment", signature=signature)
    return estimates
