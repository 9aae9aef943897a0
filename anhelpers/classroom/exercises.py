"""Exercises that check themselves, and claims that a notebook checks on any data."""

import inspect
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from ..errors import DataError

RIGHT, NOT_YET = "✓ right", "✗ not yet"


def check(steps: Callable[..., None]) -> None:
    """Check the answer to an exercise: print that it is right, or a hint for the first wrong step.

    A decorator. The function's name is that of the exercise, its parameters are the answers, given
    as defaults, its docstring is the hint before an answer was given. It asserts one step after the
    other, with a hint as message. Nothing is raised, so that the rest of a notebook runs.

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
    except Exception as error:  # an answer of another type can raise anything
        first = (str(error).splitlines() or [""])[0]
        print(f"{name} {NOT_YET}: the answer has another form ({type(error).__name__}: {first}).")
    else:
        print(f"{name} {RIGHT}")


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
