"""What guesses ship, and how they show themselves without a browser."""

import json
import re
from collections import Counter

import numpy as np
import pytest

import anhelpers as an
from anhelpers.errors import DataError, UnknownName
from anhelpers.widgets.guesses import guess, guessed

CHOICES = ["it <b>falls</b>", "it rises"]


def test_they_stand_in_the_room():
    assert an.widgets.guess is guess
    assert an.widgets.guessed is guessed


def test_a_choice():
    w = guess("end", "What happens?", CHOICES)
    assert w.value is None
    w.value = "it rises"
    assert repr(w) == "Guess('end': it rises)"
    with pytest.raises(UnknownName):
        w.value = "it stays"
    with pytest.raises(DataError, match="one of"):
        w.value = 3
    w.value = None
    html = w.fragment()
    assert "it &lt;b&gt;falls&lt;/b&gt; / it rises" in html
    assert json.loads(json.dumps(w.data))["choices"] == CHOICES


def test_a_number():
    w = guess("bits", "How many bits?", unit="bits")
    w.value = 4
    assert w.value == 4.0
    assert "____ bits" in w.static_html()
    for wrong in (float("nan"), float("inf"), [1]):
        with pytest.raises(DataError, match="finite number"):
            w.value = wrong


@pytest.mark.parametrize(
    ("name", "question", "choices", "said"),
    [
        ("", "What?", None, "name is ''"),
        ("a", " ", None, "question is ' '"),
        ("a", "What?", ["one"], "at least two different"),
        ("a", "What?", ["one", "one"], "at least two different"),
    ],
)
def test_what_is_no_question(name, question, choices, said):
    with pytest.raises(DataError, match=said):
        guess(name, question, choices)


def test_answers_of_three_kinds():
    class_ = Counter({3: 2, 2: 5, 10: 1})
    w = guessed("bits", {"the oracle": 2, "a linguist": "few", "the class": class_}, unit="bits")
    first, second, third = w.data["answers"]
    assert (first["text"], first["number"]) == ("2", 2.0)
    assert (second["text"], second["number"]) == ("few", None)
    assert third["counts"] == [["2", 5], ["3", 2], ["10", 1]]  # in the order of the numbers
    page = w.static_html()
    assert "You guessed ____________; the oracle: 2 bits; a linguist: few; the class: below" in page
    assert "the class: 8 guesses" in page
    rows = re.findall(r"<tr><th[^>]*>(\d+)</th><td[^>]*>(\d+)</td><td[^>]*>(█+)", page)
    assert [(a, b, len(c)) for a, b, c in rows] == [("2", "5", 12), ("3", "2", 5), ("10", "1", 2)]


def test_a_table_of_pandas_counts_too():
    counts = __import__("pandas").Series(["b", "a", "b"]).value_counts()
    assert guessed("x", {"class": counts}).data["answers"][0]["counts"] == [["b", 2], ["a", 1]]


@pytest.mark.parametrize(
    ("value", "text"),
    [(np.float64(2.32193), "2.322"), (12345.4, "12345"), (-0.5, "−0.5"), (np.int64(7), "7")],
)
def test_numbers_have_four_digits(value, text):
    assert guessed("x", {"it": value}).data["answers"][0]["text"] == text


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ({}, "answers is empty"),
        ({"it": float("nan")}, "finite"),
        ({"it": None}, "answer → count"),
        ({"it": {"a": -1}}, "answer → count"),
        ({"it": {"a": 0}}, "all 0"),
    ],
)
def test_what_is_no_answer(answers, said):
    with pytest.raises(DataError, match=said):
        guessed("x", answers)


def test_the_notebooks_name_comes_from_jupyter_if_it_tells(monkeypatch):
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    assert guess("x", "What?").data["page"] == ""
    monkeypatch.setenv("JPY_SESSION_NAME", "a/an_b_uniqueness.ipynb")
    assert guess("x", "What?").data["page"] == guessed("x", {"it": 1}).data["page"]
    assert guess("x", "What?").data["page"] == "an_b_uniqueness"
