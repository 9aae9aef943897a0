"""What two models' scores of the same sentences must fulfil before they may be compared."""

from __future__ import annotations

import math
from collections.abc import Sequence, Sized

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..checks import LEAST_TOTAL, ROUNDING, too_low
from ..errors import DataError
from ..stats import correlation_interval, spearman

UNITS = {"nats": 1 / math.log(2), "bits": 1.0, "log10": math.log2(10)}  # bits in one of each

LEAST_LM = {"token": 0.4, "character": 0.3, "sentence": 12.0}
LEAST_MT = {"token": 0.1, "character": 0.05}
"""Bits below which sums over all tokens are doubtful: see `score_doubts`."""
LEAST_SHARE, MOST_SHARE = 0.31, 0.80  # of H_LM that a source saves
LEAST_RANKS = 0.5  # Spearman's correlation of two models' sums
ONE_RATIO = 0.005  # relative spread of two models' ratios
FEWEST = 10  # sentences, below which two models' scores may go together, or not, by chance

Tokens = Sequence[int] | Sequence[Sized | None] | Sequence[int | Sized | None]


def in_bits(name: str, logprobs: ArrayLike, unit: str) -> np.ndarray:
    """(n,) the surprisal of each sentence, -log2 q, in bits, at least 0; nan where it is missing.

    Parameters
    ----------
    logprobs : (n,) log q, at most 0.

    Raises
    ------
    DataError with the line of a positive or infinite log-probability, or of one lower than any model gives
    (`checks.too_low`); UnknownName for the unit.

    >>> in_bits("lm", [-2.0, 0.0], "bits").tolist()
    [2.0, 0.0]
    """
    factor = UNITS[checks.one_of(unit, UNITS, "unit")]
    logs = np.asarray(logprobs, dtype=np.float64)
    if logs.ndim != 1:
        raise DataError(
            f"log-probabilities have shape {logs.shape}: give a flat array, one sum per sentence.",
            name,
        )
    nats = factor * math.log(2)  # in one of the unit
    bad = np.flatnonzero((logs > ROUNDING) | (logs * nats < LEAST_TOTAL))
    if bad.size and logs[bad[0]] > 0:
        sentence = (
            f"{logs[bad[0]]:g} is a probability above 1; are these negative log-probabilities? "
            "Turn their sign."
        )
        raise DataError(sentence, name, int(bad[0]) + 1)
    if bad.size and np.isfinite(logs[bad[0]]):
        raise DataError(
            f"{logs[bad[0]]:.10g} {too_low(logs[bad[0]] * nats)}", name, int(bad[0]) + 1
        )
    if bad.size:
        raise DataError(
            "-inf makes the cross-entropy infinite; write nan to leave the sentence out.",
            name,
            int(bad[0]) + 1,
        )
    return np.maximum(-logs, 0.0) * factor


def same_tokens(mt: Tokens, lm: Tokens, there: np.ndarray) -> None:
    """A DataError names the first sentence that the two models cut into different tokens.

    Parameters
    ----------
    mt, lm : (n,) per sentence the number of tokens, or the tokens; None where they are unknown, which is not compared.
    there : (n,) bool, the sentences that both models scored.
    """
    checks.same_length(mt_tokens=mt, lm_tokens=lm, logprobs=there)
    for i in np.flatnonzero(there):
        a, b = mt[i], lm[i]
        if a is None or b is None:
            continue
        seen = _differ(a, b)
        if seen:
            raise DataError(
                f"the two models do not score the same token sequence: sentence {i + 1} {seen}; "
                "XMI per sentence needs one tokenizer; per_character (--per-char) is for two."
            )


def _differ(a: int | Sequence[str], b: int | Sequence[str]) -> str:
    """What differs, or an empty text."""
    n, m = (len(v) if isinstance(v, Sized) else int(v) for v in (a, b))
    if n != m:
        return f"has {n} tokens under mt and {m} under lm"
    if not (isinstance(a, Sized) and isinstance(b, Sized)):
        return ""
    odd = next((k for k in range(n) if a[k] != b[k]), None)
    return (
        "" if odd is None else f"has '{a[odd]}' under mt and '{b[odd]}' under lm as token {odd + 1}"
    )


def unit_doubt(
    logprobs: ArrayLike, counts: ArrayLike | Sequence[int | None], n_vocab: int, unit: str = "nats"
) -> str:
    """A warning, as one sentence, if a model needs more bits per token than a uniform guess; else an empty text.

    That is what base-2 scores taken for natural ones may look like, for they come out 1.44 times too large. The
    opposite, natural scores taken for base-2 ones, gives numbers that are too small, and no number tells that: a
    better model would look the same. Nothing is said below the uniform guess, whatever the unit.

    Parameters
    ----------
    logprobs, counts : (n,) summed log-probabilities and the number of tokens; a sentence without one of them (nan,
        None or no token) is left out. n_vocab : size of the vocabulary.

    >>> unit_doubt([-6.0], [2], n_vocab=10)
    '4.33 bits per token are more than a uniform guess over 10 tokens costs (3.32): is the unit really nats?'
    """
    bits, counts = in_bits("logprobs", logprobs, unit), np.asarray(counts, dtype=np.float64)
    checks.same_length(logprobs=bits, counts=counts)
    there = ~np.isnan(bits) & (counts > 0)
    if not there.any():
        return ""
    mean, guess = float(bits[there].sum() / counts[there].sum()), math.log2(n_vocab)
    if mean <= guess:
        return ""
    return (
        f"{mean:.2f} bits per token are more than a uniform guess over {n_vocab} tokens costs "
        f"({guess:.2f}): is the unit really {unit}?"
    )


def score_doubts(
    mt_logprobs: ArrayLike,
    lm_logprobs: ArrayLike,
    *,
    unit: str = "nats",
    n_tokens: ArrayLike | Sequence[int | None] | None = None,
    n_chars: ArrayLike | None = None,
) -> tuple[str, ...]:
    """Sentences on scores that hardly are sums over the tokens of the same sentences under two models; () for others.

    Nothing in a number says that it is a mean per token, of another text, or no score. What is plausible was measured:
    in the published results of 40 directions (Bugliarello et al. 2020, test and validation set) language models need
    4.3 to 5.6 bits per token, 0.90 to 1.05 per character and 145 to 173 per sentence, translation models 1.4 to 2.1,
    0.29 to 0.42 and 46 to 71, and the source saves 56 to 70 % of H_LM. Means per token taken for sums have a thirtieth
    of all that. Said is:

    - H_LM below 0.4 bits per token, 0.3 per character or, where the lengths are not known, 12 per sentence;
    - H_MT below 0.1 bits per token or 0.05 per character;
    - an XMI within 31 % of H_LM from 0, or above 80 % of it (one below 0 is told by `Xmi.notes`): with the published
      results in base 10, taken for natural logarithms, it is below 31 % if that is the LM, and 81 to 87 % if the MT;
    - a Spearman correlation of the two sums, over 10 sentences or more, whose 95 % interval lies below 0.5: both grow
      with the length of a sentence. (No real scores of both models were at hand: the sums of a language model and the
      words in which a system differs from the reference, in 400 sentences each of Europarl, TED, WMT23 and WMT24, have
      0.83 to 0.96, and -0.04 to 0.5 with the lines shifted.)
    - scores of 10 sentences or more that are in one ratio, up to 0.5 %;
    - scores of exactly 0, a probability of 1.

    Parameters
    ----------
    mt_logprobs, lm_logprobs, unit : as in `xmi`; sentences that miss a score are left out.
    n_tokens, n_chars : (N,) lengths of the sentences, as far as they are known (None or nan where not).

    >>> score_doubts([-2.0, -1.8], [-4.1, -4.4], unit="bits", n_tokens=[30, 28])[0]
    'h_lm is 0.147 bits per token, and language models need more than 0.4 (as means per token ...'
    """
    mt, lm = in_bits("mt_logprobs", mt_logprobs, unit), in_bits("lm_logprobs", lm_logprobs, unit)
    checks.same_length(mt_logprobs=mt, lm_logprobs=lm)
    there = ~(np.isnan(mt) | np.isnan(lm))
    known = {"token": n_tokens, "character": n_chars}
    lengths = {what: np.asarray(n, dtype=np.float64) for what, n in known.items() if n is not None}
    checks.same_length(logprobs=mt, **{f"{what}s": n for what, n in lengths.items()})
    lengths = {what: n for what, n in lengths.items() if (there & (n > 0)).any()} or {
        "sentence": np.ones(len(mt))
    }
    said = []
    for name, surprisal, least in (("h_lm", lm, LEAST_LM), ("h_mt", mt, LEAST_MT)):
        for what, n in lengths.items():
            use = there & (n > 0)
            mean = surprisal[use].sum() / n[use].sum() if use.any() else np.nan
            if what in least and mean < least[what]:
                model = "language" if name == "h_lm" else "translation"
                told = (
                    f"{name} is {mean:.3g} bits per {what}, and {model} models need more than "
                    f"{least[what]:g}"
                )
                if what == "token":
                    told += (
                        " (as means per token the scores would be "
                        f"{surprisal[use] @ n[use] / n[use].sum():.3g})"
                    )
                said.append(f"{told}: are the scores means per token? Give sums.")
                break
        if zeros := int((surprisal[there] == 0).sum()):
            told = (
                f"{zeros} of {there.sum()} sentences have a score of exactly 0 under {name[2:]}, a "
                "probability of 1"
            )
            said.append(f"{told}: are these missing? Write nan.")
    return (*said, *share_doubt(mt, lm), *_pairing_doubt(mt[there], lm[there]))


def share_doubt(mt: np.ndarray, lm: np.ndarray) -> tuple[str, ...]:
    """A sentence where the source saves next to none or nearly all of the bits; () elsewhere, see `score_doubts`.

    Parameters
    ----------
    mt, lm : (N,) surprisals of one unit, at least 0; nan: missing.
    """
    there = ~(np.isnan(mt) | np.isnan(lm))
    h_lm, h_mt = float(lm[there].sum()), float(mt[there].sum())
    share = (h_lm - h_mt) / h_lm if h_lm > 0 else math.nan
    told = f"XMI is {100 * share:.1f} % of h_lm, and the published models save 56 to 70 %"
    if abs(share) < LEAST_SHARE:
        move = (
            "are both scores of one model, of other sources, or without a source, or is one in "
            "another unit"
        )
        return (f"{told}: {move}?",)
    if share > MOST_SHARE:
        move = "are the mt scores means per token, in another unit, or not of the targets"
        return (f"{told}: {move}?",)
    return ()


def _pairing_doubt(mt: np.ndarray, lm: np.ndarray) -> tuple[str, ...]:
    """A sentence where the two models' sums go together less, or more, than those of the same sentences do."""
    some = (mt > 0) & (lm > 0)
    ratios = lm[some] / mt[some]
    if (
        len(ratios) == len(mt) >= FEWEST
        and np.ptp(mt)
        and np.ptp(ratios) <= 2 * ONE_RATIO * ratios.mean()
    ):
        told = f"each lm score is {ratios.mean():.4g} times the mt score of its sentence"
        return (f"{told}, in {len(mt)} sentences: are both of one model?",)
    r = float(spearman(mt, lm)) if len(mt) >= FEWEST else math.nan
    if not float(correlation_interval(r, len(mt))[1]) < LEAST_RANKS:
        return ()
    told = (
        f"the mt and lm scores hardly go together (Spearman's correlation {r:.2f} over {len(mt)} "
        "sentences)"
    )
    return (
        f"{told}, as sums of the same sentences do: are the lines of both of the same texts, in "
        "one order?",
    )


def token_counts(tokens: tuple[Tokens, ...] | None, there: np.ndarray) -> np.ndarray:
    """(N,) how many tokens each sentence has, its end included, from whichever model tells; nan where not scored.

    Parameters
    ----------
    tokens : of each model, as in `same_tokens`; None: unknown. there : (N,) bool, the sentences that are scored.

    Raises
    ------
    DataError names the first scored sentence whose tokens no model tells.
    """
    n_tokens = np.full(len(there), np.nan)
    for i in np.flatnonzero(there):
        known = next((side[i] for side in tokens or () if side[i] is not None), None)
        if known is None:
            told = (
                f"the tokens of sentence {i + 1} are not known, and the published count needs them"
            )
            raise DataError(f"{told}: give scores per token, or take count 'all'.")
        n_tokens[i] = len(known) if isinstance(known, Sized) else int(known)
    return n_tokens
