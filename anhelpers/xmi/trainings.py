"""Trainings that differ by their seed: what another training of the same models would have given for XMI.

A row is one training of four models: q_MT and q_LM from the first language into the second ("there") and from the
second into the first ("back"), all scored on the same sentence pairs.
"""

from __future__ import annotations

import math
from os import PathLike
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..bootstrap import student
from ..data.io import read_table
from ..data.sets import bundled
from ..errors import DataError
from ..estimate import Estimate
from .logprobs import UNITS
from .measure import SENTENCE, pointwise_xmi
from .models import xmi_from_models
from .toy import ToyPair
from .train import train_pair

if TYPE_CHECKING:
    import pandas as pd

_RECIPE = {"pair": str, "src": str, "trg": str, "scored": str, "n_train": int, "n": int}
_RECIPE |= {"steps": int, "smoothing": float}
_BITS = ("mi", "h_lm", "h_mt", "se", "h_lm_back", "h_mt_back", "se_back", "se_difference")


def read_trainings(path: str | PathLike | None = None) -> pd.DataFrame:
    """Read a table of trainings, with the XMI of both directions and their difference.

    Parameters
    ----------
    path : CSV file with all but the last three columns; None: the bundled table of 60 trainings.

    Returns
    -------
    pair, src, trg; scored : 8 digits that identify the scored sentences; n_train, n : pairs learned from and scored;
    steps; smoothing; seed; mi : true MI, nan if unknown;
    h_lm, h_mt, xmi of src → trg, and h_lm_back, h_mt_back, xmi_back of trg → src; difference = xmi - xmi_back; all in
    bits per sentence; se, se_back, se_difference : standard errors over sentences of xmi, xmi_back and difference.

    Raises
    ------
    DataError with file and line: a missing column, a malformed number; DataError for a training that is listed twice.
    """
    path = bundled("xmi_trainings.csv") if path is None else path
    table = read_table(path, _RECIPE | {"seed": int} | dict.fromkeys(_BITS, float))
    if (twice := table.duplicated([*_RECIPE, "seed"])).any():
        raise DataError("this training is listed twice.", path, int(twice.argmax()) + 2)
    table["xmi"], table["xmi_back"] = table.h_lm - table.h_mt, table.h_lm_back - table.h_mt_back
    return table.assign(difference=table.xmi - table.xmi_back)


def train_both_ways(
    pair: ToyPair, seed: int, smoothing: float = 0.0, *, steps: int = 150, n_test: int = 1000
) -> dict[str, float]:
    """Train a toy pair in both directions, two models each, and score `n_test` sentence pairs.

    Parameters
    ----------
    seed : of the training, including the sentences that are learned from; each direction has its own random state.
    smoothing, steps : as in `train_pair`.

    Returns
    -------
    mi, h_lm, h_mt, se, h_lm_back, h_mt_back, se_back, se_difference as in `read_trainings`.
    """
    row, gaps, texts = {"mi": pair.mi}, [], pair.sample(n_test, np.random.default_rng(0))
    for back, end in ((False, ""), (True, "_back")):
        rng = np.random.default_rng([seed, back])
        of = pair.reversed() if back else pair
        models = train_pair(of, rng=rng, steps=steps, smoothing=smoothing)
        found = xmi_from_models(*models, *(texts[::-1] if back else texts), rng=rng)
        bits = -UNITS["nats"] * np.stack([found.lm_logprobs, found.mt_logprobs])
        gaps.append(pointwise_xmi(found.mt_logprobs, found.lm_logprobs))
        row |= {f"h_lm{end}": float(bits[0].mean()), f"h_mt{end}": float(bits[1].mean())}
        row[f"se{end}"] = _error(gaps[-1])
    return row | {"se_difference": _error(gaps[0] - gaps[1])}


def _error(each: np.ndarray) -> float:
    """The standard error of a mean over sentences."""
    return float(each.std(ddof=1) / math.sqrt(len(each)))


def mean_over_trainings(
    values: ArrayLike, ses: ArrayLike | None = None, *, name: str = "mean", unit: str = SENTENCE
) -> Estimate:
    """The mean of several trainings with Student's interval.

    Without `ses` the interval covers the variation between trainings on these sentences. With `ses` it covers the
    variation between sentences as well, and is a little too wide, as their interaction counts twice.

    Parameters
    ----------
    values : (K,) one number of each training, K at least 2. ses : (K,) their standard errors over sentences.
    name, unit : of the estimate.

    Returns
    -------
    Estimate, n = K trainings; K - 1 degrees of freedom, with `ses` those of Welch and Satterthwaite; the interval is
    then at least as wide.

    >>> mean_over_trainings([1.0, 2.0, 3.0]).text(2)
    'mean 2.00 bits per sentence, 95 % interval -0.48 to 4.48 (n = 3 trainings)'
    """
    each = _trainings(values)
    k, of_runs = len(each), float(each.var(ddof=1)) / len(each)
    of_texts = 0.0
    if ses is not None:
        errors = np.asarray(ses, dtype=np.float64)
        checks.same_length(values=each, ses=errors)
        if not (np.isfinite(errors) & (errors >= 0)).all():
            raise DataError(
                "got a standard error that is negative or not finite, expected at least 0."
            )
        of_texts = float(np.mean(errors**2))
    variance = of_runs + of_texts
    freedom = (k - 1) * min(variance / of_runs, 1e6) ** 2 if of_runs else math.inf
    mean, errors = float(each.mean()), np.sqrt([of_runs, variance])
    low, high = student(np.full(2, mean), errors, np.array([k, freedom + 1]))
    what = "trainings alone, the same sentences" if ses is None else "trainings and sentences"
    return Estimate(
        name,
        mean,
        low=float(low.min()),  # with more luck counted never the narrower one
        high=float(high.max()),
        se=float(errors[1]),
        n=k,
        of="trainings",
        n_docs=k,
        unit=unit,
        signature=f"Student's t over {what}",
    )


def training_spread(values: ArrayLike, *, name: str = "spread", unit: str = SENTENCE) -> Estimate:
    """The standard deviation between trainings, with its interval.

    Parameters
    ----------
    values : (K,) one number of each training, K at least 2. name, unit : of the estimate.

    Returns
    -------
    Estimate, n = K trainings; the interval is that of chi-square, which assumes normal trainings. For K = 5 it
    extends from 0.6 to 2.9 times the value.

    >>> training_spread([1.0, 2.0, 3.0]).text(2)
    'spread 1.00 bits per sentence, 95 % interval 0.52 to 6.28 (n = 3 trainings)'
    """
    from scipy.special import chdtri

    each = _trainings(values)
    spread, k = float(each.std(ddof=1)), len(each)
    low, high = (spread * math.sqrt((k - 1) / chdtri(k - 1, p)) for p in (0.025, 0.975))
    signature = "standard deviation between trainings; chi-square"
    return Estimate(
        name,
        spread,
        low=low,
        high=high,
        n=k,
        of="trainings",
        n_docs=k,
        unit=unit,
        signature=signature,
    )


def _trainings(values: ArrayLike) -> np.ndarray:
    """(K,) finite numbers of at least 2 trainings."""
    each = np.asarray(values, dtype=np.float64)
    if each.ndim != 1 or len(each) < 2 or not np.isfinite(each).all():
        raise DataError(
            f"got values of shape {each.shape}, expected finite numbers of 2 or more trainings."
        )
    return each


def luck_table(table: pd.DataFrame) -> pd.DataFrame:
    """Variation between trainings of each pair and label smoothing, beside the difference of directions.

    Parameters
    ----------
    table : of `read_trainings`, at least 2 trainings of each pair and smoothing.

    Returns
    -------
    The columns that trainings of one recipe share (pair, src, trg, ..., smoothing); trainings : how many;
    difference : mean of XMI there less XMI back, bits per sentence; low, high : its 95 % interval over trainings and
    sentences; runs_low, runs_high : over trainings alone; spread : standard deviation between trainings; se :
    standard error of one training over sentences (root mean square); share : spread² / (spread² + se²), the part of
    the variance of one run that is between trainings; decided : "there", "back", or "undecided" if 0 is between low and
    high.
    """
    import pandas as pd

    rows = []
    for shared, part in table.groupby([*_RECIPE], sort=False):
        runs = mean_over_trainings(part.difference)
        both = mean_over_trainings(part.difference, part.se_difference)
        spread = training_spread(part.difference).value
        se = math.sqrt(float((part.se_difference**2).mean()))
        total = spread**2 + se**2
        rows.append(
            dict(zip(_RECIPE, shared, strict=True))
            | {
                "trainings": len(part),
                "difference": both.value,
                "low": both.low,
                "high": both.high,
                "runs_low": runs.low,
                "runs_high": runs.high,
                "spread": spread,
                "se": se,
                "share": spread**2 / total if total else math.nan,
                "decided": "there" if both.low > 0 else "back" if both.high < 0 else "undecided",
            }
        )
    return pd.DataFrame(rows)
