"""Tiny models to draw from."""

import pytest


@pytest.fixture(scope="session")
def mt(tiny_marian):
    """A random Marian of about 60 tokens."""
    from anhelpers.translation import load_mt

    return load_mt(tiny_marian / "mt", device="cpu")


@pytest.fixture(scope="session")
def lm(tiny_lm):
    """A random GPT-2 of 300 tokens, some much likelier than others."""
    from anhelpers.naturalness.lm import load_lm

    lm = load_lm(tiny_lm, device="cpu")
    lm.model.get_output_embeddings().weight.data *= 20
    return lm


@pytest.fixture(scope="session")
def srcs(pairs):
    return [src for src, _ in pairs]
