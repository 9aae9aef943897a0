"""Prefixes read once give the numbers of texts read alone, and models that cannot share them say so."""

import dataclasses

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch", reason="pip install -c constraints.txt -e '.[neural]'")
transformers = pytest.importorskip(
    "transformers", reason="pip install -c constraints.txt -e '.[neural]'"
)

from anhelpers.naturalness import packed  # noqa: E402
from anhelpers.naturalness.lm import LanguageModel, _token_ids, score_texts  # noqa: E402
from anhelpers.progress import note_once  # noqa: E402
from anhelpers.scoring.store import Store, key  # noqa: E402
from anhelpers.training.lm import train_tokenizer  # noqa: E402

pytestmark = pytest.mark.neural

ENDS = (
    "",
    ".",
    " heute.",
    " heute und morgen früh.",
    " und ruft den Mann. Der Baum sieht den Weg und den Bus",
)
CANDIDATES = [
    f"Der {a} {b} den {c}{end}"
    for a in ("Hund", "Mann")
    for b in ("sieht", "ruft")
    for c in ("Weg", "Bus")
    for end in ENDS
]
TEXTS = [
    *CANDIDATES,
    "",
    "Ein Satz ohne Nachbarn.",
    CANDIDATES[0],
    "x",
    "x",
    " ".join(CANDIDATES[:9]),
]

ROOM = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "max_position_embeddings": 64,
}
WIDE = ROOM | {"intermediate_size": 64}
GROUPED = WIDE | {"num_key_value_heads": 2}
GPT2 = {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64}
GEMMA2 = GROUPED | {"head_dim": 8, "final_logit_softcapping": 2.0, "attn_logit_softcapping": 5.0}
MODELS = {  # configuration, its settings, the longest text that it shares: 64 is all
    "gpt2": ("GPT2Config", GPT2, 64),
    "gpt2 with a mask of its own": ("GPT2Config", GPT2 | {"attn_implementation": "eager"}, 32),
    "llama": ("LlamaConfig", WIDE, 64),
    "llama, eager": ("LlamaConfig", WIDE | {"attn_implementation": "eager"}, 64),
    "gemma2": ("Gemma2Config", GEMMA2 | {"sliding_window": 4096}, 64),
    "gemma2 with a window of 16": ("Gemma2Config", GEMMA2 | {"sliding_window": 16}, 16),
    "mistral with a window of 33": ("MistralConfig", GROUPED | {"sliding_window": 33}, 32),
    "mistral with a window of 12": ("MistralConfig", GROUPED | {"sliding_window": 12}, 0),
    "opt": ("OPTConfig", ROOM | {"ffn_dim": 64, "word_embed_proj_dim": 32}, 64),
    "bloom": ("BloomConfig", {"hidden_size": 32, "n_layer": 2, "n_head": 4}, 0),
    "mpt": ("MptConfig", {"d_model": 32, "n_heads": 4, "n_layers": 2, "max_seq_len": 64}, 0),
    "mamba": ("MambaConfig", {"hidden_size": 32, "num_hidden_layers": 1, "state_size": 4}, 0),
    "xglm": (
        "XGLMConfig",
        {
            "d_model": 32,
            "num_layers": 2,
            "attention_heads": 4,
            "ffn_dim": 64,
            "max_position_embeddings": 64,
        },
        0,
    ),
}


@pytest.fixture(scope="module")
def tokenizer():
    return train_tokenizer(CANDIDATES * 3, 300, 64)


def build(kind, tokenizer):
    config, settings, _ = MODELS[kind]
    common = {"vocab_size": len(tokenizer), "bos_token_id": 0, "eos_token_id": 1, "pad_token_id": 2}
    torch.manual_seed(1)
    config = getattr(transformers, config)(**settings, **common)
    model = transformers.AutoModelForCausalLM.from_config(config).eval()
    with torch.no_grad():
        for p in model.parameters():
            p.mul_(3)  # far from uniform, so that mistakes show
    return LanguageModel(model, tokenizer, kind, "0", "float32", "cpu", 0, 64)


@pytest.fixture(scope="module", params=MODELS)
def lm(request, tokenizer):
    return build(request.param, tokenizer)


@pytest.fixture(scope="module")
def gpt2(tokenizer):
    return build("gpt2", tokenizer)


@pytest.fixture
def read(monkeypatch):
    """The rows that a model was given, a list of texts' tokens each."""
    rows, real = [], packed._forward
    monkeypatch.setattr(packed, "_forward", lambda lm, some: rows.extend(some) or real(lm, some))
    return rows


@pytest.mark.verifies("Log-probability with shared prefixes", by="property")
@pytest.mark.parametrize("budget", [None, 40])
def test_the_numbers_are_those_of_texts_read_alone(lm, budget, read):
    limit = MODELS[lm.name][2]
    alone = score_texts(lm, TEXTS, eos=True, tokens_per_batch=budget, share_prefixes=False)
    assert not read
    for choice in (None, True):
        shared = score_texts(lm, TEXTS, eos=True, tokens_per_batch=budget, share_prefixes=choice)
        np.testing.assert_allclose(shared.mean, alone.mean, rtol=0, atol=2e-6 if limit else 0)
        assert (shared.tokens == alone.tokens).all()
        assert (shared.windowed == alone.windowed).all()
    assert packed.sharing_limit(lm, 64)[0] == limit
    read.clear()
    score_texts(lm, TEXTS, share_prefixes=True)
    assert max((len(text) for row in read for text in row), default=0) <= limit
    assert bool(read) == (limit > 0)


@pytest.mark.verifies(
    "Log-probability with shared prefixes",
    by="foreign",
    of="transformers, one text at a time in float64",
)
def test_each_text_is_the_sum_of_float64_from_the_definition(gpt2, read):
    scores = score_texts(gpt2, CANDIDATES, share_prefixes=True)
    assert sum(map(len, read)) >= len(CANDIDATES)
    gpt2.model.double()
    for ids, mean in zip(_token_ids(gpt2, CANDIDATES, False), scores.mean, strict=True):
        with torch.inference_mode():
            logp = torch.log_softmax(gpt2.model(input_ids=torch.tensor([ids])).logits[0], -1)
        assert abs(float(logp[range(len(ids) - 1), ids[1:]].mean()) - mean) <= 2e-6
    gpt2.model.float()


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (
            "bloom",
            "prefixes are not shared, each text is read whole: this model does not take the mask and positions of",
        ),
        (
            "mistral with a window of 12",
            "prefixes are not shared, each text is read whole: this model, given the mask and",
        ),
        (
            "gemma2 with a window of 16",
            "prefixes are shared by texts of up to 16 tokens only: in longer ones this model,",
        ),
    ],
)
def test_a_model_that_cannot_share_says_so_once(kind, said, tokenizer, capsys):
    lm = build(kind, tokenizer)
    note_once.cache_clear()
    capsys.readouterr()
    score_texts(lm, TEXTS)
    score_texts(lm, TEXTS[::-1])
    notes = [line for line in capsys.readouterr().err.splitlines() if line.startswith("note:")]
    assert len(notes) == 1
    assert notes[0].startswith(f"note: log-probabilities under {kind}: {said}")


def test_a_model_that_can_says_nothing_and_is_tried_once(gpt2, monkeypatch, capsys):
    score_texts(gpt2, TEXTS)
    monkeypatch.setattr(packed, "_disagreement", lambda *a: pytest.fail("tried again"))
    score_texts(gpt2, TEXTS)
    assert capsys.readouterr().err == ""


def test_without_a_context_token_the_first_token_is_not_scored(gpt2, read):
    bare = dataclasses.replace(gpt2, context_token=None)
    shared = score_texts(bare, TEXTS, share_prefixes=True)
    assert read
    np.testing.assert_allclose(
        shared.total, score_texts(bare, TEXTS, share_prefixes=False).total, rtol=0, atol=2e-5
    )


@pytest.mark.parametrize("most", [2, 4, 10])
def test_a_model_that_reads_few_tokens(gpt2, most):
    lm = dataclasses.replace(gpt2, max_tokens=most)
    shared, alone = (score_texts(lm, TEXTS, share_prefixes=choice) for choice in (True, False))
    np.testing.assert_allclose(shared.mean, alone.mean, rtol=0, atol=2e-6)
    assert (shared.windowed == alone.windowed).all()


def test_less_than_float32_is_not_shared(tokenizer, capsys):
    lm = build("llama", tokenizer)
    lm.model.bfloat16()
    assert packed.sharing_limit(lm, 16)[0] == 0
    assert "prefixes are not shared" in capsys.readouterr().err


def test_a_token_that_the_model_never_generates_has_no_probability(gpt2):
    never = gpt2.tokenizer.convert_tokens_to_ids(_tokens(gpt2, "x")[-1])
    lm = dataclasses.replace(gpt2, never=(never,))
    shared, alone = (
        score_texts(lm, ["x", "x Der Hund", "Der Hund", "Der Mann"], share_prefixes=s)
        for s in (True, False)
    )
    assert (
        np.isneginf(shared.total).tolist()
        == np.isneginf(alone.total).tolist()
        == [True, True, False, False]
    )
    np.testing.assert_allclose(shared.total[2:], alone.total[2:], rtol=0, atol=2e-5)


def _tokens(lm, text):
    return lm.tokenizer.convert_ids_to_tokens(
        lm.tokenizer(text, add_special_tokens=False)["input_ids"]
    )


@pytest.mark.verifies("Log-probability with shared prefixes", by="hand")
def test_a_tree_by_hand():
    tree = packed._tree([[0, 5, 6], [0, 5, 6, 7], [0, 8]])
    assert tree.tokens.tolist() == [0, 5, 6]  # 7 and 8 are predicted only
    assert tree.depth.tolist() == [0, 1, 2]
    assert tree.end.tolist() == [3, 3, 3]
    assert tree.after.tolist() == [0, 0, 1, 2]
    assert tree.targets.tolist() == [5, 8, 6, 7]
    assert [path.tolist() for path in tree.paths] == [[0, 2], [0, 2, 3], [1]]


some_texts = st.lists(st.lists(st.integers(0, 3), min_size=2, max_size=9), min_size=1, max_size=40)


@pytest.mark.verifies("Log-probability with shared prefixes", by="property")
@given(some_texts)
def test_a_node_sees_its_own_prefix_and_nothing_else(texts):
    texts = sorted(texts)
    tree = packed._tree(texts)
    n = len(tree.tokens)
    sees = (packed._ancestors(torch.tensor(tree.end)[None], torch.float32)[0, 0] == 0).numpy()
    prefixes = [tuple(tree.tokens[row].tolist()) for row in sees]
    assert [len(p) - 1 for p in prefixes] == tree.depth.tolist()
    assert set(prefixes) == {tuple(t[:k]) for t in texts for k in range(1, len(t))}
    assert len(set(prefixes)) == n
    assert (np.diff(tree.after) >= 0).all()
    assert len(set(zip(tree.after, tree.targets, strict=True))) == len(tree.after)
    for text, path in zip(texts, tree.paths, strict=True):
        assert tree.targets[path].tolist() == text[1:]
        assert [prefixes[v] for v in tree.after[path]] == [
            tuple(text[:k]) for k in range(1, len(text))
        ]


@settings(max_examples=100)
@given(some_texts, st.integers(1, 60), st.sampled_from([None, True]), st.integers(6, 20))
# a long one between two
@example([[0, 0], [1, 0], [1, 1], [1, 0, 1], [0, 0, 0, 0], [1, 0, 0, 0, 0]], 10, None, 6)
def test_without_the_first_packs_the_others_are_as_before(texts, budget, always, most):
    ids = dict(enumerate(texts))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packed, "TOKENS_PER_ROW", most)
        patch.setattr(packed, "sharing_limit", lambda lm, longest: (8, 64))
        patch.setattr(packed, "SHARED", 0.5)
        lm = LanguageModel(None, None, "none", "0", "float32", "cpu", 0, 64)
        found = list(packed.packs(lm, ids, budget, always))
        assert not list(packed.packs(lm, ids, budget, False))
        packs = [[i for row in pack for i in row] for pack in found]
        members = [i for pack in packs for i in pack]
        assert len(members) == len(set(members))
        for k in range(len(packs) + 1):
            rest = {
                i: text
                for i, text in ids.items()
                if i not in {i for pack in packs[:k] for i in pack}
            }
            assert list(packed.packs(lm, rest, budget, always)) == found[k:]
        for pack in found:
            widths = [len(packed._tree([texts[i] for i in row]).tokens) for row in pack]
            assert len(pack) == 1 or len(pack) * max(widths) <= budget
            assert max(widths) <= max(most, 2 * max(len(texts[i]) for row in pack for i in row))


def test_texts_with_little_in_common_are_not_packed(gpt2):
    ids = {0: [0, 5, 6, 7, 8, 9, 10], 1: [0, 6, 7, 8, 9, 10, 11], 2: [0, 5, 6, 7, 12, 13]}
    assert list(packed.packs(gpt2, ids, 1000)) == [[[0, 2]]]
    assert list(packed.packs(gpt2, ids, 1000, True)) == [[[0, 2, 1]]]
    assert list(packed.packs(gpt2, ids, 1000, False)) == []


def test_an_interrupted_run_ends_with_the_same_bits(gpt2, tmp_path, monkeypatch):
    lm, real, calls = dataclasses.replace(gpt2, revision="0" * 12), packed._forward, []
    monkeypatch.setattr(packed, "TOKENS_PER_ROW", 60)
    # no trial among the calls that are counted
    monkeypatch.setattr(packed, "sharing_limit", lambda *a: (64, 128))
    monkeypatch.setattr(packed, "_forward", lambda lm, rows: calls.append(rows) or real(lm, rows))
    whole = score_texts(lm, TEXTS, tokens_per_batch=130)
    wanted = calls.copy()
    assert len(wanted) >= 3
    for cut in range(1, len(wanted)):
        monkeypatch.setenv("ANHELPERS_STORE", str(tmp_path / f"{cut}.sqlite"))
        calls.clear()

        def dying(lm, rows, cut=cut):
            if len(calls) == cut:
                raise KeyboardInterrupt
            calls.append(rows)
            return real(lm, rows)

        with monkeypatch.context() as patch:
            patch.setattr(packed, "_forward", dying)
            with pytest.raises(KeyboardInterrupt):
                score_texts(lm, TEXTS, tokens_per_batch=130)
        there = Store(tmp_path / f"{cut}.sqlite").get(
            lm.signature(False), [key(t) for t in TEXTS], 3
        )[1]
        assert 0 < there.sum() < len(TEXTS)
        again = score_texts(lm, TEXTS, tokens_per_batch=130)
        assert calls == wanted
        assert again.total.tobytes() == whole.total.tobytes()
