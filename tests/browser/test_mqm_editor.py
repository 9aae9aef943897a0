"""The MQM editor as a page."""

import re
from types import SimpleNamespace

import numpy as np
import pytest

from anhelpers.data import ratings_file, read_ratings
from anhelpers.widgets.mqm_editor import mqm_editor

SETUP = """from dataclasses import replace
from anhelpers.data import ratings_file, read_ratings
from anhelpers.widgets.mqm_editor import mqm_editor
ratings = read_ratings(ratings_file("teaching"))
ratings = replace(ratings, systems=("<b>Human</b>", *ratings.systems[1:]))
kinds = {s: s.split("-")[0] for s in ratings.systems if s.startswith(("LLM", "MT"))}"""
SHOW = "w = mqm_editor(ratings, kinds=kinds, title='A <claim>')\nw"
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")
DRAWN = """(root, layer) => [...root.querySelectorAll(`.${layer}_marks :is(path, line, text)`)].map(e => ({
    at: e.getAttribute('transform'), seen: e.getAttribute('visibility') !== 'hidden', text: e.textContent,
    x2: +e.getAttribute('x2'), y2: +e.getAttribute('y2') }))"""


@pytest.fixture(scope="module")
def made():
    names = {}
    exec(f"{SETUP}\n{SHOW}", names)  # the same code as in the notebooks below
    return SimpleNamespace(widget=names["w"])


def restore(widget):
    widget.weights, widget.categories = (widget.data["start"][k] for k in ("weights", "categories"))


@pytest.fixture
def opened(made, page, tmp_path):
    restore(made.widget)
    page.goto(made.widget.save(tmp_path / "editor.html").as_uri())
    return SimpleNamespace(root=page.locator(".anx"), **vars(made))


def slider(page, name):
    return page.get_by_role("slider", name=name, exact=True)


def side(page, category):
    return page.get_by_label(f"{category} counts for", exact=True)


def points(text):
    return [float(v) for v in NUMBER.findall(text)]


def assert_shown(root, widget):
    """Marks, lines, words and numbers are those that Python has for the weights and categories of the page."""
    from anhelpers.mqm import KINDS
    from anhelpers.widgets.mqm_editor import _penalties

    table, data = widget.systems(), widget.data
    for name, weight in widget.weights.items():
        said = root.locator(".anx-weights label", has_text=re.compile(f"^{re.escape(name)}$"))
        value = root.locator(f"output[for='{said.get_attribute('for')}']").inner_text()
        start = data["start"]["weights"][name]
        assert value == (f"{weight:g}" if weight == start else f"{weight:g}, was {start:g}")
    for name, on in widget.categories.items():
        assert root.locator(f"select[aria-label='{name} counts for']").input_value() == on
    x0, x1, y0, y1, width, height = data["box"]
    zoom = points(root.get_attribute("data-zoom"))
    places = []
    for _, accuracy, fluency in (
        table[list(KINDS)].to_numpy().T,
        _penalties(data, data["start"]).T,
    ):
        x, y = -fluency / zoom[0], -accuracy / zoom[1]
        x, y, left, right, low, high = (
            np.sign(v) * np.sqrt(np.abs(v)) for v in (x, y, x0, x1, y0, y1)
        )
        at = (x - left) / (right - left) * width, height - (y - low) / (high - low) * height
        places.append(np.stack(at, axis=1))
    drawn = {
        name: root.evaluate(DRAWN, f"bx{name}")
        for name in ("system", "ring", "start", "trace", "label")
    }
    moved = np.abs(places[0] - places[1]).max(axis=1) > 1e-7
    for layer, at in (
        ("system", places[0]),
        ("ring", places[0]),
        ("start", places[1]),
        ("trace", places[1]),
    ):
        assert np.array([points(one["at"]) for one in drawn[layer]]) == pytest.approx(at, abs=1e-3)
    ends = np.array([[one["x2"], one["y2"]] for one in drawn["trace"]])
    assert ends == pytest.approx(places[0] - places[1], abs=1e-3)
    assert [one["seen"] for one in drawn["ring"]] == table.pareto.tolist()
    assert [one["seen"] for one in drawn["trace"]] == moved.tolist()
    assert [one["text"] for one in drawn["label"]] == table.system.tolist()
    assert places[0].min() > -1


def test_keys_and_selects_move_the_systems(opened, page):
    root, widget = opened.root, opened.widget
    assert_shown(root, widget)
    for name, keys, value in (("Major", ["ArrowRight"], 5.1), ("Minor", ["Home"], 0)):
        slider(page, name).focus()
        for key in keys:
            page.keyboard.press(key)
        widget.weights = {name: value}
        assert_shown(root, widget)
    for category, on in (("Fluency/Grammar", "accuracy"), ("Accuracy/Omission", "neither")):
        side(page, category).select_option(on)
        widget.categories = {category: on}
        assert_shown(root, widget)
    page.get_by_label("Reset to scheme").click()
    restore(widget)
    assert_shown(root, widget)


def test_a_translation_is_marked_and_compared(page, tmp_path):
    from anhelpers import mqm

    ratings = read_ratings(ratings_file("teaching/de-en"), texts=True)
    tables = mqm.load_scheme("wmt"), mqm.load_weights("freitag2021")
    shown = mqm.marked_example(ratings, mqm.marks_table(ratings, *tables), 110)
    widget = mqm_editor(ratings, example=shown, gloss="word for word")
    page.goto(widget.save(tmp_path / "marked.html").as_uri())
    root = page.locator(".anx")
    for word in ("dinner", "in", "Thursday,"):
        root.get_by_role("button", name=word, exact=True).focus()
        page.keyboard.press("Enter")
    assert "Your errors (2): accuracy 10 + fluency 0" in root.inner_text()
    assert not root.locator(".anx-chart").is_visible()
    root.get_by_role("button", name="Compare").click()
    said = root.locator(".anx-rater b").all_inner_texts()
    assert [text.split(" = ")[1].split()[0] for text in said] == ["5", "6"]
    assert not root.locator(".anx-chart").is_visible()
