"""Three explorers on a grid: a world that shifts, the false distance of small samples, and the power p of D_p."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..charts.frame import number
from ..divergences.critics import power_mean
from ..errors import DataError
from ..exact import Problem
from ..exact.uniqueness import Minimisers, conditional_entropy, minimisers, perturbed
from .grids import GridExplorer, Quantity, View, grid_explorer

__all__ = ["false_distance_explorer", "power_explorer", "shift_explorer"]

MOST_BEST = 4096  # deterministic best translators that are looked at one by one
NOTHING = 1e-9  # a distance below it is 0: what a linear program leaves
STEPS = [np.arange(low, 2 * low, low / 8) for low in (4, 8, 16, 32, 64, 128)]
POWERS = np.r_[np.arange(1, 4, 0.25), np.concatenate(STEPS), 256]
DOUBLED = tuple(2**k for k in range(9))  # powers where the buttons stop
TEXTS = (5, 10, 30, 100, 300, 1000)  # of each side, where the buttons stop
N_DRAWN = 2000  # pairs of samples behind each number of the false distance


def shift_explorer(
    worlds: Mapping[str, Problem],
    sources: Sequence[str],
    targets: Sequence[str],
    *,
    most: float = 0.5,
    title: str = "",
) -> GridExplorer:
    """Drag ε: the first source is heard more often, and one sees who is best and how far from the language.

    Parameters
    ----------
    worlds : name → world with the same sources and targets, whose references and candidates are the same texts.
    sources, targets : their texts. most : the largest ε, in (0, 1). title : the claim.

    Returns
    -------
    GridExplorer: the total variation between the references' P(y) and the nearest and the farthest best translator,
    over ε; what people and the nearest one say. Its `place` and `view` follow the page and can be set.

    Raises
    ------
    DataError for no world, names that do not fit, an ε beyond (0, 1), and more than 4096 tied best translators.
    """
    if not worlds or not 0 < most < 1:
        raise DataError(f"{len(worlds)} worlds, most is {most}: give a world, and most in (0, 1).")
    epsilons = np.linspace(0, most, 51)
    views = {name: _world(w, epsilons, [*sources], [*targets]) for name, w in worlds.items()}
    words = {
        "sign": "ε",
        "label": "ε (how much more often)",
        "choose": "world",
        "x_title": "ε, how much more often",
        "y_title": "distance from people",
    }
    return grid_explorer(epsilons, views, place=0, stops=range(0, 51, 10), words=words, title=title)


def _world(world: Problem, epsilons: np.ndarray, sources: list[str], targets: list[str]) -> View:
    """The lines, shares and words of one world."""
    if world.joint.shape[0] != len(sources) or world.excess.shape[1] != len(targets):
        raise DataError(
            f"{len(sources)} sources and {len(targets)} targets for a world of {world.excess.shape}."
        )
    moved = [perturbed(world, 0, float(e)) for e in epsilons]
    best = [minimisers(problem) for problem in moved]
    near = np.array([one.distance for one in best])
    far = np.array([_farthest(p, one) for p, one in zip(moved, best, strict=True)])
    tied = bool((far > near + NOTHING).any())
    lines = {"the nearest" if tied else "the best": near}
    lines |= {"the farthest": far} if tied else {}
    heard = np.array([p.marginal(b.translator) for p, b in zip(moved, best, strict=True)])
    people = np.array([problem.p_y for problem in moved])
    best_one = "nearest of the best" if tied else "best"
    rows = [
        Quantity(f"{who} “{target}”", 100 * shares[:, y], "%", digits=1)
        for y, target in enumerate(targets)
        for who, shares in (("people say", people), (f"the {best_one} says", heard))
    ]
    said = [
        _best_said(one.targets, sources, targets) + f" Distance {_span(a, b)}."
        for one, a, b in zip(best, near, far, strict=True)
    ]
    return View(lines, rows, said, _luck(world, near, tied))


def _farthest(problem: Problem, best: Minimisers) -> float:
    """The largest total variation to R of any best translator; a convex function, so of a deterministic one."""
    choices = [np.flatnonzero(row) for row in best.targets]
    if np.prod([float(len(some)) for some in choices]) > MOST_BEST:
        raise DataError(f"more than {MOST_BEST} deterministic translators are equally good.")
    eye = np.eye(best.targets.shape[1])
    marginals = (problem.marginal(eye[list(pick)]) for pick in product(*choices))
    return max(0.5 * float(np.abs(q - problem.reference).sum()) for q in marginals)


def _best_said(best: np.ndarray, sources: list[str], targets: list[str]) -> str:
    texts = [
        f"“{source}” → " + " or ".join(f"“{targets[y]}”" for y in np.flatnonzero(row))
        for source, row in zip(sources, best, strict=True)
    ]
    return f"Best: {', '.join(texts)}."


def _span(near: float, far: float) -> str:
    return f"{near + 0:.3f}" if far <= near + NOTHING else f"{near + 0:.3f} to {far:.3f}"


def _luck(world: Problem, near: np.ndarray, tied: bool) -> str:
    """Whether the distance of 0 is luck or merit, by the entropy, by ties and by what a shift does."""
    if near[0] > NOTHING:
        return "Neither luck nor merit: the best translator is not native, even before the shift."
    if conditional_entropy(world.joint) < NOTHING:
        return "Merit: every source has one translation, and the best translator gives it."
    if tied:
        return "Ties: several translators are best; the nearest of them is native, not every one."
    if near.max() > NOTHING:
        return "Luck: two errors cancel at ε = 0, and only there."
    return "The best translator stays native for each of these ε."


def power_explorer(crowds: Mapping[str, ArrayLike], *, title: str = "") -> GridExplorer:
    """Drag p: what each critic of a crowd sees stays as it is, and D_p goes from the mean to the largest gap.

    Parameters
    ----------
    crowds : name → (K,) gaps E_q f − E_r f in points, one per critic, or critic → gap; equal ones without a name share
        a row. title : the claim.

    Returns
    -------
    GridExplorer: D_p over p from 1 to 256 beside every critic's gap without its sign, and which share of the sum of
    the p-th powers the largest gap makes up. Its `place` and `view` follow the page and can be set.

    Raises
    ------
    DataError for no crowd, and for gaps that are none or all 0.
    """
    if not crowds:
        raise DataError("there is no crowd; give at least one.")
    words = {
        "sign": "p",
        "label": "p (whom to believe)",
        "choose": "crowd",
        "x_title": "power p",
        "y_title": "D_p in points",
    }
    views = {name: _crowd(name, gaps) for name, gaps in crowds.items()}
    stops = np.searchsorted(POWERS, DOUBLED).tolist()
    return grid_explorer(POWERS, views, place=0, stops=stops, words=words, log_x=True, title=title)


def _crowd(name: str, gaps: ArrayLike | Mapping[str, float]) -> View:
    names, values = ([*gaps], [*gaps.values()]) if isinstance(gaps, Mapping) else ([], gaps)
    sizes = np.abs(checks.finite(f"crowd '{name}'", values))
    if not sizes.any():
        raise DataError(f"crowd '{name}' sees no difference at all: give a gap that is not 0.")
    distances = np.array([power_mean(sizes, p) for p in POWERS])
    sums = ((sizes / sizes.max()) ** POWERS[:, None]).sum(1)
    shares = (sizes == sizes.max()).sum() / sums
    rows = [Quantity("D_p", distances, "points")]
    for who, size in zip(names, sizes, strict=True) if names else _alike(sizes):
        rows.append(Quantity(f"{who} sees", np.full(len(POWERS), size), "points"))
    most, mean = float(sizes.max()), float(sizes.mean())
    said = [
        f"D_p = {d:.2f} points. Who sees most makes up {share:.0%} of the sum of all gaps to the power p."
        for d, share in zip(distances, shares, strict=True)
    ]
    text = f"D_p goes from the mean gap, D₁ = {mean:.2f} points, to the largest, D_∞ = {most:.2f}."
    return View({"D_p": distances}, rows, said, text, [("y", most, "largest gap")])


def _alike(sizes: np.ndarray) -> list[tuple[str, float]]:
    """Critics without a name, those who see the same together."""
    counts = {float(size): int((sizes == size).sum()) for size in sizes}
    return [
        ("one critic" if n == 1 else f"each of {n} critics", size) for size, n in counts.items()
    ]


def false_distance_explorer(
    n_critics: Sequence[int] = (1, 3, 10, 100), *, rng: Any, title: str = ""
) -> GridExplorer:
    """Drag n: what two samples of the *same* language seem to be apart, because they are small.

    Each critic reads n texts of either side; single scores are normal with standard deviation σ. Every critic has
    texts of its own, and the true distance is 0.

    Parameters
    ----------
    n_critics : numbers of critics to choose from. rng : Generator. title : the claim.

    Returns
    -------
    GridExplorer: D₁ as estimated, in σ, and the unbiased estimate of D₂², in σ²: mean of 2,000 pairs of samples and the
    range of 95 % of them, for n from 2 to 1000. Its `place` and `view` follow the page and can be set.

    Raises
    ------
    DataError for a number of critics that is none.
    """
    counts = [checks.whole("n_critics", k, most=1000) for k in n_critics]
    n = np.unique(np.r_[np.geomspace(2, 1000, 36).round(), TEXTS])
    stops = [int(np.flatnonzero(n == k)[0]) for k in TEXTS]
    words = {
        "sign": "n",
        "label": "n (texts of each side)",
        "choose": "critics",
        "x_title": "n, texts of each side",
        "y_title": "mean (truth: 0)",
    }
    views = {f"{k} critic{'s' * (k > 1)}": _false(k, n, rng) for k in counts}
    return grid_explorer(
        n, views, place=stops[-1], stops=stops, words=words, log_x=True, title=title
    )


def _false(k: int, sizes: np.ndarray, rng: np.random.Generator) -> View:
    """Both estimates of k critics, for every n: a critic's gap has the variance 2σ²/n, and its own estimate of that."""
    drawn = [_estimates(k, int(n), rng) for n in sizes]
    d1, d2 = (np.array([pair[i] for pair in drawn]) for i in (0, 1))
    ends = [np.quantile(some, [0.025, 0.975], axis=1) for some in (d1, d2)]
    means = [some.mean(1) for some in (d1, d2)]
    rows = [
        Quantity(
            "D₁ as estimated (95\u00a0% of repetitions)", means[0], "σ", ends[0][0], ends[0][1]
        ),
        Quantity(
            "D₂² without bias (95\u00a0% of repetitions)", means[1], "σ²", ends[1][0], ends[1][1], 3
        ),
    ]
    said = [
        f"Two samples of the same language: D₁ seems {a:.2f} σ. Estimates of D₂² are {number(float(b), 3)} σ² on "
        f"average, and {share:.0%} of them below 0: errors to both sides cancel."
        for a, b, share in zip(*means, (d2 < 0).mean(1), strict=True)
    ]
    return View({"D₁ (σ)": means[0], "D₂² (σ²)": means[1]}, rows, said)


def _estimates(k: int, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """(N_DRAWN,) estimates of D₁ and of D₂² between two equal normal populations, σ = 1, with k critics."""
    gaps = np.sqrt(2 / n) * rng.standard_normal((N_DRAWN, k))
    noise = rng.chisquare(2 * (n - 1), (N_DRAWN, k)) / (n - 1) / n  # the two sides' s²/n together
    return np.abs(gaps).mean(1), (gaps**2 - noise).mean(1)
