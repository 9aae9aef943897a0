"""The AN function A(N) of eq. 3, solved exactly on finite spaces (AN §3, Theorems 3.1 and B.1)."""

from .divergence import Divergence, critic_ball, mmd_ball, renyi_ball, wasserstein_ball
from .optimism import sampled_oracle
from .problem import ExactCurve, Problem, Solution
from .solve import Theorem31, check_theorem, solve, solve_curve
from .uniqueness import Minimisers, conditional_entropy, minimisers, own_p_y, perturbed, stability

__all__ = [
    "Divergence",
    "ExactCurve",
    "Minimisers",
    "Problem",
    "Solution",
    "Theorem31",
    "check_theorem",
    "conditional_entropy",
    "critic_ball",
    "minimisers",
    "mmd_ball",
    "own_p_y",
    "perturbed",
    "renyi_ball",
    "sampled_oracle",
    "solve",
    "solve_curve",
    "stability",
    "wasserstein_ball",
]


def __dir__() -> list[str]:
    return __all__
