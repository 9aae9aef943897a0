"""The rating sheet in a browser: as a page of its own, in a real JupyterLab, and in an exported notebook."""

from types import SimpleNamespace

import numpy as np
import pytest

from anhelpers import classroom
from anhelpers.classroom.rating_sheet import _turns

SETUP = """import numpy as np
from anhelpers.data import from_systems, load
from anhelpers.classroom.rating_sheet import rating_sheet
test = load("teaching")
def sheet(**options):
    return rating_sheet(test, from_systems(test), rng=np.random.default_rng(3), title='A <claim>', **options)"""
SHOW = "w = sheet(path=PATH)\nw"
PLAN = [1 + 7 * k % 5 for k in range(30)]  # the ratings that are typed below


@pytest.fixture(scope="module")
def made():
    names = {}
    exec(SETUP, names)  # the same code as in the notebooks below
    return SimpleNamespace(sheet=names["sheet"], widget=names["sheet"]())


def open_page(made, page, tmp_path):
    page.goto(made.widget.save(tmp_path / "sheet.html").as_uri())
    return page.locator(".anx")


def shown(root):
    """What every group of radio buttons says, in the order of the file: 1 to 5, or None."""
    groups = """rows => rows.map(row => [+row.querySelector('input').dataset.row,
        +(row.querySelector('input:checked')?.value ?? 0) || null]).sort((a, b) => a[0] - b[0]).map(one => one[1])"""
    return root.locator(".anx-rate").evaluate_all(groups)


def focused(page):
    """Which row the keyboard is in."""
    row = page.evaluate("document.activeElement.dataset.row")
    return None if row is None else int(row)


def by_turn(made):
    """The rows of the file in the order in which the page asks for them."""
    turns = _turns(made.widget.data)
    return sorted(range(30), key=turns.__getitem__)


def to_sources(page):
    """Turn to the first page with a source, without a rating."""
    for _ in range(4):
        page.get_by_label("Next page (N)").click()


ENDS = {4, 9, *range(14, 29, 3)}
"""The last turns of the pages: three of five texts alone, then five sources of three translations; from 0."""


def type_some(page, root, made, plan, n=30):
    """Give the first n ratings that are asked for; returns what the sheet then holds."""
    root.locator("input[data-row]:visible").first.focus()
    held = [None] * 30
    for turn, k in enumerate(by_turn(made)[:n]):
        assert focused(page) == k
        page.keyboard.press(str(plan[k]))
        held[k] = plan[k]
        if turn in ENDS:
            # the focus is on "next", and goes to the first cell of the next page
            page.keyboard.press("Enter")
    return held


def download(page, act):
    with page.expect_download() as started:
        act()
    return started.value


def test_thirty_keys_rate_all_and_the_page_writes_the_file(made, page, tmp_path):
    root = open_page(made, page, tmp_path)
    type_some(page, root, made, PLAN)
    assert shown(root) == PLAN
    assert root.locator(".anx-value").inner_text() == "30 of 30"
    assert root.locator("progress").get_attribute("value") == "1"
    assert page.evaluate("document.activeElement.type") == "text"  # what is left is the name
    page.keyboard.type("Žofie 2")
    file = download(page, lambda: page.keyboard.press("Enter"))
    assert file.suggested_filename == f"ratings_{made.widget.sheet.id}_Žofie_2.csv"
    file.save_as(tmp_path / "one.csv")
    found = classroom.read_class_ratings(tmp_path / "one.csv")
    assert found.raters == ("Žofie 2",)
    assert found.sheet == made.widget.sheet.id
    rows = found.table[["segment", "candidate", "criterion"]].itertuples(index=False, name=None)
    assert list(rows) == made.widget.sheet.rows
    assert found.table.rating.tolist() == PLAN
    assert found.table.seconds.between(0, 60).all()
    same = made.sheet()
    same.rater, same.ratings, same.seconds = "Žofie 2", PLAN, found.table.seconds.tolist()
    # what Python would have written
    assert (tmp_path / "one.csv").read_bytes() == same.csv().encode()
    assert (
        root.locator(".anx-status")
        .inner_text()
        .startswith("Saved 30 of 30 ratings as a download: ratings_")
    )


def test_the_keys_of_a_page_of_its_own_need_no_click(made, page, tmp_path):
    root = open_page(made, page, tmp_path)
    assert page.evaluate("document.activeElement === document.body")
    for digit in "42":
        page.keyboard.press(digit)
    first, second, *_ = by_turn(made)
    assert (shown(root)[first], shown(root)[second]) == (4, 2)
    page.mouse.click(2, 2)  # beside the sheet
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("3")  # the first text without a rating
    assert shown(root)[by_turn(made)[2]] == 3
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("n")
    assert root.locator(".anx-where").inner_text().startswith("fluency 2")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("Control+1")
    assert shown(root).count(1) == 0


def test_arrows_tab_backspace_and_page_keys(made, page, tmp_path):
    root, rows = open_page(made, page, tmp_path), by_turn(made)
    root.locator("input[data-row]:visible").first.focus()
    for key, turn in [
        ("ArrowRight", 1),
        ("ArrowDown", 2),
        ("ArrowDown", 3),
        ("ArrowDown", 4),
        ("ArrowDown", 4),
        ("ArrowLeft", 3),
        ("ArrowUp", 2),
        ("Tab", 3),
        ("Shift+Tab", 2),
    ]:
        page.keyboard.press(key)
        assert focused(page) == rows[turn], key
    page.keyboard.press("4")
    assert focused(page) == rows[3]
    page.keyboard.press("ArrowLeft")
    assert [shown(root)[k] for k in rows[:4]] == [None, None, 4, None]
    page.keyboard.press("5")  # another mind
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Backspace")
    assert shown(root) == [None] * 30
    assert focused(page) == rows[2]
    page.keyboard.press("9")
    assert shown(root) == [None] * 30


def test_fluency_is_rated_without_the_source_and_stays_once_a_source_is_shown(made, page, tmp_path):
    root, rows, widget = open_page(made, page, tmp_path), by_turn(made), made.widget
    root.locator("input[data-row]:visible").first.focus()
    where, status = root.locator(".anx-where"), root.locator(".anx-status")
    texts = []
    for key, said in [
        ("n", "fluency 2 of 3"),
        ("P", "fluency 1 of 3"),
        ("PageDown", "fluency 2 of 3"),
    ]:
        page.keyboard.press(key)
        assert where.inner_text() == said
        assert root.locator("section:visible").count() == 1
        assert not root.locator(".anx-source:visible").count()
    page.keyboard.press("3")
    page.keyboard.press("n")
    page.keyboard.press("n")  # 14 are blank: it asks first
    assert where.inner_text() == "fluency 3 of 3"
    assert status.inner_text().startswith("14 fluency ratings are blank, and will stay so")
    page.keyboard.press("n")
    for sentence in range(5):
        assert where.inner_text() == f"accuracy {sentence + 1} of 5"
        assert (
            root.locator("section:visible .anx-source").inner_text() == widget.sheet.srcs[sentence]
        )
        texts.append(root.locator("section:visible td[lang]").all_inner_texts())
        page.keyboard.press("n")
    assert texts == [list(one) for one in widget.sheet.texts]
    for _ in range(6):
        page.keyboard.press("p")
    assert where.inner_text() == "accuracy 1 of 5"
    assert status.inner_text() == "Fluency is closed: the sources have been shown."
    assert focused(page) == rows[15]
    assert root.locator("section").first.locator("input:disabled").count() == 25
    assert [shown(root)[k] for k in rows[5:7]] == [3, None]


def test_a_page_that_is_loaded_again_has_both_passes_still(made, page, tmp_path, load_again):
    root = open_page(made, page, tmp_path)
    held = type_some(page, root, made, PLAN, 8)
    load_again()
    assert shown(root) == held
    assert root.locator(".anx-where").inner_text() == "fluency 2 of 3"
    page.get_by_label("pseudonym").fill("Mo")
    page.get_by_role("button", name="start over").click()
    page.get_by_role("button", name="really delete").click()
    assert shown(root) == [None] * 30
    load_again()
    assert shown(root) == [None] * 30
    held = type_some(page, root, made, PLAN, 19)
    page.get_by_label("pseudonym").fill("Mo")
    load_again()
    assert shown(root) == held
    assert root.locator(".anx-where").inner_text() == "accuracy 2 of 5"
    assert page.get_by_label("pseudonym").input_value() == "Mo"
    assert (
        root.locator(".anx-status").inner_text()
        == "This browser kept 19 of 30 ratings of Mo: go on, or start over if they are not yours."
    )
    page.get_by_label("Previous page (P)").click()
    assert page.get_by_label("Previous page (P)").get_attribute("aria-disabled") == "true"
    assert root.locator(".anx-where").inner_text() == "accuracy 1 of 5 ✓"
    file = download(page, page.get_by_role("button", name="Save", exact=True).click)
    file.save_as(tmp_path / "mo.csv")
    found = classroom.read_class_ratings(tmp_path / "mo.csv")
    assert [None if np.isnan(r) else r for r in found.table.rating] == held
    assert found.table.turn.tolist() == _turns(made.widget.data)
    assert found.notes == ("11 of 30 ratings are missing (Mo 11).",)


def test_a_mouse_rates_too_and_a_text_field_takes_letters(made, page, tmp_path):
    root, rows = open_page(made, page, tmp_path), by_turn(made)
    page.get_by_role("radiogroup", name="Fluency of text 2", exact=True).get_by_text("4").click()
    assert shown(root)[rows[1]] == 4
    page.get_by_label("Next page (N)").click()
    assert focused(page) == rows[5]
    page.get_by_role("radiogroup", name="Fluency of text 6").get_by_role("radio").nth(1).click()
    assert shown(root)[rows[5]] == 2
    page.get_by_label("pseudonym").fill("")
    page.get_by_label("pseudonym").press_sequentially("Ann 5")
    assert page.get_by_label("pseudonym").input_value() == "Ann 5"
    assert root.locator(".anx-where").inner_text() == "fluency 2 of 3"
    assert root.locator(".anx-value").inner_text() == "2 of 30"


def test_what_a_source_says_word_for_word_opens_on_demand(page, tmp_path):
    names = {}
    exec(SETUP.replace('"teaching"', '"teaching/de-en"'), names)
    widget = names["sheet"]()
    page.goto(widget.save(tmp_path / "glossed.html").as_uri())
    to_sources(page)
    line = page.locator(".anx details").locator("visible=true")
    assert widget.data["segments"][0]["gloss"] not in line.inner_text()
    line.locator("summary").click()
    assert widget.data["segments"][0]["gloss"] in line.inner_text()
    assert line.get_attribute("lang") == "en"


def test_a_sheet_to_try_has_nothing_to_hand_in(made, page, tmp_path, load_again):
    page.goto(made.sheet(hand_in=False).save(tmp_path / "try.html").as_uri())
    assert not page.get_by_role("button", name="Save", exact=True).is_visible()
    held = type_some(page, page.locator(".anx"), made, PLAN)
    assert shown(page.locator(".anx")) == held == PLAN
    assert focused(page) == by_turn(made)[-1]
    load_again()
    assert shown(page.locator(".anx")) == PLAN
    for name in ("start over", "really delete"):
        page.get_by_role("button", name=name).click()
    assert shown(page.locator(".anx")) == [None] * 30


@pytest.mark.parametrize(
    ("name", "said"), [("  ", "Enter a pseudonym"), ("a,b", "cannot be written"), ("=1", "= + - @")]
)
def test_without_a_usable_name_nothing_is_saved(made, page, tmp_path, name, said):
    root = open_page(made, page, tmp_path)
    written = []
    page.on("download", lambda _: written.append(1))
    page.get_by_label("pseudonym").fill(name)
    page.get_by_role("button", name="Save", exact=True).click()
    assert said in root.locator(".anx-status").inner_text()
    assert page.get_by_label("pseudonym").get_attribute("aria-invalid") == "true"
    page.wait_for_timeout(100)
    assert not written


def test_a_saved_file_is_gone_on_with_and_merged_with_another(made, page, tmp_path):
    first = made.sheet()
    first.rater = "Mo"
    first.ratings = [*PLAN[:6], *[None] * 24]
    first.seconds = [1.5] * 6 + [None] * 24
    first.save_ratings(tmp_path / "mo.csv")
    root = open_page(made, page, tmp_path)
    page.get_by_label("go on with a saved file").set_input_files(tmp_path / "mo.csv")
    page.wait_for_function("document.querySelector('.anx').dataset.rated === '6'")
    assert shown(root) == first.ratings
    assert page.get_by_label("pseudonym").input_value() == "Mo"
    assert root.locator(".anx-status").inner_text() == "Read mo.csv: 6 of 30 ratings."
    # whose accuracy was rated has seen sources: the place is behind the texts alone
    page.get_by_label("Next page (N)").click()
    page.get_by_role("radiogroup", name="Accuracy of A").locator("visible=true").get_by_text(
        str(PLAN[6])
    ).click()
    folder = tmp_path / "class"
    folder.mkdir()
    download(page, page.get_by_role("button", name="Save", exact=True).click).save_as(
        folder / "mo.csv"
    )
    other = made.sheet()
    other.rater, other.ratings = "Di", [3] * 30
    other.save_ratings(folder / "di.csv")
    both = classroom.read_class_ratings(folder)
    assert both.raters == ("Di", "Mo")
    assert both.notes == ("23 of 60 ratings are missing (Mo 23).",)
    assert both.table.rating[both.table.rater == "Mo"].tolist()[:7] == PLAN[:7]
    assert both.table.seconds[both.table.rater == "Mo"].tolist()[:6] == [1.5] * 6
    again = made.sheet(path=folder / "mo.csv")  # and a kernel goes on where the page stopped
    assert again.ratings == [*PLAN[:7], *[None] * 23]
    assert again.sources_shown


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda text, id: text.replace(id, "0123456789ab"), "of another sheet"),
        (lambda text, id: "<html>", "no file of ratings"),
        (lambda text, id: text.replace(",accuracy,3", ",accuracy,7"), "not 1 to 5"),
        (lambda text, id: text.replace("Mo,", "Di,", 1), "not the ratings of one rater"),
    ],
)
def test_a_page_refuses_another_file(made, page, tmp_path, change, said):
    first = made.sheet()
    first.rater, first.ratings = "Mo", [3] * 30
    (tmp_path / "x.csv").write_text(change(first.csv(), first.sheet.id))
    root = open_page(made, page, tmp_path)
    page.get_by_label("go on with a saved file").set_input_files(tmp_path / "x.csv")
    page.wait_for_function("document.querySelector('.anx-status').textContent !== ''")
    assert said in root.locator(".anx-status").inner_text()
    assert shown(root) == [None] * 30


def test_what_excel_saved_is_gone_on_with(made, page, tmp_path):
    first = made.sheet()
    first.rater, first.ratings = "Mo", PLAN
    (tmp_path / "x.csv").write_bytes(
        ("\ufeff" + first.csv().replace(",", ";").replace("\n", "\r\n")).encode()
    )
    root = open_page(made, page, tmp_path)
    page.get_by_label("go on with a saved file").set_input_files(tmp_path / "x.csv")
    page.wait_for_function("document.querySelector('.anx').dataset.rated === '30'")
    assert shown(root) == PLAN


def test_the_reference_is_behind_a_button_and_texts_are_text(made, page, tmp_path):
    own = made.sheet(reference=True)
    page.goto(own.save(tmp_path / "ref.html").as_uri())
    root, ref = page.locator(".anx"), own.sheet.refs[0]
    to_sources(page)
    assert not page.get_by_text(ref).is_visible()
    page.get_by_role("button", name="show a reference").click()
    assert page.get_by_text(ref).is_visible()
    page.get_by_role("button", name="hide the reference").click()
    assert not page.get_by_text(ref).is_visible()
    assert root.locator(".anx-title").inner_text() == "A <claim>"
    page.emulate_media(media="print")
    assert not page.get_by_text(ref).is_visible()


def test_it_fits_a_projector_a_phone_and_a_dark_room(fits, made, page, tmp_path):
    root = open_page(made, page, tmp_path)
    fits(root, "section:visible", ".anx-foot", ".anx-bar")
    assert root.locator("section:visible tbody td").first.bounding_box()["width"] > 300
    page.emulate_media(color_scheme="dark")
    assert root.evaluate("e => getComputedStyle(e).backgroundColor") == "rgb(22, 22, 22)"
    to_sources(page)
    fits(root, "section:visible", ".anx-foot", ".anx-bar")
    assert (
        root.locator(".anx-source").first.evaluate("e => getComputedStyle(e).color")
        == "rgb(241, 241, 241)"
    )


def test_printed_it_shows_every_sentence_and_no_controls(made, page, tmp_path):
    root = open_page(made, page, tmp_path)
    root.locator("input[data-row]").first.focus()
    page.keyboard.press("4")
    page.emulate_media(media="print")
    assert root.locator("section:visible").count() == 3 + 5
    breaks = "all => all.map(one => getComputedStyle(one).breakBefore)"
    assert root.locator("section").evaluate_all(breaks) == [*["auto"] * 3, "page", *["auto"] * 4]
    assert [root.locator(part).is_visible() for part in (".anx-bar", ".anx-save", ".anx-open")] == [
        False
    ] * 3
    assert made.widget.sheet.id in root.locator(".anx-paper").inner_text()
    assert shown(root)[by_turn(made)[0]] == 4


def test_without_scripts_a_sheet_to_print_remains(made, without_scripts, tmp_path):
    page = without_scripts(made.widget.save(tmp_path / "sheet.html"))
    assert page.locator("table").count() == 1 + 5
    assert page.locator("body").inner_text().count("☐") == 150
    assert "Pseudonym (no real name is needed): ____" in page.locator("body").inner_text()


def test_in_jupyterlab_the_kernel_saves_and_goes_on(
    in_lab, run_cell, printed, n_cells, lab, made, page, tmp_path
):
    file = lab[1] / "mo.csv"
    again = "w = sheet(path='mo.csv')\nw"
    said = "print(*w.ratings, w.place)"
    in_lab(
        "raters.ipynb", SETUP, SHOW.replace("PATH", "'mo.csv'"), said, "w.ratings = [5] * 30", again
    )
    for cell in (0, 1):
        run_cell(cell)
    root = page.locator(".anx")
    root.wait_for()
    held = type_some(page, root, made, PLAN, 10)
    for key in ("d", "d", "b", "x", "Backspace"):
        page.keyboard.press(key)
    assert n_cells() == 5
    assert printed(2) == [*map(str, held), "2"]
    page.get_by_label("pseudonym").fill("Mo")
    page.get_by_role("button", name="Save", exact=True).click()
    page.wait_for_function(
        "document.querySelector('.anx-status').textContent.startsWith('Saved 10 of 30 ratings to mo')"
    )
    before = classroom.read_class_ratings(file)
    assert before.raters == ("Mo",)
    assert [None if np.isnan(r) else r for r in before.table.rating] == held
    page.get_by_label("pseudonym").fill("Di")
    page.get_by_role("button", name="Save", exact=True).click()
    page.wait_for_function(
        "document.querySelector('.anx-status').textContent.includes('holds the ratings of Mo')"
    )
    run_cell(3)
    page.wait_for_function("document.querySelector('.anx').dataset.rated === '30'")
    assert shown(root) == [5] * 30
    run_cell(4)
    page.wait_for_function("document.querySelectorAll('.anx').length === 2")
    second = root.nth(1)
    assert shown(second) == held
    assert second.get_by_label("pseudonym").input_value() == "Mo"
    assert not second.locator(".anx-open").is_visible()
    second.get_by_role("button", name="Save", exact=True).click()
    page.wait_for_function(
        "document.querySelectorAll('.anx-status')[1].textContent.startsWith('Saved 10')"
    )
    same = made.sheet(path=file)
    assert file.read_bytes() == same.csv().encode()
    # and nothing is lost without it
    page.evaluate("jupyterapp.shell.currentWidget.context.sessionContext.shutdown()")
    started = download(page, second.get_by_role("button", name="Save", exact=True).click)
    started.save_as(tmp_path / "mo.csv")
    assert (tmp_path / "mo.csv").read_bytes() == file.read_bytes()
    assert (
        second.locator(".anx-status")
        .inner_text()
        .startswith("The kernel is busy or gone. Saved 10 of 30 ratings")
    )


@pytest.fixture(scope="module")
def executed(execute):
    return execute("raters_static.ipynb", SETUP, SHOW.replace("PATH", "'nobody.csv'"))


def test_exported_notebook_works_without_kernel(executed, made, page, exported, tmp_path):
    page.goto(exported(executed))
    root = page.locator(".anx")
    type_some(page, root, made, PLAN)
    page.get_by_label("pseudonym").fill("Mo")
    file = download(page, page.get_by_role("button", name="Save", exact=True).click)
    file.save_as(tmp_path / "mo.csv")
    assert classroom.read_class_ratings(tmp_path / "mo.csv").table.rating.tolist() == PLAN


def test_untrusted_notebook_shows_a_sheet_to_print(executed, made, untrusted):
    output = untrusted("raters_static.ipynb")
    assert output.locator("table").count() == 1 + 5
    text = output.inner_text()
    assert text.count("☐") == 150
    assert all(text_of in text for texts in made.widget.sheet.texts for text_of in texts)
