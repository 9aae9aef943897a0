"""Raters' severity, estimated from segments that several raters saw, and penalties without it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..errors import DataError
from .scores import KINDS, MqmScores

__all__ = ["adjust_raters"]

# of the fit: rounds, and the largest change of a severity at which it ends
MOST_ROUNDS, CLOSE = 5000, 1e-8


def adjust_raters(scores: MqmScores) -> MqmScores:
    """The penalties that an average rater would have given: what each rater's severity adds is taken off.

    The model is E[penalty] = system x segment x severity of the rater, fitted by Poisson quasi-likelihood, which asks
    nothing of the penalties but that mean. Severities have the mean 1 over raters, and are a random effect: each is
    drawn towards 1 by the share of its variance that is chance (documents resampled, one rater at a time). The adjusted
    penalty is penalty - (severity - 1) x expected penalty, in MQM points, lower is better. Means over systems and
    segments are right; a single value may be below 0. Penalty, accuracy and fluency have severities of their own, so
    the parts need not add up to the whole. Where all systems of each segment have the same raters, so that none has an
    advantage, the order of the systems stays as it is.

    Returns
    -------
    MqmScores with `severity`, "|raters:adjusted" in its signature, and a note that names the severities.

    Raises
    ------
    DataError : adjusted already; one rater; raters who share no segments, or no systems in them, so that a strict rater
    cannot be told from a hard text or a bad system.

    References
    ----------
    Gourieroux, Monfort and Trognon 1984, Econometrica 52 (Poisson quasi-likelihood); Efron and Morris 1975 (shrinkage).
    """
    if scores.severity is not None:
        raise DataError("the severity of the raters is already taken out of these scores.")
    n = len(scores.raters)
    if n < 2:
        raise DataError(
            "all ratings are by one rater: with nobody to compare, no severity can be taken out."
        )
    values, severity, error = scores.values.copy(), np.ones((n, len(KINDS))), np.zeros(len(KINDS))
    for k, kind in enumerate(KINDS):
        if scores.values[:, k].any():
            _told_apart(scores, scores.values[:, k], kind)
            severity[:, k], expected, error[k] = _fitted(scores, scores.values[:, k])
            values[:, k] -= (severity[scores.rater, k] - 1) * expected
    listed = ", ".join(f"{name} {severity[i, 0]:.2f}" for i, name in enumerate(scores.raters))
    note = (
        f"The severity of the raters is taken out of the penalties: {listed} (times an average "
        "rater's penalty; accuracy and fluency have severities and intervals of their own, so "
        "that of a part may end above the whole's)."
    )
    notes = (*(one for one in scores.notes if one != scores.crews), note)
    signature = f"{scores.signature}|raters:adjusted"
    return replace(
        scores,
        values=values,
        severity=severity,
        severity_error=error,
        signature=signature,
        notes=notes,
    )


def _told_apart(scores: MqmScores, y: np.ndarray, kind: str) -> None:
    """A DataError where the severities of raters cannot be separated from segments and systems."""
    n, s, g = len(scores.raters), len(scores.systems), len(scores.segments)
    shared = np.zeros((g, n), dtype=bool)
    shared[scores.segment, scores.rater] = True
    if (shared.sum(1) < 2).all():
        raise DataError(
            "no segment was seen by two raters, so a strict rater cannot be told from a hard "
            "text, and no severity can be taken out. (Where one rater saw all systems of a "
            "segment, these are compared fairly without it.)"
        )
    # others say nothing of severities
    marked = np.bincount(scores.segment, y, minlength=g)[scores.segment] > 0
    columns = np.zeros((g, n + s))
    np.add.at(columns, (scores.segment[marked], scores.rater[marked]), 1)
    np.add.at(columns, (scores.segment[marked], n + scores.system[marked]), 1)
    gram = np.diag(columns.sum(0))
    np.add.at(gram, (scores.rater[marked], n + scores.system[marked]), 1)
    gram[n:, :n] = gram[:n, n:].T
    gram -= columns.T @ (columns / np.maximum(columns[:, :n].sum(1, keepdims=True), 1))
    free = (
        gram[:n, :n]
        - gram[:n, n:] @ np.linalg.pinv(gram[n:, n:], rcond=1e-9, hermitian=True) @ gram[n:, :n]
    )
    there = columns[:, :n].any(0)
    if (
        np.linalg.matrix_rank(free[np.ix_(there, there)], tol=1e-6, hermitian=True)
        < there.sum() - 1
    ):
        raise DataError(
            f"{kind}: the raters share too few segments and systems for their severities to be "
            "told from hard texts and bad systems: each rater must be linked to every other by "
            "segments and systems that both rated."
        )


def _fitted(scores: MqmScores, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """(R,) severities, drawn towards 1, (U,) what an average rater is expected to give, the error of that average."""
    free, expected = _scaled(scores, y, None)
    docs = np.unique(np.array(scores.docs), return_inverse=True)[1][scores.segment]
    n, many = len(free), int(docs.max()) + 1
    each, left = np.bincount(scores.rater, expected, minlength=n), y - free[scores.rater] * expected
    sums = np.bincount(docs * n + scores.rater, left, minlength=many * n).reshape(many, n)
    dispersion = (left @ left) / y.sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        chance = np.where(
            each > 0, np.maximum((sums**2).sum(0) / each**2, dispersion / each), np.inf
        )
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
    """Severities (given, or fitted with the mean 1) and (U,) system x segment, by turns scaled to the sums of y."""
    codes = scores.rater, scores.system, scores.segment
    parts = [np.ones(int(code.max()) + 1) for code in codes]
    sums = [np.bincount(code, y) for code in codes]
    parts[0] = np.ones(len(scores.raters)) if severity is None else severity
    sums[0] = np.bincount(scores.rater, y, minlength=len(parts[0]))
    for _ in range(MOST_ROUNDS):
        before = np.concatenate(parts[:2])
        for i in (2, 1, 0) if severity is None else (2, 1):
            others = np.prod([parts[j][codes[j]] for j in range(3) if j != i], axis=0)
            expected = np.bincount(codes[i], others, minlength=len(parts[i]))
            parts[i] = np.divide(sums[i], expected, out=np.ones(len(parts[i])), where=expected > 0)
        if severity is None:
            parts[0] = parts[0] / parts[0].mean()
        if np.abs(np.concatenate(parts[:2]) - before).max() < CLOSE:
            break
    else:
        raise DataError(
            "the severities of the raters do not settle: too few of their marks are in segments "
            "and systems that both rated."
        )
    for i in (2, 1):  # once more, so that the sums of systems are met
        others = np.prod([parts[j][codes[j]] for j in range(3) if j != i], axis=0)
        expected = np.bincount(codes[i], others, minlength=len(parts[i]))
        parts[i] = np.divide(sums[i], expected, out=np.zeros(len(parts[i])), where=expected > 0)
    return parts[0], parts[1][codes[1]] * parts[2][codes[2]]
