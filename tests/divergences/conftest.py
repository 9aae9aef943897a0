"""Another program's unbiased MMD², from the three kernel matrices of two samples of one size."""

import warnings

import numpy as np
import pytest


@pytest.fixture(scope="session")
def torchmetrics_mmd():
    """A function (k(x, x), k(x, y), k(y, y)) -> MMD² as torchmetrics' kernel inception distance has it."""
    torch = pytest.importorskip("torch", reason="pip install -c constraints.txt -e '.[neural]'")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it asks setuptools for a module that is going away
        kid = pytest.importorskip(
            "torchmetrics.image.kid", reason="pip install -c constraints.txt -e '.[neural]'"
        )
    return lambda *matrices: float(kid.maximum_mean_discrepancy(*map(torch.tensor, matrices)))


N_DRAWS = 200_000
PLACES = np.array([0.0, 0.4, 1.1, 2.0])
KERNEL = 0.6 * np.exp(-(np.subtract.outer(PLACES, PLACES) ** 2))
Q, R = np.array([0.5, 0.25, 0.25, 0]), np.array([0.1, 0.2, 0.3, 0.4])
MEANS = [np.zeros(4), np.array([0.3, -0.5, 0.2, 1.0]), np.array([-1.0, 0.0, -2.0, 0.5])]


def off(found, wanted):
    """How many standard errors a number is from what was estimated."""
    return abs(found.value - wanted) / found.se
