"""Another program's unbiased MMD², from the three kernel matrices of two samples of one size."""

import warnings

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
