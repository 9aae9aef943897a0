"""A number as it leaves: with its interval, its standard error, what stands behind it, its unit and its signature."""

from __future__ import annotations

import math
import re
from dataclasses import KW_ONLY, dataclass
from html import escape

from .errors import DataError

__all__ = ["Estimate", "with_unit"]


def with_unit(said: str, unit: str) -> str:
    """A printed number and its unit, of which 1 has one.

    Parameters
    ----------
    said : the number, as it is printed. unit : in the plural, such as "bits per sentence"; "" for none.

    >>> with_unit("1", "bits per sentence"), with_unit("1.5", "points"), with_unit("3", "")
    ('1 bit per sentence', '1.5 points', '3')
    """
    if said.lstrip("-−") == "1":
        unit = re.sub(r"^(\w+)s\b", r"\1", unit)
    return f"{said} {unit}" if unit else said


@dataclass(frozen=True)
class Estimate:
    """A number that was computed from a sample, or from samples of the system q and of the reference r.

    Only `name` and `value` are given by place; what nobody knows is nan, 0 or "".

    Parameters
    ----------
    name : of the quantity. unit : "" for a number without one.
    value : the estimate, as it is: a negative one stays negative. nan: not defined, and `caution` or `bias` says why.
    low, high : the interval, in the unit of the value; nan where there is none. level : of it, in (0, 1).
    se : the standard error.
    n : how many of `of`, a plural such as "segments", stand behind the value; of two samples, those of q. 0 where q is
        known exactly.
    n_docs : in how many `clusters` (documents, unless it says otherwise), which are resampled whole, these n stand; n
        where each stands for itself, 0 where they were taken as independent because nobody knows.
    n_effective : how many clusters of equal size these count for (`intervals.effective`).
    also : what else stands behind it, as ((2, "raters"), (6, "ratings")). left_out : how many were missing (nan).
    n_r, docs_r : the same of r, where it is a sample, too.
    bias : one plain sentence: "unbiased", or in which direction and why.
    bias_estimate : first-order estimate of the bias, to be subtracted by who wants that.
    chance : the mean estimate where q = r, which is what chance alone gives.
    p : the probability of an estimate at least as large where q = r.
    signature : what was chosen on the way (kernel, bandwidth, resamples), so that the number can be repeated.
    caution : a sentence to be read with the interval, or "".

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
    level: float = 0.95
    n_r: int = 0
    docs_r: int = 0
    bias: str = ""
    bias_estimate: float = math.nan
    chance: float = math.nan
    p: float = math.nan

    def __post_init__(self) -> None:
        wrong = [
            said
            for said, holds in (
                (f"low {self.low:g} is above high {self.high:g}", not self.low > self.high),
                (f"level {self.level:g} is not between 0 and 1", 0 < self.level < 1),
                (f"p {self.p:g} is no probability", not (self.p < 0 or self.p > 1)),
                (f"n {self.n} is below 0", self.n >= 0),
            )
            if not holds
        ]
        if wrong:
            raise DataError(f"{self.name or 'an estimate'}: {wrong[0]}.")

    @property
    def interval(self) -> tuple[float, float]:
        """(low, high); nan where there is none. It need not lie around the value, which may be biased."""
        return self.low, self.high

    @property
    def n_q(self) -> int:
        """Of two samples, the n of q."""
        return self.n

    @property
    def counted(self) -> str:
        """What stands behind the value: "52 segments in 12 documents"; "exact q and r" of two distributions."""
        sides = [(k, m) for k, m in ((self.n, self.n_docs), (self.n_r, self.docs_r)) if k]
        if not sides:
            return f"0 {self.of}" if self.of else "exact q and r" if self.bias else "n not given"
        alone = "" if any(m for _, m in sides) else ", taken as independent"
        each = [f"{k} {self.of}".rstrip() + self._within(k, m, alone) for k, m in sides]
        return " + ".join(each) + alone + "".join(f", {k} {what}" for k, what in self.also)

    def _within(self, k: int, m: int, alone: str) -> str:
        """ " in 5 documents"; "" where each of k is one by itself, or where `alone` says of all that nobody knows."""
        if not m:
            return "" if alone else " taken as independent"
        return f" in {m} {self.clusters}" if m < k or self.clusters != "documents" else ""

    def _parts(self, digits: int | None) -> tuple[str, str, str]:
        """Value with its unit and interval; what is behind it; and what is to be read with it."""

        def number(x: float) -> str:
            return f"{x:.4g}" if digits is None else f"{x:.{digits}f}"

        if math.isnan(self.value):
            said = "is not defined"
        else:
            said = with_unit(number(self.value), self.unit)
            ends = f"{100 * self.level:g} % interval {number(self.low)} to {number(self.high)}"
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
        """One sentence with all but the signature: value, unit, interval, what is behind it, bias, chance, caution.

        Parameters
        ----------
        digits : of value and interval behind the point; None: four significant ones.
        """
        said, behind, read = self._parts(digits)
        return f"{self.name}{' ' if self.name else ''}{said} ({behind}){read}"

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        """The sentence and, small, the signature; no colours, so that it can be read on dark pages, too."""
        said, behind, read = (escape(part) for part in self._parts(None))
        signature = f"<br><small>{escape(self.signature)}</small>" if self.signature else ""
        return f"<div><b>{escape(self.name)}</b> {said} ({behind}){read}{signature}</div>"

    def minus(self, other: Estimate) -> Estimate:
        """The difference from an independent estimate of the same kind, with an interval made of both intervals.

        Parameters
        ----------
        other : of another sample that has nothing in common with this one. Two estimates of the same sentences are not
            independent: take the interval of their differences, which is narrower.

        References
        ----------
        Zou and Donner 2008, Statistics in Medicine 27: the root of the sum of squares of the half intervals.

        >>> print(Estimate("A", 5.0, low=2.0, high=8.0, n=9).minus(Estimate("B", 1.0, low=-3.0, high=5.0, n=9)))
        A − B 4, 95 % interval -1 to 9 (n = 9 + 9, taken as independent)
        """
        if self.level != other.level or self.unit != other.unit:
            raise DataError(
                f"{self.name} and {other.name} have another unit or level; both must be the same."
            )
        down = math.hypot(self.value - self.low, other.high - other.value)
        up = math.hypot(self.high - self.value, other.value - other.low)
        value = self.value - other.value
        name = " − ".join(filter(None, (self.name, other.name)))
        sides = {"n": self.n, "n_docs": self.n_docs, "n_r": other.n, "docs_r": other.n_docs}
        ends = {"low": value - down, "high": value + up, "level": self.level}
        return Estimate(name, value, **ends, **sides, of=self.of, unit=self.unit)  # type: ignore[arg-type]

    def row(self) -> dict[str, float | int | str]:
        """name, value, low, high, se, n, unit, signature: a row of a table (`scoring.estimate_table` of several)."""
        names = ("name", "value", "low", "high", "se", "n", "unit", "signature")
        return {name: getattr(self, name) for name in names}
