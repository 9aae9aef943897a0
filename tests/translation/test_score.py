"""log q(t | s) against one pair at a time in float64, on tiny models of every family."""

import dataclasses
import math

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="pip install -c constraints.txt -e '.[neural]'")
transformers = pytest.importorskip(
    "transformers", reason="pip install -c constraints.txt -e '.[neural]'"
)

from anhelpers.errors import DataError  # noqa: E402
from anhelpers.translation import load_mt, score_pairs  # noqa: E402

pytestmark = pytest.mark.neural

NAMES = "marian marian-many marian-apart m2m100 nllb mbart50 mbart25 t5 mt5 byt5 bart"


@pytest.fixture(scope="module", params=NAMES.split())
def family_name(request):
    return request.param


@pytest.fixture(scope="module")
def mt(family, family_name):
    found = family(family_name)
    return load_mt(found.folder, device="cpu", **found.options)


def ours(family_name, mt, source, target):
    """What the documentation of each family says that encoder and decoder see: (source ids, given ids, target ids)."""
    tokenizer = mt.tokenizer
    if family_name in ("m2m100", "nllb", "mbart50", "mbart25"):
        tokenizer.src_lang, tokenizer.tgt_lang = mt.src_lang, mt.trg_lang
    before = {"marian-many": ">>deu<< ", "t5": "to German: "}.get(family_name, "")
    labels = tokenizer(before + source, text_target=target)
    return labels["input_ids"], labels["labels"]


def naive(family_name, mt, source, target):
    """Σ log q of the text's tokens and EOS: float64, the model's own shift of its own labels, one pair, no padding."""
    x, labels = ours(family_name, mt, source, target)
    model = mt.model.double()
    try:
        with torch.no_grad():
            logits = model(input_ids=torch.tensor([x]), labels=torch.tensor([labels])).logits[0]
    finally:
        mt.model.float()
    if "marian" in family_name:
        logits[:, mt.tokenizer.pad_token_id] = -math.inf
    else:
        assert mt.never == ()
    logp = torch.log_softmax(logits, -1)
    # the language or <s> is given
    first = 1 if family_name in ("m2m100", "nllb", "mbart50", "bart") else 0
    last = len(labels) - 1 if family_name == "mbart25" else len(labels)  # X </s> language
    assert labels[last - 1] == mt.tokenizer.eos_token_id
    return sum(float(logp[j, labels[j]]) for j in range(first, last)), last - first


@pytest.mark.verifies(
    "Log-probability of a translation", by="foreign", of="transformers' own labels, in float64"
)
def test_totals_and_counts_are_those_of_the_definition(mt, family_name, pairs):
    found = score_pairs(mt, *zip(*pairs, strict=True))
    for i, (source, target) in enumerate(pairs):
        total, n = naive(family_name, mt, source, target)
        assert found.tokens[i] == n
        assert abs(found.total[i] - total) <= 2e-6 * n
    assert found.notes == []
    assert not found.too_long.any()


def test_the_decoder_is_given_what_the_documentation_says(mt, family, family_name):
    assert tuple(mt.tokenizer.convert_ids_to_tokens(list(mt.prefix))) == family(family_name).given


@pytest.mark.verifies("Log-probability of a translation", by="property")
@pytest.mark.parametrize("budget", [40, 100_000])
def test_a_batch_of_one_equals_any_other_batch(mt, pairs, budget):
    # every source with every target
    srcs, trgs = zip(*((s, t) for s, _ in pairs for _, t in pairs), strict=True)
    alone = np.array([score_pairs(mt, [s], [t]).total[0] for s, t in zip(srcs, trgs, strict=True)])
    together = score_pairs(mt, srcs, trgs, tokens_per_batch=budget)
    np.testing.assert_allclose(
        together.total / together.tokens, alone / together.tokens, rtol=0, atol=2e-6
    )
    assert len(set(together.total)) == len(srcs)


def test_the_source_matters_and_an_empty_one_is_allowed(mt, pairs):
    target = pairs[0][1]
    totals = score_pairs(mt, [pairs[0][0], pairs[1][0], ""], [target] * 3).total
    assert np.isfinite(totals).all()
    assert len(set(totals)) == 3


def test_blank_and_long_ones_are_nan_and_told(mt):
    long = "Der Hund bellt. " * 60
    found = score_pairs(mt, ["a", "a", long, "a", "a"], ["", "\t ", "Ja.", long, "Ja."])
    assert np.isnan(found.total).tolist() == [True, True, True, True, False]
    assert found.too_long.tolist() == [False, False, True, True, False]
    assert found.tokens[:2].tolist() == [0, 0]
    assert found.notes[:2] == [
        "2 of 5 pairs have a blank target: excluded (nan).",
        "2 of 5 pairs are longer than the model takes: excluded (nan).",
    ]


def test_the_longest_that_fits_is_scored(mt):
    word = "a" if type(mt.tokenizer).__name__ == "ByT5Tokenizer" else "Ja."
    for k in range(1, 200):
        found = score_pairs(mt, ["a"], [word * k])
        if found.too_long[0]:
            break
        most = int(found.tokens[0])
        assert np.isfinite(found.total[0])
    assert most + len(mt.prefix) - 1 <= mt.max_tokens < int(found.tokens[0]) + len(mt.prefix) - 1


def test_special_tokens_in_a_text_are_text(mt):
    found = mt.target_tokens(["Ja </s> nein", "<pad> und </s>"])
    assert all(t.count("</s>") == 1 and "<pad>" not in t for t in found)
    scored = score_pairs(mt, ["a </s> b <pad>"] * 2, ["Ja </s> nein", "<pad> und </s>"])
    assert np.isfinite(scored.total).all()


def test_what_is_refused(mt):
    assert score_pairs(mt, [], []).total.shape == (0,)
    for srcs, trgs in ((["a"], ["a", "b"]), (["a", "b"], ["a", None]), ("a", ["a"])):
        with pytest.raises(DataError):
            score_pairs(mt, srcs, trgs)


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("m2m100", "fr"),
        ("nllb", "fra_Latn"),
        ("mbart50", "fr_XX"),
        ("mbart25", "fr_XX"),
        ("marian-many", ">>fra<<"),
    ],
)
def test_another_target_language_changes_every_score(family, pairs, name, other):
    found = family(name)
    mt, second = (
        load_mt(found.folder, device="cpu", **(found.options | more))
        for more in ({}, {"trg_lang": other})
    )
    srcs, trgs = zip(*pairs, strict=True)
    first, then = (score_pairs(model, srcs, trgs) for model in (mt, second))
    assert (abs(first.total - then.total) > 1e-3).all()
    assert (first.tokens == then.tokens).all()
    # one tokenizer, two languages in turn
    shared = dataclasses.replace(second, tokenizer=mt.tokenizer, model=mt.model)
    assert (score_pairs(shared, srcs, trgs).total == then.total).all()
    assert (score_pairs(mt, srcs, trgs).total == first.total).all()


def test_equal_pairs_are_scored_once_and_a_source_is_encoded_once(family, pairs, monkeypatch):
    mt = load_mt(family("marian").folder, device="cpu")
    seen = {"encoder": 0, "decoder": 0}
    mt.model.get_encoder().register_forward_hook(
        lambda m, a, k, out: seen.update(encoder=seen["encoder"] + k["input_ids"].shape[0]),
        with_kwargs=True,
    )
    mt.model.get_decoder().register_forward_hook(
        lambda m, a, k, out: seen.update(decoder=seen["decoder"] + k["input_ids"].shape[0]),
        with_kwargs=True,
    )
    trgs = [t for _, t in pairs] * 3
    found = score_pairs(mt, [pairs[0][0]] * 15, trgs)
    assert seen == {"encoder": 1, "decoder": 5}
    assert (found.total[:5] == found.total[5:10]).all()


def test_marian_s_padding_token_has_no_probability(family, pairs):
    """The converted models' pad has logit 0 while the others are negative; generation forbids it, and so do we."""
    mt = load_mt(family("marian").folder, device="cpu")
    raw = dataclasses.replace(mt, never=())
    srcs, trgs = zip(*pairs, strict=True)
    assert (score_pairs(mt, srcs, trgs).total > score_pairs(raw, srcs, trgs).total).all()
    assert "|never:<pad>|" in mt.signature()
    total = 0.0
    # the first token's probabilities add up to one without it
    for token in range(mt.model.config.vocab_size):
        if token != mt.never[0]:
            y = torch.tensor([[mt.prefix[0]]])
            with torch.no_grad():
                logits = (
                    mt.model(input_ids=torch.tensor([[0]]), decoder_input_ids=y)
                    .logits[0, 0]
                    .double()
                )
            logits[mt.never[0]] = -math.inf
            total += float(logits.log_softmax(0)[token].exp())
    assert total == pytest.approx(1, abs=1e-9)


def test_final_logits_bias_and_t5_s_scaling_are_the_model_s_own(family, pairs):
    marian = load_mt(family("marian").folder, device="cpu")
    t5 = load_mt(family("t5").folder, device="cpu")
    before = score_pairs(marian, *zip(*pairs, strict=True)).total
    with torch.no_grad():
        marian.model.final_logits_bias[0, : marian.never[0]] += torch.linspace(
            0, 1, marian.never[0]
        )
    assert (abs(score_pairs(marian, *zip(*pairs, strict=True)).total - before) > 1e-3).all()
    assert t5.model.config.tie_word_embeddings
    before = score_pairs(t5, *zip(*pairs, strict=True)).total
    t5.model.config.tie_word_embeddings = False  # then nothing is scaled by 1/√d
    assert (abs(score_pairs(t5, *zip(*pairs, strict=True)).total - before) > 1e-3).all()


@pytest.mark.verifies("Log-probability of a translation", by="hand")
def test_a_model_of_zeros_by_hand(zeros):
    """All logits are 0 and the padding token is never said: every token, the end too, has probability 1 / (V − 1)."""
    found = score_pairs(zeros, ["The dog barks."], ["Der Hund bellt."])
    assert found.tokens[0] > 2
    assert found.total[0] == pytest.approx(
        -found.tokens[0] * math.log(zeros.model.config.vocab_size - 1), rel=1e-6
    )
