"""The page of `anhelpers plane`: a chart with tooltips that needs no network."""

import pandas as pd

from anhelpers.charts.offline import interactive
from anhelpers.charts.systems import plot_systems
from anhelpers.provenance import from_template

ODD = "A</script><b>"  # a system may be called so, and must not end the page's script


def test_a_page_shows_numbers_under_the_pointer_and_loads_nothing(tmp_path, page):
    table = pd.DataFrame(
        {
            "system": [ODD, "B"],
            "category": ["MT", "LLM"],
            "accuracy": [40.0, 30.0],
            "naturalness": [-3.0, -2.5],
            "accuracy_se": 1.0,
            "naturalness_se": 0.1,
            "correlation": 0.0,
            "n": 52,
            "pareto": True,
        }
    )
    for axis in ("accuracy", "naturalness"):
        table[f"{axis}_low"], table[f"{axis}_high"] = table[axis] - 1, table[axis] + 1
    parts = {"Systems": [table], "Text": ["x < y"]}
    chart = interactive(plot_systems(table, uncertainty="chosen"))
    path = tmp_path / "plane.html"
    path.write_text(from_template("plane.html", title="A & B", chart=chart, parts=parts), "utf-8")
    page.goto(path.as_uri())
    mark = page.wait_for_selector('path[aria-roledescription][aria-label*="system: B"]')
    mark.hover(force=True)
    page.wait_for_function(
        "document.querySelector('#vg-tooltip-element')?.innerText.includes('30')"
    )
    ellipse, first = page.locator("g.mark-line path"), ODD
    assert page.input_value("select") == first
    before = ellipse.last.get_attribute("d")
    page.focus("select")
    page.keyboard.press("B")
    page.wait_for_function("document.querySelector('select').value === 'B'")
    assert ellipse.last.get_attribute("d") != before
    assert page.inner_text("h1") == "A & B"
    assert page.inner_text("p") == "x < y"
    assert ODD in page.inner_text("table")
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    box = page.locator("figure").bounding_box()  # in which the chart scrolls
    assert 0 <= box["x"] < box["x"] + box["width"] <= 390
