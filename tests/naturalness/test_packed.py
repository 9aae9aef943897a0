"""Prefixes read once give the numbers of texts read alone, or are not shared."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip("torch", reason="pip install -c constraints.txt -e '.[neural]'")
pytest.importorskip("transformers", reason="pip install -c constraints.txt -e '.[neural]'")

from anhelpers.naturalness import packed  # noqa: E402
from anhelpers.naturalness.lm import LanguageModel, _token_ids, score_texts  # noqa: E402

pytestmark = pytest.mark.neural

ENDS = ("", ".", " heute.", " heute und morgen früh.", " und ruft den Mann. Der Baum sieht")
CANDIDATES = [
    f"Der {a} {b} den {c}{end}"
    for a in ("Hund", "Mann")
    for b in ("sieht", "ruft")
    for c in ("Weg", "Bus")
    for end in ENDS
]
TEXTS = [*CANDIDATES, "", "Ein Satz.", CANDIDATES[0], "x", "x", " ".join(CANDIDATES[:9])]
WIDE = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "max_position_embeddings": 64,
    "intermediate_size": 64,
}
GROUPED = WIDE | {"num_key_value_heads": 2}
GPT2 = {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64}
GEMMA2 = GROUPED | {"head_dim": 8, "final_logit_softcapping": 2.0}
MODELS = {  # configuration, its settings, whether texts of up to 64 tokens are shared
    "gpt2": ("GPT2Config", GPT2, True),
    "llama": ("LlamaConfig", WIDE, True),
    "llama, eager": ("LlamaConfig", WIDE | {"attn_implementation": "eager"}, True),
    "gemma2": ("Gemma2Config", GEMMA2 | {"sliding_window": 4096}, True),
    "mistral with a window of 12": ("MistralConfig", GROUPED | {"sliding_window": 12}, False),
    "bloom": ("BloomConfig", {"hidden_size": 32, "n_layer": 2, "n_head": 4}, False),
    "mamba": ("MambaConfig", {"hidden_size": 32, "num_hidden_layers": 1, "state_size": 4}, False),
}


@pytest.fixture(scope="module", params=MODELS)
def lm(request, build):
    config, given, _ = MODELS[request.param]
    return build(request.param, config, **given)


@pytest.fixture(scope="module")
def gpt2(build):
    return build("gpt2", "GPT2Config", **GPT2)


@pytest.fixture
def read(monkeypatch):
    """The rows that a model was given in packs, trials aside."""
    rows, real = [], packed._forward
    monkeypatch.setattr(packed, "_forward", lambda lm, some: rows.extend(some) or real(lm, some))
    return rows


@pytest.mark.verifies("Log-probability with shared prefixes", by="property")
def test_the_numbers_are_those_of_texts_read_alone(lm):
    alone = score_texts(lm, TEXTS, eos=True, share_prefixes=False)
    for budget, choice in ((None, None), (None, True), (160, None)):
        shared = score_texts(lm, TEXTS, True, budget, share_prefixes=choice)
        np.testing.assert_allclose(shared.mean, alone.mean, rtol=0, atol=2e-6)
        assert (shared.tokens == alone.tokens).all()
        assert (shared.windowed == alone.windowed).all()
    assert packed._shares(lm, 64, 256) == MODELS[lm.name][2]


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


def test_models_with_other_limits(gpt2):
    for changed in ({"context_token": None}, {"max_tokens": 2}, {"max_tokens": 10}):
        lm = dataclasses.replace(gpt2, **changed)
        shared, alone = (score_texts(lm, TEXTS, share_prefixes=choice) for choice in (True, False))
        np.testing.assert_allclose(shared.total, alone.total, rtol=0, atol=5e-5)
        assert (shared.windowed == alone.windowed).all()


def test_a_token_that_the_model_never_generates_has_no_probability(gpt2):
    never = gpt2.tokenizer("x", add_special_tokens=False)["input_ids"][-1]
    lm = dataclasses.replace(gpt2, never=(never,))
    texts = ["x", "x Der Hund", "Der Hund", "Der Mann"]
    shared, alone = (score_texts(lm, texts, share_prefixes=choice) for choice in (True, False))
    assert np.isneginf(shared.total).tolist() == [True, True, False, False]
    assert np.isneginf(alone.total).tolist() == [True, True, False, False]
    np.testing.assert_allclose(shared.total[2:], alone.total[2:], rtol=0, atol=2e-5)


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
    sees = (packed._ancestors(torch.tensor(tree.end)[None], torch.float32)[0, 0] == 0).numpy()
    prefixes = [tuple(tree.tokens[row].tolist()) for row in sees]
    assert [len(p) - 1 for p in prefixes] == tree.depth.tolist()
    assert set(prefixes) == {tuple(t[:k]) for t in texts for k in range(1, len(t))}
    assert len(set(prefixes)) == len(tree.tokens)
    for text, path in zip(texts, tree.paths, strict=True):
        assert tree.targets[path].tolist() == text[1:]
        wanted = [tuple(text[:k]) for k in range(1, len(text))]
        assert [prefixes[v] for v in tree.after[path]] == wanted


@given(some_texts, st.integers(18, 80), st.sampled_from([None, True]))
def test_packs_hold_each_text_once_and_fit_the_budget(texts, budget, always):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packed, "TOKENS_PER_ROW", 20)
        patch.setattr(packed, "_shares", lambda *a: True)
        lm = LanguageModel(None, None, "none", "0", "float32", "cpu", 0, 64)
        found = list(packed._packs(lm, texts, budget, always))
        assert not list(packed._packs(lm, texts, budget, False))
    members = [i for pack in found for row in pack for i in row]
    assert len(members) == len(set(members))
    for pack in found:
        widths = [len(packed._tree([texts[i] for i in row]).tokens) for row in pack]
        assert len(pack) * max(widths) <= budget
        assert max(widths) <= 20


def test_texts_with_little_in_common_are_not_packed(gpt2):
    ids = [[0, 5, 6, 7, 8, 9, 10], [0, 6, 7, 8, 9, 10, 11], [0, 5, 6, 7, 12, 13]]
    assert list(packed._packs(gpt2, ids, 1000)) == [[[0, 2]]]
    assert list(packed._packs(gpt2, ids, 1000, True)) == [[[0, 2, 1]]]
    assert list(packed._packs(gpt2, ids, 1000, False)) == []
