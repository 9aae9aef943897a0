"""The correction explorer in a browser: as a page of its own, in a real JupyterLab, and in an exported notebook."""

import re
from types import SimpleNamespace

import numpy as np
import pytest

SETUP = """from anhelpers.widgets.decisions import correction_explorer
from anhelpers.xmi.features import feature_correlations
from anhelpers.xmi.published import FEATURE_NAMES, published_table, read_features
names = FEATURE_NAMES | {"src_ttr": "<b>TTR</b>"}
found = feature_correlations(published_table(), read_features())"""
SHOW = "w = correction_explorer(found, names=names, title='A <claim>')\nw"
FILLS = ["#0072B2", "#009E73", "#D55E00", "#FFFFFF"]  # of the levels, from all three rules to none


@pytest.fixture(scope="module")
def made():
    names = {}
    exec(f"{SETUP}\n{SHOW}", names)  # the same code as in the notebooks below
    return SimpleNamespace(found=names["found"], widget=names["w"], names=names["names"])


@pytest.fixture
def opened(made, page, tmp_path):
    page.goto(made.widget.save(tmp_path / "decisions.html").as_uri())
    return SimpleNamespace(
        root=page.locator(".anx"), slider=page.get_by_role("slider"), **vars(made)
    )


def alpha_of(root):
    return float(root.get_attribute("data-alpha"))


def assert_shown(root, made, alpha=None):
    """Marks, table and words are those of three comparisons made here, and the thresholds stand where they belong."""
    from anhelpers.charts.decisions import claim

    a = alpha_of(root)
    assert alpha is None or a == alpha
    low, high, width = made.widget.data["span"]
    for i, (_, rows) in enumerate(made.found.groupby("method", sort=False)):
        rows, m = rows.sort_values("p", kind="stable"), len(rows)
        rejected = {
            "uncorrected": rows.p < a,
            "Holm": rows.p_holm < a,
            "Bonferroni": rows.p < a / m,
        }
        fills = root.locator(f".bxp{i}_marks path").evaluate_all(
            "marks => marks.map(m => m.getAttribute('fill'))"
        )
        assert fills == [
            FILLS[3 - k] for k in sum(flags.astype(int) for flags in rejected.values())
        ]
        for rule, flags in rejected.items():
            names = [made.names[feature] for feature in rows.feature[flags]]
            cell = root.locator("tbody tr", has_text=rule).locator("td").nth(i)
            assert cell.inner_text() == f"{len(names)} of {m}" + (
                f": {', '.join(names)}" if names else ""
            )
        line = root.locator(f".bxalpha{i}_marks")
        drawn = line.locator("line").get_attribute("transform")
        at = sum(
            float(re.search(r"-?[\d.]+(?:e-?\d+)?", t)[0])
            for t in (drawn, line.get_attribute("transform"))
        )
        assert at == pytest.approx((np.log10(a) - low) / (high - low) * width, abs=0.01)
        for name in ("bxholm", "bxbonferroni", "bxholmlabel", "bxbonferronilabel", "bxalphalabel"):
            moved = root.locator(f".{name}{i}_marks").get_attribute("transform")
            assert moved == line.get_attribute("transform")
    assert root.locator(".anx-readout").inner_text() == claim(made.found, a)
    assert (
        f"{17 * a:.3g} for Pearson, {17 * a:.3g} for Spearman"
        in root.locator(".anx-expected").inner_text()
    )


def test_keys_show_every_decision(opened, page):
    assert_shown(opened.root, opened, 0.05)
    opened.slider.focus()
    for keys, alpha in [
        (["Home"], 0.001),
        (["ArrowRight"], 0.002),
        (["PageUp"] * 4, 0.042),
        (["ArrowLeft"] * 2, 0.04),
        (["PageUp"] * 3, 0.07),
        (["End"], 0.2),
        (["ArrowDown"], 0.199),
        (["PageDown"], 0.189),
        (["ArrowUp"], 0.19),
    ]:
        for key in keys:
            page.keyboard.press(key)
        assert_shown(opened.root, opened, alpha)


def test_a_mouse_drags_it(drag, opened, page):
    root, slider = opened.root, opened.slider
    assert drag(slider, "alpha") >= 10
    assert alpha_of(root) == pytest.approx(0.15, abs=0.005)
    assert_shown(root, opened)


def test_buttons_go_from_change_to_change(opened, page):
    """Each lands where something differs from where it came from, and between the two nothing changes."""
    grid = np.arange(1, 201) / 1000
    p, holm = (opened.found[name].to_numpy() for name in ("p", "p_holm"))
    codes = [tuple((p < a).astype(int) + (holm < a) + (p < a / 17)) for a in grid]
    ups = [a for a, before, now in zip(grid[1:], codes, codes[1:], strict=False) if before != now]
    opened.slider.focus()
    page.keyboard.press("Home")
    for alpha in ups:
        page.get_by_label("Next change").click()
        assert alpha_of(opened.root) == alpha
    assert_shown(opened.root, opened)
    assert page.get_by_label("Next change").get_attribute("aria-disabled") == "true"
    page.keyboard.press("Enter")
    assert alpha_of(opened.root) == ups[-1]
    for alpha in ups[::-1]:
        page.get_by_label("Previous change").click()
        assert alpha_of(opened.root) == pytest.approx(alpha - 0.001, abs=1e-12)
    assert page.get_by_label("Previous change").get_attribute("aria-disabled") == "true"


def test_what_a_screen_reader_says(opened, page):
    opened.slider.focus()
    page.keyboard.press("ArrowRight")
    said = opened.slider.get_attribute("aria-valuetext")
    assert said == "α = 0.051 · 14 of 34 p-values are below 0.051: Bonferroni leaves 3, Holm 4"
    assert page.get_by_label("α (false alarms allowed)").count() == 1
    assert (
        opened.root.locator("svg")
        .get_attribute("aria-label")
        .startswith("pearson: <b>TTR</b> r = -0.52")
    )
    assert opened.root.locator("tbody th").first.inner_text() == "uncorrected\np < 0.051"
    assert opened.root.locator("td b").count() == 0


def test_it_fits_a_projector_and_a_narrow_screen(fits, opened, page):
    fits(opened.root, ".anx-chart", "table", ".anx-bar", ".anx-readout")
    assert opened.slider.bounding_box()["width"] > 300


def test_an_alpha_from_python_between_two_steps(made, page, tmp_path):
    from anhelpers.widgets.decisions import correction_explorer

    own = correction_explorer(made.found, 0.0123, names=made.names)
    page.goto(own.save(tmp_path / "own.html").as_uri())
    shown = SimpleNamespace(**vars(made) | {"widget": own})
    assert_shown(page.locator(".anx"), shown, 0.0123)
    page.get_by_role("slider").focus()
    page.keyboard.press("ArrowRight")
    assert_shown(page.locator(".anx"), shown, 0.013)


def test_without_scripts_a_picture_and_three_tables_remain(made, without_scripts, tmp_path):
    page = without_scripts(made.widget.save(tmp_path / "decisions.html"))
    assert page.get_by_role("img").get_attribute("alt").startswith("pearson: <b>TTR</b> r = -0.52")
    assert page.locator("table").count() == 3
    assert "5 of 17: <b>TTR</b>, source POS entropy" in page.locator("table").nth(1).inner_text()


def test_in_jupyterlab(by_hand, in_lab, run_cell, printed, n_cells, made, page):
    in_lab("decisions.ipynb", SETUP, SHOW, "print(w.alpha)\nw.alpha = 0.1")
    for cell in (0, 1):
        run_cell(cell)
    root, slider = page.locator(".anx"), page.get_by_role("slider")
    root.wait_for()
    by_hand(slider, "alpha")
    slider.focus()
    for key in ("Home", "PageUp", "ArrowRight"):
        page.keyboard.press(key)
        assert_shown(root, made)
    for key in "ddbx":
        page.keyboard.press(key)
    assert n_cells() == 3
    assert printed(2) == ["0.012"]
    page.wait_for_function("document.querySelector('.anx').dataset.alpha === '0.1'")
    assert_shown(root, made, 0.1)


@pytest.fixture(scope="module")
def executed(execute):
    return execute("decisions_static.ipynb", SETUP, SHOW)


def test_exported_notebook_works_without_kernel(by_hand, executed, made, page, exported):
    page.goto(exported(executed))
    by_hand(page.get_by_role("slider"), "alpha")
    page.get_by_role("slider").focus()
    for key in ("Home", "PageUp", "End"):
        page.keyboard.press(key)
        assert_shown(page.locator(".anx"), made)


def test_untrusted_notebook_shows_picture_and_tables(executed, untrusted):
    output = untrusted("decisions_static.ipynb")
    assert output.locator("img").count() == 1
    assert output.locator("table").count() == 3
    assert "2 of 17: <b>TTR</b>, TTR distance" in output.inner_text()
