"""The MQM editor in a browser: as a page of its own, in a real JupyterLab, and in an exported notebook."""

import re
from types import SimpleNamespace

import numpy as np
import pytest

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
TABLE = "rows => rows.map(row => [...row.cells].map(cell => cell.innerText.trim()))"


@pytest.fixture(scope="module")
def made():
    names = {}
    exec(f"{SETUP}\n{SHOW}", names)  # the same code as in the notebooks below
    return SimpleNamespace(widget=names["w"])


@pytest.fixture
def opened(made, page, tmp_path):
    made.widget.reset()
    page.goto(made.widget.save(tmp_path / "editor.html").as_uri())
    return SimpleNamespace(root=page.locator(".anx"), **vars(made))


def slider(page, name):
    return page.get_by_role("slider", name=name, exact=True)


def side(page, category):
    return page.get_by_label(f"{category} counts for", exact=True)


def points(text):
    return [float(v) for v in NUMBER.findall(text)]


def plain(text):
    return text.replace("\u00a0", " ").replace("\u2212", "-")


def assert_shown(root, widget):
    """Marks, lines, words and numbers are those that Python has for the weights and categories of the page."""
    from anhelpers.mqm import KINDS
    from anhelpers.widgets.mqm_editor import penalties

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
    for _, accuracy, fluency in (table[list(KINDS)].to_numpy().T, penalties(data, data["start"]).T):
        x, y = -fluency / zoom[0], -accuracy / zoom[1]
        places.append(
            np.stack([(x - x0) / (x1 - x0) * width, height - (y - y0) / (y1 - y0) * height], axis=1)
        )
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
    words = plain(root.locator(".anx-told").inner_text()).splitlines()
    assert words == [plain(f"{head}: {text}") for head, text in widget.sentences().items()]
    rows = root.locator(".anx-numbers tbody tr").evaluate_all(TABLE)
    assert [row[0] for row in rows] == table.system.tolist()
    numbers = np.array([[float(cell.split(" ")[0]) for cell in row[1:4]] for row in rows])
    assert numbers == pytest.approx(
        table[["accuracy", "fluency", "penalty"]].to_numpy(), abs=5.001e-4
    )
    ranks = [[int(re.search(r"\((\d+)\)", cell)[1]) for cell in row[1:4]] for row in rows]
    values = table[["accuracy", "fluency", "penalty"]].round(9)
    assert ranks == values.rank(method="min").astype(int).to_numpy().tolist()


def test_keys_and_selects_move_the_systems(opened, page):
    root, widget = opened.root, opened.widget
    assert_shown(root, widget)
    for name, keys, value in [
        ("Major", ["ArrowRight"], 5.1),
        ("Major", ["PageUp"] * 4, 9.1),
        ("Minor", ["Home"], 0),
        ("Minor", ["PageUp", "PageUp", "ArrowLeft"], 1.9),
        ("Major", ["End"], 25),
        ("Major", ["PageDown"], 24),
        ("Non-translation!", ["End", "ArrowUp"], 50),
        ("Minor · Fluency/Punctuation", ["ArrowDown"] * 2, 0),
    ]:
        slider(page, name).focus()
        for key in keys:
            page.keyboard.press(key)
        widget.weights = {name: value}
        assert_shown(root, widget)
    assert root.get_attribute("data-zoom") == "5 5"
    ticks = root.locator(".role-axis-label text").all_text_contents()
    assert ticks == ["−20", "−15", "−10", "−5", "0"] * 2
    assert "fluency ×5 and accuracy ×5" in root.locator(".anx-zoom").inner_text()
    for category, key, on in [
        ("Fluency/Grammar", "a", "accuracy"),
        ("Style/Unnatural or awkward", "n", "neither"),
        ("Accuracy/Mistranslation", "ArrowDown", "fluency"),
    ]:
        side(page, category).focus()
        page.keyboard.press(key)
        widget.categories = {category: on}
        assert_shown(root, widget)
    assert root.locator(".anx-changed .anx-note").all_inner_texts() == [
        "was accuracy",
        "was fluency",
        "was fluency",
    ]
    reset = page.get_by_label("Reset to scheme wmt and weights freitag2021")
    assert reset.get_attribute("aria-disabled") == "false"
    reset.press("Enter")
    widget.reset()
    assert_shown(root, widget)
    assert reset.get_attribute("aria-disabled") == "true"


def test_every_category_on_one_side_leaves_no_correlation(opened, page):
    for name in opened.widget.categories:
        side(page, name).select_option("accuracy")
    opened.widget.categories = dict.fromkeys(opened.widget.categories, "accuracy")
    assert_shown(opened.root, opened.widget)
    assert "no correlation" in opened.root.locator(".anx-told").inner_text()


def test_a_mouse_drags_a_weight(drag, opened, page):
    root, one = opened.root, slider(page, "Major")
    assert drag(one, "weights") >= 10
    weights = points(root.get_attribute("data-weights"))
    assert weights[1] == pytest.approx(18.75, abs=0.5)
    opened.widget.weights = {"Major": weights[1]}
    assert_shown(root, opened.widget)


def test_a_key_is_answered_within_a_frame(opened, page):
    slider(page, "Major").focus()
    took = opened.root.evaluate("""root => { const one = document.activeElement, times = [];
        for (let i = 0; i < 40; i++) { const from = performance.now();
            one.dispatchEvent(new KeyboardEvent('keydown', { key: i % 2 ? 'PageUp' : 'PageDown', bubbles: true }));
            times.push(performance.now() - from); }
        return times.sort((a, b) => a - b)[20]; }""")
    assert took < 16


def assert_apart(labels, least):
    """At least so many labels are shown, and none covers another."""
    boxes = labels.evaluate_all(
        "texts => texts.map(t => t.getBoundingClientRect()).map(b => [b.left, b.top, b.right, b.bottom])"
    )
    assert len(boxes) >= least
    for i, (left, top, right, bottom) in enumerate(boxes):
        for other in boxes[:i]:
            across = (
                min(right, other[2]) - max(left, other[0]),
                min(bottom, other[3]) - max(top, other[1]),
            )
            assert min(across) <= 1


def test_labels_do_not_cover_each_other(opened, page):
    for category in ("Fluency/Grammar", "Style/Unnatural or awkward"):
        side(page, category).select_option("accuracy")
        assert_apart(opened.root.locator(".bxlabel_marks text:not([visibility=hidden])"), 7)


def test_what_a_screen_reader_says(opened, page):
    one = slider(page, "Major")
    one.focus()
    page.keyboard.press("ArrowRight")
    opened.widget.weights = {"Major": 5.1}
    said = opened.widget.sentences()["over all systems"]
    assert plain(one.get_attribute("aria-valuetext")) == plain(f"5.1 points · {said}")
    alt = opened.root.locator("svg").get_attribute("aria-label")
    first = opened.widget.systems().iloc[0]
    now = f"<b>Human</b> ({first.accuracy:.4g}, {first.fluency:.4g}; at the start 0.4904, 0.1058)"
    assert alt.startswith(f"penalties on accuracy and fluency: {now}, LLM-Free (")
    told = side(page, "Fluency/Grammar").get_attribute("aria-describedby")
    assert "on the frontier" in opened.root.locator(f"[id='{told}']").inner_text()
    assert page.get_by_role("group", name="what an error costs, in MQM points").count() == 1
    assert opened.root.locator("td b, th b").count() == 0
    tabbed = []
    opened.root.evaluate("root => root.querySelector('input').focus()")
    for _ in range(7):
        tabbed.append(
            page.evaluate("document.activeElement.tagName + document.activeElement.className")
        )
        page.keyboard.press("Tab")
    assert tabbed == ["INPUT"] * 4 + ["BUTTON", "DIVanx-box", "SELECT"]


def test_it_fits_a_projector_and_a_phone(fits, opened, page):
    fits(opened.root, ".anx-chart", ".anx-weights", ".anx-told", ".anx-box")
    assert slider(page, "Major").bounding_box()["width"] > 300
    for select in opened.root.locator("select").all():
        box = select.bounding_box()
        assert box["x"] + box["width"] <= 390
    slider(page, "Major").press("PageUp")
    labels = opened.root.locator(".bxlabel_marks text:not([visibility=hidden])")
    assert min(box["height"] for box in (label.bounding_box() for label in labels.all())) > 12
    assert_apart(labels, 5)
    last = side(page, "Fluency/Punctuation")
    last.scroll_into_view_if_needed()
    chart = opened.root.locator(".anx-chart").bounding_box()
    assert -1 <= chart["y"] < 10
    assert last.bounding_box()["y"] >= chart["y"] + chart["height"]


def test_in_the_dark_texts_and_marks_stand_out(made, chromium, tmp_path):
    page = chromium.new_page(color_scheme="dark")
    page.goto(made.widget.save(tmp_path / "dark.html").as_uri())
    look = "e => [getComputedStyle(e).fill, getComputedStyle(e).stroke]"
    assert page.locator(".bxlabel_marks text").first.evaluate(look)[0] == "rgb(241, 241, 241)"
    assert page.locator(".bxsystem_marks path").first.evaluate(look)[1] == "rgb(241, 241, 241)"
    assert page.locator(".bxtrace_marks line").first.evaluate(look)[1] == "rgb(189, 189, 189)"
    assert (
        page.locator(".anx").evaluate("e => getComputedStyle(e).backgroundColor")
        == "rgb(22, 22, 22)"
    )
    page.close()


def test_printed_it_is_a_picture_and_tables(opened, page):
    page.emulate_media(media="print")
    assert not any(one.is_visible() for one in opened.root.locator("input, select, button").all())
    assert opened.root.locator(".anx-side").first.inner_text() == "accuracy"
    places = [
        opened.root.locator(f".anx-weights {part}").nth(1).bounding_box()
        for part in ("label", "output")
    ]
    assert places[0]["y"] == pytest.approx(places[1]["y"], abs=4)
    assert opened.root.locator(".anx-points").nth(1).inner_text() == "5"
    assert opened.root.locator("tbody tr").last.is_visible()


def test_weights_from_python_between_two_steps_and_beyond_the_slider(made, page, tmp_path):
    widget = made.widget
    widget.reset()
    widget.weights = {"Minor": 0.25, "Major": 40}
    widget.categories = {"Fluency/Grammar": "accuracy"}
    page.goto(widget.save(tmp_path / "own.html").as_uri())
    root = page.locator(".anx")
    assert_shown(root, widget)
    slider(page, "Major").press("ArrowLeft")
    widget.weights = {"Major": 25}
    assert_shown(root, widget)


def test_without_scripts_a_picture_and_three_tables_remain(made, without_scripts, tmp_path):
    made.widget.reset()
    page = without_scripts(made.widget.save(tmp_path / "editor.html"))
    assert (
        page.get_by_role("img")
        .get_attribute("alt")
        .startswith("penalties on accuracy and fluency: <b>Human</b> (0.49")
    )
    assert page.locator("table").count() == 3
    assert "Style/Unnatural or awkward" in page.locator("table").nth(2).inner_text()


def test_in_jupyterlab(by_hand, in_lab, run_cell, printed, n_cells, made, page):
    widget = made.widget
    widget.reset()
    tell = "print(w.weights['Major'], w.categories['Fluency/Grammar'], round(w.systems().accuracy.sum(), 6))"
    in_lab("editor.ipynb", SETUP, SHOW, tell, "w.weights = {'Minor': 3}")
    for cell in (0, 1):
        run_cell(cell)
    root = page.locator(".anx")
    root.wait_for()
    by_hand(slider(page, "Major"), "weights")
    slider(page, "Major").focus()
    for key in ("Home", "PageUp", "ArrowRight"):
        page.keyboard.press(key)
    for key in "ddbx":
        page.keyboard.press(key)
    side(page, "Fluency/Grammar").select_option("accuracy")
    widget.weights, widget.categories = {"Major": 1.1}, {"Fluency/Grammar": "accuracy"}
    assert_shown(root, widget)
    assert n_cells() == 4
    assert printed(2) == ["1.1", "accuracy", f"{round(widget.systems().accuracy.sum(), 6)}"]
    run_cell(3)
    page.wait_for_function("document.querySelector('.anx').dataset.weights === '25 1.1 0.1 3'")
    widget.weights = {"Minor": 3}
    assert_shown(root, widget)


@pytest.fixture(scope="module")
def executed(execute):
    return execute("editor_static.ipynb", SETUP, SHOW)


def test_exported_notebook_works_without_kernel(by_hand, executed, made, page, exported):
    made.widget.reset()
    page.goto(exported(executed))
    by_hand(slider(page, "Major"), "weights")
    page.get_by_role("button", name="reset").click()
    slider(page, "Minor").press("PageUp")
    side(page, "Accuracy/Omission").select_option("neither")
    made.widget.weights, made.widget.categories = {"Minor": 2}, {"Accuracy/Omission": "neither"}
    assert_shown(page.locator(".anx"), made.widget)


def test_untrusted_notebook_shows_picture_and_tables(executed, untrusted):
    output = untrusted("editor_static.ipynb")
    assert output.locator("img").count() == 1
    assert output.locator("table").count() == 3
    assert "Fluency/Grammar" in output.inner_text()
    assert "on the frontier: LLM-Large, MT-Tuned" in output.inner_text()
