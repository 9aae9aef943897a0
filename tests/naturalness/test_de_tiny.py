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
from anhelpers.naturalness.lpp import shared_lines  # noqa: E402
from anhelpers.naturalness.probe import minimal_pair_table, prefers_original, shuffled_words  # noqa: E402

pytestmark = pytest.mark.neural
FOLDER = bundled("lm/de-tiny")
CARD = (FOLDER / "README.md").read_text(encoding="utf-8")
FACTS = json.loads((FOLDER / "facts.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def lm():
    return load_lm("de-tiny", device="cpu")


def test_it_is_at_most_six_megabytes():
    assert sum(p.stat().st_size for p in FOLDER.iterdir()) <= 6_000_000


def test_transformers_loads_it_by_folder():
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(FOLDER)
    assert sum(p.numel() for p in model.parameters()) == FACTS["parameters"]


@pytest.mark.verifies("Share of minimal pairs preferred", by="property")
def test_it_prefers_german_sentences_to_their_shuffled_words(lm):
    hits = prefers_original(lm, load_mono("teaching"), np.random.default_rng(7))
    assert len(hits) >= 300
    assert hits.mean() >= 0.98
    assert f"{hits.sum()} of {len(hits)}" in CARD


def test_the_card_reports_the_minimal_pairs_and_the_held_out_perplexity(lm):
    rows = [tuple(line.split("\t")) for line in read_lines(bundled("teaching/minimal_pairs.tsv"))[1:]]
    for row in minimal_pair_table(lm, rows).itertuples():
        assert (
            f"| {row.phenomenon} | {row.hits} of {row.n} | {row.rate:.0%} | {row.low:.0%} to {row.high:.0%} |" in CARD
        )
    assert f"{FACTS['held_out_perplexity']}" in CARD
    assert f"{FACTS['train_tokens']:,}" in CARD


def test_it_was_not_trained_on_the_monolingual_reference_nor_on_candidates(lm):
    assert len(lm.training_lines) == FACTS["train_lines"]
    assert not shared_lines(load_mono("teaching"), lm.training_lines)
    assert not shared_lines(load_candidates("teaching").texts, lm.training_lines)


def test_it_refuses_other_languages(lm):
    with pytest.raises(DataError, match="knows only 'de' and the texts are 'zh'"):
        lpp_metric(lm, trg_lang="zh")


def test_the_first_call_of_a_process_is_as_exact_as_the_second():
    code = """
from anhelpers.data import load_candidates
from anhelpers.naturalness.lm import load_lm, score_texts
lm, texts = load_lm("de-tiny", device="cpu"), sorted(load_candidates("teaching").texts, key=len)[-300:]
first, second = score_texts(lm, texts).mean, score_texts(lm, texts).mean
print(abs(first - second).max())
"""
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
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


@pytest.mark.verifies("Share of minimal pairs preferred", by="foreign", of="scipy")
@pytest.mark.parametrize(("hits", "n"), [(0, 5), (3, 7), (19, 20), (20, 20)])
def test_the_interval_of_a_share_is_scipys_wilson(hits, n):
    from scipy.stats import binomtest

    from anhelpers.naturalness.probe import _wilson

    theirs = binomtest(hits, n).proportion_ci(method="wilson")
    np.testing.assert_allclose(_wilson(hits, n), (theirs.low, theirs.high), atol=1e-12)


@pytest.mark.verifies("Share of minimal pairs preferred", by="hand")
def test_the_interval_of_a_share_by_hand():
    """With z = 2, none of 4: from 0 to z² / (n + z²) = 4/8; 2 of 4: 1/2 ± 2 · √(4/16 · 1/4 + 4/64) / 2 = 1/2 ± √2/4."""
    from anhelpers.naturalness.probe import _wilson

    assert _wilson(0, 4, 2) == pytest.approx((0, 0.5))
    assert _wilson(2, 4, 2) == pytest.approx((0.5 - 2**0.5 / 4, 0.5 + 2**0.5 / 4))
