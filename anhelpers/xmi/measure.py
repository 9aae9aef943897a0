"""Cross-entropies and cross-mutual information in bits, with resampled intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence, Sized
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from .._lazy import pd
from ..bootstrap import MeanInterval, bootstrap_means, clusters_of
from ..errors import DataError, counted
from ..estimate import Estimate

# bits in one of each
UNITS = {"nats": 1 / math.log(2), "bits": 1.0, "log10": math.log2(10)}

Tokens = Sequence[int] | Sequence[Sized | None] | Sequence[int | Sized | None]

SENTENCE = "bits per sentence"
# How bits of tokens become bits of a sentence: by eq. 2, or as in the published Table 1.
COUNTS = {
    "all": "sum over tokens, mean over sentences",
    "published": "mean over tokens × (tokens - 1 per sentence)",
}

_NAMES = {"source": ["h_lm", "h_mt", "xmi"], "context": ["h_mt", "h_mt_context", "cxmi"]}
"""What only the first model has read -> names of the two entropies and their difference."""


@dataclass(frozen=True)
class Xmi:
    """H_LM(T), H_MT(T | S) and XMI(S → T) = H_LM - H_MT, from the same resamples.

    Parameters
    ----------
    h_lm, h_mt, xmi : Estimate
        In bits per sentence, or per character from `per_character`. From ``xmi(given="context")``
        they are named h_mt, h_mt_context and cxmi: H_MT(T | S), H_MT(T | S, C) and CXMI.
    left_out : int
        Sentences without a score of both models.
    """

    h_lm: Estimate
    h_mt: Estimate
    xmi: Estimate
    left_out: int = 0

    @property
    def bits(self) -> tuple[Estimate, Estimate, Estimate]:
        """H_LM, H_MT and XMI, or H_MT without context, H_MT with context and CXMI."""
        return self.h_lm, self.h_mt, self.xmi

    @property
    def notes(self) -> tuple[str, ...]:
        """Cautions about the sentences and the intervals."""
        xmi, n = self.xmi, self.xmi.n
        left = f"{self.left_out} of {n + self.left_out} sentences left out: a score or text is missing."
        below = f"{xmi.name.partition('_')[0].upper()} is below 0 with its whole interval. "
        below += "Are the two models swapped?"
        return tuple(
            filter(None, (left * bool(self.left_out), below * (xmi.high < 0), xmi.caution))
        )

    def __str__(self) -> str:
        missing = f"; {self.left_out} sentences left out" if self.left_out else ""
        return "; ".join(map(str, self.bits)) + missing

    def rows(self, direction: str) -> pd.DataFrame:
        """Tabulate H_LM, H_MT and XMI of a direction.

        Returns
        -------
        direction, quantity, value, se, low, high, unit, n, signature.
        """
        names = ["direction", "quantity", "value", "se", "low", "high", "unit", "n", "signature"]
        table = pd.DataFrame([one.row() for one in self.bits]).rename(columns={"name": "quantity"})
        return table.assign(direction=direction)[names]


def sentence_cross_entropy(
    logprobs: ArrayLike,
    *,
    unit: str = "nats",
    docs: Sequence | None = None,
    rng: np.random.Generator,
    n_draws: int = 1000,
) -> Estimate:
    """Mean number of bits that a model needs for a sentence: H = -(1/N) Σ log2 q(t).

    Parameters
    ----------
    logprobs : (N,) array
        Log-probabilities summed over the tokens of a sentence, its end included; nan: missing.
    unit : str
        Of the scores: "nats", "bits" (base 2) or "log10" (KenLM, SRILM).
    docs : (N,) sequence, optional
        Document of each sentence, resampled whole. Sentences are resampled without documents, or
        if there is only one.

    Raises
    ------
    DataError : a positive or infinite score (with its line), or fewer than 2 scored sentences.

    References
    ----------
    Bugliarello et al. 2020, eqs. 1 and 2.

    >>> sentence_cross_entropy([-2.0, -4.0], unit="bits", rng=np.random.default_rng(0)).value
    3.0
    """
    surprisal = _in_bits("logprobs", logprobs, unit)
    how = unit, COUNTS["all"], docs, rng, n_draws
    return _measured(["H"], [surprisal], ~np.isnan(surprisal), how)[0]


def xmi(
    mt_logprobs: ArrayLike,
    lm_logprobs: ArrayLike,
    *,
    unit: str = "nats",
    tokens: tuple[Tokens, Tokens] | None = None,
    count: str = "all",
    given: str = "source",
    docs: Sequence | None = None,
    rng: np.random.Generator,
    n_draws: int = 1000,
) -> Xmi:
    """Bits of a target sentence that its source saves: XMI(S → T) = H_LM(T) - H_MT(T | S).

    Parameters
    ----------
    mt_logprobs, lm_logprobs : (N,) array
        log q_MT(t | s) and log q_LM(t), summed over the same tokens of a sentence, its end
        included. A sentence with a nan (missing) is left out.
    unit : str
        Of all scores: "nats", "bits" (base 2) or "log10" (KenLM, SRILM). Bits read as nats make
        all numbers 1.44 times too large; the scores alone do not show it.
    tokens : pair of (N,) sequences, optional
        Of (mt, lm): the tokens of each sentence or their number, the end included. They must agree.
    count : str
        "all": all tokens of a sentence count, its end included (eq. 2). "published": the mean
        over all tokens times the tokens without ends, as in the paper's Table 1 (see
        `published`); needs `tokens`.
    given : str
        What only the first model has read. "source": XMI. "context": CXMI(C → T | S), the bits that
        context saves, H_MT(T | S) - H_MT(T | S, C); `mt_logprobs` are log q_MT(t | s, c), and
        `lm_logprobs` are log q_MT(t | s), both of a translation model.
    docs : (N,) sequence, optional
        Document of each sentence, resampled whole, as in `sentence_cross_entropy`.

    Returns
    -------
    Xmi, in bits per sentence; negative if source or context makes the sentences harder to predict.

    Raises
    ------
    DataError : unequal lengths, different tokens, and as in `sentence_cross_entropy`.

    References
    ----------
    Bugliarello et al. 2020, eqs. 3 and 4; the published count: eval_mt.py and eval_lm.py of their
    repository. CXMI: Fernandes et al. 2021; their program prints nats per token.

    >>> xmi([-1.0, -3.0], [-5.0, -4.0], unit="bits", rng=np.random.default_rng(0)).xmi.value
    2.5
    """
    mt, lm, scored = _pair(mt_logprobs, lm_logprobs, unit)
    if tokens is not None:
        _same_tokens(*tokens, scored)
    columns, of = [lm, mt, lm - mt], None
    # less one mean token each
    if checks.one_of(count, COUNTS, "count") == "published":
        columns.append(_token_counts(tokens, scored))
        of = lambda means: means[..., :3] * (1 - 1 / means[..., 3:])  # noqa: E731
    names, how = _NAMES[checks.one_of(given, _NAMES, "given")], (unit, COUNTS[count])
    h_lm, h_mt, gap = _measured(names, columns, scored, (*how, docs, rng, n_draws), of)
    return Xmi(h_lm, h_mt, gap, int((~scored).sum()))


def per_character(
    mt_logprobs: ArrayLike,
    lm_logprobs: ArrayLike,
    n_chars: ArrayLike,
    *,
    unit: str = "nats",
    docs: Sequence | None = None,
    rng: np.random.Generator,
    n_draws: int = 1000,
) -> Xmi:
    """Bits that the source saves per character: all bits of the test set over all characters.

    It compares models with different tokenizers, each by the probability of its own segmentation.
    It is a different quantity from XMI per sentence, and weighs long sentences more.

    Parameters
    ----------
    mt_logprobs, lm_logprobs, unit, docs : as in `xmi`
    n_chars : (N,) array
        `characters` of each target sentence, at least 1; a sentence with nan is left out.

    Raises
    ------
    DataError : as in `xmi`, and a scored sentence with less than one character.

    >>> per_character([-1, -3], [-5, -5], [2, 4], unit="bits", rng=np.random.default_rng(0)).xmi.value
    1.0
    """
    mt, lm, scored = _pair(mt_logprobs, lm_logprobs, unit)
    chars = np.asarray(n_chars, dtype=np.float64)
    checks.same_length(logprobs=mt, n_chars=chars)
    scored &= ~np.isnan(chars)
    if (bad := np.flatnonzero(scored & ~((chars >= 1) & np.isfinite(chars)))).size:
        message = f"got length {chars[bad[0]]:g}, expected at least 1 character."
        raise DataError(message, "n_chars", int(bad[0]) + 1)
    names, columns = ["h_lm_per_char", "h_mt_per_char", "xmi_per_char"], [lm, mt, lm - mt, chars]
    how = unit, "all bits / all characters", docs, rng, n_draws
    of = lambda means: means[..., :3] / means[..., 3:]  # noqa: E731
    h_lm, h_mt, gap = _measured(names, columns, scored, how, of, "bits per character")
    return Xmi(h_lm, h_mt, gap, int((~scored).sum()))


def characters(trgs: Sequence[str]) -> np.ndarray:
    """(N,) number of characters of each target without outer white space; nan for a blank one.

    >>> characters(["Ja. ", ""]).tolist()
    [3.0, nan]
    """
    trgs = checks.texts("trgs", trgs)
    return np.array([len(trg.strip()) or np.nan for trg in trgs], dtype=np.float64)


def pointwise_xmi(mt_logprobs: ArrayLike, lm_logprobs: ArrayLike) -> np.ndarray:
    """Bits of each sentence that its source saves, from nats: log2 q_MT(t | s) - log2 q_LM(t).

    Returns
    -------
    (N,) bits, whose mean is XMI; negative if the source misleads, nan if a score is missing.

    >>> pointwise_xmi([-1.0, -3.0], [-5.0, -2.0]).round(2).tolist()
    [5.77, -1.44]
    """
    mt, lm, _ = _pair(mt_logprobs, lm_logprobs, "nats")
    return lm - mt


def xmi_difference(
    first: tuple[ArrayLike, ArrayLike],
    second: tuple[ArrayLike, ArrayLike],
    *,
    unit: str = "nats",
    docs: Sequence | None = None,
    rng: np.random.Generator,
    n_draws: int = 1000,
) -> Estimate:
    """XMI of a first direction less that of a second one, paired by sentence.

    Parameters
    ----------
    first, second : pair of (N,) arrays
        (mt_logprobs, lm_logprobs) of two directions over the same N sentences, such as en → de
        and de → en. A sentence without any of the four scores is left out.
    unit, docs : as in `xmi`, of both directions

    >>> first, second = ([-1.0, -3.0], [-5.0, -4.0]), ([-2.0, -2.0], [-3.0, -5.0])
    >>> xmi_difference(first, second, unit="bits", rng=np.random.default_rng(0)).value
    0.5
    """
    a_mt, a_lm, a_scored = _pair(*first, unit)
    b_mt, b_lm, b_scored = _pair(*second, unit)
    checks.same_length(first=a_mt, second=b_mt)
    how = unit, COUNTS["all"], docs, rng, n_draws
    gap = (a_lm - a_mt) - (b_lm - b_mt)
    return _measured(["xmi difference"], [gap], a_scored & b_scored, how)[0]


def _bits(
    names: Sequence[str], found: MeanInterval, signature: str, unit: str = SENTENCE
) -> list[Estimate]:
    """Return means with their intervals as estimates, the last with a caution; an entropy's interval ends at 0.

    Parameters
    ----------
    names : one of each mean; "H" and "h_…" are entropies
    found : as many means over the same sentences
    """
    means = []
    for k, name in enumerate(names):
        one = found.estimate(k, name, unit, of="sentences", signature=signature)
        if name == "H" or name.startswith("h_"):
            one = replace(one, low=max(one.low, 0.0), high=max(one.high, 0.0))
        means.append(one)
    told = next((one.caution for one in means if one.caution), "")
    return [replace(one, caution=told * (one is means[-1])) for one in means]


def _pair(mt_logprobs: ArrayLike, lm_logprobs: ArrayLike, unit: str) -> tuple[np.ndarray, ...]:
    """The two surprisals of each sentence in bits, and whether both are known."""
    mt, lm = _in_bits("mt_logprobs", mt_logprobs, unit), _in_bits("lm_logprobs", lm_logprobs, unit)
    checks.same_length(mt_logprobs=mt, lm_logprobs=lm)
    return mt, lm, ~(np.isnan(mt) | np.isnan(lm))


def _measured(
    names: Sequence[str],
    columns: Sequence[np.ndarray],
    scored: np.ndarray,
    how: tuple[str, str, Sequence | None, np.random.Generator, int],
    of: Any = None,
    per: str = SENTENCE,
) -> list[Estimate]:
    """Means over the scored sentences, or what `of` makes of them, as `_bits`.

    Parameters
    ----------
    how : the scores' unit, how bits are counted, documents (None: each sentence is its own), random generator, draws
    """
    unit, told, docs, rng, n_draws = how
    docs = range(len(scored)) if docs is None else docs
    checks.same_length(logprobs=scored, docs=docs)
    docs = checks._names(docs)[checks.some(scored, "no sentence has all its scores.")]
    found = bootstrap_means(np.stack(columns, 1)[scored], clusters_of(docs), rng, n_draws, of=of)
    what = "documents" if found.n_clusters < found.n[0] else "sentences"
    what += " of one document" if len({*docs.tolist()}) == 1 else ""
    n = f"{len(found.draws)} resamples of {found.n_clusters} {what}"
    return _bits(names, found, f"scores in {unit}; {told}; {n}", per)


def _in_bits(name: str, logprobs: ArrayLike, unit: str) -> np.ndarray:
    """(n,) surprisal of each sentence, -log2 q, in bits, at least 0; nan if missing.

    Parameters
    ----------
    logprobs : (n,) log q, at most 0.

    Raises
    ------
    DataError : with its line, a positive or infinite log-probability. UnknownName : the unit.

    >>> _in_bits("lm", [-2.0, 0.0], "bits").tolist()
    [2.0, 0.0]
    """
    factor = UNITS[checks.one_of(unit, UNITS, "unit")]
    return np.maximum(-checks.logprobs(name, logprobs), 0.0) * factor


def _same_tokens(mt: Tokens, lm: Tokens, scored: np.ndarray) -> None:
    """Raise a DataError for the first sentence whose tokens differ between two models.

    Parameters
    ----------
    mt, lm : (n,) per sentence the number of tokens, or the tokens; None: unknown, not compared.
    scored : (n,) bool, the sentences to compare.
    """
    checks.same_length(mt_tokens=mt, lm_tokens=lm, logprobs=scored)
    for i in np.flatnonzero(scored):
        a, b = mt[i], lm[i]
        if a is None or b is None:
            continue
        texts = isinstance(a, Sequence) and isinstance(b, Sequence)
        if (list(a) != list(b)) if texts else (_number(a) != _number(b)):
            got = f"{counted(_number(a), 'token')} of mt, {_number(b)} of lm, expected the same"
            raise DataError(f"sentence {i + 1}: got {got}. Use per_character (--per-char).")


def _token_counts(tokens: tuple[Tokens, ...] | None, scored: np.ndarray) -> np.ndarray:
    """(n,) number of tokens of each sentence, from the first model that has it; nan: not scored.

    Parameters
    ----------
    tokens : of each model, as in `_same_tokens`.

    Raises
    ------
    DataError : a scored sentence whose tokens are unknown.
    """
    counts = np.full(len(scored), np.nan)
    for i in np.flatnonzero(scored):
        known = next((side[i] for side in tokens or () if side[i] is not None), None)
        if known is None:
            raise DataError(f"sentence {i + 1}: no number of tokens. Give them, or count 'all'.")
        counts[i] = _number(known)
    return counts


def _number(tokens: int | Sized) -> int:
    return len(tokens) if isinstance(tokens, Sized) else int(tokens)
