"""A class that does not exist, to try things out before the real one has rated."""

from __future__ import annotations

import numpy as np

from ..data.text_ratings import TextRatings, load_ratings, ratings_beside
from ..errors import DataError
from .files import ClassRatings, RatingRow, pooled_ratings
from .sheet import SCALE, Sheet

__all__ = ["invented_class"]

# of a rater's mean from the others', and of one rating from what the rater would give again
LENIENCY, NOISE = 0.35, 0.6


def invented_class(
    sheet: Sheet,
    rng: np.random.Generator,
    n_raters: int = 8,
    *,
    following: TextRatings | str | None = None,
    missing: float = 0.03,
) -> ClassRatings:
    """Ratings that nobody gave, to try things out: every translation has two merits, every rater a leniency.

    A rating is merit + leniency + noise, rounded and kept within 1 to 5; a share `missing` is left out.

    Parameters
    ----------
    n_raters : how many invented students.
    following : ratings of these texts from 0 to 100, or the name of a set that has them, such as "teaching": they are
        the merits, so that the class draws a sensible plane. None, or a set without ratings: merits are drawn at random
        and know nothing of the texts.
    missing : share of the ratings that are left out, 0 to 1.

    Raises
    ------
    DataError : a text of the sheet that `following` has no rating of.
    """
    rows = sheet.rows
    if isinstance(following, str):
        following = load_ratings(following) if ratings_beside(following) else None
    if following is None:
        merit, about = rng.normal(3.3, 1.1, len(rows)), "and they say nothing about the texts"
    else:
        merit, about = _merits(sheet, following), f"they follow the ratings of {following.name}"
    leniency = rng.normal(0, LENIENCY, n_raters)
    values = merit + leniency[:, None] + rng.normal(0, NOISE, (n_raters, len(rows)))
    values = np.where(rng.random(values.shape) < missing, np.nan, np.clip(np.round(values), 1, 5))
    took = np.round(rng.gamma(4, 3, values.shape), 1)
    found = {}
    for k in range(n_raters):
        name = f"invented-{k + 1}"
        given = zip(rows, values[k].tolist(), took[k].tolist(), strict=True)
        found[name] = {
            cell: RatingRow(
                0, name, sheet.id, cell, rating, np.nan if np.isnan(rating) else seconds, "invented"
            )
            for cell, rating, seconds in given
        }
    return pooled_ratings(found, [f"These ratings are invented: nobody gave them, {about}."])


def _merits(sheet: Sheet, following: TextRatings) -> np.ndarray:
    """(rows,) what the sheet's texts deserve from 1 to 5, in the order of `sheet.rows`."""
    keys = zip(following.segment.tolist(), following.texts, strict=True)
    place = {key: k for k, key in enumerate(keys)}
    shown = [
        (i, text) for i, texts in zip(sheet.segments, sheet.texts, strict=True) for text in texts
    ]
    if unknown := [key for key in shown if key not in place]:
        raise DataError(
            f"{following.name} has no rating of a text of segment {unknown[0][0]} "
            f"('{unknown[0][1]:.40}'); give the ratings of the set that the sheet is drawn from."
        )
    of = {"accuracy": following.mean("accuracy"), "fluency": following.mean("naturalness")}
    points = [of[name][place[key]] for key in shown for name in of]
    return SCALE[0] + (SCALE[-1] - SCALE[0]) * np.array(points) / 100
