"""The A(N) explorer in a browser: as a page of its own, in a real JupyterLab, and in an exported notebook."""

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
BOLD = """root => [...root.querySelectorAll('tbody tr')].map(
    tr => [...tr.querySelectorAll('.anx-q')].map(td => getComputedStyle(td).fontWeight === '700'))"""


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


def test_the_slider_of_beta_jumps_from_vertex_to_vertex(opened, page):
    root, slider, curve = opened.root, opened.slider, opened.curve
    page.get_by_label("slider moves").select_option("beta")
    assert page.get_by_label("β (naturalness weight)").count() == 1
    slider.focus()
    page.keyboard.press("Home")
    assert_shown(root, opened, curve.naturalness[0])
    seen = [naturalness_of(root)]
    for _ in range(300):
        page.keyboard.press("ArrowRight")
        said = slider.get_attribute("aria-valuetext").split(" · ")[0].removeprefix("β = ")
        n = naturalness_of(root)
        # not where it is rounded to a corner
        if said != "∞" and abs(float(said) / curve.beta[1:] - 1).min() > 0.01:
            assert n == curve.naturalness[curve.vertex(float(said))]
        seen += [n] if n != seen[-1] else []
    assert said == "∞"
    assert seen == curve.naturalness.tolist()
    page.keyboard.press("End")
    page.keyboard.press("PageDown")
    assert naturalness_of(root) in curve.naturalness


def test_what_a_screen_reader_says(opened, page):
    slider, curve = opened.slider, opened.curve
    slider.focus()
    page.keyboard.press("End")
    a, b = curve.accuracy[-1], curve.beta[-1]
    said = slider.get_attribute("aria-valuetext")
    assert said == f"N = 0.000 · A(N) = −{-a:.3f} · β ≥ {float(f'{b:.3g}'):g}"
    page.keyboard.press("Home")
    said = slider.get_attribute("aria-valuetext")
    assert said.endswith(f"β from 0 to {float(f'{curve.beta[1]:.3g}'):g}")
    page.keyboard.press("ArrowRight")
    assert slider.get_attribute("aria-valuetext").endswith(f"β = {float(f'{curve.beta[1]:.3g}'):g}")
    assert page.get_by_label("N (naturalness)").count() == 1
    assert (
        opened.root.locator("svg")
        .get_attribute("aria-label")
        .startswith("A(N) under total variation from")
    )
    assert opened.root.locator("td.anx-nil").first.get_attribute("aria-label") == "0 %"


def test_texts_are_texts_and_the_most_probable_is_bold(opened, page):
    root, curve = opened.root, opened.curve
    assert "the <b>river</b> bank" in root.inner_text()
    assert root.locator("td b, th b, th i").count() == 0
    opened.slider.focus()
    page.keyboard.press("PageUp")
    q = curve.translator_at(naturalness_of(root))
    bold = root.evaluate(BOLD)
    assert bold == (q >= q.max(axis=1, keepdims=True) - 1e-6).tolist()
    assert root.locator("thead th[lang=de]").count() == 5
    assert root.locator("tbody th[lang=en]").count() == 4


def test_it_fits_a_projector_and_a_narrow_screen(fits, opened, page):
    fits(opened.root, ".anx-chart", "tfoot", ".anx-bar", ".anx-readout")
    assert opened.slider.bounding_box()["width"] > 300


def test_a_world_without_a_tradeoff_has_a_slider_that_stays(page, tmp_path):
    from anhelpers.exact import Problem, solve_curve
    from anhelpers.widgets.tradeoff import tradeoff_explorer

    flat = solve_curve(Problem([[0.5, 0], [0, 0.5]], 1 - np.eye(2), [0.5, 0.5]), "tv")
    page.goto(tradeoff_explorer(flat, ["a", "b"], ["A", "B"]).save(tmp_path / "flat.html").as_uri())
    for scale in ("naturalness", "beta"):
        page.get_by_label("slider moves").select_option(scale)
        page.get_by_role("slider").focus()
        for key in ("Home", "ArrowRight", "End", "PageDown"):
            page.keyboard.press(key)
            assert naturalness_of(page.locator(".anx")) == 0
    assert "β ≥ 0" in page.locator(".anx-readout").inner_text()


def test_without_scripts_a_picture_and_three_tables_remain(made, without_scripts, tmp_path):
    page = without_scripts(made.widget.save(tmp_path / "tradeoff.html"))
    assert (
        page.get_by_role("img").get_attribute("alt").startswith("A(N) under total variation from")
    )
    assert page.locator("table").count() == 3
    assert page.locator("tbody tr").count() == 3 * 4


def test_in_jupyterlab(by_hand, in_lab, run_cell, printed, n_cells, made, page):
    in_lab(
        "tradeoff.ipynb",
        SETUP,
        SHOW,
        "print(w.naturalness, w.scale)\nw.naturalness = curve.naturalness[1]",
    )
    for cell in (0, 1):
        run_cell(cell)
    root, slider = page.locator(".anx"), page.get_by_role("slider")
    root.wait_for()
    by_hand(slider, "naturalness")
    slider.focus()
    for key in ("Home", "PageUp", "ArrowRight"):
        page.keyboard.press(key)
        assert_shown(root, made)
    for part in (slider, page.locator(".anx-table")):
        part.focus()
        for key in "ddbx":
            page.keyboard.press(key)
    assert n_cells() == 3
    at = naturalness_of(root)
    assert printed(2) == [str(at), "naturalness"]
    page.wait_for_function(f"document.querySelector('.anx').dataset.naturalness != {at}")
    assert_shown(root, made, made.curve.naturalness[1])


@pytest.fixture(scope="module")
def executed(execute):
    return execute("tradeoff_static.ipynb", SETUP, SHOW)


def test_exported_notebook_works_without_kernel(by_hand, executed, made, page, exported):
    page.goto(exported(executed))
    by_hand(page.get_by_role("slider"), "naturalness")
    page.get_by_role("slider").focus()
    for key in ("Home", "PageUp", "End"):
        page.keyboard.press(key)
        assert_shown(page.locator(".anx"), made)


def test_untrusted_notebook_shows_picture_and_tables(executed, untrusted):
    output = untrusted("tradeoff_static.ipynb")
    assert output.locator("img").count() == 1
    assert output.locator("table").count() == 3
    assert "the <b>river</b> bank" in output.inner_text()
    assert output.locator("td b").count() >= 12


def test_numbers_have_no_minus_before_a_zero(page):
    from anhelpers.widgets.base import HERE

    script = (HERE / "common.js").read_text(encoding="utf-8")
    said = page.evaluate(
        f"() => {{ {script}\n return [-0.003, 0, -1.25, -0.04].map((v) => number(v, 2)); }}"
    )
    assert said == ["0.00", "0.00", "\u22121.25", "\u22120.04"]
