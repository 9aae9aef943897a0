"""KL from known log-probabilities: against the definition, and what is refused."""

from dataclasses import replace

import numpy as np
import pytest

from anhelpers.data.schema import TestSet
from anhelpers.errors import DataError, UnknownName
from anhelpers.naturalness.ngrams import system_kl

pytestmark = pytest.mark.neural
HYPS = ("Das Haus ist alt.", "", "Der Hund bellt nicht.", "Ein Haus.")


@pytest.fixture(scope="module")
def lm(tiny_lm):
    from anhelpers.naturalness.lm import load_lm

    return load_lm(tiny_lm)


@pytest.fixture(scope="module")
def test_set():
    return TestSet("t", "en-de", ("a", "b", "c", "d"), {}, {"A": HYPS, "B": HYPS})


@pytest.mark.parametrize("eos", [True, False])
def test_it_is_the_mean_log_ratio_of_the_outputs_that_both_score(test_set, lm, eos):
    from anhelpers.naturalness.lm import score_texts

    log_q = np.array([-30.0, -1.0, -50.0, np.nan])
    log_f = score_texts(lm, HYPS, eos).total
    found = system_kl(test_set, {"B": log_q}, lm, eos=eos)
    assert list(found) == ["B"]
    estimate, ratio = found["B"], (log_q - log_f)[[0, 2]]
    assert estimate.value == pytest.approx(ratio.mean(), rel=1e-12)
    assert estimate.se == pytest.approx(ratio.std(ddof=1) / np.sqrt(2), rel=1e-12)
    assert (estimate.n_q, estimate.left_out, estimate.unit) == (2, 2, "nats per segment")
    assert estimate.signature.startswith(f"kl|model:{lm.name}|")
    assert f"|eos:{'yes' if eos else 'no'}|" in estimate.signature


@pytest.mark.verifies("KL from known log-probabilities", by="property")
def test_a_system_that_is_the_model_is_0_nats_from_it_and_the_end_of_the_text_is_scored(
    test_set, lm
):
    from anhelpers.naturalness.lm import score_texts

    estimate = system_kl(test_set, {"A": score_texts(lm, HYPS, eos=True).total}, lm)["A"]
    assert (estimate.value, estimate.se, estimate.n_q) == (0, 0, 3)


def test_what_is_refused(test_set, lm):
    for logprobs, model in (
        ({"C": [-1.0] * 4}, lm),
        ({"A": [-1.0] * 3}, lm),
        ({"A": [-1.0, -1.0, 2.0, -1.0]}, lm),
        ({"A": [-1.0] * 4}, replace(lm, language="ja")),
    ):
        with pytest.raises((UnknownName, DataError)):
            system_kl(test_set, logprobs, model)
