"""Models trained on toy pairs, against the truth: the acceptance of XMI from models."""

from itertools import product

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="pip install -c constraints.txt -e '.[neural]'")
pytest.importorskip("transformers", reason="pip install -c constraints.txt -e '.[neural]'")

from anhelpers.naturalness.lm import lm_tokens, score_texts  # noqa: E402
from anhelpers.translation import score_pairs  # noqa: E402
from anhelpers.xmi.toy import model_gap, toy_pair  # noqa: E402
from anhelpers.xmi.trainings import train_pair  # noqa: E402

pytestmark = pytest.mark.neural
EXCESS = 0.15  # bits per sentence: what a model may need beyond the truth, of some 11 bits


def rng(seed=13):
    return np.random.default_rng(seed)


def scores(mt, lm, srcs, trgs):
    return score_pairs(mt, srcs, trgs).total, score_texts(lm, trgs, eos=True).total


@pytest.fixture(scope="module")
def trained():
    """Two pairs, trained (the first as in xmi_2_definition), and the gap on 2,000 other sentences."""
    out = {}
    for name, steps in (("noisy", 250), ("unrelated", 140)):
        pair = toy_pair(name)
        models = train_pair(pair, rng=rng(), steps=steps)
        srcs, trgs = pair.sample(2000, rng(14))
        out[name] = pair, model_gap(pair, srcs, trgs, scores(*models, srcs, trgs), rng=rng())
    return out


@pytest.fixture(scope="module")
def young():
    """A pair of few words with small models of a few steps."""
    pair = toy_pair("noisy", n_words=2, lengths=[0.3, 0.7])
    return pair, *train_pair(pair, rng=rng(), n_train=500, steps=12)


@pytest.fixture(scope="module")
def gendered():
    """A small pair, into the language with gender, and its models."""
    pair = toy_pair("gender", n_words=4, lengths=[0, 0.5, 0.5]).reversed()
    return pair, *train_pair(pair, rng=rng(), steps=200)


@pytest.mark.parametrize("name", ["noisy", "unrelated"])
def test_xmi_is_within_its_interval_of_the_mutual_information(trained, name):
    pair, found = trained[name]
    for excess in (found.lm_kl, found.mt_kl):
        assert -0.01 < excess.value < EXCESS  # KL is at least 0, but for sampling
        assert excess.high < EXCESS
    between = (
        found.found.xmi.low - found.both_kl.high
        <= pair.mi
        <= found.found.xmi.high - found.both_kl.low
    )
    assert between, f"{found.found.xmi}, MI {pair.mi:.4f}, {found.both_kl}"
    assert abs(found.both_kl.value) < EXCESS
    assert found.both.value == pytest.approx(found.lm.value - found.mt.value, abs=1e-9)
    assert found.both_kl.value == pytest.approx(found.lm_kl.value - found.mt_kl.value, abs=1e-9)


def test_the_gender_is_one_bit_into_the_language_that_has_it(gendered):
    pair, mt, lm = gendered
    srcs, trgs = pair.sample(500, rng(14))
    found = model_gap(pair, srcs, trgs, scores(mt, lm, srcs, trgs), rng=rng())
    assert found.found.h_mt.value == pytest.approx(1, abs=EXCESS)
    assert 0 <= found.mt_kl.value < EXCESS


def test_both_models_score_the_same_tokens_and_are_distributions_over_sentences(gendered):
    pair, mt, lm = gendered
    trgs = [" ".join(s) for k in range(1, 5) for s in product(pair.targets, repeat=k)]
    assert mt.target_tokens(trgs) == lm_tokens(lm, trgs)
    assert mt.target_tokens(trgs[-1:])[0] == (*trgs[-1].split(), "</s>")
    for total in scores(mt, lm, [pair.sources[0]] * len(trgs), trgs):
        # the rest is for other words and other lengths
        assert 0.9 < np.exp(total).sum() <= 1 + 1e-5


def test_scores_are_the_loss_that_was_trained(young):
    pair, mt, lm = young
    srcs, trgs = pair.sample(40, rng(15))
    pad = mt.tokenizer.pad_token_id
    ids, sources = ([mt.tokenizer(t)["input_ids"] for t in texts] for texts in (trgs, srcs))
    with torch.inference_mode():
        one = [
            mt.model.double()(input_ids=torch.tensor([s]), labels=torch.tensor([t])).loss.item()
            * len(t)
            for s, t in zip(sources, ids, strict=True)
        ]
        two = []
        for t in ids:
            logits = lm.model.double()(input_ids=torch.tensor([[pad, *t[:-1]]])).logits[0]
            two.append(-logits.log_softmax(1).gather(1, torch.tensor(t)[:, None]).sum().item())
    mt.model.float(), lm.model.float()
    found = scores(mt, lm, srcs, trgs)
    np.testing.assert_allclose(found[0], -np.array(one), atol=1e-4)
    np.testing.assert_allclose(found[1], -np.array(two), atol=1e-4)


def test_the_same_seed_gives_the_same_models_on_any_number_of_threads(young):
    pair, mt, lm = young
    before, threads = torch.get_rng_state(), torch.get_num_threads()
    try:
        torch.set_num_threads(threads + 1)
        again = train_pair(pair, rng=rng(), n_train=500, steps=12)
        assert torch.get_num_threads() == threads + 1
    finally:
        torch.set_num_threads(threads)
    assert torch.equal(before, torch.get_rng_state())
    for first, second in zip((mt, lm), again, strict=True):
        for a, b in zip(
            first.model.state_dict().values(), second.model.state_dict().values(), strict=True
        ):
            assert torch.equal(a, b)
    other = train_pair(pair, rng=rng(1), n_train=500, steps=1)[0]
    assert not torch.equal(next(mt.model.parameters()), next(other.model.parameters()))
