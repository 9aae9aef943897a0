"""One line of the calibration table: a statement of the package in a setting."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

__all__ = ["DOCS", "DRAWS", "FEW", "Row"]

DOCS = (5, 10, 20, 40, 170)
FEW = 10
"""With fewer documents an interval has a note, and its row no tolerance."""
DRAWS = 1000


@dataclass(frozen=True)
class Row:
    """One statement in one setting.

    Parameters
    ----------
    quantity, setting : names. nominal : what is claimed, such as 0.95.
    least, most : between which the measured rate must lie; None where it is only shown.
    once : rng -> whether the statement held in one simulated world (several answers: several statements alike).
    """

    quantity: str
    setting: str
    nominal: float
    least: float | None
    most: float | None
    once: Callable[[np.random.Generator], object] = field(repr=False)
