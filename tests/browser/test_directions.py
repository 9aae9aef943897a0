"""The direction explorer in a browser: as a page of its own, in a real JupyterLab, and in an exported notebook."""

from types import SimpleNamespace

import pytest

SETUP = """import numpy as np
from anhelpers.xmi import xmi_table
from anhelpers.widgets.directions import direction_explorer
rng = np.random.default_rng(3)
names = [f"{a}-{b}" for x in ("fi", "de", "fr", "el", "lt", "nl", "ro", "sv") for a, b in (("en", x), (x, "en"))]
lm = {name: -rng.gamma(30, 5, 60) for name in names + ["<b>own</b>"]}
keep = {name: rng.uniform(0.3, 0.5) for name in names} | {"<b>own</b>": 1.06}
table = xmi_table({n: (lm[n] * keep[n] + rng.normal(0, 2, 60).clip(max=0), lm[n]) for n in lm}, unit="bits", rng=rng)
table = table.assign(bleu=rng.uniform(20, 50, len(table)))"""
SHOW = "w = direction_explorer(table, title='A <claim>', start='en-fi')\nw"
PIECES = """rows => rows.map(row => { const track = row.querySelector('.anx-track').getBoundingClientRect();
    const share = (kind) => { const e = row.querySelector('.anx-' + kind); if (!e) return null;
      const box = e.getBoundingClientRect(); return [(box.left - track.left) / track.width, box.width / track.width]; };
    return Object.fromEntries(['saved', 'left', 'worse', 'tick', 'of-xmi'].map(kind => [kind, share(kind)])); })"""


@pytest.fixture(scope="module")
def made():
    names = {}
    exec(f"{SETUP}\n{SHOW}", names)  # the same code as in the notebooks below
    return SimpleNamespace(
        table=names["table"].set_index("direction"), widget=names["w"], data=names["w"].data
    )


@pytest.fixture
def opened(made, page, tmp_path):
    page.goto(made.widget.save(tmp_path / "directions.html").as_uri())
    return SimpleNamespace(
        root=page.locator(".anx"), list=page.get_by_role("listbox"), **vars(made)
    )


def row_of(made, name):
    return next(row for row in made.data["rows"] if row["name"] == name)


def assert_shown(root, made, name=None):
    """List, menu, words, numbers and bars are those of the direction of the page."""
    here = root.get_attribute("data-direction")
    assert name is None or here == name
    row, numbers = row_of(made, here), made.table.loc[here]
    chosen = root.locator("[role=option][aria-selected=true]")
    assert chosen.locator(".anx-name").inner_text() == row["label"]
    assert root.locator("[role=listbox]").get_attribute(
        "aria-activedescendant"
    ) == chosen.get_attribute("id")
    assert root.get_by_label("direction", exact=True).input_value() == here
    words = root.locator(".anx-words").inner_text().replace("\u00a0", " ")
    assert words == f"{row['label']}. {' '.join(row['words'])}".replace("\u00a0", " ")
    cells = root.locator("tr.anx-chosen:not(.anx-barred) td").all_inner_texts()
    assert [cell.split("\n")[0] for cell in cells] == [
        f"{numbers[c]:.1f}".replace("-", "−") for c in ("xmi", "h_mt", "h_lm", "bleu")
    ]
    assert_bar(
        root.locator("tr.anx-chosen.anx-barred").evaluate_all(PIECES)[0], numbers, made.data["span"]
    )


def assert_bar(pieces, row, span):
    def at(v):
        return pytest.approx((v - span[0]) / (span[1] - span[0]), abs=0.005)

    def long(v):
        return pytest.approx(v / (span[1] - span[0]), abs=0.005)

    if row["xmi"] >= 0:
        assert pieces["saved"] == [at(0), long(row["xmi"])]
        assert pieces["left"] == [at(row["xmi"]), long(row["h_mt"])]
        assert pieces["worse"] is None
    else:
        assert pieces["worse"] == [at(row["xmi"]), long(-row["xmi"])]
        assert pieces["left"] == [at(0), long(row["h_mt"])]
        assert pieces["tick"][0] == at(row["h_lm"])
        assert pieces["saved"] is None
    assert pieces["of-xmi"] == [at(row["xmi_low"]), long(row["xmi_high"] - row["xmi_low"])]


def test_keys_walk_through_the_list(opened, page):
    root = opened.root
    names = [opened.data["rows"][i]["name"] for i in opened.data["orders"]["xmi"]]
    assert_shown(root, opened, "en-fi")
    opened.list.focus()
    for key, place in [
        ("Home", 0),
        ("ArrowDown", 1),
        ("ArrowRight", 2),
        ("ArrowUp", 1),
        ("ArrowLeft", 0),
        ("ArrowUp", 0),
        ("PageDown", 10),
        ("End", 16),
        ("ArrowDown", 16),
        ("PageUp", 6),
    ]:
        page.keyboard.press(key)
        assert_shown(root, opened, names[place])
    page.keyboard.press("End")
    assert names[-1] == "<b>own</b>"  # the only negative one
    option = root.locator("[aria-selected=true]").bounding_box()
    around = opened.list.bounding_box()
    assert (
        around["y"]
        <= option["y"]
        <= option["y"] + option["height"]
        <= around["y"] + around["height"] + 1
    )
    assert page.evaluate("scrollY") == 0


def test_a_click_on_a_bar_and_the_menu_choose(opened, page):
    root = opened.root
    root.locator("[role=option]", has_text="Greek → English").locator(".anx-track").click()
    assert_shown(root, opened, "el-en")
    page.get_by_role("button", name="reverse").click()
    assert_shown(root, opened, "en-el")
    page.get_by_label("direction", exact=True).select_option("de-en")
    assert_shown(root, opened, "de-en")
    assert root.locator("optgroup").count() == 1  # the made-up name has no languages, so no side
    page.get_by_label("direction", exact=True).select_option("<b>own</b>")
    assert_shown(root, opened, "<b>own</b>")
    reverse = page.get_by_role("button", name="reverse")
    assert reverse.get_attribute("aria-disabled") == "true"
    reverse.click(force=True)
    assert_shown(root, opened, "<b>own</b>")


def test_the_list_in_another_order(opened, page):
    root = opened.root
    for key in ("bleu", "h_lm", "name", "xmi"):
        page.get_by_label("list by").select_option(key)
        labels = [opened.data["rows"][i]["label"] for i in opened.data["orders"][key]]
        assert root.locator("[role=option] .anx-name").all_inner_texts() == labels
        assert_shown(root, opened, "en-fi")
    for step in ("above", "below"):
        before = root.get_attribute("data-direction")
        page.get_by_label(f"Direction {step} in the list").click()
        assert root.get_attribute("data-direction") != before
    assert_shown(root, opened, "en-fi")
    opened.list.focus()
    page.keyboard.press("Home")
    assert page.get_by_label("Direction above in the list").get_attribute("aria-disabled") == "true"


def test_beside_it_stand_the_reverse_and_the_mean(opened):
    rows = opened.root.locator("tbody tr:not(.anx-barred) th").all_inner_texts()
    assert rows == ["English → Finnish", "Finnish → English", "mean of 17 directions"]
    bars = opened.root.locator("tr.anx-barred").evaluate_all(PIECES)
    assert_bar(bars[1], opened.table.loc["fi-en"], opened.data["span"])
    mean, (low, high) = opened.table[["xmi", "h_mt"]].mean(), opened.data["span"]
    assert bars[2]["saved"][1] == pytest.approx(mean.xmi / (high - low), abs=0.005)
    assert bars[2]["left"][1] == pytest.approx(mean.h_mt / (high - low), abs=0.005)


def test_bars_of_the_list_have_the_same_scale(opened):
    names = [opened.data["rows"][i]["name"] for i in opened.data["orders"]["xmi"]]
    pieces = opened.root.locator("[role=option]").evaluate_all(PIECES)
    low, high = opened.data["span"]
    for name, piece in zip(names, pieces, strict=True):
        xmi = opened.table.xmi[name]
        assert piece["saved" if xmi >= 0 else "worse"][1] == pytest.approx(
            abs(xmi) / (high - low), abs=0.02
        )


def test_what_a_screen_reader_says(opened):
    root = opened.root
    assert root.get_attribute("aria-label") == "A <claim>"
    option = root.locator("[aria-selected=true]")
    said = option.get_attribute("aria-label")
    row = row_of(opened, "en-fi")
    assert said == "English → Finnish: " + ", ".join(
        f"{head} {text}"
        for head, text in zip(["XMI", "H_MT", "H_LM", "BLEU"], row["texts"], strict=True)
    )
    assert opened.list.get_attribute("aria-label") == "directions"
    assert root.locator(".anx-words").get_attribute("aria-live") == "polite"
    assert root.locator(".anx-track:not([aria-hidden=true])").count() == 0
    assert root.get_by_role("combobox").count() == 2


def test_texts_are_texts(opened):
    assert "<b>own</b>" in opened.root.inner_text()
    assert opened.root.locator(".anx-name b, th b, option b").count() == 0


def test_it_fits_a_projector_and_a_narrow_screen(fits, opened, page):
    fits(opened.root, ".anx-list", ".anx-words", "tbody", ".anx-tools")
    for name in ("reverse", "Direction below in the list"):
        box = page.get_by_role("button", name=name).bounding_box()
        assert box["x"] + box["width"] <= 390


def test_without_scripts_a_picture_and_a_table_remain(made, without_scripts, tmp_path):
    page = without_scripts(made.widget.save(tmp_path / "directions.html"))
    assert "English → Finnish" in page.get_by_role("img").get_attribute("alt")
    assert page.locator("tbody tr").count() == 17
    assert "The source saves" in page.inner_text("body")


def test_in_jupyterlab(in_lab, run_cell, printed, n_cells, made, page):
    in_lab("directions.ipynb", SETUP, SHOW, "print(w.direction, w.order)\nw.direction = 'ro-en'")
    for cell in (0, 1):
        run_cell(cell)
    root = page.locator(".anx")
    root.wait_for()
    listed = page.get_by_role("listbox", name="directions")
    listed.focus()
    for key in ("End", "ArrowUp", "PageUp"):
        page.keyboard.press(key)
        assert_shown(root, made)
    for key in "ddbx":  # JupyterLab would delete the cell
        page.keyboard.press(key)
    assert n_cells() == 3
    at = root.get_attribute("data-direction")
    assert printed(2) == [at, "xmi"]
    page.wait_for_function("document.querySelector('.anx').dataset.direction === 'ro-en'")
    assert_shown(root, made, "ro-en")


@pytest.fixture(scope="module")
def executed(execute):
    return execute("directions_static.ipynb", SETUP, SHOW)


def test_exported_notebook_works_without_kernel(executed, made, page, exported):
    page.goto(exported(executed))
    page.get_by_role("listbox").focus()
    for key in ("Home", "PageDown", "End"):
        page.keyboard.press(key)
        assert_shown(page.locator(".anx"), made)


def test_untrusted_notebook_shows_picture_words_and_table(executed, untrusted):
    output = untrusted("directions_static.ipynb")
    assert output.locator("img").count() == 1
    assert output.locator("table").count() == 1
    assert "<b>own</b>" in output.inner_text()
    assert "The source saves" in output.inner_text()
