"""Exercises that check themselves: the first step that is not right yet gets a hint, never the answer.

And claims of a notebook that are checked on whatever data it is given.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from ..errors import DataError

__all__ = ["NOT_YET", "RIGHT", "check", "holds"]

RIGHT, NOT_YET = "✓ right", "✗ not yet"


def check(steps: Callable[..., None]) -> None:
    """Check the answer to an exercise: print that it is right, or a hint for the first step that is not.

    A decorator. The function's name is that of the exercise; its parameters are the answers, given as defaults; its
    docstring is the hint for whoever has not begun; it asserts one step after the other, and the message of each is the
    hint for that step. Nothing is raised, so that the rest of a notebook runs on.

    >>> share = ...
    >>> @check
    ... def exercise_2(share=share):
    ...     "How many of ten?"
    ...     assert 0 <= share <= 1, "A share lies between 0 and 1."
    Exercise 2 ✗ not yet: put your answer in place of the three dots after `share =`. How many of ten?
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
    open_ones = [p.name for p in inspect.signature(steps).parameters.values() if p.default is ...]
    if open_ones:
        dots = " and ".join(f"`{answer} =`" for answer in open_ones)
        hint = f" {inspect.getdoc(steps)}" if steps.__doc__ else ""
        print(f"{name} {NOT_YET}: put your answer in place of the three dots after {dots}.{hint}")
        return
    try:
        steps()
    except AssertionError as hint:
        print(f"{name} {NOT_YET}: {hint}")
    except Exception as error:  # whatever an answer of another kind makes of a step
        first = (str(error).splitlines() or [""])[0]
        print(
            f"{name} {NOT_YET}: the answer has not the form that was asked for "
            f"({type(error).__name__}: {first})."
        )
    else:
        print(f"{name} {RIGHT}")


def holds(claim: str, where: ArrayLike) -> None:
    """Check that a claim is true of all the data; else a DataError with the claim, and how often it is false.

    What `assert` is for a worked example, for data that a user gives: the sentence says what does not hold.

    Parameters
    ----------
    claim : what should be true, as a clause behind "that". where : (n,) True or False for each case; none is fine.

    >>> holds("a square is never negative", np.square([1.0, -2.0]) >= 0)
    >>> holds("a square is above its root", np.square([2.0, 0.5]) > [2.0, 0.5])
    Traceback (most recent call last):
    anhelpers.errors.DataError: on these data it is false that a square is above its root, in 1 of 2 cases; what \
is special in them? If nothing is, this is a defect of anhelpers.
    """
    cases = np.asarray(where, dtype=bool)
    if not cases.all():
        share = f", in {(~cases).sum():,} of {cases.size:,} cases" if cases.size > 1 else ""
        doubt = "what is special in them? If nothing is, this is a defect of anhelpers."
        raise DataError(f"on these data it is false that {claim}{share}; {doubt}")
