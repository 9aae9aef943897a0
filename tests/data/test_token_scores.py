"""Files of log-probabilities in every layout, and pairs of them."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anhelpers.data.token_scores import _read_token_scores, read_score_pair
from anhelpers.errors import AnhelpersError, DataError, UnknownName

LN2 = math.log(2)


@pytest.fixture
def write(tmp_path):
    """Writes text, or rows as JSONL, to a file; returns its path."""

    def make(text, name="A.scores"):
        jsonl = text if isinstance(text, str) else "".join(json.dumps(r) + "\n" for r in text)
        (tmp_path / name).write_text(jsonl, "utf-8")
        return tmp_path / name

    return make


def test_sums_tokens_and_missing_sentences_of_jsonl(write):
    rows = [
        {"tokens": ["ein", "</s>"], "logprobs": [-1.5, -0.5], "id": 7, "doc": "d", "text": "Ein"},
        {"token_logprobs": [-1, -2, -3], "id": 8, "doc": "d", "text": "b"},
        {"logprobs": None, "id": "x", "doc": "e", "text": "c"},
        {"logprob": math.nan, "id": "y", "doc": "e", "text": "d"},
    ]
    found = _read_token_scores(write(rows))
    np.testing.assert_array_equal(found.logprobs, [-2, -6, np.nan, np.nan])
    assert found.tokens == (("ein", "</s>"), 3, None, None)
    assert (found.ids, found.docs) == (("7", "8", "x", "y"), ("d", "d", "e", "e"))
    assert found.texts == ("Ein", "b", "c", "d")
    assert (found.unit, found.layout, len(found)) == ("nats", "jsonl", 4)


@pytest.mark.parametrize(
    "text",
    [
        [{"logprobs": [-1, -2], "unit": "bits"}],
        [{"logprobs_bits": [-1, -2]}],
        [{"logprob_bits": -3, "unit": "bits"}],
        "logprob_bits\n-1 -2\n",
    ],
)
def test_a_declared_unit_counts_and_must_not_contradict(write, text):
    path = write(text)
    for unit in (None, "bits"):
        np.testing.assert_allclose(_read_token_scores(path, unit).logprobs, [-3 * LN2], rtol=1e-15)
    with pytest.raises(DataError, match=r"A\.scores, line 1"):
        _read_token_scores(path, "nats")
    with pytest.raises(UnknownName, match="bits"):
        _read_token_scores(path, "bit")


def test_numbers_are_sums_or_scores_of_tokens(write):
    found = _read_token_scores(write("-1.5\nnan\n-0\n\n"))
    np.testing.assert_array_equal(found.logprobs, [-1.5, np.nan, 0])
    assert found.tokens == (None, None, None)
    found = _read_token_scores(write("logprob\n-1.5 -1\n-2\nnan\n"), "bits")
    np.testing.assert_array_equal(found.logprobs, np.array([-2.5, -2, np.nan]) * LN2)
    assert found.tokens == (2, 1, None)
    assert _read_token_scores(write("1e-6 0\n")).logprobs.tolist() == [0.0]  # rounding


FAIRSEQ = """\
INFO | fairseq_cli.generate | loaded
S-2\tthe cat
T-2\tdie Kat@@ ze
H-2\t-0.75\tdie Kat@@ ze
D-2\t-0.75\tdie Katze
P-2\t-0.5000 -0.5000 -1.0000 -1.0000
S-0\tyes
T-0\tja
H-0\t-0.5\tja doch
P-0\t-0.5000 -0.5000
Generate test with beam=1: BLEU4 = 100.00
"""


def test_fairseq_has_its_ids_and_base_2(write, capsys):
    path = write(FAIRSEQ)
    found = _read_token_scores(path)
    np.testing.assert_allclose(found.logprobs, [-LN2, np.nan, -3 * LN2], rtol=1e-15)
    assert found.tokens == (2, None, ("die", "Kat@@", "ze", "</s>"))  # "ja doch" does not fit
    assert (found.unit, found.layout, found.texts) == (
        "bits",
        "fairseq",
        ("ja", "", "die Kat@@ ze"),
    )
    np.testing.assert_array_equal(_read_token_scores(path, "nats").logprobs, [-1, np.nan, -3])
    mt, lm, _ = read_score_pair(path, write("-1\n-2\n-3\n", "lm"))
    assert (mt.unit, lm.unit, mt.logprobs[0]) == ("bits", "nats", found.logprobs[0])
    assert "in bits and lm in nats: all scores are converted to nats." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("-1\nx\n", "line 2: got 'x'"),
        ("-1\n-inf\n", "line 2"),
        ("-1\n2.5\n", "line 2: got 2.5"),
        ("-30\nnan\n-1 -30.5\n-20\n", "line 3: got 2 scores"),
        ([{"score": 1}], "line 1"),
        ([{"logprobs": [None, -1]}], "line 1: got None"),
        ("-1e308 -1e308\n", "line 1: got -1e\\+308"),
        ([{"logprobs": [-1], "tokens": ["a", "b"]}], "line 1"),
        ([{"logprobs_bits": [-1], "unit": "nats"}], "line 1"),
        ([{"logprobs_nats": [-1]}, {"logprobs_bits": [-1]}], "line 2"),
        ([{"logprobs": -1, "id": 1}, {"logprobs": -1, "id": 1}], "line 2"),
        ("H-0\t-1\ta\n", "P-<id>"),
        ("P-0\t-1\nP-0\t-2\n", "line 2"),
    ],
)
def test_errors_name_file_line_and_value(write, text, named):
    with pytest.raises(DataError, match=r"A\.scores.*" + named):
        _read_token_scores(write(text))


@given(st.text(alphabet='-1.5 \n\t{}[]":,logprbsPTH0ané', max_size=60))
def test_any_text_is_scores_or_an_error(tmp_path_factory, text):
    path = tmp_path_factory.mktemp("any") / "x"
    path.write_text(text, "utf-8")
    try:
        found = _read_token_scores(path)
    except AnhelpersError:
        return
    assert len(found.tokens) == len(found.logprobs)
    assert not (found.logprobs > 0).any()


def test_pairs_are_by_id_or_by_line(write):
    ours = write([{"id": i, "logprob": -i, "doc": f"d{i}"} for i in (3, 1, 2)], "mt")
    theirs = write([{"id": i, "logprob": -10 * i} for i in (2, 3, 1)], "lm")
    mt, lm, how = read_score_pair(ours, theirs)
    assert how == "paired by id"
    assert (mt.logprobs.tolist(), lm.logprobs.tolist()) == ([-1, -2, -3], [-10, -20, -30])
    assert (mt.ids, mt.docs) == (("1", "2", "3"), ("d1", "d2", "d3"))
    mt, lm, how = read_score_pair(ours, write("-1\n-2\n-3\n", "plain"), "bits")
    assert (how, mt.unit) == ("paired by line", "bits")
    np.testing.assert_allclose(mt.logprobs, np.array([-3, -1, -2]) * LN2)
    long = "9" * 5000
    for ids in ("ba", (long, "1")):  # the order of the first file
        rows = [{"id": i, "logprob": -1} for i in ids]
        assert read_score_pair(write(rows, "x"), write(rows[::-1], "y"))[1].ids == tuple(ids)
    again = [{"id": 1, "doc": doc, "logprob": -k} for k, doc in enumerate("ab", 1)]
    mt, lm, _ = read_score_pair(write(again, "x"), write(again[::-1], "y"))
    assert mt.logprobs.tolist() == lm.logprobs.tolist() == [-1, -2]


@pytest.mark.parametrize("first", [0, 1, 7])
def test_only_numbers_of_lines_reorder(write, capsys, first):
    ids = [first + k for k in (2, 0, 1)]
    mt = write([{"id": i, "logprob": -i} for i in ids], "mt")
    found = read_score_pair(mt, mt)[0].logprobs.tolist()
    assert found == [-i for i in (ids if first == 7 else sorted(ids))]
    assert ("mt: sentences are taken in the order" in capsys.readouterr().err) == (first != 7)
    lm = write([{"id": i, "logprob": -i} for i in sorted(ids)], "lm")
    assert read_score_pair(mt, lm)[1].logprobs.tolist() == found


def test_first_tokens_without_a_score_count_in_neither_file(write, capsys):
    """-5 and -5 against -8 and -7; with the first tokens of mt alone -6 and -9."""
    ours = write("-1 -2 -3\n-4 -5\n-6\nnan\n", "mt")
    lm = write(
        [{"tokens": [*words], "logprobs": [-0.0, *rest]} for words, rest in
         (("abc", [-3, -5]), ("de", [-7]), ("f", []), ("gh", [-1]))], "lm"
    )  # fmt: skip
    mt, found, _ = read_score_pair(ours, lm)
    np.testing.assert_array_equal(mt.logprobs, [-5, -5, np.nan, np.nan])
    np.testing.assert_array_equal(found.logprobs, [-8, -7, np.nan, -1])
    assert (mt.tokens, found.tokens) == ((2, 1, 0, None), (("b", "c"), ("e",), (), ("h",)))
    assert "lm: first tokens have no score (0); both" in capsys.readouterr().err
    sums = write("-6\n-9\n-6\nnan\n", "sums")
    for other, same, why in ((ours, False, "needed per char"), (sums, True, "the tokens differ")):
        with pytest.raises(DataError, match=f"first tokens of lm have no score.* {why}"):
            read_score_pair(other, lm, same_tokens=same)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("-1\n-2\n", "-1\n"),
        ([{"id": 1, "logprob": -1}], [{"id": 2, "logprob": -1}]),
        ([{"text": "a", "logprob": -1}], [{"text": "b", "logprob": -1}]),
    ],
)
def test_files_of_other_sentences_are_no_pair(write, ours, theirs):
    with pytest.raises(DataError, match="lm"):
        read_score_pair(write(ours, "mt"), write(theirs, "lm"))
