"""Planes from plain numbers."""

import numpy as np
import pytest

from anhelpers.plane import Plane, mean_axis


def _plane_from(a, n, docs=None, systems=None, domains=None) -> Plane:
    size, k = np.shape(a)
    axes = (
        mean_axis(name, f"{name} (higher is better)", f"{name}|v:1", v)
        for name, v in (("a", a), ("n", n))
    )
    systems = tuple(systems or (f"S{j}" for j in range(k)))
    docs = np.array(docs if docs is not None else range(size), dtype=object)
    domains = np.array(domains if domains is not None else ["all"] * size, dtype=object)
    return Plane("made up", systems, ("MT",) * k, *axes, docs, domains, np.arange(size))


@pytest.fixture(scope="session")
def plane_from():
    """(segments, systems) accuracy and naturalness -> Plane; each segment its own document by default."""
    return _plane_from


@pytest.fixture
def random_plane():
    """A plane of 40 segments in 10 documents, by seed."""

    def make(seed=0, size=40, k=4, n_docs=10) -> Plane:
        rng = np.random.default_rng(seed)
        return _plane_from(
            rng.normal(50, 9, (size, k)),
            rng.normal(-5, 1, (size, k)),
            rng.integers(0, n_docs, size),
        )

    return make
