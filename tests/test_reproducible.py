"""The same command twice writes the same bytes, whatever the environment."""

import os
import subprocess
import sys

ENVIRONMENTS = [
    {"PYTHONHASHSEED": "1", "TZ": "UTC", "LC_ALL": "C.UTF-8", "NUMBA_NUM_THREADS": "1"},
    {"PYTHONHASHSEED": "2", "TZ": "Asia/Tokyo", "LC_ALL": "C", "NUMBA_NUM_THREADS": "2"},
]
CODE = """
from anhelpers.charts import offline
from anhelpers.cli import main
save = offline.save  # svg2pdf writes a PDF in a random order; a PNG is of the SVG
offline.save = lambda chart, path, **how: save(chart, path, **how) if path.suffix == ".svg" else 0
assert main(["mqm", "teaching/en-de", "-o", "mqm.csv"]) == 0
assert main(["plane", "--data", "teaching", "--naturalness", "critic", "-o", "plane"]) == 0
"""


def test_two_runs_write_the_same_bytes(tmp_path):
    runs = []
    for i, environment in enumerate(ENVIRONMENTS):
        (folder := tmp_path / f"run{i}").mkdir()
        there = os.environ | environment | {"OMP_NUM_THREADS": "1", "ANHELPERS_STORE": "off"}
        subprocess.run([sys.executable, "-c", CODE], cwd=folder, env=there, check=True)
        files = sorted(p for p in folder.rglob("*") if p.is_file())
        runs.append({str(path.relative_to(folder)): path.read_bytes() for path in files})
    assert {"mqm.csv", "plane/systems.csv", "plane/plane.svg"} <= {*runs[0]}
    assert runs[0] == runs[1]
