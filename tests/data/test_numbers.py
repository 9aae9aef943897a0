import numpy as np
import pytest

from anhelpers.data.numbers import far_out, read_logprobs, read_numbers
from anhelpers.errors import DataError


@pytest.fixture
def path(tmp_path):
    return tmp_path / "A.logprobs"


def test_a_number_per_line_and_nan_is_missing(path):
    path.write_text("-1.5\n 2e3 \nnan\n-0\n", encoding="utf-8")
    np.testing.assert_array_equal(read_numbers(path), [-1.5, 2000, np.nan, 0])
    assert read_numbers(path, 4).dtype == np.float64
    path.write_text("", encoding="utf-8")
    assert read_numbers(path).shape == (0,)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("-1\n-2\n", r"A\.logprobs: has 2 lines, and 3 are wanted, one per segment"),
        ("-1\n", r"A\.logprobs: has 1 line, and 3"),
        ("-1\nminus\n-3\n", r"A\.logprobs, line 2: 'minus' is no finite number; write nan"),
        ("-1\n-2\n\n", r"line 3: '' is no finite number"),
        ("-1\n-inf\n-3\n", r"line 2: '-inf' is no finite number"),
        (
            "-1\n-2\n0.5\n",
            r"line 3: 0.5 is a probability above 1; are these negative log-probabilities\?",
        ),
    ],
)
def test_errors_name_file_line_and_value(path, text, words):
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=words):
        read_logprobs(path, 3)


def test_a_certain_output_has_log_probability_0(path):
    path.write_text("0\n-0.0\nnan\n", encoding="utf-8")
    np.testing.assert_array_equal(read_logprobs(path, 3), [0, 0, np.nan])


def test_a_sentence_far_out_is_told_beside_any_median():
    (told,) = far_out(np.array([-900.0, -3, -4, np.nan, -5]))
    assert told.startswith("sentence 1 has -900 nats, 200 times the median of -4.5")
    assert "inf times the median" in far_out(np.array([-5.0, -4e-309, -4e-309]))[0]
    assert far_out(np.array([-5.0, -3, 0])) == far_out(np.array([])) == ()
