"""The same command twice writes the same bytes, whatever the environment."""

import os
import re
import subprocess
import sys

ENVIRONMENTS = [
    {"PYTHONHASHSEED": "1", "TZ": "UTC", "LC_ALL": "C.UTF-8", "NUMBA_NUM_THREADS": "1"},
    {"PYTHONHASHSEED": "2", "TZ": "Asia/Tokyo", "LC_ALL": "C", "NUMBA_NUM_THREADS": "2"},
]
CODE = """
from anhelpers.cli import main, plane
plane._DRAWS = plane._SWAPS = 50
assert main(["mqm", "teaching/en-de", "-o", "mqm.csv"]) == 0
assert main(["plane", "--data", "teaching", "--naturalness", "critic", "-o", "plane"]) == 0
"""


def test_two_runs_write_the_same_bytes(tmp_path):
    runs = []
    for i, environment in enumerate(ENVIRONMENTS):
        (folder := tmp_path / f"run{i}").mkdir()
        there = os.environ | environment | {"OMP_NUM_THREADS": "1", "ANHELPERS_STORE": "off"}
        subprocess.run([sys.executable, "-c", CODE], cwd=folder, env=there, check=True)
        # svg2pdf writes the fonts and graphics states of a PDF in a random order
        made = folder / "plane" / ".made.json"
        made.write_text(re.sub('"plane.pdf": .*', "", made.read_text("utf-8")), "utf-8")
        files = sorted(p for p in folder.rglob("*") if p.is_file() and p.suffix != ".pdf")
        runs.append({str(path.relative_to(folder)): path.read_bytes() for path in files})
    assert {"mqm.csv", "plane/systems.csv"} <= {*runs[0]}
    assert runs[0] == runs[1]
