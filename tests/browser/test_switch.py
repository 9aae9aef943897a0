"""One of several explorers at a time: as a page of its own, in a real JupyterLab, and in an exported notebook."""

import numpy as np
import pytest

from anhelpers.data import load, load_candidates
from anhelpers.plane import judged_studies, with_human_points
from anhelpers.widgets.study import explore
from anhelpers.widgets.switch import either

SETUP = """import tiny
from anhelpers.widgets.switch import either
from anhelpers.widgets.explorer import beta_explorer
curve, *texts, options = tiny.corpus()
pairs, *others, more = tiny.judged(seed=3)"""
SHOW = """one, two = beta_explorer(curve, *texts, **options), beta_explorer(pairs, *others, **more)
w = either({"<b>one</b>": one, "two": two}, "Texts of")
w"""
SETS = {"English": "teaching/de-en", "German": "teaching"}
ROWS = """root => [...root.querySelectorAll('tbody tr')].map(tr => [+tr.dataset.segment,
    [...tr.querySelector('.anx-chosen .anx-text').childNodes].filter(
        node => node.className !== 'anx-gone').map(node => node.textContent).join('')])"""


@pytest.fixture(scope="module")
def studies():
    """chrF × critic of both teaching sets."""
    made = {}
    for name, data in SETS.items():
        (made[name],), _ = judged_studies(
            with_human_points(load(data)), load_candidates(data), ["chrf"], ["critic"]
        )
    return made


@pytest.fixture
def opened(studies, page, tmp_path):
    made = either(
        {name: explore(one, beta=3) for name, one in studies.items()}, "Translations into"
    )
    page.goto(made.save(tmp_path / "either.html").as_uri())
    return page


def seen(page):
    """The one explorer in sight."""
    (root,) = (root for root in page.locator(".anx-beta").all() if root.is_visible())
    return root


def assert_oracle(root, study, beta):
    assert float(root.get_attribute("data-beta")) == beta
    chosen, rows = study.curve.select(beta), root.evaluate(ROWS)
    assert rows == [[s, study.cands.texts[chosen[s]]] for s, _ in rows]
    v = study.curve.vertex(beta)
    assert f"chrF {study.curve.accuracy[v]:.1f}" in root.locator(".anx-readout").inner_text()


def test_each_teaching_set_shows_what_its_own_curve_selects_by_the_keyboard_alone(opened, studies):
    page = opened
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.value") == "English"
    for key, name in (("ArrowRight", "German"), ("ArrowLeft", "English"), ("ArrowRight", "German")):
        page.keyboard.press(key)
        assert page.get_by_role("radio", name=name).is_checked()
        assert_oracle(seen(page), studies[name], 3)
    seen(page).get_by_role("slider").focus()
    for key, beta in (("End", np.inf), ("Home", 0), ("End", np.inf)):
        page.keyboard.press(key)
        assert_oracle(seen(page), studies["German"], beta)
    page.get_by_role("radio", name="German").focus()
    page.keyboard.press("ArrowLeft")
    assert_oracle(seen(page), studies["English"], 3)
    page.keyboard.press("ArrowLeft")  # and around
    assert_oracle(seen(page), studies["German"], np.inf)  # where it was left


def test_texts_say_their_language_and_glosses_stand_with_their_sources(opened):
    page, test = opened, load(SETS["English"])
    for name, langs in (("English", ["de", "en", "en"]), ("German", ["en", "de", "de"])):
        page.get_by_role("radio", name=name).check()
        cells = seen(page).locator("tbody tr").first.locator("td > [lang]:not(details)")
        assert [cell.get_attribute("lang") for cell in cells.all()] == langs
        assert {cell.evaluate("e => getComputedStyle(e).hyphens") for cell in cells.all()} == {
            "auto"
        }
        assert seen(page).locator("details.anx-note").count() == (6 if name == "English" else 0)
    page.get_by_role("radio", name="English").check()
    seen(page).locator("summary").nth(1).focus()
    page.keyboard.press("Enter")
    page.wait_for_function("document.querySelectorAll('details.anx-note[open]').length === 6")
    seen(page).get_by_label("Next page of rows").click()  # still open: who needs one needs them all
    assert seen(page).locator("details.anx-note").all_inner_texts() == [
        f"word for word\n{text}" for text in test.glosses[6:12]
    ]
    assert {box.get_attribute("lang") for box in seen(page).locator("details.anx-note").all()} == {
        "en"
    }
    page.set_viewport_size({"width": 358, "height": 800})  # of a phone's 390, in a notebook's page
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    tops = {button.bounding_box()["y"] for button in page.get_by_role("radio").all()}
    assert len(tops) == 1  # on one line of a phone


def test_without_scripts_all_are_there_below_their_names(studies, without_scripts, tmp_path):
    made = either({name: explore(one) for name, one in studies.items()}, "Translations into")
    page = without_scripts(made.save(tmp_path / "either.html"))
    assert page.locator(".anx-part > p").all_inner_texts() == [
        f"Translations into: {name}" for name in SETS
    ]
    assert page.locator("tbody").count() == 2
    assert all(body.is_visible() for body in page.locator("tbody").all())
    assert [
        cell.get_attribute("lang")
        for cell in page.locator("tbody tr:first-child td:nth-child(-n+2)").all()
    ] == [
        "de",
        "en",
        "en",
        "de",
    ]


def test_an_exported_notebook_needs_no_kernel(execute, exported, page):
    page.goto(exported(execute("either.ipynb", SETUP, SHOW)))
    assert seen(page).locator("tbody tr").count() == 6
    assert not seen(page).get_by_label("accuracy by").is_visible()
    page.get_by_role("radio", name="two").check()
    assert seen(page).get_by_label("accuracy by").is_visible()
    assert page.get_by_text("Texts of: ").count() == 2
    assert not any(name.is_visible() for name in page.get_by_text("Texts of: ").all())


def test_in_jupyterlab_the_choice_follows_the_page_and_python(
    in_lab, run_cell, printed, n_cells, page
):
    in_lab("either.ipynb", SETUP, SHOW, "print(w.choice, two.beta)", "w.choice = 'two'")
    for cell in range(2):
        run_cell(cell)
    page.locator(".anx-beta").nth(1).wait_for(state="attached")
    page.get_by_role("radio", name="<b>one</b>").focus()
    page.keyboard.press("ArrowDown")
    page.wait_for_function("document.querySelectorAll('.anx-beta')[1].checkVisibility()")
    assert page.evaluate("document.activeElement.value") == "two"
    slider = seen(page).get_by_role("slider")
    slider.focus()
    page.keyboard.press("End")
    assert printed(2) == ["two", "inf"]
    page.get_by_role("radio", name="<b>one</b>").check()
    page.wait_for_function("document.querySelectorAll('.anx-beta')[0].checkVisibility()")
    run_cell(3)
    page.wait_for_function("document.querySelectorAll('.anx-beta')[1].checkVisibility()")
    assert page.get_by_role("radio", name="two").is_checked()
    assert seen(page).get_by_role("slider").get_attribute("aria-valuetext").startswith("β = ∞")
    assert n_cells() == 4
