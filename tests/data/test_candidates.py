import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anhelpers.data import (
    CandidateSet,
    TestSet,
    from_systems,
    read_candidate_file,
    read_candidates,
    sample_candidates,
    write_candidates,
)
from anhelpers.errors import DataError, UnknownName

SRCS = ("eins", "zwei")


@pytest.fixture
def jsonl(tmp_path):
    def make(*objects: object, name: str = "c.jsonl"):
        path = tmp_path / name
        lines = [o if isinstance(o, str) else json.dumps(o, ensure_ascii=False) for o in objects]
        path.write_text("".join(line + "\n" for line in lines), encoding="utf-8", newline="")
        return path

    return make


@pytest.fixture
def test():
    systems = {"X": ["x", ""], "Y": ["x", "y"], "Z": ["z", "y"]}
    return TestSet("tiny", "en-de", SRCS, systems=systems)


def test_one_object_per_candidate_in_any_order(jsonl):
    path = jsonl(
        {"segment": 1, "text": "two\u2028 lines", "tag": "t", "id": 7, "src": "zwei"},
        {"segment": 0, "text": "", "id": "a", "more": [1]},
    )
    cands = read_candidates(path, SRCS)
    assert (cands.segment.tolist(), cands.texts) == ([0, 1], ("", "two\u2028 lines"))
    assert (cands.tags, cands.ids) == (("", "t"), ("a", "7"))
    assert cands.notes == ("1 blank candidate of 2.", "keys that are not read: more.")
    assert read_candidate_file(path) == (None, cands)


def test_a_large_file_says_how_far_it_is_read(jsonl, monkeypatch, capsys):
    monkeypatch.setattr("anhelpers.progress.SECONDS_BETWEEN_LINES", 0.0)
    monkeypatch.setattr("anhelpers.data.lines.PART", 2)
    path = jsonl(*({"segment": i // 2, "text": f"{i}"} for i in range(5)))
    assert len(read_candidates(path)) == 5
    assert capsys.readouterr().err.splitlines() == [
        "reading c.jsonl: 2 of 5 lines (40%)",
        "reading c.jsonl: 4 of 5 lines (80%)",
    ]


def test_one_object_per_source_is_self_contained(jsonl):
    path = jsonl(
        {
            "src": "eins",
            "refs": ["one"],
            "candidates": ["1", {"text": "I", "tag": "roman"}],
            "doc": "d",
            "domain": "news",
        },
        {"src": "zwei", "refs": ["two"], "candidates": ["2"], "doc": "d", "domain": "news"},
    )
    test, cands = read_candidate_file(path, lp="de-en")
    assert (test.name, test.lp, test.srcs, test.refs) == (
        "c",
        "de-en",
        SRCS,
        {"refA": ("one", "two")},
    )
    assert (test.docs, test.domains, test.notes) == (("d", "d"), ("news", "news"), ())
    assert (cands.segment.tolist(), cands.texts, cands.tags) == (
        [0, 0, 1],
        ("1", "I", "2"),
        ("", "roman", ""),
    )
    assert read_candidates(path, SRCS) == cands


def test_the_language_pair_comes_from_the_file_or_is_undetermined(jsonl):
    record = {"src": "eins", "refs": {"mine": "one"}, "candidates": ["1"]}
    test, _ = read_candidate_file(jsonl(record | {"lp": "de-en"}))
    assert (test.lp, list(test.refs)) == ("de-en", ["mine"])
    test, _ = read_candidate_file(jsonl(record))
    assert test.lp == "und-und"
    assert "there is too little text to tell the source and the target language" in test.notes[0]
    with pytest.raises(DataError, match="line 1: \"lp\" is 'de-en', but 'de-fr' is wanted"):
        read_candidate_file(jsonl(record | {"lp": "de-en"}), lp="de-fr")
    with pytest.raises(DataError, match="unknown language pair 'xx-yy'"):
        read_candidate_file(jsonl(record | {"lp": "xx-yy"}))


GOOD = {"segment": 0, "text": "a"}


@pytest.mark.parametrize(
    ("second", "sentence"),
    [
        ("{", r"c\.jsonl, line 2: bad JSON \(.*\); one object per line is wanted"),
        ("", "line 2: bad JSON"),
        ("[1]", r"line 2: \[1\] is no JSON object"),
        ({"text": "b"}, r'line 2: a candidate without a source; give its "segment"'),
        ({"segment": 1}, r'line 2: "text" is missing, and a text is wanted'),
        ({"segment": 1, "text": 3}, r'line 2: "text" is 3 \(int\), and a text is wanted'),
        (
            {"segment": "1", "text": "b"},
            r"""line 2: "segment" is '1' \(str\), and a whole number is wanted""",
        ),
        ({"segment": True, "text": "b"}, r'line 2: "segment" is True \(bool\)'),
        ({"segment": 1.0, "text": "b"}, r'line 2: "segment" is 1\.0 \(float\)'),
        ({"segment": 1, "text": "b", "tag": 5}, r'line 2: "tag" is 5 \(int\)'),
        (
            {"segment": 1, "text": "b", "count": 0},
            r'line 2: "count" is 0; a candidate was drawn at least once',
        ),
        (
            {"segment": 1, "text": "b", "count": 2.0},
            r'line 2: "count" is 2\.0 \(float\), and a whole number is wanted',
        ),
        ({"segment": 1, "text": "b", "count": True}, r'line 2: "count" is True \(bool\)'),
        (
            {"segment": 1, "text": "b", "logprob": 0.5},
            'line 2: "logprob" is 0.5; a natural-log probability is a number',
        ),
        (
            {"segment": 1, "text": "b", "logprob": "-1"},
            """line 2: "logprob" is '-1'; a natural-log""",
        ),
        (
            '{"segment": 1, "text": "b", "logprob": -Infinity}',
            'line 2: "logprob" is -inf; a natural-log',
        ),
        (
            {"segment": 1, "text": "b", "id": "p"},
            r"""line 2: "id" is 'p', and None at the first candidate""",
        ),
        (
            {"segment": 1, "text": "b", "src": "drei"},
            r"""line 2: "src" is 'drei', but source 1 is 'zwei'""",
        ),
        (
            {"segment": 2, "text": "b"},
            r"line 2: segment 2 does not exist; there are sources 0 to 1",
        ),
        ({"segment": -1, "text": "b"}, r"line 2: segment -1 does not exist"),
        (
            {"candidates": ["b"]},
            r"line 2: this object is a source with its candidates, but the first is one candidate",
        ),
        (
            '{"segment": 1, "text": "\\ud800"}',
            r'line 2: "text" holds U\+D800, half of a surrogate pair',
        ),
        (GOOD, r"c\.jsonl: source 1 of 2 has no candidate"),
    ],
)
def test_a_bad_candidate_is_told_with_file_and_line(jsonl, second, sentence):
    with pytest.raises(DataError, match=sentence):
        read_candidates(jsonl(GOOD, second), SRCS)


@pytest.mark.parametrize(
    ("second", "sentence"),
    [
        ({"src": "zwei", "refs": ["B"], "candidates": []}, "line 2: source 1 has no candidate"),
        (
            {"src": "zwei", "refs": ["B"], "candidates": "b"},
            r"""line 2: "candidates" is 'b' \(str\), and a list is wanted""",
        ),
        (
            {"src": "zwei", "refs": ["B"], "candidates": [3]},
            "line 2: candidate 3 is neither a text nor an object",
        ),
        ({"src": "zwei", "refs": ["B"], "candidates": [{"tag": "t"}]}, 'line 2: "text" is missing'),
        ({"refs": ["B"], "candidates": ["b"]}, 'line 2: "src" is missing here, and line 1 has it'),
        ({"src": "zwei", "candidates": ["b"]}, 'line 2: "refs" is missing here'),
        (
            {"src": "zwei", "refs": "B", "candidates": ["b"]},
            r"""line 2: "refs" is 'B' \(str\), and a list or an object""",
        ),
        ({"src": "zwei", "refs": [4], "candidates": ["b"]}, r'line 2: "refA" is 4 \(int\)'),
        (
            {"src": "zwei", "refs": {"refA": "B", "mine": "C"}, "candidates": ["b"]},
            "line 2: reference 'mine', but refA in the lines before; name it there too, null where it is missing",
        ),
        ({"src": 2, "refs": ["B"], "candidates": ["b"]}, r'line 2: "src" is 2 \(int\)'),
        (
            {"src": "zwei", "refs": ["B"], "candidates": ["b"], "segment": 5},
            'line 2: "segment" is 5, but this is source 1',
        ),
        (
            {"src": "zwei", "refs": ["B"], "candidates": ["b"], "doc": "d"},
            'line 1: "doc" is missing here, and line 2 has it',
        ),
        (GOOD, "line 2: this object is one candidate, but the first is a source"),
    ],
)
def test_a_bad_source_is_told_with_file_and_line(jsonl, second, sentence):
    with pytest.raises(DataError, match=sentence):
        read_candidate_file(jsonl({"src": "eins", "refs": ["A"], "candidates": ["a"]}, second))


def test_references_without_sources_and_an_empty_file_are_told(jsonl):
    with pytest.raises(DataError, match='line 1: there are "refs" and no "src"'):
        read_candidate_file(jsonl({"refs": ["A"], "candidates": ["a"]}))
    with pytest.raises(DataError, match="holds no candidates"):
        read_candidates(jsonl())
    assert read_candidate_file(jsonl({"candidates": ["a"]}))[0] is None


def test_ids_are_given_once(jsonl):
    with pytest.raises(DataError, match=r"line 2: id '7' is used twice"):
        read_candidates(jsonl(GOOD | {"id": 7}, GOOD | {"id": "7"}))
    with pytest.raises(DataError, match=r'line 1: "id" is 1\.5'):
        read_candidates(jsonl(GOOD | {"id": 1.5}))


def test_a_gap_or_a_huge_segment_names_the_first_source_without_candidates(jsonl):
    with pytest.raises(DataError, match="source 1 of 1000000000000001 has no candidate"):
        read_candidates(jsonl(GOOD, {"segment": 10**15, "text": "b"}))


def test_text_has_k_lines_per_source(jsonl):
    path = jsonl("a", "b", "c", "", name="c.txt")
    cands = read_candidates(path, SRCS, k=2)
    assert (cands.segment.tolist(), cands.texts) == ([0, 0, 1, 1], ("a", "b", "c", ""))
    assert read_candidates(path, k=2) == cands
    with pytest.raises(
        DataError, match=r"c\.txt: has 4 lines, expected 2 sources × k = 3, 6 lines"
    ):
        read_candidates(path, SRCS, k=3)
    with pytest.raises(DataError, match=r"c\.txt: has 4 lines, expected a multiple of k = 3"):
        read_candidates(path, k=3)
    with pytest.raises(DataError, match="how many lines each source has is not said"):
        read_candidates(path)


def test_k_is_checked_where_it_is_not_needed(jsonl):
    path = jsonl(GOOD, GOOD, {"segment": 1, "text": "b"})
    assert len(read_candidates(path)) == 3
    with pytest.raises(DataError, match="source 1 has 1 candidates, expected k = 2"):
        read_candidates(path, k=2)


def test_a_table_and_its_parquet_are_the_same(tmp_path):
    frame = pd.DataFrame(
        {"segment": [1, 0], "text": ["b\u2028", "a"], "tag": [None, "t"], "id": [10, 11]}
    )
    cands = read_candidates(frame)
    assert (cands.texts, cands.tags, cands.ids) == (("a", "b\u2028"), ("t", ""), ("11", "10"))
    frame.to_parquet(tmp_path / "c.parquet")
    assert read_candidates(tmp_path / "c.parquet", SRCS) == cands
    assert read_candidate_file(tmp_path / "c.parquet") == (None, cands)


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        ({"segment": [0]}, "DataFrame: the table has no column 'text'; columns: segment"),
        ({"segment": [], "text": []}, "DataFrame: the table has no rows"),
        (
            {"segment": [0, None], "text": ["a", "b"]},
            r'DataFrame: row 0: "segment" is 0\.0 \(float\)',
        ),
        ({"segment": [0, 0], "text": ["a", None]}, 'DataFrame: row 1: "text" is missing'),
        ({"segment": [0, 0], "text": ["a", 5]}, r'DataFrame: row 1: "text" is 5 \(int\)'),
    ],
)
def test_a_bad_table_is_told(columns, sentence):
    with pytest.raises(DataError, match=sentence):
        read_candidates(pd.DataFrame(columns))


def test_what_is_no_parquet_is_told(tmp_path):
    (tmp_path / "c.parquet").write_text("hello")
    with pytest.raises(DataError, match=r"c\.parquet: this is no parquet file"):
        read_candidates(tmp_path / "c.parquet")
    with pytest.raises(DataError, match=r"did you mean 'c\.parquet'"):
        read_candidates(tmp_path / "d.parquet")


TEXT = st.text(st.characters(exclude_categories=["Cs"])).filter(
    lambda text: not text.endswith(("\r", "\r\n"))
)
COUNTS, LOGPROBS = st.integers(1, 2**40), st.floats(-1e6, 0) | st.just(np.nan)
SETS = st.lists(st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=4), min_size=1, max_size=5)


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
@given(SETS, st.booleans(), st.data())
def test_writing_and_reading_is_the_identity(tmp_path_factory, ending, sources, with_ids, data):
    rows = [(i, *candidate) for i, candidates in enumerate(sources) for candidate in candidates]
    segments, texts, tags = zip(*rows, strict=True)
    columns = (
        st.none() | st.lists(kind, min_size=len(rows), max_size=len(rows))
        for kind in (COUNTS, LOGPROBS)
    )
    numbers = [data.draw(column) for column in columns]
    ids = [f"\u2028{i}" for i in range(len(rows))] if with_ids else None
    cands = CandidateSet(segments, texts, tags, ids, (), *numbers)
    path = write_candidates(tmp_path_factory.mktemp("candidates") / f"c.{ending}", cands)
    assert read_candidates(path) == cands


def test_only_what_is_known_is_written(tmp_path):
    cands = CandidateSet(
        [0, 0, 1], list("abc"), multiplicity=[2, 1, 1], logprob=[-0.5, np.nan, -1e-3]
    )
    lines = write_candidates(tmp_path / "c.jsonl", cands).read_text().splitlines()
    assert lines == [
        '{"segment": 0, "text": "a", "count": 2, "logprob": -0.5}',
        '{"segment": 0, "text": "b"}',
        '{"segment": 1, "text": "c", "logprob": -0.001}',
    ]
    table = pd.read_parquet(write_candidates(tmp_path / "c.parquet", cands))
    assert table["count"].tolist() == [2, 1, 1]
    with pytest.raises(
        DataError, match=r"d\.parquet: character U\+D800 cannot be written as UTF-8"
    ):
        write_candidates(tmp_path / "d.parquet", CandidateSet([0], ["\ud800"]))


def test_candidates_of_a_source_have_counts_and_log_probabilities(jsonl):
    some = [{"text": "a", "count": 3, "logprob": -1.5}, "b", {"text": "c", "logprob": None}]
    cands = read_candidates(jsonl({"candidates": some}))
    assert cands.multiplicity.tolist() == [3, 1, 1]
    np.testing.assert_array_equal(cands.logprob, [-1.5, np.nan, np.nan])


def test_systems_are_candidates_without_their_blanks(test):
    cands = from_systems(test)
    assert (cands.segment.tolist(), cands.tags) == ([0, 0, 0, 1, 1], ("X", "Y", "Z", "Y", "Z"))
    assert (cands.texts, cands.notes) == (
        ("x", "x", "z", "y", "y"),
        ("1 blank hypotheses of 6 are left out.",),
    )


def test_equal_outputs_can_be_merged(test):
    cands = from_systems(test, distinct=True)
    assert (cands.texts, cands.tags) == (("x", "z", "y"), ("X | Y", "Z", "Y | Z"))


def test_systems_can_be_chosen_and_must_answer_every_source(test):
    assert from_systems(test, ["Z", "Y"]).tags == ("Z", "Y", "Z", "Y")
    with pytest.raises(DataError, match="tiny: source 1 has no candidate"):
        from_systems(test, ["X"])
    with pytest.raises(UnknownName, match="unknown system 'W'"):
        from_systems(test, ["W"])
    with pytest.raises(DataError, match="of the 3 systems of tiny none is named"):
        from_systems(test, [])
    with pytest.raises(DataError, match="tiny has no systems"):
        from_systems(TestSet("tiny", "en-de", SRCS))


def test_a_sample_keeps_at_most_k_of_each_source():
    cands = CandidateSet(np.array([0, 0, 0, 1, 2, 2]), tuple("abcdef"))
    fewer = sample_candidates(cands, 2, np.random.default_rng(0))
    assert fewer.n_candidates.tolist() == [2, 1, 2]
    assert set(fewer.texts) < set(cands.texts)
    assert "1 of 6 candidates" in fewer.notes[-1]
    drawn = {sample_candidates(cands, 1, np.random.default_rng(s)).texts[0] for s in range(50)}
    assert drawn == {"a", "b", "c"}
