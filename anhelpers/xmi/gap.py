"""Why XMI is not MI: the excess of two models over the truth of a toy pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ..bootstrap import bootstrap_means
from ..errors import DataError
from ..estimate import Estimate
from .logprobs import UNITS, in_bits
from .measure import bits, xmi
from .results import Xmi
from .toy import ToyPair

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Gap:
    """XMI - MI = (H_LM - H(T)) - (H_MT - H(T | S)), each difference in two ways, in bits per sentence.

    The first way subtracts the closed form from the mean surprisal. The second is the mean of log2 p - log2 q over
    sentences, a Kullback-Leibler divergence with the same expectation and a far narrower interval.

    Parameters
    ----------
    name : of the pair. h_trg, h_trg_given_src, mi : the truth. found : XMI of the models on the same sentences.
    lm, mt, both : the excess of each model over the closed form, and XMI - MI; both = lm - mt.
    lm_kl, mt_kl, both_kl : the same as divergences; lm_kl and mt_kl are at least 0 up to sampling.
    """

    name: str
    h_trg: float
    h_trg_given_src: float
    mi: float
    found: Xmi
    lm: Estimate
    mt: Estimate
    both: Estimate
    lm_kl: Estimate
    mt_kl: Estimate
    both_kl: Estimate


def model_gap(
    pair: ToyPair,
    srcs: Sequence[str],
    trgs: Sequence[str],
    scores: tuple[ArrayLike, ArrayLike],
    *,
    rng: np.random.Generator,
    n_draws: int = 1000,
) -> Gap:
    """The excess of two models over the truth on held-out sentences of a toy pair, and its effect on XMI.

    Parameters
    ----------
    srcs, trgs : N sentence pairs of `pair.sample`, none of them used to train the models.
    scores : (mt, lm), N natural-log probabilities each, summed over a sentence and its end; nan: missing, left out.

    Raises
    ------
    DataError for a sentence pair that has probability 0 in this toy pair, and as in `xmi`.

    References
    ----------
    Bugliarello et al. 2020, Figure 1.

    >>> from anhelpers.xmi.toy import toy_pair
    >>> pair, rng = toy_pair("noisy"), np.random.default_rng(0)
    >>> srcs, trgs = pair.sample(50, rng)
    >>> truth = pair.logprob_trg_given_src(srcs, trgs), pair.logprob_trg(trgs)
    >>> model_gap(pair, srcs, trgs, truth, rng=rng).both_kl.value
    0.0
    """
    found = xmi(*scores, rng=rng, n_draws=n_draws)
    mt, lm = (in_bits(name, s, "nats") for name, s in zip(("mt", "lm"), scores, strict=True))
    true_mt = -UNITS["nats"] * pair.logprob_trg_given_src(srcs, trgs)
    true_lm = -UNITS["nats"] * pair.logprob_trg(trgs)
    if (never := np.flatnonzero(np.isinf(true_mt))).size:
        raise DataError(f"a sentence pair is impossible in '{pair.name}'.", "trgs", never[0] + 1)
    first = [lm - pair.h_trg, mt - pair.h_trg_given_src]
    second = [lm - true_lm, mt - true_mt]
    columns = np.stack([*first, first[0] - first[1], *second, second[0] - second[1]], axis=1)
    columns = columns[~np.isnan(columns).any(1)]
    means = bootstrap_means(columns, np.arange(len(columns)), rng, n_draws)
    names = ("H_LM - H(T)", "H_MT - H(T|S)", "XMI - MI") * 2
    six = bits(names, means, f"{n_draws} resamples of {len(columns)} sentences")
    ways = ("mean surprisal less the closed form", "mean of log2 p - log2 q, sentence by sentence")
    named = [replace(b, signature=f"{ways[k // 3]}; {b.signature}") for k, b in enumerate(six)]
    return Gap(pair.name, pair.h_trg, pair.h_trg_given_src, pair.mi, found, *named)


def gap_rows(found: Gap) -> pd.DataFrame:
    """H_LM beside H(T), H_MT beside H(T | S) and XMI beside MI, a row each.

    Columns: pair, quantity, truth, estimate with low and high, excess with low and high (as a divergence), unit, n;
    excess_mean is the excess over the closed form, estimate - truth.
    """
    import pandas as pd

    f = found.found
    rows = [
        ("H(T)", found.h_trg, f.h_lm, found.lm, found.lm_kl),
        ("H(T|S)", found.h_trg_given_src, f.h_mt, found.mt, found.mt_kl),
        ("MI", found.mi, f.xmi, found.both, found.both_kl),
    ]
    return pd.DataFrame(
        {
            "pair": found.name,
            "quantity": name,
            "truth": truth,
            "estimate": est.value,
            "low": est.low,
            "high": est.high,
            "excess_mean": mean.value,
            "excess": kl.value,
            "excess_low": kl.low,
            "excess_high": kl.high,
            "unit": est.unit,
            "n": est.n,
        }
        for name, truth, est, mean, kl in rows
    )
