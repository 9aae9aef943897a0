"""Guesses in a browser: kept when the page is opened again, without a kernel, from a file, and in a real JupyterLab."""

import csv
import json
import re

import pytest

from anhelpers.widgets.guesses import guess, guessed

SETUP = """from tiny import Together
from anhelpers.widgets.guesses import guess, guessed
CHOICES = ["<b>it falls</b>", "it rises", "it stays"]
TOLD = {"the oracle": "it stays", "the class": {"it rises": 6, "it stays": 3}}"""
SHOW = """g, h = guess("end", "What does the <i>line</i> do?", CHOICES), guessed("end", TOLD)
h.value = "it rises"
w = Together(g, h, guess("bits", "How many bits?", unit="bits"))
w"""
FAR = "<div style='height: 3000px'></div>"  # what comes after it is out of sight


@pytest.fixture
def opened(tiny, page, tmp_path):
    """A function that saves widgets as a page and opens it."""

    def show(*widgets, title="a page", between=FAR):
        made = tiny.Together(*widgets, title=title, between=between)
        page.goto(made.save(tmp_path / f"{title}.html").as_uri())
        return page.locator(".anx").all()

    return show


def end():
    return guess("end", "What does it do?", ["it falls", "it rises"])


def bits():
    return guess("bits", "How many bits?", unit="bits")


def stored(page, title="a page"):
    return json.loads(page.evaluate(f"localStorage.getItem('anx-guesses:{title}')") or "{}")


def test_a_choice_is_remembered_and_closed_once_compared(opened, page, load_again):
    first, second = opened(end(), guessed("end", {"it": "it rises"}))
    assert not second.get_by_text("it rises").is_visible()
    assert second.get_by_role("button", name="Compare").count() == 1
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    assert first.get_by_role("radio", name="it falls").is_checked()
    page.keyboard.press("ArrowDown")
    assert first.get_by_role("status").inner_text() == "Remembered: it rises."
    assert stored(page)["end"] == {"guess": "it rises", "compared": False}
    load_again()
    assert first.get_by_role("radio", name="it rises").is_checked()
    first.get_by_role("radio", name="it falls").check()  # may still be changed
    second.scroll_into_view_if_needed()
    assert second.inner_text().startswith("You guessed it falls; it: it rises.")
    page.wait_for_function("document.querySelector('[role=status]').textContent[0] === 'C'")
    assert first.get_by_role("radio", name="it rises").is_disabled()
    load_again()
    assert first.get_by_role("status").inner_text() == "Compared, so it stays: it falls."
    first.get_by_role("button", name="Forget this guess").click()
    assert not first.get_by_role("radio", name="it falls").is_checked()
    assert first.get_by_role("radio", name="it falls").is_enabled()
    assert stored(page) == {}
    assert second.get_by_role("button", name="Compare").count() == 1


def test_a_number_by_the_keyboard(opened, page, load_again):
    first, second = opened(bits(), guessed("bits", {"the oracle": 1, "the class": 3}, unit="bits"))
    field = first.get_by_role("textbox", name="How many bits?")
    for typed, value in (("four", None), ("2,5", 2.5), ("-0.5", -0.5), ("", None), ("4", 4)):
        field.fill(typed)
        field.press("Enter")
        if typed == "four":
            assert first.get_by_role("status").inner_text() == "Write a number, such as 2.5."
            assert stored(page) == {}
        else:
            assert stored(page)["bits"]["guess"] == value
    said = "You guessed 4 bits; the oracle: 1 bit; the class: 3 bits."
    second.scroll_into_view_if_needed()
    assert second.locator(".anx-said").inner_text() == said
    load_again()
    assert first.get_by_role("textbox").input_value() == "4"


def test_compare_without_a_guess(opened, page):
    _, second = opened(bits(), guessed("bits", {"it": 2}))
    second.get_by_role("button", name="Compare").focus()
    page.keyboard.press("Enter")
    assert second.locator(".anx-said").inner_text() == "You did not guess; it: 2."
    assert second.locator(".anx-answers").evaluate("e => e === document.activeElement")


def test_the_class_as_bars(opened, page):
    told = {"it": "it rises", "the class": {"it falls": 2, "it rises": 8}}
    first, second = opened(end(), guessed("end", told), between="")
    first.get_by_role("radio", name="it falls").check()
    assert second.locator("caption").inner_text() == "the class: 10 guesses"
    assert second.locator("tr.anx-mine").inner_text().split("\t") == ["it falls (you)", "2"]
    widths = "bars => bars.map(bar => bar.getBoundingClientRect().width)"  # at one moment
    few, many = second.locator(".anx-count").evaluate_all(widths)
    assert few == pytest.approx(many / 4, rel=0.05)


def test_pages_and_names_are_kept_apart(opened, page):
    first, *_ = opened(end(), bits(), title="one")
    first.get_by_role("radio", name="it rises").check()
    opened(end(), title="two")
    assert page.get_by_role("radio", checked=True).count() == 0
    opened(end(), bits(), title="one")
    assert page.get_by_role("radio", name="it rises").is_checked()
    assert page.get_by_role("textbox").input_value() == ""


def test_an_answer_to_an_older_question_is_no_guess(opened, page):
    first, *_ = opened(end())
    first.get_by_role("radio", name="it rises").check()
    opened(guess("end", "How much?"))
    assert page.get_by_role("textbox").input_value() == ""
    assert not page.get_by_role("button", name="Save").is_visible()


def test_guesses_are_saved_for_the_class(opened, page, tmp_path):
    first, second = opened(guess("end", "?", ['=1, "a"', "b"]), bits(), between="")
    first.get_by_role("radio").first.check()
    second.get_by_role("textbox").fill("7")
    second.get_by_role("textbox").press("Enter")
    with page.expect_download() as download:
        second.get_by_role("button", name="Save all guesses").click()
    assert download.value.suggested_filename == "guesses_a_page.csv"
    download.value.save_as(tmp_path / "g.csv")
    rows = [*csv.reader((tmp_path / "g.csv").read_text("utf-8").splitlines())]
    assert rows == [
        ["page", "name", "guess"],
        ["a page", "end", '\'=1, "a"'],  # no formula for a spreadsheet
        ["a page", "bits", "7"],
    ]


def test_a_browser_that_keeps_nothing(opened, page):
    page.add_init_script(
        "Object.defineProperty(window, 'localStorage', {get() { throw new Error('no'); }})"
    )
    first, second = opened(end(), guessed("end", {"it": "it rises"}), between="")
    first.get_by_role("radio", name="it falls").check()
    assert second.locator(".anx-said").is_visible()


def test_on_a_phone(opened, page):
    page.set_viewport_size({"width": 390, "height": 800})
    many = guess(
        "end", "A question of more than one line, of course?", [f"answer {i}" * 4 for i in range(5)]
    )
    opened(many, bits(), guessed("bits", {"the class": {1: 3, 2: 1}}), between="")
    page.get_by_role("button", name="Compare").click()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert all(radio.bounding_box()["height"] >= 16 for radio in page.get_by_role("radio").all())


def test_without_scripts_a_line_to_write_on_and_the_answers(tiny, without_scripts, tmp_path):
    told = {"the oracle": "it falls", "the class": {"it falls": 2, "it rises": 8}}
    made = tiny.Together(end(), guessed("end", told))
    page = without_scripts(made.save(tmp_path / "guesses.html"))
    text = page.locator("body").inner_text()
    assert "What does it do? Your guess: it falls / it rises" in text
    assert re.search("You guessed _+; the oracle: it falls", text)
    assert page.locator("tbody tr").count() == 2


def test_an_exported_notebook_needs_no_kernel(execute, exported, page, load_again):
    address = exported(
        execute("guesses.ipynb", SETUP, "guess('end', 'What?', CHOICES)", "guessed('end', TOLD)")
    )
    page.goto(address)
    page.get_by_role("radio", name="it stays").check()
    page.get_by_text("You guessed it stays; the oracle: it stays.").wait_for()
    load_again()
    assert page.get_by_role("radio", name="it stays").is_checked()
    assert page.locator(".anx-mine").inner_text().startswith("it stays (you)")


def test_in_jupyterlab(in_lab, run_cell, printed, n_cells, page):
    cells = ["g = guess('end', 'What?', CHOICES)\ng", "h = guessed('end', TOLD)\nh"]
    in_lab(
        "guesses.ipynb", SETUP, *cells, "print(g.value, h.value, sep='_')", "g.value = CHOICES[0]"
    )
    for cell in range(3):
        run_cell(cell)
    radio = page.get_by_role("radio", name="it rises")
    radio.focus()
    page.keyboard.press("Space")
    for key in "ddbx":
        page.keyboard.press(key)
    assert n_cells() == 5
    page.locator(".anx-said").wait_for()
    assert printed(3) == ["it", "rises_it", "rises"]
    assert page.evaluate("localStorage.getItem('anx-guesses:guesses')") is not None
    run_cell(4)
    page.get_by_text("You guessed <b>it falls</b>").wait_for()
    run_cell(1)  # a widget made anew remembers
    page.wait_for_function("document.querySelector('[role=radio], input[type=radio]').checked")
