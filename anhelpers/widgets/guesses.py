"""Guesses that the page remembers: an input for a guess, and later the guess beside what was computed.

The browser keeps them (localStorage), so they live in an exported page without a kernel, and after it is opened again.
Two widgets of one page find each other by the name of the guess.
"""

from __future__ import annotations

import html
import math
import os
from collections.abc import Mapping, Sequence
from numbers import Real
from pathlib import PurePath
from typing import Any

import traitlets

from .. import checks
from ..errors import DataError
from ..estimate import with_unit
from .base import Markup, Widget, module, plain_table, styles, without_kernel

__all__ = ["Guess", "Guessed", "guess", "guessed"]

BLANK = "_" * 12  # where one writes on paper


def guess(name: str, question: str, choices: Sequence[str] | None = None, unit: str = "") -> Guess:
    """An input for a guess, which the page remembers until it is forgotten: one of some answers, or a number.

    The guess can be changed until `guessed` of the same name has shown the answers. Where no script runs, a line to
    write on is left.

    Parameters
    ----------
    name : of the guess, under which `guessed` finds it; one name, one question in a notebook.
    question : what is asked. choices : at least two different answers; None: any number.
    unit : of the number, printed after it.

    Returns
    -------
    Guess; its `value` is the guess, or None. It follows the page and can be set. A "Save my guesses"
    button of the page downloads all guesses of the notebook: a CSV file with the columns page, name, guess.

    Raises
    ------
    DataError for an empty name or question, and for fewer than two different choices.
    """
    given = [] if choices is None else [str(text) for text in checks.texts("choices", choices)]
    if choices is not None and (len(given) < 2 or len({*given}) < len(given)):
        raise DataError(f"choices are {given}; give at least two different ones, or None.")
    data = _named(name) | {"question": _text("question", question), "choices": given}
    return Guess(data=data | {"unit": str(unit)}, **without_kernel())


def guessed(name: str, answers: Mapping[str, Any], *, unit: str = "") -> Guessed:
    """The guess of that name beside what was computed: hidden behind "Compare" as long as nothing was guessed.

    Parameters
    ----------
    name : of the guess, as in `guess`.
    answers : who says it → what: a text, a number, or a distribution, i.e. answer → how many gave it, such as the
        guesses of a class, `pd.concat(map(pd.read_csv, files)).query("name == 'end'").guess.value_counts()` of
        their saved files. A number is printed with four digits; give a text for another form.
    unit : of the numbers.

    Returns
    -------
    Guessed; its `value` is the guess, None if there is none, and follows the page.

    Raises
    ------
    DataError without an answer, for a number that is not finite, and for counts that are negative or all 0.
    """
    if not answers:
        raise DataError("answers is empty; give at least one, such as {'computed': 2}.")
    said = [_answer(str(who), what) for who, what in answers.items()]
    data = _named(name) | {"answers": said, "unit": str(unit)}
    return Guessed(data=data, **without_kernel())


class Remembered(Widget):
    """What both widgets are: they share a script, a style and `value`, the guess."""

    _esm = module("guesses.js")
    _css = styles("guesses.css")
    value = traitlets.Any(None, allow_none=True).tag(sync=True)

    @traitlets.validate("value")
    def _valid_value(self, proposal: Any) -> Any:
        value, choices = proposal["value"], self.data.get("choices")
        if value is None or isinstance(value, str):
            return checks.one_of(value, choices, "guess") if value and choices else value
        if choices or not isinstance(value, Real) or not math.isfinite(value):
            wanted = f"one of {choices}" if choices else "a finite number"
            raise DataError(f"value is {value!r}; a guess is {wanted}, or None.")
        return float(value)

    def __repr__(self) -> str:
        return f"{type(self).__name__}('{self.data.get('name')}': {self.value})"


class Guess(Remembered):
    """The widget that `guess` makes; its `value` follows the page and can be set."""

    noun = "guess"

    def static_html(self) -> str:
        data = self.data
        line = " / ".join(data["choices"]) or f"{BLANK} {data['unit']}"
        return f"<p><b>{html.escape(data['question'])}</b> Your guess: {html.escape(line)}</p>"


class Guessed(Remembered):
    """The widget that `guessed` makes; its `value` is the guess."""

    noun = "guess and answer"

    def static_html(self) -> str:
        said = "; ".join(
            f"{one['who']}: {one['text'] or 'below'}"
            if one["number"] is None
            else f"{one['who']}: {with_unit(one['text'], self.data['unit'])}"
            for one in self.data["answers"]
        )
        tables = "".join(_static_counts(one) for one in self.data["answers"] if one["counts"])
        return f"<p><b>You guessed {BLANK}; {html.escape(said)}</b></p>{tables}"


def _text(name: str, text: str) -> str:
    if not isinstance(text, str) or not text.strip():
        raise DataError(f"{name} is {text!r}; give a text that is not empty.")
    return text


def _named(name: str) -> dict[str, Any]:
    """The guess's name, and the notebook's where Jupyter tells it to the kernel; else the page's title is taken."""
    session = os.environ.get("JPY_SESSION_NAME", "")
    return {"name": _text("name", name), "page": PurePath(session).stem}


def _answer(who: str, what: Any) -> dict[str, Any]:
    """Who says it, its text, the number (None: a text), and of a distribution [answer, count] pairs."""
    if isinstance(what, str):
        return {"who": who, "text": what, "number": None, "counts": []}
    if isinstance(what, Real):
        if not math.isfinite(what):
            raise DataError(f"the answer of '{who}' is {what}; give a finite number or a text.")
        return {"who": who, "text": _short(float(what)), "number": float(what), "counts": []}
    pairs = [] if not hasattr(what, "items") else [(key, n) for key, n in what.items()]
    if not pairs or not all(isinstance(n, Real) and float(n) >= 0 for _, n in pairs):
        raise DataError(
            f"the answer of '{who}' is {what!r:.60}; give a text, a number, or answer → count."
        )
    if not sum(n for _, n in pairs) > 0:
        raise DataError(f"the counts of '{who}' are all 0; leave this answer away.")
    values = [_number(key) for key, _ in pairs]
    if not any(map(math.isnan, values)):
        pairs = [(_short(v), n) for v, n in sorted(zip(values, (n for _, n in pairs), strict=True))]
    counts = [[str(key), int(n)] for key, n in pairs]
    return {"who": who, "text": "", "number": None, "counts": counts}


def _number(key: Any) -> float:
    """A guess as a number, as text too, as a saved file has it; else nan."""
    try:
        return float(key)
    except (TypeError, ValueError):
        return math.nan


def _short(value: float) -> str:
    """Four digits, without an exponent where a whole number can do.

    >>> _short(2.32193), _short(12345.0), _short(-0.5)
    ('2.322', '12345', '−0.5')
    """
    text = f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return text.replace("-", "−", 1)


def _static_counts(one: Mapping) -> str:
    """Everybody's answers as a table, with bars of letters."""
    total = sum(n for _, n in one["counts"])
    rows = [[text, str(n), Markup("█" * round(20 * n / total))] for text, n in one["counts"]]
    return plain_table(f"{one['who']}: {total} guesses", ["guess", "how many", ""], rows)
