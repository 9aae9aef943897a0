"""Clipped n-gram matches of many candidates with few references, in one table step per symbol.

A symbol is any integer: a character's code point for chrF, a word's number for BLEU. The references' n-grams of all
orders form an Aho-Corasick automaton (Aho and Corasick 1975). A candidate takes one step per symbol and counts only the
state it arrives in, the longest n-gram that ends here; its shorter suffixes follow from the failure links at the end,
for 64 candidates side by side. Time is linear in the symbols; compared are the symbols themselves, never hashes.
"""

from __future__ import annotations

import numpy as np

from .._numba import compiled

LANES = 64  # candidates that are counted side by side
LANE_BITS = np.uint64(6)
MAX_SYMBOLS = 2**15 - 1  # counts are int16
MAX_STATES = 2**16 - 1  # states are uint16
MAX_TABLE = 2**25  # entries of one automaton: 64 MiB
# local symbols: not text; not in the references; the references' own from here on
SKIP, OTHER, FIRST = 0, 1, 2
MAX_LOCAL = 2**16 - 1  # local symbols are uint16


def clipped_matches(
    hyps, refs, groups, *, skipped, order
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """How many n-grams of each candidate are also in its references, each at most as often as in one of them.

    Parameters
    ----------
    hyps : (symbols, starts), read-only uint32 symbols of all n candidates and their (n+1,) int64 offsets.
    refs : the same of G * R references: reference r of group g is text g * R + r.
    groups : (G+1,) int64; candidates groups[g] to groups[g+1] belong to the references of group g.
    skipped : uint32 symbols that are no text, such as white space between characters.
    order : the longest n-gram.

    Returns
    -------
    (n,) lengths of the candidates and (G * R,) of the references, in symbols without the skipped ones, and (n, order)
    matches; all int64.
    """
    matches = np.zeros((len(hyps[1]) - 1, order), dtype=np.int64)
    lengths, ref_lengths = _match(*hyps, *refs, groups, skipped, matches)
    per_group = len(ref_lengths) // max(len(groups) - 1, 1)
    for i in np.flatnonzero(matches[:, 0] < 0):
        g = int(np.searchsorted(groups, i, side="right")) - 1
        texts = [_text(hyps[0], hyps[1], i, skipped)]
        texts += [
            _text(refs[0], refs[1], r, skipped) for r in range(g * per_group, (g + 1) * per_group)
        ]
        matches[i] = matches_by_sorting(texts, order)
    return lengths, ref_lengths, matches


def _text(symbols: np.ndarray, starts: np.ndarray, i: int, skipped: np.ndarray) -> np.ndarray:
    text = symbols[starts[i] : starts[i + 1]]
    return text[~np.isin(text, skipped)]


def matches_by_sorting(texts: list[np.ndarray], order: int) -> list[int]:
    """The clipped matches of the first text with the others, of any length: for texts too long for the tables below."""
    owner = np.repeat(np.arange(len(texts)), [len(text) for text in texts])
    symbols = np.unique(np.concatenate(texts), return_inverse=True)[1].astype(np.int64)
    grams, counts = symbols, []
    for n in range(1, order + 1):
        if n > 1:  # an n-gram is an (n-1)-gram and the symbol after it
            grams = grams[:-1] * (symbols.max(initial=0) + 1) + symbols[n - 1 :]
            grams = np.unique(grams, return_inverse=True)[1]
        first, last = owner[: len(grams)], owner[n - 1 :]
        inside = first == last
        table = np.zeros((len(texts), grams.max(initial=0) + 1), dtype=np.int64)
        np.add.at(table, (first[inside], grams[inside]), 1)
        counts.append(int(np.minimum(table[0], table[1:].max(axis=0)).sum()))
    return counts


@compiled
def _match(symbols, starts, ref_symbols, ref_starts, groups, skipped, matches):
    """Fill `matches`, with -1 in the first column where a text is too long for these tables; return the lengths."""
    order, per_group = matches.shape[1], (ref_starts.size - 1) // max(groups.size - 1, 1)
    lengths = np.zeros(starts.size - 1, np.int64)
    ref_lengths = np.zeros(ref_starts.size - 1, np.int64)
    local = _nothing_local(ref_symbols, skipped)
    table, counts, lanes = np.empty(0, np.uint16), np.empty(0, np.int16), np.empty(0, np.uint16)
    for g in range(groups.size - 1):
        refs = ref_starts[g * per_group : (g + 1) * per_group + 1]
        shift = _name_symbols(ref_symbols, refs[0], refs[-1], local)
        text, text_starts = _localise_all(ref_symbols, refs, local)
        # np.diff, with all that it may complain of, takes numba seconds to compile
        for r in range(per_group):
            ref_lengths[g * per_group + r] = text_starts[r + 1] - text_starts[r]
        states = 1 + order * text_starts[-1]
        fits = (
            states <= MAX_STATES
            and text_starts[-1] <= MAX_SYMBOLS
            and (states << shift) <= MAX_TABLE
        )
        fail, clip = np.empty(states, np.uint16), np.zeros(states, np.int16)
        first = np.ones(order + 2, np.int64)
        if fits:
            table, counts = _room(table, states << shift), _room(counts, states * LANES)
            _build(text, text_starts, table, shift, fail, clip, first)
        for i in range(groups[g], groups[g + 1], LANES):
            n = min(LANES, groups[g + 1] - i)
            width = _longest(starts, i, n) + 1
            lanes = _room(lanes, LANES * width)
            for k in range(n):
                lengths[i + k] = _localise(
                    symbols, starts[i + k], starts[i + k + 1], local, lanes, k * width
                )
            if fits and width <= MAX_SYMBOLS:
                counts[: first[-1] * LANES] = 0
                for k in range(0, n, 4):
                    _walk(lanes, width, lengths[i : i + n], k, table, shift, counts)
                _collect(counts, fail, clip, first, matches[i : i + n])
            else:
                matches[i : i + n, 0] = -1
        _forget_symbols(ref_symbols, refs[0], refs[-1], local)
    return lengths, ref_lengths


@compiled
def _room(array, size):
    """The array where it is large enough, else an empty one of twice the size."""
    return array if array.size >= size else np.empty(2 * size, array.dtype)


@compiled
def _longest(starts, i, n):
    longest = np.int64(0)
    for k in range(i, i + n):
        longest = max(longest, starts[k + 1] - starts[k])
    return longest


@compiled
def _nothing_local(ref_symbols, skipped):
    """The local symbol of every symbol before the first reference; the last entry stands for all symbols beyond."""
    last = np.uint32(0)
    for s in skipped:
        last = max(last, s)
    for s in ref_symbols:
        last = max(last, s)
    local = np.full(np.int64(last) + 2, OTHER, np.uint16)
    for s in skipped:
        local[s] = SKIP
    return local


@compiled
def _name_symbols(symbols, begin, end, local):
    """Number the distinct symbols of a group's references from FIRST on; return the bits that hold these numbers."""
    n = FIRST
    for j in range(begin, end):
        if local[symbols[j]] == OTHER:
            local[symbols[j]] = min(n, MAX_LOCAL)
            n += 1
    bits = np.uint64(1)
    while (1 << bits) < n:
        bits += np.uint64(1)
    return bits


@compiled
def _forget_symbols(symbols, begin, end, local):
    for j in range(begin, end):
        if local[symbols[j]] != SKIP:
            local[symbols[j]] = OTHER


@compiled
def _localise(symbols, begin, end, local, out, to):
    """Write a text's local symbols, without the skipped ones, to out[to:]; return how many."""
    last = np.uint32(local.size - 1)
    k = to
    for j in range(begin, end):
        s = local[min(symbols[j], last)]
        out[k] = s
        k += s != SKIP
    return k - to


@compiled
def _localise_all(symbols, starts, local):
    """The local symbols of several texts, and their offsets."""
    out = np.empty(starts[-1] - starts[0] + 1, np.uint16)
    out_starts = np.zeros(starts.size, np.int64)
    for r in range(starts.size - 1):
        out_starts[r + 1] = out_starts[r] + _localise(
            symbols, starts[r], starts[r + 1], local, out, out_starts[r]
        )
    return out, out_starts


@compiled
def _build(text, starts, table, shift, fail, clip, first):
    """The automaton of all n-grams of a group's references; the n-grams are states first[n] to first[n + 1].

    The n-gram ending at j is the child of the (n-1)-gram ending at j-1, and fails to the (n-1)-gram ending at j. Its
    row is its failure's row until it gets children of its own.
    """
    at, fresh = np.zeros(text.size, np.uint16), np.zeros(fail.size, np.int16)
    table[: 1 << shift] = 0
    states = 1
    for n in range(1, first.size - 1):
        first[n] = states
        for r in range(starts.size - 1):
            for j in range(starts[r + 1] - 1, starts[r] + n - 2, -1):
                parent = at[j - 1] if n > 1 else np.uint16(0)
                cell = (np.uint64(parent) << shift) | np.uint64(text[j])
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
            row, source = np.uint64(s) << shift, np.uint64(fail[s]) << shift
            for c in range(np.uint64(1) << shift):
                table[row + c] = table[source + c]
    first[first.size - 1] = states


@compiled
def _walk(lanes, width, lengths, k, table, shift, counts):
    """Send candidates k to k+3 of a block through the automaton, four at once to hide the wait for the table."""
    steps = lengths[k : k + 4].max()
    for m in range(k, k + 4):
        length = lengths[m] if m < lengths.size else 0
        lanes[m * width + length : m * width + steps] = OTHER
    a = lanes[k * width : k * width + steps]
    b = lanes[(k + 1) * width : (k + 1) * width + steps]
    c = lanes[(k + 2) * width : (k + 2) * width + steps]
    d = lanes[(k + 3) * width : (k + 3) * width + steps]
    lane, one, two, three = np.uint64(k), np.uint64(1), np.uint64(2), np.uint64(3)
    s = t = u = v = np.uint64(0)
    for j in range(steps):
        s = np.uint64(table[(s << shift) | np.uint64(a[j])])
        t = np.uint64(table[(t << shift) | np.uint64(b[j])])
        u = np.uint64(table[(u << shift) | np.uint64(c[j])])
        v = np.uint64(table[(v << shift) | np.uint64(d[j])])
        counts[(s << LANE_BITS) + lane] += 1
        counts[(t << LANE_BITS) + lane + one] += 1
        counts[(u << LANE_BITS) + lane + two] += 1
        counts[(v << LANE_BITS) + lane + three] += 1


@compiled
def _collect(counts, fail, clip, first, matches):
    """Push the counts down the failure links, longest n-grams first, and sum the clipped ones of each order.

    Three loops over the lanes, each with two arrays: so the compiler sees that it may take many lanes at once.
    """
    total, here = np.empty(LANES, np.int16), np.empty(LANES, np.int16)
    used = (matches.shape[0] + 15) // 16 * 16
    for n in range(matches.shape[1], 0, -1):
        total[:] = 0
        for s in range(first[n + 1] - 1, first[n] - 1, -1):
            row, below, most = np.uint64(s) << LANE_BITS, np.uint64(fail[s]) << LANE_BITS, clip[s]
            for k in range(used):
                here[k] = counts[row + np.uint64(k)]
            for k in range(used):
                total[k] += min(here[k], most)
            for k in range(used):
                counts[below + np.uint64(k)] += here[k]
        for k in range(matches.shape[0]):
            matches[k, n - 1] = total[k]
