"""Worlds as CSV files: what is read, and what is refused with its line."""

import shutil

import numpy as np
import pytest

from anhelpers import exact
from anhelpers.data import bundled
from anhelpers.data.worlds import load_world
from anhelpers.errors import DataError, UnknownName


@pytest.fixture
def folder(tmp_path):
    shutil.copytree(bundled("worlds/teacher"), tmp_path / "mine")
    return tmp_path / "mine"


def test_the_teacher_world():
    world = load_world("teacher")
    p = world.problem
    assert p.joint[0] == pytest.approx([0.2, 0.1, 0, 0, 0, 0])
    assert p.reference == pytest.approx([0.62, 0.022, 0.008, 0.325, 0.02, 0.005])
    lehrerin, plain, female, male, doctor = 0, 0, 1, 2, 3
    assert p.distortion[lehrerin, female, [plain, female, male, doctor]].tolist() == [1, 0, 2, 3]
    assert p.distortion[lehrerin, plain, [plain, female, male, doctor]].tolist() == [0, 0, 2, 3]
    assert exact.minimisers(p).unique
    assert exact.minimisers(p).targets[lehrerin].argmax() == female
    assert world.logprob_per_word()[0] == pytest.approx(np.log(0.62) / 4)


def test_a_folder_is_loaded(folder):
    assert load_world(folder).problem.joint.sum() == pytest.approx(1)
    with pytest.raises(UnknownName, match="teacher"):
        load_world("techer")


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("pairs.csv", ",20", ",many", r"pairs.csv, line 2"),
        ("pairs.csv", "My male doctor", "My mail doctor", r"pairs.csv, line 9"),
        ("targets.csv", "My male teacher", "My teacher", r"targets.csv, line 4"),
        ("targets.csv", "target,count", "text,n", r"targets.csv, line 1"),
        ("distortion.csv", "*,*,*,3\n", "", r"distortion.csv: .*My doctor"),
    ],
)
def test_bad_files_are_refused_with_their_line(folder, file, old, new, said):
    path = folder / file
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(DataError, match=said):
        load_world(folder)
