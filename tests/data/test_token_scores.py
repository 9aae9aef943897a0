"""Files of scores, in the layouts that scorers write."""

import json
import math
import tracemalloc

import numpy as np
import pytest

from anhelpers.data.token_scores import read_token_scores
from anhelpers.errors import DataError, UnknownName

LN2 = math.log(2)


@pytest.fixture
def write(tmp_path):
    def make(text):
        path = tmp_path / "A.scores"
        path.write_text(
            text if isinstance(text, str) else "".join(json.dumps(row) + "\n" for row in text),
            "utf-8",
        )
        return path

    return make


def test_sums_tokens_and_missing_sentences_of_jsonl(write):
    found = read_token_scores(
        write(
            [
                {"tokens": ["ein", "</s>"], "logprobs": [-1.5, -0.5]},
                {"token_logprobs": [-1, -2, -3]},
                {"logprobs": None},
                {"logprob": -4},
            ]
        )
    )
    np.testing.assert_array_equal(found.logprobs, [-2, -6, np.nan, -4])
    assert found.counts[:3] == (2, 3, None)
    assert found.sequences() == [("ein", "</s>"), 3, None, None]
    assert (found.unit, found.source, found.layout, len(found)) == ("nats", "assumed", "jsonl", 4)


@pytest.mark.parametrize(
    "text",
    [
        [{"logprobs": [-1, -2], "unit": "bits"}],
        [{"log2probs": [-1, -2]}],
        [{"logprobs_bits": [-1, -2], "unit": "log2"}],
        "log2prob\n-3\n",
        "logprob_bits\n-1 -2\n",
    ],
)
def test_a_declared_unit_is_heard_and_contradictions_are_refused(write, text):
    path = write(text)
    found = read_token_scores(path)
    np.testing.assert_allclose(found.logprobs, [-3 * LN2], rtol=1e-15)
    assert (found.unit, found.source) == ("bits", "declared")
    assert read_token_scores(path, "bits").source == "given"
    with pytest.raises(
        DataError,
        match=r"A\.scores, line \d: these scores are declared as bits, and you say nats\.$",
    ):
        read_token_scores(path, "nats")


def test_natural_scores_passed_as_bits_are_refused_where_the_file_says_so(write):
    with pytest.raises(DataError, match="declared as nats, and you say bits"):
        read_token_scores(write("logprob_nats\n-3\n"), "bits")
    with pytest.raises(
        DataError, match="line 2: these scores are declared as bits, and the lines above say nats"
    ):
        read_token_scores(write([{"logprob_nats": -3}, {"log2prob": -3}]))
    with pytest.raises(UnknownName, match="unit 'bit'"):
        read_token_scores(write("-3\n"), "bit")


def test_numbers_are_sums_or_scores_of_tokens(write):
    found = read_token_scores(write("-1.5\nnan\n-0\n"))
    np.testing.assert_array_equal(found.logprobs, [-1.5, np.nan, 0])
    assert found.counts == (None, None, None)
    found = read_token_scores(write("logprob\n-1.5 -1\n-2\nnan\n"), "bits")
    np.testing.assert_array_equal(found.logprobs, np.array([-2.5, -2, np.nan]) * LN2)
    assert found.counts == (2, 1, None)


FAIRSEQ = """\
INFO | fairseq_cli.generate | loaded
S-2\tthe cat
T-2\tdie Kat@@ ze
H-2\t-0.75\tdie Kat@@ ze
D-2\t-0.75\tdie Katze
P-2\t-0.5000 -0.5000 -1.0000 -1.0000
S-0\tyes
H-0\t-0.5\tja doch
P-0\t-0.5000 -0.5000
Generate test with beam=1: BLEU4 = 100.00
"""


def test_fairseq_s_sentences_come_by_their_ids_in_base_2(write):
    path = write(FAIRSEQ)
    found = read_token_scores(path)
    np.testing.assert_allclose(found.logprobs, [-1 * LN2, np.nan, -3 * LN2], rtol=1e-15)
    # "ja doch" and its end would be 3
    assert found.sequences() == [2, None, ("die", "Kat@@", "ze", "</s>")]
    assert (found.unit, found.source, found.layout) == ("bits", "assumed", "fairseq")
    # fairseq 0.6
    np.testing.assert_array_equal(read_token_scores(path, "nats").logprobs, [-1, np.nan, -3])


def test_rounding_above_0_is_no_error(write):
    assert read_token_scores(write("1e-6 0\n")).logprobs.tolist() == [0.0]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "this file is empty"),
        ("-1\n\n-2\n", "line 2: '' is no number"),
        ("-1\nx\n", "line 2: 'x' is no number"),
        ("-1\n-inf\n", "line 2: '-inf' is no finite number"),
        ("-1 nan\n", "line 1: token 2: 'nan' is no finite number"),
        (
            "-1\n2.5\n",
            r"line 2: 2\.5 is a probability above 1; are these negative log-probabilities\? Turn their sign",
        ),
        ("-1 -2\n-2 3\n", "line 2: token 2: 3 is a probability above 1"),
        ('{"logprobs": [-1]}\n{oops\n', r"line 2: bad JSON \(expecting property name"),
        ('{"logprobs": [-1]}\n[1]\n', "line 2: has none of logprobs"),
        ([{"score": 1}], "line 1: has none of logprobs, token_logprobs"),
        ([{"logprobs": [-1], "logprob": -1}], "has logprobs and logprob; one of them"),
        (
            [{"logprobs": [None, -1]}],
            "line 1: token 1: null; a sentence's first token needs a score too",
        ),
        ([{"logprobs": ["-1"]}], "token 1: '-1' is no number"),
        ([{"logprobs": True}], "True is no number"),
        ([{"logprobs": []}], "there is no token"),
        ([{"logprobs": [-1], "tokens": ["a", "b"]}], "2 tokens and 1 log-probabilities"),
        ([{"logprobs": [-1], "tokens": "a"}], "no list of tokens"),
        ([{"logprobs": [-1], "unit": "dits"}], "unknown unit 'dits'; known: nats, bits"),
        ([{"log2probs": [-1], "unit": "nats"}], "log2probs are bits, and unit says nats"),
        ("H-0\t-1\ta\n", "without lines of P-<id>"),
        ("P-0\t-1\nP-0\t-2\n", "line 2: sentence 0 has a second hypothesis"),
        ("P-0\t-1 x\n", "line 1: 'x' is no number"),
        (
            [{"logprobs": [-1]}, {"logprobs": None}, {"log2probs": [-1]}],
            "line 1: these scores declare no unit, and line 3 declares bits",
        ),
    ],
)
def test_errors_name_file_line_and_value(write, text, words):
    with pytest.raises(DataError, match=r"A\.scores.*" + words):
        read_token_scores(write(text))


@pytest.mark.parametrize("form", ["jsonl", "numbers"])
def test_a_sentence_takes_a_few_times_its_bytes_in_memory(write, form):
    """A million sentences of 25 tokens, at 250 bytes, took 2.4 GB of rows."""
    rng = np.random.default_rng(0)
    scores = [[-round(x, 4) for x in rng.random(rng.integers(15, 36)).tolist()] for _ in range(999)]
    line = {
        "jsonl": lambda row: json.dumps({"logprobs": row, "tokens": ["▁das"] * len(row)}),
        "numbers": lambda row: " ".join(map(str, row)),
    }[form]
    path = write("".join(f"{line(row)}\n" for row in scores))
    read_token_scores(path)
    tracemalloc.start()
    found = read_token_scores(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert np.allclose(found.logprobs, [math.fsum(row) for row in scores])
    assert peak / len(scores) < 3 * path.stat().st_size / len(scores) + 700
    if form == "jsonl":
        assert len({id(token) for tokens in found.tokens for token in tokens}) == 1
