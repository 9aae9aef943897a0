"""Log-probabilities against a naive float64 computation, on tiny models made here."""

import math
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="pip install -c constraints.txt -e '.[neural]'")
transformers = pytest.importorskip(
    "transformers", reason="pip install -c constraints.txt -e '.[neural]'"
)

from anhelpers.errors import AnhelpersError, DataError, MissingExtra  # noqa: E402
from anhelpers.gguf import _Packaged  # noqa: E402
from anhelpers.models import Place  # noqa: E402
from anhelpers.naturalness.lm import (  # noqa: E402
    _bits_per_byte_metric,
    _windows,
    load_lm,
    lpp_metric,
    score_texts,
)
from anhelpers.scoring.cache import cached  # noqa: E402

pytestmark = pytest.mark.neural

TEXTS = [
    "Das Haus ist alt.",
    "Ein Satz, der über viele Wörter geht.",
    "ja",
    "",
    "Das Haus ist alt.",
    "  ",
    "Grüße 🙂 aus Köln </s>",
    "x",
    "Der Hund bellt, <s> die Katze schläft.",
    "<pad> und <pad>",
]
SHAPE = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
    "max_position_embeddings": 64,
}
MODELS = {  # Gemma 2 caps its final logits, so hidden states alone do not give them
    "gpt2": ("GPT2Config", {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64}),
    "llama": ("LlamaConfig", SHAPE),
    "gemma2": (
        "Gemma2Config",
        SHAPE | {"num_key_value_heads": 2, "head_dim": 8, "final_logit_softcapping": 2.0},
    ),
    "gemma3": ("Gemma3TextConfig", SHAPE | {"num_key_value_heads": 2, "head_dim": 8}),
}


@pytest.fixture(scope="module", params=MODELS)
def lm(request, build):
    config, settings = MODELS[request.param]
    return build(request.param, config, **settings)


def naive(lm, text, eos):
    """One text at a time, in float64, from the definition."""
    ids = lm.tokenizer(text, add_special_tokens=False, split_special_tokens=True)["input_ids"]
    ids = [lm.context_token, *ids] + ([lm.tokenizer.eos_token_id] if eos else [])
    model = lm.model.double()
    try:
        with torch.inference_mode():
            logits = model(input_ids=torch.tensor([ids])).logits[0].double()
    finally:
        lm.model.float()
    logp = torch.log_softmax(logits, -1)
    return sum(float(logp[t, ids[t + 1]]) for t in range(len(ids) - 1)), len(ids) - 1


@pytest.mark.verifies(
    "Log-probability of a text", by="foreign", of="transformers, one text at a time in float64"
)
@pytest.mark.parametrize("eos", [False, True])
def test_totals_and_counts_are_those_of_the_definition(lm, eos):
    scores = score_texts(lm, TEXTS, eos=eos)
    for i, text in enumerate(TEXTS):
        if not text.strip():
            assert scores.tokens[i] == 0
            assert math.isnan(scores.total[i])
            continue
        total, n = naive(lm, text, eos)
        assert scores.tokens[i] == n
        assert abs(scores.mean[i] - total / n) <= 2e-6
    assert not scores.windowed.any()
    assert len(scores.notes) == 1
    assert lm._head_suffices == (lm.name != "gemma2")


@pytest.mark.verifies("Log-probability of a text", by="property")
@pytest.mark.parametrize("budget", [16, 100_000])
def test_a_batch_of_one_equals_any_other_batch(lm, budget):
    alone = score_texts(lm, TEXTS, tokens_per_batch=1)
    together = score_texts(lm, TEXTS, tokens_per_batch=budget)
    np.testing.assert_allclose(alone.mean, together.mean, atol=1e-5, rtol=0)
    assert (alone.tokens == together.tokens).all()


def test_long_texts_are_scored_whole_in_windows_and_counted(lm):
    text = " ".join(["Der Hund ruft den Bus."] * 30)
    long, short = score_texts(lm, [text, "ja"]), score_texts(lm, ["ja"])
    n = len(lm.tokenizer(text, add_special_tokens=False)["input_ids"])
    assert long.tokens.tolist() == [n, short.tokens[0]]
    assert long.windowed.tolist() == [True, False]
    assert np.isfinite(long.total).all()


@pytest.mark.verifies("Log-probability of a text", by="property")
def test_every_token_is_scored_exactly_once_for_any_length():
    for length in range(2, 200):
        seen = []
        for _, window, skip in _windows([list(range(length))], 64):
            assert len(window) <= 64
            seen += window[1 + skip :]
        assert seen == list(range(1, length))


@pytest.mark.verifies("Log-probability of a text", by="hand")
def test_a_model_of_zeros_by_hand(build):
    """All logits are 0, so each of V tokens has probability 1/V: n tokens have −n log V."""
    config, settings = MODELS["gpt2"]
    lm = build("zeros", config, **settings)
    with torch.no_grad():
        for p in lm.model.parameters():
            p.zero_()
    found = [score_texts(lm, ["Das Haus."], eos=eos).total[0] for eos in (False, True)]
    n = len(lm.tokenizer("Das Haus.", add_special_tokens=False)["input_ids"])
    wanted = [-k * math.log(len(lm.tokenizer)) for k in (n, n + 1)]
    assert found == pytest.approx(wanted, rel=1e-6)


def test_special_tokens_in_a_text_are_text_and_a_model_may_have_no_context_token(lm):
    options = {"add_special_tokens": False, "split_special_tokens": True}
    plain = lm.tokenizer("a </s> b", **options)["input_ids"]
    assert lm.tokenizer.eos_token_id not in plain
    assert score_texts(lm, ["a </s> b"]).tokens[0] == len(plain)
    bare = replace(lm, context_token=None)
    assert score_texts(bare, ["a </s> b"]).tokens[0] == len(plain) - 1
    assert "bos:none" in bare.signature(False)
    assert score_texts(lm, []).mean.shape == (0,)


def test_a_saved_model_loads_with_its_signature(lm, tmp_path):
    lm.model.save_pretrained(tmp_path / "m")
    lm.tokenizer.save_pretrained(tmp_path / "m")
    metric = lpp_metric(loaded := load_lm(tmp_path / "m", device="cpu"))
    assert metric.signature.startswith(
        f"lpp|model:m|rev:{loaded.revision}|dtype:float32|bos:<s>|eos:no|max:64|"
    )
    wanted = -score_texts(lm, TEXTS).mean
    np.testing.assert_allclose(metric.score_segments(TEXTS), wanted, atol=1e-5)


def test_what_is_refused(lm, tmp_path):
    with pytest.raises(DataError):
        score_texts(lm, ["a", None])
    with pytest.raises(DataError):
        lpp_metric(replace(lm, language="de"), trg_lang="ja")
    with pytest.raises(AnhelpersError, match="no file named"):
        load_lm(tmp_path)
    broken = build_nan(lm)
    with pytest.raises(AnhelpersError, match="nan or infinity"):
        score_texts(broken, ["ja"])


def build_nan(lm):
    """A copy whose weights are nan."""
    from copy import deepcopy

    model = deepcopy(lm.model)
    with torch.no_grad():
        next(model.parameters()).fill_(math.nan)
    return replace(lm, model=model, name="broken")


@pytest.mark.verifies("Bits per byte", by="hand")
@pytest.mark.verifies("Bits per byte", by="property")
def test_bits_per_byte_are_all_bits_over_all_bytes(lm):
    texts = ["Grüße", "Der Mann sieht den Weg.", ""]
    metric, nats = _bits_per_byte_metric(lm), -score_texts(lm, texts[:2], eos=True).total
    # ü and ß are two bytes each
    wanted = [*(nats / np.log(2) / [7, 23]), np.nan]
    assert metric.score_segments(texts) == pytest.approx(wanted, nan_ok=True)
    assert metric.score_corpus(texts) == pytest.approx(nats.sum() / np.log(2) / 30)
    assert np.isnan(metric.score_corpus([""]))
    assert metric.signature.startswith("bpb|model:")


@pytest.mark.verifies("Bits per byte", by="foreign", of="the loss of transformers")
@pytest.mark.verifies("Log-probability of a text", by="foreign", of="transformers' own loss")
def test_bits_per_byte_are_the_loss_that_transformers_computes(lm):
    text = "Der Mann sieht den Weg."
    ids = lm.tokenizer(text, add_special_tokens=False).input_ids
    x = torch.tensor([[lm.context_token, *ids, lm.tokenizer.eos_token_id]])
    with torch.inference_mode():
        loss = lm.model(input_ids=x, labels=x).loss.item() * (x.shape[1] - 1)
    wanted = loss / np.log(2) / len(text.encode())
    assert _bits_per_byte_metric(lm).score_corpus([text]) == pytest.approx(wanted, rel=1e-5)


# -- the store that comes with the package -----------------------------------------------------------------------------

SIGNATURE = "lpp|model:gemma-3-270m|rev:a5fd3b62230a|bos:<bos>|eos:{}|max:4096|transformers:{}"


@pytest.fixture
def store(monkeypatch, tmp_path):
    """A function (version of transformers) -> a store in place of the bundled one, with one text."""
    monkeypatch.setenv("ANHELPERS_STORE", str(tmp_path / "cache.sqlite"))

    def made(version=transformers.__version__):
        file = tmp_path / f"{version}.sqlite"
        monkeypatch.setenv("ANHELPERS_STORE", str(file))
        for eos in ("no", "yes"):
            cached(
                SIGNATURE.format(eos, version), ["Ein Haus."], lambda texts: [[-9.0, 3, 0]], width=3
            )
        cached("native|heads:de|model:gemma-3-270m|rev:a5fd3b62230a|dtype:float32", ["a"], len)
        monkeypatch.setenv("ANHELPERS_STORE", str(tmp_path / "cache.sqlite"))
        monkeypatch.setattr("anhelpers.naturalness.lm.bundled", lambda name: file)
        return load_lm()

    return made


def test_stored_scores_need_no_model(store, monkeypatch):
    monkeypatch.setattr("anhelpers.naturalness.lm.converted", lambda name: pytest.fail("loaded"))
    lm = store()
    found = score_texts(lm, ["Ein Haus.", "Ein Haus."], eos=True)
    assert (found.mean.tolist(), found.tokens.tolist()) == ([-3, -3], [3, 3])
    assert lm.signature(True) == SIGNATURE.format("yes", transformers.__version__)
    assert "model" not in vars(lm)
    assert lpp_metric(lm).score_segments(["Ein Haus."]).tolist() == [3]


def test_another_text_loads_the_model(store, monkeypatch, tiny_lm):
    monkeypatch.setattr("anhelpers.naturalness.lm.converted", lambda name: tiny_lm)
    monkeypatch.setattr(
        "anhelpers.naturalness.lm.models.find",
        lambda *_: Place(str(tiny_lm), "a5fd3b62230a", tiny_lm, "tiny"),
    )
    lm = store()
    found = score_texts(lm, ["Ein ganz anderer Satz.", "Ein Haus."])
    assert "model" in vars(lm)
    assert found.mean[1] == -3
    alone = load_lm(tiny_lm, device="cpu")
    np.testing.assert_allclose(found.mean[:1], score_texts(alone, ["Ein ganz anderer Satz."]).mean)
    assert replace(lm, name="mine").prefilled is None


def test_stored_scores_of_another_version_are_not_used(store, monkeypatch):
    monkeypatch.setattr(_Packaged, "files", lambda self: [])
    with pytest.raises(MissingExtra):
        store("0.0.1")


WITHOUT = """
import sys
sys.modules["torch"] = sys.modules["transformers"] = sys.modules["gguf"] = None
import anhelpers as an
from anhelpers.gguf import _Packaged
_Packaged.files = lambda self: []
for data, lang in (("teaching", "de"), ("teaching/de-en", "en")):
    test = an.load(data)
    study = an.oracle_study(test, an.load_candidates(data))
    assert study.metrics[1].name == "native"
    for name in ("lpp", "native"):
        metric = an.metric(name, test)
        assert (metric.score_segments(an.load_mono(data)) < 100).all()
        try:
            metric.score_segments(["A new text, " + data])
        except an.AnhelpersError as error:
            print("pip install" in str(error), "\\n" in str(error))
"""


def test_without_torch_the_bundled_texts_have_scores(tmp_path, monkeypatch):
    """And a new text gets one sentence that names what to install."""
    monkeypatch.setenv("ANHELPERS_STORE", str(tmp_path / "scores.sqlite"))
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == ["True", "False"] * 4, done.stderr
