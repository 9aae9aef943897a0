"""XMI of texts under two tiny random models, against their definitions."""

import math

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="pip install -c constraints.txt -e '.[neural]'")
transformers = pytest.importorskip(
    "transformers", reason="pip install -c constraints.txt -e '.[neural]'"
)

from anhelpers.errors import DataError  # noqa: E402
from anhelpers.naturalness.lm import lm_tokens, load_lm, score_texts  # noqa: E402
from anhelpers.translation import load_mt, score_pairs  # noqa: E402
from anhelpers.xmi import load_q_lm, pointwise_xmi, xmi_from_models  # noqa: E402

pytestmark = pytest.mark.neural


def rng():
    return np.random.default_rng(7)


@pytest.fixture(scope="module")
def mt(tiny_marian):
    return load_mt(tiny_marian / "mt", device="cpu")


@pytest.fixture(scope="module")
def lm(tiny_marian):
    return load_lm(tiny_marian / "lm", device="cpu")


@pytest.fixture(scope="module")
def texts(pairs):
    return tuple(map(list, zip(*pairs, strict=True)))


def test_a_decoder_alone_scores_the_target_s_tokens_and_its_end(mt, lm, texts):
    scores = score_texts(lm, texts[1], eos=True)
    found = lm_tokens(lm, [*texts[1], " "])
    assert found == [*mt.target_tokens(texts[1]), ()]
    model = lm.model.double()
    try:
        for i, tokens in enumerate(found[:-1]):
            ids = [
                lm.model.config.decoder_start_token_id,
                *lm.tokenizer.convert_tokens_to_ids(list(tokens)),
            ]
            with torch.no_grad():
                logits = model(input_ids=torch.tensor([ids]), use_cache=False).logits[0]
            # converted Marian models never generate it
            logits[:, lm.tokenizer.pad_token_id] = -math.inf
            logp = logits.log_softmax(-1)
            total = sum(float(logp[j, ids[j + 1]]) for j in range(len(tokens)))
            assert scores.tokens[i] == len(tokens)
            assert abs(scores.total[i] - total) <= 2e-6 * len(tokens)
    finally:
        lm.model.float()


def test_tokens_of_a_causal_model_are_those_it_scores(tiny_lm):
    lm = load_lm(tiny_lm, device="cpu")
    texts = ["Das Haus.", "", "a </s> b"]
    for eos in (True, False):
        assert [len(t) for t in lm_tokens(lm, texts, eos)] == score_texts(
            lm, texts, eos
        ).tokens.tolist()
    assert [t.count("</s>") for t in lm_tokens(lm, texts)] == [1, 0, 1]


@pytest.mark.verifies("Pointwise XMI", by="property")
def test_xmi_is_the_mean_difference_of_the_two_models_scores(mt, lm, texts):
    found = xmi_from_models(mt, lm, *texts, rng=rng(), n_draws=50)
    given, alone = score_pairs(mt, *texts), score_texts(lm, texts[1], eos=True)
    np.testing.assert_array_equal(found.mt_logprobs, given.total)
    np.testing.assert_array_equal(found.lm_logprobs, alone.total)
    assert found.found.xmi.value == pytest.approx(
        np.mean(given.total - alone.total) / math.log(2), abs=1e-12
    )
    assert found.found.xmi.value == pytest.approx(
        pointwise_xmi(found.mt_logprobs, found.lm_logprobs).mean(), abs=1e-12
    )
    signature = found.found.h_lm.signature
    assert signature.endswith(f"; {mt.signature()}; {lm.signature(eos=True)}")
    assert "|eos:yes|" in lm.signature(eos=True)


def test_an_encoder_decoder_without_sources_is_a_language_model(tiny_marian, mt, texts):
    lm = load_q_lm(str(tiny_marian / "mt"), device="cpu")
    found = xmi_from_models(mt, lm, *texts, rng=rng(), n_draws=20)
    np.testing.assert_array_equal(found.lm_logprobs, score_pairs(mt, [""] * 5, texts[1]).total)
    assert "|source:empty|" in found.found.xmi.signature


def test_blank_and_long_pairs_are_left_out_and_reported(mt, lm, texts, capsys):
    srcs, trgs = [*texts[0], "", "The dog. " * 40], [*texts[1], " ", "Ja."]
    found = xmi_from_models(mt, lm, srcs, trgs, rng=rng(), n_draws=20)
    assert found.found.left_out == 2
    assert found.found.xmi.n == 5
    assert np.isnan(found.mt_logprobs).tolist() == [False] * 5 + [True, True]
    assert capsys.readouterr().err.count(": 1 of 7 ") == 3


def test_different_tokens_are_refused_before_anything_is_scored(mt, tiny_lm, texts, monkeypatch):
    lm = load_lm(tiny_lm, device="cpu")
    called = []
    monkeypatch.setattr("anhelpers.xmi.models.score_pairs", lambda *a: called.append(a))
    with pytest.raises(DataError):
        xmi_from_models(mt, lm, *texts, rng=rng())
    assert called == []


def test_per_character_takes_two_tokenizers(mt, tiny_lm, texts):
    lm = load_lm(tiny_lm, device="cpu")
    found = xmi_from_models(mt, lm, *texts, rng=rng(), n_draws=20, per_char=True)
    chars = sum(len(t) for t in texts[1])
    expected = (found.mt_logprobs - found.lm_logprobs).sum() / math.log(2) / chars
    assert found.found.xmi.value == pytest.approx(expected, rel=1e-12)
    spaced = xmi_from_models(
        mt, lm, texts[0], [f" {t} " for t in texts[1]], rng=rng(), n_draws=20, per_char=True
    )
    assert spaced.found.h_mt.value == pytest.approx(found.found.h_mt.value, rel=1e-9)
