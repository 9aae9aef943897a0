"""Cross-entropies and cross-mutual information in bits, with intervals from resampling sentences or documents."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..bootstrap import MeanInterval, Score, bootstrap_means, clusters_of
from ..errors import DataError
from ..estimate import Estimate
from .results import Xmi, XmiPerChar, bits
from .scores import Tokens, in_bits, same_tokens, token_counts

SENTENCE, CHARACTER = "bits per sentence", "bits per character"
COUNTS = {
    "all": "sum over tokens, mean over sentences",
    "published": "mean over tokens × (tokens - 1 per sentence)",
}
"""How bits of tokens become bits of a sentence: by eq. 2, or as the scripts behind the published Table 1 do it."""


def sentence_cross_entropy(
    logprobs: ArrayLike,
    *,
    unit: str = "nats",
    tokens: Tokens | None = None,
    count: str = "all",
    docs: Sequence | None = None,
    rng: np.random.Generator,
    n_draws: int = 1000,
) -> Estimate:
    """How many bits a model needs for a sentence on average: H = -(1/N) Σ log2 q(t).

    Parameters
    ----------
    logprobs : (N,) log-probabilities summed over the tokens of a sentence, its end included; nan: missing, left out.
    unit : of the scores: "nats" (natural logarithm), "bits" (base 2) or "log10" (base 10, as KenLM and SRILM have).
        The numbers do not show it.
    tokens : (N,) numbers of tokens, the end included, or the tokens themselves. count : as in `xmi`.
    docs : (N,) document of each sentence, resampled whole; None, or one document only: sentences are resampled, and
        the signature says so.

    Raises
    ------
    DataError with the line of a positive, infinite or hugely negative score, for fewer than 2 sentences, or for
    `count="published"` without the tokens of a sentence.

    References
    ----------
    Bugliarello et al. 2020, eqs. 1 and 2.

    >>> sentence_cross_entropy([-2.0, -4.0], unit="bits", rng=np.random.default_rng(0)).value
    3.0
    """
    surprisal = in_bits("logprobs", logprobs, unit)
    there, docs = ~np.isnan(surprisal), _docs(docs, len(surprisal))
    known = None if tokens is None else (tokens,)
    checks.same_length(logprobs=surprisal, **({} if tokens is None else {"tokens": tokens}))
    columns = [surprisal, *_lengths(count, known, there)]
    found = _enough(np.stack(columns, 1)[there], docs[there], rng, n_draws, _of_counts(count, 1))
    return bits(
        ["H"], found, SENTENCE, _signature(unit, COUNTS[count], found, n_draws, docs[there])
    )[0]


def xmi(
    mt_logprobs: ArrayLike,
    lm_logprobs: ArrayLike,
    *,
    unit: str = "nats",
    tokens: tuple[Tokens, Tokens] | None = None,
    count: str = "all",
    docs: Sequence | None = None,
    rng: np.random.Generator,
    n_draws: int = 1000,
) -> Xmi:
    """How many bits of a target sentence its source saves: XMI(S → T) = H_LM(T) - H_MT(T | S), in bits per sentence.

    Parameters
    ----------
    mt_logprobs, lm_logprobs : (N,) log q_MT(t | s) and log q_LM(t), summed over the tokens of a sentence, its end
        included, over the same tokens; where one is nan (missing), both are left out, and counted.
    unit : of all scores: "nats" (natural logarithm), "bits" (base 2) or "log10" (base 10, as KenLM and SRILM have).
        Taking bits for nats makes all numbers 1.44 times too large, base 10 for natural ones 2.3 times too small, and
        the scores alone do not show it.
    tokens : of (mt, lm), per sentence their number or the tokens themselves, the end included: they must agree.
    count : "all": all tokens of a sentence count, its end included, as eq. 2 has it. "published": the mean over all
        tokens, ends included, times the tokens without ends, as in the paper's Table 1 (see `published`); it needs
        `tokens`, and is smaller by 1 part in the number of tokens per sentence. Compare like with like only.
    docs : (N,) document of each sentence, resampled whole; None: sentences are resampled; so they are where all are of
        one document, which signature and notes then say.

    Returns
    -------
    Xmi. It is negative where the translation model predicts the sentences worse than the language model does.

    Raises
    ------
    DataError for unequal lengths, positive, infinite or hugely negative scores, different tokens, fewer than 2
    sentences, or `count="published"` without the tokens of a sentence.

    References
    ----------
    Bugliarello et al. 2020, eqs. 3 and 4; the published count: eval_mt.py and eval_lm.py of their repository.

    >>> xmi([-1.0, -3.0], [-5.0, -4.0], unit="bits", rng=np.random.default_rng(0)).xmi.value
    2.5
    """
    mt, lm, there = _pair(mt_logprobs, lm_logprobs, unit, tokens)
    docs, columns = _docs(docs, len(mt)), [lm, mt, lm - mt, *_lengths(count, tokens, there)]
    found = _enough(np.stack(columns, 1)[there], docs[there], rng, n_draws, _of_counts(count, 3))
    signature = _signature(unit, COUNTS[count], found, n_draws, docs[there])
    h_lm, h_mt, gap = bits(["h_lm", "h_mt", "xmi"], found, SENTENCE, signature)
    return Xmi(h_lm, h_mt, gap, int((~there).sum()), _lacking(mt, lm), _one(docs[there]))


def per_character(
    mt_logprobs: ArrayLike,
    lm_logprobs: ArrayLike,
    n_chars: ArrayLike,
    *,
    unit: str = "nats",
    docs: Sequence | None = None,
    rng: np.random.Generator,
    n_draws: int = 1000,
) -> XmiPerChar:
    """The bits that the source saves per character: all bits of the test set divided by all its characters.

    Two models with different tokenizers may be compared by it as far as each gives the probability of its own
    segmentation; it is another quantity than XMI, and weighs long sentences more.

    Parameters
    ----------
    mt_logprobs, lm_logprobs, unit, docs : as in `xmi`.
    n_chars : (N,) `characters` of each target sentence, at least 1; nan: missing, its sentence is left out.

    Raises
    ------
    DataError as in `xmi`, and for a sentence that has both scores and less than one character.

    >>> per_character([-1.0, -3.0], [-5.0, -5.0], [2, 4], unit="bits", rng=np.random.default_rng(0)).xmi_per_char.value
    1.0
    """
    mt, lm, there = _pair(mt_logprobs, lm_logprobs, unit, None)
    chars = np.asarray(n_chars, dtype=np.float64)
    checks.same_length(logprobs=mt, n_chars=chars)
    there &= ~np.isnan(chars)
    bad = np.flatnonzero(there & ~((chars >= 1) & np.isfinite(chars)))
    if bad.size:
        raise DataError(
            f"sentence {bad[0] + 1} has {chars[bad[0]]:g} characters; at least 1 is needed.",
            "n_chars",
        )
    columns, docs = np.stack([lm, mt, lm - mt, chars], 1)[there], _docs(docs, len(mt))[there]
    found = _enough(columns, docs, rng, n_draws, lambda means: means[..., :3] / means[..., 3:])
    names = ["h_lm_per_char", "h_mt_per_char", "xmi_per_char"]
    signature = _signature(unit, "all bits / all characters", found, n_draws, docs)
    h_lm, h_mt, gap = bits(names, found, CHARACTER, signature)
    return XmiPerChar(h_lm, h_mt, gap, int((~there).sum()), _lacking(mt, lm, chars), _one(docs))


def characters(trgs: Sequence[str]) -> np.ndarray:
    """(N,) the number of characters of each target, white space at both ends aside; nan for a blank one.

    >>> characters(["Ja. ", ""]).tolist()
    [3.0, nan]
    """
    return np.array([len(trg.strip()) or np.nan for trg in trgs], dtype=np.float64)


def pointwise_xmi(
    mt_logprobs: ArrayLike, lm_logprobs: ArrayLike, *, unit: str = "nats"
) -> np.ndarray:
    """How many bits of this very sentence its source saves: log2 q_MT(t | s) - log2 q_LM(t), whose mean is XMI.

    Parameters
    ----------
    mt_logprobs, lm_logprobs, unit : as in `xmi`.

    Returns
    -------
    (N,) bits, negative where the source misleads; nan where a score is missing.

    >>> pointwise_xmi([-1.0, -3.0], [-5.0, -2.0], unit="bits").tolist()
    [4.0, -1.0]
    """
    mt, lm, _ = _pair(mt_logprobs, lm_logprobs, unit, None)
    return lm - mt


def xmi_difference(
    first: tuple[ArrayLike, ArrayLike],
    second: tuple[ArrayLike, ArrayLike],
    *,
    unit: str = "nats",
    tokens: tuple[tuple[Tokens, Tokens], tuple[Tokens, Tokens]] | None = None,
    count: str = "all",
    docs: Sequence | None = None,
    rng: np.random.Generator,
    n_draws: int = 1000,
) -> Estimate:
    """How many bits per sentence more the source saves in the first direction than in the second, sentence by sentence.

    Parameters
    ----------
    first, second : (mt_logprobs, lm_logprobs) of two directions over the same N sentences, such as en → de and de → en
        on a parallel test set; a sentence that misses any of the four scores is left out.
    tokens : of (first, second), each as in `xmi`. unit, count, docs : as in `xmi`, of both directions.

    >>> first, second = ([-1.0, -3.0], [-5.0, -4.0]), ([-2.0, -2.0], [-3.0, -5.0])
    >>> xmi_difference(first, second, unit="bits", rng=np.random.default_rng(0)).value
    0.5
    """
    a_tokens, b_tokens = tokens or (None, None)
    a_mt, a_lm, a_there = _pair(*first, unit, a_tokens)
    b_mt, b_lm, b_there = _pair(*second, unit, b_tokens)
    checks.same_length(first=a_mt, second=b_mt)
    there, docs = a_there & b_there, _docs(docs, len(a_mt))
    lengths = *_lengths(count, a_tokens, there), *_lengths(count, b_tokens, there)
    gaps = (a_lm - a_mt, b_lm - b_mt)
    columns = [gaps[0] - gaps[1]] if count == "all" else [*gaps, *lengths]
    less = _of_counts(count, 2)  # each direction less its own mean token, then their difference
    of = less and (lambda means: less(means) @ [[1.0], [-1.0]])
    found = _enough(np.stack(columns, 1)[there], docs[there], rng, n_draws, of)
    return bits(
        ["xmi difference"],
        found,
        SENTENCE,
        _signature(unit, COUNTS[count], found, n_draws, docs[there]),
    )[0]


def _pair(
    mt_logprobs: ArrayLike, lm_logprobs: ArrayLike, unit: str, tokens: tuple[Tokens, Tokens] | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The two surprisals of each sentence in bits, and whether both are there."""
    mt, lm = in_bits("mt_logprobs", mt_logprobs, unit), in_bits("lm_logprobs", lm_logprobs, unit)
    checks.same_length(mt_logprobs=mt, lm_logprobs=lm)
    there = ~(np.isnan(mt) | np.isnan(lm))
    if tokens is not None:
        same_tokens(*tokens, there)
    return mt, lm, there


def _docs(docs: Sequence | None, n: int) -> np.ndarray:
    """(n,) the document of each sentence; each by itself without."""
    if docs is None:
        return np.arange(n)
    checks.same_length(logprobs=range(n), docs=docs)
    return np.asarray(docs)


def _enough(
    columns: np.ndarray, docs: np.ndarray, rng: np.random.Generator, n_draws: int, of: Score | None
) -> MeanInterval:
    """Means of the columns, or numbers made of them, by resampling documents; a DataError below 2 sentences."""
    if len(columns) < 2:
        raise DataError(f"{len(columns)} sentences have all their scores: at least 2 are needed.")
    return bootstrap_means(columns, clusters_of(docs), rng, n_draws, of=of)


def _of_counts(count: str, k: int) -> Score | None:
    """What the published count makes of k means of bits: one mean token less each; tokens are the columns behind."""
    return (
        (lambda means: means[..., :k] * (1 - 1 / means[..., k:])) if count == "published" else None
    )


def _lengths(count: str, tokens: tuple[Tokens, ...] | None, there: np.ndarray) -> list[np.ndarray]:
    """The numbers of tokens as a column, where the count needs them."""
    return (
        [token_counts(tokens, there)]
        if checks.one_of(count, COUNTS, "count") == "published"
        else []
    )


def _lacking(mt: np.ndarray, lm: np.ndarray, n_chars: np.ndarray | None = None) -> str:
    """Why sentences are left out, with how many of each kind."""
    a, b = np.isnan(mt), np.isnan(lm)
    chars = np.zeros(len(a), bool) if n_chars is None else np.isnan(n_chars)
    said = [
        (a & b, "no score of either model"),
        (a & ~b, "no score of the translation model"),
        (b & ~a, "no score of the language model"),
        (chars & ~a & ~b, "blank text"),
    ]
    return ", ".join(f"{what} ({int(some.sum())})" for some, what in said if some.any())


def _one(docs: np.ndarray) -> bool:
    """Whether all of several sentences are of one document."""
    return len(docs) > 1 and len(set(docs.tolist())) == 1


def _signature(unit: str, how: str, found: MeanInterval, n_draws: int, docs: np.ndarray) -> str:
    what = "documents" if found.n_clusters < found.n[0] else "sentences"
    what += " of one document" if _one(docs) else ""
    return f"scores in {unit}; {how}; {n_draws} resamples of {found.n_clusters} {what}"
