"""Folders of mt-metrics-eval: texts and scores, read and written."""

import math
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anhelpers.data import TestSet, mme_scores, read_mme_scores, write_mme, write_mme_scores
from anhelpers.data.wmt import NO_TRANSLATION, _read_mme, _StoredScores, is_mme
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
    "human-scores/en-de.mqm.seg.score": "refA\tNone\nX\t-5\nrefA\t0\nX\tNone\n",
}
SMALL = TestSet(
    "small",
    "en-de",
    ("One.", "Two.", "Three."),
    refs={"refA": ("Eins.", "Zwei.", "Drei.")},
    systems={
        "GPT-4.5": ("Eins", "", "Drei"),
        "refA": ("Eins.", "Zwei.", "Drei."),
        "M": ("1", "2", "3"),
    },
    docs=("d1", "d1", "d2"),
    domains=("news", "news", "speech"),
    categories={"GPT-4.5": "LLM", "refA": "human"},
)


@pytest.fixture
def tree(tmp_path):
    def make(**changes: str):
        for name, text in (FILES | changes).items():
            path = tmp_path / "wmt23" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, newline="")
        return tmp_path / "wmt23"

    return make


def test_texts_of_a_folder(tree, tmp_path):
    assert is_mme(tree())
    assert not is_mme(tmp_path)
    test = _read_mme(tree(**{"systems.tsv": "system\tcategory\nX\tLLM\nY\tMT\n"}), "en-de")
    assert (test.name, test.srcs, test.refs) == ("wmt23/en-de", ("a", "b"), {"refA": ("A", "B")})
    assert test.categories == {"X": "LLM", "refA": "human"}
    assert (test.domains, test.docs) == (("news", "news"), ("d1", "d1"))
    with pytest.raises(UnknownName, match="en-de"):
        _read_mme(tree(), "en-fr")


def test_scores_are_tidy(tree):
    table = read_mme_scores(tree(), "en-de", "chrF", "refA")
    assert table.to_dict("list") == {"system": ["X", "X"], "segment": [0, 1], "score": [1.5, 2.0]}
    quality = read_mme_scores(tree(), "en-de", "XCOMET-QE", "src")
    assert quality.score.tolist() == [0.1, 0.2, 0.3, -0.4]
    table = read_mme_scores(tree(), "en-de", "mqm")  # missing and interleaved ones
    assert table.system.tolist() == ["refA", "refA", "X", "X"]
    assert table.segment.tolist() == [0, 1, 0, 1]
    assert [None if math.isnan(s) else s for s in table.score] == [None, 0, -5, None]


def test_a_canary_has_a_line_and_no_score(tree):
    first = dict.fromkeys(list(FILES)[:4], "CANARY GUID 1\n")
    files = {name: first[name] + FILES[name] for name in first}
    files["documents/en-de.docs"] = "canary canary\nn d\nn d\n"
    root = tree(**files, **{"metric-scores/en-de/chrF-refA.seg.score": "X\t99\nX\t1\nX\t2\n"})
    assert _read_mme(root, "en-de").srcs == ("a", "b")
    table = read_mme_scores(root, "en-de", "chrF", "refA")
    assert (table.segment.tolist(), table.score.tolist()) == ([0, 1], [1, 2])
    path = write_mme_scores(root, "en-de", "m", [[1.5], [2.5]], systems=["X"], ref="src")
    assert path.read_text() == "X\tNone\nX\t1.5\nX\t2.5\n"
    assert read_mme_scores(root, "en-de", "m", "src").score.tolist() == [1.5, 2.5]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("X\t1\n", "score: X"),
        ("X\t1\nZ\t1\n", "line 2"),
        ("X\t1\nX\tone\n", "line 2"),
        ("X\tinf\n", "line 1"),
    ],
)
def test_bad_scores_are_refused(tree, text, named):
    root = tree(**{"metric-scores/en-de/chrF-refA.seg.score": text})
    with pytest.raises(DataError, match=named):
        read_mme_scores(root, "en-de", "chrF", "refA")


def test_unknown_scores_are_refused(tree):
    with pytest.raises(UnknownName, match="chrF-refA"):
        read_mme_scores(tree(), "en-de", "chrF", "refB")


def test_stored_scores_are_listed_with_their_levels(tree):
    names = ["metric-scores/en-de/a-b.2-refA.refB.domain", "human-scores/en-de.mqm.1.sys"]
    assert mme_scores(tree(**{f"{name}.score": "" for name in names}), "en-de") == [
        _StoredScores("metric", "XCOMET-QE", "src", ("seg",)),
        _StoredScores("metric", "a-b.2", "refA.refB", ("domain",)),
        _StoredScores("metric", "chrF", "refA", ("sys", "seg")),
        _StoredScores("human", "mqm.1", None, ("sys",)),
        _StoredScores("human", "mqm", None, ("seg",)),
    ]


# -- writing -----------------------------------------------------------------------------------------------------------

LINES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n\r\0")).filter(
    lambda text: not text.lower().startswith(("\ufeff", "canary guid", "<"))
)
NAMES = st.from_regex(r"[A-Za-z0-9_+(][A-Za-z0-9_.+()äö-]{0,9}", fullmatch=True)
REFS = st.from_regex(r"ref[A-Z_]{1,3}", fullmatch=True)


@st.composite
def sets(draw):
    """A test set with odd texts."""
    size = draw(st.integers(0, 4))
    texts = st.tuples(*[LINES] * size)
    systems = draw(st.dictionaries(NAMES | REFS, texts, max_size=3))
    refs = draw(st.dictionaries(REFS, texts, max_size=2))
    categories = {s: draw(st.sampled_from(["LLM", "MT", "human", "unknown"])) for s in systems}
    docs = tuple(f"doc-{i // 2}" for i in range(size))
    return TestSet("any", "en-de", draw(texts), refs, systems, docs, ("news",) * size, categories)


def content(test):
    """All of a test set that the folder holds, in any order of its systems."""
    said = {name: kind for name, kind in test.categories.items() if kind != "unknown"}
    categories = dict.fromkeys(test.systems, "unknown") | dict.fromkeys(test.copies, "human") | said
    texts = (test.srcs, test.refs, test.systems, test.docs, test.domains)
    return (test.lp, test.reference, *texts, categories)


def read_otherwise(path):
    """Lines as mt-metrics-eval reads them: Python's text mode, white space at the end cut off."""
    with open(path, encoding="utf-8") as file:
        return [line.rstrip() for line in file]


@given(sets())
def test_a_written_set_is_read_back_and_other_programs_see_its_lines(test):
    with tempfile.TemporaryDirectory() as place:
        folder = write_mme(test, Path(place) / "mine")
        again = _read_mme(folder, "en-de", reference=test.reference)
        assert content(again) == content(test)
        assert write_mme(again, folder) == folder
        texts = {f"sources/{test.lp}.txt": test.srcs}
        for ref, lines in test.refs.items():
            texts[f"references/{test.lp}.{ref}.txt"] = [line or NO_TRANSLATION for line in lines]
        texts |= {f"system-outputs/{test.lp}/{s}.txt": lines for s, lines in test.systems.items()}
        for name, lines in texts.items():
            assert read_otherwise(folder / name) == [line.rstrip() for line in lines]
        rows = [tuple(line.split()) for line in read_otherwise(folder / "documents" / "en-de.docs")]
        assert rows == list(zip(test.domains, test.docs, strict=True))


SCORES = st.floats(allow_infinity=False) | st.just(math.nan)


@given(
    NAMES,
    st.lists(st.tuples(SCORES, SCORES, SCORES), min_size=2, max_size=2),
    st.sampled_from([None, "refA", "src"]),
)
def test_scores_are_read_back_to_the_last_bit(metric, columns, ref):
    systems, values = ["M", "GPT-4.5"], np.array(columns).T
    with tempfile.TemporaryDirectory() as place:
        folder = write_mme(SMALL, place)
        path = write_mme_scores(folder, "en-de", metric, values, systems=systems, ref=ref)
        table = read_mme_scores(folder, "en-de", metric, ref)
        assert table.system.tolist() == [system for system in systems for _ in range(3)]
        np.testing.assert_array_equal(table.score.to_numpy().reshape(2, 3).T, values)
        missing = [score == "None" for _, score in map(str.split, read_otherwise(path))]
        assert missing == np.isnan(values.T.ravel()).tolist()
        write_mme_scores(folder, "en-de", metric, values[0], systems=systems, ref=ref, level="sys")
        rows = Path(str(path).replace(".seg.", ".sys.")).read_text("utf-8").splitlines()
        known = [float(row.split("\t")[1].replace("None", "nan")) for row in rows]
        np.testing.assert_array_equal(known, values[0])


@pytest.mark.parametrize(
    "change",
    [
        {"srcs": ("a", "b\nc", "d")},
        {"refs": {"ref-A": ("a", "b", "c")}},
        {"systems": {"My System": ("a", "b", "c")}},
        {"docs": ("a", "b c", "d")},
        {"lp": "und-de"},
    ],
)
def test_a_set_that_the_layout_cannot_hold_is_refused(tmp_path, change):
    with pytest.raises(DataError):
        write_mme(replace(SMALL, **{"categories": {}, **change}), tmp_path / "new")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    "change",
    [
        {"srcs": ("One!", "Two.", "Three.")},
        {"systems": {**SMALL.systems, "N": ("", "", "")}},
        {"categories": {"M": "MT"}},
    ],
)
def test_another_set_in_the_folder_is_left_alone(tmp_path, change):
    write_mme(SMALL, tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(DataError, match="en-de"):
        write_mme(replace(SMALL, **change), tmp_path)
    assert before == {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}


def test_language_pairs_share_a_folder_and_the_categories_of_their_systems(tmp_path):
    kinds = {"GPT-4.5": "LLM", "refA": "unknown", "M": "MT"}
    french = replace(SMALL, lp="en-fr", refs={}, categories=kinds)
    write_mme(french, tmp_path)
    write_mme(SMALL.without(["M"]), tmp_path)
    assert _read_mme(tmp_path, "en-fr").categories == french.categories
    assert _read_mme(tmp_path, "en-de").categories == {"GPT-4.5": "LLM", "refA": "human"}


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"scores": [[1.0], [2.0]]}, DataError),
        ({"scores": [[1.0], [math.inf], [0.0]]}, DataError),
        ({"systems": ["N"]}, UnknownName),
        ({"systems": ["M", "M"], "scores": [[1, 1]] * 3}, DataError),
        ({"level": "doc"}, UnknownName),
    ],
)
def test_scores_that_do_not_fit_the_set_are_refused(tmp_path, change, error):
    fitting = {"lp": "en-de", "metric": "m", "scores": [[1.0], [2.0], [3.0]], "systems": ["M"]}
    with pytest.raises(error):
        write_mme_scores(write_mme(SMALL, tmp_path), **(fitting | change))
    assert not list(tmp_path.rglob("*.score"))
