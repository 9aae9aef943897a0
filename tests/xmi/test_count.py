"""The two counts of XMI: all tokens as in eq. 2, and the count of the paper's Table 1."""

import numpy as np
import pytest

from anhelpers.xmi import sentence_cross_entropy, xmi, xmi_difference, xmi_table
from anhelpers.xmi.published import published_table, sides

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
def test_each_function_has_both_counts():
    """A sentence's bits less one mean token each: those of `xmi` are in all others; without tokens it is refused."""
    counts, rng = (LENGTHS, LENGTHS), np.random.default_rng
    options = {"unit": "bits", "count": "published", "n_draws": 50}
    found = xmi(MT_SUMS, LM_SUMS, tokens=counts, rng=rng(0), **options)
    alone = sentence_cross_entropy(LM_SUMS, tokens=LENGTHS, rng=rng(0), **options)
    assert [alone.value, alone.se] == pytest.approx([found.h_lm.value, found.h_lm.se], rel=1e-12)
    assert alone.value == pytest.approx(-LM_SUMS.mean() * (1 - 1 / LENGTHS.mean()), rel=1e-12)
    assert "mean over tokens × (tokens - 1 per sentence)" in alone.signature
    back = LENGTHS + 7
    two = (MT_SUMS, LM_SUMS), (1.1 * MT_SUMS, LM_SUMS)
    apart = xmi_difference(*two, tokens=(counts, (back, back)), rng=rng(0), **options)
    other = xmi(*two[1], tokens=(back, back), rng=rng(0), **options).xmi
    assert apart.value == pytest.approx(found.xmi.value - other.value, rel=1e-12)
    assert "mean over tokens × (tokens - 1 per sentence)" in apart.signature
    table = xmi_table(
        {"a-b": two[0], "b-a": two[1]},
        tokens={"a-b": counts, "b-a": (back, back)},
        rng=rng(0),
        **options,
    )
    assert table.xmi.tolist() == pytest.approx([found.xmi.value, other.value], rel=1e-12)
