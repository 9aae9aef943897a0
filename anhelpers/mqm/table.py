"""Systems by their penalties: intervals for other documents and other raters, and penalties of an average rater."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .. import checks
from .._lazy import pd
from ..bootstrap import bootstrap_means, clusters_of, few_clusters, student
from ..errors import DataError
from .scores import KINDS, MqmScores

# of the fit of severities: rounds, and the largest change of a severity at which it ends
_MOST_ROUNDS, _CLOSE = 5000, 1e-8


def system_table(scores: MqmScores, rng: np.random.Generator, n_draws: int = 1000) -> pd.DataFrame:
    """Penalty, accuracy and fluency of each system, the best first, each with two 95 % intervals.

    `penalty_low` to `penalty_high` is for other documents *and other raters*: the interval from resampled documents
    (segments of a single document), widened by the variance of raters with Student's t of the effective number of
    raters. It is about this system's own score. A strict rater is strict with every system, so it is too wide for
    *differences* of systems that the same raters rated: `penalty_low_same_raters` to `penalty_high_same_raters` and
    the paired tests of `plane` hold the raters fixed.

    Parameters
    ----------
    rng, n_draws : Generator, int
        Of the resampled documents.

    Returns
    -------
    DataFrame of system, n_segments, n_raters, n_docs, n_effective (`bootstrap.effective` documents), uneven; penalty,
    penalty_low, penalty_high and so on, MQM points per segment, lower is better; the same with _same_raters;
    resampled ("documents and raters"; without raters if one rater saw all of a system; "" without an interval);
    n_effective_raters; unit; signature. A system is averaged over the segments that were rated for it. There is no
    interval (nan) if these are of one document among several.

    References
    ----------
    Cameron, Gelbach and Miller 2011, JBES 29 (two-way clusters); Zou and Donner 2008 (adding the two halves).
    """
    table = scores.by("system").set_index("system")
    matrices = [scores.matrix(kind).values for kind in KINDS]
    docs = np.array(scores.docs)
    table["n_docs"] = [len(set(docs[~np.isnan(column)])) for column in matrices[0].T]
    if len(docs) > 1:
        found = bootstrap_means(np.hstack(matrices), clusters_of(docs), rng, n_draws)
        low, high, counting, uneven = (
            v.reshape(len(KINDS), -1)
            for v in (found.low, found.high, found.n_effective, found.uneven)
        )
    else:
        # one segment has no interval
        low = high = counting = np.full((len(KINDS), len(scores.systems)), np.nan)
        uneven = np.zeros(low.shape, dtype=bool)
    table["n_effective"], table["uneven"] = counting[0], uneven.any(0)
    mean = table[list(KINDS)].to_numpy().T
    down, up, raters = _with_raters(scores, mean, low, high)
    low = np.maximum(0, low)  # no penalty is below 0
    for i, kind in enumerate(KINDS):
        table[f"{kind}_low"], table[f"{kind}_high"] = down[i], up[i]
        table[f"{kind}_low_same_raters"], table[f"{kind}_high_same_raters"] = low[i], high[i]
    unit = "documents" if len(set(scores.docs)) > 1 else "segments"
    drawn = np.where(raters > 1, f"{unit} and raters", unit)
    table["resampled"] = np.where(np.isnan(low[0]), "", drawn)
    table["n_effective_raters"], table["unit"] = raters, "MQM points per segment (lower is better)"
    table["signature"] = scores.signature
    bounds = [kind + end for kind in KINDS for end in ("", "_low", "_high")]
    fixed = [f"{kind}{end}_same_raters" for kind in KINDS for end in ("_low", "_high")]
    last = ["resampled", "n_effective_raters", "unit", "signature"]
    table = table[
        ["n_segments", "n_raters", "n_docs", "n_effective", "uneven", *bounds, *fixed, *last]
    ]
    return table.sort_values("penalty", kind="stable").reset_index()


def rater_notes(table: pd.DataFrame) -> list[str]:
    """Sentences on the raters behind the intervals of a `system_table`: few of them, or one alone."""
    crossed = table[table.resampled.str.endswith("raters")]
    alone = table[(table.resampled != "") & ~table.resampled.str.endswith("raters")]
    notes = []
    if len(crossed):
        least = crossed.loc[crossed.n_effective_raters.idxmin()]
        counts = int(least.n_raters), "raters", float(least.n_effective_raters)
        notes.append(few_clusters(*counts, int(crossed.n_raters.max())))
    if len(alone):
        which = "each system" if len(alone) == len(table) else ", ".join(alone.system)
        notes.append(f"One rater saw all outputs of {which}; its interval is for this rater alone.")
    return list(filter(None, notes))


def _with_raters(
    scores: MqmScores, mean: np.ndarray, low: np.ndarray, high: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(3, S) lower and upper ends widened by the variance of raters, and (S,) effective raters of each system."""
    n = len(scores.systems)
    error, raters = np.zeros_like(mean), np.ones(n)
    docs = np.unique(clusters_of(np.array(scores.docs)), return_inverse=True)[1]
    cell = np.ravel_multi_index((scores.segment, scores.system), (len(scores.segments), n))
    weight = 1.0 / np.bincount(cell)[cell]
    for s in range(n):
        here = scores.system == s
        rater, w = scores.rater[here], weight[here] / weight[here].sum()
        of_rater = np.bincount(rater, w)
        if (of_rater > 0).sum() < 2:
            continue
        raters[s] = 1 / (of_rater**2).sum()
        if scores.severity is None:
            error[:, s] = _rater_error(scores.values[here], docs[scores.segment[here]], rater, w)
    if scores.severity_error is not None:
        raters[:] = len(scores.raters)
        error = mean * scores.severity_error[:, None]
    half = student(np.zeros_like(mean), error, np.broadcast_to(raters, mean.shape))[1]
    down = np.maximum(0, mean - np.hypot(mean - low, half))
    return down, mean + np.hypot(high - mean, half), raters


def _rater_error(
    values: np.ndarray, docs: np.ndarray, rater: np.ndarray, weight: np.ndarray
) -> np.ndarray:
    """(3,) standard error of a weighted mean of (U, 3) values due to its raters, crossed with documents.

    The variance of the sums of raters, less that of the cells of rater and document after both means are removed: what
    differs within a document is in the variance of documents already.
    """
    n = len(np.unique(rater))
    left = values - weight @ values
    between = _squares(rater, weight[:, None] * left) * n / (n - 1)
    for code in (rater, docs):
        sums = np.stack([np.bincount(code, weight * column) for column in left.T], axis=1)
        left = left - (sums / np.maximum(np.bincount(code, weight), 1e-300)[:, None])[code]
    cells = _squares(docs * (int(rater.max()) + 1) + rater, weight[:, None] * left)
    return np.sqrt(np.maximum(0.0, between - cells))


def _squares(code: np.ndarray, values: np.ndarray) -> np.ndarray:
    """(3,) sums of squares of the sums of (U, 3) values with one code."""
    return np.stack([(np.bincount(code, column) ** 2).sum() for column in values.T])


def adjust_raters(scores: MqmScores) -> MqmScores:
    """The penalties of an average rater: the part due to each rater's severity is removed.

    The model is E[penalty] = system × segment × severity of the rater, fitted by Poisson quasi-likelihood, which
    assumes nothing but that mean. Severities have the mean 1 over raters and are a random effect: each is shrunk
    towards 1 by the share of its variance that is chance (documents resampled, one rater at a time). The adjusted
    penalty is penalty − (severity − 1) × expected penalty, in MQM points, lower is better. Means over systems and
    segments are unbiased; a single value may be negative. Penalty, accuracy and fluency have separate severities, so
    the parts need not add up to the whole. The order of the systems stays if all systems of each segment have the
    same raters.

    Returns
    -------
    MqmScores with `severity`, and "|raters:adjusted" in its signature.

    Raises
    ------
    DataError : scores that are adjusted already, of one rater, or of raters who share too few segments or systems to
        separate a strict rater from a hard text or a bad system.

    References
    ----------
    Gourieroux, Monfort and Trognon 1984, Econometrica 52 (Poisson quasi-likelihood); Efron and Morris 1975 (shrinkage).
    """
    if scores.severity is not None:
        raise DataError("the severity of the raters is already removed from these scores.")
    n = checks.whole("number of raters", len(scores.raters), 2)
    values, severity, error = scores.values.copy(), np.ones((n, len(KINDS))), np.zeros(len(KINDS))
    for k, kind in enumerate(KINDS):
        if scores.values[:, k].any():
            _check_separable(scores, scores.values[:, k], kind)
            severity[:, k], expected, error[k] = _fitted(scores, scores.values[:, k])
            values[:, k] -= (severity[scores.rater, k] - 1) * expected
    signature = f"{scores.signature}|raters:adjusted"
    return replace(
        scores, values=values, severity=severity, severity_error=error, signature=signature
    )


def _check_separable(scores: MqmScores, y: np.ndarray, kind: str) -> None:
    """Refuse designs in which severities are not identified: the information matrix of raters lacks rank."""
    n, s, g = len(scores.raters), len(scores.systems), len(scores.segments)
    # segments without a penalty have no information on severities
    marked = np.bincount(scores.segment, y, minlength=g)[scores.segment] > 0
    columns = np.zeros((g, n + s))
    np.add.at(columns, (scores.segment[marked], scores.rater[marked]), 1)
    np.add.at(columns, (scores.segment[marked], n + scores.system[marked]), 1)
    gram = np.diag(columns.sum(0))
    np.add.at(gram, (scores.rater[marked], n + scores.system[marked]), 1)
    gram[n:, :n] = gram[:n, n:].T
    gram -= columns.T @ (columns / np.maximum(columns[:, :n].sum(1, keepdims=True), 1))
    inverse = np.linalg.pinv(gram[n:, n:], rcond=1e-9, hermitian=True)
    free = gram[:n, :n] - gram[:n, n:] @ inverse @ gram[n:, :n]
    there = columns[:, :n].any(0)
    rank = np.linalg.matrix_rank(free[np.ix_(there, there)], tol=1e-6, hermitian=True)
    if rank < there.sum() - 1:
        raise DataError(f"{kind}: raters share too few segments and systems. Use MqmScores.by().")


def _fitted(scores: MqmScores, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """(R,) shrunk severities, (U,) expected penalties of an average rater, standard error of that average."""
    free, expected = _scaled(scores, y, None)
    docs = np.unique(np.array(scores.docs), return_inverse=True)[1][scores.segment]
    n, many = len(free), int(docs.max()) + 1
    each, left = np.bincount(scores.rater, expected, minlength=n), y - free[scores.rater] * expected
    sums = np.bincount(docs * n + scores.rater, left, minlength=many * n).reshape(many, n)
    dispersion = (left @ left) / y.sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = np.maximum((sums**2).sum(0) / each**2, dispersion / each)
    chance = np.where(each > 0, variance, np.inf)
    known = np.isfinite(chance)
    spread = free[known].var(ddof=1) if known.sum() > 1 else np.nan
    between = max(0.0, spread - chance[known].mean())
    share = between / (between + chance) if between > 0 else np.zeros(n)
    severity = 1 + share * (np.where(known, free, 1.0) - 1)
    severity /= severity.mean()
    return severity, _scaled(scores, y, severity)[1], float(np.sqrt(spread / known.sum()))


def _scaled(
    scores: MqmScores, y: np.ndarray, severity: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Severities (given, or fitted with the mean 1) and (U,) system × segment, scaled in turn to the sums of y."""
    codes = scores.rater, scores.system, scores.segment
    sums = [np.bincount(code, y, minlength=int(code.max()) + 1) for code in codes]
    parts = [np.ones(len(total)) for total in sums]
    n = len(scores.raters)
    parts[0] = np.ones(n) if severity is None else severity
    sums[0] = np.bincount(scores.rater, y, minlength=n)

    def rescale(i: int, empty: float) -> None:
        others = np.prod([parts[j][codes[j]] for j in range(3) if j != i], axis=0)
        expected = np.bincount(codes[i], others, minlength=len(parts[i]))
        start = np.full(len(parts[i]), empty)
        parts[i] = np.divide(sums[i], expected, out=start, where=expected > 0)

    for _ in range(_MOST_ROUNDS):
        before = np.concatenate(parts[:2])
        for i in (2, 1, 0) if severity is None else (2, 1):
            rescale(i, 1.0)
        if severity is None:
            parts[0] = parts[0] / parts[0].mean()
        if np.abs(np.concatenate(parts[:2]) - before).max() < _CLOSE:
            break
    else:
        raise DataError("the severities do not converge: the raters share too few marked segments.")
    for i in (2, 1):  # again, so that the sums of systems agree
        rescale(i, 0.0)
    return parts[0], parts[1][codes[1]] * parts[2][codes[2]]
