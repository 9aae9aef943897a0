"""The accuracy-naturalness plane that a class draws: mean ratings of each system, with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..data.schema import CandidateSet, systems_of
from ..errors import DataError
from ..intervals import FEWEST, bootstrap_means, few_clusters
from .files import ClassRatings
from .sheet import SCALE

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["class_plane", "plane_claim", "plane_notes"]

FEWEST_SEGMENTS = 6
"""Of fewer no paired test at 5 % can show a difference: two systems swap their translations in 2 ** 5 = 32 ways."""


def class_plane(
    ratings: ClassRatings,
    systems: CandidateSet | Sequence[str],
    rng: np.random.Generator,
    n_draws: int = 1000,
    *,
    categories: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """The systems on the plane as the class sees them: mean ratings of accuracy and of fluency, here `naturalness`.

    A translation's rating is the plain mean over its raters, a system's the mean over its segments, so a translation
    with many ratings counts no more than one with few. Because some rate all high, there is a second pair of columns,
    `adjusted_`: the same means after each rater's own mean by that criterion was subtracted, so 0 is as high as the
    raters rate on average. That is fair only as far as they rated the same translations.

    Parameters
    ----------
    systems : the candidate set of the sheet, whose tags are systems ("A | B" counts for both), or a name per candidate.
    categories : system → category, for the marks of `charts.systems.plot_systems`; "unknown" where it is not said.

    Returns
    -------
    system, category; accuracy, naturalness, adjusted_accuracy, adjusted_naturalness, each with _low and _high: 95 %
    intervals for other segments, from resampling segments once for all, with the raters held fixed, and no farther than
    the scale reaches: 1 to 5, adjusted -4 to 4 (nan where fewer than two segments have such a rating, and where a few
    all have the same); n (segments rated by either criterion),
    n_ratings, n_raters. `plane_notes` says what so many segments can show.
    """
    import pandas as pd

    table = _by_system(ratings, systems.tags if isinstance(systems, CandidateSet) else systems)
    axis = table.criterion.map({"accuracy": "accuracy", "fluency": "naturalness"})
    long = pd.concat(
        [table.assign(axis=axis), table.assign(axis="adjusted_" + axis, rating=table.adjusted)]
    )
    translation = long.groupby(["axis", "system", "segment", "candidate"]).rating.mean()
    wide = translation.groupby(["axis", "system", "segment"]).mean().unstack(["axis", "system"])
    found = None
    if len(wide) > 1:
        found = bootstrap_means(wide.to_numpy(), wide.index.to_numpy(), rng, n_draws)
    groups = table.groupby("system", sort=False)
    plane = pd.DataFrame(
        {"category": {name: (categories or {}).get(name, "unknown") for name in groups.groups}}
    )
    for name in ("accuracy", "naturalness", "adjusted_accuracy", "adjusted_naturalness"):
        columns = {system: k for k, (axis, system) in enumerate(wide.columns) if axis == name}
        plane[name] = pd.Series(
            {system: wide.iloc[:, k].mean() for system, k in columns.items()}, dtype=float
        )
        known = (
            (found.se > 0) | (found.n >= FEWEST) if found else np.zeros(wide.shape[1], dtype=bool)
        )
        most = SCALE[-1] - SCALE[0]  # no rating is farther than that from a rater's own mean
        ends = (-most, most) if name.startswith("adjusted") else (SCALE[0], SCALE[-1])
        for end in ("low", "high"):
            bound = {
                s: np.clip(getattr(found, end)[k], *ends) if known[k] else np.nan
                for s, k in columns.items()
            }
            plane[f"{name}_{end}"] = pd.Series(bound, dtype=float)
    plane["n"], plane["n_ratings"] = groups.segment.nunique(), groups.size()
    plane["n_raters"] = groups.rater.nunique()
    return (
        plane.rename_axis("system")
        .reset_index()
        .sort_values("accuracy", ascending=False, ignore_index=True)
    )


def plane_notes(plane: pd.DataFrame) -> list[str]:
    """Sentences on what the segments behind a `class_plane` can and cannot tell; none where they are many."""
    fewest, most = int(plane.n.min()), int(plane.n.max())
    few = few_clusters(fewest, "segments")
    if not few:
        return []
    who = plane.system[plane.n == fewest].tolist() if fewest < most else ["each system"]
    has = ", ".join(who[:-1]) + " and " + who[-1] + " have" if len(who) > 1 else f"{who[0]} has"
    few = few.replace(" are few", ", which are few", 1)
    notes = [
        f"{has[0].upper()}{has[1:]} {few} They are about other segments, rated by the same people: more segments "
        "would make them narrower; more raters hardly would."
    ]
    if most < FEWEST_SEGMENTS:
        notes.append(
            f"No system has more than {most} segments. Two systems can swap their translations in "
            f"{2**most} ways only, so no p of a paired test is below {2.0 ** (1 - most):.3g}: at "
            "5 %, none can show that one is better."
        )
    return notes


def plane_claim(plane: pd.DataFrame) -> str:
    """Who leads on each axis of a `class_plane`, where that is sure, as the claim of a title; else that it is not.

    A leader is named only if its interval lies above those of all other systems, and all have six segments or more.

    Parameters
    ----------
    plane : system, accuracy and naturalness, each with _low and _high, and n.

    >>> import pandas as pd
    >>> ends = {"accuracy": [4, 2], "accuracy_low": [3.5, 1.5], "accuracy_high": [4.5, 2.5], "naturalness": 3,
    ...         "naturalness_low": 2, "naturalness_high": 4, "n": 20, "system": ["A", "B"]}
    >>> plane_claim(pd.DataFrame(ends))
    'A is the most accurate; too few sentences to say who is the most fluent'
    >>> plane_claim(pd.DataFrame(ends).assign(n=5))
    'too few sentences to say who leads'
    """
    sharp, smooth = (_leader(plane, axis) for axis in ("accuracy", "naturalness"))
    if not sharp and not smooth:
        return "too few sentences to say who leads"
    if sharp == smooth:
        return f"{sharp} leads on both axes"
    found = {"accurate": sharp, "fluent": smooth}
    return "; ".join(
        f"{name} is the most {what}" if name else f"too few sentences to say who is the most {what}"
        for what, name in found.items()
    )


def _leader(plane: pd.DataFrame, axis: str) -> str:
    """The system whose interval lies above all others; "" where there is none, or where segments are too few."""
    if len(plane) < 2 or plane.n.min() < FEWEST_SEGMENTS:
        return ""
    best = plane[axis].idxmax()
    others = plane.drop(index=best)
    apart = others[f"{axis}_high"].notna().all() and (
        plane.loc[best, f"{axis}_low"] > others[f"{axis}_high"].max()
    )
    return str(plane.system[best]) if apart else ""


def _by_system(ratings: ClassRatings, names: Sequence[str]) -> pd.DataFrame:
    """The ratings that are there, plain and `adjusted`, each with the system whose translation was rated.

    That of a translation by two systems stands twice, but counts once in the rater's own mean.
    """
    table = ratings.table.dropna(subset=["rating"])
    if table.empty:
        raise DataError("not one rating is there, so there is no plane to draw.", "ratings")
    most = int(table.candidate.max())
    if most >= len(names):
        raise DataError(
            f"candidate {most} was rated, and there are {len(names)}; give the candidates of the "
            "sheet."
        )
    systems = [systems_of(str(names[i])) for i in table.candidate]
    if not all(systems):
        unnamed = table.candidate.iloc[systems.index(())]
        raise DataError(
            f"candidate {unnamed} has no tag, so its system is not known; give a name per "
            "candidate."
        )
    adjusted = table.rating - table.groupby(["rater", "criterion"]).rating.transform("mean")
    return table.assign(system=systems, adjusted=adjusted).explode("system", ignore_index=True)
