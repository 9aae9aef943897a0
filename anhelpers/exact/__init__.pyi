# Public names of this room and their modules; read by editors, mypy and `__init__.py`.

from .divergence import Divergence as Divergence
from .divergence import critic_ball as critic_ball
from .divergence import mmd_ball as mmd_ball
from .divergence import renyi_ball as renyi_ball
from .divergence import wasserstein_ball as wasserstein_ball
from .problem import ExactCurve as ExactCurve
from .problem import Problem as Problem
from .problem import sampled_oracle as sampled_oracle
from .solve import check_theorem as check_theorem
from .solve import conditional_entropy as conditional_entropy
from .solve import minimisers as minimisers
from .solve import perturbed as perturbed
from .solve import solve as solve
from .solve import solve_curve as solve_curve
from .solve import stability as stability
