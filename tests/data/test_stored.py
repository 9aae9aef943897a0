import os
from pathlib import Path

import pytest

from anhelpers.data import load, read_system_scores
from anhelpers.errors import DataError, UnknownName

WIDE = (
    "lp\tsystem\ttype\tmetricx\tcometkiwi\n"
    "en-de\tX\topen\t1.5\t.7\n"
    "en-fr\tX\topen\t9\t.1\n"
    "en-de\tY-2 $\\dagger$\topen\t3\t.5\n"
)
TALL = (
    "pair\tsystem\tid\tmetric\tscore\nen-de\tX\t1\tbleu-refA\t30.25\nen-de\tX\t1\tCOMET-refA\t-.5\n"
)


@pytest.fixture
def table(tmp_path):
    def make(text):
        (tmp_path / "scores.tsv").write_text(text, encoding="utf-8")
        return tmp_path / "scores.tsv"

    return make


def test_a_column_per_metric(table):
    scores = read_system_scores(table(WIDE), "en-de")
    metricx, kiwi = ("MQM points, 0 to 25", False), ("0 to 1", True)
    assert scores.values.tolist() == [
        ["X", "MetricX-23-XL", 1.5, *metricx, "scores.tsv: metricx"],
        ["X", "CometKiwi-XL", 0.7, *kiwi, "scores.tsv: cometkiwi"],
        ["Y-2", "MetricX-23-XL", 3.0, *metricx, "scores.tsv: metricx"],
        ["Y-2", "CometKiwi-XL", 0.5, *kiwi, "scores.tsv: cometkiwi"],
    ]
    assert scores.columns.tolist() == [
        "system",
        "metric",
        "value",
        "unit",
        "higher_is_better",
        "source",
    ]
    assert scores.attrs["notes"] == (
        "'Y-2 $\\dagger$' is called Y-2 here; its footnote mark is left out.",
    )


def test_a_row_per_metric(table):
    scores = read_system_scores(table(TALL), "en-de")
    assert scores.values.tolist() == [
        ["X", "bleu-refA", 30.25, "points, 0 to 100", True, "scores.tsv: bleu-refA"],
        ["X", "COMET-refA", -0.5, "no fixed bounds", True, "scores.tsv: COMET-refA"],
    ]
    assert scores.attrs["notes"] == ()


def test_unknown_pairs_list_those_that_are_there(table):
    with pytest.raises(UnknownName, match=r"unknown language pair 'de-en'.*known: en-de, en-fr"):
        read_system_scores(table(WIDE), "de-en")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "line 1: its header has nothing; the columns lp, system, metricx, cometkiwi, or pair"),
        ("lp\tsystem\tbleu\n", "line 1: its header has lp, system, bleu; the columns"),
        (TALL + "en-de\tX\t1\tbleu-all\n", "line 4: has 4 fields, and the header 5"),
        (TALL + "en-de\tX\t1\tbleu-all\tx\n", "line 4: value 'x' is no finite number"),
        (TALL + "en-de\tX\t1\tbleu-all\t\n", "line 4: value '' is no finite number"),
        (TALL + "en-de\tX\t1\tbleu-all\tinf\n", "line 4: value 'inf' is no finite number"),
        (TALL + "en-de\tX\t1\tbleu-refA\t30.25\n", "line 4: system 'X' has a second bleu-refA"),
        (
            TALL + "en-de\tX\t1\twer-refA\t30\n",
            "line 4: metric 'wer-refA' has no direction here; those of bleu, chrf",
        ),
        (WIDE + "en-de\tY-2\topen\t3\t.5\n", "line 5: system 'Y-2' has a second MetricX-23-XL"),
    ],
)
def test_bad_tables_are_told(table, text, sentence):
    with pytest.raises(DataError, match=rf"scores\.tsv, {sentence}"):
        read_system_scores(table(text), "en-de")


@pytest.fixture
def real():
    if not os.environ.get("ANHELPERS_DATA"):
        pytest.skip(
            "ANHELPERS_DATA is not set; point it at the shared data to check the real tables."
        )
    return Path(os.environ["ANHELPERS_DATA"])


@pytest.mark.real
@pytest.mark.parametrize("lp", ["en-de", "ja-zh"])
def test_the_scores_of_wmt24_are_those_of_its_systems(real, lp):
    scores = read_system_scores(real / "wmt24" / "autoscores.tsv", lp)
    assert set(scores.system) == set(load(f"wmt24/{lp}").systems)
    # of MetricX the lowest is the best, of CometKiwi the highest: both put the same system first
    metricx, kiwi = (
        rows.set_index("system").value for _, rows in scores.groupby("metric", sort=False)
    )
    assert metricx.idxmin() == kiwi.idxmax()
    assert metricx.between(0, 25).all()
    assert kiwi.between(0, 1).all()
    assert metricx.corr(kiwi) < -0.8


@pytest.mark.real
def test_the_scores_of_wmt23_are_those_that_sacrebleu_gives(real):
    from anhelpers.accuracy.surface import surface_metric
    from anhelpers.scoring import system_rows

    scores = (
        read_system_scores(real / "wmt23" / "automatic-scores.tsv", "en-de")
        .set_index(["metric", "system"])
        .value
    )
    assert len(scores) == 12 * 4
    ours = system_rows(load("wmt23/en-de"), [surface_metric("chrf", "de")])
    for system, value in zip(ours.system, ours.value, strict=True):
        assert round(value, 4) == round(scores["chrf-refA", system], 4)
