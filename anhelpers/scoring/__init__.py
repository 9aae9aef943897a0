"""Texts to scores: tidy tables of a test set's scores, and the store that keeps slow scores on disk.

`tables` turns systems into rows. A slow scorer goes through `memo.memo`, which scores equal inputs once, takes what is
known from the score store (`store`) and commits what it computes; `upkeep` shows, prunes, exports and imports a store.
"""

from .tables import (
    check_needs,
    check_systems,
    estimate_rows,
    estimate_table,
    given_scores,
    scorable,
    score_all,
    segment_rows,
    system_rows,
    system_scores,
)

__all__ = [
    "check_needs",
    "check_systems",
    "estimate_rows",
    "estimate_table",
    "given_scores",
    "scorable",
    "score_all",
    "segment_rows",
    "system_rows",
    "system_scores",
]


def __dir__() -> list[str]:
    return __all__
