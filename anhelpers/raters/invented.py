"""A class that does not exist, to try things out before the real one has rated."""

from __future__ import annotations

import numpy as np

from .files import ClassRatings, Row, together
from .sheet import Sheet

__all__ = ["invented_class"]


def invented_class(
    sheet: Sheet, rng: np.random.Generator, n_raters: int = 8, *, missing: float = 0.03
) -> ClassRatings:
    """Ratings that nobody gave, to try things out: every translation gets two invented merits, every rater a leniency.

    A rating is merit + leniency + noise, rounded and kept within 1 to 5; a share `missing` is left out. The merits are
    drawn at random and know nothing of the texts, so these ratings say nothing about any translation.

    Parameters
    ----------
    n_raters : how many invented students.
    """
    rows = sheet.rows
    merit, leniency = rng.normal(3.3, 1.1, len(rows)), rng.normal(0, 0.5, n_raters)
    values = merit + leniency[:, None] + rng.normal(0, 0.6, (n_raters, len(rows)))
    values = np.where(rng.random(values.shape) < missing, np.nan, np.clip(np.round(values), 1, 5))
    took = np.round(rng.gamma(4, 3, values.shape), 1)
    found = {}
    for k in range(n_raters):
        name = f"invented-{k + 1}"
        given = zip(rows, values[k].tolist(), took[k].tolist(), strict=True)
        found[name] = {
            cell: Row(
                0, name, sheet.id, cell, rating, np.nan if np.isnan(rating) else seconds, "invented"
            )
            for cell, rating, seconds in given
        }
    return together(
        found,
        ["These ratings are invented: nobody gave them, and they say nothing about the texts."],
    )
