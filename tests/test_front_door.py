"""`import anhelpers as an`: a table of contents that loads nothing before it is asked."""

import inspect
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import anhelpers as an

ROOT = Path(__file__).parents[1]
NAMES = dir(an)


def test_it_has_the_everyday_names_and_says_what_they_are_for():
    assert 50 <= len(NAMES) <= 90
    said = set(re.findall(r"\w+", an.__doc__))
    assert set(NAMES) <= said
    everyday = "load load_candidates metric oracle_curve oracle_study explore exact xmi mqm"
    assert {*everyday.split()} <= {*NAMES}


@pytest.mark.parametrize("name", NAMES)
def test_every_name_leads_to_something_that_is_explained(name):
    found = getattr(an, name)
    assert inspect.getdoc(found)
    assert getattr(an, name) is found
    if inspect.isfunction(found) or inspect.isclass(found):
        assert found.__name__ == name


def test_what_is_not_there_is_no_attribute():
    with pytest.raises(AttributeError, match="load_everything"):
        an.load_everything  # noqa: B018
    assert not hasattr(an, "_nothing")


def test_importing_loads_nothing_and_one_name_not_everything():
    code = """
import sys, anhelpers as an
heavy = {"numpy", "pandas", "scipy", "torch", "transformers", "altair"}
assert not heavy & set(sys.modules)
an.load
assert not {"torch", "transformers", "altair", "scipy"} & set(sys.modules)
an.metric("chrf", "de")
assert not {"torch", "transformers", "comet"} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("path", sorted((ROOT / "notebooks").glob("*.ipynb")), ids=lambda p: p.stem)
def test_a_notebook_comes_in_by_the_front_door_alone(path):
    """One line imports the package, and every `an.` name that its cells use is there."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    assert re.findall(r".*\bimport\b.*\banhelpers\b.*|from anhelpers.*", code) == [
        "import anhelpers as an"
    ]
    for address in set(re.findall(r"\ban((?:\.\w+)+)", code)):
        found = an
        for name in address.split(".")[1:]:
            assert name in dir(found), address
            found = getattr(found, name)
            if not inspect.ismodule(found):
                break


@pytest.mark.neural
def test_the_python_of_the_how_to_runs():
    page = (ROOT / "docs" / "howto" / "python.md").read_text("utf-8")
    texts, arrays = re.findall(r"```python\n(.*?)```", page, re.S)
    given = {
        "segment": [0, 0, 1],
        "accuracy": [80, 60, 50],
        "naturalness": [-4, -3, -2],
        "reference": [0.5, 0.5],
        "joint": [[0.5, 0.1], [0.1, 0.3]],
        "distortion": [[0.0, 1.0], [1.0, 0.0]],
    }
    names = {name: np.array(value) for name, value in given.items()}
    exec(texts + arrays, names)
    assert set(re.findall(r"\ban\.(\w+)", texts + arrays)) <= set(NAMES)
    assert len(names["study"].curve.select(10)) == len(names["test"])


def test_what_a_user_prints_is_one_line():
    test, candidates = an.load("teaching"), an.load_candidates("teaching")
    study = an.oracle_study(test, candidates, "chrf", "critic")
    for shown in (study, study.plane, study.curve):
        assert len(repr(shown)) < 300
        assert "\n" not in repr(shown)
    assert repr(study.plane).startswith("Plane(teaching: 8 systems on 52 segments, chrF")
