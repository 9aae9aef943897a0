"""Samples of tiny models against their exact probabilities, transformers' own sampling, and `score_pairs`."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from anhelpers.candidates import Drawing, Prompt, draw
from anhelpers.candidates.draw import Sample, _logprob, draw_source, drawn_set
from anhelpers.candidates.drawing import numbers, read_method
from anhelpers.errors import AnhelpersError, DataError

torch = pytest.importorskip("torch", reason="pip install -c constraints.txt -e '.[neural]'")

METHODS = [
    ("ancestral", 1.0),
    ("ancestral", 0.4),
    ("epsilon:0.05", 1.0),
    ("top-p:0.6", 0.7),
    ("top-k:3", 2.0),
]


def samples_of(drawing, segment, src):
    """All samples, token by token."""
    from anhelpers.candidates.draw import sample

    return sample(
        drawing.model,
        drawing.start(segment, src),
        drawing.sampling,
        drawing.k,
        numbers=numbers(drawing.seed, segment, src),
        batch=drawing.batch,
        ended=drawing.ended,
    )


def next_probabilities(model, start, ids):
    """(V,) the model's own probabilities after these tokens, from one plain forward pass, without cache."""
    given = torch.tensor([[*start.prefix, *ids]])
    with torch.inference_mode():
        if start.source is None:
            logits = model.model(input_ids=given, use_cache=False).logits
        else:
            source = torch.tensor([start.source])
            logits = model.model(input_ids=source, decoder_input_ids=given, use_cache=False).logits
    logits = logits[0, -1].double()
    logits[list(model.never)] = -torch.inf
    return logits.softmax(0).numpy()


def truncated(p, method, temperature):
    """The same by the definitions, in plain numpy."""
    p = p ** (1 / temperature)
    p = p / p.sum()
    sampling = read_method(method)
    order = np.argsort(-p)
    keep = {
        "ancestral": lambda: p >= 0,
        "epsilon": lambda: (p >= sampling.value) | (p == p.max()),
        "top-k": lambda: np.isin(np.arange(len(p)), order[: int(sampling.value)]),
        "top-p": lambda: np.isin(
            np.arange(len(p)), order[: 1 + np.searchsorted(np.cumsum(p[order]), sampling.value)]
        ),
    }[sampling.method]()
    return np.where(keep, p, 0) / p[keep].sum()


def p_value(observed, expected):
    """Chi-square of counts against expectations; cells that expect fewer than 5 are one."""
    observed, expected = np.append(observed, 0.0), np.append(expected, 0.0)
    few = expected < 5
    cells = [np.append(v[~few], v[few].sum()) for v in (observed, expected)]
    if cells[1][-1] < 5:  # the rest is too little for a cell of its own
        cells = [np.append(v[1:-1], v[0] + v[-1]) for v in cells]
    return stats.chisquare(*cells).pvalue if len(cells[0]) > 1 else 1.0


@pytest.mark.parametrize(("method", "temperature"), METHODS)
@pytest.mark.parametrize("kind", ["mt", "lm"])
def test_first_and_second_tokens_have_the_model_s_probabilities(
    kind, method, temperature, request, prompt
):
    model = request.getfixturevalue(kind)
    drawing = Drawing(
        model,
        4000,
        read_method(method, temperature),
        max_tokens=2,
        batch=500,
        prompt=prompt if kind == "lm" else None,
    )
    start = drawing.start(0, "The dog.")
    drawn = [one.ids for one in samples_of(drawing, 0, "The dog.")]
    first = truncated(next_probabilities(model, start, []), method, temperature)
    counts = np.bincount([ids[0] for ids in drawn], minlength=len(first))
    assert not counts[first == 0].any()
    assert p_value(counts, first * 4000) > 1e-3
    # the most frequent that does not end
    token = counts.argsort()[::-1][int(counts.argmax() in drawing.ends)]
    after = [ids[1] for ids in drawn if ids[0] == token]
    second = truncated(next_probabilities(model, start, [token]), method, temperature)
    counts = np.bincount(after, minlength=len(second))
    assert len(after) > 50
    assert not counts[second == 0].any()
    assert p_value(counts, second * len(after)) > 1e-3


@pytest.mark.verifies(
    "Ancestral sampling",
    "Temperature",
    "Top-k",
    "Top-p",
    "Epsilon sampling",
    by="foreign",
    of="transformers' generate",
)
@pytest.mark.parametrize(
    ("method", "temperature", "own"),
    [
        ("ancestral", 0.7, {}),
        ("epsilon:0.05", 1.0, {"epsilon_cutoff": 0.05}),
        ("top-p:0.6", 1.5, {"top_p": 0.6}),
        ("top-k:3", 1.0, {"top_k": 3}),
    ],
)
@pytest.mark.parametrize("kind", ["mt", "lm"])
def test_transformers_own_sampling_has_the_same_distribution(
    kind, method, temperature, own, request, prompt
):
    model, k = request.getfixturevalue(kind), 3000
    drawing = Drawing(
        model,
        k,
        read_method(method, temperature),
        seed=1,
        max_tokens=3,
        batch=500,
        prompt=prompt if kind == "lm" else None,
    )
    start = drawing.start(0, "Yes.")
    ours = [one.ids for one in samples_of(drawing, 0, "Yes.")]
    torch.manual_seed(0)
    given = start.prefix if start.source is None else start.source
    theirs = model.model.generate(
        torch.tensor([given]),
        attention_mask=torch.ones(1, len(given), dtype=torch.long),
        do_sample=True,
        num_return_sequences=k,
        max_new_tokens=3,
        temperature=temperature,
        eos_token_id=list(drawing.ends),
        pad_token_id=next(iter(drawing.ends)),
        **({"top_k": 0} | own),
    )[:, len(start.prefix) :].tolist()
    (end,) = drawing.ends
    theirs = [tuple(ids[: ids.index(end) + 1] if end in ids else ids) for ids in theirs]
    cells = {ids: i for i, ids in enumerate(dict.fromkeys(ours + theirs))}
    table = np.stack(
        [np.bincount([cells[ids] for ids in side], minlength=len(cells)) for side in (ours, theirs)]
    )
    few = table.sum(0) < 10
    table = np.column_stack([table[:, ~few], table[:, few].sum(1)])
    table = table[:, table.sum(0) > 0]
    assert table.shape[1] > 2
    assert stats.chi2_contingency(table).pvalue > 1e-3


@pytest.mark.verifies("Log-probability of a drawn candidate", by="property")
def test_logprob_is_score_pairs_wherever_the_tokens_are_the_tokenizer_s(mt, srcs):
    from anhelpers import hub
    from anhelpers.translation import score_pairs

    drawing = Drawing(mt, 1000, max_tokens=4)
    cands = draw(mt, srcs, 1000, max_tokens=4)
    assert (np.bincount(cands.segment, cands.multiplicity) == 1000).all()
    plain = score_pairs(mt, [srcs[i] for i in cands.segment], cands.texts).total
    spellings = {}
    for i, src in enumerate(srcs):
        for one in samples_of(drawing, i, src):
            spellings.setdefault((i, drawing.text(one.ids)), set()).update(
                [one.ids] if one.ended else []
            )
    assert list(spellings) == list(zip(cands.segment.tolist(), cands.texts, strict=True))
    own = [
        (*tuple(ids), mt.tokenizer.eos_token_id) for ids in hub.plain_ids(mt.tokenizer, cands.texts)
    ]
    kinds = np.array(
        [
            "cut"
            if not drawn
            else "respelt"
            if mine not in drawn
            else "own"
            if len(drawn) == 1
            else "several"
            for mine, drawn in zip(own, spellings.values(), strict=True)
        ]
    )
    plain[[not text.strip() for text in cands.texts]] = np.nan
    there = ~np.isnan(plain)
    assert np.isnan(cands.logprob[kinds == "cut"]).all()
    assert (there & (kinds == "own")).sum() > 30
    np.testing.assert_allclose(
        cands.logprob[there & (kinds == "own")], plain[there & (kinds == "own")], atol=2e-5
    )
    assert (cands.logprob >= plain - 2e-5)[there & (kinds == "several")].all()
    n = int((kinds == "respelt").sum())
    assert n > 0
    assert (
        f"{n} of {len(cands)} texts were drawn as other tokens than the tokenizer makes of them"
        in cands.notes[-1]
    )


SMALL = {
    "vocab_size": 40,
    "hidden_size": 16,
    "intermediate_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "max_position_embeddings": 64,
}
BOTH = {
    "vocab_size": 40,
    "d_model": 16,
    "encoder_layers": 1,
    "decoder_layers": 2,
    "encoder_attention_heads": 2,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 32,
    "decoder_ffn_dim": 32,
    "max_position_embeddings": 64,
}


@pytest.mark.verifies(
    "Log-probability of a drawn candidate", by="foreign", of="transformers, a plain forward pass"
)
@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("Llama", SMALL),
        ("Gemma2", SMALL | {"sliding_window": 4}),
        ("Mistral", SMALL | {"sliding_window": 4}),
        (
            "OPT",
            {
                "vocab_size": 40,
                "hidden_size": 16,
                "num_hidden_layers": 2,
                "ffn_dim": 32,
                "num_attention_heads": 2,
                "max_position_embeddings": 64,
                "word_embed_proj_dim": 16,
            },
        ),
        ("Bloom", {"vocab_size": 40, "hidden_size": 16, "n_layer": 2, "n_head": 2}),
        ("M2M100", BOTH),
        ("MBart", BOTH),
        (
            "T5",
            {
                "vocab_size": 40,
                "d_model": 16,
                "d_kv": 8,
                "d_ff": 32,
                "num_layers": 2,
                "num_heads": 2,
            },
        ),
    ],
)
def test_log_probabilities_are_those_of_a_plain_forward_pass(name, settings):
    """The prefix computed once, its cache repeated, rows that leave: none of it changes a probability."""
    transformers = pytest.importorskip("transformers")
    from anhelpers.candidates.draw import sample
    from anhelpers.candidates.drawing import Sampling, Start
    from anhelpers.naturalness.load import LanguageModel

    config = getattr(transformers, f"{name}Config")(**settings)
    kind = "ForConditionalGeneration" if config.is_encoder_decoder else "ForCausalLM"
    torch.manual_seed(0)
    network = getattr(transformers, f"{name}{kind}")(config).eval()
    for weight in network.parameters():
        if weight.dim() > 1:
            torch.nn.init.normal_(weight, std=0.3)
    model = LanguageModel(network, None, name, "", "float32", "cpu", None, 64, never=(0, 1, 3))
    source, prefix = (
        ([5, 6, 7, 8, 9], [2, 4]) if config.is_encoder_decoder else (None, [2, 4, 5, 6, 7, 8, 9])
    )
    start = Start(source, prefix, 12)
    ended = lambda ids: ids[-1] > 30  # noqa: E731
    samples = sample(model, start, Sampling(), 30, numbers=numbers(0, 0, ""), batch=20, ended=ended)
    assert len({len(one.ids) for one in samples}) > 3
    for one in samples:
        each = [
            next_probabilities(model, start, one.ids[:i])[token] for i, token in enumerate(one.ids)
        ]
        assert one.logprob == pytest.approx(np.log(each).sum(), abs=1e-5)
        assert one.ended == (one.ids[-1] > 30)


def test_a_model_that_keeps_more_than_keys_and_values_is_refused():
    transformers = pytest.importorskip("transformers")
    from anhelpers.candidates.draw import sample
    from anhelpers.candidates.drawing import Sampling, Start
    from anhelpers.naturalness.load import LanguageModel

    config = transformers.MambaConfig(vocab_size=40, hidden_size=16, num_hidden_layers=1)
    model = LanguageModel(
        transformers.MambaForCausalLM(config), None, "snake", "", "float32", "cpu", None, 64
    )
    with pytest.raises(
        DataError,
        match=r"snake \(mamba\) keeps more of its past than keys and values, so it cannot be drawn",
    ):
        sample(
            model,
            Start(None, [1, 2], 3),
            Sampling(),
            2,
            numbers=numbers(0, 0, ""),
            batch=2,
            ended=bool,
        )


def test_a_text_drawn_in_several_spellings_is_counted_apart(mt, srcs, monkeypatch):
    from anhelpers import hub

    drawing, end = Drawing(mt, 300, max_tokens=4), mt.tokenizer.eos_token_id
    for other in samples_of(drawing, 0, srcs[0]):
        (own,) = hub.plain_ids(mt.tokenizer, [drawing.text(other.ids)])
        if (
            other.ended
            and list(other.ids[:-1]) != own
            and drawing.text((*own, end)) == drawing.text(other.ids)
        ):
            break
    both = [other, Sample((*own, end), -3.0, True)]
    for samples, counted in ((both[:1], (1, 0)), (both[1:], (0, 0)), (both, (0, 1))):
        monkeypatch.setitem(
            draw_source.__globals__, "sample", lambda *_, samples=samples, **__: samples
        )
        found = draw_source(drawing, 0, srcs[0])
        assert (found.respelt, found.several) == counted
    assert (
        drawn_set(drawing, [found])
        .notes[-1]
        .startswith("1 of 1 texts were drawn in several spellings")
    )


def test_spellings_of_one_text_are_added_up_and_cut_ones_are_not():
    half = float(np.log(0.5))
    group = [
        Sample((1, 0), half, True),
        Sample((1, 0), half, True),
        Sample((2, 3, 0), np.log(0.25), True),
        Sample((1,), 0.0, False),
    ]
    assert _logprob(group) == pytest.approx(np.log(0.75), rel=1e-15)
    assert np.isnan(_logprob(group[-1:]))


def test_what_is_drawn_does_not_depend_on_order_batch_or_company(mt, srcs):
    whole = draw(mt, srcs, 40, seed=5, max_tokens=10)
    assert draw(mt, srcs, 40, seed=5, max_tokens=10) == whole
    assert draw(mt, srcs, 40, seed=6, max_tokens=10) != whole
    drawing = Drawing(mt, 40, seed=5, max_tokens=10)
    backwards = [draw_source(drawing, i, srcs[i]) for i in reversed(range(len(srcs)))]
    for one in backwards:
        mine = whole.segment == one.segment
        assert np.array(whole.texts)[mine].tolist() == list(one.texts)
        np.testing.assert_array_equal(whole.logprob[mine], one.logprob)
    for batch in (1, 7, 40):
        other = draw(mt, srcs, 40, seed=5, max_tokens=10, batch=batch)
        assert (other.texts, other.multiplicity.tolist()) == (
            whole.texts,
            whole.multiplicity.tolist(),
        )
        np.testing.assert_allclose(other.logprob, whole.logprob, atol=2e-5)


def test_a_larger_k_adds_samples(mt):
    few, many = (samples_of(Drawing(mt, k, max_tokens=10), 2, "Yes.") for k in (10, 30))
    assert [one.ids for one in many[:10]] == [one.ids for one in few]


def test_the_same_text_at_another_place_is_another_source(mt):
    cands = draw(mt, ["Yes.", "Yes."], 20, max_tokens=6)
    assert (
        np.array(cands.texts)[cands.segment == 0].tolist()
        != np.array(cands.texts)[cands.segment == 1].tolist()
    )


def test_the_positions_of_the_model_end_a_sample(mt):
    (cut,) = [one for one in samples_of(Drawing(mt, 300), 0, "Yes.") if len(one.ids) >= 64][:1]
    assert (len(cut.ids), cut.ended) == (64, False)
    longest = max(
        samples_of(Drawing(mt, 50, max_tokens=3), 0, "Yes."), key=lambda one: len(one.ids)
    )
    assert len(longest.ids) == 3
    (note,) = [n for n in draw(mt, ["Yes."], 50, max_tokens=1).notes if "limit" in n]
    assert "of 50 samples reached the limit of 1 tokens" in note


def test_the_positions_of_a_language_model_hold_its_prompt_too(lm):
    drawing = Drawing(lm, 100, read_method("top-k:2"), prompt=Prompt(template="{src}", stop=None))
    n = max(len(one.ids) for one in samples_of(drawing, 0, "The dog."))
    prompt = drawing.start(0, "The dog.").prefix
    assert len(prompt) + n - 1 == 64 == lm.model.config.n_positions  # the last token is never read


def test_what_the_model_never_generates_is_never_drawn(mt):
    assert mt.never
    free = replace(mt, never=())
    ids = lambda model: {  # noqa: E731
        i for one in samples_of(Drawing(model, 2000, max_tokens=1), 0, "Yes.") for i in one.ids
    }
    assert set(mt.never) <= ids(free)
    assert not set(mt.never) & ids(mt)


def test_a_target_language_is_given_and_decides(marian):
    from anhelpers.translation import load_mt

    folder = marian(codes=(">>deu<<", ">>fra<<")) / "mt"
    drawn = [
        draw(load_mt(folder, trg_lang=code), ["Yes."], 30, max_tokens=8)
        for code in ("de", ">>fra<<")
    ]
    assert drawn[0].texts != drawn[1].texts
    # a source language that is not chosen is no part
    assert "|dtype:float32|trg:>>deu<<|" in drawn[0].notes[0]


def test_the_signature_names_all_that_decides(mt, lm, prompt):
    assert Drawing(mt, 3, read_method("top-p:0.9", 0.5), seed=7).signature == (
        f"draw|model:mt|rev:{mt.revision}|dtype:float32|never:<pad>|method:top-p:0.9|temperature:0.5|k:3|seed:7|max:512|batch:64|"
        f"device:cpu|transformers:{__import__('transformers').__version__}"
    )
    one, other = (
        Drawing(lm, 3, prompt=p).signature for p in (prompt, replace(prompt, examples=()))
    )
    assert "|prompt:" in one
    assert one != other
    assert Drawing(mt, 3, read_method("top-p:0.9", 0.5)).tag == "mt top-p:0.9 t:0.5"


@pytest.mark.parametrize(
    ("srcs", "options", "sentence"),
    [
        (["Yes.", " \t"], {}, "source 1 is blank, and a blank has no candidates"),
        (["Yes.", 3], {}, "text 1 of srcs is 3, not a text"),
        ("Yes.", {}, "srcs is a single text"),
        ([], {}, "there are no sources"),
        (
            ["dog " * 80],
            {},
            r"source 0 has \d+ tokens, and mt takes 64 in all; shorten it or leave it out",
        ),
        (
            ["Yes."],
            {"k": 0},
            r"k \(samples per source\) must be a whole number from 1 to 1000000, got 0",
        ),
        (
            ["Yes."] * 1001,
            {"k": 10**6},
            "1,000,000 samples of each of 1,001 sources are 1,001,000,000 candidates; at most "
            "1,000,000,000 are drawn in one go",
        ),
        (["Yes."], {"seed": -1}, "seed must be a whole number from 0"),
        (["Yes."], {"max_tokens": 0}, "max_tokens must be at least 1, got 0"),
        (["Yes."], {"batch": 0}, "batch must be at least 1, got 0"),
        (["Yes."], {"method": "epsilon:2"}, "got 2; write epsilon:NUMBER"),
        (["Yes."], {"temperature": 0}, "temperature must be a number above 0"),
    ],
)
def test_what_cannot_be_drawn_is_told(mt, srcs, options, sentence):
    with pytest.raises(DataError, match=sentence):
        draw(mt, srcs, **({"k": 2} | options))


def test_a_translation_model_takes_no_prompt_and_a_language_model_needs_one(mt, lm, prompt):
    with pytest.raises(
        DataError, match="mt is a translation model, which takes no prompt; leave it out"
    ):
        draw(mt, ["Yes."], 2, prompt=prompt)
    with pytest.raises(DataError, match="tiny is a language model: give it a prompt"):
        draw(lm, ["Yes."], 2)


def test_probabilities_that_are_nan_are_told(marian):
    from anhelpers.translation import load_mt

    broken = load_mt(marian() / "mt", device="cpu")
    broken.model.final_logits_bias.fill_(float("nan"))
    with pytest.raises(
        AnhelpersError,
        match="what mt gives is nan: 1 of its weights hold nan or infinity, such as final_logits_bias",
    ):
        draw(broken, ["Yes."], 2)


@pytest.mark.verifies("Log-probability of a drawn candidate", by="hand")
def test_a_model_of_zeros_by_hand(zeros):
    """Each of the V − 1 tokens that may be said has the same probability, whatever part is drawn from."""
    v = zeros.model.config.vocab_size
    for method in ("ancestral", "top-k:1"):  # all are as likely as the likeliest
        drawn = samples_of(Drawing(zeros, 30, read_method(method), max_tokens=3), 0, "The dog.")
        assert len({one.ids for one in drawn}) > 20
        for one in drawn:
            assert one.logprob == pytest.approx(-len(one.ids) * np.log(v - 1), rel=1e-6)
