"""The published results on cross-mutual information, read, recomputed and tested again (Bugliarello et al. 2020).

40 directions between English and 20 languages of Europarl, 2,000 test sentences each. H_LM, H_MT and XMI are in bits
per sentence, BLEU in points. Two things to know before one quotes them:

- H_LM of English is of one model, which predicts as many tokens as the translation model of bg-en. In the other 19
  directions into English the translation model predicts another number, from 0.86 tokens per sentence fewer (fr-en) to
  0.27 more (el-en): their XMI compares two segmentations. Out of English both models predict equally many (columns
  tokens_lm and tokens_mt of `read_results`).
- The 40 directions are no independent draws: English is in each, and a feature of the source has one value for 20.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import betainc

from .. import checks
from ..accuracy.bleu import scores, statistics
from ..data.catalog import bundled, find_file
from ..data.lines import csv_rows, read_lines
from ..errors import DataError
from ..stats import holm, pearson, spearman

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "FEATURES", "SCORES", "correlations", "published_table", "read_features", "read_results", "recomputed_bleu",
    "sides",
]  # fmt: skip

COLUMNS = ("direction", "src", "trg", "h_lm", "h_mt", "xmi", "bleu")
"""The header of data/xmi_published.csv."""

SCORES = {
    "h_lm": ("xent.lm.csv", "trg"), "h_mt": ("xent.mt.csv", "both"), "xmi": ("xmi.mt.csv", "both"),
    "bleu": ("bleu.mt.csv", "both"), "nll_lm": ("nll.lm.csv", "trg"), "nll_mt": ("nll.mt.csv", "both"),
    "ppl_lm": ("ppl.lm.csv", "trg"), "ppl_mt": ("ppl.mt.csv", "both"),
}  # fmt: skip
"""Column -> its file, and by what its rows are named: both languages, or the target, source or non-English one."""

FEATURES = {
    "src_mcc": ("mcc.csv", "src"), "trg_mcc": ("mcc.csv", "trg"),
    "src_adl": ("adl.csv", "src"), "trg_adl": ("adl.csv", "trg"),
    "src_hpe": ("hpe.csv", "src"), "trg_hpe": ("hpe.csv", "trg"),
    "genetic": ("genetic.wrt_en.csv", "other"), "syntactic": ("syntactic.wrt_en.csv", "other"),
    "featural": ("featural.wrt_en.csv", "other"), "phonological": ("phonological.wrt_en.csv", "other"),
    "inventory": ("inventory.wrt_en.csv", "other"), "geographic": ("geographic.wrt_en.csv", "other"),
    "token_ratio": ("rat_token_number.csv", "both"), "src_ttr": ("src_ttr.csv", "both"),
    "trg_ttr": ("tgt_ttr.csv", "both"), "ttr_distance": ("distance_ttr.csv", "both"),
    "word_overlap": ("word_overlap.csv", "both"),
}  # fmt: skip
"""The 17 features: morphological counting complexity, average dependency length and head-POS entropy of both languages,
six typological distances from English (URIEL), and five of the training texts (see `features`)."""


def published_table() -> pd.DataFrame:
    """The published table: how many bits per sentence each of 40 directions needs, saves, and its BLEU.

    Returns
    -------
    direction ("bg-en"), src, trg; h_lm, h_mt, xmi : bits per sentence, two decimals; bleu : points, one decimal.
    Each number is rounded by itself, so that xmi and h_lm − h_mt differ by up to 0.01.

    References
    ----------
    Bugliarello et al. 2020, Table 1 and eq. 3.

    >>> published_table().loc[0].tolist()
    ['bg-en', 'bg', 'en', 154.19, 51.85, 102.34, 47.4]
    """
    import pandas as pd

    path = bundled("xmi_published.csv")
    rows = [cells[:3] + [_number(cell, path, line) for cell in cells[3:]] for line, cells in csv_rows(path, COLUMNS)]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def read_results(folder: str | PathLike | None = None, split: str = "test") -> pd.DataFrame:
    """The results of every direction as the authors' files have them, to four decimals, a row per direction.

    Parameters
    ----------
    folder : with test/, valid/ and features/; None: the one of the data set "xmi".
    split : "test" or "valid".

    Returns
    -------
    direction, src, trg and SCORES: h_lm, h_mt, xmi in bits per sentence; bleu in points; nll_lm, nll_mt in bits per
    token; ppl_lm, ppl_mt, two to the power of these; and tokens_lm, tokens_mt = h / nll : tokens per sentence that each
    model predicts (known to about 0.001).

    Raises
    ------
    DataError with file and line: no such file, another header, no number, a row twice, a row that is missing.
    """
    folder = _results(folder) / checks.one_of(split, ("test", "valid"), "split")
    table = _joined(folder, _directions(folder / SCORES["xmi"][0]), SCORES)
    return table.assign(tokens_lm=table.h_lm / table.nll_lm, tokens_mt=table.h_mt / table.nll_mt)


def read_features(folder: str | PathLike | None = None) -> pd.DataFrame:
    """The 17 published features of each direction: direction, src, trg and FEATURES; folder and errors as read_results.

    Those of the training texts cannot be recomputed here, as these texts are not in the data set.
    """
    folder = _results(folder)
    return _joined(folder / "features", _directions(folder / "test" / SCORES["xmi"][0]), FEATURES)


def correlations(table: pd.DataFrame, features: pd.DataFrame, alpha: float = 0.05) -> pd.DataFrame:
    """How strongly each feature goes with XMI over the directions, and which of them three rules call significant.

    On the published results, Bonferroni's p < 0.05/17 = 0.0029 leaves three: the source's type-token ratio (Pearson
    −0.520, Spearman −0.514) and, in Spearman only, the distance of the ratios (−0.466). The paper's results name both
    features without that restriction (Pearson of the distance: p = 0.0042), its introduction only the first. Holm's
    method, with the same guarantee, rejects no less: it adds the head-POS entropy of the source in Pearson (0.457,
    p = 0.00306). Corrected for all 34 tests at once (0.0015), only the source's type-token ratio remains. All p-values
    take the directions as independent, which they are not: within the 20 directions into English, or the 20 out of it,
    no feature has p < 0.01, and on the validation set only the source's type-token ratio passes Bonferroni.

    Parameters
    ----------
    table : direction, xmi. features : direction and a column per feature (others than numbers are skipped).
    alpha : in (0, 1), the probability of any false rejection within one method's tests.

    Returns
    -------
    A row per feature and method: feature, method ("pearson", "spearman"), r, se (√((1 − r²)/(n − 2))), p (two-sided, t
    with n − 2 degrees of freedom), n, threshold (alpha over the tests of the method), p_holm, and uncorrected,
    bonferroni, holm: whether it is significant. A feature that does not vary has r and p nan and is no test.

    Raises
    ------
    DataError : no feature, fewer than 3 directions, one twice or without features, a value that is not finite, alpha.

    References
    ----------
    Bugliarello et al. 2020, Table 2 and App. D; Holm 1979.
    """
    import pandas as pd

    if not 0 < alpha < 1:
        raise DataError(f"alpha is {alpha}; it must be between 0 and 1.")
    y, columns = _aligned(table, features)
    n = len(y)
    if n < 3:
        raise DataError(f"a correlation needs at least 3 directions, and there are {n}.")
    x = np.array(list(columns.values())).reshape(-1, n)
    parts = []
    for method, correlate in (("pearson", pearson), ("spearman", spearman)):
        r = np.where((np.ptp(x, axis=1) > 0) & (np.ptp(y) > 0), correlate(x, np.broadcast_to(y, x.shape)), np.nan)
        rows = {"feature": list(columns), "method": method, "r": r, "se": np.sqrt((1 - r) * (1 + r) / (n - 2))}
        parts.append(pd.DataFrame(rows | _decisions(_two_sided(r, n), alpha) | {"n": n}))
    return pd.concat(parts, ignore_index=True)


def sides(table: pd.DataFrame) -> pd.DataFrame:
    """Into and out of English: mean XMI and mean BLEU with standard errors, and how the two correlate.

    Returns
    -------
    A row per side ("into", "out of"): n directions, xmi, xmi_se (bits), bleu, bleu_se (points), pearson, pearson_se, p.

    >>> sides(published_table())[["side", "n", "xmi", "pearson"]].round(3).to_numpy().tolist()
    [['into', 20, 96.906, 0.961], ['out of', 20, 102.162, 0.645]]
    """
    import pandas as pd

    rows = []
    for side, part in (("into", table[table.trg == "en"]), ("out of", table[table.src == "en"])):
        n, r = len(part), float(pearson(part.xmi, part.bleu)) if len(part) > 2 else math.nan
        row = {"side": side, "n": n}
        for name in ("xmi", "bleu"):
            row |= {name: part[name].mean(), f"{name}_se": part[name].std() / math.sqrt(n) if n > 1 else math.nan}
        spread = math.sqrt((1 - r) * (1 + r) / (n - 2)) if n > 2 else math.nan
        rows.append(row | {"pearson": r, "pearson_se": spread, "p": float(_two_sided(np.array(r), n))})
    return pd.DataFrame(rows)


def recomputed_bleu(folder: str | PathLike | None = None) -> pd.DataFrame:
    """BLEU computed anew from output files: a folder per direction ("bg2en") with preds.test and truth.test.

    Parameters
    ----------
    folder : of these folders; None: the one of the data set "xmi", with 12 directions.

    Returns
    -------
    direction, bleu (points, sacreBLEU's value with tokeniser 13a), n (sentences).
    """
    import pandas as pd

    folder = find_file("xmi") / "outputs" if folder is None else Path(folder)
    rows = []
    for place in sorted(folder.glob("*2*")):
        hyps, refs = read_lines(place / "preds.test"), read_lines(place / "truth.test")
        n = checks.same_length(**{f"{place.name}/preds.test": hyps, f"{place.name}/truth.test": refs})
        counts = statistics(hyps, [refs]).sum(0)
        rows.append((place.name.replace("2", "-"), float(scores(counts, effective_order=False)), n))
    if not rows:
        raise DataError("holds no folder of outputs such as bg2en; give the folder that has them.", folder)
    return pd.DataFrame(rows, columns=["direction", "bleu", "n"])


def _results(folder: str | PathLike | None) -> Path:
    return find_file("xmi") / "results" if folder is None else Path(folder)


def _number(cell: str, path: Path, line: int) -> float:
    try:
        value = float(cell)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise DataError(f"'{cell}' is no finite number.", path, line)
    return value


def _values(path: Path, by: str) -> dict[tuple[str, ...], float]:
    """The values of a file, by (language,) or (source, target)."""
    header = ("src", "tgt", "value") if by == "both" else ("lang", "value")
    values: dict[tuple[str, ...], float] = {}
    for line, (*key, cell) in csv_rows(path, header):
        if tuple(key) in values:
            raise DataError(f"{'-'.join(key)} is listed twice; keep one row.", path, line)
        values[tuple(key)] = _number(cell, path, line)
    return values


def _directions(path: Path) -> list[tuple[str, str]]:
    return list(_values(path, "both"))


def _joined(folder: Path, pairs: list[tuple[str, str]], files: Mapping[str, tuple[str, str]]) -> pd.DataFrame:
    """direction, src, trg, and a column per file."""
    import pandas as pd

    columns: dict[str, Sequence] = {
        "direction": [f"{src}-{trg}" for src, trg in pairs], "src": [s for s, _ in pairs], "trg": [t for _, t in pairs],
    }  # fmt: skip
    for name, (file, by) in files.items():
        values = _values(folder / file, by)
        keys = [{"both": (s, t), "src": (s,), "trg": (t,), "other": (s if t == "en" else t,)}[by] for s, t in pairs]
        lacking = [key for key in keys if key not in values]
        if lacking:
            raise DataError(f"has no row for {'-'.join(lacking[0])}, which has an XMI; add it.", folder / file)
        columns[name] = [values[key] for key in keys]
    return pd.DataFrame(columns)


def _aligned(table: pd.DataFrame, features: pd.DataFrame) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """XMI of each direction, and the numbers of each feature in the same order."""
    for what, frame in (("table", table), ("features", features)):
        twice = frame.direction[frame.direction.duplicated()]
        if len(twice):
            raise DataError(f"direction {twice.iloc[0]} comes twice in the {what}; keep one row.")
    numbers = features.set_index("direction").select_dtypes("number").astype(float)
    if numbers.empty:
        raise DataError("the features have no column of numbers, or no row; give at least one feature.")
    unknown = [direction for direction in table.direction if direction not in numbers.index]
    if unknown:
        raise DataError(f"direction {unknown[0]} has no features; leave it out or add them.")
    joined = numbers.loc[list(table.direction)]
    columns = {"xmi": table.xmi.to_numpy(float)} | {str(name): joined[name].to_numpy() for name in joined}
    for name, values in columns.items():
        if not np.isfinite(values).all():
            bad = table.direction.iloc[int(np.flatnonzero(~np.isfinite(values))[0])]
            raise DataError(f"{name} of {bad} is no finite number; leave the direction or the feature out.")
    return columns.pop("xmi"), columns


def _two_sided(r: np.ndarray, n: int) -> np.ndarray:
    """P(|R| ≥ |r|) where there is no correlation: Student's t with n − 2 degrees of freedom, as an incomplete beta."""
    return betainc((n - 2) / 2, 0.5, (1 - r) * (1 + r)) if n > 2 else np.full_like(r, np.nan)


def _decisions(p: np.ndarray, alpha: float) -> dict[str, np.ndarray | float]:
    """p-values with their corrections."""
    threshold, adjusted = alpha / max(1, int(np.isfinite(p).sum())), holm(p)
    return {
        "p": p, "threshold": threshold, "p_holm": adjusted,
        "uncorrected": p < alpha, "bonferroni": p < threshold, "holm": adjusted < alpha,
    }  # fmt: skip
