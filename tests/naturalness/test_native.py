"""The metric native: mean states beside a plain loop, heads by hand, and files."""

import json
from pathlib import Path

import numpy as np
import pytest

import anhelpers as an
from anhelpers.errors import DataError
from anhelpers.metrics import Asked
from anhelpers.naturalness import native
from anhelpers.naturalness.lm import language_model
from tests.conftest import byte_pieces

torch = pytest.importorskip("torch", reason="needs torch: pip install anhelpers[neural]")
transformers = pytest.importorskip("transformers")
pytestmark = pytest.mark.neural

TEXTS = [
    "Der Hund schläft.",
    "Hund",
    "Heute schläft der Hund auf dem Sofa, sagt sie.",
    "Der Hund schläft.",
]


@pytest.fixture(scope="module")
def lm():
    """A random network of 3 layers, whose tokens are bytes; longer texts than 31 are in windows."""
    torch.manual_seed(5)
    tokenizer = byte_pieces(["a"], 259, 32)
    size = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 3}
    size |= {"num_attention_heads": 2, "vocab_size": 259, "bos_token_id": 0}
    model = transformers.LlamaForCausalLM(transformers.LlamaConfig(**size))
    return language_model(model, tokenizer, name="tiny", revision="ba9876543210", device="cpu")


def ids(lm, text):
    return lm.tokenizer(text, add_special_tokens=False).input_ids


def alone(lm, tokens, layers):
    """The mean state of some tokens by transformers."""
    x = torch.tensor([[0, *tokens]])
    with torch.inference_mode():
        states = lm.model(input_ids=x, output_hidden_states=True).hidden_states
    return np.concatenate([states[k][0, 1:].mean(0).numpy() for k in layers])


@pytest.mark.verifies(
    "Log-odds of a fluent original", by="foreign", of="transformers, a text at a time"
)
def test_mean_states_are_those_of_each_text_alone(lm):
    found = native._mean_states(lm, [*TEXTS[:2], "", " "], [1, 2])
    for row, text in zip(found, TEXTS[:2], strict=False):
        assert row == pytest.approx(alone(lm, ids(lm, text), [1, 2]), abs=1e-5)
    assert np.isnan(found[2:]).all()


@pytest.mark.verifies("Log-odds of a fluent original", by="property")
def test_the_state_of_a_text_does_not_depend_on_the_others(lm):
    several = [text[:k] for text in TEXTS for k in range(1, len(text), 5)]
    found, back = (native._mean_states(lm, texts, [3]) for texts in (several, several[::-1]))
    np.testing.assert_allclose(found, back[::-1], atol=1e-5)
    np.testing.assert_allclose(found[4], native._mean_states(lm, several[4:5], [3])[0], atol=1e-5)


def test_forms_of_quotes_dashes_and_dots_do_not_matter(lm):
    states = native._mean_states(lm, ['"Der" Hund - na ja...', "„Der“  Hund – na ja…"], [2])
    assert (states[0] == states[1]).all()


def test_a_text_longer_than_the_window_is_read_in_windows(lm):
    size, tokens = lm.max_tokens - 1, ids(lm, TEXTS[2])
    assert size < len(tokens) < 2 * size
    sums = sum(alone(lm, part, [2]) * len(part) for part in (tokens[:size], tokens[size:]))
    found = native._mean_states(lm, [TEXTS[2]], [2])[0]
    assert found == pytest.approx(sums / len(tokens), abs=1e-5)


def test_a_layer_that_the_model_does_not_have_is_refused(lm):
    with pytest.raises(DataError, match="layer"):
        native._mean_states(lm, TEXTS, [4])


def test_states_that_are_not_finite_are_refused(lm, monkeypatch):
    with torch.no_grad():
        weight = lm.model.model.layers[0].mlp.down_proj.weight
        before = weight.clone()
        weight.fill_(np.inf)
    try:
        with pytest.raises(an.AnhelpersError, match="nan or infinity"):
            native._mean_states(lm, TEXTS, [2])
    finally:
        with torch.no_grad():
            weight.copy_(before)


def heads(lm, path, **changes):
    """A file of heads with weights 1/8 and -1/8."""
    ones = [0.125] * 16
    facts = {"language": "de", "model": lm.name, "revision": lm.revision, "layers": [2]}
    facts |= {"weights": {"native": ones, "fluent": [-one for one in ones]}}
    facts |= {
        "intercepts": {"native": 1, "fluent": 2},
        "fluent_weight": 0.5,
        "scale": 2,
        "shift": -1,
    }
    path.write_text(json.dumps(facts | changes), encoding="utf-8")
    return path


@pytest.mark.verifies("Log-odds of a fluent original", by="hand")
def test_the_score_is_the_weighed_sum_of_both_heads(lm, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(native, "_model", lambda name, revision: lm)
    file = heads(lm, tmp_path / "heads.json")
    metric = native._named(Asked(f"native:{file}", str(file), (), "de"))
    found = metric.score_segments([*TEXTS, ""])
    for score, text in zip(found, TEXTS[:2], strict=False):
        half = alone(lm, ids(lm, text), [2]).sum() / 8
        assert score == pytest.approx(2 * ((1 + half) + 0.5 * (2 - half)) - 1, abs=1e-4)
    assert found[0] == found[3]
    assert np.isnan(found[4])
    assert "1 of 5 texts without a token" in capsys.readouterr().err
    assert (metric.higher_is_better, metric.unit) == (True, "nats per text")


def test_another_language_gets_a_note_and_an_unknown_one_an_error(lm, tmp_path, capsys):
    file = heads(lm, tmp_path / "heads.json")
    native._named(Asked(f"native:{file}", str(file), (), "cs"))
    assert "'de'" in capsys.readouterr().err
    with pytest.raises(DataError, match="expected a file"):
        native._named(Asked("native", "", (), "cs"))


DAMAGE = {
    "weights": {"native": [1.0] * 16, "fluent": [1.0] * 15},
    "layers": [],
    "scale": float("nan"),
    "intercepts": {"native": 1},
    "fluent_weight": "much",
}


@pytest.mark.parametrize("key", DAMAGE)
def test_a_damaged_file_is_refused_with_its_name(lm, tmp_path, key):
    file = heads(lm, tmp_path / "heads.json", **{key: DAMAGE[key]})
    with pytest.raises(DataError, match=r"heads\.json"):
        native.load_heads(file)


def test_heads_of_a_wider_model_are_refused(lm, tmp_path):
    wide = native.load_heads(heads(lm, tmp_path / "heads.json", layers=[1, 2]))
    with pytest.raises(DataError, match="got 16 weights, expected 32"):
        native._head_scores(wide, TEXTS, lm)


def test_heads_of_another_revision_are_refused(lm, tmp_path, monkeypatch):
    monkeypatch.setattr(native, "load_lm", lambda name: lm)
    native._model.cache_clear()
    with pytest.raises(DataError, match="revision"):
        native._model(lm.name, "0123456789ab")


@pytest.mark.parametrize(("part", "data"), [("de", "teaching"), ("en", "teaching/de-en")])
def test_the_page_of_judges_has_the_shares_of_the_bundled_scores(part, data, tmp_path, monkeypatch):
    store = str(tmp_path / "scores.sqlite")
    monkeypatch.setenv("ANHELPERS_STORE", store)  # which the benchmarks set at import
    from benchmarks.judges import table

    monkeypatch.setenv("ANHELPERS_STORE", store)
    monkeypatch.delenv("ANHELPERS_DATA", raising=False)
    monkeypatch.setattr(native, "_model", None)  # no score is computed
    page = (Path(table.__file__).parents[2] / "docs" / "judges.md").read_text("utf-8")
    rows = [
        line.split(" | ") for line in page.split(f"made: {part} ")[1].split("<!--")[0].split("\n")
    ]
    shares = {row[0].lstrip("| "): row[2].split("%")[0] for row in rows if "%" in row[-1]}
    found = table._tags(table.judged(data, ["native"]))
    assert {item: f"{figure.value:.0%}"[:-1] for _, item, figure in found}.items() <= shares.items()
