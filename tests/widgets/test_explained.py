"""What the explorers on a grid ship: every number by hand or by the function that it comes from."""

import math

import numpy as np
import pytest

import anhelpers as an
from anhelpers.errors import DataError, UnknownName
from anhelpers.exact import Problem, stability
from anhelpers.widgets.explained import POWERS, TEXTS

JOINT = np.array([[3, 1], [1, 3]]) / 8
ZERO_ONE = 1 - np.eye(2)
SAID = ["Good morning.", "Hi."], ["Guten Morgen.", "Moin."]


@pytest.fixture(scope="module")
def shifted():
    worlds = {
        "greetings": Problem(JOINT, ZERO_ONE, JOINT.sum(0)),
        "word for word": Problem(np.eye(2) / 2, ZERO_ONE, [0.5, 0.5]),
        "careless": Problem(JOINT, 0 * ZERO_ONE, JOINT.sum(0)),
    }
    return an.widgets.shift_explorer(worlds, *SAID)


@pytest.fixture(scope="module")
def false():
    return an.widgets.false_distance_explorer((1, 100), rng=np.random.default_rng(7))


def test_the_greetings_leave_the_language_by_a_quarter_of_epsilon(shifted):
    view = shifted.given["greetings"]
    epsilons = np.linspace(0, 0.5, 51)
    assert view.lines["the best"] == pytest.approx(epsilons / 4, abs=1e-9)
    expected = stability(Problem(JOINT, ZERO_ONE, JOINT.sum(0)), epsilons)[0]
    assert view.lines["the best"] == pytest.approx(expected, abs=1e-12)
    assert view.text.startswith("Luck")
    shifted.place, shifted.view = 20, "greetings"
    assert shifted.values()["value"].tolist() == pytest.approx([55, 60, 45, 40])
    assert shifted.said() == (
        "Best: “Good morning.” → “Guten Morgen.”, “Hi.” → “Moin.”. Distance 0.050."
    )


def test_merit_and_ties(shifted):
    merit, careless = (shifted.given[name] for name in ("word for word", "careless"))
    assert max(merit.lines["the best"]) < 1e-9
    assert merit.text.startswith("Merit")
    assert careless.text.startswith("Ties")
    assert max(careless.lines["the nearest"]) < 1e-9
    # who always says what is said less often: half plus a quarter of ε away
    assert careless.lines["the farthest"] == pytest.approx(0.5 + np.linspace(0, 0.5, 51) / 4)
    assert "“Guten Morgen.” or “Moin.”" in careless.said[0]
    assert careless.said[0].endswith("Distance 0.000 to 0.500.")


def test_all_worlds_have_one_scale_from_0(shifted):
    boxes = [view["box"][2:4] for view in shifted.data["views"]]
    assert len({*map(tuple, boxes)}) == 1
    low, high = boxes[0]
    assert -0.1 < low <= 0 < 0.625 <= high < 0.7  # the careless world's farthest is 5/8 away


def test_place_and_view_are_checked(shifted):
    with pytest.raises(DataError, match="places 0 to 50"):
        shifted.place = 51
    with pytest.raises(UnknownName):
        shifted.view = "greeting"
    shifted.view, shifted.place = "greetings", 0
    assert repr(shifted).startswith("GridExplorer(greetings, ε = 0: Best")


def test_a_world_that_does_not_fit_its_names(shifted):
    with pytest.raises(DataError, match="1 sources and 2 targets"):
        an.widgets.shift_explorer(
            {"a": Problem(JOINT, ZERO_ONE, JOINT.sum(0))}, SAID[0][:1], SAID[1]
        )
    with pytest.raises(DataError, match="give a world"):
        an.widgets.shift_explorer({}, *SAID)


def test_powers_lead_from_the_mean_to_the_largest():
    w = an.widgets.power_explorer({"three": [3, -4, 0], "alike": [2, -2]})
    distances = w.given["three"].lines["D_p"]
    assert (POWERS[0], POWERS[-1]) == (1, 256)
    assert distances[0] == pytest.approx(7 / 3)
    assert {*range(1, 11)} < {*POWERS}
    assert distances[np.flatnonzero(POWERS == 2)] == pytest.approx(math.sqrt(25 / 3))
    assert distances[-1] == pytest.approx(4, rel=0.01)
    assert (np.diff(distances) > 0).all()
    assert w.values()["value"].tolist() == pytest.approx([7 / 3, 3, 4, 0])
    assert w.given["three"].text.endswith("D₁ = 2.33 points, to the largest, D_∞ = 4.00.")
    assert w.said().endswith("Who sees most makes up 57% of the sum of all gaps to the power p.")
    assert w.given["alike"].lines["D_p"] == pytest.approx(np.full(len(POWERS), 2.0))
    assert w.given["alike"].rows[1].name == "each of 2 critics sees"
    named = an.widgets.power_explorer({"named": {"A": 3, "B": -3}})
    assert named.values()["name"].tolist() == ["D_p", "A sees", "B sees"]
    for wrong in ({}, {"none": [0, 0]}):
        with pytest.raises(DataError):
            an.widgets.power_explorer(wrong)


@pytest.mark.parametrize("critics", ["1 critic", "100 critics"])
def test_false_distances_are_the_closed_form_and_the_unbiased_one_is_0(false, critics):
    view = false.given[critics]
    n = 10.0 ** np.array(false.data["x"])
    assert {*TEXTS} <= {*n.round().astype(int)}
    d1, d2 = view.rows
    k = int(critics.split()[0])
    expected = 2 / np.sqrt(np.pi * n)
    scatter = np.sqrt((2 / n) * (1 - 2 / np.pi) / k / 2000)
    assert (np.abs(d1.values - expected) < 5 * scatter).all()
    # a square of a normal number has twice the square of its variance; the noise's own is at most that
    scatter = np.sqrt((8 / n**2 + 4 / n**2 / (n - 1)) / k / 2000)
    assert (np.abs(d2.values) < 5 * scatter).all()
    assert (d2.low < 0).all()
    assert (d1.low <= d1.values).all()
    assert (d1.values <= d1.high).all()


def test_that_ends_are_of_95_percent_is_said_once(false):
    row = false.data["views"][0]["rows"][0]
    assert "95\u00a0%" in row["name"]
    assert "95" not in row["texts"][0]


def test_more_critics_do_not_help(false):
    one, many = (false.given[name].rows[0] for name in ("1 critic", "100 critics"))
    assert many.values == pytest.approx(one.values, rel=0.1)
    assert (many.high - many.low < 0.3 * (one.high - one.low)).all()


def test_without_scripts_there_are_tables(shifted):
    page = shifted.static_html()
    assert page.count("<table") == 3
    assert "ε\u00a0= 0.2" in page or "ε = 0.2" in page
    assert "Luck: two errors cancel" in page
