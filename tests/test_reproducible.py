"""The same command twice writes the same bytes, whatever the environment."""

import os
import subprocess
import sys

import pytest

ENVIRONMENTS = [
    {"PYTHONHASHSEED": "1", "TZ": "UTC", "LC_ALL": "C.UTF-8", "NUMBA_NUM_THREADS": "1"},
    {"PYTHONHASHSEED": "2", "TZ": "Asia/Tokyo", "LC_ALL": "C", "NUMBA_NUM_THREADS": "2"},
]
COMMANDS = [
    ["mqm", "teaching/en-de", "-o", "mqm.csv"],
    ["plane", "--data", "teaching", "--naturalness", "critic", "-o", "plane"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda words: words[0])
def test_two_runs_write_the_same_bytes(command, tmp_path):
    runs = []
    for i, environment in enumerate(ENVIRONMENTS):
        (folder := tmp_path / f"run{i}").mkdir()
        call = [sys.executable, "-m", "anhelpers", *command]
        one_thread = {"OMP_NUM_THREADS": "1", "ANHELPERS_STORE": "off"}
        there = os.environ | environment | one_thread
        subprocess.run(call, cwd=folder, env=there, check=True, capture_output=True)
        # svg2pdf writes the fonts and graphics states of a PDF in a random order
        files = sorted(p for p in folder.rglob("*") if p.is_file() and p.suffix != ".pdf")
        runs.append({str(path.relative_to(folder)): path.read_bytes() for path in files})
    assert runs[0]
    assert runs[0] == runs[1]
