"""The built site, opened from the file system: every page alive, nothing asked of another host."""

import re
from pathlib import Path

import pytest

SITE = Path(__file__).parents[2] / "build" / "site"
PAGES = sorted(path.stem for path in SITE.glob("*.html") if path.stem != "index")
OPEN = "for (const fold of document.querySelectorAll('details')) fold.open = true"
pytestmark = pytest.mark.skipif(not PAGES, reason="no site is built here: make site")


def test_a_reader_gets_from_the_index_through_every_page(page):
    page.goto((SITE / "index.html").as_uri())
    page.locator("ol a").first.click()
    seen = [Path(page.url).stem]
    while (forward := page.locator("nav").first.locator("a", has_text="→")).count():
        forward.click()
        seen.append(Path(page.url).stem)
    assert sorted(seen) == PAGES
    assert seen[0] == PAGES[0]
    page.get_by_role("link", name="All notebooks").first.click()
    assert page.url.endswith("index.html")


@pytest.mark.parametrize("name", PAGES)
def test_every_widget_of_a_page_answers_the_keyboard(page, name):
    page.goto((SITE / f"{name}.html").as_uri())
    page.evaluate(OPEN)
    for widget in page.locator(".anx-host .anx").all():
        slider = widget.locator("input[type=range]:visible").first
        if slider.count():
            before = widget.inner_html()
            slider.focus()
            page.keyboard.press(
                "End" if slider.input_value() != slider.get_attribute("max") else "Home"
            )
            page.wait_for_timeout(50)
            assert widget.inner_html() != before


@pytest.mark.parametrize("name", PAGES)
def test_a_page_holds_all_that_it_shows(page, name):
    text = (SITE / f"{name}.html").read_text("utf-8")
    assert not re.search(r"""<(script|link|img|iframe)[^>]+(src|href)=["']?(https?:)?//""", text)
    page.goto((SITE / f"{name}.html").as_uri())
    broken = "() => [...document.images].filter(i => !i.complete || !i.naturalWidth).length"
    assert page.evaluate(broken) == 0


def test_solutions_wait_until_they_are_asked_for(page):
    page.goto((SITE / f"{PAGES[0]}.html").as_uri())
    page.evaluate("for (const fold of document.querySelectorAll('.anx-deeper')) fold.open = true")
    hidden = page.locator(".celltag_solution")
    assert hidden.count() > 3
    assert not any(cell.is_visible() for cell in hidden.all())
    assert page.locator(".celltag_check").count() == 0
    page.get_by_text("Solution of exercise 1").click()
    assert hidden.first.is_visible()


def test_it_fits_a_stick():
    assert sum(path.stat().st_size for path in SITE.iterdir()) < 60_000_000
