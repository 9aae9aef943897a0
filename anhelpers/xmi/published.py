"""The published results on cross-mutual information (Bugliarello et al. 2020).

40 directions between English and 20 languages of Europarl, 2,000 test sentences each. H_LM, H_MT
and XMI are in bits per sentence, BLEU in points. Before citing them, note:

- The bits per sentence leave out one mean token each: eval_mt.py and eval_lm.py of the authors'
  repository print ``avg_nll_loss*(count-len(dataset))/len(dataset)``, where loss and count include
  the ends of the sentences. Eq. 2 includes the end. With it (`count="all"`), h_lm grows by nll_lm,
  h_mt by nll_mt and XMI by their difference, 2.6 to 3.5 bits: mean XMI is 99.84 into English and
  105.32 out of it, not 96.91 and 102.16. All 20 languages keep the sign of their difference. r with
  BLEU changes from 0.961 to 0.960 and from 0.645 to 0.631. By Bonferroni, the head-POS entropy of
  the source becomes significant (Pearson), and the distance of the ratios does not stay so.
  Compare your scores, summed over all tokens, with ``count="all"``, or count them as the table does:
  ``xmi(..., count="published")``.
- H_LM of English is of one model, which predicts as many tokens as the translation model of bg-en.
  In the other 19 directions into English the translation model predicts a different number, from 0.86
  tokens per sentence fewer (fr-en) to 0.27 more (el-en): their XMI compares two segmentations. Out
  of English both models predict equally many (`token_gap`).
- The 40 directions are not independent: English is in each, and a feature of the source has one
  value in 20 of them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from os import PathLike
from pathlib import Path

from .. import checks
from .._lazy import pd
from ..accuracy.surface import surface_metric
from ..data.io import read_lines, read_table
from ..data.sets import bundled, find_file
from ..errors import DataError
from ..stats import correlation_p, pearson
from .measure import COUNTS

_NUMBERS = ("h_lm", "h_mt", "xmi", "bleu")
# Column to its file, and to what its rows are of: the target language, or the direction.
_SCORES = {
    "h_lm": ("xent.lm.csv", "trg"),
    "h_mt": ("xent.mt.csv", "direction"),
    "xmi": ("xmi.mt.csv", "direction"),
    "bleu": ("bleu.mt.csv", "direction"),
    "nll_lm": ("nll.lm.csv", "trg"),
    "nll_mt": ("nll.mt.csv", "direction"),
    "ppl_lm": ("ppl.lm.csv", "trg"),
    "ppl_mt": ("ppl.mt.csv", "direction"),
}

_FEATURES = {
    "src_mcc": ("mcc.csv", "src", "source morphology"),
    "trg_mcc": ("mcc.csv", "trg", "target morphology"),
    "src_adl": ("adl.csv", "src", "source dep. length"),
    "trg_adl": ("adl.csv", "trg", "target dep. length"),
    "src_hpe": ("hpe.csv", "src", "source POS entropy"),
    "trg_hpe": ("hpe.csv", "trg", "target POS entropy"),
    "genetic": ("genetic.wrt_en.csv", "other", "genetic distance"),
    "syntactic": ("syntactic.wrt_en.csv", "other", "syntactic distance"),
    "featural": ("featural.wrt_en.csv", "other", "featural distance"),
    "phonological": ("phonological.wrt_en.csv", "other", "phonological distance"),
    "inventory": ("inventory.wrt_en.csv", "other", "inventory distance"),
    "geographic": ("geographic.wrt_en.csv", "other", "geographic distance"),
    "token_ratio": ("rat_token_number.csv", "direction", "token ratio"),
    "src_ttr": ("src_ttr.csv", "direction", "source TTR"),
    "trg_ttr": ("tgt_ttr.csv", "direction", "target TTR"),
    "ttr_distance": ("distance_ttr.csv", "direction", "TTR distance"),
    "word_overlap": ("word_overlap.csv", "direction", "word overlap"),
}
# The 17 features, each with its file and what its rows are of: morphological counting complexity,
# average dependency length and head-POS entropy of both languages, six typological distances from
# English (URIEL), and five of the training texts (see `features`).
FEATURES = {name: row[:2] for name, row in _FEATURES.items()}
# Readable names of the features, for tables and charts.
FEATURE_NAMES = {name: row[2] for name, row in _FEATURES.items()}


def find_outputs(folder: str | PathLike | None = None) -> dict[str, Path]:
    """Return the folder of each direction that has translations, by the name of the direction.

    Parameters
    ----------
    folder : path, optional
        The data set "xmi" (the default), a checkout of the authors' repository, or a folder with
        a folder per direction, such as bg2en, with preds.test and truth.test in it.

    Returns
    -------
    "bg-en" to its folder, sorted; empty without translations.
    """
    folder = find_file("xmi") if folder is None else Path(folder)
    found: dict[str, Path] = {}
    for layout in ("*", "outputs/*", "experiments/*/outputs"):
        for place in sorted(path.parent for path in folder.glob(f"{layout}/preds.test")):
            name = place.parent.name if place.name == "outputs" else place.name
            found.setdefault(name.replace("2", "-"), place)
    return found


def published_table(count: str = "published") -> pd.DataFrame:
    """Return the bundled Table 1 of the paper: XMI and BLEU of 40 directions.

    Parameters
    ----------
    count : str
        "published": as printed. "all": with the ends of the sentences, as in eq. 2 and in `xmi`.

    Returns
    -------
    direction ("bg-en"), src, trg; h_lm, h_mt, xmi : bits per sentence, two decimals; bleu : points,
    one decimal. Each is rounded by itself, so that xmi and h_lm − h_mt differ by up to 0.01.

    References
    ----------
    Bugliarello et al. 2020, Table 1 and eq. 3.

    >>> published_table().loc[0].tolist()
    ['bg-en', 'bg', 'en', 154.19, 51.85, 102.34, 47.4]
    >>> published_table("all").loc[0, ["h_lm", "h_mt", "xmi"]].astype(float).round(2).tolist()
    [158.89, 53.43, 105.46]
    """
    table = _bundled("xmi_published.csv", _NUMBERS)
    if checks.one_of(count, COUNTS, "count") == "published":
        return table
    return _with_ends(table.merge(_tokens(), on="direction"))[list(table)]


def read_results(
    folder: str | PathLike | None = None, split: str = "test", count: str = "published"
) -> pd.DataFrame:
    """Read the results of every direction from the authors' files, to four decimals.

    Parameters
    ----------
    folder : path, optional
        Their folder results, or one with it, such as the data set "xmi" (the default).
    split : str
        "test" or "valid".
    count : str
        As in `published_table`.

    Returns
    -------
    direction, src, trg; h_lm, h_mt, xmi in bits per sentence; bleu in points; nll_lm, nll_mt in
    bits per token; ppl_lm, ppl_mt, two to the power of these; tokens_lm, tokens_mt = h / nll :
    tokens per sentence that each model predicts, to about 0.001; without the sentence's end, or
    with it if `count` is "all".

    Raises
    ------
    DataError : with its file, a missing file, column or row, a repeated row, a malformed number.
    """
    checks.one_of(split, ("test", "valid"), "split")
    checks.one_of(count, COUNTS, "count")
    table = _joined(_results(folder) / split, _SCORES, split)
    table = _with_ends(table) if count == "all" else table
    return table.assign(tokens_lm=table.h_lm / table.nll_lm, tokens_mt=table.h_mt / table.nll_mt)


def read_features(folder: str | PathLike | None = None) -> pd.DataFrame:
    """Return the 17 published features of each direction.

    Parameters
    ----------
    folder : path, optional
        As in `read_results`, with the same numbers; by default the bundled table.

    Returns
    -------
    direction, src, trg and FEATURES; 40 directions in the order of `published_table`.

    >>> read_features().shape
    (40, 20)
    """
    if folder is None:
        return _bundled("xmi_features.csv", tuple(FEATURES))
    return _joined(_results(folder) / "features", FEATURES)


def sides(table: pd.DataFrame) -> pd.DataFrame:
    """Mean XMI and BLEU into and out of English with standard errors, and their correlation.

    Returns
    -------
    A row per side ("into", "out of"): n directions, xmi, xmi_se (bits), bleu, bleu_se (points),
    pearson, pearson_se, p.

    >>> sides(published_table())[["side", "n", "xmi", "pearson"]].round(3).to_numpy().tolist()
    [['into', 20, 96.906, 0.961], ['out of', 20, 102.162, 0.645]]
    """
    rows = []
    for side, part in (("into", table[table.trg == "en"]), ("out of", table[table.src == "en"])):
        n, r = len(part), float(pearson(part.xmi, part.bleu)) if len(part) > 2 else math.nan
        row = {"side": side, "n": n}
        for name in ("xmi", "bleu"):
            se = part[name].std() / math.sqrt(n) if n > 1 else math.nan
            row |= {name: part[name].mean(), f"{name}_se": se}
        spread = math.sqrt((1 - r) * (1 + r) / (n - 2)) if n > 2 else math.nan
        rows.append(row | {"pearson": r, "pearson_se": spread, "p": float(correlation_p(r, n))})
    return pd.DataFrame(rows)


def token_gap(results: pd.DataFrame | None = None) -> pd.DataFrame:
    """Tokens per sentence that the translation model predicts more than the language model.

    Tokens are bits per sentence over bits per token. These are rounded, so a gap is known within
    `slack`; a larger one shows that the two models segment the target differently.

    Parameters
    ----------
    results : DataFrame, optional
        From `read_results`, to four decimals; by default the bundled numbers, to two.

    Returns
    -------
    direction, src, trg, nll_lm, nll_mt (bits per token), tokens_lm, tokens_mt (per sentence), gap
    (mt - lm), slack, same : whether the gap is within it.

    >>> token_gap().query("not same").trg.value_counts().to_dict()
    {'en': 19}
    """
    half = 0.005 if results is None else 0.00005
    table = published_table().merge(_tokens(), on="direction") if results is None else results
    table = table.assign(tokens_lm=table.h_lm / table.nll_lm, tokens_mt=table.h_mt / table.nll_mt)
    off = {
        side: half / table[f"nll_{side}"] + 0.00005 * table[f"tokens_{side}"] / table[f"nll_{side}"]
        for side in ("lm", "mt")
    }
    table = table.assign(gap=table.tokens_mt - table.tokens_lm, slack=off["lm"] + off["mt"])
    columns = "direction src trg nll_lm nll_mt tokens_lm tokens_mt gap slack"
    return table[columns.split()].assign(same=table.gap.abs() <= table.slack)


def recomputed_bleu(folder: str | PathLike | None = None) -> pd.DataFrame:
    """Compute BLEU from the translations in a folder.

    Parameters
    ----------
    folder : path, optional
        As in `find_outputs`; the data set "xmi" has 12 directions.

    Returns
    -------
    direction, bleu (points, sacreBLEU's value with tokeniser 13a), n (sentences).
    """
    bleu, rows = surface_metric("bleu"), []
    for direction, place in find_outputs(folder).items():
        hyps, refs = read_lines(place / "preds.test"), read_lines(place / "truth.test")
        n = checks.same_length(**{f"{place}/preds.test": hyps, "truth.test": refs})
        assert bleu.score_corpus is not None  # of every surface metric
        rows.append((direction, bleu.score_corpus(hyps, [refs]), n))
    return pd.DataFrame(rows, columns=["direction", "bleu", "n"])


def _results(folder: str | PathLike | None) -> Path:
    """The authors' folder of results, which has test/, valid/ and features/."""
    folder = find_file("xmi") if folder is None else Path(folder)
    return folder / "results" if (folder / "results").is_dir() else folder


def _bundled(name: str, numbers: tuple[str, ...]) -> pd.DataFrame:
    """A table of the package: direction, src, trg and numbers."""
    texts = dict.fromkeys(("direction", "src", "trg"), str)
    table = read_table(bundled(name), texts | dict.fromkeys(numbers, float))
    return table.reset_index(drop=True)


def _tokens() -> pd.DataFrame:
    """direction, nll_lm and nll_mt of the bundled table."""
    return _bundled("xmi_tokens.csv", ("nll_lm", "nll_mt")).drop(columns=["src", "trg"])


def _with_ends(table: pd.DataFrame) -> pd.DataFrame:
    """Bits per sentence with one mean token more, for the sentence's end."""
    h_lm, h_mt = table.h_lm + table.nll_lm, table.h_mt + table.nll_mt
    return table.assign(h_lm=h_lm, h_mt=h_mt, xmi=table.xmi + (table.nll_lm - table.nll_mt))


def _values(path: Path, by: str) -> pd.Series:
    """The values of a file by language or direction."""
    keys = ["src", "tgt"] if by == "direction" else ["lang"]
    table = read_table(path, dict.fromkeys(keys, str) | {"value": float}, keys=keys)
    return table.set_index(table[keys].agg("-".join, axis=1)).value


def _joined(
    folder: Path, files: Mapping[str, tuple[str, str]], split: str = "test"
) -> pd.DataFrame:
    """direction, src, trg, and a column per file, of the directions with an XMI."""
    table = pd.DataFrame(
        {"direction": _values(folder.parent / split / "xmi.mt.csv", "direction").index}
    )
    table[["src", "trg"]] = table.direction.str.split("-", expand=True)
    other = table.src.where(table.trg == "en", table.trg)
    for name, (file, by) in files.items():
        values = _values(folder / file, by).reindex(other if by == "other" else table[by])
        if values.isna().any():
            raise DataError(f"no value of {values.index[values.isna()][0]}.", folder / file)
        table[name] = values.to_numpy()
    return table
