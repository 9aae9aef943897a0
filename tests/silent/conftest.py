"""What several of these tests share."""

import os

import pytest


@pytest.fixture
def real_data():
    """The folder of the shared data sets."""
    root = os.environ.get("ANHELPERS_DATA")
    if not root:
        pytest.skip("ANHELPERS_DATA is not set; point it at the shared data to try the real sets.")
    return root
