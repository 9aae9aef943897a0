"""The β explorer in its three hosts: a page, a real JupyterLab, an exported notebook."""

import re
from types import SimpleNamespace

import numpy as np
import pytest

TEXT = """const text = box => [...box.querySelector('.anx-text').childNodes].filter(
    node => node.className !== 'anx-gone').map(node => node.textContent).join('');"""
ROWS = f"""root => {{ {TEXT} return [...root.querySelectorAll('tbody tr')].map(
    tr => [+tr.dataset.segment, text(tr.querySelector('.anx-chosen'))]); }}"""
SETUP = """import tiny
from anhelpers.widgets.explorer import beta_explorer
pairs, *given, options = tiny.judged()"""
SHOW = "w = beta_explorer(pairs, *given, **options)\nw"


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


def shown(tiny, page, tmp_path, judged=False, **more):
    """A page with the explorer of the made-up corpus."""
    from anhelpers.widgets.explorer import beta_explorer

    curve, *given, options = tiny.judged() if judged else tiny.corpus()
    widget = beta_explorer(curve, *given, **options | {"show": 10} | more)
    page.goto(widget.save(tmp_path / "explorer.html").as_uri())
    root, slider = page.locator(".anx"), page.get_by_role("slider")
    return SimpleNamespace(root=root, slider=slider, curve=curve, texts=given[2], widget=widget)


def test_keys_and_drag_show_what_the_curve_selects(drag, tiny, page, tmp_path):
    opened = shown(tiny, page, tmp_path)
    root, slider, curve, texts = opened.root, opened.slider, opened.curve, opened.texts
    ticks = ticks_of(opened.widget, root)
    last, far = len(ticks) - 1, round((len(ticks) - 1) / 10)
    assert_oracle(root, curve, texts, 1.0)
    slider.focus()
    for keys, at in [
        (["Home"], 0),
        (["ArrowRight"], 1),
        (["PageUp"] * 3, 1 + 3 * far),
        (["ArrowLeft"] * 3, 3 * far - 2),
        (["End"], last),
        (["PageDown"], last - far),
    ]:
        for key in keys:
            page.keyboard.press(key)
        assert_oracle(root, curve, texts, ticks[at])
        rank = root.locator(".anx-rank").inner_text()
        assert f"{min(at, last - 1)} of {last - 1} changes" in rank
        assert_point(root, curve, opened.widget.data["judged"][0]["box"])
        assert slider.get_attribute("aria-valuetext").startswith("β = ")
    page.keyboard.press("Home")
    for beta in ticks[1:-1]:  # every step but the last changes what is seen
        before = root.evaluate(ROWS)
        page.get_by_label("Next change").click()
        assert root.evaluate(ROWS) != before
        assert_oracle(root, curve, texts, beta)
    assert drag(slider, "beta") >= 5
    assert_oracle(root, curve, texts)
    gone = root.locator(".anx-gone").all()
    assert gone
    assert all(words.is_visible() for words in gone)


def test_domains_pages_and_orders(tiny, page, tmp_path):
    opened = shown(tiny, page, tmp_path)
    root, curve, texts = opened.root, opened.curve, opened.texts
    page.get_by_label("domain").select_option("literary")
    assert [s for s, _ in root.evaluate(ROWS)] == [s for s in range(24) if s % 3 == 0]
    assert_oracle(root, curve, texts)
    page.get_by_label("domain").select_option("all")
    page.get_by_label("Next page of rows").click()
    page.get_by_label("Next page of rows").click()
    assert [s for s, _ in root.evaluate(ROWS)] == [20, 21, 22, 23]
    page.get_by_label("rows", exact=True).select_option("changes")
    chains = opened.widget.data["judged"][0]["chains"]
    lengths = [len(chain["beta"]) for chain in chains]
    assert [lengths[s] for s, _ in root.evaluate(ROWS)] == sorted(lengths, reverse=True)[:10]


def test_marked_words_are_those_that_python_names(tiny, page, tmp_path):
    opened = shown(tiny, page, tmp_path)
    opened.slider.focus()
    page.keyboard.press("Home")
    assert opened.root.locator("ins, del").count() == 0
    page.keyboard.press("End")
    chains, rows = opened.widget.data["judged"][0]["chains"], opened.widget.data["rows"]
    for tr in opened.root.locator("tbody tr").all():
        s = int(tr.get_attribute("data-segment"))
        new, old, edits = rows[s]["pairs"][chains[s]["at"][-1]]
        new, old = rows[s]["texts"][new], rows[s]["texts"][old]
        places = np.array(edits or []).reshape(-1, 4)
        gone, came = [old[a:b] for a, b, *_ in places], [new[a:b] for *_, a, b in places]
        assert tr.locator("del").all_text_contents() == [part for part in gone if part]
        assert tr.locator("ins").all_text_contents() == [part for part in came if part]
        assert tr.locator(".anx-old").is_visible() == (edits is None)
    assert "<b>spielen</b>" in opened.root.inner_text()


def choose(page, axis, label):
    page.get_by_label(f"{axis} by").select_option(label=label)


def assert_sticky(page, root):
    """Scrolled half down a long widget, its slider stays at the top of the screen."""
    bar = root.locator(".anx-bar")
    root.locator(".anx-readout").first.evaluate("e => e.closest('.anx').scrollIntoView()")
    start = bar.bounding_box()["y"]
    page.mouse.move(200, 300)
    for _ in range(4):
        page.mouse.wheel(0, 100)
        page.wait_for_timeout(50)
    page.wait_for_timeout(200)
    assert root.bounding_box()["y"] < -150
    assert abs(bar.bounding_box()["y"]) <= max(60, start)  # below a toolbar, in JupyterLab


def test_in_jupyterlab(drag, in_lab, run_cell, printed, n_cells, tiny, page):
    tell = "print(w.accuracy, w.naturalness, w.beta, w.domain)"
    in_lab("live.ipynb", SETUP, SHOW, tell, "w.accuracy = 'chrf'")
    run_cell(0)
    run_cell(1)
    pairs, *_, texts, _ = tiny.judged()
    root, slider = page.locator(".anx"), page.get_by_role("slider")
    root.wait_for()
    assert root.count() == 1
    slider.focus()
    for key, beta in (("Home", 0), ("End", np.inf)):
        page.keyboard.press(key)
        assert_oracle(root, pairs[0].curve, texts, beta)
    page.keyboard.press("Home")
    for _ in range(10):  # slowly: the kernel's echoes arrive in between and must undo nothing
        page.wait_for_timeout(60)
        page.keyboard.press("ArrowRight")
    assert "10 of " in root.locator(".anx-rank").inner_text()
    assert drag(slider, "beta") >= 5
    assert_oracle(root, pairs[0].curve, texts)
    slider.focus()
    for key in "ddbx":  # commands of JupyterLab
        page.keyboard.press(key)
    assert n_cells() == 4
    assert page.evaluate("document.activeElement.type") == "range"
    page.get_by_label("domain").select_option("news")
    choose(page, "accuracy", "people")
    beta = beta_of(root)
    assert printed(2) == ["people", "critic", str(beta), "news"]
    run_cell(3)
    page.wait_for_timeout(300)
    assert_oracle(root, pairs[1].curve, texts, beta)  # set from Python: β stays
    page.set_viewport_size({"width": 1000, "height": 500})
    assert_sticky(page, root)


def test_an_exported_notebook_works_without_kernel(by_hand, execute, tiny, page, exported):
    page.goto(exported(execute("static.ipynb", SETUP, SHOW)))
    pairs, *_, texts, _ = tiny.judged()
    root, slider = page.locator(".anx"), page.get_by_role("slider")
    by_hand(slider, "beta", 5)
    slider.focus()
    for key, beta in (("Home", 0), ("End", np.inf)):
        page.keyboard.press(key)
        assert_oracle(root, pairs[0].curve, texts, beta)
    page.set_viewport_size({"width": 390, "height": 400})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert_sticky(page, root)
