"""Every number is what it was when the goldens were recorded."""

import gzip
import json
import os
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

from .cases import CASES, NEURAL, REAL, executed, is_self_contained

HERE = Path(__file__).parent
EXECUTED = Path(os.environ.get("ANHELPERS_EXECUTED", HERE.parents[1] / "build"))


def recorded(name: str) -> dict:
    return json.loads(gzip.decompress((HERE / f"{name}.json.gz").read_bytes()))


def differences(now: dict, then: dict, rtol: float) -> list[str]:
    found = [name for name in then if name not in now]
    for name in then.keys() & now.keys():
        a, b = (np.array(side[name], float) for side in (now, then))
        same = a.shape == b.shape and np.array_equal(np.isnan(a), np.isnan(b))
        if same:
            scale = max(1e-9, np.abs(b[np.isfinite(b)]).max(initial=0))
            same = np.allclose(a, b, rtol=rtol, atol=rtol * scale, equal_nan=True)
        if not same:
            found.append(name)
    return sorted(found)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(
            name,
            marks=[pytest.mark.real] * (name in REAL) + [pytest.mark.neural] * (name in NEURAL),
        )
        for name in CASES
    ],
)
@pytest.mark.filterwarnings("default")
def test_numbers_are_those_that_were_recorded(name, tmp_path):
    rtol = 1e-6 if name in NEURAL else 1e-9
    assert not differences(CASES[name](tmp_path), recorded(name), rtol)


BOOKS = recorded("notebooks")
# Sentences scored by a model that the page trains in a few steps: training enlarges a processor's rounding.
TRAINED = {"xmi2-65.widget"}


def missing(some: Iterable[float], others: Iterable[float]) -> list[float]:
    """The numbers that the others lack, each of which serves once; nan equals nan."""
    left, lacking = sorted(others, key=str), []
    for one in some:
        near = next(
            (
                x
                for x in left
                if x == one or abs(x - one) <= 1e-6 * max(1, abs(one)) or (x != x and one != one)
            ),
            None,
        )
        if near is None:
            lacking.append(one)
        else:
            left.remove(near) if near == near else left.pop(
                next(i for i, x in enumerate(left) if x != x)
            )
    return lacking


@pytest.mark.parametrize("name", BOOKS)
def test_numbers_of_an_executed_notebook_are_those_that_were_recorded(name):
    """Of the last run of the collection, by `make run`."""
    path = EXECUTED / f"{name}.ipynb"
    if not path.exists():
        pytest.skip(f"{path.name} was not executed; run: make run")
    page = path.with_suffix(".html").read_text("utf-8")
    assert is_self_contained(page)
    assert "ipykernel_" not in page, "a warning of Python on the page"
    then, now = BOOKS[name], executed(path, whole=True)
    lost = []
    for key in then.keys() - TRAINED:
        kept = [float(value) for value in then[key]]
        seen = [float(value) for value in now.get(key, ())]
        if key.endswith((".marks", ".widget")):
            lost += [key] * bool(missing(set(kept), set(seen)))
        elif missing(kept, seen) and (missing(seen, kept) or not seen):
            lost.append(key)  # a sentence may go or come, but a number in it does not change
    assert not lost
