"""The slides in a browser: keys, sheets of paper, nothing below the edge of a projector's screen."""

import re
from base64 import b64encode

import nbformat
import pytest

from anhelpers.classroom import pack
from anhelpers.notebooks import notebook_paths

SVG = """<svg xmlns="http://www.w3.org/2000/svg" width="700" height="480"><rect width="700" height="480"/></svg>"""
PICTURE = f"<img alt='drawn' src='data:image/svg+xml;base64,{b64encode(SVG.encode()).decode()}'>"


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The collection as if executed: every code cell prints a line and draws the same picture."""
    folder = tmp_path_factory.mktemp("built")
    for name, book in ((path.stem, nbformat.read(path, 4)) for path in notebook_paths()):
        for cell in (c for c in book.cells if c.cell_type == "code"):
            cell.outputs = [
                nbformat.v4.new_output("stream", text=f"printed by {cell.id}\n"),
                nbformat.v4.new_output("display_data", {"text/html": PICTURE}),
            ]
        nbformat.write(book, folder / f"{name}.ipynb")
    return folder


def test_slides_turn_by_keys_and_print_ten_sheets_and_the_handout_two_sides(built, tmp_path, page):
    slides, handout, _ = pack.write_pack(built, tmp_path)
    page.goto(slides.as_uri())
    shown = page.locator("section:visible")
    for key, k in [
        ("ArrowRight", 2),
        ("PageDown", 3),
        ("ArrowLeft", 2),
        ("End", 10),
        ("ArrowRight", 10),
        ("Home", 1),
    ]:
        page.keyboard.press(key)
        assert shown.count() == 1
        assert shown.get_attribute("aria-label") == f"slide {k} of 10"
    page.set_viewport_size({"width": 1280, "height": 720})
    for k in range(1, 11):
        assert page.evaluate("document.documentElement.scrollHeight") <= 720, k
        page.keyboard.press("ArrowRight")
    for path, sheets in ((slides, 10), (handout, 2)):
        page.goto(path.as_uri())
        printed = page.pdf(prefer_css_page_size=True)
        assert len(re.findall(rb"/Type\s*/Page\b(?!s)", printed)) == sheets
