import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anhelpers.cli import curve
from anhelpers.data import (
    CandidateSet,
    TestSet,
    add_systems,
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
        {"segment": 1, "text": "two\u2028 lines\r", "tag": "t", "id": 7, "src": "zwei"},
        {"segment": 0, "text": "", "id": "a", "more": [1], "count": 3, "logprob": -1.5},
    )
    cands = read_candidates(path, SRCS)
    assert (cands.segment.tolist(), cands.texts) == ([0, 1], ("", "two\u2028 lines"))
    assert (cands.tags, cands.ids) == (("", "t"), ("a", "7"))
    assert cands.multiplicity.tolist() == [3, 1]
    np.testing.assert_array_equal(cands.logprob, [-1.5, np.nan])
    assert read_candidate_file(path) == (None, cands)


def test_one_object_per_source_is_a_test_set(jsonl):
    more = {"doc": "d", "domain": "news", "lp": "de-en"}
    path = jsonl(
        {"src": "eins", "refs": ["one"], "candidates": ["1", {"text": "I", "tag": "r"}], **more},
        {"src": "zwei", "refs": [None, "two"], "candidates": ["2"], **more},
    )
    test, cands = read_candidate_file(path)
    assert (test.name, test.lp, test.srcs) == ("c", "de-en", SRCS)
    assert test.refs == {"refA": ("one", ""), "refB": ("", "two")}
    assert (test.docs, test.domains) == (("d", "d"), ("news", "news"))
    assert (cands.segment.tolist(), cands.texts) == ([0, 0, 1], ("1", "I", "2"))
    assert cands.tags == ("", "r", "")
    assert read_candidates(path, SRCS) == cands
    with pytest.raises(DataError):
        read_candidate_file(path, lp="de-fr")


@pytest.mark.parametrize(("key", "first"), [("id", 0), ("id", 1), ("segment", 0), ("segment", 1)])
def test_sources_without_texts_are_in_the_order_of_their_numbers(jsonl, key, first, capsys):
    path = jsonl({key: first + 1, "candidates": ["2"]}, {key: first, "candidates": ["1", "I"]})
    assert read_candidates(path, SRCS).texts == ("1", "I", "2")
    assert "in the order of their numbers" in capsys.readouterr().err


@pytest.mark.parametrize("shift", [0, 1])
def test_the_curve_of_shifted_lines_has_a_warning(jsonl, shift, capsys):
    rng = np.random.default_rng(0)
    texts = ["".join(rng.choice([*"abcdefghijklmnopqrstuvwxyz "], 50)) for _ in range(40)]
    files = {"c": texts, "s.en": texts, "r.de": [*texts[shift:], *texts[:shift]]}
    c, src, ref = (str(jsonl(*lines, name=name)) for name, lines in files.items())
    curve._read(c, curve.shared._Texts(sources=src, references=(ref,)), 1)
    assert ("The first candidate does not fit" in capsys.readouterr().err) == bool(shift)


def test_references_have_names_and_the_language_pair_is_inferred(jsonl, capsys):
    refs = {"mine": "one"}
    path = jsonl(
        {"src": "eins", "refs": refs, "candidates": ["1"]}, {"src": "zwei", "candidates": ["2"]}
    )
    test, _ = read_candidate_file(path)
    assert (test.lp, test.refs) == ("und-und", {"mine": ("one", "")})
    assert "und-und" in capsys.readouterr().err
    long = {"src": "Der Hund bellt, und die Katze schläft auf dem alten Dach. " * 9}
    long["candidates"] = [long["src"]]
    long["refs"] = ["The dog barks, and the cat is asleep on the old roof of the house. " * 9]
    assert read_candidate_file(jsonl(long))[0].lp == "de-en"
    assert read_candidate_file(jsonl({"candidates": ["a"]}))[0] is None


GOOD = {"segment": 0, "text": "a"}
CANDIDATES = [  # the second line of a file
    "[1]",
    {"text": "b"},
    {"segment": 1},
    {"segment": 1, "text": 3},
    {"segment": 10**400, "text": "b"},
    {"segment": 2, "text": "b"},
    {"segment": 1, "text": "b", "logprob": 0.5},
    '{"segment": 1, "text": "b", "logprob": -Infinity}',
    {"segment": 1, "text": "b", "src": "drei"},
    {"candidates": ["b"]},
    '{"segment": 1, "text": "\\ud800"}',
]
WHOLE = [  # the second line; the file has no single wrong line
    GOOD,
    {"segment": 1, "text": "b", "count": 0},
    {"segment": 1, "text": "b", "id": "p"},
]
SOURCE = {"src": "zwei", "refs": ["B"], "candidates": ["b"], "doc": "d"}
SOURCES = [
    GOOD,
    SOURCE | {"candidates": []},
    SOURCE | {"candidates": [{"tag": "t"}]},
    SOURCE | {"src": None},
    SOURCE | {"refs": "B"},
    SOURCE | {"doc": None},
]


@pytest.mark.parametrize("second", CANDIDATES, ids=str)
def test_a_malformed_candidate_is_refused_with_its_line(jsonl, second):
    path = jsonl(GOOD, second)
    with pytest.raises(DataError) as error:
        read_candidates(path, SRCS)
    assert (error.value.path, error.value.line) == (path, 2)


@pytest.mark.parametrize("second", SOURCES, ids=str)
def test_a_malformed_source_is_refused_with_its_line(jsonl, second):
    path = jsonl({"src": "eins", "refs": ["A"], "candidates": ["a"], "doc": "d"}, second)
    with pytest.raises(DataError) as error:
        read_candidate_file(path)
    assert (error.value.path, error.value.line) == (path, 2)


@pytest.mark.parametrize("second", WHOLE, ids=str)
def test_incomplete_candidates_are_refused(jsonl, second):
    for lines in ((GOOD, second), (), ({"segment": 10**15, "text": "b"},)):
        with pytest.raises(DataError):
            read_candidates(jsonl(*lines), SRCS)


def test_text_has_k_lines_per_source(jsonl):
    path = jsonl("a", "b", "c", "", name="c.txt")
    cands = read_candidates(path, SRCS, k=2)
    assert (cands.segment.tolist(), cands.texts) == ([0, 0, 1, 1], ("a", "b", "c", ""))
    assert read_candidates(path, k=2) == cands
    for srcs, k in ((SRCS, 3), (None, 3), (SRCS[:1], 2), (None, None), (None, 0)):
        with pytest.raises(DataError):
            read_candidates(path, srcs, k)
    with pytest.raises(DataError):
        read_candidates(jsonl(GOOD, GOOD, {"segment": 1, "text": "b"}), k=2)


def test_json_lines_are_known_by_their_first_line_and_tables_are_refused(jsonl, tmp_path):
    assert read_candidates(jsonl(GOOD, name="c.txt")) == read_candidates(jsonl(GOOD))
    for call in (
        lambda: read_candidates(jsonl("segment,text", "0,a", name="c.csv"), k=1),
        lambda: read_candidates(jsonl(GOOD, name="c.txt"), k=2),
        lambda: CandidateSet([0, 0], ("a", None)),
        lambda: CandidateSet([0, 10**15], ("a", "b")),
    ):
        with pytest.raises(DataError):
            call()
    with pytest.raises(LookupError):
        write_candidates(tmp_path / "c.csv", CandidateSet([0], ("a",)))


NBEST = ["0 ||| a ||| LM= -1 ||| -1", "0 ||| b c ||| LM= -2 ||| -2", "0 ||| a ||| LM= -3 ||| -3"]
NBEST += ["1 |||  |||"]


def test_an_n_best_list_has_each_text_of_a_source_once(jsonl):
    cands = read_candidates(jsonl(*NBEST, name="list.txt"), SRCS)
    assert (cands.segment.tolist(), cands.texts) == ([0, 0, 1], ("a", "b c", ""))
    assert cands.notes == ("1 repeated texts of 4 are left out.",)
    assert read_candidates(jsonl(*NBEST[1:], name="list.txt"), SRCS).notes == ()


@pytest.mark.parametrize(
    ("line", "text"), [(2, "0 || b"), (4, "2 ||| b |||"), (3, ""), (2, "x ||| b |||")]
)
def test_a_damaged_n_best_list_is_refused_with_its_line(jsonl, line, text):
    path = jsonl(*NBEST[: line - 1], text, *NBEST[line:], name="list.txt")
    with pytest.raises(DataError) as error:
        read_candidates(path, SRCS)
    assert (error.value.path, error.value.line) == (path, line)


def test_keys_of_other_programs(jsonl):
    path = jsonl({"src": "eins", "hypotheses": ["a", {"mt": "b"}]}, SOURCE)
    assert read_candidates(path, SRCS).texts == ("a", "b", "b")
    flat = {"segment": 0, "mt": "a"}, {"segment": 1, "hypothesis": "b"}
    assert read_candidates(jsonl(*flat), SRCS).texts == ("a", "b")
    for two in (flat[1] | {"text": "c"}, flat[1] | {"mt": "c"}):
        with pytest.raises(DataError, match="line 2: got two of text, mt, hypothesis"):
            read_candidates(jsonl(flat[0], two), SRCS)


def test_a_table_and_its_parquet_are_the_same(tmp_path):
    columns = {"segment": [1, 0], "text": ["b\u2028", "a"], "tag": [None, "t"], "id": [10, 11]}
    frame = pd.DataFrame(columns)
    cands = read_candidates(frame)
    assert (cands.texts, cands.tags, cands.ids) == (("a", "b\u2028"), ("t", ""), ("11", "10"))
    frame.to_parquet(tmp_path / "c.parquet")
    assert read_candidates(tmp_path / "c.parquet", SRCS) == cands
    (tmp_path / "d.parquet").write_text("hello")
    for column in ("text", "logprob"):
        nested = frame.assign(**{column: [["a", "b"]] * len(frame)})
        nested.to_parquet(tmp_path / f"{column}.parquet")
    for name in ("d.parquet", "e.parquet", "text.parquet", "logprob.parquet"):
        with pytest.raises(DataError) as error:
            read_candidates(tmp_path / name)
        assert error.value.path == tmp_path / name
    with pytest.raises(DataError, match="line 2: text: got 'a\\\\x00', expected str"):
        read_candidates(frame.assign(text=["a", "a\0"]))


PLAIN = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
TEXT = st.text(PLAIN).map(lambda text: text.rstrip("\r\n"))
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


def test_systems_are_candidates_without_their_blanks(test):
    cands = from_systems(test)
    assert (cands.segment.tolist(), cands.tags) == ([0, 0, 0, 1, 1], ("X", "Y", "Z", "Y", "Z"))
    assert cands.texts == ("x", "x", "z", "y", "y")
    assert from_systems(test, ["Z", "Y"]).tags == ("Z", "Y", "Z", "Y")
    copied = TestSet("t", "en-de", SRCS, {"ref": ["x", "y"]}, test.systems)
    assert set(from_systems(copied).tags) == {"X", "Z"}
    for names in (["X"], []):
        with pytest.raises(DataError):
            from_systems(test, names)
    with pytest.raises(UnknownName):
        from_systems(test, ["W"])


def test_a_sample_keeps_at_most_k_of_each_source():
    cands = CandidateSet(np.array([0, 0, 0, 1, 2, 2]), tuple("abcdef"))
    fewer = sample_candidates(cands, 2, np.random.default_rng(0))
    assert fewer.n_candidates.tolist() == [2, 1, 2]
    assert set(fewer.texts) < set(cands.texts)
    drawn = {sample_candidates(cands, 1, np.random.default_rng(s)).texts[0] for s in range(50)}
    assert drawn == {"a", "b", "c"}


def test_json_lines_with_a_blank_end_serve_as_candidates_and_as_a_system(tmp_path):
    texts = [{"src": "x", "candidates": ["a", "b"], "refs": ["a"]}]
    (tmp_path / "c.jsonl").write_text("\n".join(map(json.dumps, texts)) + "\n\n")
    test, cands = read_candidate_file(tmp_path / "c.jsonl", "en-de")
    assert (test.refs, cands.texts) == ({"refA": ("a",)}, ("a", "b"))
    (tmp_path / "m.jsonl").write_text('{"id": 1, "mt": "c"}\n')
    assert add_systems(test, [tmp_path / "m.jsonl"]).systems == {"m": ("c",)}
    with pytest.raises(DataError, match="empty path"):
        add_systems(test, ["m="])
