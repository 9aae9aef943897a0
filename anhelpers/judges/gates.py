"""What is wanted of the bundled judges on the teaching set, all thresholds in one table, and whether it is reached."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .texts import PEOPLE

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["GATES", "Gate", "gate_table"]


class Gate(NamedTuple):
    """A threshold for one figure of `judge_table`.

    Parameters
    ----------
    question, judge, item : of the figure.
    wanted : the least value, in its unit. at_most : it is the largest value instead.
    clear : the whole interval must lie on that side.
    """

    question: str
    judge: str
    item: str
    wanted: float
    at_most: bool = False
    clear: bool = False


BOTH, ROUNDING = "critic+lpp", 1e-9
GATES = (
    Gate("tags", "critic", "idiomatic > literal-2", 42 / 52),
    Gate("tags", "critic", "idiomatic > literal", 44 / 52),
    Gate("tags", "critic", "idiomatic > calque", 44 / 52),
    Gate("tags", BOTH, "near-reference > grammar", 38 / 52),
    Gate("tags", BOTH, "near-reference > wrong-order", 47 / 52),
    Gate("tags", BOTH, "idiomatic > literal-2", 38 / 52),
    Gate("people", "critic", "with the ratings", 0.35),
    Gate("people", BOTH, "with the ratings", 0.45),
    Gate("mqm", BOTH, "with MQM fluency", 0.7),
    Gate("tradeoff", PEOPLE, "with rated-accuracy", 0.0, at_most=True, clear=True),
    Gate("tradeoff", BOTH, "with chrf", 0.0, at_most=True, clear=True),
    Gate("language model", "language model", "bits per byte of originals", 1.6, at_most=True),
    Gate("language model", "language model", "good > bad, whole sentences", 136 / 155),
)
"""Of judges and of the language model, on the teaching set, which is looked at to report and never to choose."""


def gate_table(table: pd.DataFrame) -> pd.DataFrame:
    """A row per gate: the figure beside its threshold.

    Parameters
    ----------
    table : of `judge_table`, of the bundled set.

    Returns
    -------
    question, judge, item; wanted, at_most, clear; value, low, high, n, n_of, unit (nan and "" where there is no such
    figure); reached, on these texts, and elsewhere, on others like them: "yes", "no", "undecided" where the interval
    has the threshold inside, "no figure".
    """
    import pandas as pd

    keys = ["question", "judge", "item"]
    rows = pd.DataFrame(GATES).merge(table.drop(columns=["chance", "signature"]), "left", keys)
    answers = [_answers(row) for row in rows.to_dict("records")]
    return rows.assign(
        reached=[here for here, _ in answers], elsewhere=[there for _, there in answers]
    )


def _answers(row: dict[str, Any]) -> tuple[str, str]:
    """(reached, elsewhere) of a gate with its figure."""
    sign = -1 if row["at_most"] else 1
    above, *ends = (sign * (row[column] - row["wanted"]) for column in ("value", "low", "high"))
    if np.isnan(above):
        return "no figure", "no figure"
    elsewhere = "yes" if min(ends) > 0 else "no" if max(ends) < 0 else "undecided"
    here = elsewhere == "yes" if row["clear"] else above >= -ROUNDING
    return "yes" if here else "no", elsewhere
