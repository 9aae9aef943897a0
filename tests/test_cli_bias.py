"""`anhelpers bias` as a user types it."""

import os

import pandas as pd
import pytest

from anhelpers import cli

FILES = [
    "MADE.txt",
    "bias.csv",
    "bias.html",
    "bias.tex",
    "between.png",
    "between.svg",
    "levels.csv",
]
FILES += ["within.png", "within.svg"]


def test_the_teaching_set_gives_tables_figures_and_a_page(tmp_path, capsys):
    call = [
        "bias",
        "--data",
        "teaching",
        "-m",
        "chrf",
        "ter",
        "--draws",
        "50",
        "-o",
        str(tmp_path / "o"),
    ]
    assert cli.main(call) == 0
    out, err = capsys.readouterr()
    assert sorted(path.name for path in (tmp_path / "o").iterdir()) == sorted(FILES)
    assert "Within sources, " in out
    assert "left out, as metrics compare with it: refB." in err
    table = pd.read_csv(tmp_path / "o" / "bias.csv")
    assert set(table.metric) >= {"chrF", "TER", "human accuracy", "one rater, fluency"}
    assert set(table.statistic) == {"pearson", "kendall", "pairs with ties", "soft pairwise"}
    assert table.signature.notna().all()
    assert (table.n_systems == 8).all()
    levels = pd.read_csv(tmp_path / "o" / "levels.csv")
    assert levels.level.tolist()[0] == "within sources"
    latex = (tmp_path / "o" / "bias.tex").read_text("utf-8")
    assert latex.startswith("% anhelpers:")
    assert latex.count(r" \\") == 1 + len(table)
    page = (tmp_path / "o" / "bias.html").read_text("utf-8")
    assert "Accuracy against fluency, by level" in page


def test_stored_scores_stand_beside_those_that_are_computed(tmp_path, capsys):
    stored = str(tmp_path / "stored.csv")
    assert cli.main(["score", "--data", "teaching", "-m", "chrf", "--segments", "-o", stored]) == 0
    call = [
        "bias",
        "--data",
        "teaching",
        "--scores",
        stored,
        "--draws",
        "50",
        "-o",
        str(tmp_path / "o"),
    ]
    assert cli.main([*call, "-m", "chrf"]) == 0
    table = pd.read_csv(tmp_path / "o" / "bias.csv")
    ours, theirs = (table[table.metric == name].with_accuracy for name in ("chrF", "chrf"))
    assert len(ours) == 5
    assert ours.tolist() == pytest.approx(theirs.tolist())
    capsys.readouterr()
    twice = ["bias", "--data", "teaching", "--scores", stored, stored, "-o", str(tmp_path / "p")]
    assert cli.main(twice) == 2
    assert "two files of --scores have chrf; give each metric once." in capsys.readouterr().err
    assert not (tmp_path / "p").exists()


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ([], "name the ratings: --ratings FILE, or a data set that has some: --data NAME."),
        (["--ratings", "{file}"], "say in which languages the rated texts are (-l LP)"),
        (["--data", "wmt24/cs-uk"], "wmt24/cs-uk"),
        (["--data", "teaching", "-m", "chrg"], "did you mean 'chrf'"),
        (["--data", "teaching", "--scores", "nowhere.csv"], "nowhere.csv: no such file"),
        (["--data", "teaching", "--draws", "1"], "--draws is 1"),
        (["--data", "teaching", "--reference", "refZ"], "refZ"),
    ],
)
def test_what_is_wrong_is_told_in_a_sentence_and_nothing_is_written(call, said, tmp_path, capsys):
    from anhelpers.data import ratings_file

    out = tmp_path / "out"
    call = [word.replace("{file}", str(ratings_file("teaching"))) for word in call]
    assert cli.main(["bias", *call, "-o", str(out)]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert "Traceback" not in err
    assert not out.exists()


@pytest.mark.real
def test_ted_is_scored_from_its_own_ratings(tmp_path, capsys):
    assert os.environ["ANHELPERS_DATA"]
    call = [
        "bias",
        "--ratings",
        "ted/en-de",
        "-m",
        "chrf",
        "--draws",
        "50",
        "-o",
        str(tmp_path / "o"),
    ]
    assert cli.main(call) == 0
    err = capsys.readouterr().err
    assert "5 documents" in err
    table = pd.read_csv(tmp_path / "o" / "bias.csv")
    assert "rater" not in set(table.kind)
    assert (table.n_systems == 13).all()
