"""What holds for every widget: contrast in both themes, names of controls, the keyboard's way, print, every width."""

import ast
import contextlib
import sys
from pathlib import Path

import pytest

from anhelpers import widgets

HERE = Path(__file__).parent


def constants(path):
    """SETUP and SHOW of a test file: how its widget `w` is made in a notebook; of several SHOWS, {name: code}."""
    known = {}
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.Assign):
            with contextlib.suppress(NameError):  # of what a test file imports
                exec(ast.unparse(node), known)
    shows = known.get("SHOWS") or {path.stem.removeprefix("test_"): known.get("SHOW")}
    return {name: [known["SETUP"], show] for name, show in shows.items() if show}


WIDGETS = {k: v for path in sorted(HERE.glob("test_*.py")) for k, v in constants(path).items()}


@pytest.fixture(scope="module", params=sorted(WIDGETS))
def saved(request, tmp_path_factory):
    """The address of a widget's own page."""
    names = {"PATH": None}  # where the raters' sheet would be saved
    sys.path.insert(0, str(HERE))
    try:
        exec("\n".join(WIDGETS[request.param]), names)
    finally:
        sys.path.remove(str(HERE))
    return names["w"].save(tmp_path_factory.mktemp("access") / f"{request.param}.html").as_uri()


@pytest.fixture
def show(saved, page):
    """A function that opens the page as a medium or theme wants it."""

    def opened(**media):
        page.emulate_media(**media)
        page.goto(saved)
        page.locator(".anx").first.wait_for()
        page.add_script_tag(path=HERE / "access.js")
        return page

    return opened


def weak(page):
    return [
        (text, round(ratio, 2))
        for ratio, least, text, _ in page.evaluate("access.texts()")
        if ratio < least
    ]


def test_every_kind_of_widget_is_looked_at():
    scripts = Path(widgets.__file__).parent.glob("*.js")
    shown = {path.stem for path in scripts if "function render(" in path.read_text("utf-8")}
    assert set(WIDGETS) == shown


def test_the_measures_see_what_is_wrong(page):
    page.set_content(
        "<div class=anx><p style='color: #999'>pale</p><p>plain</p><button></button><input type=range></div>"
    )
    page.add_script_tag(path=HERE / "access.js")
    assert weak(page) == [("pale", 2.85)]
    assert [control[:7] for control in page.evaluate("access.nameless()")] == ["<button", "<input "]
    assert page.evaluate("access.stops()") == 2


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_text_stands_out_and_is_large_enough(show, theme):
    page = show(color_scheme=theme)
    assert weak(page) == []
    assert [(text, size) for _, _, text, size in page.evaluate("access.texts()") if size < 11] == []


def test_every_control_has_a_name_and_the_tabulator_passes_by_them_all(show):
    page = show()
    assert page.evaluate("access.nameless()") == []
    stops = page.evaluate("access.stops()")
    passed = set()
    for _ in range(stops):
        page.keyboard.press("Tab")
        passed.add(
            page.evaluate("[...document.querySelectorAll('*')].indexOf(document.activeElement)")
        )
    assert len(passed) == stops
    page.keyboard.press("Tab")
    assert page.evaluate("!document.activeElement.closest('.anx')")


def test_in_print_the_numbers_stay_and_the_controls_go(show):
    page = show(media="print", color_scheme="dark")
    assert not any(
        control.is_visible()
        for control in page.locator(".anx :is(button, input[type=range])").all()
    )
    assert page.locator(".anx :is(svg, table, .anx-question, .anx-stack)").first.is_visible()
    assert (
        page.locator(".anx").first.evaluate("e => getComputedStyle(e).backgroundColor")
        == "rgb(255, 255, 255)"
    )
    assert weak(page) == []


@pytest.mark.parametrize("width", [390, 1280])
def test_no_text_is_beyond_the_edge(show, page, width):
    page.set_viewport_size({"width": width, "height": 720})
    show()
    assert (
        page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        <= 0
    )
