"""The bundled language model is what its card says."""

import json
import subprocess
import sys

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="pip install -c constraints.txt -e '.[neural]'")

from anhelpers.data import bundled, load, load_candidates, load_mono  # noqa: E402
from anhelpers.data.lines import read_lines  # noqa: E402
from anhelpers.errors import DataError  # noqa: E402
from anhelpers.naturalness.lm import load_lm, lpp_metric, score_texts  # noqa: E402
from anhelpers.naturalness.prints import lines_by_chance, shared_lines  # noqa: E402

pytestmark = pytest.mark.neural
FOLDER = bundled("lm/de-small")
CARD = (FOLDER / "README.md").read_text(encoding="utf-8")
FACTS = json.loads((FOLDER / "facts.json").read_text(encoding="utf-8"))


def prefers_original(lm, texts, rng):
    """Whether each text is more probable per token than the same words in another order."""

    def shuffled(words):
        order = words
        while order == words:
            order = [words[i] for i in rng.permutation(len(words))]
        return " ".join(order)

    mean = score_texts(lm, [*texts, *(shuffled(text.split()) for text in texts)]).mean
    return mean[: len(texts)] > mean[len(texts) :]


@pytest.fixture(scope="module")
def lm():
    return load_lm("de-small", device="cpu")


def test_all_bundled_models_are_at_most_twenty_megabytes():
    sizes = {p: sum(file.stat().st_size for file in p.iterdir()) for p in FOLDER.parent.iterdir()}
    assert sizes[FOLDER] <= 12_000_000
    assert sum(sizes.values()) <= 20_000_000


def test_it_has_the_parameters_that_its_facts_say_and_transformers_alone_refuses_it(lm):
    from transformers import AutoModelForCausalLM

    assert sum(p.numel() for p in lm.model.parameters()) == FACTS["parameters"]
    with pytest.raises(OSError, match="no file named"):
        AutoModelForCausalLM.from_pretrained(FOLDER)


def test_the_english_one_knows_english():
    english = load_lm("en-small", device="cpu")
    assert english.language == "en"
    texts = [
        "I have never seen a house like this one before.",
        "She told me that she was going to leave.",
    ]
    assert prefers_original(english, texts, np.random.default_rng(1)).all()
    assert (score_texts(english, texts).mean > -5).all()


def test_it_prefers_german_sentences_to_their_shuffled_words(lm):
    hits = prefers_original(lm, load_mono("teaching"), np.random.default_rng(7))
    assert len(hits) >= 300
    assert hits.mean() >= 0.98
    assert f"{hits.sum()} of {len(hits)}" in CARD


def test_the_card_reports_the_minimal_pairs_and_the_held_out_perplexity(lm):
    rows = [
        line.split("\t") for line in read_lines(bundled("teaching/en-de/minimal_pairs.tsv"))[1:]
    ]
    names, goods, bads = zip(*rows, strict=True)
    total = score_texts(lm, [*goods, *bads], eos=lm.ends).total
    hit = total[: len(rows)] > total[len(rows) :]
    for name in {*names}:
        some = hit[np.array(names) == name]
        assert f"| {name} | {some.sum()} of {len(some)} | {some.mean():.0%} |" in CARD
    assert f"{FACTS['held_out_perplexity']}" in CARD


def test_it_was_not_trained_on_the_monolingual_reference_nor_on_candidates(lm):
    # first bits: some are of two lines
    assert 0.999 < len(lm.training_lines) / FACTS["train_lines"] <= 1
    texts = [*load_mono("teaching"), *load_candidates("teaching").texts]
    assert 0.5 < lines_by_chance(len(texts), lm.training_lines) < 1
    assert len(shared_lines(texts, lm.training_lines)) <= 4


def test_it_refuses_other_languages(lm):
    with pytest.raises(DataError, match="knows only 'de' and the texts are 'zh'"):
        lpp_metric(lm, trg_lang="zh")
    assert {
        lpp_metric(lm, trg_lang=code).name for code in ("de", "de_DE", "deu_Latn", "und", None)
    } == {"lpp"}


def test_the_first_call_of_a_process_is_as_exact_as_the_second():
    code = """
from anhelpers.data import load_candidates
from anhelpers.naturalness.lm import load_lm, score_texts
lm, texts = load_lm("de-small", device="cpu"), sorted(load_candidates("teaching").texts, key=len)[-300:]
first, second = score_texts(lm, texts).mean, score_texts(lm, texts).mean
print(abs(first - second).max())
"""
    said = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert float(said) <= 2e-6


def test_candidates_differ_in_naturalness_as_their_tags_say(lm):
    cands, test = load_candidates("teaching"), load("teaching")
    mean = score_texts(lm, cands.texts).mean
    by_tag = {tag: mean[np.array(cands.tags) == tag].mean() for tag in set(cands.tags)}
    assert by_tag["idiomatic"] > by_tag["calque"]
    assert by_tag["unrelated-fluent"] > by_tag["wrong-order"]
    assert len(test) == 52
