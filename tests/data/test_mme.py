import io
import math

import numpy as np
import pandas as pd
import pytest

from anhelpers import cli
from anhelpers.data import StoredScores, mme_scores, read_mme, read_mme_scores, scores_matrix
from anhelpers.data.mme import is_mme
from anhelpers.errors import DataError, UnknownName

FILES = {
    "sources/en-de.txt": "a\nb\n",
    "references/en-de.refA.txt": "A\nB\n",
    "system-outputs/en-de/refA.txt": "A\nB\n",
    "system-outputs/en-de/X.txt": "x\n\n",
    "documents/en-de.docs": "news d1\nnews d1\n",
    "metric-scores/en-de/chrF-refA.seg.score": "X\t1.5\nX\t2\n",
    "metric-scores/en-de/chrF-refA.sys.score": "X\t1.75\n",
    "metric-scores/en-de/XCOMET-QE-src.seg.score": "X\t.1\nX\t.2\nrefA\t.3\nrefA\t-.4\n",
    "human-scores/en-de.mqm.seg.score": "refA\tNone\nX\t-5\nrefA\t0\nX None\n",
}


@pytest.fixture
def tree(tmp_path):
    def make(**changes: str):
        for name, text in (FILES | changes).items():
            path = tmp_path / "wmt23" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, newline="")
        return tmp_path / "wmt23"

    return make


def test_texts_of_a_directory(tree, tmp_path):
    assert is_mme(tree())
    assert not is_mme(tmp_path)
    test = read_mme(tree(), "en-de")
    assert (test.name, test.srcs, test.refs) == ("wmt23/en-de", ("a", "b"), {"refA": ("A", "B")})
    assert test.categories == {"X": "unknown", "refA": "human"}
    assert (test.domains, test.docs) == (("news", "news"), ("d1", "d1"))
    with pytest.raises(UnknownName, match=r"unknown language pair 'en-fr'.*known: en-de"):
        read_mme(tree(), "en-fr")


def test_segment_scores_are_tidy(tree):
    table = read_mme_scores(tree(), "en-de", "chrF", "refA")
    assert table.to_dict("list") == {"system": ["X", "X"], "segment": [0, 1], "score": [1.5, 2.0]}
    quality = read_mme_scores(tree(), "en-de", "XCOMET-QE", "src")
    assert quality.score.tolist() == [0.1, 0.2, 0.3, -0.4]


def test_system_scores_have_no_segment(tree):
    table = read_mme_scores(tree(), "en-de", "chrF", "refA", level="sys")
    assert table.to_dict("list") == {"system": ["X"], "score": [1.75]}


def test_human_scores_may_be_missing_and_interleaved(tree):
    table = read_mme_scores(tree(), "en-de", "mqm")
    assert table.system.tolist() == ["refA", "refA", "X", "X"]
    assert table.segment.tolist() == [0, 1, 0, 1]
    assert [None if math.isnan(s) else s for s in table.score] == [None, 0, -5, None]


def test_scores_of_a_canary_are_left_out(tree):
    first = dict.fromkeys(list(FILES)[:4], "CANARY GUID 1\n")
    files = {name: first[name] + FILES[name] for name in first} | {
        "documents/en-de.docs": "canary canary\nn d\nn d\n"
    }
    root = tree(**files, **{"metric-scores/en-de/chrF-refA.seg.score": "X\t99\nX\t1\nX\t2\n"})
    assert read_mme(root, "en-de").srcs == ("a", "b")
    table = read_mme_scores(root, "en-de", "chrF", "refA")
    assert (table.segment.tolist(), table.score.tolist()) == ([0, 1], [1, 2])


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("X\t1\n", r"score: system 'X' has 1 scores, expected 2, one per line of .*en-de\.txt"),
        ("X\t1\nZ\t1\n", "line 2: unknown system 'Z'; known: X, refA"),
        ("X\t1\nX\tone\n", "line 2: score 'one' is neither a number nor None"),
        ("X\tinf\n", "line 1: score 'inf' is infinite"),
        ("X\n", "line 1: 'X' is no line of the form system<TAB>score"),
        ("X\t1\n\n", "line 2: '' is no line of the form"),
    ],
)
def test_bad_scores_are_told(tree, text, sentence):
    root = tree(**{"metric-scores/en-de/chrF-refA.seg.score": text})
    with pytest.raises(DataError, match=sentence):
        read_mme_scores(root, "en-de", "chrF", "refA")


def test_a_second_system_score_is_told(tree):
    root = tree(**{"metric-scores/en-de/chrF-refA.sys.score": "X\t1\nX\t2\n"})
    with pytest.raises(DataError, match="system 'X' has 2 scores, expected 1, one per system"):
        read_mme_scores(root, "en-de", "chrF", "refA", "sys")


def test_unknown_scores_list_those_that_are_there(tree):
    with pytest.raises(
        UnknownName,
        match=r"unknown metric score at level seg 'chrF-refB'.*known: XCOMET-QE-src, chrF-refA",
    ):
        read_mme_scores(tree(), "en-de", "chrF", "refB")
    with pytest.raises(UnknownName, match="unknown human score at level sys 'mqm'; known: none"):
        read_mme_scores(tree(), "en-de", "mqm", level="sys")
    with pytest.raises(UnknownName, match="unknown level 'doc'"):
        read_mme_scores(tree(), "en-de", "mqm", level="doc")


def test_what_is_stored_is_listed_with_its_levels(tree):
    root = tree(
        **{
            "metric-scores/en-de/a-b.2-refA.refB.domain.score": "",
            "human-scores/en-de.mqm.1.sys.score": "",
        }
    )
    assert mme_scores(root, "en-de") == [
        StoredScores("metric", "XCOMET-QE", "src", ("seg",)),
        StoredScores("metric", "a-b.2", "refA.refB", ("domain",)),
        StoredScores("metric", "chrF", "refA", ("sys", "seg")),
        StoredScores("human", "mqm.1", None, ("sys",)),
        StoredScores("human", "mqm", None, ("seg",)),
    ]
    with pytest.raises(UnknownName, match="unknown language pair 'en-fr'"):
        mme_scores(root, "en-fr")


@pytest.mark.parametrize(
    "name", ["metric-scores/en-de/chrF.seg.score", "human-scores/en-de.seg.score"]
)
def test_a_file_of_scores_without_a_full_name_is_told(tree, name):
    with pytest.raises(
        DataError,
        match=r"score: name it (NAME-REF|LP\.NAME)\.LEVEL\.score, with a level of sys, domain",
    ):
        mme_scores(tree(**{name: ""}), "en-de")


def test_categories_may_stand_in_systems_tsv(tree):
    root = tree(**{"systems.tsv": "system\tcategory\nX\tLLM\nY\tMT\n"})
    assert read_mme(root, "en-de").categories == {"X": "LLM", "refA": "human"}


def test_scores_stand_side_by_side_in_the_order_asked(tree):
    table = read_mme_scores(tree(), "en-de", "mqm")
    matrix, missing, unknown = scores_matrix(table, ["Y", "X"], 3)
    np.testing.assert_array_equal(
        matrix, [[math.nan, -5], [math.nan, math.nan], [math.nan, math.nan]]
    )
    assert (missing, unknown) == (("Y",), ("refA",))
    empty, missing, unknown = scores_matrix(table[:0], ["X"], 0)
    assert (empty.shape, missing, unknown) == ((0, 1), ("X",), ())


def test_a_table_that_is_no_matrix_is_told(tree):
    table = read_mme_scores(tree(), "en-de", "mqm")
    with pytest.raises(DataError, match="the table has segments 0 to 1, and 0 to 0 are wanted"):
        scores_matrix(table, ["X"], 1)
    with pytest.raises(DataError, match="system 'refA' has two scores for segment 0"):
        scores_matrix(pd.concat([table, table]), ["X"], 2)
    with pytest.raises(DataError, match="systems names one twice: X, X"):
        scores_matrix(table, ["X", "X"], 2)
    with pytest.raises(DataError, match='a score per system; read it with level="seg"'):
        scores_matrix(table.drop(columns="segment"), ["X"], 2)


def score(*arguments):
    return cli.main(["score", *map(str, arguments)])


@pytest.fixture
def texts(tmp_path):
    for name, text in {
        "src.en": "The house is old.\nNo.\n",
        "refA.de": "Das Haus ist alt.\nNein.\n",
        "A.de": "Das Haus war alt.\nNein.\n",
        "B.de": "Ein Haus.\n\n",
    }.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    ref = tmp_path / "refA.de"
    return [
        "-l",
        "en-de",
        "-s",
        tmp_path / "src.en",
        "-r",
        ref,
        "-t",
        tmp_path / "A.de",
        tmp_path / "B.de",
        ref,
    ]


def test_scores_made_here_are_stored_with_higher_as_better(texts, tmp_path, capsys):
    folder = tmp_path / "mine"
    assert score(*texts, "-m", "chrf", "ter", "--mme", folder) == 0
    out, err = capsys.readouterr()
    printed = pd.read_csv(io.StringIO(out)).set_index(["metric", "system"]).value
    assert printed["ter", "B"] > 0
    assert [(s.name, s.ref, s.levels) for s in mme_scores(folder, "en-de")] == [
        ("chrf", "refA", ("sys", "seg")),
        ("ter", "refA", ("sys", "seg")),
    ]
    for metric, sign in (("chrf", 1), ("ter", -1)):
        stored = read_mme_scores(folder, "en-de", metric, "refA", "sys")
        assert stored.system.tolist() == ["A", "B"]  # refA is not scored against itself
        assert stored.score.tolist() == [sign * printed[metric, s] for s in "AB"]
    assert "note: ter-refA is negated in" in err
    assert "chrf-refA is" not in err
    assert score("--data", folder, "--segments") == 0
    table = pd.read_csv(io.StringIO(capsys.readouterr().out)).query("system != 'refA'")
    stored = read_mme_scores(folder, "en-de", "chrf", "refA")
    assert table[["system", "segment", "value"]].values.tolist() == stored.values.tolist()


def test_a_score_that_is_missing_is_none_and_told(texts, tmp_path, tiny_lm, capsys):
    assert score(*texts, "--lm", tiny_lm, "--mme", tmp_path / "mine") == 0
    out, err = capsys.readouterr()
    assert "note: lpp-src is negated in" in err
    assert "note: lpp-src is None for 1 of 6 segments" in err
    stored = read_mme_scores(tmp_path / "mine", "en-de", "lpp", "src", "sys")
    assert stored.score.tolist() == (-pd.read_csv(io.StringIO(out)).value).tolist()
    blank = read_mme_scores(tmp_path / "mine", "en-de", "lpp", "src").query("system == 'B'")
    assert blank.score.isna().tolist() == [False, True]


def test_another_test_set_of_that_name_is_not_overwritten(texts, tmp_path, capsys):
    assert score(*texts, "--mme", tmp_path / "mine") == 0
    assert score(*texts[:-2], "--mme", tmp_path / "mine") == 2
    assert (
        "holds another en-de (other systems, categories); write to a new folder."
        in capsys.readouterr().err
    )


def test_named_data_replaces_the_files(tmp_path, capsys):
    assert score("--data", "teaching", "--mme", tmp_path / "mine") == 0
    assert len(pd.read_csv(io.StringIO(capsys.readouterr().out))) == 9  # refA is a human point
    assert score("--data", tmp_path / "mine", "--mme", tmp_path / "mine") == 0
    # the layout has none
    assert [stored.ref for stored in mme_scores(tmp_path / "mine", "en-de")] == ["refA", "refB"]
    assert score("--data", "teachign") == 2
    assert "did you mean 'teaching'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "texts are wanted: -s SRC and -t HYP [HYP ...], or --data NAME."),
        (["-s", "x"], "texts are wanted: -s SRC and -t HYP [HYP ...], or --data NAME."),
    ],
)
def test_neither_files_nor_data_is_a_usage_error(capsys, arguments, sentence):
    with pytest.raises(SystemExit) as stop:
        score(*arguments)
    assert stop.value.code == 2
    assert capsys.readouterr().err.strip().endswith(sentence)
