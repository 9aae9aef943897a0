"""The three numbers of cross-mutual information, with intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..bootstrap import few_clusters
from ..estimate import Estimate
from ..scoring import estimate_table

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Xmi:
    """H_LM(T), H_MT(T | S) and XMI(S → T) = H_LM - H_MT, from the same resamples.

    Parameters
    ----------
    h_lm, h_mt, xmi : Estimate
        In bits per sentence, or per character from `per_character`.
    left_out : int
        Sentences without a score of both models.
    """

    h_lm: Estimate
    h_mt: Estimate
    xmi: Estimate
    left_out: int = 0

    @property
    def bits(self) -> tuple[Estimate, Estimate, Estimate]:
        """H_LM, H_MT and XMI."""
        return self.h_lm, self.h_mt, self.xmi

    @property
    def notes(self) -> tuple[str, ...]:
        """Cautions about the sentences and the intervals."""
        xmi, n = self.xmi, self.xmi.n
        left = f"{self.left_out} of {n + self.left_out} sentences left out: a score is missing."
        below = "XMI is below 0 with its whole interval. Are mt and lm swapped?"
        few = few_clusters(
            xmi.n_docs, "documents" if xmi.n_docs < n else "sentences", xmi.n_effective
        )
        return tuple(filter(None, (left * bool(self.left_out), below * (xmi.high < 0), few)))

    def __str__(self) -> str:
        missing = f"; {self.left_out} sentences left out" if self.left_out else ""
        return "; ".join(map(str, self.bits)) + missing


def xmi_rows(direction: str, found: Xmi) -> pd.DataFrame:
    """Tabulate the result of one direction: a row each for H_LM, H_MT and XMI.

    Returns
    -------
    direction, quantity, value, se, low, high, unit, n, signature.
    """
    names = ["direction", "quantity", "value", "se", "low", "high", "unit", "n", "signature"]
    table = estimate_table(found.bits).rename(columns={"name": "quantity"})
    return table.assign(direction=direction)[names]
