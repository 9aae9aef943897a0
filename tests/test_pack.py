"""The teacher's pack: every row of it finds its cell in the committed notebooks, and its pages are whole."""

import re

import nbformat
import pytest

from anhelpers import cli
from anhelpers.classroom import pack
from anhelpers.errors import DataError
from anhelpers.notebooks import notebook_paths

BOOKS = {path.stem: nbformat.read(path, 4) for path in notebook_paths()}


@pytest.mark.parametrize("row", pack.pack_rows(), ids=lambda row: f"{row.page}-{row.part}")
def test_every_row_is_of_a_known_part_and_finds_a_cell(row):
    assert row.part in pack.PARTS
    assert re.fullmatch(r"slide \d+|handout [12]", row.page)
    wanted = {one.partition("#")[0] for one in row.cells.split()}
    known = {cell.id for name in row.notebook.split() for cell in BOOKS[name].cells}
    assert row.part == "room" or wanted & known


def test_there_are_ten_slides_and_every_notebook_has_misconceptions():
    assert {row.page for row in pack.pack_rows() if "slide" in row.page} == {
        f"slide {k}" for k in range(1, 11)
    }
    counts = {name: len(pack.misconceptions(name)) for name in BOOKS}
    assert {1, 2, 3} >= {*counts.values()}, counts
    assert len(pack.misconceptions()) == sum(counts.values())
    assert all(one.answer.endswith(".") and len(one.answer) > 40 for one in pack.misconceptions())


def test_answers_are_the_solutions_of_the_notebooks(as_if_executed, tmp_path, capsys):
    assert (
        cli.main(["teachers", "--built", str(as_if_executed), "--out", str(tmp_path / "pack")]) == 0
    )
    paths = capsys.readouterr().out.split()
    assert [path.rsplit("/")[-1] for path in paths] == [
        "slides.html",
        "handout.html",
        "answers.html",
    ]
    page = (tmp_path / "pack" / "answers.html").read_text("utf-8")
    for name, book in BOOKS.items():
        tagged = [c for c in book.cells if "solution" in c.metadata.get("tags", [])]
        for cell in (c for c in tagged if c.cell_type == "code"):
            assert f"printed by {name} {cell.id}" in page
        others = [c for c in book.cells if c.cell_type == "code" and c not in tagged]
        assert not [c.id for c in others if f"printed by {name} {c.id}\n" in page]
    assert page.count("Often believed") == len(BOOKS)
    assert ".ipynb" not in page


def test_without_executed_notebooks_it_says_what_to_do(tmp_path):
    with pytest.raises(DataError, match="is not there: execute the notebooks first"):
        pack.write_pack(tmp_path, tmp_path / "pack")


def test_a_row_whose_cells_are_gone_is_named(as_if_executed, tmp_path, monkeypatch):
    lost = pack.PackRow("slide 1", "picture", "00_start_here", "gone st-00", "")
    monkeypatch.setattr(pack, "pack_rows", lambda: [lost])
    with pytest.raises(
        DataError, match="slide 1: no cell gone or st-00 of 00_start_here has a pict"
    ):
        pack.write_pack(as_if_executed, tmp_path)
