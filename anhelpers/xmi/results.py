"""Numbers in bits, as they leave: with interval, n and signature."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..bootstrap import MeanInterval, few_clusters
from ..estimate import Estimate


def bits(names: Sequence[str], found: MeanInterval, unit: str, signature: str) -> list[Estimate]:
    """Means with their intervals as numbers in bits; the interval of an entropy ends at 0 at the lowest.

    Parameters
    ----------
    names : one of each mean; "H" and "h_…" are entropies. found : as many means over the same sentences, none of them
        missing.
    """
    means = (
        found.estimate(k, name, unit, of="sentences", signature=signature)
        for k, name in enumerate(names)
    )
    return [
        replace(b, low=max(0.0, b.low), high=max(0.0, b.high))
        if b.name == "H" or b.name.startswith("h_")
        else b
        for b in means
    ]


@dataclass(frozen=True)
class Xmi:
    """H_LM(T), H_MT(T | S) and XMI(S → T) = H_LM - H_MT in bits per sentence, resampled together.

    `left_out` counts the sentences that one of the models did not score.

    Parameters
    ----------
    h_lm, h_mt, xmi : each with n and a 95 % interval.
    why : what the sentences left out lack. one_document : all are of one, so that sentences were resampled instead.
    """

    h_lm: Estimate
    h_mt: Estimate
    xmi: Estimate
    left_out: int = 0
    why: str = ""
    one_document: bool = False

    @property
    def bits(self) -> tuple[Estimate, Estimate, Estimate]:
        """H_LM, H_MT and XMI."""
        return self.h_lm, self.h_mt, self.xmi

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the intervals must know."""
        return _notes(self)

    def __str__(self) -> str:
        return _told(self)


@dataclass(frozen=True)
class XmiPerChar:
    """The same three in bits per character: another quantity, not comparable with bits per sentence.

    Parameters
    ----------
    h_lm_per_char, h_mt_per_char, xmi_per_char : each with n and a 95 % interval.
    left_out : sentences that one of the models did not score. why, one_document : as of `Xmi`.
    """

    h_lm_per_char: Estimate
    h_mt_per_char: Estimate
    xmi_per_char: Estimate
    left_out: int = 0
    why: str = ""
    one_document: bool = False

    @property
    def bits(self) -> tuple[Estimate, Estimate, Estimate]:
        """H_LM, H_MT and XMI, per character."""
        return self.h_lm_per_char, self.h_mt_per_char, self.xmi_per_char

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the intervals must know."""
        return _notes(self)

    def __str__(self) -> str:
        return _told(self)


def _told(found: Xmi | XmiPerChar) -> str:
    why = f" ({found.why})" if found.why else ""
    missing = f"; {found.left_out} sentences left out{why}" if found.left_out else ""
    return "; ".join(map(str, found.bits)) + missing


def _notes(found: Xmi | XmiPerChar) -> tuple[str, ...]:
    """An XMI below 0, sentences left out and why, and intervals that promise too much."""
    last, notes = found.bits[-1], []
    if last.high < 0:
        told = f"{last.name} is {last.value:.4g} {last.unit}, and its whole interval is below 0"
        why = "by these scores the targets are easier to predict without their source"
        ask = (
            "Are mt and lm swapped, in different units, a sum and a mean per token, or of "
            "different texts?"
        )
        notes.append(f"{told}: {why}. {ask}")
    if found.left_out:
        notes.append(
            f"{found.left_out} of {last.n + found.left_out} sentences left out: {found.why}."
        )
    if found.one_document:
        told = f"all {last.n} sentences are of one document, and one cannot be resampled"
        notes.append(
            f"{told}: sentences were, as if they were independent; the intervals are too short."
        )
    if few := few_clusters(
        last.n_docs, "documents" if last.n_docs < last.n else "sentences", last.n_effective
    ):
        notes.append(few)
    if still := [b.name for b in found.bits if b.low == b.high]:
        notes.append(
            f"every resample gives the same {' and '.join(still)}: an interval without width tells "
            "nothing."
        )
    return tuple(notes)
