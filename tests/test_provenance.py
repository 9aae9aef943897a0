"""The origin of results: one line of versions, command and parameters, in .made.json beside the files."""

import json
import os
import re
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path

import pandas as pd
import pytest

from anhelpers import __version__
from anhelpers.cli.check import _made_of
from anhelpers.cli.options import _write_result
from anhelpers.data.io import scratch_folder
from anhelpers.errors import AnhelpersError, DataError
from anhelpers.provenance import from_template, in_page, made_by, making, write_made
from anhelpers.report import _publish

TABLE = pd.DataFrame({"system": ["A", "B"], "value": [0.1, None]})


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_table_is_written_as_it_is_with_its_origin_beside_it(tmp_path, suffix):
    with making({"command": "score", "seed": 3, "data": "teaching"}):
        path = _write_result(tmp_path / f"a.{suffix}", TABLE)
    read = pd.read_csv if suffix == "csv" else pd.read_parquet
    pd.testing.assert_frame_equal(read(path), TABLE)
    (line,) = _made_of(path)
    assert line.startswith(f"anhelpers:{__version__}|command:score|seed:3|data:teaching|python:")


def test_other_files_of_the_folder_keep_their_entries(tmp_path):
    with making({"command": "one"}):
        _write_result(tmp_path / "a.csv", TABLE)
    (tmp_path / "b.svg").touch()
    with making({"command": "two"}):
        write_made(tmp_path, ["b.svg"])
    known = json.loads((tmp_path / ".made.json").read_text("utf-8"))
    assert ["command:one" in known["a.csv"], "command:two" in known["b.svg"]] == [True, True]


@pytest.mark.skipif(os.name == "nt", reason="fcntl of POSIX")
def test_runs_at_once_keep_all_entries_of_a_folder(tmp_path):
    names = [f"{i}.csv" for i in range(40)]
    for name in names:
        (tmp_path / name).touch()
    with ThreadPoolExecutor(8) as pool:
        assert [*pool.map(lambda name: write_made(tmp_path, [name]), names)]
    assert {*json.loads((tmp_path / ".made.json").read_text("utf-8"))} == {*names}


@pytest.mark.parametrize("name", ["a.xlsx", "no/folder/a.csv"])
def test_a_table_that_cannot_be_written_is_refused(tmp_path, name):
    with pytest.raises(AnhelpersError):
        _write_result(tmp_path / name, TABLE)


def test_a_file_without_an_entry_is_refused(tmp_path):
    (tmp_path / "a.csv").write_text("x\n", "utf-8")
    for path in (tmp_path / "a.csv", tmp_path):
        with pytest.raises(DataError):
            _made_of(path)


@pytest.mark.parametrize("fatal", range(1, 5))
def test_the_results_of_two_runs_are_refused(tmp_path, monkeypatch, fatal):
    """A run stopped between two renames leaves the old results whole, or a folder that `check` refuses."""
    names, out, rename = ("systems.csv", "plane.svg", "refs.bib"), tmp_path / "out", os.replace

    def publish(run):
        with making({"command": run}), scratch_folder(out) as fresh:
            for name in names:
                (fresh / name).write_text(run)
            _publish(fresh, out)

    def stopped(one, other, calls=count(1)):  # noqa: B008
        assert next(calls) < fatal, "killed"
        rename(one, other)

    publish("old")
    assert [line.partition(": anhelpers:")[0] for line in _made_of(out)] == sorted(names)
    monkeypatch.setattr(os, "replace", stopped)
    with pytest.raises(AssertionError, match="killed"):
        publish("new")
    monkeypatch.undo()
    if fatal == 1:
        assert all("|command:old|" in line for line in _made_of(out))
    else:
        for path in (out, out / "systems.csv"):
            with pytest.raises(DataError, match=r"systems\.csv.*another run"):
                _made_of(path)
    publish("new")
    assert all("|command:new|" in line for line in _made_of(out))
    assert {*out.iterdir()} == {out / name for name in (".made.json", *names)}


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0, "0"),
        (True, "yes"),
        (["b", "c d"], "b,c d"),
        ("x|y\n z", "x%7Cy z"),
        ("https://me:secret@example.org/x", "https://…@example.org/x"),
    ],
)
def test_a_parameter_is_one_line_without_folders(value, shown):
    with making({"a": value, "none": None, "empty": [], "no": False}):
        assert f"|a:{shown}|python:" in made_by()


def test_a_folder_and_the_number_of_a_pipe_are_left_out(tmp_path):
    (tmp_path / "ref.de").touch()
    with making({"a": f"x={tmp_path}/ref.de"}):
        assert "|a:x=ref.de|" in made_by()
    if Path("/dev/fd").exists():
        ends = os.pipe()
        with making({"a": f"x=/dev/fd/{ends[0]}"}):
            assert re.search(r"\|a:x=(pipe|\d+)\|", made_by())
        for end in ends:
            os.close(end)


def test_a_page_shows_its_origin_as_text_and_runs_nothing():
    page = in_page("<html><head></head><body>x</body></html>", "a<script>|b")
    assert "<script>" not in page
    assert page.count("a&lt;script&gt;") == 2
    text = from_template("plane.html", title="<b>", chart="", parts={"<i>": ["<u>\n<u>"]})
    assert not {"<b>", "<i>", "<u>"} & {text[i : i + 3] for i in range(len(text))}
