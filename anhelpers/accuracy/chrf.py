"""chrF and chrF++ (Popović 2015, 2017) from counts per segment, equal to sacreBLEU's values to the last bit.

The n-grams of a segment's references form an Aho-Corasick automaton (Aho and Corasick 1975) over symbols: characters,
or words as numbers. A candidate takes one step per symbol and counts the state it reaches, the longest n-gram that ends
there; failure links lead to its shorter suffixes. 64 candidates are counted side by side.
"""

import string
from collections import Counter as Grams
from collections.abc import Callable
from functools import reduce
from operator import or_

import numpy as np
from numpy.typing import ArrayLike

from .._lazy import compiled

# Symbols (uint32) of some texts one after the other, and the (n+1,) int64 offsets of the texts in them.
Texts = tuple[np.ndarray, np.ndarray]
# (n texts, R streams of G references, (G+1,) first text of each reference) -> (n, S) counts.
Counter = Callable[[list[str], list[list[str | None]], np.ndarray], np.ndarray]

_CHAR_ORDER = 6  # Popović 2015
# recall counts twice as much: Popović 2016, http://aclweb.org/anthology/W16-2341
_BETA = 2
_WHITESPACE = np.array([c for c in range(0x3001) if chr(c).isspace()], dtype=np.uint32)
# the last stands for all beyond
_SPACE = np.array([chr(c).isspace() for c in range(0x3002)])
# likewise beyond ASCII
_MARK = np.array([chr(c) in string.punctuation for c in range(129)])

_LANES = 64  # candidates that are counted side by side
_LANE_BITS = np.uint64(6)
_MAX_SYMBOLS = 2**15 - 1  # counts are int16
_MAX_STATES = 2**16 - 1  # states are uint16
_MAX_TABLE = 2**25  # entries of one automaton: 64 MiB
_MAX_LOCAL = 2**16 - 1  # local symbols are uint16
# local symbols: skipped; not in the references; the references' own from here on
_SKIP, _OTHER, _FIRST = 0, 1, 2


def _counter(word_order: int = 0) -> Counter:
    """Return a function that counts n-grams of candidates and references.

    Counts are (n, 3 * (6 + word_order)) int64: for each order the n-grams of the candidate, of its reference, and those
    that match; first characters, then words. Of several references the best one counts; without any, all are 0.

    Parameters
    ----------
    word_order : int
        0 for chrF; 2 for chrF++, which also counts words.
    """

    def counts(hyps: list[str], refs: list[list[str | None]], groups: np.ndarray) -> np.ndarray:
        n, size = len(hyps), len(groups) - 1
        texts = _characters(hyps + [text or "" for stream in refs for text in stream])
        kinds: list[tuple[Texts, int, np.ndarray | None]] = [(texts, _CHAR_ORDER, _WHITESPACE)]
        if word_order:
            kinds.append((_words(texts, _split_edges), word_order, None))
        best, best_score = np.empty(0), np.empty(0)
        for r, stream in enumerate(refs):
            found = []
            for (symbols, at), order, skipped in kinds:
                own, of_ref = at[: n + 1], at[n + r * size : n + (r + 1) * size + 1]
                found.append(_counted((symbols, own), (symbols, of_ref), groups, order, skipped))
            stats = np.concatenate(found, axis=1)
            if len(refs) == 1:
                return stats
            missing = np.repeat([text is None for text in stream], np.diff(groups))
            score = np.where(missing, -1.0, _scores(stats))
            better = score > best_score if r else np.ones(n, bool)
            best = np.where(better[:, None], stats, best if r else stats)
            best_score = np.where(better, score, best_score if r else score)
        return best

    return counts


def _scores(stats: ArrayLike) -> np.ndarray:
    """F-score (β = 2) of precision and recall, averaged over the orders that both texts have.

    Parameters
    ----------
    stats : (..., S) counts of segments, or sums of them for a corpus or a resample.

    Returns
    -------
    (...) float64, points, 0 to 100; 0 if no order is in both.

    References
    ----------
    sacreBLEU's CHRF(eps_smoothing=False), in its order of operations.

    >>> _scores([3, 3, 3, 2, 2, 2])
    array(100.)
    """
    stats = np.asarray(stats, dtype=np.float64)
    hyp, ref, match = np.moveaxis(stats.reshape(*stats.shape[:-1], stats.shape[-1] // 3, 3), -1, 0)
    both = (hyp > 0) & (ref > 0)
    n = np.maximum(both.sum(axis=-1), 1)
    # cumsum adds in order; np.sum would not
    precision, recall = (
        np.cumsum(np.divide(match, of, out=np.zeros_like(of), where=both), axis=-1)[..., -1] / n
        for of in (hyp, ref)
    )
    total = _BETA**2 * precision + recall
    product = (1 + _BETA**2) * precision * recall
    return np.asarray(100 * np.divide(product, total, out=np.zeros_like(total), where=total > 0))


def _counted(
    hyps: Texts, refs: Texts, groups: np.ndarray, order: int, skipped: np.ndarray | None = None
) -> np.ndarray:
    """(n, 3 * order) counts; a candidate's n-grams do not count if its reference has none of that order."""
    lengths, ref_lengths, matches = _clipped_matches(hyps, refs, groups, order, skipped)
    ref_sizes = np.repeat(ref_lengths, np.diff(groups))
    of_hyp, of_ref = (np.maximum(n[:, None] - np.arange(order), 0) for n in (lengths, ref_sizes))
    triples = np.stack([np.where(of_ref > 0, of_hyp, 0), of_ref, matches], axis=-1)
    return triples.reshape(len(matches), 3 * order)


# -- texts as numbers --------------------------------------------------------------------------------------------------


def _characters(texts: list[str]) -> Texts:
    """Characters as symbols."""
    joined = "".join(texts).encode("utf-32-le", "surrogatepass")
    return np.frombuffer(joined, dtype=np.uint32), np.cumsum([0, *map(len, texts)], dtype=np.int64)


def _words(texts: Texts, split: Callable) -> Texts:
    """Words of texts as symbols: equal words have equal numbers.

    Parameters
    ----------
    texts : characters as symbols.
    split : compiled (symbols, offsets) -> bool: a new word begins here, even without white space before it.
    """
    return _number_words(*texts, split(*texts), _SPACE)


@compiled
def _split_edges(codes, starts):
    """Cut the mark at the end of a word, or else at its start; as sacreBLEU's chrF++."""
    cuts = np.zeros(codes.size + 1, np.bool_)
    last, last_mark = np.uint32(_SPACE.size - 1), np.uint32(_MARK.size - 1)
    for i in range(starts.size - 1):
        begin = starts[i]
        for k in range(starts[i], starts[i + 1]):
            if _SPACE[min(codes[k], last)]:
                begin = k + 1
            elif k + 1 == starts[i + 1] or _SPACE[min(codes[k + 1], last)]:
                if _MARK[min(codes[k], last_mark)]:
                    cuts[k] = True
                elif _MARK[min(codes[begin], last_mark)]:
                    cuts[begin + 1] = True
    return cuts


@compiled
def _number_words(codes, starts, cuts, space):
    """Number the words of all texts in a hash table of the places where each was first seen."""
    bits = np.uint64(4)
    while (1 << bits) < codes.size + starts.size:
        bits += np.uint64(1)
    # at most half of them are used
    slots = np.full(1 << bits, -1, np.int64)
    first, size = np.empty(codes.size, np.int64), np.empty(codes.size, np.int64)
    words, offsets = np.empty(codes.size, np.uint32), np.zeros(starts.size, np.int64)
    n, known, last, one = 0, 0, np.uint32(space.size - 1), np.uint64(1)
    for i in range(starts.size - 1):
        j, end = np.uint64(starts[i]), np.uint64(starts[i + 1])
        while j < end:
            if space[min(codes[j], last)]:
                j += one
                continue
            begin, key = j, np.uint64(0)
            while True:
                key = (key ^ np.uint64(codes[j])) * np.uint64(0x9E3779B97F4A7C15)
                j += one
                if j == end or cuts[j] or space[min(codes[j], last)]:
                    break
            slot = key >> (np.uint64(64) - bits)
            while slots[slot] >= 0 and not _equal(codes, first, size, slots[slot], begin, j):
                slot = (slot + one) & ((one << bits) - one)
            if slots[slot] < 0:
                slots[slot], first[known], size[known] = known, begin, j - begin
                known += 1
            words[n] = slots[slot]
            n += 1
        offsets[i + 1] = n
    return words[:n], offsets


@compiled
def _equal(codes, first, size, word, begin, end):
    """Whether a known word is the one at codes[begin:end]."""
    if size[word] != end - begin:
        return False
    at, different = np.uint64(first[word]), np.uint32(0)
    for k in range(end - begin):
        different |= codes[at + k] ^ codes[begin + k]
    return different == 0


# -- matches -----------------------------------------------------------------------------------------------------------


def _clipped_matches(
    hyps: Texts, refs: Texts, groups: np.ndarray, order: int, skipped: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Count n-grams of candidates that their references have, each at most as often as one of them has it.

    Parameters
    ----------
    hyps : n candidates.
    refs : G * R references; reference r of group g is text g * R + r.
    groups : (G+1,) int64; candidates groups[g] to groups[g+1] belong to the references of group g.
    order : int
        Longest n-gram.
    skipped : uint32 symbols to leave out, such as white space between characters.

    Returns
    -------
    (n,) lengths of candidates, (G * R,) of references, without skipped symbols, and (n, order) matches; all int64.
    """
    skipped = np.empty(0, np.uint32) if skipped is None else skipped
    of_refs = refs[0][refs[1][0] : refs[1][-1]]
    local = np.full(max(of_refs.max(initial=0), skipped.max(initial=0)) + 2, _OTHER, np.uint16)
    local[skipped] = _SKIP  # the last entry is for all symbols beyond
    matches = np.zeros((len(hyps[1]) - 1, order), dtype=np.int64)
    lengths, ref_lengths = _match(*hyps, *refs, groups, local, matches)
    per_group = len(ref_lengths) // max(len(groups) - 1, 1)
    for i in np.flatnonzero(matches[:, 0] < 0):
        g = int(np.searchsorted(groups, i, side="right")) - 1
        of = [(hyps, i), *((refs, g * per_group + r) for r in range(per_group))]
        texts = [symbols[starts[k] : starts[k + 1]] for (symbols, starts), k in of]
        matches[i] = _matches_of_long([t[~np.isin(t, skipped)] for t in texts], order)
    return lengths, ref_lengths, matches


def _matches_of_long(texts: list[np.ndarray], order: int) -> list[int]:
    """Clipped matches of the first text with the others, for texts that are too long for the tables."""
    counts = []
    for n in range(1, order + 1):
        starts = ([text[i:].tolist() for i in range(n)] for text in texts)
        own, *refs = (Grams(zip(*each, strict=False)) for each in starts)
        counts.append((own & reduce(or_, refs)).total())
    return counts


@compiled
def _match(symbols, starts, ref_symbols, ref_starts, groups, local, matches):
    """Fill `matches`, with -1 in the first column if a text is too long for these tables; return lengths."""
    order, per_group = matches.shape[1], (ref_starts.size - 1) // max(groups.size - 1, 1)
    lengths = np.zeros(starts.size - 1, np.int64)
    ref_lengths = np.zeros(ref_starts.size - 1, np.int64)
    table, counts, lanes = np.empty(0, np.uint16), np.empty(0, np.int16), np.empty(0, np.uint16)
    for g in range(groups.size - 1):
        refs = ref_starts[g * per_group : (g + 1) * per_group + 1]
        bits = _name_symbols(ref_symbols[refs[0] : refs[-1]], local)
        text = np.empty(refs[-1] - refs[0] + 1, np.uint16)
        text_starts = np.zeros(refs.size, np.int64)
        for r in range(per_group):
            n = _localise(ref_symbols[refs[r] : refs[r + 1]], local, text, text_starts[r])
            ref_lengths[g * per_group + r] = n
            text_starts[r + 1] = text_starts[r] + n
        states = 1 + order * text_starts[-1]
        fits = text_starts[-1] <= _MAX_SYMBOLS and states <= _MAX_STATES
        fits = fits and (states << bits) <= _MAX_TABLE
        fail, clip = np.empty(states, np.uint16), np.zeros(states, np.int16)
        first = np.ones(order + 2, np.int64)
        if fits:
            table, counts = _room(table, states << bits), _room(counts, states * _LANES)
            _build(text, text_starts, table, bits, fail, clip, first)
        for i in range(groups[g], groups[g + 1], _LANES):
            n = min(_LANES, groups[g + 1] - i)
            width = (starts[i + 1 : i + n + 1] - starts[i : i + n]).max() + 1
            lanes = _room(lanes, _LANES * width)
            for k in range(i, i + n):
                text_k = symbols[starts[k] : starts[k + 1]]
                lengths[k] = _localise(text_k, local, lanes, (k - i) * width)
            if fits and width <= _MAX_SYMBOLS:
                counts[: first[-1] * _LANES] = 0
                for k in range(0, n, 4):
                    _walk(lanes, width, lengths[i : i + n], k, table, bits, counts)
                _collect(counts, fail, clip, first, matches[i : i + n])
            else:
                matches[i : i + n, 0] = -1
        for s in ref_symbols[refs[0] : refs[-1]]:
            local[s] = min(local[s], _OTHER)
    return lengths, ref_lengths


@compiled
def _room(array, size):
    """The array if it is large enough, else an empty one of twice the size."""
    return array if array.size >= size else np.empty(2 * size, array.dtype)


@compiled
def _name_symbols(symbols, local):
    """Number the distinct symbols of a group's references from _FIRST on; return the bits of these numbers."""
    n = _FIRST
    for s in symbols:
        if local[s] == _OTHER:
            local[s] = min(n, _MAX_LOCAL)
            n += 1
    bits = np.uint64(1)
    while (1 << bits) < n:
        bits += np.uint64(1)
    return bits


@compiled
def _localise(symbols, local, out, to):
    """Write local symbols, without skipped ones, to out[to:]; return how many."""
    last = np.uint32(local.size - 1)
    k = to
    for symbol in symbols:
        s = local[min(symbol, last)]
        out[k] = s
        k += s != _SKIP
    return k - to


@compiled
def _build(text, starts, table, bits, fail, clip, first):
    """Build the automaton of a group's references; n-grams of order n are states first[n] to first[n + 1].

    The n-gram ending at j is the child of the (n-1)-gram ending at j-1, and fails to the (n-1)-gram ending at j. Its
    row is its failure's row until it gets children.
    """
    at, fresh = np.zeros(text.size, np.uint16), np.zeros(fail.size, np.int16)
    table[: 1 << bits] = 0
    states = 1
    for n in range(1, first.size - 1):
        first[n] = states
        for r in range(starts.size - 1):
            for j in range(starts[r + 1] - 1, starts[r] + n - 2, -1):
                parent = at[j - 1] if n > 1 else np.uint16(0)
                cell = (np.uint64(parent) << bits) | np.uint64(text[j])
                if table[cell] >= first[n]:
                    at[j] = table[cell]
                else:
                    fail[states] = at[j]
                    table[cell] = states
                    at[j] = states
                    states += 1
                fresh[at[j]] += 1
            for j in range(starts[r] + n - 1, starts[r + 1]):
                clip[at[j]] = max(clip[at[j]], fresh[at[j]])
            for j in range(starts[r] + n - 1, starts[r + 1]):
                fresh[at[j]] = 0
        for s in range(first[n], states):
            row, source = np.uint64(s) << bits, np.uint64(fail[s]) << bits
            for c in range(np.uint64(1) << bits):
                table[row + c] = table[source + c]
    first[first.size - 1] = states


@compiled
def _walk(lanes, width, lengths, k, table, bits, counts):
    """Send candidates k to k+3 of a block through the automaton, four at once to hide the latency of the table."""
    steps = lengths[k : k + 4].max()
    for m in range(k, k + 4):
        length = lengths[m] if m < lengths.size else 0
        lanes[m * width + length : m * width + steps] = _OTHER
    a = lanes[k * width : k * width + steps]
    b = lanes[(k + 1) * width : (k + 1) * width + steps]
    c = lanes[(k + 2) * width : (k + 2) * width + steps]
    d = lanes[(k + 3) * width : (k + 3) * width + steps]
    lane, one, two, three = np.uint64(k), np.uint64(1), np.uint64(2), np.uint64(3)
    s = t = u = v = np.uint64(0)
    for j in range(steps):
        s = np.uint64(table[(s << bits) | np.uint64(a[j])])
        t = np.uint64(table[(t << bits) | np.uint64(b[j])])
        u = np.uint64(table[(u << bits) | np.uint64(c[j])])
        v = np.uint64(table[(v << bits) | np.uint64(d[j])])
        counts[(s << _LANE_BITS) + lane] += 1
        counts[(t << _LANE_BITS) + lane + one] += 1
        counts[(u << _LANE_BITS) + lane + two] += 1
        counts[(v << _LANE_BITS) + lane + three] += 1


@compiled
def _collect(counts, fail, clip, first, matches):
    """Push counts down the failure links, longest n-grams first, and sum the clipped ones of each order.

    Three loops over the lanes, each with two arrays, so that the compiler takes many lanes at once.
    """
    total, here = np.empty(_LANES, np.int16), np.empty(_LANES, np.int16)
    used = (matches.shape[0] + 15) // 16 * 16
    for n in range(matches.shape[1], 0, -1):
        total[:] = 0
        for s in range(first[n + 1] - 1, first[n] - 1, -1):
            row, below, most = np.uint64(s) << _LANE_BITS, np.uint64(fail[s]) << _LANE_BITS, clip[s]
            for k in range(used):
                here[k] = counts[row + np.uint64(k)]
            for k in range(used):
                total[k] += min(here[k], most)
            for k in range(used):
                counts[below + np.uint64(k)] += here[k]
        for k in range(matches.shape[0]):
            matches[k, n - 1] = total[k]
