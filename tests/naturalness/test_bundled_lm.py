"""The bundled language model is what its card says."""

import json
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="pip install -c constraints.txt -e '.[neural]'")

from anhelpers.data import bundled, load, load_candidates, load_mono  # noqa: E402
from anhelpers.data.lines import read_lines  # noqa: E402
from anhelpers.errors import DataError  # noqa: E402
from anhelpers.judges import figures as probe  # noqa: E402
from anhelpers.judges.figures import minimal_pair_table, prefers_original, shuffled_words  # noqa: E402
from anhelpers.naturalness.lm import load_lm, lpp_metric, score_texts  # noqa: E402
from anhelpers.naturalness.prints import lines_by_chance, shared_lines  # noqa: E402

pytestmark = pytest.mark.neural
FOLDER = bundled("lm/de-small")
CARD = (FOLDER / "README.md").read_text(encoding="utf-8")
FACTS = json.loads((FOLDER / "facts.json").read_text(encoding="utf-8"))


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


@pytest.mark.verifies("Share of minimal pairs preferred", by="property")
def test_it_prefers_german_sentences_to_their_shuffled_words(lm):
    hits = prefers_original(lm, load_mono("teaching"), np.random.default_rng(7))
    assert len(hits) >= 300
    assert hits.mean() >= 0.98
    assert f"{hits.sum()} of {len(hits)}" in CARD


def test_the_card_reports_the_minimal_pairs_and_the_held_out_perplexity(lm):
    rows = [
        tuple(line.split("\t"))
        for line in read_lines(bundled("teaching/en-de/minimal_pairs.tsv"))[1:]
    ]
    for row in minimal_pair_table(lm, rows).itertuples():
        assert (
            f"| {row.phenomenon} | {row.hits} of {row.n} | {row.rate:.0%} | {row.low:.0%} to {row.high:.0%} |"
            in CARD
        )
    assert f"{FACTS['held_out_perplexity']}" in CARD
    assert f"{FACTS['train_tokens']:,}" in CARD


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


def test_shuffling_needs_two_words():
    with pytest.raises(DataError, match="no other word order"):
        shuffled_words("ja ja", np.random.default_rng(0))


@pytest.fixture
def table_of(lm, monkeypatch):
    """The row of all pairs where so many of n are hits."""

    def made(hits, n):
        total = np.array([*[1.0] * hits, *[-1.0] * (n - hits), *[0.0] * n])
        monkeypatch.setattr(
            probe, "score_texts", lambda *texts, **more: SimpleNamespace(total=total)
        )
        return minimal_pair_table(lm, [("gender", "a", "b")] * n).iloc[-1]

    return made


@pytest.mark.verifies("Share of minimal pairs preferred", by="foreign", of="Newcombe 1998, table I")
@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_the_interval_of_a_share_is_the_published_one(table_of, hits, n, low, high):
    row = table_of(hits, n)
    assert (row.phenomenon, row.n, row.hits, row.rate) == ("all", n, hits, hits / n)
    assert (round(row.low, 4), round(row.high, 4)) == (low, high)


@pytest.mark.verifies("Share of minimal pairs preferred", by="hand")
def test_the_interval_of_a_share_by_hand(table_of):
    """None of 4: from 0 to z² / (n + z²); 2 of 4: 1/2 ± z · √(1/16 + z²/64) / (1 + z²/4)."""
    z2 = 1.959963984540054**2
    assert tuple(table_of(0, 4)[["low", "high"]]) == pytest.approx((0, z2 / (4 + z2)))
    half = (z2 * (1 / 16 + z2 / 64)) ** 0.5 / (1 + z2 / 4)
    assert tuple(table_of(2, 4)[["low", "high"]]) == pytest.approx((0.5 - half, 0.5 + half))


@pytest.mark.parametrize(
    "pairs", [[], [("gender", "Das Haus.", " ")], [("all", "Das Haus.", "Die Haus.")]]
)
def test_pairs_that_say_nothing_are_told(lm, pairs):
    with pytest.raises(DataError, match="minimal pair"):
        minimal_pair_table(lm, pairs)
