"""The rating sheet as a page of its own."""

import re

import numpy as np
import pytest

from anhelpers import classroom
from anhelpers.classroom.sheet import rating_sheet
from anhelpers.data import from_systems, load

SETUP = """import numpy as np
from anhelpers.classroom.sheet import rating_sheet
from anhelpers.data import from_systems, load
test = load("teaching")"""
SHOW = "w = rating_sheet(test, from_systems(test), rng=np.random.default_rng(3))"
ENDS = {4, 9, *range(14, 29, 3)}  # last turns of the pages: three of five texts, five of three


@pytest.fixture(scope="module")
def made():
    test = load("teaching")
    return rating_sheet(test, from_systems(test), rng=np.random.default_rng(3), title="A <claim>")


@pytest.fixture
def root(made, page, tmp_path):
    page.goto(made.save(tmp_path / "sheet.html").as_uri())
    return page.locator(".anx")


def rate(page, root, plan):
    root.locator("input[data-row]:visible").first.focus()
    for turn, key in enumerate(plan):
        page.keyboard.press(key)
        if turn in ENDS:  # the focus is on "next", and goes to the next page's first text
            page.keyboard.press("Enter")


def rated(root):
    return root.locator("input[data-row]:checked").count()


def test_thirty_keys_rate_all_and_python_reads_the_file(made, page, root, tmp_path):
    plan = "12345" * 6
    rate(page, root, plan)
    assert root.locator(".anx-value").inner_text() == "30 of 30"
    page.keyboard.type("Žofie 2")
    with page.expect_download() as started:
        page.keyboard.press("Enter")
    started.value.save_as(tmp_path / "one.csv")
    found = classroom.read_class_ratings(tmp_path / "one.csv", made.sheet)
    assert found.raters == ("Žofie 2",)
    assert found.notes == ()
    assert "".join(f"{v:.0f}" for v in found.table.sort_values("turn").rating) == plan
    assert found.table.seconds.between(0, 60).all()


def test_fluency_is_closed_once_a_source_is_shown(page, root):
    rate(page, root, "1" * 15)
    page.keyboard.press("5")
    assert rated(root) == 16
    page.keyboard.press("Backspace")
    page.keyboard.press("p")
    assert root.locator("section:visible p.anx-source").count() == 1
    assert root.locator("input[data-row]:disabled").count() == 15 * 5


def test_blank_ratings_are_named_before_a_source_is_shown(page, root):
    for _ in range(3):
        root.get_by_label("Next page (N)").click()
    assert root.locator(".anx-status").inner_text().startswith("15 fluency ratings are blank")
    root.get_by_label("Next page (N)").click()
    assert root.locator("section:visible p.anx-source").count() == 1


def test_the_browser_keeps_the_ratings_until_they_are_deleted(page, root, load_again):
    rate(page, root, "12345")
    load_again()
    assert rated(root) == 5
    root.get_by_role("button", name="start over").click()
    assert rated(root) == 5
    root.get_by_text("really delete").click()
    load_again()
    assert rated(root) == 0


def test_a_sheet_to_keep_shows_its_ratings_in_points(page, tmp_path):
    test, rng = load("teaching"), np.random.default_rng(3)
    kept = rating_sheet(
        test, from_systems(test), n_segments=2, n_candidates=1, rng=rng, hand_in=False
    )
    page.goto(kept.save(tmp_path / "kept.html").as_uri())
    status = page.locator(".anx-status")
    for key in "25n41":
        page.keyboard.press(key)
    assert status.inner_text() == ""
    page.keyboard.press("n")
    page.keyboard.press("1")
    assert status.inner_text().count("accuracy") == status.inner_text().count("fluency") == 2
    assert {"accuracy 0", "fluency 25", "fluency 100"} <= set(
        re.findall(r"\w+ \d+", status.inner_text())
    )
