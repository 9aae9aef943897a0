"""The site: pages that link to each other, whole or not at all; and the two editions of the notebooks."""

import html
import os
import re

import nbformat
import pytest

from anhelpers import cli
from anhelpers.classroom import site
from anhelpers.errors import DataError
from anhelpers.notebooks import About, about, notebook_paths

BEFORE = {path.stem: about(path).before for path in notebook_paths()}
NAMES = [*BEFORE]


@pytest.fixture
def built(tmp_path):
    """What `anhelpers run` leaves, with short pages."""
    folder = tmp_path / "build"
    folder.mkdir()
    for name in NAMES:
        text = f'<!DOCTYPE html><html><head></head><body class="jp-Notebook">{name}, &lt;/body&gt;</body></html>'
        (folder / f"{name}.html").write_text(text, "utf-8")
    return folder


def test_every_page_leads_to_its_neighbours_and_to_the_index(built, capsys):
    assert cli.main(["site", "--built", str(built), "--out", str(built / "site")]) == 0
    index = built / "site" / "index.html"
    assert capsys.readouterr().out.strip() == str(index)
    assert {p.name for p in index.parent.iterdir()} == {"index.html", *(f"{n}.html" for n in NAMES)}
    listed = re.findall(r'<li><a href="(\w+)\.html">', index.read_text("utf-8"))
    assert sorted(listed) == NAMES
    for i, name in enumerate(listed):
        page = (index.parent / f"{name}.html").read_text("utf-8")
        links = re.findall(r'href="(\w+)\.html"', page)
        around = [*listed[max(0, i - 1) : i], "index", *listed[i + 1 : i + 2]]
        assert links == 2 * around
        assert page.count("<nav") == 2
        assert name in page


def test_the_order_follows_what_is_to_be_read_before(built):
    text = site.write_site(built, built / "site").read_text("utf-8")
    listed = re.findall(r'<li><a href="(\w+)\.html">', text)
    assert listed[0] == "00_start_here"
    place = listed.index
    assert all(place(first) < place(name) for name in listed for first in BEFORE[name])
    linked = re.findall(r'[:;] <a href="(\w+)\.html">', text)
    assert linked == [first for name in listed for first in BEFORE[name]]


def test_notebooks_that_wait_for_each_other_are_listed_by_name():
    one, two, three = (
        About(name, name, 5, before, "Why?")
        for name, before in (("a", ("c",)), ("b", ()), ("c", ("a",)))
    )
    assert [told.name for told in site._in_order([three, one, two])] == ["b", "a", "c"]


def test_the_index_tells_minutes_and_questions_of_each_notebook(built):
    text = html.unescape(site.write_site(built, built / "site").read_text("utf-8"))
    for path in notebook_paths():
        told = about(path)
        assert told.title in text
        assert told.question in text
        assert f"{told.minutes} minutes" in text


def test_the_index_says_that_the_first_page_has_both_languages_where_it_has(built):
    said = "Its translations are English, each German source with a word-for-word gloss; a switch above the slider"
    assert said not in site.write_site(built, built / "site").read_text("utf-8")
    page = built / f"{NAMES[0]}.html"
    page.write_text(
        page.read_text("utf-8").replace("&lt;", '<div class="anx-parts"></div>&lt;'), "utf-8"
    )
    assert said in site.write_site(built, built / "site").read_text("utf-8")


def test_a_second_site_takes_the_place_of_the_first(built):
    first = site.write_site(built, built / "site")
    page = first.parent / f"{NAMES[0]}.html"
    page.write_text("old", "utf-8")
    site.write_site(built, built / "site")
    assert "old" not in page.read_text("utf-8")
    assert [p.name for p in built.iterdir() if p.name.startswith(".")] == []


def test_a_page_older_than_its_notebook_is_told(built, capsys):
    site.write_site(built, built / "site")
    assert "older" not in capsys.readouterr().err
    os.utime(built / f"{NAMES[2]}.html", (0, 0))
    site.write_site(built, built / "site")
    told = f"note: {NAMES[2]}: the page is older than the notebook; anhelpers run {NAMES[2]} --out {built} executes"
    assert told in capsys.readouterr().err


def test_a_missing_page_is_told_and_nothing_is_written(built, capsys):
    (built / f"{NAMES[3]}.html").unlink()
    assert cli.main(["site", "--built", str(built), "--out", str(built / "site")]) == 2
    assert f"{NAMES[3]}.html: is not there: execute the notebooks first" in capsys.readouterr().err
    assert not (built / "site").exists()


def test_a_folder_with_other_files_is_left_alone(built, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.html").write_text("mine", "utf-8")
    with pytest.raises(DataError, match=r"holds 'thesis\.html', which is no page of this site"):
        site.write_site(built, tmp_path / "mine")
    assert (tmp_path / "mine" / "thesis.html").read_text("utf-8") == "mine"


def test_a_site_that_is_too_large_is_refused(built, monkeypatch):
    monkeypatch.setattr(site, "MOST_BYTES", 1000)
    with pytest.raises(DataError, match="the site has 0 MB, more than 0"):
        site.write_site(built, built / "site")
    assert not (built / "site").exists()


def test_links_between_notebooks_lead_to_pages(built):
    page = built / f"{NAMES[0]}.html"
    page.write_text(
        f'<html><body><a href="{NAMES[1]}.ipynb">there</a> <a href="other.ipynb">x</a></body></html>',
        "utf-8",
    )
    text = (site.write_site(built, built / "site").parent / page.name).read_text("utf-8")
    assert f'<a href="{NAMES[1]}.html">there</a>' in text
    assert 'href="other.ipynb"' in text


def test_without_solutions_no_page_holds_an_answer(built, monkeypatch, capsys):
    monkeypatch.setattr(site, "notebook_paths", lambda: notebook_paths(NAMES[:2]))
    cell, text = nbformat.v4.new_code_cell, nbformat.v4.new_markdown_cell
    for name in NAMES[:2]:
        cells = [
            text("## Exercises"),
            cell("share = ...", metadata={"tags": ["exercise"]}),
            text("It is HIDDEN-1.", metadata={"tags": ["solution"]}),
            cell("share = 'HIDDEN-2'", metadata={"tags": ["solution"]}),
            cell(
                "assert share == 'HIDDEN-3'",
                metadata={"tags": ["check"]},
                outputs=[nbformat.v4.new_output("stream", text="HIDDEN-4\n")],
            ),
        ]
        nbformat.write(nbformat.v4.new_notebook(cells=cells), built / f"{name}.ipynb")
    call = ["site", "--built", str(built), "--out", str(built / "site"), "--no-solutions"]
    assert cli.main(call) == 0
    for name in NAMES[:2]:
        page = (built / "site" / f"{name}.html").read_text("utf-8")
        assert "share" in page
        assert "HIDDEN" not in page
        assert 'anx-solution"' not in page
        assert page.count("<nav") == 2
    (built / f"{NAMES[1]}.ipynb").unlink()
    assert cli.main(call) == 2
    assert f"{NAMES[1]}.ipynb: is not there: execute the notebooks first" in capsys.readouterr().err


def tags(book):
    return {tag for cell in book.cells for tag in cell.metadata.get("tags", [])}


def test_students_get_no_solutions_and_teachers_do(tmp_path, capsys):
    assert cli.main(["students", "--out", str(tmp_path)]) == 0
    printed = capsys.readouterr().out.split()
    assert len(printed) == 2 * len(NAMES)
    for path in notebook_paths():
        students, teachers = (
            nbformat.read(tmp_path / kind / path.name, 4) for kind in ("students", "teachers")
        )
        nbformat.validate(students)
        assert tags(teachers) - tags(students) == {"solution"}
        kept = [cell.source for cell in students.cells]
        assert kept == [
            c.source for c in teachers.cells if "solution" not in c.metadata.get("tags", [])
        ]
        assert [c.source for c in teachers.cells] == [
            c.source for c in nbformat.read(path, 4).cells
        ]


def test_a_students_work_is_not_written_over(tmp_path, capsys):
    assert cli.main(["students", NAMES[0], "--out", str(tmp_path)]) == 0
    assert cli.main(["students", NAMES[0], "--out", str(tmp_path)]) == 0
    mine = tmp_path / "students" / f"{NAMES[0]}.ipynb"
    mine.write_text(mine.read_text("utf-8") + "\n", "utf-8")
    before = {p: p.read_bytes() for p in tmp_path.rglob("*.ipynb")}
    assert cli.main(["students", NAMES[0], "--out", str(tmp_path)]) == 2
    assert "it may hold somebody's work" in capsys.readouterr().err
    assert {p: p.read_bytes() for p in tmp_path.rglob("*.ipynb")} == before
