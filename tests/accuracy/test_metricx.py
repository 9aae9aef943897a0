"""MetricX against its definition, written out for one input at a time, on a tiny random mT5."""

import functools
import json
import shutil

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("transformers", reason="pip install -c constraints.txt -e '.[neural]'")

import torch
import transformers

from anhelpers.accuracy import metricx
from anhelpers.accuracy.metricx import _inputs, _load_metricx, _metricx_metric, _metricx_scores
from anhelpers.data import TestSet
from anhelpers.errors import AnhelpersError, DataError, UnknownName
from anhelpers.scoring import system_rows

# float32 with padding and without, on scores up to 25: 7e-5 at most in 4,800 random inputs.
ROUNDING = 2e-4

WORDS = "Das Haus|ist alt|The dog|reference:|candidate:|{hyp}| |</s>|漢字|ß|\t|xyzxyzxyzxyzxyzxyzxyzxyzxyz"
WORDS = WORDS.split("|")
TEXT = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)
WRITTEN = {
    "metricx23": lambda src, hyp, ref: "candidate: " + hyp + " reference: " + ref,
    "metricx23-qe": lambda src, hyp, ref: "candidate: " + hyp + " source: " + src,
    "metricx24": lambda src, hyp, ref: (
        "source: " + src + " candidate: " + hyp + " reference: " + ref
    ),
    "metricx24-qe": lambda src, hyp, ref: "source: " + src + " candidate: " + hyp,
}

ROWS = [(s, h, r) for s in WORDS[:6] for h in WORDS for r in WORDS[:3]]


@pytest.fixture(scope="session")
def tiny(tmp_path_factory, unigram):
    """A function (tied) -> the folder of a random mT5 of width 8 with mT5's 250,112 tokens, called as Google's are."""
    made = {}

    def build(tied=False):
        if tied not in made:
            made[tied] = _saved(
                tmp_path_factory.mktemp("metricx") / "metricx-24-tiny", tied, unigram
            )
        return made[tied]

    return build


def _saved(folder, tied, unigram):
    import tokenizers

    pieces = unigram(
        ["<pad>", "</s>", "<unk>"], "source: candidate: reference: Das Haus ist alt The dog xyz"
    )
    pieces.post_processor = tokenizers.processors.TemplateProcessing(
        single="$A </s>", special_tokens=[("</s>", 1)]
    )
    tokenizer = transformers.T5TokenizerFast(tokenizer_object=pieces, extra_ids=0)
    tokenizer.save_pretrained(folder)
    torch.manual_seed(5)
    model = transformers.MT5ForConditionalGeneration(
        transformers.MT5Config(
            vocab_size=250112,
            d_model=8,
            d_kv=4,
            d_ff=16,
            num_layers=2,
            num_decoder_layers=1,
            num_heads=2,
            tie_word_embeddings=tied,
            decoder_start_token_id=0,
            architectures=["MT5ForRegression"],
        )
    )
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if weight.dim() > 1 and "shared" not in name:
                weight.normal_(0, 0.7)
        row = _telling_row(
            [
                _decoded(model.eval(), tokenizer(text)["input_ids"][:-1])
                for text in map(WRITTEN["metricx24"], *zip(*ROWS, strict=True))
            ]
        )
        model.lm_head.weight[250089] = row * (8**0.5 if tied else 1)
    model.save_pretrained(folder)
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    (folder / "config.json").write_text(
        json.dumps(config | {"architectures": ["MT5ForRegression"]}), encoding="utf-8"
    )
    return folder


def _decoded(model, ids):
    """What the decoder makes of the single token 0 when the encoder has read these."""
    encoded = model.encoder(input_ids=torch.tensor([ids])).last_hidden_state
    return model.decoder(
        input_ids=torch.tensor([[0]]), encoder_hidden_states=encoded
    ).last_hidden_state[0, 0]


def _telling_row(decoded):
    """Weights of the score that give some texts less than 0 and some more than 25."""
    decoded = torch.stack(decoded)
    spread = (decoded - decoded.mean(0)) @ torch.linalg.svd(decoded - decoded.mean(0)).Vh[0]
    return torch.linalg.lstsq(decoded, 12.5 + 15 * (spread / spread.std())[:, None]).solution[:, 0]


def defined(folder, variant, src, hyp, ref):
    """github.com/google-research/metricx, metricx23/models.py and metricx24/predict.py, for one input."""
    model, tokenizer = _loaded(folder)
    longest = 1024 if "23" in variant else 1536
    ids = tokenizer(WRITTEN[variant](src, hyp, ref), max_length=longest, truncation=True)[
        "input_ids"
    ][:-1]
    with torch.no_grad():
        decoded = _decoded(model, ids)
        if model.config.tie_word_embeddings:
            decoded = decoded * model.config.d_model**-0.5
        return float(torch.clamp(model.lm_head(decoded)[250089], 0, 25))


@functools.cache
def _loaded(folder):
    model = transformers.MT5ForConditionalGeneration.from_pretrained(folder)
    return model.eval(), transformers.AutoTokenizer.from_pretrained(folder)


def read(variant, row):
    """Of source, hypothesis and reference, what a variant reads."""
    return tuple(
        dict(zip(("src", "hyp", "ref"), row, strict=True))[kind] for kind in _inputs(variant)
    )


@pytest.mark.verifies("MetricX", by="foreign", of="Google's code, written out on transformers' mT5")
@pytest.mark.parametrize(
    ("variant", "tied"), [*((variant, False) for variant in WRITTEN), ("metricx24", True)]
)
def test_scores_are_the_definitions(tiny, variant, tied):
    metricx = _load_metricx(tiny(tied), variant, device="cpu")

    @given(
        st.lists(st.tuples(TEXT, TEXT, TEXT), min_size=1, max_size=6),
        st.sampled_from([1, 50, None]),
    )
    @settings(max_examples=5)
    def check(rows, budget):
        ours = _metricx_scores(metricx, [read(variant, row) for row in rows], budget)[:, 0]
        theirs = [defined(tiny(tied), variant, *row) for row in rows]
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=ROUNDING)

    check()


@pytest.mark.verifies("MetricX", by="property")
def test_scores_tell_texts_apart_and_are_clipped_at_both_ends(tiny):
    metricx = _load_metricx(tiny(), device="cpu")
    scores = _metricx_scores(metricx, ROWS)[:, 0]
    assert (scores.min(), scores.max()) == (0, 25)
    assert np.unique(scores.round(3)).size > 30


@pytest.mark.parametrize(("variant", "longest"), [("metricx23", 1024), ("metricx24-qe", 1536)])
def test_a_long_input_loses_its_end_and_is_counted(tiny, variant, longest):
    metricx = _load_metricx(tiny(), variant, device="cpu")

    def tokens(n):
        return len(metricx.tokenizer(WRITTEN[variant]("x" * n, "x" * n, "alt"))["input_ids"])

    fits = max(n for n in range(1, 2000) if tokens(n) <= longest)
    rows = [("x" * n, "x" * n, "alt") for n in (fits, fits + 1, fits + 400)]
    ours = _metricx_scores(metricx, [read(variant, row) for row in rows])
    assert ours[:, 1].tolist() == [0, 1, 1]
    np.testing.assert_allclose(
        ours[:, 0], [defined(tiny(), variant, *row) for row in rows], rtol=0, atol=ROUNDING
    )


def test_weights_as_google_saved_them(tiny, tmp_path):
    folder = tmp_path / "metricx-23-qe-tiny"
    shutil.copytree(tiny(), folder)
    (folder / "model.safetensors").unlink()
    model = transformers.MT5ForConditionalGeneration.from_pretrained(tiny())
    state = model.state_dict() | {
        f"{side}.embed_tokens.weight": model.shared.weight for side in ("encoder", "decoder")
    }
    torch.save(state, folder / "pytorch_model.bin")
    metricx = _load_metricx(folder, device="cpu")
    assert (metricx.variant, metricx.name) == ("metricx23-qe", "metricx-23-qe-tiny")
    ours = _metricx_scores(metricx, [("Das Haus", "The dog")])[0, 0]
    assert ours == pytest.approx(
        defined(tiny(), "metricx23-qe", "The dog", "Das Haus", ""), rel=0, abs=ROUNDING
    )
    del state["lm_head.weight"]
    torch.save(state, folder / "pytorch_model.bin")
    with pytest.raises(AnhelpersError, match=r"lm_head\.weight"):
        _load_metricx(folder)


def test_the_metric_is_an_error_score_with_the_mean_over_references(tiny, capsys):
    metric = _metricx_metric(tiny(), 2, device="cpu")
    assert (metric.name, metric.label, metric.needs) == (
        "metricx24:metricx-24-tiny",
        "MetricX 24-tiny",
        ("srcs", "refs"),
    )
    assert metric.scale == "points, 0 to 25 (lower is better)"
    assert metric.oriented_title == "−MetricX 24-tiny (points, −25 to 0, higher is better)"
    parts = [part.split(":")[0] for part in metric.signature.split("|")]
    assert " ".join(parts) == ("metricx24 model rev reads dtype max clip transformers nrefs refs")
    srcs = ("The dog", "alt")
    hyps = ("Das Haus", "")
    refs = {"A": ("ist alt", "alt"), "B": ("Das", "xyz")}
    rows = system_rows(TestSet("t", "en-de", srcs, refs, {"S": hyps}), [metric])
    wanted = [
        defined(tiny(), "metricx24", *row)
        for r in refs.values()
        for row in zip(srcs, hyps, r, strict=True)
    ]
    assert rows.value[0] == pytest.approx(np.mean(wanted), rel=0, abs=ROUNDING)
    assert "scored 1 blank hypotheses as any text." in capsys.readouterr().err
    quality = _metricx_metric(tiny(), variant="metricx24-qe", device="cpu")
    assert (quality.needs, quality.label) == (("srcs",), "MetricX 24-tiny without reference")
    with pytest.raises(DataError, match="got no sources"):
        quality.score_segments(["a"])


def test_bfloat16_is_said_and_near(tiny):
    half, full = (
        _load_metricx(tiny(), device="cpu", dtype=dtype) for dtype in ("bfloat16", "float32")
    )
    assert "|dtype:bfloat16|" in _metricx_metric(tiny(), device="cpu", dtype="bfloat16").signature
    apart = np.abs(_metricx_scores(half, ROWS)[:, 0] - _metricx_scores(full, ROWS)[:, 0])
    assert 0 < np.median(apart) < 1


def test_what_is_no_metricx_is_refused(tiny, encoder, tmp_path, monkeypatch):
    with pytest.raises(DataError, match="got xlm-roberta, expected mt5"):
        _load_metricx(encoder, "metricx24")
    with pytest.raises(UnknownName, match="unknown variant of MetricX 'encoder'"):
        _load_metricx(encoder)
    with pytest.raises(UnknownName, match="unknown variant of MetricX 'metricx25'"):
        _load_metricx(tiny(), "metricx25")
    with pytest.raises(UnknownName, match="unknown dtype 'float16'"):
        _load_metricx(tiny(), dtype="float16")
    with pytest.raises(AnhelpersError, match=r"^google/metricx-24-hybrid-xl-v2p6: "):
        _load_metricx("google/metricx-24-hybrid-xl-v2p6")
    with pytest.raises(AnhelpersError, match=r"Unrecognized model"):
        _load_metricx(tmp_path, "metricx24")
    bare = tmp_path / "bare"
    shutil.copytree(tiny(), bare)
    (bare / "tokenizer.json").unlink()
    with monkeypatch.context() as patch:
        patch.setattr(metricx, "_TOKENIZER", tiny())
        assert f"|tok:{tiny().name}@unknown|" in _load_metricx(bare, "metricx24").signature
    with pytest.raises(AnhelpersError, match=r"^google/mt5-xl: "):
        _load_metricx(bare, "metricx24")
