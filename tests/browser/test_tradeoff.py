"""The A(N) explorer as a page."""

import re
from types import SimpleNamespace

import numpy as np
import pytest

SOURCES = ["the <b>river</b> bank", "a savings bank", "he runs", "she ran"]
TARGETS = ["Ufer", "Bank", "läuft", "<i>lief</i>", "rannte"]
SETUP = """import numpy as np
from anhelpers.exact import Problem, solve_curve
from anhelpers.widgets.tradeoff import tradeoff_explorer
rng = np.random.default_rng(3)
joint = rng.dirichlet(np.ones(20) * 0.4).reshape(4, 5)
curve = solve_curve(Problem(joint, 1 - np.eye(5), rng.dirichlet(np.ones(5))), "tv")"""
SHOW = (
    f"w = tradeoff_explorer(curve, {SOURCES}, {TARGETS}, title='A <claim>', langs=('en', 'de'))\nw"
)
SHARES = """root => [...root.querySelectorAll('tbody tr')].map(
    tr => [...tr.querySelectorAll('.anx-q')].map(td => parseFloat(td.style.getPropertyValue('--w')) / 100))"""
TEXTS = """root => [...root.querySelectorAll('tbody tr')].map(
    tr => [...tr.querySelectorAll('.anx-q')].map(td => td.textContent))"""


@pytest.fixture(scope="module")
def made():
    names = {}
    exec(f"{SETUP}\n{SHOW}", names)  # the same code as in the notebooks below
    return SimpleNamespace(curve=names["curve"], widget=names["w"])


@pytest.fixture
def opened(made, page, tmp_path):
    page.goto(made.widget.save(tmp_path / "tradeoff.html").as_uri())
    return SimpleNamespace(
        root=page.locator(".anx"), slider=page.get_by_role("slider"), **vars(made)
    )


def naturalness_of(root):
    return float(root.get_attribute("data-naturalness"))


def assert_shown(root, made, naturalness=None):
    """Table, point and readout are those of the exact curve at the N of the page."""
    n, curve = naturalness_of(root), made.curve
    assert naturalness is None or n == pytest.approx(naturalness, abs=1e-12)
    q = curve.translator_at(n)
    assert np.array(root.evaluate(SHARES)) == pytest.approx(q, abs=6e-4)
    for texts, row in zip(root.evaluate(TEXTS), q, strict=True):
        assert [text == "·" for text in texts] == (row < 5e-7).tolist()
    x0, x1, y0, y1, width, height = made.widget.data["box"]
    at = root.locator(".bxpoint_marks path").get_attribute("transform")
    a = float(curve.accuracy_at(n))
    want = (n - x0) / (x1 - x0) * width, height - (a - y0) / (y1 - y0) * height
    assert [float(v) for v in re.findall(r"-?[\d.]+", at)] == pytest.approx(want, abs=0.05)
    assert f"A(N) = {a:.3f}".replace("-", "−") in root.locator(".anx-readout").inner_text()
    marginal = curve.problem.marginal(q)
    above = marginal - curve.problem.reference
    for text, d in zip(root.locator(".anx-d").all_inner_texts(), above, strict=True):
        assert text[0] == ("▲" if d > 0.0005 else "▼" if d < -0.0005 else "0")


def test_keys_and_drag_show_the_exact_curve(drag, opened, page):
    root, slider = opened.root, opened.slider
    low, high = opened.curve.naturalness[[0, -1]]
    assert_shown(root, opened, (low + high) / 2)
    slider.focus()
    for keys, position in [
        (["Home"], 0),
        (["ArrowRight"], 1),
        (["PageUp"] * 3, 91),
        (["ArrowLeft"] * 2, 89),
        (["End"], 300),
        (["ArrowDown"], 299),
        (["PageDown"], 269),
        (["ArrowUp"], 270),
    ]:
        for key in keys:
            page.keyboard.press(key)
        assert_shown(root, opened, low + (high - low) * position / 300)
    assert drag(slider, "naturalness") >= 10
    assert_shown(root, opened)
    assert naturalness_of(root) == pytest.approx(low + (high - low) * 0.75, abs=0.03 * (high - low))


def test_buttons_go_from_vertex_to_vertex(opened, page):
    root, curve = opened.root, opened.curve
    opened.slider.focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    for n in curve.naturalness[1:]:
        page.get_by_label("Next vertex").click()
        assert_shown(root, opened, n)
    assert page.get_by_label("Next vertex").get_attribute("aria-disabled") == "true"
    page.keyboard.press("Enter")
    assert_shown(root, opened, curve.naturalness[-1])
    for n in curve.naturalness[-2::-1]:
        page.get_by_label("Previous vertex").click()
        assert_shown(root, opened, n)
    assert page.get_by_label("Previous vertex").get_attribute("aria-disabled") == "true"
