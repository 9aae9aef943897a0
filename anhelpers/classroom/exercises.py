"""Exercises that check themselves, and claims that a notebook checks on any data."""

import inspect
import json
import os
from base64 import b64encode
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import DataError, need

RIGHT, NOT_YET = "✓ right", "✗ not yet"


def check(steps: Callable[..., None]) -> None:
    """Check the answer to an exercise: print that it is right, or a hint for the first wrong step.

    A decorator. The function's name is that of the exercise, its parameters are the answers, given
    as defaults, its docstring is a hint for those who answered a part. It asserts one step after
    the other, with a hint as message. Nothing is raised, so that the rest of a notebook runs. In
    static mode, right answers that are numbers or short texts become fields of the exported page.

    >>> share = ...
    >>> @check
    ... def exercise_2(share=share):
    ...     assert 0 <= share <= 1, "A share lies between 0 and 1."
    Exercise 2: not answered yet.
    >>> @check
    ... def exercise_2(share=2):
    ...     assert 0 <= share <= 1, "A share lies between 0 and 1."
    Exercise 2 ✗ not yet: A share lies between 0 and 1.
    >>> @check
    ... def exercise_2(share=0.2):
    ...     assert 0 <= share <= 1, "A share lies between 0 and 1."
    Exercise 2 ✓ right
    """
    name = steps.__name__.replace("_", " ").capitalize()
    answers = {p.name: p.default for p in inspect.signature(steps).parameters.values()}
    if open_ones := [f"`{answer}`" for answer, value in answers.items() if value is ...]:
        some = f" {NOT_YET}: {' and '.join(open_ones)} missing. {inspect.getdoc(steps) or ''}"
        print(f"{name}{some.rstrip() if len(open_ones) < len(answers) else ': not answered yet.'}")
        return
    try:
        steps()
    except AssertionError as hint:
        print(f"{name} {NOT_YET}: {hint}")
    except Exception as error:  # an answer of another type can raise anything
        first = (str(error).splitlines() or [""])[0]
        print(f"{name} {NOT_YET}: the answer has the wrong form ({type(error).__name__}: {first}).")
    else:
        print(f"{name} {RIGHT}")
        if os.environ.get("ANX_MODE") == "static":
            _ask(answers)


def _ask(answers: dict[str, Any]) -> None:
    """Display a field for each answer if all are numbers or short texts; a page's script checks them."""
    plain = [v.item() if isinstance(v, np.generic) else v for v in answers.values()]
    if all(isinstance(v, int | float | str) and len(str(v)) <= 40 for v in plain):
        fields = "".join(f"<label><code>{name}</code> <input></label>" for name in answers)
        right = b64encode(json.dumps(plain).encode()).decode()
        page = f"""<form class="anx-ask" data-right="{right}">{fields}<button>Check</button>\
<output aria-live="polite"></output></form>"""
        display = need("IPython.display", "fields of answers").display
        display({"text/html": page, "text/plain": ""}, raw=True)


def holds(claim: str, where: ArrayLike) -> None:
    """Raise a DataError unless a claim is true of all the data.

    Parameters
    ----------
    claim : str
        What should be true, as a clause after "that".
    where : (n,) array of bool
        Whether it is true of each case; none is fine.

    >>> holds("a square is never negative", np.square([1.0, -2.0]) >= 0)
    >>> holds("a square is above its root", np.square([2.0, 0.5]) > [2.0, 0.5])
    Traceback (most recent call last):
    anhelpers.errors.DataError: on these data it is false that a square is above its root, in 1 of 2 cases.
    """
    where = np.asarray(where)
    cases = where.astype(bool) & (where == where)  # nan is not true
    if not cases.all():
        share = f", in {(~cases).sum():,} of {cases.size:,} cases" if cases.size > 1 else ""
        raise DataError(f"on these data it is false that {claim}{share}.")
