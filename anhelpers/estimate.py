"""A reported value with its interval, standard error, sample size, unit and signature."""

from __future__ import annotations

import math
import re
from dataclasses import KW_ONLY, dataclass
from html import escape

import numpy as np
from numpy.typing import ArrayLike

from .errors import DataError


@dataclass(frozen=True)
class Estimate:
    """A value computed from a sample, or from samples of the system q and of the reference r.

    Unknown facts are nan, 0 or "".

    Parameters
    ----------
    name, value : str, float
        The quantity and its estimate; nan if it is not defined. A negative estimate stays negative.
    low, high : float
        95 % interval in the unit of the value; nan: none.
    se : float
        Standard error.
    n, of, n_docs, clusters : int, str
        Sample size, in units such as "segments", in so many resampled clusters such as "documents"; 0 documents if
        the units were taken as independent. Of two samples, those of q; 0 if q is known exactly.
    n_effective : float
        Number of clusters of equal size with the same information (`bootstrap.effective`).
    also, left_out : tuple, int
        More counts, as ((2, "raters"),), and missing values.
    unit, signature : str
        The unit in the plural, and all choices that determine the value.
    caution : str
        How to read the interval.
    n_r, docs_r : int
        Sample size and documents of r.
    bias : str
        Direction of the bias.
    chance, p : float
        Mean estimate if q = r, and the probability of one at least as large.

    >>> print(Estimate("chrF", 51.5, low=49.0, high=54.0, n=52, of="segments", n_docs=12, unit="points"))
    chrF 51.5 points, 95 % interval 49 to 54 (n = 52 segments in 12 documents)
    """

    name: str
    value: float
    _: KW_ONLY
    low: float = math.nan
    high: float = math.nan
    se: float = math.nan
    n: int = 0
    of: str = ""
    n_docs: int = 0
    clusters: str = "documents"
    n_effective: float = math.nan
    also: tuple[tuple[int, str], ...] = ()
    left_out: int = 0
    unit: str = ""
    signature: str = ""
    caution: str = ""
    n_r: int = 0
    docs_r: int = 0
    bias: str = ""
    chance: float = math.nan
    p: float = math.nan

    def __post_init__(self) -> None:
        facts = {
            "low is above high": self.low > self.high,
            "p is not a probability": self.p < 0 or self.p > 1,
            "n is below 0": self.n < 0,
        }
        if wrong := [said for said, holds in facts.items() if holds]:
            raise DataError(f"{self.name or 'estimate'}: {wrong[0]}.")

    @property
    def interval(self) -> tuple[float, float]:
        """(low, high); it need not contain the value, which may be biased."""
        return self.low, self.high

    @property
    def n_q(self) -> int:
        """The sample size of q."""
        return self.n

    @property
    def counted(self) -> str:
        """The sample size in words: "52 segments in 12 documents"."""
        sides = [(k, m) for k, m in ((self.n, self.n_docs), (self.n_r, self.docs_r)) if k]
        if not sides:
            return f"0 {self.of}" if self.of else "exact q and r" if self.bias else "n not given"
        alone = "" if any(m for _, m in sides) else ", taken as independent"
        each = [f"{k} {self.of}".rstrip() + self._within(k, m, alone) for k, m in sides]
        return " + ".join(each) + alone + "".join(f", {k} {what}" for k, what in self.also)

    def _within(self, k: int, m: int, alone: str) -> str:
        """The documents in words, if there are fewer of them than units."""
        if not m:
            return "" if alone else " taken as independent"
        return f" in {m} {self.clusters}" if m < k or self.clusters != "documents" else ""

    def _parts(self, digits: int | None) -> tuple[str, str, str]:
        """Value with unit and interval; sample size and bias; chance and caution."""

        def number(x: float) -> str:
            return f"{x:.4g}" if digits is None else f"{x:.{digits}f}"

        if math.isnan(self.value):
            said = "is not defined"
        else:
            said = number(self.value)
            one = said.lstrip("-−") == "1"
            unit = re.sub(r"^(\w+)s\b", r"\1", self.unit) if one else self.unit
            said = f"{said} {unit}".rstrip()
            ends = f"95 % interval {number(self.low)} to {number(self.high)}"
            said += ", " + ("no interval" if math.isnan(self.low) else ends)
        behind = f"n = {self.counted}" if self.n or self.n_r or self.of else self.counted
        behind += f", {self.left_out} missing" if self.left_out else ""
        behind += f"; {self.bias}" if self.bias else ""
        read = ""
        if not math.isnan(self.chance):
            read = f". Where q = r, chance alone gives {self.chance:.3g} on average"
            read += "" if math.isnan(self.p) else f", and as much as here with p = {self.p:.2g}"
        return said, behind, read + (f". {self.caution}" if self.caution else "")

    def text(self, digits: int | None = None) -> str:
        """One sentence with all but the signature.

        Parameters
        ----------
        digits : int, optional
            Decimals of value and interval (default: four significant digits).
        """
        said, behind, read = self._parts(digits)
        return f"{self.name}{' ' if self.name else ''}{said} ({behind}){read}"

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        """The sentence and the signature, without colours."""
        said, behind, read = (escape(part) for part in self._parts(None))
        signature = f"<br><small>{escape(self.signature)}</small>" if self.signature else ""
        return f"<div><b>{escape(self.name)}</b> {said} ({behind}){read}{signature}</div>"

    def minus(self, other: Estimate) -> Estimate:
        """The difference from an independent estimate, with an interval from both intervals.

        Parameters
        ----------
        other : Estimate
            Of an independent sample. For the same sentences, use the interval of their differences, which is narrower.

        References
        ----------
        Zou and Donner 2008, Statistics in Medicine 27: the root of the sum of squares of the half intervals.

        >>> print(Estimate("A", 5.0, low=2.0, high=8.0, n=9).minus(Estimate("B", 1.0, low=-3.0, high=5.0, n=9)))
        A − B 4, 95 % interval -1 to 9 (n = 9 + 9, taken as independent)
        """
        if self.unit != other.unit:
            raise DataError(f"got units {self.unit} and {other.unit}, expected one unit.")
        down = math.hypot(self.value - self.low, other.high - other.value)
        up = math.hypot(self.high - self.value, other.value - other.low)
        value = self.value - other.value
        name = " − ".join(filter(None, (self.name, other.name)))
        sides = {"n": self.n, "n_docs": self.n_docs, "n_r": other.n, "docs_r": other.n_docs}
        ends = {"low": value - down, "high": value + up}
        return Estimate(name, value, **ends, **sides, of=self.of, unit=self.unit)  # type: ignore[arg-type]

    def row(self) -> dict[str, float | int | str]:
        """A row of a table: name, value, low, high, se, n, unit, signature."""
        names = ("name", "value", "low", "high", "se", "n", "unit", "signature")
        return {name: getattr(self, name) for name in names}


def digits_of(values: ArrayLike) -> int:
    """Decimals that show a hundredth of the spread of (n,) values: 1 for chrF, 3 for COMET.

    >>> digits_of([20.5, 61.2]), digits_of([0.71, 0.86])
    (1, 3)
    """
    spread = float(np.ptp(values))
    return min(6, max(0, 2 - math.floor(math.log10(spread)))) if spread else 2
