import math

import pytest

from anhelpers.data import read_mme, read_mme_scores
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
    files = {name: first[name] + FILES[name] for name in first} | {"documents/en-de.docs": "canary canary\nn d\nn d\n"}
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
        UnknownName, match=r"unknown metric score at level seg 'chrF-refB'.*known: XCOMET-QE-src, chrF-refA"
    ):
        read_mme_scores(tree(), "en-de", "chrF", "refB")
    with pytest.raises(UnknownName, match="unknown human score at level sys 'mqm'; known: none"):
        read_mme_scores(tree(), "en-de", "mqm", level="sys")
    with pytest.raises(UnknownName, match="unknown level 'doc'"):
        read_mme_scores(tree(), "en-de", "mqm", level="doc")
