"""Random worlds, with whose problems several files begin."""

import numpy as np

from anhelpers import exact


def world(seed, n_x=3, n_y=4, sources=False):
    rng = np.random.default_rng(seed)
    joint = rng.dirichlet(np.full(n_x * n_y, 0.7)).reshape(n_x, n_y)
    shape = (n_x, n_y, n_y) if sources else (n_y, n_y)
    distortion = rng.random(shape)
    distortion[..., np.arange(n_y), np.arange(n_y)] = 0
    return exact.Problem(joint, distortion, rng.dirichlet(np.full(n_y, 0.7)))
