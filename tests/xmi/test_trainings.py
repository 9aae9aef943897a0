"""Trainings that differ by their seed: means and spreads, their table, and real trainings."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from anhelpers.errors import DataError
from anhelpers.xmi import (
    luck_table,
    mean_over_trainings,
    read_trainings,
    toy_pair,
    train_both_ways,
    training_spread,
)

COLUMNS = "pair src trg scored n_train n steps smoothing seed mi h_lm h_mt se h_lm_back h_mt_back se_back se_difference"
VALUES, SES = [1.0, 2.5, 2.0, 3.5, 1.5], [0.4, 0.5, 0.3, 0.5, 0.4]


@pytest.mark.verifies("Mean over trainings", by="hand")
def test_two_kinds_of_luck_by_hand():
    # two trainings at 1 and 3: variance 2, of the mean 1; the sentences add 0.75² + 0.25² over 2 = 0.3125
    found = mean_over_trainings([1, 3], [0.75, 0.25])
    assert (found.value, found.n) == (2, 2)
    assert found.se == pytest.approx(math.sqrt(1.3125))
    alone = mean_over_trainings([1, 3])
    assert alone.se == 1
    assert alone.high == pytest.approx(
        2 + 12.7062, abs=1e-4
    )  # Student's t with 1 degree of freedom


@pytest.mark.verifies(
    "Mean over trainings", by="foreign", of="scipy.stats.ttest_1samp and ttest_ind"
)
def test_the_interval_over_trainings_is_that_of_a_t_test():
    low, high = stats.ttest_1samp(VALUES, 0).confidence_interval()
    assert mean_over_trainings(VALUES).interval == pytest.approx((low, high))
    # Welch and Satterthwaite: the sentences as a second sample of very many with the same variance of the mean
    within = math.sqrt(np.mean(np.square(SES)))
    many = np.tile([-1.0, 1.0], 50_000) * within * math.sqrt(99_999)
    welch = stats.ttest_ind(VALUES, many, equal_var=False).confidence_interval()
    assert mean_over_trainings(VALUES, SES).interval == pytest.approx(
        (welch.low, welch.high), abs=1e-3
    )


@pytest.mark.verifies("Mean over trainings", "Spread between trainings", by="property")
def test_means_and_spreads_move_with_their_values_and_more_luck_is_never_narrower():
    moved = [5 - 2 * v for v in VALUES]
    for with_ses in (None, SES):
        one, two = (mean_over_trainings(v, with_ses) for v in (VALUES, moved))
        assert two.value == pytest.approx(5 - 2 * one.value)
    assert training_spread(moved).interval == pytest.approx(
        tuple(2 * end for end in training_spread(VALUES).interval)
    )
    for errors in (0.0, 1e-9, 0.1, 1.0, 1e6):
        one, two = mean_over_trainings(VALUES), mean_over_trainings(VALUES, [errors] * 5)
        assert two.low <= one.low + 1e-12
        assert one.high <= two.high + 1e-12
    assert mean_over_trainings(VALUES, [0] * 5).interval == mean_over_trainings(VALUES).interval


@pytest.mark.verifies("Spread between trainings", by="hand")
def test_the_spread_by_hand():
    found = training_spread([1, 3])
    assert found.value == pytest.approx(math.sqrt(2))
    assert found.high == pytest.approx(math.sqrt(2 / 0.00098207), rel=1e-4)


@pytest.mark.verifies("Spread between trainings", by="foreign", of="scipy.stats.chi2")
def test_the_interval_of_the_spread_is_that_of_chi_square():
    ends = [math.sqrt(4 * np.var(VALUES, ddof=1) / stats.chi2.ppf(p, 4)) for p in (0.975, 0.025)]
    assert training_spread(VALUES).interval == pytest.approx(tuple(ends))


def test_trainings_that_never_differ_have_no_luck():
    assert mean_over_trainings([2, 2, 2]).interval == (2, 2)
    found = mean_over_trainings([2, 2, 2], [1, 1, 1])
    assert found.interval == pytest.approx((2 - 1.959964, 2 + 1.959964))
    assert training_spread([2, 2, 2]).interval == (0, 0)


@pytest.mark.parametrize("values", [[1.0], [], [1.0, math.nan], [[1.0, 2.0]], [1.0, math.inf]])
def test_one_training_says_nothing_about_the_next(values):
    for function in (mean_over_trainings, training_spread):
        with pytest.raises(DataError):
            function(values)


# ---- the table


@pytest.fixture
def rows():
    """Two recipes of a made-up pair, two trainings each."""
    first = dict(
        zip(
            COLUMNS.split(),
            ["x", "a", "b", "0123abcd", 9, 5, 7, 0.0, 1, 2.0, 9, 4, 1, 8, 4, 1, 0.5],
            strict=True,
        )
    )
    return [
        first | {"smoothing": smoothing, "seed": seed, "h_mt": 4 + seed + smoothing}
        for smoothing in (0.0, 0.1)
        for seed in (1, 2)
    ]


def written(path, rows):
    pd.DataFrame(rows).to_csv(path, index=False)
    return path


@pytest.mark.verifies("Mean over trainings", by="hand")
def test_the_table_of_luck_by_hand(rows, tmp_path):
    table = read_trainings(written(tmp_path / "runs.csv", rows))
    assert table.difference.tolist() == pytest.approx([0, -1, -0.1, -1.1])
    found = luck_table(table)
    assert found.trainings.tolist() == [2, 2]
    assert found.difference.tolist() == pytest.approx([-0.5, -0.6])
    assert found.spread.tolist() == pytest.approx([math.sqrt(0.5)] * 2)
    assert found.share.tolist() == pytest.approx([0.5 / 0.75] * 2)
    assert found.decided.tolist() == ["undecided"] * 2


def test_a_direction_is_decided_only_where_0_is_outside(rows, tmp_path):
    for row in rows:
        row |= {"h_mt": row["h_mt"] + (50 if row["smoothing"] else 0), "se_difference": 0.1}
        row["h_mt_back"] += 0 if row["smoothing"] else 50
    found = luck_table(read_trainings(written(tmp_path / "runs.csv", rows)))
    assert found.decided.tolist() == ["there", "back"]


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"seed": 1}, 3),
        ({"h_lm": "1.5.2"}, 3),
        ({"mi": "much"}, 3),
        ({"seed": ""}, 3),
        ({"n": "seven"}, 3),
    ],
)
def test_a_malformed_row_is_refused_with_its_line(rows, tmp_path, change, line):
    rows[1] |= change
    with pytest.raises(DataError) as error:
        read_trainings(written(tmp_path / "runs.csv", rows))
    assert error.value.line == line


@pytest.mark.neural
def test_a_pair_is_trained_both_ways_by_seed():
    pytest.importorskip("torch", reason="pip install -c constraints.txt -e '.[neural]'")
    pair = toy_pair("gender", n_words=3, lengths=[0.5, 0.5])
    first, again, other = (
        train_both_ways(pair, seed, 0.1, steps=3, n_test=40) for seed in (1, 1, 2)
    )
    assert first == again
    assert first["h_mt_back"] != other["h_mt_back"]
    assert first["mi"] == pair.mi
    assert 0 < first["se_difference"] < first["se"] + first["se_back"]


@pytest.mark.neural
def test_smoothing_changes_the_loss_and_no_score():
    torch = pytest.importorskip("torch", reason="pip install -c constraints.txt -e '.[neural]'")
    from anhelpers.xmi.trainings import _loss, train_pair

    mt, _ = train_pair(toy_pair("cipher"), rng=np.random.default_rng(0), n_train=8, steps=1)
    number = mt.tokenizer.get_vocab()
    ids = [[number["owl"], number["</s>"]]]
    with torch.inference_mode():
        plain, smooth = (float(_loss(mt.model, ids, ids, x)) for x in (0.0, 0.1))
        logits = mt.model(
            input_ids=torch.tensor(ids),
            decoder_input_ids=torch.tensor([[mt.tokenizer.pad_token_id, ids[0][0]]]),
        ).logits[0]
    wanted = 0.9 * plain + 0.1 * float(-logits.log_softmax(1).mean(1).sum())
    assert smooth == pytest.approx(wanted, rel=1e-5)
