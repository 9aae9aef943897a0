"""The site: pages that link to each other, in one folder."""

import re

import pytest

from anhelpers import cli
from anhelpers.cli import site
from anhelpers.notebooks import about, notebook_paths
from anhelpers.notebooks.catalog import _About
from anhelpers.widgets import guess

BEFORE = {path.stem: about(path).before for path in notebook_paths()}


@pytest.fixture
def built(tmp_path):
    """A stand-in for what `anhelpers run` writes."""
    folder = tmp_path / "build"
    folder.mkdir()
    for name in BEFORE:
        link = '<a href="an_3_tradeoff.ipynb">x</a>'
        text = f"<html><head></head><body class=x>{name}, &lt;/body&gt; {link}</body></html>"
        (folder / f"{name}.html").write_text(text, "utf-8")
    return folder


def made(built):
    return cli.main(["site", "--built", str(built), "--out", str(built / "site")])


def test_every_page_links_to_its_neighbours_and_to_the_index(built, capsys):
    assert made(built) == made(built) == 0
    index = built / "site" / "index.html"
    assert capsys.readouterr().out.split() == [str(index)] * 2
    listed = re.findall(r'<li><a href="(\w+)\.html">', index.read_text("utf-8"))
    assert sorted(listed) == sorted(BEFORE)
    assert listed[0] == "00_start_here"
    place = listed.index
    assert all(place(first) < place(name) for name in listed for first in BEFORE[name])
    for i, name in enumerate(listed):
        page = (index.parent / f"{name}.html").read_text("utf-8")
        around = [*listed[max(0, i - 1) : i], "index", *listed[i + 1 : i + 2]]
        assert re.findall(r'href="(\w+)\.html"', page) == [*around, "an_3_tradeoff", *around]
    assert sorted(p.name for p in index.parent.iterdir()) == sorted(
        ["index.html", *(f"{name}.html" for name in BEFORE)]
    )


def test_the_index_opens_with_the_first_widget_of_the_first_page(built):
    first, second = (guess(ask, (1.0, "Yes."), range=(0, 2)).fragment() for ask in ("A?", "B?"))
    page = f"<html><head></head><body>{first}<p>{second}</body></html>"
    (built / "00_start_here.html").write_text(page, "utf-8")
    assert made(built) == 0
    text = (built / "site" / "index.html").read_text("utf-8")
    assert (text.count(first), text.count(second)) == (1, 0)


def test_notebooks_that_wait_for_each_other_are_listed_by_name():
    one, two, three = (
        _About(name, name, 5, before, "Why?")
        for name, before in (("a", ("c",)), ("b", ()), ("c", ("a",)))
    )
    assert [told.name for told in site._in_order([three, one, two])] == ["b", "a", "c"]


def test_a_missing_page_or_a_foreign_folder_stops_it(built, capsys):
    (built / "site").mkdir()
    (built / "site" / "thesis.html").write_text("mine", "utf-8")
    assert made(built) == 2
    assert (built / "site" / "thesis.html").read_text("utf-8") == "mine"
    (built / "site" / "thesis.html").unlink()
    page = built / "an_3_tradeoff.html"
    for damaged in (b"<html><head>", page.read_text("utf-8").encode("utf-16"), None):
        page.unlink() if damaged is None else page.write_bytes(damaged)
        assert made(built) == 2
        assert "an_3_tradeoff.html" in capsys.readouterr().err
    assert not [*(built / "site").iterdir()]
