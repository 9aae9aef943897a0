"""The divergence explorer in a browser: as a page of its own, in a real JupyterLab, and in an exported notebook."""

import re
from types import SimpleNamespace

import numpy as np
import pytest

SETUP = """from anhelpers.widgets.divergences import divergence_explorer
names = ["at eight", "<b>sharp</b>", "at eight clock", "at nine", "at noon"]
r, minutes = [0.5, 0.05, 0, 0.25, 0.2], [0, 0, 5, 60, 240]"""
SHOW = (
    "w = divergence_explorer(r, names=names, ground=minutes, unit='minutes', title='A <claim>')\nw"
)
LOSE, INVENT, SHIFT = "lose the rare word", "invent a word", "shift to a neighbour, then far"
ORDERS = [0, 0.5, 1, 2, np.inf]
LABELS = [
    "Total variation",
    "Wasserstein-1",
    "KL(Q, R)",
    "KL(R, Q)",
    "Jensen-Shannon",
    "χ²(Q, R)",
    "Rényi",
    "MMD²",
]


@pytest.fixture(scope="module")
def made():
    names = {}
    exec(f"{SETUP}\n{SHOW}", names)  # the same code as in the notebooks below
    return SimpleNamespace(widget=names["w"], r=np.array(names["r"]), names=names["names"])


@pytest.fixture
def opened(made, page, tmp_path):
    made.widget.t, made.widget.path, made.widget.order = 0.0, LOSE, 0.5
    page.goto(made.widget.save(tmp_path / "divergences.html").as_uri())
    return SimpleNamespace(
        root=page.locator(".anx"), slider=page.get_by_role("slider"), **vars(made)
    )


def state_of(root):
    t, path, order = (root.get_attribute(f"data-{name}") for name in ("t", "path", "order"))
    return float(t), path, float(order)


def assert_shown(root, made, t=None, path=None, order=None):
    """Bars, table, marks and words are those of the widget's values in Python."""
    here = state_of(root)
    for seen, wanted in zip(here, (t, path, order), strict=True):
        assert wanted is None or seen == wanted
    widget = made.widget
    widget.t, widget.path, widget.order = here
    values, k = widget.values(), ORDERS.index(here[2])
    q = np.array(values.attrs["q"])
    assert_bars(root, made, q)
    rows = root.locator("tbody tr").evaluate_all("""rows => rows.map(row => ({
        label: row.querySelector('th').firstChild.textContent, number: row.querySelector('.anx-number').textContent,
        note: row.querySelector('td .anx-note').textContent,
        infinite: row.querySelector('.anx-fill').classList.contains('anx-infinite'),
        wide: row.querySelector('.anx-fill').getBoundingClientRect().width /
            row.querySelector('.anx-track').getBoundingClientRect().width,
        marks: [...row.querySelectorAll('.anx-trace > :not([hidden]) .bxpoint_marks path')].map(
            mark => mark.getAttribute('transform')),
    }))""")
    assert [row["label"] for row in rows] == LABELS
    said = root.get_by_role("slider").get_attribute("aria-valuetext")
    for row, (_, (key, name, _, value, largest)) in zip(rows, values.iterrows(), strict=True):
        panel = widget.data["panels"][f"renyi {k}" if key == "renyi" else key]
        _, _, low, high, wide, tall = panel["box"]
        drawn = panel["infinite"] if np.isinf(value) else value
        (mark,) = row["marks"]
        x, y = (float(v) for v in re.findall(r"-?[\d.]+(?:e-?\d+)?", mark))
        assert (x, y) == pytest.approx(
            (here[0] * wide, tall - (drawn - low) / (high - low) * tall), abs=1e-6
        )
        assert row["infinite"] == np.isinf(value)
        if np.isinf(value):
            assert row["number"] == "∞"
            gone = q if key == "kl_reversed" else made.r
            told = ", ".join(
                f"“{made.names[y]}”" for y in np.flatnonzero(gone == 0) if (q + made.r)[y] > 0
            )
            assert row["note"] == f"{'Q' if key == 'kl_reversed' else 'R'} never says {told}"
            assert "infinite" in said.split(f"{name}")[1].split("·")[0]
        else:
            decimals = len(row["number"].partition(".")[2])
            assert float(row["number"]) == pytest.approx(value, abs=0.51 * 10.0**-decimals)
            assert row["wide"] == pytest.approx(value / largest if largest else 0, abs=0.01)
            assert row["number"] in said


def assert_bars(root, made, q):
    bars = root.locator(".bxq_marks path").evaluate_all(
        "bars => bars.map(b => b.getAttribute('d'))"
    )
    wide = [float(re.search(r"h([-\d.e]+)v", bar)[1]) for bar in bars]
    assert wide == pytest.approx(q * made.widget.data["bars"]["one"])
    numbers = root.locator(".bxqtext_marks text").all_text_contents()
    assert numbers == [
        f"Q {100 * p:.1f} %" if p >= 0.0005 else "Q < 0.1 %" if p else "Q 0" for p in q
    ]
    alt = root.locator(".anx-left svg").get_attribute("aria-label")
    assert f"{made.names[-1]} R 20.0 %, {numbers[-1]}." in alt


def test_keys_walk_along_the_path(opened, page):
    assert_shown(opened.root, opened, 0, LOSE, 0.5)
    opened.slider.focus()
    for keys, t in [
        (["End"], 1),
        (["ArrowLeft"], 0.995),
        (["PageDown"] * 2, 0.795),
        (["ArrowUp"], 0.8),
        (["Home"], 0),
        (["ArrowDown"], 0),
        (["ArrowRight"] * 2, 0.01),
        (["PageUp"], 0.11),
    ]:
        for key in keys:
            page.keyboard.press(key)
        assert_shown(opened.root, opened, t, LOSE)


def test_every_path_and_order(opened, page):
    root = opened.root
    opened.slider.focus()
    for _ in range(6):
        page.keyboard.press("PageUp")
    for path in (SHIFT, INVENT, LOSE):
        page.get_by_label("path", exact=True).select_option(path)
        assert_shown(root, opened, 0.6, path)
        text = next(p["text"] for p in opened.widget.data["paths"] if p["name"] == path)
        assert root.locator(".anx-text").inner_text() == text
        thick = root.locator("tbody tr").first.locator(
            "[class*=bxpath]:has(path[stroke-width='4.5'])"
        )
        thick = thick.evaluate_all("groups => groups.map(g => g.getAttribute('class'))")
        k = [LOSE, INVENT, SHIFT].index(path)
        assert thick
        assert all(f"bxpath{k}_" in name for name in thick)
        for order in ("0", "1", "2", "inf", "0.5"):
            page.get_by_label("order of Rényi's divergence").select_option(order)
            assert_shown(root, opened, 0.6, path, float(order))


def test_buttons_go_from_stop_to_stop(opened, page):
    page.get_by_label("path", exact=True).select_option(SHIFT)
    before, after = page.get_by_label("Previous stop"), page.get_by_label("Next stop")
    assert before.get_attribute("aria-disabled") == "true"
    for t in (0.5, 1, 1):
        after.click(force=True)
        assert_shown(opened.root, opened, t, SHIFT)
    assert after.get_attribute("aria-disabled") == "true"
    opened.slider.focus()
    page.keyboard.press("ArrowLeft")
    for t in (0.5, 0):
        before.click()
        assert_shown(opened.root, opened, t, SHIFT)


def test_a_mouse_drags_it(drag, opened, page):
    root = opened.root
    assert drag(opened.slider, "t") >= 10
    assert state_of(root)[0] == pytest.approx(0.75, abs=0.02)
    assert_shown(root, opened)


def test_a_key_changes_the_page_at_once(opened, page):
    opened.slider.focus()
    took = page.evaluate("""() => { const slider = document.querySelector('input[type=range]'), times = [];
        for (let i = 0; i < 60; i++) { const start = performance.now();
            slider.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight', bubbles: true, cancelable: true }));
            times.push(performance.now() - start); }
        return times.sort((a, b) => a - b)[30]; }""")
    assert state_of(opened.root)[0] == 0.3
    assert took < 16


def test_what_a_screen_reader_says(opened, page):
    opened.slider.focus()
    page.keyboard.press("End")
    said = opened.slider.get_attribute("aria-valuetext")
    assert said.startswith("t = 1.000 · Total variation 0.0500 · Wasserstein-1 ")
    assert "· KL(R, Q) infinite ·" in said
    assert "· Rényi of order 0.5 0." in said
    assert page.get_by_label("t (along the path)").count() == 1
    panel = opened.root.locator("tbody tr").nth(3).locator("svg")
    assert panel.get_attribute("aria-label").startswith(
        "KL(R, Q) (nats), at the end: lose the rare word ∞"
    )
    assert opened.root.locator("td b, .anx-left b").count() == 0
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.tagName") == "SELECT"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_projector_and_a_narrow_screen(fits, opened, page, scheme):
    page.emulate_media(color_scheme=scheme)
    fits(opened.root, ".anx-left .anx-chart", "table", ".anx-bar", ".anx-legend")
    inks = opened.root.locator(".bxpath0_marks path, .bxq_marks path, th").evaluate_all(
        "some => some.map(e => getComputedStyle(e).color + getComputedStyle(e).stroke)"
    )
    ground = opened.root.evaluate("e => getComputedStyle(e).backgroundColor")
    assert ground == ("rgb(22, 22, 22)" if scheme == "dark" else "rgb(255, 255, 255)")
    assert not any(ground in ink for ink in inks)
    assert opened.slider.bounding_box()["width"] > 300


def test_printed_without_controls_but_with_what_they_said(opened, page):
    page.get_by_label("path", exact=True).select_option(INVENT)
    page.emulate_media(media="print")
    for gone in ("select", "input", "button"):
        assert opened.root.locator(gone).first.is_hidden()
    assert opened.root.get_by_text("of order 0.5").is_visible()
    assert opened.root.locator("b.anx-printed").inner_text() == INVENT


def test_without_scripts_a_picture_and_two_tables_remain(made, without_scripts, tmp_path):
    page = without_scripts(made.widget.save(tmp_path / "divergences.html"))
    assert "Total variation, at the end: lose the rare word 0.05" in page.get_by_role(
        "img"
    ).get_attribute("alt")
    assert page.locator("table").count() == 2
    assert "∞: R never says “at eight clock”" in page.locator("table").nth(1).inner_text()
    assert "<b>sharp</b>" in page.locator("table").first.inner_text()


def test_in_jupyterlab(by_hand, in_lab, run_cell, printed, n_cells, made, page):
    change = f"print(w.t, w.path.replace(' ', '_'), w.order)\nw.t, w.path, w.order = 0.25, {INVENT!r}, float('inf')"
    in_lab("divergences.ipynb", SETUP, SHOW, change)
    for cell in (0, 1):
        run_cell(cell)
    root, slider = page.locator(".anx"), page.get_by_role("slider")
    root.wait_for()
    by_hand(slider, "t")
    page.get_by_label("path", exact=True).select_option(SHIFT)
    page.get_by_label("order of Rényi's divergence").select_option("2")
    slider.focus()
    for key in ("End", "PageDown", "ArrowRight"):
        page.keyboard.press(key)
        assert_shown(root, made, path=SHIFT, order=2)
    for key in "ddbx":
        page.keyboard.press(key)
    assert n_cells() == 3
    assert printed(2) == ["0.905", SHIFT.replace(" ", "_"), "2.0"]
    page.wait_for_function("document.querySelector('.anx').dataset.order === 'inf'")
    page.wait_for_function("document.querySelector('.anx').dataset.t === '0.25'")
    assert_shown(root, made, 0.25, INVENT, np.inf)


@pytest.fixture(scope="module")
def executed(execute):
    return execute("divergences_static.ipynb", SETUP, SHOW)


def test_exported_notebook_works_without_kernel(by_hand, executed, made, page, exported):
    page.goto(exported(executed))
    by_hand(page.get_by_role("slider"), "t")
    page.get_by_role("slider").focus()
    for key in ("End", "PageDown", "Home"):
        page.keyboard.press(key)
        assert_shown(page.locator(".anx"), made)


def test_untrusted_notebook_shows_picture_and_tables(executed, untrusted):
    output = untrusted("divergences_static.ipynb")
    assert output.locator("img").count() == 1
    assert output.locator("table").count() == 2
    assert "∞: Q never says “<b>sharp</b>”" in output.inner_text()
