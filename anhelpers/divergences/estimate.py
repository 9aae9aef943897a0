"""What every estimate of a divergence leaves with."""

from __future__ import annotations

import math
from dataclasses import dataclass

__all__ = ["Estimate"]


@dataclass(frozen=True)
class Estimate:
    """A number computed from samples of the system q and the reference r, with its standard error and interval.

    Parameters
    ----------
    name : of the quantity.
    value, se : the estimate, as it is (a negative one stays negative), and its standard error; nan where there is none.
    n_q, n_r : how many samples of q and of r were used; 0 where a side is known exactly.
    bias : one plain sentence: "unbiased", or in which direction and why.
    unit : "" for a number without one.
    signature : what was chosen on the way (kernel, bandwidth, resamples), so that the number can be repeated.
    bias_estimate : first-order estimate of the bias, to be subtracted by who wants that; nan where there is none.
    left_out : how many samples were missing (nan) and left out.
    low, high : the 95 % interval; nan where there is none.
    chance : the mean estimate where q = r, which is what chance alone gives; nan where nobody asked.
    p : the probability of an estimate at least as large where q = r; nan where nobody asked.
    docs_q, docs_r : documents of these samples; 0 where samples were taken as independent.
    caution : a sentence to be read with the interval, or "".
    """

    name: str
    value: float
    se: float
    n_q: int
    n_r: int
    bias: str
    unit: str = ""
    signature: str = ""
    bias_estimate: float = float("nan")
    left_out: int = 0
    low: float = float("nan")
    high: float = float("nan")
    chance: float = float("nan")
    p: float = float("nan")
    docs_q: int = 0
    docs_r: int = 0
    caution: str = ""

    @property
    def interval(self) -> tuple[float, float]:
        """(low, high) of 95 %; nan where there is none. It need not lie around the value, which may be biased."""
        return self.low, self.high

    def __str__(self) -> str:
        sides = [(k, docs) for k, docs in ((self.n_q, self.docs_q), (self.n_r, self.docs_r)) if k]
        alone = "" if any(docs for _, docs in sides) else ", taken as independent"
        each = " + ".join(
            f"{k} in {docs} documents" if docs else f"{k}{'' if alone else ' taken as independent'}"
            for k, docs in sides
        )
        n = f"n = {each}{alone}" if sides else "exact q and r"
        left_out = f", {self.left_out} missing" if self.left_out else ""
        around = (
            "no interval"
            if math.isnan(self.low)
            else f"95 % interval {self.low:.4g} to {self.high:.4g}"
        )
        said = (
            f"{self.name} {self.value:.4g}{' ' + self.unit if self.unit else ''}, {around} "
            f"({n}{left_out}; {self.bias})"
        )
        if not math.isnan(self.chance):
            said += f". Where q = r, chance alone gives {self.chance:.3g} on average"
            said += "" if math.isnan(self.p) else f", and as much as here with p = {self.p:.2g}"
        return f"{said}. {self.caution}" if self.caution else said
