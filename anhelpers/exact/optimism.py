"""The oracle curve of `frontier` on a finite world: what it tends to, and by how much it promises too much."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..errors import DataError
from ..frontier import OracleCurve, oracle_curve
from .problem import Problem


def sampled_oracle(
    problem: Problem,
    scores: ArrayLike,
    *,
    n_segments: int,
    n_candidates: int,
    rng: np.random.Generator,
    proposal: ArrayLike | None = None,
) -> OracleCurve:
    """AN §5.1 played in a finite world: K candidates per segment, the oracle sees the reference and picks (eq. 5).

    With ever more segments and candidates it tends to the exact curve of `problem.informed()` for the one critic
    `scores`, not to A(N) of the problem: choosing by the reference is more than any translator can do.

    Parameters
    ----------
    scores : (Y,) naturalness of every target, e.g. its log-probability per token; higher is better.
    n_segments, n_candidates : N pairs (x, y_ref) ~ P, and K candidates each, drawn with replacement.
    proposal : (X, Y) the probabilities with which the candidates of a source are drawn; by default all the same.
    """
    n_x, n_y = problem.cost.shape
    scores = checks.finite("scores", scores, (n_y,))
    if n_segments < 1 or n_candidates < 1:
        raise DataError(
            f"needs at least one segment and one candidate, got {n_segments} and {n_candidates}."
        )
    proposal = (
        np.full((n_x, n_y), 1 / n_y)
        if proposal is None
        else checks.finite("proposal", proposal, (n_x, n_y))
    )
    proposal = np.stack([checks.pmf(f"proposal[{x}]", row) for x, row in enumerate(proposal)])
    pair = rng.choice(problem.joint.size, size=n_segments, p=problem.joint.ravel())
    x, z = np.unravel_index(pair, problem.joint.shape)
    edges = np.cumsum(proposal, axis=1)
    drawn = rng.random((n_segments, n_candidates)) * edges[x, -1:]
    cands = np.stack(
        [np.searchsorted(edges[s, :-1], row, side="right") for s, row in zip(x, drawn, strict=True)]
    )
    delta = (
        problem.distortion[z[:, None], cands]
        if problem.distortion.ndim == 2
        else (problem.distortion[x[:, None], z[:, None], cands])
    )
    segment = np.repeat(np.arange(n_segments), n_candidates)
    return oracle_curve(segment, -delta.ravel(), scores[cands.ravel()])
