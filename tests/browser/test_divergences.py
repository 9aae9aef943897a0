"""The divergence explorer as a page."""

import re
from types import SimpleNamespace

import numpy as np
import pytest

SETUP = """from anhelpers.widgets.divergences import divergence_explorer
names = ["at eight", "<b>sharp</b>", "at eight clock", "at nine", "at noon"]
r, minutes = [0.5, 0.05, 0, 0.25, 0.2], [0, 0, 5, 60, 240]"""
SHOW = (
    "w = divergence_explorer(r, names=names, ground=minutes, unit='minutes', title='A <claim>')\nw"
)
LOSE, INVENT, SHIFT = "lose the rare word", "invent a word", "shift to a neighbour, then far"
ORDERS = [0, 0.5, 1, 2, np.inf]
LABELS = [
    "Total variation",
    "Wasserstein-1",
    "KL(Q, R)",
    "KL(R, Q)",
    "Jensen-Shannon",
    "χ²(Q, R)",
    "Rényi",
    "MMD²",
]


@pytest.fixture(scope="module")
def made():
    names = {}
    exec(f"{SETUP}\n{SHOW}", names)  # the same code as in the notebooks below
    return SimpleNamespace(widget=names["w"], r=np.array(names["r"]), names=names["names"])


@pytest.fixture
def opened(made, page, tmp_path):
    made.widget.t, made.widget.path, made.widget.order = 0.0, LOSE, 0.5
    page.goto(made.widget.save(tmp_path / "divergences.html").as_uri())
    return SimpleNamespace(
        root=page.locator(".anx"), slider=page.get_by_role("slider"), **vars(made)
    )


def state_of(root):
    t, path, order = (root.get_attribute(f"data-{name}") for name in ("t", "path", "order"))
    return float(t), path, float(order)


def assert_shown(root, made, t=None, path=None, order=None):
    """Bars, table, marks and words are those of the widget's values in Python."""
    here = state_of(root)
    for seen, wanted in zip(here, (t, path, order), strict=True):
        assert wanted is None or seen == wanted
    widget = made.widget
    widget.t, widget.path, widget.order = here
    values, k = widget.values(), ORDERS.index(here[2])
    paths = {path["name"]: path for path in widget.data["paths"]}
    q = np.array(values.attrs["q"])
    assert_bars(root, made, q)
    rows = root.locator("tbody tr").evaluate_all("""rows => rows.map(row => ({
        label: row.querySelector('th').firstChild.textContent, number: row.querySelector('.anx-number').textContent,
        note: row.querySelector('td .anx-note').textContent,
        infinite: row.querySelector('.anx-fill').classList.contains('anx-infinite'),
        wide: row.querySelector('.anx-fill').getBoundingClientRect().width /
            row.querySelector('.anx-track').getBoundingClientRect().width,
        marks: [...row.querySelectorAll('.anx-trace > :not([hidden]) .bxpoint_marks path')].map(
            mark => mark.getAttribute('transform')),
    }))""")
    assert [row["label"] for row in rows] == LABELS
    said = root.get_by_role("slider").get_attribute("aria-valuetext")
    for row, (_, (key, name, _, value, largest)) in zip(rows, values.iterrows(), strict=True):
        chosen = f"renyi {k}" if key == "renyi" else key
        panel, path = widget.data["panels"][chosen], paths[here[1]]["values"][chosen]
        _, _, low, high, wide, tall = panel["box"]
        drawn = panel["infinite"] if np.isinf(value) else value
        (mark,) = row["marks"]
        x, y = (float(v) for v in re.findall(r"-?[\d.]+(?:e-?\d+)?", mark))
        assert (x, y) == pytest.approx(
            (here[0] * wide, tall - (drawn - low) / (high - low) * tall), abs=1e-6
        )
        assert row["infinite"] == np.isinf(value)
        if np.isinf(value):
            assert row["number"] == "∞"
            gone = q if key == "kl_reversed" else made.r
            told = ", ".join(
                f"“{made.names[y]}”" for y in np.flatnonzero(gone == 0) if (q + made.r)[y] > 0
            )
            assert row["note"] == f"{'Q' if key == 'kl_reversed' else 'R'} never says {told}"
            assert "infinite" in said.split(f"{name}")[1].split("·")[0]
        else:
            decimals = len(row["number"].partition(".")[2])
            assert float(row["number"]) == pytest.approx(value, abs=0.51 * 10.0**-decimals)
            full = 0 if None in path else largest
            assert row["wide"] == pytest.approx(value / full if full else 0, abs=0.01)
            assert row["number"] in said


def assert_bars(root, made, q):
    bars = root.locator(".bxq_marks path").evaluate_all(
        "bars => bars.map(b => b.getAttribute('d'))"
    )
    wide = [float(re.search(r"h([-\d.e]+)v", bar)[1]) for bar in bars]
    assert wide == pytest.approx(q * made.widget.data["bars"]["one"])
    numbers = root.locator(".bxqtext_marks text").all_text_contents()
    assert numbers == [
        f"Q {100 * p:.1f} %" if p >= 0.0005 else "Q < 0.1 %" if p else "Q 0" for p in q
    ]
    alt = root.locator(".anx-left svg").get_attribute("aria-label")
    assert f"{made.names[-1]} R 20.0 %, {numbers[-1]}." in alt


def test_keys_walk_along_the_paths(drag, opened, page):
    root, slider = opened.root, opened.slider
    for path in (LOSE, INVENT, SHIFT):
        page.get_by_label("path", exact=True).select_option(path)
        slider.focus()
        for key, t in (("Home", 0), ("ArrowRight", 0.005), ("PageUp", 0.105), ("End", 1)):
            page.keyboard.press(key)
            assert_shown(root, opened, t, path)
    assert drag(slider, "t") >= 10
    assert_shown(root, opened)


def test_orders_and_stops(opened, page):
    page.get_by_label("path", exact=True).select_option(SHIFT)
    for order in ("0", "1", "2", "inf"):
        page.get_by_label("order of Rényi's divergence").select_option(order)
        assert_shown(opened.root, opened, order=float(order))
    for t in (0.5, 1):
        page.get_by_label("Next stop").click()
        assert_shown(opened.root, opened, t)
    page.get_by_label("Previous stop").click()
    assert_shown(opened.root, opened, 0.5)
