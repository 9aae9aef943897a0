"""Surface metrics with sacreBLEU's values and signatures: chrF, chrF++, BLEU and TER.

Each metric is a function of counts that add up over segments. Scores of a segment, of a corpus and of a resample are
the same function of different sums.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
import sacrebleu
from numpy.typing import ArrayLike

from .. import checks
from .._lazy import cores, is_compiling
from ..data.languages import spaced
from ..errors import DataError
from ..metrics import Asked, Metric
from ..progress import note_once, progress
from . import bleu, chrf

# Pairs of texts that sacreBLEU itself counts before numba would be imported and its loops compiled.
_FEW = 2_500
# Names -> labels.
METRICS = {"chrf": "chrF", "chrf++": "chrF++", "bleu": "BLEU", "ter": "TER"}

# an array of code points of 1 MiB stays in a core's second-level cache
_BATCH_CHARACTERS = 2**18
# A reference text, or None if it is missing; an empty text is a reference without words, as in sacreBLEU.
Reference = str | None


def surface_metric(name: str, trg_lang: str = "", n_refs: int | str = 1) -> Metric:
    """Return a surface metric: a score per segment and per corpus.

    A segment without any reference (None) has no score (nan) and no part in the score of a corpus. An empty text ("")
    is a reference without words.

    Parameters
    ----------
    name : {"chrf", "chrf++", "bleu", "ter"}
    trg_lang : str
        Target language, e.g. "de", which chooses BLEU's tokenizer.
    n_refs : int or "var"
        References of every segment that has any; "var" if segments differ. Part of the signature.

    Returns
    -------
    Metric; segment-level BLEU uses the effective order and corpus-level BLEU does not, so their signatures differ.

    Raises
    ------
    UnknownName; MissingExtra if BLEU's tokenizer for this language is not installed. The functions of the Metric raise
    DataError if texts do not align, and for a corpus without any reference.

    >>> surface_metric("chrf").score_segments(["Das ist gut.", "", "Nein."], refs=[["Das ist gut.", "Nein.", None]])
    array([100.,   0.,  nan])
    """
    label = METRICS[checks.one_of(name, METRICS, "surface metric")]
    _check_number(n_refs)
    of_segments, of_corpus = (sacrebleu_metric(name, trg_lang, segments=s) for s in (True, False))
    segment_scores, corpus_scores, counter = _functions(name, trg_lang)
    plain = cache(partial(_sacrebleu_counter, of_segments))
    signature, corpus_signature = (_signature(sacre, n_refs) for sacre in (of_segments, of_corpus))

    def count(hyps: Sequence[str], refs: Any, segment: ArrayLike | None = None) -> np.ndarray:
        batches = list(_batches(hyps, _streams(refs, label, n_refs), segment))
        if counter is None or (len(hyps) <= _FEW and not is_compiling()):
            return _gather(plain(), batches, 1)  # Python, which threads do not make faster
        return _gather(counter(), batches, cores())

    def score_segments(
        hyps: Sequence[str], refs: Any, srcs: Any = None, segment: ArrayLike | None = None
    ) -> np.ndarray:
        refs = _streams(refs, label, n_refs)
        scores, known = segment_scores(count(hyps, refs, segment)), _referenced(refs)
        return np.where(known if segment is None else known[np.asarray(segment)], scores, np.nan)

    def score_corpus(hyps: Sequence[str], refs: Any, srcs: Any = None) -> float:
        refs = _streams(refs, label, n_refs)
        checks.some(
            _referenced(refs), f"{label} of a corpus: got no reference, expected one at least."
        )
        # cumsum adds in order, as sacreBLEU: with several references, TER's lengths are fractions
        return float(corpus_scores(np.cumsum(count(hyps, refs), axis=0)[-1]))

    is_ter, same = name == "ter", corpus_signature == signature
    unit = "edits per 100 reference words" if is_ter else "points, 0 to 100"
    facts = name, label, unit, not is_ter, ("refs",), signature, score_segments, score_corpus
    # more edits than words are possible
    bounds = 0.0, np.inf if is_ter else 100.0
    by_sums: Any = {"count": count, "score_count": corpus_scores}
    return Metric(*facts, None if same else corpus_signature, **by_sums, bounds=bounds)


def _named(asked: Asked) -> Metric:
    """Return the surface metric of a row of the table of metrics."""
    return surface_metric(asked.name, asked.lang, asked.n_refs)


def sacrebleu_metric(name: str, trg_lang: str = "", *, segments: bool = False) -> Any:
    """Return sacreBLEU's own metric with the same options, for segments or for a corpus."""
    if name == "bleu":
        return bleu._sacrebleu_bleu(trg_lang, effective_order=segments)
    return sacrebleu.TER() if name == "ter" else sacrebleu.CHRF(word_order=2 * (name == "chrf++"))


def _functions(
    name: str, trg_lang: str
) -> tuple[Callable, Callable, Callable[[], chrf.Counter] | None]:
    """Scores of segments' counts, scores of sums of counts, and the maker of a compiled counter."""
    if name == "bleu":
        of_segments, of_corpus = (partial(bleu.scores, effective_order=e) for e in (True, False))
        return of_segments, of_corpus, partial(bleu._counter, trg_lang)
    if name == "ter":
        if trg_lang and not spaced(trg_lang):
            note_once(f"TER needs spaces, which '{trg_lang}' is written without. Use chrf or bleu.")
        return _ter_scores, _ter_scores, None
    return chrf._scores, chrf._scores, partial(chrf._counter, 2 * (name == "chrf++"))


def _signature(sacre: Any, n_refs: int | str) -> str:
    """Name and signature as sacreBLEU prints them, e.g. chrF2|nrefs:1|case:mixed|...; it needs a score first."""
    refs: Any = [["", ""], ["", None]] if n_refs == "var" else [["", ""]] * int(n_refs)
    return f"{sacre.corpus_score(['', ''], refs).name}|{sacre.get_signature()}"


# -- TER ---------------------------------------------------------------------------------------------------------------


def _ter_scores(stats: ArrayLike) -> np.ndarray:
    """Edits per 100 reference words; 100 if the references are empty and the candidate is not.

    Parameters
    ----------
    stats : (..., 2) counts of segments, or sums of them for a corpus or a resample.

    Returns
    -------
    (...) float64, edits per 100 reference words, 0 or more; lower is better.

    References
    ----------
    Snover et al. 2006; sacreBLEU's TER.

    >>> _ter_scores([[1, 4], [2, 0], [0, 0]])
    array([ 25., 100.,   0.])
    """
    edits, words = np.moveaxis(np.asarray(stats, dtype=np.float64), -1, 0)
    return 100 * np.where(words > 0, edits / np.where(words > 0, words, 1), edits > 0)


def _sacrebleu_counter(metric: Any) -> chrf.Counter:
    """Return a function that counts with a metric of sacreBLEU, each distinct pair once; 0 without any reference."""

    @cache
    def counted(hyp: str, *refs: str) -> list[float]:
        return metric._extract_corpus_statistics([hyp], [[ref] for ref in refs])[0]

    def counts(hyps: list[str], refs: list[list[Reference]], groups: np.ndarray) -> np.ndarray:
        known = [[text for text in of if text is not None] for of in zip(*refs, strict=True)]
        of_hyp = np.repeat(np.arange(len(known)), np.diff(groups)).tolist()
        none = [0.0] * len(counted("", ""))
        rows = [
            counted(hyp, *known[g]) if known[g] else none
            for hyp, g in zip(hyps, of_hyp, strict=True)
        ]
        return np.array(rows, dtype=np.float64).reshape(-1, len(none))

    return counts


# -- references and batches --------------------------------------------------------------------------------------------


def _check_number(n_refs: int | str) -> None:
    """Raise a DataError unless the number of references is "var" or at least 1."""
    if n_refs != "var":
        checks.whole("n_refs", n_refs)


def _streams(refs: Any, label: str, n_refs: int | str) -> list[list[Reference]]:
    """Return R lists of N texts, one list per reference; None if a reference is missing.

    Parameters
    ----------
    refs : list of lists
    label : str
        Label of the metric, for errors.
    n_refs : int or "var"
        References that each segment has, if it has any.
    """
    if refs is None or not len(refs) or any(isinstance(stream, str) for stream in refs):
        raise DataError("refs: expected a list of streams, a list of N texts for each reference.")
    found = [list(stream) for stream in refs]
    checks.same_length(**{f"reference stream {r}": stream for r, stream in enumerate(found)})
    for r, stream in enumerate(found):
        checks.texts(f"reference stream {r}", ["" if text is None else text for text in stream])
    counts = np.sum([[text is not None for text in stream] for stream in found], axis=0)
    if n_refs != "var" and (bad := np.flatnonzero((counts > 0) & (counts != n_refs))).size:
        got = f"{counts[bad[0]]} references of segment {bad[0]}"
        raise DataError(f"{label}: got {got}, expected n_refs={n_refs}. Or use n_refs='var'.")
    return found


def _referenced(refs: Sequence[Sequence[Reference]]) -> np.ndarray:
    """(N,) bool: the segment has at least one reference.

    >>> _referenced([["a", None, None], ["b", "c", None]]).tolist()
    [True, True, False]
    """
    return np.array([[text is not None for text in stream] for stream in refs], bool).any(0)


class _Batch(NamedTuple):
    """Candidates in the order of their segments; groups[g] to groups[g+1] have references g of all streams."""

    rows: Any
    hyps: list[str]
    refs: list[list[Reference]]
    groups: np.ndarray


def _batches(
    hyps: Sequence[str],
    refs: list[list[Reference]],
    segment: ArrayLike | None,
    characters: int = _BATCH_CHARACTERS,
) -> Iterator[_Batch]:
    """Cut candidates into batches of about `characters` characters; one empty batch if there are none."""
    hyps = checks.texts("hyps", hyps)
    ids = np.arange(checks.same_length(hyps=hyps, refs=refs[0])) if segment is None else segment
    ids = checks.segment_ids(ids, len(refs[0]))
    checks.same_length(hyps=hyps, segment=ids)
    order = np.argsort(ids, kind="stable")
    lengths = np.fromiter(map(len, hyps), np.int64, len(hyps))
    # + 1, so that blank texts fill a batch too
    filled = np.cumsum(lengths[order] + 1)
    begin = 0
    while begin < len(order) or begin == len(order) == 0:
        goal = (filled[begin - 1] if begin else 0) + characters
        end = max(begin + 1, int(np.searchsorted(filled, goal)))
        rows = order[begin:end]
        first = np.flatnonzero(np.diff(ids[rows], prepend=-1))
        here = ids[rows][first].tolist()
        texts = [[stream[i] for i in here] for stream in refs]
        yield _Batch(rows, [hyps[i] for i in rows.tolist()], texts, np.append(first, len(rows)))
        begin = end


def _gather(count: chrf.Counter, batches: list[_Batch], threads: int) -> np.ndarray:
    """(n, S) counts in the order of the candidates."""
    out, n = np.empty(0), sum(len(batch.rows) for batch in batches)
    with progress(0, "counting", "texts") as step, ThreadPoolExecutor(threads) as pool:
        parts = pool.map(lambda batch: count(*batch[1:]), batches)
        for batch, part in zip(batches, parts, strict=True):
            out = out if out.size else np.empty((n, part.shape[1]), part.dtype)
            out[batch.rows] = part
            step(len(part))
    return out
