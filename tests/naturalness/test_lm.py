"""Log-probabilities against a naive float64 computation, on tiny models made here."""

import json
import math
import shutil

import numpy as np
import pytest

safetensors = pytest.importorskip(
    "safetensors.torch", reason="pip install -c constraints.txt -e '.[neural]'"
)
torch = pytest.importorskip("torch", reason="pip install -c constraints.txt -e '.[neural]'")
transformers = pytest.importorskip(
    "transformers", reason="pip install -c constraints.txt -e '.[neural]'"
)

from anhelpers import eight_bits  # noqa: E402
from anhelpers.errors import AnhelpersError, DataError  # noqa: E402
from anhelpers.naturalness import lm as lm_module  # noqa: E402
from anhelpers.naturalness.lm import (  # noqa: E402
    LanguageModel,
    TextLogProbs,
    bits_per_byte_metric,
    load_lm,
    lpp_metric,
    score_texts,
)
from anhelpers.naturalness.prints import shared_lines, training_lines  # noqa: E402
from anhelpers.training.lm import LmRecipe, train_lm, train_tokenizer  # noqa: E402
from anhelpers.training.recipe import encoded, examples, n_predicted, split_lines, training_batches  # noqa: E402

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
LINES = [
    f"Der {a} {b} den {c}."
    for a in ("Hund", "Mann", "Baum")
    for b in ("sieht", "ruft")
    for c in ("Weg", "Ort", "Bus")
] * 3


@pytest.fixture(scope="module")
def tokenizer():
    return train_tokenizer([*LINES, *TEXTS], 300, 64)


def tiny(kind: str, tokenizer):
    common = {"vocab_size": len(tokenizer), "bos_token_id": 0, "eos_token_id": 1, "pad_token_id": 2}
    shape = {
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 64,
        "max_position_embeddings": 64,
    }
    torch.manual_seed(1)
    if kind == "gpt2":
        config = transformers.GPT2Config(n_embd=32, n_layer=2, n_head=4, n_positions=64, **common)
    elif kind == "llama":
        config = transformers.LlamaConfig(**shape, **common)
    else:  # Gemma 2 caps its final logits, so hidden states alone do not give them
        config = transformers.Gemma2Config(
            **shape, **common, num_key_value_heads=2, head_dim=8, final_logit_softcapping=2.0
        )
    model = transformers.AutoModelForCausalLM.from_config(config)
    with torch.no_grad():
        for p in model.parameters():
            p.mul_(3)  # far from uniform, so that mistakes show
    return model.eval()


@pytest.fixture(scope="module", params=["gpt2", "llama", "gemma2"])
def lm(request, tokenizer):
    return LanguageModel(
        tiny(request.param, tokenizer), tokenizer, request.param, "0", "float32", "cpu", 0, 64
    )


def naive(lm, text, eos):
    """One text at a time, in float64, straight from the definition."""
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
    assert scores.notes == ["2 of 10 texts without a scored token: excluded (nan)."]


def test_the_fast_head_is_used_only_where_it_is_exact(lm):
    assert lm.hidden_states_suffice == (lm.name != "gemma2")


@pytest.mark.verifies("Log-probability of a text", by="property")
@pytest.mark.parametrize("budget", [1, 16, 100, 100_000])
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
    assert "1 of 2 texts longer than the context: scored in windows." in long.notes
    half = " ".join(
        ["Der Hund ruft den Bus."] * 2
    )  # fits the context: the first window of the long text agrees with it
    assert np.isfinite(long.total).all()
    assert abs(score_texts(lm, [half]).mean[0] - long.mean[0]) < 3


@pytest.mark.verifies("Log-probability of a text", by="property")
def test_every_token_is_scored_exactly_once_for_any_length(lm, tokenizer):
    from anhelpers.naturalness.lm import _windows

    for length in range(2, 200):
        seen = []
        for _, window, skip in _windows([list(range(length))], 64):
            assert len(window) <= 64
            seen += window[1 + skip :]
        assert seen == list(range(1, length))


def test_special_tokens_in_a_text_are_text(lm):
    plain = lm.tokenizer("a </s> b", add_special_tokens=False, split_special_tokens=True)[
        "input_ids"
    ]
    assert lm.tokenizer.eos_token_id not in plain
    assert score_texts(lm, ["a </s> b"]).tokens[0] == len(plain)


def test_without_any_context_token_the_first_token_is_not_scored(lm):
    bare = LanguageModel(lm.model, lm.tokenizer, lm.name, "0", "float32", "cpu", None, 64)
    with_bos, without = score_texts(lm, ["Das Haus."]), score_texts(bare, ["Das Haus."])
    assert without.tokens[0] == with_bos.tokens[0] - 1
    assert "bos:none" in bare.signature(False)


def test_a_saved_model_loads_and_says_who_it_is(lm, tmp_path):
    lm.model.save_pretrained(tmp_path / "m")
    lm.tokenizer.save_pretrained(tmp_path / "m")
    loaded = load_lm(tmp_path / "m", device="cpu")
    metric = lpp_metric(loaded)
    assert metric.signature.startswith(
        f"lpp|model:m|rev:{loaded.revision}|dtype:float32|bos:<s>|eos:no|max:64|"
    )
    assert len(loaded.revision) == 12
    assert not metric.higher_is_better
    np.testing.assert_allclose(
        metric.score_segments(TEXTS), -score_texts(lm, TEXTS).mean, atol=1e-5
    )


def test_wrong_calls_are_told_in_one_sentence(lm, tmp_path):
    with pytest.raises(DataError, match="text 1 of texts is None, not a text"):
        score_texts(lm, ["a", None])
    with pytest.raises(AnhelpersError, match="no language model at"):
        load_lm(tmp_path)


def test_no_texts_give_empty_arrays(lm):
    assert score_texts(lm, []).mean.shape == (0,)


def test_training_learns_resumes_and_writes_a_loadable_folder(tmp_path):
    recipe = LmRecipe(
        "de",
        vocab_size=300,
        width=16,
        layers=1,
        heads=2,
        max_tokens=32,
        epochs=12,
        tokens_per_batch=64,
        held_out=3,
    )
    facts = train_lm(LINES, tmp_path / "whole", recipe, say=lambda s: None)
    said = []

    def stop(line):
        said.append(line)
        if "epoch 2/" in line:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_lm(LINES, tmp_path / "cut", recipe, say=stop)
    assert not (tmp_path / "cut").exists()
    resumed = train_lm(LINES, tmp_path / "cut", recipe, say=said.append)
    assert any(s.startswith("resumed after step") for s in said)
    assert resumed["held_out_perplexity"] == pytest.approx(facts["held_out_perplexity"], rel=1e-3)
    assert facts["held_out_perplexity"] < 300 / 2
    assert not list(tmp_path.glob("*.partial"))
    lm = load_lm(tmp_path / "whole", device="cpu")
    good, shuffled = score_texts(lm, ["Der Mann sieht den Weg.", "Weg Mann. den sieht Der"]).mean
    assert good > shuffled


@pytest.mark.parametrize(
    ("out", "chosen", "device", "sentence"),
    [
        (
            "full",
            {},
            "cpu",
            "full: is a folder with other things in it, which the model would replace",
        ),
        ("m", {}, "gpu", "there is no device 'gpu' here"),
        ("m", {"held_out": 0}, "cpu", "held_out is 0; hold out at least 1 line"),
    ],
)
def test_training_refuses_before_it_begins(tmp_path, out, chosen, device, sentence):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "t.txt").write_text("my own text", "utf-8")
    with pytest.raises(DataError, match=sentence):
        train_lm(LINES, tmp_path / out, LmRecipe("de", **chosen), device=device)
    assert [path.name for path in tmp_path.rglob("*")] == ["full", "t.txt"]


def test_training_reads_what_scoring_reads():
    tokenizer = train_tokenizer(LINES, 300, 32)
    ids, _ = encoded(tokenizer, ["ein <s> und ein </s> und <pad>"], LmRecipe("de"))
    assert not set(ids[0][1:-1]) & set(tokenizer.all_special_ids)


def test_held_out_lines_are_never_trained_on():
    lines = [*LINES, "", "  "]
    train, held = split_lines(lines, 4, seed=1)
    assert len(held) == 4
    assert not {lines[k] for k in train} & {lines[k] for k in held}
    assert len(train) + len(held) == len(set(LINES))
    # in the order of the text, so that lines can be joined
    assert [train, held] == [sorted(train), sorted(held)]
    with pytest.raises(DataError, match="too few to hold out"):
        split_lines(["a", "b"], 5, seed=1)


BOS, EOS = 0, 1
IDS = [[BOS, 10 + k, EOS] for k in range(400)]
OF = np.repeat([0, 1], 200)


def test_a_weight_is_how_often_a_line_is_read():
    read = examples(IDS, OF, LmRecipe("de", weights=(2, 0.25)), epoch=0)
    counts = np.bincount([i[1] - 10 for i in read], minlength=400)
    assert (counts[:200] == 2).all()
    assert set(counts[200:]) == {0, 1}
    assert 25 < counts[200:].sum() < 75
    other = examples(IDS, OF, LmRecipe("de", weights=(2, 0.25)), epoch=1)
    assert other != read  # another quarter
    assert examples(IDS, OF, LmRecipe("de", weights=(2, 0.25)), epoch=0) == read


def test_joined_lines_follow_each_other_in_one_text_and_fit():
    recipe = LmRecipe("de", weights=(1, 1), join=0.9, max_tokens=8)
    read = examples(IDS, OF, recipe, epoch=0)
    # nothing lost, nothing twice
    assert [token for i in read for token in i[1:-1]] == [10 + k for k in range(400)]
    assert {i[0] for i in read} == {BOS}
    assert {i[-1] for i in read} == {EOS}
    assert max(map(len, read)) == 8
    # the end of one text and the beginning of the other
    assert not any({209, 210} <= set(i) for i in read)
    alone = examples(IDS, OF, LmRecipe("de"), epoch=3)
    assert alone is IDS


def test_a_batch_keeps_within_its_tokens_and_each_text_is_in_one():
    ids = [[BOS, *range(2, 2 + k % 30), EOS] for k in range(300)]
    made = list(
        training_batches(ids, LmRecipe("de", tokens_per_batch=100), np.random.default_rng(0))
    )
    assert sum(map(len, made)) == 300
    assert sum(n_predicted(batch) for batch in made) == n_predicted(ids)
    assert max(len(batch) * max(map(len, batch)) for batch in made) <= 100


@pytest.mark.parametrize("stored", ["float16", "int8"])
def test_what_is_measured_is_what_is_stored(tmp_path, stored):
    recipe = LmRecipe(
        "de",
        vocab_size=300,
        width=16,
        layers=1,
        heads=2,
        max_tokens=32,
        epochs=2,
        tokens_per_batch=64,
        held_out=3,
        stored=stored,
    )
    facts = train_lm(LINES, tmp_path / "m", recipe, say=lambda line: None)
    lm = load_lm(tmp_path / "m", device="cpu")
    held = [LINES[k] for k in split_lines(LINES, 3, recipe.seed)[1]]
    scores = score_texts(lm, held, eos=True)
    assert scores.tokens.sum() == facts["held_out_tokens"]
    assert -scores.total.sum() / scores.tokens.sum() == pytest.approx(
        facts["held_out_nats_per_token"], abs=1e-4
    )
    assert shared_lines([*held, LINES[0]], lm.training_lines) == (
        [] if LINES[0] in held else [LINES[0]]
    )


def test_eight_bits_keep_a_weight_to_half_a_step_of_its_row(tmp_path):
    torch.manual_seed(0)
    layer = torch.nn.Linear(50, 20)
    before = layer.weight.detach().clone()
    after = eight_bits.restored(eight_bits.rounded(layer))
    step = before.abs().amax(1, keepdim=True) / 127
    assert ((after["weight"] - before).abs() <= step / 2 + 1e-7).all()
    assert torch.equal(after["bias"], layer.bias.detach().half().float())
    layer.load_state_dict(after)
    again = eight_bits.rounded(layer)
    assert torch.equal(
        eight_bits.restored(again)["weight"], after["weight"]
    )  # rounding what is rounded changes nothing


def test_a_file_in_eight_bits_without_a_part_is_refused(tmp_path):
    recipe = LmRecipe(
        "de",
        vocab_size=300,
        width=16,
        layers=1,
        heads=2,
        max_tokens=32,
        epochs=1,
        tokens_per_batch=64,
        held_out=3,
        stored="int8",
    )
    train_lm(LINES, tmp_path / "m", recipe, say=lambda line: None)
    config = tmp_path / "m" / "config.json"
    text = config.read_text("utf-8")
    config.write_text(text.replace('"n_layer": 1', '"n_layer": 2'), "utf-8")
    with pytest.raises(AnhelpersError, match="has no weights for"):
        load_lm(tmp_path / "m", device="cpu")
    config.write_text(text, "utf-8")
    weights = tmp_path / "m" / eight_bits.FILE
    tensors = safetensors.load_file(weights)
    one = next(name for name in tensors if name.endswith(eight_bits.FACTOR))
    for broken in (tensors.keys() - {one}, tensors.keys() - {one.removesuffix(eight_bits.FACTOR)}):
        safetensors.save_file({name: tensors[name] for name in broken}, weights)
        with pytest.raises(AnhelpersError, match="could not be loaded"):
            load_lm(tmp_path / "m", device="cpu")
    (tmp_path / "m" / eight_bits.FILE).write_bytes(b"nothing")
    with pytest.raises(AnhelpersError, match="could not be loaded"):
        load_lm(tmp_path / "m", device="cpu")


@pytest.mark.parametrize(
    ("chosen", "sentence"),
    [
        ({"weights": ()}, "weights are"),
        ({"weights": (0.0,)}, "one above 0"),
        ({"weights": (-1.0, 1.0)}, "weights"),
        ({"join": 1.0}, "join is 1.0; it is a chance"),
        ({"stored": "int4"}, "unknown way to store weights"),
    ],
)
def test_a_recipe_that_cannot_be_is_told(chosen, sentence):
    with pytest.raises(AnhelpersError, match=sentence):
        LmRecipe("de", **chosen)


@pytest.mark.parametrize("bits", [0, 64, 70, -1])
def test_prints_of_lines_with_impossible_bits_are_refused(tmp_path, bits):
    np.savez_compressed(tmp_path / "train_lines.npz", gaps=np.ones(3, np.uint16), bits=bits)
    with pytest.raises(DataError, match="is no array of the lines of training"):
        training_lines(tmp_path)


@pytest.mark.parametrize("shape", [(3,), (3, 4), (2, 2, 2)])
def test_prints_of_lines_in_another_shape_are_refused(tmp_path, shape):
    np.savez_compressed(tmp_path / "train_lines.npz", gaps=np.ones(shape, np.uint8), bits=31)
    with pytest.raises(DataError, match="is no array of the lines of training"):
        training_lines(tmp_path)


def test_every_text_has_its_weight(tmp_path):
    with pytest.raises(DataError, match="there are 1 texts and 2 weights"):
        train_lm(LINES, tmp_path / "m", LmRecipe("de", weights=(1, 2)))
    with pytest.raises(DataError, match="there are 2 texts and 1 weights"):
        train_lm(LINES, tmp_path / "m", LmRecipe("de"), of=[0] * (len(LINES) - 1) + [1])


def test_another_configuration_is_another_revision(tiny_marian, tmp_path):
    shutil.copytree(tiny_marian / "lm", tmp_path / "lm")
    before = load_lm(tmp_path / "lm").revision
    config = json.loads((tmp_path / "lm" / "config.json").read_text("utf-8"))
    (tmp_path / "lm" / "config.json").write_text(
        json.dumps(config | {"decoder_attention_heads": 1}), "utf-8"
    )
    assert load_lm(tmp_path / "lm").revision != before


@pytest.mark.verifies("Log-probability of a text", by="hand")
@pytest.mark.parametrize("kind", ["gpt2", "llama"])
def test_a_model_of_zeros_by_hand(kind, tokenizer):
    """All logits are 0, so each of V tokens has probability 1/V: n tokens have −n log V, the end counted."""
    model = tiny(kind, tokenizer)
    with torch.no_grad():
        for p in model.parameters():
            p.zero_()
    found = [
        score_texts(
            LanguageModel(model, tokenizer, kind, "0", "float32", "cpu", 0, 64),
            ["Das Haus."],
            eos=eos,
        )
        for eos in (False, True)
    ]
    n = len(tokenizer("Das Haus.", add_special_tokens=False)["input_ids"])
    assert [s.total[0] for s in found] == pytest.approx(
        [-k * math.log(len(tokenizer)) for k in (n, n + 1)], rel=1e-6
    )


@pytest.mark.verifies("Log-probability of a text", by="foreign", of="transformers' own loss")
def test_means_are_the_loss_that_transformers_reports(lm):
    """The cross-entropy of one text with its own labels, the context token not among them."""
    text = "Der Hund bellt, die Katze schläft."
    ids = [lm.context_token, *lm.tokenizer(text, add_special_tokens=False)["input_ids"]]
    with torch.inference_mode():
        loss = float(lm.model(input_ids=torch.tensor([ids]), labels=torch.tensor([ids])).loss)
    assert score_texts(lm, [text]).mean[0] == pytest.approx(-loss, abs=2e-6)


@pytest.mark.verifies("Bits per byte", by="hand")
def test_bits_per_byte_are_all_bits_over_all_bytes(lm):
    texts = ["Grüße", "Der Mann sieht den Weg."]
    metric, nats = bits_per_byte_metric(lm, lm.language), -score_texts(lm, texts, eos=True).total
    # ü and ß are two bytes each
    assert metric.score_segments(texts) == pytest.approx(nats / np.log(2) / [7, 23])
    assert metric.score_corpus(texts) == pytest.approx(nats.sum() / np.log(2) / 30)
    assert not metric.higher_is_better
    assert metric.signature.startswith("bpb|model:")
    assert "|eos:yes|" in metric.signature


@pytest.mark.verifies("Bits per byte", by="property")
def test_a_blank_text_has_no_bits_and_no_part_in_the_corpus(lm):
    metric = bits_per_byte_metric(lm, lm.language)
    segments = metric.score_segments(["Der Weg.", "", "  "])
    assert np.isnan(segments).tolist() == [False, True, True]
    once, thrice = metric.score_corpus(["Der Weg.", ""]), metric.score_corpus(["Der Weg."] * 3)
    assert [once, thrice] == pytest.approx([segments[0]] * 2)
    assert np.isnan(metric.score_corpus([""]))


@pytest.mark.verifies("Bits per byte", by="foreign", of="the loss of transformers")
def test_bits_per_byte_are_the_loss_that_transformers_computes(lm):
    text = "Der Mann sieht den Weg."
    ids = torch.tensor(
        [
            [
                lm.context_token,
                *lm.tokenizer(text, add_special_tokens=False).input_ids,
                lm.tokenizer.eos_token_id,
            ]
        ]
    )
    with torch.inference_mode():
        loss = lm.model(input_ids=ids, labels=ids).loss.item() * (ids.shape[1] - 1)
    wanted = loss / np.log(2) / len(text.encode())
    assert bits_per_byte_metric(lm).score_corpus([text]) == pytest.approx(wanted, rel=1e-5)


def test_a_text_that_cannot_be_has_infinitely_many_bits(lm, monkeypatch):
    impossible = TextLogProbs(np.array([-np.inf, -1.0]), np.array([2, 2]), np.zeros(2, bool))
    monkeypatch.setattr(lm_module, "score_texts", lambda *args: impossible)
    metric = bits_per_byte_metric(lm)
    assert metric.score_segments(["ab", "cd"]).tolist() == [np.inf, 0.5 / np.log(2)]
    assert metric.score_corpus(["ab", "cd"]) == np.inf
