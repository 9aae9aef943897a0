# What stands in this room, and where it comes from: read by editors, by mypy and by `__init__.py`.

from . import memed as memed
from . import mmd as mmd
from . import pmf as pmf
from .chance import along_a_line as along_a_line
from .critics import critic_distance as critic_distance
from .critics import critic_gaps as critic_gaps
from .critics import sample_critic_distance as sample_critic_distance
from .kernels import linear as linear
from .kernels import rbf as rbf
from .memed import log_gp_white as log_gp_white
from .memed import memed_matrices as memed_matrices
from .memed import memed_samples as memed_samples
from .memed import memed_squared as memed_squared
from .mmd import permutation_test as permutation_test
from .normals import bivariate_normal_cdf as bivariate_normal_cdf
from .normals import folded_norm as folded_norm
from .processes import CriticProcess as CriticProcess
from .processes import draw_critics as draw_critics
from .processes import estimate_distance as estimate_distance
from .processes import gp_distance as gp_distance
from .processes import second_moment as second_moment
from .samples import kl_from_logprobs as kl_from_logprobs
from .samples import wasserstein_1d as wasserstein_1d
