"""How much of an XMI is the luck of one training: a table of trainings that differ by their seed, and what it says.

A row is one training of four models: q_MT and q_LM from the first language into the second ("there") and from the
second into the first ("back"), all scored on the same sentence pairs (`seeds` makes them).
"""

from __future__ import annotations

import math
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..data.fetch import bundled
from ..data.lines import csv_number, csv_rows
from ..errors import DataError
from ..estimate import Estimate
from ..intervals import student
from .measure import SENTENCE

if TYPE_CHECKING:
    import pandas as pd


RECIPE = ("pair", "src", "trg", "scored", "n_train", "n", "steps", "smoothing")
"""What trainings must have in common to be averaged; scored: 8 digits that stand for the scored sentences."""

BITS = ("h_lm", "h_mt", "se", "h_lm_back", "h_mt_back", "se_back", "se_difference")
COLUMNS = (*RECIPE, "seed", "mi", *BITS)
"""The header of data/xmi_trainings.csv; se: standard errors over the sentences, for these models."""


def read_trainings(path: str | PathLike | None = None) -> pd.DataFrame:
    """The trainings in a table, a row each, with the XMI of both directions and their difference.

    Parameters
    ----------
    path : of a table that `write_trainings` has made; None: the one that comes with the package.

    Returns
    -------
    pair, src, trg; scored : 8 digits that stand for the scored sentences; n_train, n : pairs learned from and scored;
    steps; smoothing; seed; mi : true MI, nan where unknown;
    h_lm, h_mt, xmi of src → trg, and h_lm_back, h_mt_back, xmi_back of trg → src; difference = xmi - xmi_back; all in
    bits per sentence; se, se_back, se_difference : standard errors over sentences of xmi, xmi_back and difference.

    Raises
    ------
    DataError with file and line: another header, no number, a training twice.
    """
    import pandas as pd

    path = bundled("xmi_trainings.csv") if path is None else Path(path)
    rows, seen = [], set()
    for line, cells in csv_rows(path, COLUMNS):
        row: dict[str, Any] = dict(zip(COLUMNS, cells, strict=True))
        for name in COLUMNS[4:]:
            unknown = name == "mi" and not row[name]
            row[name] = math.nan if unknown else csv_number(row[name], name, path, line)
        row |= {name: int(row[name]) for name in ("n_train", "n", "steps", "seed")}
        if (key := tuple(row[name] for name in (*RECIPE, "seed"))) in seen:
            raise DataError(f"this training of '{row['pair']}' is listed twice.", path, line)
        seen.add(key)
        rows.append(row)
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    table["xmi"], table["xmi_back"] = table.h_lm - table.h_mt, table.h_lm_back - table.h_mt_back
    return table.assign(difference=table.xmi - table.xmi_back)


def mean_over_trainings(
    values: ArrayLike, ses: ArrayLike | None = None, *, name: str = "mean", unit: str = SENTENCE
) -> Estimate:
    """The mean of several trainings with Student's interval: what the recipe gives, and not one run of it.

    Without `ses` the interval counts the luck of trainings alone: it says where the mean of very many trainings would
    lie on these sentences. With `ses` the luck of the sentences comes on top, and the interval is one for other
    sentences of the same kind as well; a little too wide, as what a training and a sentence have together counts twice.

    Parameters
    ----------
    values : (K,) one number of each training, K at least 2. ses : (K,) their standard errors over sentences.
    name, unit : of the estimate.

    Returns
    -------
    Estimate, n = K trainings; the degrees of freedom are K - 1, with `ses` as Welch and Satterthwaite have them, and
    the interval is then at least as wide as without.

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
            raise DataError("a standard error is no finite number of at least 0.", "ses")
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
    """The standard deviation between trainings: how far one run of the recipe lies from its mean, with its interval.

    Parameters
    ----------
    values : (K,) one number of each training, K at least 2. name, unit : of the estimate.

    Returns
    -------
    Estimate, n = K trainings; the interval is that of chi-square, which takes trainings as normal. It is wide: with
    K = 5 it reaches from 0.6 to 2.9 times the value.

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
            f"values of shape {each.shape}: one finite number of each of at least 2 trainings is "
            "needed.",
            "values",
        )
    return each


def luck_table(table: pd.DataFrame) -> pd.DataFrame:
    """What one training of each pair may say about the directions by luck alone, a row per pair and label smoothing.

    Parameters
    ----------
    table : of `read_trainings`, at least 2 trainings of each pair and smoothing.

    Returns
    -------
    The columns that trainings of one recipe share (pair, src, trg, ..., smoothing); trainings : how many;
    difference : mean of XMI there less XMI back, bits per sentence; low, high : its 95 % interval over trainings and
    sentences; runs_low, runs_high : over trainings alone; spread : standard deviation between trainings; se :
    standard error of one training over sentences (root mean square); share : spread² / (spread² + se²), how much of
    the variance of one run is between trainings; decided : "there", "back", or "not told" where 0 is
    between low and high.
    """
    import pandas as pd

    rows = []
    for shared, part in table.groupby(list(RECIPE), sort=False):
        runs = mean_over_trainings(part.difference)
        both = mean_over_trainings(part.difference, part.se_difference)
        spread = training_spread(part.difference).value
        se = math.sqrt(float((part.se_difference**2).mean()))
        total = spread**2 + se**2
        rows.append(
            dict(zip(RECIPE, shared, strict=True))
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
                "decided": "there" if both.low > 0 else "back" if both.high < 0 else "not told",
            }
        )
    return pd.DataFrame(rows)
