"""The published results on cross-mutual information, read, recomputed and tested again (Bugliarello et al. 2020).

40 directions between English and 20 languages of Europarl, 2,000 test sentences each. H_LM, H_MT and XMI are in bits
per sentence, BLEU in points. Three things to know before one quotes them:

- The bits per sentence leave out one token's worth each: eval_mt.py and eval_lm.py of the authors' repository print
  ``avg_nll_loss*(count-len(dataset))/len(dataset)``, where loss and count include the ends of the sentences. Eq. 2 sums
  over the end, too; so counted, h_lm grows by nll_lm, h_mt by nll_mt and XMI by their difference, 2.6 to 3.5 bits
  (`count="all"`). Mean XMI is then 99.84 into English and 105.32 out of it, instead of 96.91 and 102.16. All 20
  languages keep their sign, r with BLEU goes from 0.961 to 0.960 and from 0.645 to 0.631; among the correlations with
  features, Bonferroni then passes the head-POS entropy of the source (Pearson) and no longer the distance of the
  ratios. The figures alone cannot show it, for h / nll is a number of tokens that does not say which; the scripts do.
  One may well count that way: the paper multiplies "by the number of sub-word units", of which the end of a sentence
  is arguably none, and all rows are treated alike. What is left out is a mean token, though, and not the end's own
  bits. Scores of one's own, summed over all tokens, are larger by as much: compare them with ``count="all"``, or count
  them as the table does (``xmi(..., count="published")``).
- H_LM of English is of one model, which predicts as many tokens as the translation model of bg-en. In the other 19
  directions into English the translation model predicts another number, from 0.86 tokens per sentence fewer (fr-en) to
  0.27 more (el-en): their XMI compares two segmentations. Out of English both models predict equally many (columns
  tokens_lm and tokens_mt of `read_results`).
- The 40 directions are no independent draws: English is in each, and a feature of the source has one value for 20.

The files, results and translations, are found in every layout they come in.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from .. import checks
from ..accuracy.surface import surface
from ..data.fetch import bundled
from ..data.io import read_lines, read_table
from ..data.sets import find_file
from ..errors import DataError
from ..stats import correlation_p, pearson
from .measure import COUNTS

if TYPE_CHECKING:
    import pandas as pd


DIRECTION = re.compile(r"([a-z]{2})2([a-z]{2})")  # the folder of a direction: "en2de"


def find_results(folder: str | PathLike | None = None) -> Path:
    """The folder of the authors' results, which has test/, valid/ and features/.

    Parameters
    ----------
    folder : that folder itself, or one with results/ in it: the data set "xmi", or a checkout of the authors'
        repository; None: the data set "xmi".

    Raises
    ------
    DataError where there are none.
    """
    folder = find_file("xmi") if folder is None else Path(folder)
    for place in (folder, folder / "results"):
        if _is_results(place):
            return place
    told = "this folder has none of the results" if folder.is_dir() else "there is no such folder"
    move = "name the authors' repository, its folder results, or a folder with results/test/ in it"
    raise DataError(f"{told}; {move}.", folder)


def find_outputs(folder: str | PathLike | None = None) -> dict[str, Path]:
    """The folder of each direction whose translations are here: "bg-en" -> one with preds.test and truth.test.

    Parameters
    ----------
    folder : of such folders ("bg2en"); or any that `find_results` takes: then they are looked for in outputs/, as in
        the data set "xmi", and in experiments/bg2en/outputs/, as in the authors' repository, also where the folder of
        results alone is named and they lie beside it. None: the data set "xmi".

    Returns
    -------
    The directions in the order of their names; none where there are no translations.
    """
    folder = find_file("xmi") if folder is None else Path(folder)
    folder = folder.absolute()
    roots = [folder, folder / "outputs", folder / "experiments"]
    if _is_results(folder):
        roots += [folder.parent / "outputs", folder.parent / "experiments"]
    found: dict[str, Path] = {}
    for root in roots:
        for place in sorted(root.iterdir()) if root.is_dir() else ():
            named = DIRECTION.fullmatch(place.name)
            here = next(
                (p for p in (place, place / "outputs") if (p / "preds.test").is_file()), None
            )
            if named and here:
                found.setdefault(f"{named[1]}-{named[2]}", here)
    return found


def _is_results(folder: Path) -> bool:
    return any((folder / split / "xmi.mt.csv").is_file() for split in ("test", "valid"))


COLUMNS = ("direction", "src", "trg", "h_lm", "h_mt", "xmi", "bleu")
"""The header of data/xmi_published.csv."""

TOKEN_COLUMNS = ("direction", "src", "trg", "nll_lm", "nll_mt")
"""The header of data/xmi_tokens.csv."""

SCORES = {
    "h_lm": ("xent.lm.csv", "trg"),
    "h_mt": ("xent.mt.csv", "both"),
    "xmi": ("xmi.mt.csv", "both"),
    "bleu": ("bleu.mt.csv", "both"),
    "nll_lm": ("nll.lm.csv", "trg"),
    "nll_mt": ("nll.mt.csv", "both"),
    "ppl_lm": ("ppl.lm.csv", "trg"),
    "ppl_mt": ("ppl.mt.csv", "both"),
}
"""Column -> its file, and by what its rows are named: both languages, or the target, source or non-English one."""

FEATURES = {
    "src_mcc": ("mcc.csv", "src"),
    "trg_mcc": ("mcc.csv", "trg"),
    "src_adl": ("adl.csv", "src"),
    "trg_adl": ("adl.csv", "trg"),
    "src_hpe": ("hpe.csv", "src"),
    "trg_hpe": ("hpe.csv", "trg"),
    "genetic": ("genetic.wrt_en.csv", "other"),
    "syntactic": ("syntactic.wrt_en.csv", "other"),
    "featural": ("featural.wrt_en.csv", "other"),
    "phonological": ("phonological.wrt_en.csv", "other"),
    "inventory": ("inventory.wrt_en.csv", "other"),
    "geographic": ("geographic.wrt_en.csv", "other"),
    "token_ratio": ("rat_token_number.csv", "both"),
    "src_ttr": ("src_ttr.csv", "both"),
    "trg_ttr": ("tgt_ttr.csv", "both"),
    "ttr_distance": ("distance_ttr.csv", "both"),
    "word_overlap": ("word_overlap.csv", "both"),
}
"""The 17 features: morphological counting complexity, average dependency length and head-POS entropy of both languages,
six typological distances from English (URIEL), and five of the training texts (see `features`)."""

FEATURE_NAMES = {
    "src_mcc": "source morphology",
    "trg_mcc": "target morphology",
    "src_adl": "source dep. length",
    "trg_adl": "target dep. length",
    "src_hpe": "source POS entropy",
    "trg_hpe": "target POS entropy",
    "genetic": "genetic distance",
    "syntactic": "syntactic distance",
    "featural": "featural distance",
    "phonological": "phonological distance",
    "inventory": "inventory distance",
    "geographic": "geographic distance",
    "token_ratio": "token ratio",
    "src_ttr": "source TTR",
    "trg_ttr": "target TTR",
    "ttr_distance": "TTR distance",
    "word_overlap": "word overlap",
}
"""What FEATURES are called in pictures and tables. TTR: type-token ratio."""


def published_table(count: str = "published") -> pd.DataFrame:
    """The published table: how many bits per sentence each of 40 directions needs, saves, and its BLEU.

    Parameters
    ----------
    count : "published": as printed. "all": with the ends of the sentences, as eq. 2 has it and as `xmi` counts scores
        of one's own (see the module).

    Returns
    -------
    direction ("bg-en"), src, trg; h_lm, h_mt, xmi : bits per sentence, two decimals; bleu : points, one decimal.
    Each number is rounded by itself, so that xmi and h_lm − h_mt differ by up to 0.01.

    References
    ----------
    Bugliarello et al. 2020, Table 1 and eq. 3.

    >>> published_table().loc[0].tolist()
    ['bg-en', 'bg', 'en', 154.19, 51.85, 102.34, 47.4]
    >>> published_table("all").loc[0, ["h_lm", "h_mt", "xmi"]].astype(float).round(2).tolist()
    [158.89, 53.43, 105.46]
    """
    table = _bundled_table("xmi_published.csv", COLUMNS)
    if checks.one_of(count, COUNTS, "count") == "published":
        return table
    return _with_ends(table.merge(_tokens(), on="direction"))[list(COLUMNS)]


def _tokens() -> pd.DataFrame:
    """direction, nll_lm, nll_mt of the table that comes with the package."""
    return _bundled_table("xmi_tokens.csv", TOKEN_COLUMNS).drop(columns=["src", "trg"])


def _with_ends(table: pd.DataFrame) -> pd.DataFrame:
    """Bits per sentence with one mean token more: that of the sentence's end."""
    more = table.nll_lm - table.nll_mt
    return table.assign(
        h_lm=table.h_lm + table.nll_lm, h_mt=table.h_mt + table.nll_mt, xmi=table.xmi + more
    )


def read_results(
    folder: str | PathLike | None = None, split: str = "test", count: str = "published"
) -> pd.DataFrame:
    """The results of every direction as the authors' files have them, to four decimals, a row per direction.

    Parameters
    ----------
    folder : as in `find_results`; None: the one of the data set "xmi".
    split : "test" or "valid". count : as in `published_table`.

    Returns
    -------
    direction, src, trg and SCORES: h_lm, h_mt, xmi in bits per sentence; bleu in points; nll_lm, nll_mt in bits per
    token; ppl_lm, ppl_mt, two to the power of these; and tokens_lm, tokens_mt = h / nll : tokens per sentence that each
    model predicts, without the sentence's end or, where `count` is "all", with it (known to about 0.001).

    Raises
    ------
    DataError with file and line: no such file, another header, no number, a row twice, a row that is missing.
    """
    checks.one_of(split, ("test", "valid"), "split")
    checks.one_of(count, COUNTS, "count")
    folder = find_results(folder) / split
    table = _joined(folder, _directions(folder / SCORES["xmi"][0]), SCORES)
    table = _with_ends(table) if count == "all" else table
    return table.assign(tokens_lm=table.h_lm / table.nll_lm, tokens_mt=table.h_mt / table.nll_mt)


def read_features(folder: str | PathLike | None = None) -> pd.DataFrame:
    """The 17 published features of each direction, which come with the package.

    Those of the training texts cannot be recomputed here, as these texts are in no data set.

    Parameters
    ----------
    folder : None: the bundled table; else as in `find_results`, such as the data set "xmi", whose figures are
        the same. Errors as in `read_results`.

    Returns
    -------
    direction, src, trg and FEATURES; 40 directions in the order of `published_table`.

    >>> read_features().shape
    (40, 20)
    """
    if folder is None:
        return _bundled_table("xmi_features.csv", COLUMNS[:3] + tuple(FEATURES))
    folder = find_results(folder)
    return _joined(folder / "features", _directions(folder / "test" / SCORES["xmi"][0]), FEATURES)


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
            row |= {
                name: part[name].mean(),
                f"{name}_se": part[name].std() / math.sqrt(n) if n > 1 else math.nan,
            }
        spread = math.sqrt((1 - r) * (1 + r) / (n - 2)) if n > 2 else math.nan
        rows.append(row | {"pearson": r, "pearson_se": spread, "p": float(correlation_p(r, n))})
    return pd.DataFrame(rows)


def token_gap(results: pd.DataFrame | None = None) -> pd.DataFrame:
    """How many tokens per sentence the translation model predicts more than the language model, per direction.

    Tokens are bits per sentence over bits per token. All figures are rounded, so a gap is known within `slack`; only
    where it is larger do the two models surely segment the target differently.

    Parameters
    ----------
    results : from `read_results`, to four decimals; None: the bundled figures, with bits per sentence to two decimals.

    Returns
    -------
    direction, src, trg, nll_lm, nll_mt (bits per token), tokens_lm, tokens_mt (per sentence), gap (mt - lm), slack,
    same : whether the gap is within it.

    >>> token_gap().query("not same").trg.value_counts().to_dict()
    {'en': 19}
    """
    if results is None:
        bits, half = published_table(), 0.005
        table = bits.merge(_tokens(), on="direction")
    else:
        table, half = results, 0.00005
    table = table.assign(tokens_lm=table.h_lm / table.nll_lm, tokens_mt=table.h_mt / table.nll_mt)
    off = {
        side: half / table[f"nll_{side}"] + 0.00005 * table[f"tokens_{side}"] / table[f"nll_{side}"]
        for side in ("lm", "mt")
    }
    table = table.assign(gap=table.tokens_mt - table.tokens_lm, slack=off["lm"] + off["mt"])
    columns = [*TOKEN_COLUMNS, "tokens_lm", "tokens_mt", "gap", "slack"]
    return table[columns].assign(same=table.gap.abs() <= table.slack)


def recomputed_bleu(folder: str | PathLike | None = None) -> pd.DataFrame:
    """BLEU computed anew from output files: a folder per direction ("bg2en") with preds.test and truth.test.

    Parameters
    ----------
    folder : as in `find_outputs`; None: the data set "xmi", with 12 directions.

    Returns
    -------
    direction, bleu (points, sacreBLEU's value with tokeniser 13a), n (sentences).
    """
    import pandas as pd

    bleu, rows = surface("bleu"), []
    for direction, place in find_outputs(folder).items():
        hyps, refs = read_lines(place / "preds.test"), read_lines(place / "truth.test")
        name = direction.replace("-", "2")
        n = checks.same_length(**{f"{name}/preds.test": hyps, f"{name}/truth.test": refs})
        rows.append((direction, float(bleu.corpus_scores(bleu.statistics(hyps, [refs]).sum(0))), n))
    if not rows:
        raise DataError(
            "holds no folder of outputs such as bg2en; give the folder that has them.", folder
        )
    return pd.DataFrame(rows, columns=["direction", "bleu", "n"])


def _bundled_table(name: str, header: tuple[str, ...]) -> pd.DataFrame:
    """direction, src, trg and numbers, from a table that comes with the package."""

    columns = dict.fromkeys(header[:3], str) | dict.fromkeys(header[3:], float)
    return read_table(bundled(name), columns)[list(header)]


def _values(path: Path, by: str) -> dict[tuple[str, ...], float]:
    """The values of a file, by (language,) or (source, target)."""
    header = ("src", "tgt", "value") if by == "both" else ("lang", "value")
    table = read_table(path, dict.fromkeys(header[:-1], str) | {"value": float})
    keys = list(zip(*(table[name] for name in header[:-1]), strict=True))
    if len(set(keys)) < len(keys) or table["value"].isna().any():
        raise DataError("expected one value for each language or direction.", path)
    return dict(zip(keys, table["value"].tolist(), strict=True))


def _directions(path: Path) -> list[tuple[str, str]]:
    return [(src, trg) for src, trg in _values(path, "both")]


def _joined(
    folder: Path, pairs: list[tuple[str, str]], files: Mapping[str, tuple[str, str]]
) -> pd.DataFrame:
    """direction, src, trg, and a column per file."""
    import pandas as pd

    columns: dict[str, Sequence] = {
        "direction": [f"{src}-{trg}" for src, trg in pairs],
        "src": [s for s, _ in pairs],
        "trg": [t for _, t in pairs],
    }
    for name, (file, by) in files.items():
        values = _values(folder / file, by)
        keys = [
            {"both": (s, t), "src": (s,), "trg": (t,), "other": (s if t == "en" else t,)}[by]
            for s, t in pairs
        ]
        lacking = [key for key in keys if key not in values]
        if lacking:
            raise DataError(
                f"has no row for {'-'.join(lacking[0])}, which has an XMI; add it.", folder / file
            )
        columns[name] = [values[key] for key in keys]
    return pd.DataFrame(columns)
