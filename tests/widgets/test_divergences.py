"""What the divergence explorer ships is what each divergence computes."""

import numpy as np
import pytest
import traitlets

from anhelpers.divergences import pmf
from anhelpers.errors import DataError, UnknownName
from anhelpers.widgets.divergences import divergence_explorer, three_routes

NAMES = ["at eight", "sharp", "at eight clock", "at nine", "at noon"]
R, MINUTES = [0.5, 0.05, 0, 0.25, 0.2], [0, 0, 5, 60, 240]
LOSE, INVENT, SHIFT = "lose the rare word", "invent a word", "shift to a neighbour, then far"


@pytest.fixture(scope="module")
def shared():
    return divergence_explorer(R, names=NAMES, ground=MINUTES, unit="minutes", title="A <claim>")


@pytest.fixture
def widget(shared):
    shared.t, shared.path, shared.order = 0.0, LOSE, 0.5
    return shared


def exact(q, order):
    """The eight numbers, each from its function and with the kernel written out."""
    ground = np.array(MINUTES, dtype=float)
    apart = sorted(abs(a - b) for i, a in enumerate(ground) for b in ground[:i] if a != b)
    assert np.median(apart) == 60  # of 5 5 55 60 60 180 235 240 240
    kernel = np.exp(-np.abs(ground[:, None] - ground) / 60)
    return {
        "total_variation": pmf.total_variation(q, R),
        "wasserstein": pmf.wasserstein(q, R, ground),
        "kl": pmf.kl(q, R),
        "kl_reversed": pmf.kl(R, q),
        "jensen_shannon": pmf.jensen_shannon(q, R),
        "chi_squared": pmf.chi_squared(q, R),
        "renyi": pmf.renyi(q, R, order),
        "mmd_squared": pmf.mmd_squared(q, R, kernel),
    }


def at(path, t):
    """Q of the built-in paths, by hand."""
    r = np.array(R)
    if path == LOSE:
        return (1 - t) * r + t * np.array([0.5, 0, 0, 0.25, 0.2]) / 0.95
    if path == INVENT:
        return (1 - t) * r + t * np.array([0.45, 0.045, 0.1, 0.225, 0.18])
    near, far = np.array([0.4, 0.05, 0, 0.35, 0.2]), np.array([0.4, 0.05, 0, 0.25, 0.3])
    return (1 - 2 * t) * r + 2 * t * near if t <= 0.5 else (2 - 2 * t) * near + (2 * t - 1) * far


@pytest.mark.parametrize("order", [0, 0.5, 1, 2, np.inf])
def test_every_number_is_that_of_its_function(widget, order):
    widget.order = order
    for widget.path in (LOSE, INVENT, SHIFT):
        for widget.t in (0, 0.005, 0.3, 0.5, 0.725, 0.995, 1):
            found = widget.values()
            assert found.attrs["t"] == pytest.approx(widget.t, abs=1e-15)
            assert found.attrs["q"] == pytest.approx(at(widget.path, widget.t), abs=1e-15)
            assert dict(zip(found.divergence, found.value, strict=True)) == pytest.approx(
                exact(found.attrs["q"], order), abs=1e-12
            )


def test_one_path_and_a_place_between_two_of_the_grid():
    stops = [[1, 0], [0.5, 0.5], [0, 1], [1, 0]]
    one = divergence_explorer([1, 0], stops, names=["a", "b"], ground=[0, 3])
    assert one.path == "the path"
    assert one.data["paths"][0]["stops"] == [0, 67, 134, 201]
    one.t = 0.5
    found = one.values()
    assert found.attrs["t"] == 101 / 201
    assert found.set_index("name").loc["Wasserstein-1", "value"] == pytest.approx(
        3 * (0.5 + 0.5 * 34 / 67)
    )
    assert found.set_index("name").loc["MMD²", "unit"] == "0 to 2, kernel exp(−d/3)"
    assert repr(one).startswith("DivergenceExplorer(t = 0.5 on “the path”: total variation 0.75")


def test_built_in_paths_leave_out_what_r_does_not_allow():
    assert list(three_routes([0.5, 0.5], "ab")) == [LOSE]
    assert list(three_routes([0.5, 0.5, 0], "abc")) == [LOSE, INVENT]
    assert list(three_routes([0.25, 0.5, 0.25], "abc", ground=[0, 1, 5])) == [LOSE, SHIFT]
    routes = three_routes([0.94, 0.06, 0.0], "abc", ground=[0, 1, 9])
    assert list(routes) == [LOSE, INVENT]
    routes = three_routes([0.9, 0.06, 0.04], "abc")
    assert np.allclose(routes[SHIFT].stops[-1], [0.8, 0.06, 0.14])
    assert "“a” to “b”" in routes[SHIFT].text


@pytest.mark.parametrize(
    "change",
    [
        {"r": [0.5, 0.4]},
        {"names": ["a"]},
        {"qs": [[0.5, 0.5]]},
        {"qs": {"x": [[1, 0, 0], [0, 1, 0]]}},
        {"qs": {"x": [[1, 0, 0], [0, 1]]}},
        {"qs": {"x": [[1, 0], [1, 1]]}},
        {"qs": {k: [[1, 0], [0, 1]] for k in "abcde"}},
        {"ground": [1, 2, 3]},
    ],
)
def test_what_does_not_fit_is_refused(change):
    given = {"r": [0.5, 0.5], "qs": [[0.5, 0.5], [1, 0]], "names": ["a", "b"]} | change
    with pytest.raises(DataError):
        divergence_explorer(given.pop("r"), given.pop("qs"), **given)


def test_traits_are_checked(widget):
    for t in (-0.1, 1.1):
        with pytest.raises(traitlets.TraitError):
            widget.t = t
    for trait, value in (("path", "invent word"), ("order", 3.0)):
        with pytest.raises(UnknownName):
            setattr(widget, trait, value)
    widget.order = np.inf
    assert widget.get_state("order") == {"order": "inf"}
    assert "<td" in widget.static_html()
    assert "∞" in widget.static_html()
