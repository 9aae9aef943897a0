"""How much of an XMI is the luck of one training: means and spreads over seeds, their table, and real trainings."""

import csv
import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from anhelpers import cli
from anhelpers.errors import DataError
from anhelpers.xmi import (
    luck_table,
    mean_over_trainings,
    read_trainings,
    text_task,
    toy_pair,
    toy_task,
    train_both_ways,
    training_spread,
    write_trainings,
)
from anhelpers.xmi.trainings import COLUMNS, RECIPE

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
        with pytest.raises(DataError, match="of at least 2 trainings is needed"):
            function(values)


@pytest.mark.parametrize("ses", [[0.1, -0.1], [0.1, math.nan], [0.1]])
def test_standard_errors_that_cannot_be_are_refused(ses):
    with pytest.raises(DataError):
        mean_over_trainings([1, 2], ses)


# ---- the table


@pytest.fixture
def rows():
    """Two recipes of a made-up pair, two trainings each."""
    first = dict(
        zip(
            COLUMNS,
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
    assert found.decided.tolist() == ["not told"] * 2


def test_a_direction_is_decided_only_where_0_is_outside(rows, tmp_path):
    for row in rows:
        row |= {"h_mt": row["h_mt"] + (50 if row["smoothing"] else 0), "se_difference": 0.1}
        row["h_mt_back"] += 0 if row["smoothing"] else 50
    found = luck_table(read_trainings(written(tmp_path / "runs.csv", rows)))
    assert found.decided.tolist() == ["there", "back"]


@pytest.mark.parametrize("name", [*RECIPE])
def test_trainings_of_different_recipes_are_never_averaged(rows, tmp_path, name):
    one, two = rows[:2]
    two[name] = 8 if name in ("n", "n_train", "steps") else 0.2 if name == "smoothing" else "other"
    table = read_trainings(written(tmp_path / "runs.csv", [one, two]))
    with pytest.raises(DataError, match="at least 2 trainings"):
        luck_table(table)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"seed": 1}, "is listed twice"),
        ({"h_lm": ""}, "'' is no h_lm"),
        ({"se": "-1"}, "'-1' is no se"),
        ({"mi": "much"}, "'much' is no mi"),
        ({"h_mt_back": "nan"}, "is no h_mt_back"),
    ],
)
def test_a_bad_row_is_told_with_its_line(rows, tmp_path, change, said):
    rows[1] |= change
    with pytest.raises(DataError, match=said) as told:
        read_trainings(written(tmp_path / "runs.csv", rows))
    assert told.value.line == 3


def test_a_file_that_is_no_such_table_is_told(tmp_path):
    (tmp_path / "runs.csv").write_text("seed,xmi\n1,2\n", encoding="utf-8")
    with pytest.raises(DataError, match="the header must be pair,src,trg"):
        read_trainings(tmp_path / "runs.csv")


# ---- real trainings


@pytest.fixture(scope="module")
def tiny():
    pytest.importorskip("torch", reason="pip install -c constraints.txt -e '.[neural]'")
    pytest.importorskip("transformers", reason="pip install -c constraints.txt -e '.[neural]'")
    return toy_task(
        toy_pair("gender", n_words=3, lengths=[0.5, 0.5]), n_test=40, n_train=60, steps=3
    )


@pytest.mark.neural
def test_a_stopped_series_goes_on_and_makes_nothing_twice(tiny, tmp_path):
    told = []
    path = tmp_path / "runs.csv"
    write_trainings(path, tiny, [1], say=told.append)
    before = path.read_bytes()
    table = write_trainings(path, tiny, [1, 2], [0.0, 0.1], say=told.append)
    assert path.read_bytes().startswith(before)
    assert len(told) == len(table) == 4
    write_trainings(path, tiny, [2], say=told.append)
    assert len(told) == 4
    assert len(list(tmp_path.iterdir())) == 1
    again = train_both_ways(tiny, 2, 0.1)
    row = table[(table.seed == 2) & (table.smoothing == 0.1)].iloc[0]
    assert again["h_mt_back"] == pytest.approx(row.h_mt_back, rel=1e-7)
    assert table.mi.unique() == pytest.approx(tiny.mi)
    assert table.xmi.nunique() == 4  # the seed and the smoothing both matter


@pytest.mark.neural
def test_smoothing_moves_the_loss_and_no_score(tiny):
    """A model of the uniform law loses the same with and without it: ln V a token."""
    torch = pytest.importorskip("torch")
    from anhelpers.xmi.train import _loss, train_pair

    mt, _ = train_pair(toy_pair("cipher"), rng=np.random.default_rng(0), n_train=8, steps=1)
    number = mt.tokenizer.get_vocab()
    ids = [[number["owl"], number["</s>"]]]
    with torch.inference_mode():
        plain, smooth = (float(_loss(mt.model, ids, ids, x)) for x in (0.0, 0.1))
        logits = mt.model(
            input_ids=torch.tensor(ids),
            decoder_input_ids=torch.tensor([[mt.tokenizer.pad_token_id, ids[0][0]]]),
        ).logits[0]
    said = -logits.log_softmax(1)
    wanted = 0.9 * plain + 0.1 * float(said.mean(1).sum())
    assert smooth == pytest.approx(wanted, rel=1e-5)


@pytest.mark.neural
@pytest.mark.parametrize("change", [{"smoothing": 1.0}, {"smoothing": -0.1}, {"dropout": 1.0}])
def test_shares_outside_of_0_to_1_are_refused(tiny, change):
    from anhelpers.xmi.train import train_texts

    with pytest.raises(DataError, match="give a share of at least 0 and below 1"):
        train_texts(["a b"], ["c d"], (["a"], ["c"]), rng=np.random.default_rng(0), **change)


@pytest.fixture
def text():
    """600 pairs: a text and the same in capitals, backwards."""
    rng = np.random.default_rng(3)
    srcs = [" ".join(rng.choice(["ba", "de", "gi", "ko", "lu"], 1 + k % 4)) for k in range(600)]
    return srcs, [" ".join(reversed(s.upper().split())) for s in srcs]


@pytest.mark.neural
def test_a_text_is_parted_once_and_learned_both_ways(tiny, text):
    task = text_task("words", ("en", "de"), text, steps=4)
    assert (task.n_train, len(task.srcs)) == (200, 300)
    assert task.trgs[5] == " ".join(reversed(task.srcs[5].upper().split()))
    row = train_both_ways(task, 1, 0.1)
    assert math.isnan(row["mi"])
    assert row["n"] == 300
    # 4 steps leave both models near the uniform law over their vocabulary
    assert 5 < row["h_mt"] < 60


@pytest.mark.neural
def test_the_models_that_are_kept_are_the_best_on_held_out_sentences(tiny, text):
    from anhelpers.translation import score_pairs
    from anhelpers.xmi.train import train_texts

    srcs, trgs = text
    learned, held = (srcs[:200], trgs[:200]), (srcs[200:300], trgs[200:300])
    losses = [
        -score_pairs(
            train_texts(*learned, held, rng=np.random.default_rng(1), steps=steps, dropout=0.0)[0],
            *held,
        ).total.mean()
        for steps in (1, 60)
    ]
    assert losses[1] < losses[0]


def test_too_little_text_is_told(text):
    pytest.importorskip("torch", reason="pip install -c constraints.txt -e '.[neural]'")
    with pytest.raises(DataError, match="150 pairs have 1 to 1 words on both sides; at least 500"):
        text_task("words", ("en", "de"), text, longest=1)
    with pytest.raises(DataError):
        text_task("words", ("en", "de"), (text[0], text[1][:-1]))


@pytest.mark.neural
def test_the_command_trains_writes_and_says_what_is_known(tiny, tmp_path, capsys):
    out = tmp_path / "runs.csv"
    line = ["train-xmi", str(out), "--toy", "vague", "--seeds", "2", "--steps", "2"]
    assert cli.main(line) == 0
    told = capsys.readouterr().out
    assert "toy vague, label smoothing 0: a to b saves" in told
    assert "n = 2 trainings" in told
    before = out.read_bytes()
    assert cli.main(line) == 0  # goes on where it was: nothing is left to be done
    assert out.read_bytes() == before
    with out.open(encoding="utf-8") as file:
        assert [row["seed"] for row in csv.DictReader(file)] == ["1", "2"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("runs.csv", "say what is to be learned"),
        ("runs.csv -s a.txt", "wants all three"),
        ("runs.csv -s a.txt -t a.txt -l ende", "write it as en-de"),
        ("runs.csv --toy vague --seeds 1", "--seeds is 1; it must be at least 2"),
        ("runs.csv --toy vogue", "vogue"),
        ("runs.csv --toy vague --steps 0", "at least 1"),
        ("runs.csv --toy vague --smoothing 1", "below 1"),
        ("runs.txt --toy vague", "csv"),
        ("runs.csv -s nosuch.txt -t nosuch.txt -l en-de", "no such file"),
    ],
)
def test_what_the_command_refuses(line, said, tmp_path, monkeypatch, capsys):
    pytest.importorskip("torch", reason="pip install -c constraints.txt -e '.[neural]'")
    monkeypatch.chdir(tmp_path)
    assert cli.main(["train-xmi", *line.split()]) == 2
    assert said in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
