"""The β explorer in a browser: as a page of its own, in a real JupyterLab, and in an exported notebook."""

import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from anhelpers.widgets.edits import pieces, word_edits

from anhelpers.charts.curve import beta_label
from anhelpers.charts.frame import legible
from anhelpers.widgets import base

TEXT = """const text = box => [...box.querySelector('.anx-text').childNodes].filter(
    node => node.className !== 'anx-gone').map(node => node.textContent).join('');"""
ROWS = f"""root => {{ {TEXT} return [...root.querySelectorAll('tbody tr')].map(
    tr => [+tr.dataset.segment, text(tr.querySelector('.anx-chosen'))]); }}"""
SHEET = f"""root => {{ {TEXT} const box = root.querySelector('.anx-texts .anx-chosen');
    return [+box.dataset.segment, text(box)]; }}"""
CELLS = "jupyterapp.shell.currentWidget.content.widgets"
SETUP = """import tiny
from anhelpers.widgets.explorer import beta_explorer
curve = tiny.corpus()[0]
pairs, *given, options = tiny.judged()"""
SHOW = "w = beta_explorer(pairs, *given, **options)\nw"
CHART = (
    "from anhelpers.charts import curve as c, offline\noffline.use_offline()\n"
    "c.plot_curve(curve, title='One <curve>')"
)


def beta_of(root):
    return float(root.get_attribute("data-beta"))


def assert_oracle(root, curve, texts, beta=None):
    """Every row of the table shows what the exact curve selects at the β of the page."""
    beta = beta_of(root) if beta is None else beta
    assert beta_of(root) == pytest.approx(beta, rel=1e-12)
    rows = root.evaluate(ROWS)
    chosen = curve.select(beta_of(root))
    assert rows
    assert rows == [[s, texts[chosen[s]]] for s, _ in rows]


def assert_point(root, curve, box):
    x0, x1, y0, y1, width, height = box
    v = curve.vertex(beta_of(root))
    want = (
        (curve.naturalness[v] - x0) / (x1 - x0) * width,
        height - (curve.accuracy[v] - y0) / (y1 - y0) * height,
    )
    at = root.locator(".bxpoint_marks path").get_attribute("transform")
    assert [float(x) for x in re.findall(r"-?[\d.]+", at)] == pytest.approx(want, abs=0.05)


def ticks_of(widget, root, judged=0):
    """The β of the slider's steps: 0, those at which a row of this page changes, and infinity."""
    chains = {
        row["id"]: chain["beta"]
        for row, chain in zip(
            widget.data["rows"], widget.data["judged"][judged]["chains"], strict=True
        )
    }
    shown = [s for s, _ in root.evaluate(ROWS)]
    return [*sorted({b for s in shown for b in chains[s]}), np.inf]


@pytest.fixture
def opened(tiny, page, tmp_path):
    from anhelpers.widgets.explorer import beta_explorer

    curve, srcs, refs, texts, options = tiny.corpus()
    widget = beta_explorer(curve, srcs, refs, texts, show=10, **options)
    page.goto(widget.save(tmp_path / "explorer.html").as_uri())
    scores = options["accuracy"], options["naturalness"]
    root, slider = page.locator(".anx"), page.get_by_role("slider")
    return SimpleNamespace(
        root=root, slider=slider, curve=curve, texts=texts, widget=widget, scores=scores
    )


def test_keys_and_drag_show_what_the_curve_selects(drag, opened, page):
    root, slider, curve, texts = opened.root, opened.slider, opened.curve, opened.texts
    box = opened.widget.data["judged"][0]["box"]
    ticks = ticks_of(opened.widget, root)
    last = len(ticks) - 1
    assert ticks[0] == 0
    assert last > 20
    assert_oracle(root, curve, texts, 1.0)
    here = [i for i, b in enumerate(ticks) if b <= 1][-1]  # β = 1 stands between two steps
    assert ticks[here] < 1 < ticks[here + 1]
    assert slider.evaluate("e => [+e.max, e.step]") == [last, "any"]
    assert here < float(slider.input_value()) < here + 1
    slider.focus()
    far = round(last / 10)
    for keys, at in [
        (["ArrowRight"], here + 1),
        (["ArrowLeft"] * 2, here - 1),
        (["Home"], 0),
        (["ArrowRight"], 1),
        (["PageUp"] * 3, 1 + 3 * far),
        (["ArrowUp"], 2 + 3 * far),
        (["ArrowLeft"] * 3, 3 * far - 1),
        (["End"], last),
        (["ArrowDown"], last - 1),
        (["PageDown"], last - 1 - far),
    ]:
        for key in keys:
            page.keyboard.press(key)
        assert_oracle(root, curve, texts, ticks[at])
        assert slider.evaluate("e => [+e.value, e.step]") == [at, "1"]
        assert (
            f"{min(at, last - 1)} of {last - 1} changes" in root.locator(".anx-rank").inner_text()
        )
        assert_point(root, curve, box)
    page.keyboard.press("Home")
    for beta in ticks[1:-1]:  # every step but the last changes what is seen
        before = root.evaluate(ROWS)
        page.keyboard.press("ArrowRight")
        assert root.evaluate(ROWS) != before
        assert_oracle(root, curve, texts, beta)
    assert drag(slider, "beta") >= 5
    assert 0 < beta_of(root) < np.inf
    assert_oracle(root, curve, texts)
    assert_point(root, curve, box)


def test_what_a_screen_reader_says(opened, page):
    root, slider, curve = opened.root, opened.slider, opened.curve
    slider.focus()
    page.keyboard.press("End")
    said = slider.get_attribute("aria-valuetext")
    assert (
        said == f"β = ∞ · chrF {curve.accuracy[-1]:.1f} · log-prob. −{-curve.naturalness[-1]:.2f}"
    )
    page.keyboard.press("Home")
    assert slider.get_attribute("aria-valuetext").startswith("β = 0 ·")
    assert page.get_by_label("β (naturalness weight)").count() == 1
    assert root.locator("svg").get_attribute("aria-label").startswith("oracle curve from accuracy")


def test_a_domain_has_its_own_curve_rows_and_point(opened, page):
    root, slider, curve, texts = opened.root, opened.slider, opened.curve, opened.texts
    page.get_by_label("domain").select_option("literary")
    inside = [s for s in range(24) if s % 3 == 0]
    shown = root.evaluate(ROWS)
    assert [s for s, _ in shown] == inside
    slider.focus()
    for key in ("PageUp", "PageUp", "End", "PageDown"):
        page.keyboard.press(key)
        assert_oracle(root, curve, texts)
        means = [v[curve.select(beta_of(root))[inside]].mean() for v in opened.scores]
        x0, x1, y0, y1, width, height = opened.widget.data["judged"][0]["box"]
        at = root.locator(".bxpoint_marks path").get_attribute("transform")
        want = (means[1] - x0) / (x1 - x0) * width, height - (means[0] - y0) / (y1 - y0) * height
        assert [float(x) for x in re.findall(r"-?[\d.]+", at)] == pytest.approx(want, abs=0.05)
        assert f"chrF {means[0]:.1f}" in root.locator(".anx-readout").inner_text()


def test_pages_orders_and_changes(opened, page):
    root, slider, curve, texts = opened.root, opened.slider, opened.curve, opened.texts
    assert [s for s, _ in root.evaluate(ROWS)] == list(range(10))
    page.get_by_label("Next page of rows").click()
    page.get_by_label("Next page of rows").click()
    assert [s for s, _ in root.evaluate(ROWS)] == [20, 21, 22, 23]
    assert_oracle(root, curve, texts)
    page.get_by_label("rows", exact=True).select_option("changes")
    chains = opened.widget.data["judged"][0]["chains"]
    lengths = {
        row["id"]: len(chain["beta"])
        for row, chain in zip(opened.widget.data["rows"], chains, strict=True)
    }
    shown = [lengths[s] for s, _ in root.evaluate(ROWS)]
    assert shown == sorted(lengths.values(), reverse=True)[:10]
    slider.focus()
    page.keyboard.press("Home")
    ticks = ticks_of(opened.widget, root)
    for beta in ticks[1:]:
        page.get_by_label("Next change").click()
        assert_oracle(root, curve, texts, beta)
    assert page.get_by_label("Next change").get_attribute("aria-disabled") == "true"
    page.get_by_label("Next change").click(force=True)
    assert beta_of(root) == np.inf
    page.get_by_label("Previous change").click()
    assert_oracle(root, curve, texts, ticks[-2])


def assert_marks(box, old, new):
    """Struck out and marked are the words that Python says; where almost all changed, both texts and no marks."""
    edits = word_edits(old, new)
    was, text = box.locator(".anx-old"), box.locator(".anx-text")
    assert was.is_visible() == (edits is None)
    parts = [] if edits is None else list(pieces(old, new, edits))
    if edits is None:
        assert was.inner_text().endswith(old)
        assert text.inner_text() == new
    assert text.locator("del").all_text_contents() == [p for kind, p in parts if kind == "gone"]
    assert text.locator("ins").all_text_contents() == [p for kind, p in parts if kind == "came"]


def test_marks_text_and_narrow_screen(opened, page):
    root, slider, curve, texts = opened.root, opened.slider, opened.curve, opened.texts
    slider.focus()
    page.keyboard.press("Home")
    assert root.locator("ins, del").count() == 0
    for key in ("PageUp", "PageUp", "End"):
        page.keyboard.press(key)
        first, chosen = curve.select(0), curve.select(beta_of(root))
        for row in root.locator("tbody tr").all():
            s = int(row.get_attribute("data-segment"))
            assert_marks(row, texts[first[s]], texts[chosen[s]])
    assert root.locator("td .anx-text b").count() == 0  # the <b> in the made-up texts is text
    assert "<b>spielen</b>" in root.inner_text()
    style = root.locator("ins").first.evaluate(
        "m => [getComputedStyle(m).fontWeight, getComputedStyle(m).textDecorationLine]"
    )
    assert style == ["700", "underline"]
    struck = root.locator("del").first.evaluate("m => getComputedStyle(m).textDecorationLine")
    assert struck == "line-through"
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert slider.bounding_box()["width"] > 300


@pytest.fixture
def alone(tiny, page, tmp_path):
    """Three sentences, one at a time."""
    from anhelpers.widgets.explorer import beta_explorer

    curve, srcs, refs, texts, options = tiny.corpus()
    options |= {"segments": [7, 3, 11], "meanings": {"sample 1": "The <second> one."}}
    widget = beta_explorer(curve, srcs, refs, texts, view="one", beta=0, **options)
    page.goto(widget.save(tmp_path / "one.html").as_uri())
    root, slider = page.locator(".anx"), page.get_by_role("slider")
    return SimpleNamespace(
        root=root,
        slider=slider,
        curve=curve,
        srcs=srcs,
        texts=texts,
        options=options,
        widget=widget,
    )


def chain_of(curve, s):
    low, high = np.searchsorted(curve.chain_segment, [s, s + 1])
    return curve.chain_beta[low:high], curve.chain_candidate[low:high]


def test_each_step_changes_the_one_sentence(alone, page):
    root, slider, curve, texts = alone.root, alone.slider, alone.curve, alone.texts
    assert root.locator("table").is_hidden()
    slider.focus()
    for s in (7, 3, 11):
        betas, chosen = chain_of(curve, s)
        assert len(betas) > 1
        assert page.get_by_label("sentence", exact=True).input_value() == str(s)
        assert slider.evaluate("e => +e.max") == len(betas)
        page.keyboard.press("Home")
        for i, (beta, k) in enumerate(zip(betas, chosen, strict=True)):
            assert root.evaluate(SHEET) == [s, texts[k]]
            assert beta_of(root) == beta
            assert_marks(root.locator(".anx-texts"), texts[chosen[0]], texts[k])
            said = slider.get_attribute("aria-valuetext")
            assert said == f"{page.locator('output').inner_text()} · sample {k % 6} · {texts[k]}"
            changes = f"{i} of {len(betas) - 1} change{'s' if len(betas) > 2 else ''}"
            assert root.locator(".anx-rank").inner_text() == changes
            page.keyboard.press("ArrowRight")
        assert beta_of(root) == np.inf
        assert root.evaluate(SHEET) == [s, texts[chosen[-1]]]
        page.get_by_label("Next sentence").click(force=True)  # after the last there is none
        slider.focus()
    assert root.evaluate(SHEET)[0] == 11
    page.get_by_label("sentence", exact=True).select_option("7")
    assert root.evaluate(SHEET)[0] == 7
    assert alone.srcs[7] in root.inner_text()


def test_the_plane_of_one_sentence(alone, page):
    """Every candidate is a point; the dashed line falls by β for each unit to the right, through the chosen one."""
    root, slider, curve = alone.root, alone.slider, alone.curve
    accuracy, naturalness = (np.asarray(alone.options[x]) for x in ("accuracy", "naturalness"))
    inside = np.flatnonzero(np.asarray(alone.options["segment"]) == 7)
    betas, chosen = chain_of(curve, 7)
    assert root.locator(".anx-corner").count() == len(betas)
    dots = root.locator(".anx-dot").count()
    assert 0 < dots <= len(inside)
    assert (f"({len(inside) - dots} of them far off)" in root.inner_text()) == (dots < len(inside))
    at = """e => Object.fromEntries(["cx", "cy", "x1", "y1", "x2", "y2"].map(k => [k, +e.getAttribute(k)]))"""
    first = root.locator(".anx-first").evaluate(at)
    slider.focus()
    for k in range(1, len(betas)):
        page.keyboard.press("ArrowRight")
        point, line = (root.locator(f".anx-{x}").evaluate(at) for x in ("point", "worth"))
        scale_x = (point["cx"] - first["cx"]) / (naturalness[chosen[k]] - naturalness[chosen[0]])
        scale_y = (first["cy"] - point["cy"]) / (accuracy[chosen[k]] - accuracy[chosen[0]])
        fall = (line["y2"] - line["y1"]) / scale_y / ((line["x2"] - line["x1"]) / scale_x)
        assert fall == pytest.approx(betas[k], rel=0.05)
        middle = (line["x1"] + line["x2"]) / 2, (line["y1"] + line["y2"]) / 2
        assert middle == pytest.approx((point["cx"], point["cy"]), abs=0.1)
    page.keyboard.press("End")
    line = root.locator(".anx-worth").evaluate(at)
    assert line["x1"] == line["x2"]


def test_labels_say_what_they_mean(alone, page):
    root = alone.root
    legend = root.get_by_text("What the labels mean")
    legend.click()
    assert "sample 1The <second> one." in flat(root.locator(".anx-legend").inner_text())
    page.get_by_role("button", name="all sentences").click()
    label = root.locator(".anx-tag")
    if label.count():
        assert label.first.get_attribute("title") == "The <second> one."
    alone.slider.focus()
    for _ in range(8):
        if root.locator(".anx-tag").count():
            break
        page.keyboard.press("ArrowRight")
    assert root.locator(".anx-tag").first.get_attribute("title") == "The <second> one."


def flat(text):
    return " ".join(text.split())


def test_views_change_and_beta_stays(alone, page):
    root, curve, texts = alone.root, alone.curve, alone.texts
    alone.slider.focus()
    page.keyboard.press("ArrowRight")
    beta = beta_of(root)
    one, table = (page.get_by_role("button", name=f"{x} sentence") for x in ("one", "all"))
    assert (one.get_attribute("aria-pressed"), table.get_attribute("aria-pressed")) == (
        "true",
        "false",
    )
    table.click()
    assert_oracle(root, curve, texts, beta)
    assert [s for s, _ in root.evaluate(ROWS)] == [7, 3, 11]
    assert_point(root, curve, alone.widget.data["judged"][0]["box"])
    assert root.locator(".anx-texts").is_hidden()
    one.click()
    assert beta_of(root) == beta
    assert root.evaluate(SHEET) == [7, texts[curve.select(beta)[7]]]


@pytest.mark.parametrize("view", ["one", "table"])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_slider_stays_in_sight(view, width, tiny, page, tmp_path):
    from anhelpers.widgets.explorer import beta_explorer

    curve, srcs, refs, texts, options = tiny.corpus(words=60)
    widget = beta_explorer(curve, srcs, refs, texts, view=view, **options)
    page.goto(widget.save(tmp_path / "explorer.html").as_uri())
    page.set_viewport_size({"width": width, "height": 400})
    assert_sticky(page, page.locator(".anx"))


def assert_sticky(page, root):
    """Scrolled half down a widget that is longer than the screen, its slider is at the top of the screen."""
    bar = root.locator(".anx-bar")
    root.locator(".anx-readout").first.evaluate("e => e.closest('.anx').scrollIntoView()")
    start = bar.bounding_box()["y"]
    page.mouse.move(200, 300)
    for _ in range(4):
        page.mouse.wheel(0, 100)
        page.wait_for_timeout(50)
    page.wait_for_timeout(200)
    moved = root.bounding_box()["y"]
    box = bar.bounding_box()
    assert moved < -150
    assert abs(box["y"]) <= max(60, start)  # below a toolbar, in JupyterLab
    assert root.get_by_role("slider").bounding_box()["y"] < 120
    assert box["height"] < 110


@pytest.fixture
def judged(tiny, page, tmp_path):
    from anhelpers.widgets.explorer import beta_explorer

    pairs, srcs, refs, texts, options = tiny.judged()
    widget = beta_explorer(pairs, srcs, refs, texts, show=10, **options)
    page.goto(widget.save(tmp_path / "judged.html").as_uri())
    root, slider = page.locator(".anx"), page.get_by_role("slider")
    return SimpleNamespace(root=root, slider=slider, pairs=pairs, texts=texts, widget=widget)


def choose(page, axis, label):
    page.get_by_label(f"{axis} by").select_option(label=label)


def options_of(page, axis):
    return page.get_by_label(f"{axis} by").locator("option").all_inner_texts()


def assert_moved(root, old, new, texts):
    """The count and the marks are those of the choices that differ from the arrays `old`, over all segments."""
    moved = [texts[i] != texts[j] for i, j in zip(old, new, strict=True)]
    assert (
        root.locator("b[role=status]").inner_text()
        == f"{sum(moved)} of {len(moved)} choices changed"
    )
    for row in root.locator("tbody tr").all():
        s = int(row.get_attribute("data-segment"))
        assert ("anx-moved" in row.locator("td").nth(2).get_attribute("class")) == moved[s]
        was = row.locator(".anx-was")
        assert was.is_visible() == moved[s]
        assert not moved[s] or texts[old[s]] in was.inner_text()


def test_another_judge_chooses_what_its_own_curve_selects(drag, judged, page):
    root = judged.root
    slider = judged.slider
    texts = judged.texts
    (lpp, critic, people) = judged.pairs
    boxes = [one["box"] for one in judged.widget.data["judged"]]
    drag(slider, "beta")
    slider.focus()
    page.keyboard.press("ArrowLeft")
    first = beta_of(root)
    before = lpp.curve.select(first)
    choose(page, "naturalness", "critic <b>")
    assert_oracle(root, critic.curve, texts)
    assert_point(root, critic.curve, boxes[1])
    assert_moved(root, before, critic.curve.select(beta_of(root)), texts)
    for width in (1280, 390):  # the bar of a moved row lies beside its words
        page.set_viewport_size({"width": width, "height": 900})
        assert (
            root.locator(".anx-moved").first.evaluate(
                "e => parseFloat(getComputedStyle(e).paddingLeft)"
            )
            >= 8
        )
    page.set_viewport_size({"width": 1280, "height": 900})
    places = [
        c.vertex(b) / (len(c.beta) - 1)
        for c, b in ((lpp.curve, first), (critic.curve, beta_of(root)))
    ]
    assert places[0] == pytest.approx(places[1], abs=0.5 / (len(critic.curve.beta) - 1))
    assert f"goes from {first:.3g}" in root.locator(".anx-left").inner_text()
    assert "critic <b>" in root.locator(".anx-readout").first.inner_text()
    before = critic.curve.select(beta_of(root))
    choose(page, "accuracy", "people")
    assert_oracle(root, people.curve, texts)
    assert_point(root, people.curve, boxes[2])
    assert_moved(root, before, people.curve.select(beta_of(root)), texts)
    choose(page, "accuracy", "chrF")
    choose(page, "naturalness", "log-probability")
    assert_oracle(root, lpp.curve, texts, first)  # all the way back: the very β that the hand chose
    assert drag(slider, "beta") >= 5
    assert_oracle(root, lpp.curve, texts)
    assert root.locator("b[role=status]").inner_text() == ""
    assert root.locator(".anx-moved").count() == 0


def test_the_ends_of_the_slider_stay_ends_and_page_and_domain_stay(judged, page):
    root, slider, texts, (lpp, critic, _) = judged.root, judged.slider, judged.texts, judged.pairs
    page.get_by_label("domain").select_option("news")
    page.get_by_label("Next page of rows").click()
    shown = [s for s, _ in root.evaluate(ROWS)]
    for key, beta in (("End", np.inf), ("Home", 0)):
        slider.focus()
        page.keyboard.press(key)
        choose(page, "naturalness", "critic <b>")
        assert_oracle(root, critic.curve, texts, beta)
        assert [s for s, _ in root.evaluate(ROWS)] == shown
        moved = sum(
            texts[i] != texts[j]
            for s, (i, j) in enumerate(
                zip(lpp.curve.select(beta), critic.curve.select(beta), strict=True)
            )
            if s % 3
        )
        assert root.locator("b[role=status]").inner_text() == f"{moved} of 16 choices changed"
        assert "keeps its place" not in root.inner_text()
        choose(page, "naturalness", "log-probability")
        assert_oracle(root, lpp.curve, texts, beta)
    assert page.get_by_label("domain").input_value() == "news"


def test_pairs_that_are_not_there_are_not_offered(judged, page):
    root = judged.root
    assert options_of(page, "accuracy") == ["chrF", "people"]
    assert options_of(page, "naturalness") == ["log-probability", "critic <b>"]
    choose(page, "accuracy", "people")  # there is none with the log-probability
    assert options_of(page, "naturalness") == ["critic <b>"]
    assert_oracle(root, judged.pairs[2].curve, judged.texts)
    assert "β = 0 (rated alone)" in root.locator("caption").inner_text()


def test_one_judge_has_no_switch(opened):
    assert not opened.root.get_by_label("accuracy by").is_visible()


def test_the_plane_alone_has_the_switch_and_no_table(tiny, page, tmp_path):
    from anhelpers.widgets.explorer import beta_explorer

    pairs, srcs, refs, texts, options = tiny.judged()
    widget = beta_explorer(pairs, srcs, refs, texts, show=0, **options | {"segments": ()})
    page.goto(widget.save(tmp_path / "planes.html").as_uri())
    root = page.locator(".anx")
    assert root.locator("table").count() == 0
    assert not page.get_by_label("rows", exact=True).is_visible()
    assert "Alpha" in root.locator("svg").inner_html()
    choose(page, "naturalness", "critic <b>")
    assert "Alpha" not in root.locator("svg").inner_html()
    assert_point(root, pairs[1].curve, widget.data["judged"][1]["box"])
    assert root.locator("b[role=status]").inner_text() == ""


def test_without_scripts_a_picture_and_a_table_remain(tiny, without_scripts, tmp_path):
    from anhelpers.widgets.explorer import beta_explorer

    curve, srcs, refs, texts, options = tiny.corpus()
    page = without_scripts(
        beta_explorer(curve, srcs, refs, texts, **options).save(tmp_path / "explorer.html")
    )
    assert page.get_by_role("img").get_attribute("alt").startswith("oracle curve from accuracy")
    assert page.locator("tbody tr").count() == 6
    assert (
        page.locator("tbody tr td:nth-child(3)")
        .first.inner_text()
        .startswith(texts[curve.select(0)[0]])
    )


def test_a_key_press_is_answered_within_a_frame(tiny, page, tmp_path, capsys):
    from anhelpers.widgets.explorer import beta_explorer

    curve, srcs, refs, texts, options = tiny.corpus(n_segments=200, n_candidates=1024, words=40)
    widget = beta_explorer(curve, srcs, refs, texts, **options)
    path = widget.save(tmp_path / "large.html")
    page.goto(path.as_uri())
    page.get_by_role("slider").focus()
    page.evaluate("""() => { window.took = []; let at = 0;
        addEventListener('keydown', () => { at = performance.now(); }, true);
        new MutationObserver(() => took.push(performance.now() - at)).observe(
            document.querySelector('.anx'), {attributeFilter: ['data-beta']}); }""")
    page.keyboard.press("Home")
    for key in (["PageUp"] * 3 + ["ArrowRight"] * 15 + ["Home"]) * 5:
        page.keyboard.press(key)
    took = page.evaluate("window.took")
    assert len(took) >= 80
    said = f"median {np.median(took):.2f} ms, 95 % {np.quantile(took, 0.95):.2f} ms"
    size = f"{curve.n_hull / 200:.1f} hull candidates for each of 200 segments, {path.stat().st_size / 1e6:.2f} MB"
    with capsys.disabled():
        print(f"\nfrom key to table: {said}; {size}")
    assert np.median(took) < 50
    page.get_by_label("rows", exact=True).select_option("changes")
    assert_oracle(page.locator(".anx"), curve, texts)


def test_in_jupyterlab(drag, in_lab, run_cell, printed, n_cells, tiny, page):
    vega = CHART.replace("use_offline()", "use_offline(tooltips=True)")
    in_lab("live.ipynb", SETUP, SHOW, CHART, vega, "print(w.beta, w.domain)")
    for cell in range(5):
        run_cell(cell)
    outputs = page.evaluate(
        f"{CELLS}.flatMap(c => c.model.sharedModel.getOutputs().map(o => o.output_type))"
    )
    assert "error" not in outputs
    curve, _, _, texts, _ = tiny.corpus()
    root, slider = page.locator(".anx"), page.get_by_role("slider")
    root.wait_for()
    assert root.count() == 1
    assert page.locator("img[alt*='One <curve>']").count() == 1
    assert page.locator(".vega-embed :is(canvas, svg)").first.is_visible()
    slider.focus()
    starts = {
        curve.chain_beta[i]
        for s, _ in root.evaluate(ROWS)
        for i in np.flatnonzero(curve.chain_segment == s)
    }
    ticks = [*sorted(starts), np.inf]
    for key, beta in [
        ("Home", 0),
        ("ArrowRight", ticks[1]),
        ("End", np.inf),
        ("ArrowLeft", ticks[-2]),
    ]:
        page.keyboard.press(key)
        assert_oracle(root, curve, texts, beta)
    page.keyboard.press("Home")
    # slow enough for the kernel's echoes to arrive in between: they must undo nothing
    for _ in range(10):
        page.wait_for_timeout(60)
        page.keyboard.press("ArrowRight")
    assert_oracle(root, curve, texts, ticks[10])
    assert drag(slider, "beta") >= 5
    assert_oracle(root, curve, texts)
    slider.focus()
    for key in "ddbx":
        page.keyboard.press(key)
    assert n_cells() == 5
    assert page.evaluate("document.activeElement.type") == "range"
    page.get_by_label("domain").select_option("news")
    beta = beta_of(root)
    assert printed(4) == [str(beta), "news"]
    page.locator(".anx input").focus()
    page.keyboard.press("End")
    assert printed(4) == ["inf", "news"]
    page.set_viewport_size({"width": 1000, "height": 500})
    assert_sticky(page, root)


def test_judges_follow_in_jupyterlab(in_lab, run_cell, printed, tiny, page):
    in_lab(
        "judged.ipynb",
        SETUP,
        SHOW,
        "print(w.accuracy, w.naturalness, w.beta)",
        "w.accuracy = 'chrf'",
    )
    run_cell(0)
    run_cell(1)
    pairs, *_, texts, _ = tiny.judged()
    root = page.locator(".anx")
    root.wait_for()
    choose(page, "accuracy", "people")
    beta = beta_of(root)
    assert printed(2) == ["people", "critic", str(beta)]
    assert_oracle(root, pairs[2].curve, texts, beta)
    run_cell(3)
    page.wait_for_timeout(300)
    assert_oracle(root, pairs[1].curve, texts, beta)  # set from Python: β stays as it is
    assert page.get_by_label("accuracy by").input_value() == "chrf"


@pytest.fixture(scope="module")
def executed(execute):
    return execute("static.ipynb", SETUP, SHOW, CHART)


def test_exported_notebook_works_without_kernel(by_hand, executed, tiny, page, exported):
    page.goto(exported(executed))
    curve, _, _, texts, _ = tiny.corpus()
    root, slider = page.locator(".anx"), page.get_by_role("slider")
    by_hand(slider, "beta", 5)
    slider.focus()
    for key, beta in [("Home", 0), ("End", np.inf)]:
        page.keyboard.press(key)
        assert_oracle(root, curve, texts, beta)
    page.set_viewport_size({"width": 390, "height": 400})
    assert_sticky(page, root)
    assert page.locator("img[alt*='One <curve>']").count() == 1


def test_untrusted_notebook_shows_picture_and_table(executed, untrusted):
    output = untrusted("static.ipynb")
    assert output.locator("img").count() == 2
    assert output.locator("tbody tr").count() == 6 + 3  # segments; pairs of judges
    assert output.locator("ins").count() > 0
    assert output.locator("del").count() > 0


def test_a_price_is_printed_as_python_prints_it_and_never_with_an_exponent(page):
    page.goto("about:blank")
    page.add_script_tag(path=str(Path(base.__file__).with_name("common.js")))
    for price in (0, 1e-9, 2.5e-5, 1e-4, 0.512, 99.4, 100, 999.6, 27234.6, 1234567, 2.5e9, -2e-6):
        shown = page.evaluate("x => legible(x)", price)
        plain = re.sub(r"(\.\d*?)0+$", r"\1", shown).rstrip(".") if "." in shown else shown
        assert plain in (legible(price), shown), price
        assert "e" not in shown + legible(price)
        assert float(shown.translate(LOWERED).replace("·10", "e")) == pytest.approx(price, rel=5e-3)
    assert page.evaluate("betaText(Infinity)") == beta_label(np.inf) == "β = ∞"
    assert page.evaluate("betaText(27234.6)") == beta_label(27234.6) == "β = 27,235"


LOWERED = {ord(c): str(i) for i, c in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")} | {
    ord("⁻"): "-",
    ord("−"): "-",
    ord(","): "",
}
