"""Cross-mutual information against closed forms, scipy and itself."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import bootstrap
from scipy.stats import entropy as scipy_entropy

from anhelpers.bootstrap import bootstrap_means
from anhelpers.data import read_score_pair
from anhelpers.errors import DataError, UnknownName
from anhelpers.xmi import (
    per_character,
    pointwise_xmi,
    published_table,
    sentence_cross_entropy,
    sides,
    xmi,
    xmi_difference,
)

MT, LM = [-1.0, -3.0, -2.0], [-5.0, -4.0, -3.0]


def rng():
    return np.random.default_rng(7)


def mutual_information(joint):
    s, t = joint.sum(1, keepdims=True), joint.sum(0, keepdims=True)
    there = joint > 0
    return float((joint[there] * np.log2((joint / (s * t))[there])).sum())


@pytest.mark.verifies("Cross-entropies H_LM and H_MT", "XMI", by="hand")
def test_a_hand_worked_example():
    found = xmi(MT, LM, unit="bits", rng=rng())
    assert (found.h_lm.value, found.h_mt.value, found.xmi.value) == (4.0, 2.0, 2.0)
    assert found.xmi.n == found.xmi.n_docs == 3
    assert "scores in bits" in found.xmi.signature
    assert str(found).startswith("h_lm 4 bits per sentence, 95 % interval ")
    assert sentence_cross_entropy(MT, unit="bits", rng=rng()).value == 2.0


@pytest.mark.verifies("Cross-entropies H_LM and H_MT", by="property")
@pytest.mark.parametrize(
    "counts",
    [
        np.diag([4, 2, 1, 1]),  # a cipher: I = H
        np.outer([1, 2, 1], [3, 1]),  # unrelated: I = 0
        np.array([[3, 1], [1, 3]]),  # a noisy channel
        np.array([[2, 0], [2, 0], [0, 4]]),  # two source words, one target word
    ],
)
def test_models_that_know_the_truth_give_the_mutual_information(counts):
    joint = counts / counts.sum()
    s, t = np.repeat(np.indices(counts.shape).reshape(2, -1), counts.ravel(), axis=1)
    lm = np.log(joint.sum(0))[t]
    found = xmi(np.log(joint / joint.sum(1, keepdims=True), where=joint > 0)[s, t], lm, rng=rng())
    assert found.xmi.value == pytest.approx(mutual_information(joint), abs=1e-12)
    p = joint.sum(0)
    assert found.h_lm.value == pytest.approx(-(p * np.log2(p)).sum(), abs=1e-12)


@pytest.mark.verifies("XMI", by="foreign", of="scipy")
def test_the_interval_is_scipy_s():
    random = np.random.default_rng(1)
    mt, lm = -random.gamma(9, 3, 80), -random.gamma(20, 3, 80)
    found = xmi(mt, lm, unit="bits", rng=rng(), n_draws=20_000).xmi
    theirs = bootstrap(
        (lm, mt),
        lambda a, b, axis: (b - a).mean(axis),
        paired=True,
        method="BCa",
        n_resamples=20_000,
        rng=np.random.default_rng(2),
    )
    assert found.se == pytest.approx(theirs.standard_error, rel=0.02)
    np.testing.assert_allclose(
        [found.low, found.high], theirs.confidence_interval, atol=0.15 * found.se
    )


def test_documents_are_resampled_whole():
    docs = np.repeat(list("abcdefghijkl"), 10)
    level = np.repeat(np.random.default_rng(3).normal(0, 5, 12), 10)
    lm = -50 + level
    apart, together = (xmi(np.full(120, -20.0), lm, docs=d, rng=rng()).xmi for d in (None, docs))
    assert together.n_docs == 12
    assert together.se > 2.5 * apart.se
    same = bootstrap_means(-20 - lm, docs, rng()).se[0] / math.log(2)
    assert together.se == pytest.approx(same, rel=1e-12)
    one = xmi(np.full(120, -20.0), lm, docs=["a"] * 120, rng=rng())
    assert replace(one.xmi, signature=apart.signature) == apart
    assert one.xmi.n_docs == 120


def test_cxmi_of_two_files_is_the_mean_difference_in_bits(tmp_path):
    random, docs = np.random.default_rng(4), np.repeat(np.arange(20), [1, 2, 3, 4] * 5)
    without = -random.gamma(20, 2, 50)
    context = np.minimum(without + random.normal(1, 1, 50) + docs % 3, 0)
    files = [tmp_path / "with.txt", tmp_path / "without.txt"]
    for path, logprobs in zip(files, (context, without), strict=True):
        path.write_text("\n".join(map(str, logprobs)))
    mt, lm, _ = read_score_pair(*files)
    found = xmi(mt.logprobs, lm.logprobs, given="context", docs=docs, rng=rng())
    saved = (context - without) / math.log(2)
    direct = bootstrap_means(saved, docs, rng())
    cxmi = found.bits[2]
    assert cxmi.value == pytest.approx(saved.mean(), rel=1e-12)
    assert [cxmi.low, cxmi.high] == pytest.approx([direct.low[0], direct.high[0]], rel=1e-9)
    assert (cxmi.n, cxmi.n_docs) == (50, 20)
    assert found.rows("en-de").quantity.tolist() == ["h_mt", "h_mt_context", "cxmi"]
    assert "CXMI" in xmi(without, context, given="context", rng=rng()).notes[0]
    alone = np.full(50, -90.0)  # XMI with context less XMI without, under any language model
    both = xmi_difference((context, alone), (without, alone), docs=docs, rng=rng())
    assert both.value == pytest.approx(cxmi.value, rel=1e-12)


def test_both_scores_of_a_sentence_are_left_out_together():
    mt, lm = [-1.0, np.nan, -3.0, -2.0, -9.0], [-5.0, -4.0, -4.0, -3.0, np.nan]
    found = xmi(mt, lm, unit="bits", rng=rng())
    assert found.left_out == 2
    assert found.xmi == xmi(MT, LM, unit="bits", rng=rng()).xmi
    assert "; 2 sentences left out" in str(found)
    left, _ = found.notes
    assert left.startswith("2 of 5 ")


scores = st.lists(st.tuples(st.floats(-500, 0), st.floats(-500, 0)), min_size=2, max_size=20)


@pytest.mark.verifies("XMI", by="property")
@given(scores)
def test_xmi_is_the_difference_antisymmetric_and_the_units_agree(pairs):
    mt, lm = np.array(pairs).T
    found, other = (xmi(a, b, rng=rng(), n_draws=50) for a, b in ((mt, lm), (lm, mt)))
    assert found.xmi.value == pytest.approx(found.h_lm.value - found.h_mt.value, abs=1e-9)
    assert found.xmi.value == pytest.approx(-other.xmi.value, abs=1e-9)
    assert found.xmi.low == pytest.approx(-other.xmi.high, rel=1e-9, abs=1e-9)
    base2 = xmi(mt / math.log(2), lm / math.log(2), unit="bits", rng=rng(), n_draws=50)
    assert base2.xmi.value == pytest.approx(found.xmi.value, abs=1e-9)
    assert base2.xmi.high == pytest.approx(found.xmi.high, rel=1e-9, abs=1e-9)


def test_a_negative_xmi_stays_negative():
    found = xmi(LM, MT, unit="bits", rng=rng())
    assert found.xmi.value == -2.0
    assert found.xmi.low < 0
    random = np.random.default_rng(0)
    low, high = -random.gamma(9, 3, (2, 40)) - [[90], [10]]
    assert len(xmi(low, high, rng=rng()).notes) == 1
    assert xmi(high, low, rng=rng()).notes == ()


def test_rounding_above_0_is_a_certain_sentence():
    assert sentence_cross_entropy([1e-6, 0.0], rng=rng()).value == 0.0


@pytest.mark.parametrize(
    ("mt", "lm", "more", "path", "line"),
    [
        (MT, LM[:2], {}, None, None),
        ([-1, 0.5, -1], LM, {}, "mt_logprobs", 2),
        (MT, [-1, -1, 7], {}, "lm_logprobs", 3),
        ([-1, np.nan, np.nan], LM, {}, None, None),  # one sentence is left
        ([np.nan] * 3, LM, {}, None, None),
        (MT, LM, {"docs": "abc"}, None, None),
        ([], [], {}, None, None),
        (MT, LM, {"tokens": ([3, 4, 5], [3, 5, 5])}, None, None),
        (MT, LM, {"tokens": (["a", "b", "cd"], ["a", "b", "ce"])}, None, None),
        (MT, LM, {"unit": "nat"}, None, None),
        (MT, LM, {"count": "published"}, None, None),
        (MT, LM, {"count": "published", "tokens": ([3, None, 5], [3, None, 5])}, None, None),
    ],
)
def test_bad_input_is_refused(mt, lm, more, path, line):
    with pytest.raises((DataError, UnknownName)) as error:
        xmi(mt, lm, rng=rng(), **more)
    assert (getattr(error.value, "path", None), getattr(error.value, "line", None)) == (path, line)


def test_tokens_are_compared_where_both_are_known_and_scored():
    tokens = ([3, None, 5], [("a", "b", "c"), 9, 6])
    assert xmi(MT, [-5, -4, np.nan], tokens=tokens, rng=rng()).left_out == 1


@pytest.mark.verifies("Bits per character", by="hand")
def test_per_character_is_the_ratio_of_the_sums():
    found = per_character([*MT, np.nan], [*LM, np.nan], [1, 2, 5, 0], unit="bits", rng=rng())
    assert found.xmi.value == 6 / 8
    assert found.xmi.unit == "bits per character"
    assert found.left_out == 1
    for chars in ([1, 0, 2], [1, np.inf, 2]):
        with pytest.raises(DataError) as error:
            per_character(MT, LM, chars, rng=rng())
        assert (error.value.path, error.value.line) == ("n_chars", 2)
    with pytest.raises(DataError):
        per_character(MT, LM, 5, rng=rng())


@pytest.mark.verifies("Bits per character", by="property")
def test_the_se_of_a_ratio_is_that_of_the_linearised_one():
    random = np.random.default_rng(5)
    chars = random.integers(20, 200, 500)
    mt, lm = -chars * random.gamma(20, 0.05, 500), -chars * random.gamma(40, 0.05, 500)
    found = per_character(mt, lm, chars, unit="bits", rng=rng()).xmi
    rest = (mt - lm) - found.value * chars
    assert found.se == pytest.approx(rest.std(ddof=1) / 500**0.5 / chars.mean(), rel=0.08)


@pytest.mark.verifies("Difference of two directions' XMI", by="property")
def test_directions_over_the_same_sentences_are_paired():
    random = np.random.default_rng(6)
    lm = -random.gamma(20, 5, 100)
    first, second = (lm * 0.5, lm), (lm * 0.52, lm)
    difference = xmi_difference(first, second, rng=rng())
    one, other = xmi(*first, rng=rng()), xmi(*second, rng=rng())
    assert difference.value == pytest.approx(one.xmi.value - other.xmi.value, abs=1e-9)
    assert difference.low > 0  # far apart, though the two intervals overlap
    assert one.xmi.low < other.xmi.high
    assert xmi_difference(first, first, rng=rng()).se == 0
    # one language model, one draw
    assert one.h_lm.low == other.h_lm.low


def test_the_difference_leaves_out_what_either_direction_misses():
    found = xmi_difference(
        ([-1, np.nan, -1, -1], [-2] * 4), ([-1] * 4, [-2, -2, np.nan, -2]), rng=rng()
    )
    assert found.n == 2
    with pytest.raises(DataError):
        xmi_difference((MT, LM), (MT[:2], LM[:2]), rng=rng())


@pytest.mark.verifies(
    "Cross-entropies H_LM and H_MT", "XMI", "Pointwise XMI", by="foreign", of="scipy"
)
def test_entropies_and_information_are_scipys():
    """A sample in exactly the proportions of a joint of two words each: scipy's entropies, to base 2."""
    counts = np.array([[6, 2], [1, 3]])
    joint = counts / counts.sum()
    s, t = np.repeat(np.indices((2, 2)).reshape(2, -1), counts.ravel(), axis=1)
    mt, lm = np.log(joint / joint.sum(1, keepdims=True))[s, t], np.log(joint.sum(0))[t]
    found = xmi(mt, lm, rng=rng(), n_draws=20)
    assert found.h_lm.value == pytest.approx(scipy_entropy(joint.sum(0), base=2), rel=1e-13)
    assert sentence_cross_entropy(mt, rng=rng(), n_draws=20).value == pytest.approx(
        scipy_entropy(joint, axis=1, base=2) @ joint.sum(1), rel=1e-13
    )
    product = np.outer(joint.sum(1), joint.sum(0))
    information = scipy_entropy(joint.ravel(), product.ravel(), base=2)
    assert found.xmi.value == pytest.approx(information, rel=1e-12)
    pointwise = pointwise_xmi(mt, lm)
    assert pointwise.mean() == pytest.approx(information, rel=1e-12)
    np.testing.assert_allclose(pointwise, np.log2(joint / product)[s, t], rtol=1e-12)


@pytest.mark.verifies(
    "Difference of two directions' XMI", "Bits per character", by="foreign", of="scipy"
)
def test_intervals_of_differences_and_ratios_are_scipys():
    random = np.random.default_rng(8)
    a, b, c, d = -random.gamma(9, 3, (4, 60))
    chars = random.integers(20, 90, 60)
    difference = xmi_difference((a, b), (c, d), unit="bits", rng=rng(), n_draws=20_000)
    ratio = per_character(a, b, chars, unit="bits", rng=rng(), n_draws=20_000).xmi
    options = {
        "paired": True,
        "method": "percentile",
        "n_resamples": 20_000,
        "rng": np.random.default_rng(3),
    }
    for found, data, statistic in [
        (difference, ((a - b) - (c - d),), lambda x, axis: x.mean(axis)),
        (ratio, (a - b, chars), lambda x, n, axis: x.sum(axis) / n.sum(axis)),
    ]:
        theirs = bootstrap(data, statistic, **options)
        assert found.value == pytest.approx(statistic(*data, axis=0), rel=1e-12)
        assert found.se == pytest.approx(theirs.standard_error, rel=0.02)
        np.testing.assert_allclose(
            [found.low, found.high], theirs.confidence_interval, atol=0.1 * found.se
        )


@pytest.mark.verifies("Pointwise XMI", "Difference of two directions' XMI", by="property")
@given(scores)
def test_pointwise_differences_add_up(pairs):
    mt, lm = np.array(pairs).T
    there, back = pointwise_xmi(mt, lm), pointwise_xmi(lm, mt)
    np.testing.assert_allclose(there, -back, atol=1e-9)
    assert xmi(mt, lm, rng=rng(), n_draws=2).xmi.value == pytest.approx(there.mean(), abs=1e-9)
    both = xmi_difference((mt, lm), (lm, mt), rng=rng(), n_draws=2)
    assert both.value == pytest.approx(2 * there.mean(), abs=1e-9)


def test_the_interval_of_an_entropy_ends_at_0_and_that_of_a_difference_does_not():
    surprisals = np.array([0.01, 0.02, 0.0, 9.0])
    found = xmi(-surprisals, -surprisals[::-1], rng=np.random.default_rng(0))
    assert found.h_lm.low == found.h_mt.low == 0
    assert found.xmi.low < 0


# ---- the two counts of XMI: all tokens as in eq. 2, and that of the paper's Table 1

LENGTHS = np.maximum(2, np.random.default_rng(0).gamma(3, 11, 60)).astype(int)
MT_SUMS = -LENGTHS * np.random.default_rng(1).gamma(9, 0.2, 60)
LM_SUMS = -LENGTHS * np.random.default_rng(2).gamma(9, 0.5, 60)


@pytest.mark.verifies("Count of the published table", by="hand")
def test_both_counts_by_hand():
    """Two sentences of 2 and 4 tokens: 6 and 12 bits of the language model, 2 and 4 of the other.

    All tokens: 9 and 3 bits per sentence. Published: 18 / 6 tokens · (6 - 2) / 2 = 6, and 6 / 6 · 4 / 2 = 2.
    """
    given = {"unit": "bits", "tokens": ([2, 4], [2, 4]), "n_draws": 50}
    for count, expected in (("all", [9, 3, 6]), ("published", [6, 2, 4])):
        found = xmi([-2, -4], [-6, -12], count=count, rng=np.random.default_rng(0), **given)
        assert [one.value for one in found.bits] == pytest.approx(expected, rel=1e-12)


@pytest.mark.verifies("Count of the published table", by="property")
def test_the_published_count_is_the_other_less_one_mean_token_in_every_resample():
    """With c tokens in every sentence, each draw is (c - 1) / c of the other; else h - h / mean of c."""
    rng = np.random.default_rng(3)
    lm, mt = -rng.gamma(9, 9, 50), -rng.gamma(9, 3, 50)
    counts = rng.integers(2, 40, 50).tolist()
    drawn = [np.random.default_rng(1) for _ in range(4)]
    every = xmi(mt, lm, tokens=(counts, counts), rng=drawn[0])
    table = xmi(mt, lm, tokens=(counts, counts), count="published", rng=drawn[1])
    for a, b in zip(every.bits, table.bits, strict=True):
        assert b.value == pytest.approx(a.value * (1 - 1 / np.mean(counts)), rel=1e-12)
    c = [5] * 50
    every = xmi(mt, lm, tokens=(c, c), rng=drawn[2])
    table = xmi(mt, lm, tokens=(c, c), count="published", rng=drawn[3])
    for a, b in zip(every.bits, table.bits, strict=True):
        got = [b.value, b.se, b.low, b.high]
        assert got == pytest.approx([0.8 * v for v in (a.value, a.se, a.low, a.high)], rel=1e-12)


@pytest.mark.verifies(
    "Count of the published table", by="foreign", of="the authors' bits per token"
)
@pytest.mark.erratum("XMI eq. 2, the end of a sentence")
def test_with_the_ends_the_means_are_larger_and_the_claim_stays():
    """By the scripts, h = nll · tokens without ends; nll · all tokens is h + nll."""
    table, every = published_table(), published_table("all")
    into, out = sides(every).to_dict("records")
    assert (round(into["xmi"], 2), round(out["xmi"], 2)) == (99.84, 105.32)
    assert (round(into["pearson"], 3), round(out["pearson"], 3)) == (0.960, 0.631)
    more = every.set_index("direction").xmi - table.set_index("direction").xmi
    assert (round(more.min(), 1), round(more.max(), 1)) == (2.6, 3.5)
    gain = [
        every[every[end] == "en"].set_index(other).xmi
        for end, other in (("src", "trg"), ("trg", "src"))
    ]
    assert (gain[0] - gain[1].loc[gain[0].index] > 0).sum() == 20
    assert every.columns.tolist() == table.columns.tolist()


@pytest.mark.verifies("Count of the published table", by="property")
def test_the_published_count_is_less_one_mean_token():
    options = {"unit": "bits", "count": "published", "n_draws": 50}
    found = xmi(MT_SUMS, LM_SUMS, tokens=(LENGTHS, LENGTHS), rng=rng(), **options).h_lm
    assert found.value == pytest.approx(-LM_SUMS.mean() * (1 - 1 / LENGTHS.mean()), rel=1e-12)
    assert "mean over tokens × (tokens - 1 per sentence)" in found.signature
