"""The accuracy-naturalness plane of a class: mean ratings of each system, with intervals."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from ..bootstrap import FEWEST, bootstrap_means, few_clusters
from ..data.schema import CandidateSet, systems_of
from ..errors import DataError
from .ratings import ClassRatings
from .sheet import SCALE

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
        scale (nan: too few to say); n segments, n_ratings, n_raters.
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
    plane = pd.DataFrame({"category": kinds})
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
                if found and (found.se[k] > 0 or found.n[k] >= FEWEST)
            }
            plane[f"{name}_{end}"] = pd.Series(bound, dtype=float)
    plane["n"], plane["n_ratings"] = groups.segment.nunique(), groups.size()
    plane["n_raters"] = groups.rater.nunique()
    plane = plane.rename_axis("system").reset_index()
    return plane.sort_values("accuracy", ascending=False, ignore_index=True)


def plane_notes(plane: pd.DataFrame) -> list[str]:
    """Describe what the segments of a `class_plane` cannot show; empty where they are many."""
    fewest, most = int(plane.n.min()), int(plane.n.max())
    notes = [few for few in [few_clusters(fewest, "segments")] if few]
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
