"""The explorers on a grid in a browser: as a page of their own, in a real JupyterLab, and in an exported notebook."""

import re
from types import SimpleNamespace

import nbformat
import pytest

from anhelpers.notebooks import notebook_paths

SETUP = """import numpy as np
from anhelpers.exact import Problem
from anhelpers.widgets.explained import shift_explorer
joint = np.array([[3, 1], [1, 3]]) / 8
off = 1 - np.eye(2)
worlds = {"<b>greetings</b>": Problem(joint, off, joint.sum(0)), "careless": Problem(joint, 0 * off, joint.sum(0))}"""
SHOW = "w = shift_explorer(worlds, ['<i>Good</i> morning.', 'Hi.'], ['Guten Morgen.', 'Moin.'], title='A <claim>')\nw"


@pytest.fixture(scope="module")
def made():
    names = {}
    exec(f"{SETUP}\n{SHOW}", names)  # the same code as in the notebooks below
    return names["w"]


@pytest.fixture
def opened(made, page, tmp_path):
    page.goto(made.save(tmp_path / "grid.html").as_uri())
    return SimpleNamespace(root=page.locator(".anx"), slider=page.get_by_role("slider"))


def assert_shown(root, w, place, view="<b>greetings</b>"):
    """Numbers, bars, sentence and marks are Python's own for that place."""
    assert int(root.get_attribute("data-place")) == place
    shown = next(one for one in w.data["views"] if one["name"] == view)
    part = next(one for one in root.locator(".anx-view").all() if one.is_visible())
    assert part.locator(".anx-readout").inner_text() == w.given[view].said[place]
    assert part.locator(".anx-number").all_inner_texts() == [
        row["texts"][place] for row in shown["rows"]
    ]
    for bar, row in zip(part.locator(".anx-fill").all(), shown["rows"], strict=True):
        wide = float(re.search(r"width: ([\d.]+)%", bar.get_attribute("style"))[1])
        assert wide == pytest.approx(row["value"][place] - row["zero"], abs=0.01)
    x0, x1, y0, y1, width, height = shown["box"]
    for k, y in enumerate(shown["y"]):
        moved = part.locator(f".bxpoint{k}_marks path").get_attribute("transform")
        at = [float(number) for number in re.findall(r"-?[\d.]+(?:e-?\d+)?", moved)]
        left = (w.data["x"][place] - x0) / (x1 - x0) * width
        down = height - (y[place] - y0) / (y1 - y0) * height
        assert at == pytest.approx([left, down], abs=0.01)


def test_keys_and_buttons(opened, made, page):
    assert_shown(opened.root, made, 0)
    opened.slider.focus()
    for key, place in (("End", 50), ("PageDown", 40), ("ArrowLeft", 39), ("Home", 0)):
        page.keyboard.press(key)
        assert_shown(opened.root, made, place)
    page.get_by_label("Next stop, to the right").click()
    assert_shown(opened.root, made, 10)
    page.get_by_label("Previous stop, to the left").click()
    assert_shown(opened.root, made, 0)
    assert page.get_by_label("Previous stop, to the left").get_attribute("aria-disabled") == "true"


def test_another_world(opened, made, page):
    page.get_by_label("world").select_option("careless")
    assert_shown(opened.root, made, 0, "careless")
    opened.slider.focus()
    page.keyboard.press("End")
    assert_shown(opened.root, made, 50, "careless")
    said = opened.slider.get_attribute("aria-valuetext")
    assert said.startswith("ε = 0.5 · Best: “<i>Good</i> morning.” → “Guten Morgen.” or “Moin.”")


def test_lines_and_the_verdict_appear_as_one_drags(opened, made, page):
    part = opened.root.locator(".anx-view").first
    shown, verdict = part.locator("clipPath rect"), part.locator(".anx-text")
    x0, x1, *_, width, _ = made.data["views"][0]["box"]

    def drawn():  # from and to, as values of ε
        at, wide = (float(shown.get_attribute(name)) for name in ("x", "width"))
        return [x0 + v / width * (x1 - x0) for v in (at, at + wide)]

    lines = part.locator(".lines_marks").first
    assert (
        lines.get_attribute("clip-path") == f"url(#{part.locator('clipPath').get_attribute('id')})"
    )
    name = part.locator("text", has_text=re.compile("^the best$"))

    def stands():  # the name of the line, beside the end of what is drawn of it
        mark, said = part.locator(".bxpoint0_marks path").bounding_box(), name.bounding_box()
        middle = mark["y"] + mark["height"] / 2
        return (
            mark["x"] < said["x"] < mark["x"] + 60
            and said["y"] < middle < said["y"] + said["height"]
        )

    assert drawn() == pytest.approx([0, 0], abs=1e-9)
    assert not verdict.is_visible()
    assert stands()
    opened.slider.focus()
    page.keyboard.press("PageUp")
    assert stands()
    page.keyboard.press("Home")
    assert not stands()
    page.reload()
    opened.slider.focus()
    for key, far in (("PageUp", 0.1), ("ArrowLeft", 0.1), ("End", 0.5), ("Home", 0.5)):
        page.keyboard.press(key)
        assert drawn() == pytest.approx([0, far], abs=1e-9)
        assert verdict.is_visible()
    page.reload()
    assert drawn() == pytest.approx([0, 0], abs=1e-9)
    page.emulate_media(media="print")  # paper has no slider: all of it
    assert verdict.is_visible()
    assert lines.evaluate("one => getComputedStyle(one).clipPath") == "none"


def test_a_mouse_drags_it(drag, opened, made):
    assert drag(opened.slider, "place") >= 10
    assert_shown(opened.root, made, int(opened.root.get_attribute("data-place")))


def test_it_fits_a_projector_and_a_narrow_screen(fits, opened):
    fits(opened.root, ".anx-chart >> nth=0", "table >> nth=0", ".anx-bar")


def test_without_scripts(made, without_scripts, tmp_path):
    page = without_scripts(made.save(tmp_path / "grid.html"))
    assert page.get_by_role("img").count() == 1
    assert page.locator("table").count() == 2
    assert "people say “Guten Morgen.”" in page.locator("table").first.inner_text()


def test_in_jupyterlab(by_hand, in_lab, run_cell, printed, n_cells, made, page):
    in_lab("grid.ipynb", SETUP, SHOW, "print(w.place)\nw.place = 7\nw.view = 'careless'")
    for cell in (0, 1):
        run_cell(cell)
    root, slider = page.locator(".anx"), page.get_by_role("slider")
    root.wait_for()
    by_hand(slider, "place")
    slider.focus()
    for key in ("Home", "PageUp", "ArrowRight"):
        page.keyboard.press(key)
    for key in "ddbx":
        page.keyboard.press(key)
    assert n_cells() == 3
    assert printed(2) == ["11"]
    page.wait_for_function("document.querySelector('.anx').dataset.view === 'careless'")
    page.wait_for_function("document.querySelector('.anx').dataset.place === '7'")
    assert_shown(root, made, 7, "careless")


def test_an_exported_notebook_needs_no_kernel(by_hand, execute, exported, made, page):
    page.goto(exported(execute("grid_static.ipynb", SETUP, SHOW)))
    by_hand(page.get_by_role("slider"), "place")
    page.get_by_role("slider").focus()
    page.keyboard.press("PageUp")
    assert_shown(page.locator(".anx"), made, int(page.locator(".anx").get_attribute("data-place")))


def test_python_hears_the_slider_by_the_cell_of_the_notebook(in_lab, run_cell, made, page):
    (path,) = notebook_paths(["an_b_uniqueness"])
    (listener,) = (c.source for c in nbformat.read(path, 4).cells if "shifted.observe" in c.source)
    in_lab("heard.ipynb", SETUP, SHOW.replace("w = ", "shifted = ")[:-1] + "shifted", listener)
    for cell in range(3):
        run_cell(cell)
    line = page.locator(".jp-RenderedText").last
    told = [
        f"{where}: {said}"
        for where, said in zip(made.data["places"], made.given[made.view].said, strict=True)
    ]
    line.get_by_text(told[25], exact=True).wait_for()  # as the cell has set it
    page.get_by_role("slider").focus()
    for key, place in (("Home", 0), ("PageUp", 10)):
        page.keyboard.press(key)
        line.get_by_text(told[place], exact=True).wait_for()
