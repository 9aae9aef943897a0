"""Ratings of a class: one CSV file per rater, pooled into a tidy table; the raters' agreement; the plane."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from .. import bootstrap, checks
from ..bootstrap import Resamples, bootstrap_means, cluster_sums, few_clusters, score_intervals
from ..data.human import TextRatings, load_ratings, ratings_beside
from ..data.io import read_table
from ..data.schema import CandidateSet, systems_of
from ..errors import DataError
from ..estimate import Estimate
from .sheet import COLUMNS, CRITERIA, SCALE, Cell, _Sheet

_LEVELS = ("nominal", "ordinal", "interval")
_CELL = ["segment", "candidate", "criterion"]
_NAME = r"[^./\\][^/\\]*"  # a pseudonym is the name of a file, too
# an invented rater's standard deviations: of the leniency, and of a repeated rating
_LENIENCY, _NOISE = 0.35, 0.6


@dataclass(frozen=True, eq=False, repr=False)
class ClassRatings:
    """The ratings of several people of one sheet.

    Parameters
    ----------
    table : DataFrame
        A row per rater and requested rating, with the columns COLUMNS; nan where missing.
    notes : tuple of str
        What to print beside the ratings, such as how many are missing.
    """

    table: pd.DataFrame
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        n, asked = int(self.table.rating.notna().sum()), len(self.table)
        who = f"{len(self.raters)} rater{'s' * (len(self.raters) != 1)}"
        return f"ClassRatings(sheet {self.table.sheet.iloc[0]}: {n} of {asked} ratings by {who})"

    @property
    def raters(self) -> tuple[str, ...]:
        """The pseudonyms, in the order of the files."""
        return tuple(self.table.rater.unique())

    def matrix(self, criterion: str) -> pd.DataFrame:
        """Ratings by one criterion: a row per (segment, candidate), a column per rater."""
        part = self.table[self.table.criterion == checks.one_of(criterion, CRITERIA, "criterion")]
        wide = part.pivot(index=_CELL[:2], columns="rater", values="rating")
        return wide.reindex(columns=self.raters)

    def write(self, folder: str | PathLike) -> list[Path]:
        """Write one file per rater into an existing folder, as the page saves it; return the paths."""
        whole = self.table.astype({"rating": "Int64", "turn": "Int64"})
        paths = [Path(folder, f"{rater}.csv") for rater in self.raters]
        for path, rater in zip(paths, self.raters, strict=True):
            whole[whole.rater == rater].to_csv(path, index=False, float_format="%.1f")
        return paths


def read_class_ratings(
    paths: str | PathLike | Iterable[str | PathLike], sheet: _Sheet | None = None
) -> ClassRatings:
    """Pool the files of several raters: one file, several, or all *.csv of a folder.

    Copies of a row are read once.

    Parameters
    ----------
    sheet : _Sheet, optional
        The sheet that was rated: ratings of a different sheet are refused; its cells without a rating are missing.

    Raises
    ------
    DataError
        With file and line: a different sheet, an unknown candidate, a malformed cell, a missing column,
        or two different ratings of one rater for one cell.
    """
    if isinstance(paths, (str, PathLike)):
        folder = os.path.isdir(paths)
        paths = sorted(p for p in Path(paths).glob("*.[cC][sS][vV]")) if folder else [paths]
    if not (files := [Path(path) for path in paths]):
        raise DataError("class ratings: got no CSV file, expected one per rater.")
    table = pd.concat(map(_read, files), ignore_index=True)
    table["wrong"] |= table.sheet != (sheet.id if sheet else table.sheet[0])
    if sheet is not None:
        table["wrong"] |= ~pd.MultiIndex.from_frame(table[_CELL]).isin(sheet.rows)
    table = table.drop_duplicates(["rater", "sheet", *_CELL, "rating"])
    table["wrong"] |= table.duplicated(["rater", *_CELL])
    if table.wrong.any():
        row = table[table.wrong].iloc[0]
        got = ", ".join(f"{name} {row[name]}" for name in COLUMNS[:6])
        hint = "A wrong cell, a different sheet, an unknown candidate, or a second rating."
        raise DataError(f"rating: got {got}. {hint}", row.path, row.line)
    return _pooled(table[list(COLUMNS)], [] if sheet is None else sheet.rows)


def _read(path: Path) -> pd.DataFrame:
    """One file, with the columns path, line and wrong."""
    numbers = {"segment": int, "candidate": int, "rating": float, "seconds": float, "turn": float}
    kinds = dict.fromkeys(COLUMNS, str) | numbers
    table = read_table(path, kinds, optional=COLUMNS[6:]).reindex(columns=[*COLUMNS])
    wrong = ~table.criterion.isin(CRITERIA) | (table.rating.notna() & ~table.rating.isin(SCALE))
    wrong |= ~table.rater.str.fullmatch(_NAME) | (table[["segment", "candidate"]] < 0).any(axis=1)
    table[["seconds", "turn"]] = table[["seconds", "turn"]].astype(float)
    return table.assign(path=path, line=table.index, wrong=wrong)


def _pooled(table: pd.DataFrame, asked: Iterable[Cell], *notes: str) -> ClassRatings:
    """Complete the table with a row for every rater and every cell; note what is missing."""
    cells = dict.fromkeys([*asked, *table[_CELL].itertuples(index=False, name=None)])
    whole = [(who, *cell) for who in table.rater.unique() for cell in cells]
    full = pd.DataFrame(whole, columns=["rater", *_CELL]).merge(table, "left")
    for name in ("sheet", "version"):
        full[name] = full[name].fillna(full.groupby("rater")[name].transform("first"))
    lost = full.rating.isna().groupby(full.rater, sort=False).sum()
    if n := int(lost.sum()):
        who = ", ".join(f"{rater} {k}" for rater, k in lost.items() if k)
        verb = "is" if n == 1 else "are"
        notes = (*notes, f"{n} of {len(full)} ratings {verb} missing ({who}).")
    return ClassRatings(full[list(COLUMNS)], notes)


def invented_class(
    sheet: _Sheet,
    rng: np.random.Generator,
    n_raters: int = 8,
    *,
    following: TextRatings | str | None = None,
    missing: float = 0.03,
) -> ClassRatings:
    """Simulate a class: rating = merit + leniency + noise, rounded and clipped to 1 to 5.

    Parameters
    ----------
    n_raters : int
        Invented students.
    following : TextRatings or str, optional
        Ratings of these texts from 0 to 100 (or the name of a set that has them) as merits. Without
        them merits are random and independent of the texts.
    missing : float
        Share of missing ratings, 0 to 1.
    """
    if isinstance(following, str):
        following = load_ratings(following) if ratings_beside(following) else None
    if following is None:
        merit, about = rng.normal(3.3, 1.1, len(sheet.rows)), "and they say nothing about the texts"
    else:
        merit, about = _merits(sheet, following), f"they follow the ratings of {following.name}"
    leniency = rng.normal(0, _LENIENCY, n_raters)
    values = merit + leniency[:, None] + rng.normal(0, _NOISE, (n_raters, len(sheet.rows)))
    values = np.where(rng.random(values.shape) < missing, np.nan, np.clip(np.round(values), 1, 5))
    took = np.where(np.isnan(values), np.nan, np.round(rng.gamma(4, 3, values.shape), 1))
    table = pd.DataFrame(sheet.rows * n_raters, columns=_CELL)
    names = np.repeat([f"invented-{k + 1}" for k in range(n_raters)], len(sheet.rows))
    table = table.assign(rater=names, sheet=sheet.id, version="invented", turn=np.nan)
    table = table.assign(rating=values.ravel(), seconds=took.ravel())
    return _pooled(table, (), f"These ratings are invented: nobody gave them, {about}.")


def _merits(sheet: _Sheet, following: TextRatings) -> np.ndarray:
    """(rows,) merits of the sheet's texts from 1 to 5, in the order of `sheet.rows`."""
    keys = zip(following.segment.tolist(), following.texts, strict=True)
    place = {key: k for k, key in enumerate(keys)}
    shown = [(i, t) for i, texts in zip(sheet.segments, sheet.texts, strict=True) for t in texts]
    if unknown := [key for key in shown if key not in place]:
        segment, text = unknown[0]
        raise DataError(f"{following.name}: no rating of segment {segment}, text '{text:.40}'.")
    points = {"accuracy": following.mean("accuracy"), "fluency": following.mean("naturalness")}
    merit = np.array([points[name][place[key]] for key in shown for name in CRITERIA])
    return SCALE[0] + (SCALE[-1] - SCALE[0]) * merit / 100


def agreement(
    ratings: ClassRatings,
    criterion: str,
    rng: np.random.Generator,
    n_draws: int = 1000,
    *,
    level: str = "ordinal",
) -> Estimate:
    """Krippendorff's α of the raters, with a 95 % interval over resampled segments.

    Each end is the wider of the studentised bootstrap's and Student's t's: ratings take few values.

    Parameters
    ----------
    criterion : str
        "accuracy" or "fluency".
    level : {"ordinal", "nominal", "interval"}
        Level of measurement, which defines the distance of two ratings.

    Returns
    -------
    Estimate
        In [-1, 1]; 1: all agree, 0: as by chance. Its n are translations with two ratings or more,
        its n_docs their segments. nan where all ratings are equal; no interval where no two differ.

    References
    ----------
    Krippendorff 2011, Computing Krippendorff's Alpha-Reliability.
    """
    wide = ratings.matrix(criterion)
    wide = wide[wide.notna().sum(axis=1) > 1]
    segment = wide.index.get_level_values("segment").to_numpy()
    alpha, n_segments = krippendorff_alpha(wide, level), len(set(segment.tolist()))
    ends: dict[str, Any] = {}
    note = few_clusters(n_segments, "segments")
    if n_segments > 1 and alpha < 1:
        times = Resamples(segment, n_draws, rng)
        n = _counts(wide.to_numpy(), SCALE)
        pairs = n[:, :, None] * n[:, None, :] - n[:, :, None] * np.eye(len(SCALE))
        pairs /= (n.sum(1) - 1)[:, None, None]
        sums = cluster_sums(pairs.reshape(len(n), -1), times.index)[:, None]
        score, sizes = partial(_of_coincidences, level, SCALE), np.bincount(times.index)[:, None]
        low, high, error, *_ = score_intervals(score, sums, times, sizes=sizes)
        least, most = bootstrap.student(score(sums.sum(0)), error, bootstrap.effective(sizes))
        lowest, highest = min(low[0], least[0]), max(high[0], most[0])
        ends = {"low": max(float(lowest), -1.0), "high": min(float(highest), 1.0)}
        ends["se"] = float(error[0])
        if not note and (used := np.count_nonzero(n.sum(0))) < len(SCALE) - 1:
            note = f"only {used} different ratings: the interval may be too short."
        if note:
            note += " More segments would make the interval narrower; more raters hardly would."
    else:
        note = "No interval: these ratings vary too little."
    also = (int(wide.notna().any().sum()), "raters"), (int(wide.notna().sum().sum()), "ratings")
    ends |= {"n": len(wide), "of": "translations", "n_docs": n_segments, "clusters": "segments"}
    name = f"{criterion}: α ({level})"
    return Estimate(name, alpha, **ends, also=also, caution=note.strip())


def krippendorff_alpha(values: ArrayLike, level: str = "ordinal") -> float:
    """Krippendorff's α, 1 − D_o / D_e: observed over expected disagreement.

    Parameters
    ----------
    values : (units, raters) array
        Numbers; nan where a rater gave none. Units with fewer than two ratings are skipped.
    level : {"ordinal", "nominal", "interval"}
        Distance of two values: how many ratings lie between; equal or not; squared difference.

    Returns
    -------
    float
        At most 1; nan where fewer than two different values can be compared.

    References
    ----------
    Krippendorff 2011, Computing Krippendorff's Alpha-Reliability, §C and §D.

    >>> round(krippendorff_alpha([[1, 1], [2, 2], [1, 2]], "nominal"), 4)
    0.4444
    """
    checks.one_of(level, _LEVELS, "level of measurement")
    table = np.asarray(values, dtype=np.float64)
    table = table[(~np.isnan(table)).sum(1) > 1]
    points = np.unique(table[~np.isnan(table)]).tolist()
    if len(points) < 2:
        return float("nan")
    n = _counts(table, points)
    shares = n / (n.sum(axis=1, keepdims=True) - 1)
    sums = n.T @ shares - np.diag(shares.sum(axis=0))
    return float(_of_coincidences(level, points, sums.ravel()))


def _counts(values: np.ndarray, points: Sequence[float]) -> np.ndarray:
    """(units, k) how often each value was given; two of a unit of m meet 1/(m − 1) times."""
    return np.stack([(values == point).sum(axis=1) for point in points], axis=1).astype(float)


def _of_coincidences(level: str, points: Sequence[float], sums: np.ndarray) -> np.ndarray:
    """(...) α of (..., k²) sums of coincidences; nan where all ratings are equal."""
    pairs = sums.reshape(*sums.shape[:-1], len(points), len(points))
    n = pairs.sum(-1)
    place = n.cumsum(-1) - n / 2 if level == "ordinal" else np.asarray(points, dtype=float)
    far = (place[..., :, None] - place[..., None, :]) ** 2
    if level == "nominal":
        far = 1.0 - np.eye(len(points))
    observed = (pairs * far).sum((-1, -2))
    expected = (n[..., :, None] * n[..., None, :] * far).sum((-1, -2)) / (n.sum(-1) - 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(expected > 0, 1 - observed / expected, np.nan)


# ---- the plane: mean ratings of each system, with intervals

# with fewer segments no paired test at 5 % can show a difference: there are 2 ** 5 = 32 swaps
FEWEST_SEGMENTS = 6


def class_plane(
    ratings: ClassRatings,
    systems: CandidateSet | Sequence[str],
    rng: np.random.Generator,
    n_draws: int = 1000,
    *,
    categories: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """Average the ratings over raters, then segments: the systems as the class sees them.

    A second set of columns, `adjusted_`, is computed after subtracting each rater's own mean by that
    criterion: 0 is as high as the raters rate on average.

    Parameters
    ----------
    systems : CandidateSet or sequence of str
        The sheet's candidates, tagged with systems ("A | B" counts for both), or a name for each.
    categories : mapping, optional
        System → category of `charts.plot_systems`.

    Returns
    -------
    DataFrame
        system, category; accuracy, naturalness (fluency), adjusted_accuracy, adjusted_naturalness with
        _low and _high, 95 % over resampled segments with the raters held fixed and clipped to the
        scale (nan: too few to say); uneven (`score_intervals`); n segments, n_ratings, n_raters.
    """
    table = _by_system(ratings, systems.tags if isinstance(systems, CandidateSet) else systems)
    axis = table.criterion.map({"accuracy": "accuracy", "fluency": "naturalness"})
    plain, fair = table.assign(axis=axis), table.assign(axis="adjusted_" + axis)
    long = pd.concat([plain, fair.assign(rating=table.adjusted)])
    translation = long.groupby(["axis", "system", "segment", "candidate"]).rating.mean()
    wide = translation.groupby(["axis", "system", "segment"]).mean().unstack(["axis", "system"])
    found = None
    if len(wide) > 1:
        found = bootstrap_means(wide.to_numpy(), wide.index.to_numpy(), rng, n_draws)
    groups = table.groupby("system", sort=False)
    kinds = {name: (categories or {}).get(name, "unknown") for name in groups.groups}
    skewed = {s for (_, s), u in zip(wide.columns, found.uneven, strict=True) if u} if found else ()
    plane = pd.DataFrame({"category": kinds, "uneven": {s: s in skewed for s in kinds}})
    # no rating is farther than that from a rater's own mean
    most = SCALE[-1] - SCALE[0]
    for name in ("accuracy", "naturalness", "adjusted_accuracy", "adjusted_naturalness"):
        columns = {system: k for k, (axis, system) in enumerate(wide.columns) if axis == name}
        means = {system: wide.iloc[:, k].mean() for system, k in columns.items()}
        plane[name] = pd.Series(means, dtype=float)
        scale = (-most, most) if name.startswith("adjusted") else (SCALE[0], SCALE[-1])
        for end in ("low", "high"):
            bound = {
                s: np.clip(getattr(found, end)[k], *scale)
                for s, k in columns.items()
                if found and (found.se[k] > 0 or found.n[k] >= bootstrap.FEWEST)
            }
            plane[f"{name}_{end}"] = pd.Series(bound, dtype=float)
    plane["n"], plane["n_ratings"] = groups.segment.nunique(), groups.size()
    plane["n_raters"] = groups.rater.nunique()
    plane = plane.rename_axis("system").reset_index()
    return plane.sort_values("accuracy", ascending=False, ignore_index=True)


def plane_notes(plane: pd.DataFrame) -> list[str]:
    """Describe what the segments of a `class_plane` cannot show; empty where they are many."""
    fewest, most = int(plane.n.min()), int(plane.n.max())
    uneven = bool(plane.get("uneven", np.False_).any())
    notes = [few for few in [few_clusters(fewest, "segments", uneven=uneven)] if few]
    if most < FEWEST_SEGMENTS:
        ways = f"With {most} segments, two systems can swap their translations in {2**most} ways"
        p = 2.0 ** (1 - most)
        notes.append(f"{ways}: no paired p is below {p:.3g}, too much to show a difference at 5 %.")
    return notes


def plane_claim(plane: pd.DataFrame) -> str:
    """Name the leader on each axis of a `class_plane` where the intervals show one.

    A leader's interval is above those of all others, and all have six segments or more.

    >>> ends = {"accuracy": [4, 2], "accuracy_low": [3.5, 1.5], "accuracy_high": [4.5, 2.5],
    ...         "naturalness": 3, "naturalness_low": 2, "naturalness_high": 4, "n": 20}
    >>> plane_claim(pd.DataFrame(ends | {"system": ["A", "B"]}))
    'A is the most accurate; too few sentences to say who is the most fluent'
    """
    sharp, smooth = (_leader(plane, axis) for axis in ("accuracy", "naturalness"))
    if sharp == smooth:
        return f"{sharp} leads on both axes" if sharp else "too few sentences to say who leads"
    return "; ".join(
        f"{name} is the most {what}" if name else f"too few sentences to say who is the most {what}"
        for what, name in {"accurate": sharp, "fluent": smooth}.items()
    )


def _leader(plane: pd.DataFrame, axis: str) -> str:
    """The system whose interval is above all others; "" without one, or with too few segments."""
    if len(plane) < 2 or plane.n.min() < FEWEST_SEGMENTS:
        return ""
    best = plane[axis].idxmax()
    others = plane.drop(index=best)[f"{axis}_high"]
    apart = others.notna().all() and plane.loc[best, f"{axis}_low"] > others.max()
    return str(plane.system[best]) if apart else ""


def _by_system(ratings: ClassRatings, names: Sequence[str]) -> pd.DataFrame:
    """The given ratings, plain and `adjusted`, a row per rating and system of the text.

    A text of two systems has two rows, but counts once in the rater's own mean.
    """
    table = ratings.table.dropna(subset=["rating"])
    systems = [systems_of(str(names[i])) if i < len(names) else () for i in table.candidate]
    if table.empty or not all(systems):
        lost = (
            "no rating" if table.empty else f"candidate {table.candidate.iloc[systems.index(())]}"
        )
        raise DataError(f"class plane: got {lost}, expected ratings of tagged candidates.")
    adjusted = table.rating - table.groupby(["rater", "criterion"]).rating.transform("mean")
    return table.assign(system=systems, adjusted=adjusted).explode("system", ignore_index=True)
