"""What the divergence explorer ships, and how it shows itself without a browser."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from anhelpers.charts.divergences import height_of, plot_bars, plot_divergences
from anhelpers.divergences import pmf
from anhelpers.errors import DataError, UnknownName
from anhelpers.widgets.divergences import Route, divergence_explorer, three_routes

NAMES = ["at eight", "<b>sharp</b>", "at </script> clock", "at nine", "at noon"]
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


def test_distances_order_the_paths_differently(widget):
    ends = {}
    for widget.path in (LOSE, INVENT, SHIFT):
        widget.t = 1.0
        ends[widget.path] = widget.values().set_index("divergence")["value"]
    by = {
        name: sorted(ends, key=lambda path, name=name: ends[path][name])
        for name in ("wasserstein", "kl_reversed")
    }
    assert by["wasserstein"][-1] == SHIFT
    assert by["kl_reversed"][-1] == LOSE
    assert ends[LOSE]["kl_reversed"] == ends[INVENT]["kl"] == ends[INVENT]["chi_squared"] == np.inf
    assert ends[INVENT]["total_variation"] == pytest.approx(0.1)
    assert ends[LOSE]["kl"] == pytest.approx(-np.log(0.95))
    widget.path, widget.t = SHIFT, 0.5
    half = widget.values().set_index("divergence")["value"]
    assert half["total_variation"] == pytest.approx(ends[SHIFT]["total_variation"]) == 0.1
    assert (half["wasserstein"], ends[SHIFT]["wasserstein"]) == pytest.approx((6, 24))


def test_the_largest_is_that_of_the_path(widget):
    widget.path = LOSE
    grid = [at(LOSE, k / 200) for k in range(200)]
    largest = widget.values().set_index("divergence")["largest"]
    assert largest["kl_reversed"] == pytest.approx(max(pmf.kl(R, q) for q in grid), abs=1e-12)
    widget.path = INVENT
    # infinite but for the start
    assert widget.values().set_index("divergence")["largest"]["kl"] == 0


def test_one_path_with_costs_and_a_place_between_two_of_the_grid():
    stops = [[1, 0], [0.5, 0.5], [0, 1], [1, 0]]
    one = divergence_explorer([1, 0], stops, names=["a", "b"], ground=[[0, 3], [1, 0]], orders=[2])
    assert one.path == "the path"
    assert one.order == 2
    assert one.data["paths"][0]["stops"] == [0, 67, 134, 201]
    one.t = 0.5
    found = one.values()
    assert found.attrs["t"] == 101 / 201
    assert found.set_index("name").loc["Wasserstein-1", "value"] == pytest.approx(
        0.5 + 0.5 * 34 / 67
    )
    assert found.set_index("name").loc["MMD²", "unit"] == "kernel: the same or not"
    assert repr(one).startswith("DivergenceExplorer(t = 0.5 on “the path”: total variation 0.75")


def test_built_in_paths_leave_out_what_r_does_not_allow():
    assert list(three_routes([0.5, 0.5], "ab")) == [LOSE]
    assert list(three_routes([0.5, 0.5, 0], "abc")) == [LOSE, INVENT]
    assert list(three_routes([0.25, 0.5, 0.25], "abc", ground=[0, 1, 5])) == [LOSE, SHIFT]
    routes = three_routes([0.9, 0.06, 0.04], "abc", share=0.95)
    assert np.allclose(routes[SHIFT].stops[-1], [0, 0.06, 0.94])  # no more than there is
    assert "“a” to “b”" in routes[SHIFT].text


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"r": [0.5, 0.4]}, "adds up to 0.9"),
        ({"names": ["a"]}, "lengths differ: r has 2, names has 1"),
        (
            {"qs": [[0.5, 0.5]]},
            "path 'the path' has 1 stops over 2 outcomes; give at least 2 stops over 2",
        ),
        ({"qs": {"x": [[1, 0, 0], [0, 1, 0]]}}, "path 'x' has 2 stops over 3 outcomes"),
        ({"qs": {"x": [[1, 0, 0], [0, 1]]}}, "path 'x' has 2 stops over 2, 3 outcomes"),
        ({"qs": []}, "path 'the path' has 0 stops over no outcomes"),
        ({"qs": {"x": [[1, 0], [1, 1]]}}, "stop 1 of path 'x' adds up to 2"),
        ({"qs": {}}, "0 paths; between 1 and 4"),
        ({"qs": {k: [[1, 0], [0, 1]] for k in "abcde"}}, "5 paths; between 1 and 4"),
        ({"orders": []}, "orders is empty"),
        ({"orders": [-1]}, r"order must be in \[0, inf\]"),
        ({"ground": [1, 2, 3]}, r"ground has shape \(3,\)"),
    ],
)
def test_what_does_not_fit_is_refused(change, said):
    given = {"r": [0.5, 0.5], "qs": [[0.5, 0.5], [1, 0]], "names": ["a", "b"]} | change
    with pytest.raises(DataError, match=said):
        divergence_explorer(given.pop("r"), given.pop("qs"), **given)


def test_traits_are_checked(widget):
    for t in (-0.1, 1.1, np.nan):
        with pytest.raises(DataError, match=r"t must be in \[0, 1\]"):
            widget.t = t
    with pytest.raises(UnknownName, match="did you mean 'invent a word'"):
        widget.path = "invent word"
    with pytest.raises(DataError, match="order 3 was not computed"):
        widget.order = 3
    with pytest.raises(DataError, match="share is 2"):
        three_routes(R, NAMES, share=2)
    with pytest.raises(DataError, match=r"ground has shape \(2,\): give \(5,\) positions"):
        three_routes(R, NAMES, ground=[0, 1])


def test_the_fallback_needs_no_script_and_escapes(widget):
    before, script = widget.fragment().split("<script>")
    assert before.count("<table>") == 2
    assert before.count("<img") == 1
    for banned in ("<svg", "<style", "<b>sharp"):
        assert banned not in before
    assert "R never says “at &lt;/script&gt; clock”" in before  # why KL is infinite
    assert "∞: Q never says “&lt;b&gt;sharp&lt;/b&gt;”" in before
    assert "Rényi, order 0.5 (nats)" in before
    rows = dict(
        re.findall(
            r"<tr><th [^>]*>(.*?)</th><td [^>]*>(.*)</td></tr>", before.replace("<tr>", "\n<tr>")
        )
    )
    cells = re.split(r"</td><td [^>]*>", rows["Wasserstein-1 (minutes)"])
    assert [float(cell) for cell in cells] == pytest.approx(
        [
            pmf.wasserstein(at(path, t), R, MINUTES)
            for path, t in [(LOSE, 1), (INVENT, 1), (SHIFT, 0.5), (SHIFT, 1)]
        ],
        abs=0.005,
    )
    assert script.count("</script>") == 1


def test_the_page_stands_alone(widget, tmp_path):
    widget.order = np.inf
    page = widget.save(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<title>A &lt;claim&gt;</title>" in page
    assert not re.search(r"""(?:src|href)=["']?https?:|@import|import\(""", page)
    assert "export default" not in page
    state = json.loads(re.search(r"fakeModel\((\{.*\})\), el: box", page).group(1))
    assert state == {"data": widget.data, "t": 0, "path": LOSE, "order": "inf"}
    assert len(page) < 500_000


def test_shown_live_and_static(widget, monkeypatch):
    monkeypatch.delenv("ANX_MODE", raising=False)
    bundle, _ = widget._repr_mimebundle_()
    assert set(bundle) == {"application/vnd.jupyter.widget-view+json", "text/html", "text/plain"}
    monkeypatch.setenv("ANX_MODE", "static")
    small = divergence_explorer(
        [0.5, 0.5], {"a": Route([[0.5, 0.5], [1, 0]], "Told.")}, names=["x", "y"], orders=[1]
    )
    assert set(small._repr_mimebundle_()) == {"text/html", "text/plain"}
    assert "<b>a.</b> Told." in small.static_html()


def test_the_picture_draws_what_is_infinite_apart(widget):
    spec = widget.chart.to_dict()
    assert len(spec["concat"]) == 8
    assert "KL(R, Q) (nats), at the end: lose the rare word ∞" in spec["description"]
    panel = spec["concat"][3]["layer"]
    drawn = [
        row
        for layer in panel
        for row in spec["datasets"][layer["data"]["name"]]
        if "segment" in row
    ]
    ends = [row for row in drawn if row["infinite"]]
    assert {(row["path"], row["t"]) for row in ends} == {(LOSE, 1.0)}
    height = height_of([*(row["value"] for row in drawn if not row["infinite"]), np.inf])
    assert ends[0]["value"] == pytest.approx(height.infinite)
    assert panel[-1]["encoding"]["y"]["scale"]["domain"] == pytest.approx([height.low, height.high])


def drawn_rows(chart):
    spec = chart.to_dict()
    return [
        (layer["mark"]["type"], row)
        for panel in spec["concat"]
        for layer in panel["layer"]
        for row in spec["datasets"][layer["data"]["name"]]
        if "segment" in row
    ]


def test_a_single_finite_place_between_infinite_ones_has_a_mark():
    frame = pd.DataFrame(
        {"divergence": "KL", "path": "a", "t": [0, 0.25, 0.5, 0.75, 1], "value": [np.inf] * 5}
    )
    frame.loc[2, "value"] = 0.0
    marks = [row for kind, row in drawn_rows(plot_divergences(frame)) if kind == "point"]
    assert [(row["t"], row["value"], row["infinite"]) for row in marks] == [(0.5, 0.0, False)]


def test_the_rows_may_come_in_any_order():
    t = np.linspace(0, 1, 9)
    frame = pd.concat(
        [
            pd.DataFrame({"divergence": "KL", "path": p, "t": t, "value": k * t})
            for k, p in [(2, "b"), (1, "a")]
        ]
    )
    mixed = frame.sort_values("t", ascending=False, kind="stable")
    assert drawn_rows(plot_divergences(mixed)) == drawn_rows(plot_divergences(frame))
    assert "at the end: b 2, a 1" in plot_divergences(mixed).description


def test_the_bars_say_every_probability():
    chart = plot_bars([0.5, 0.5, 0], [0.25, 0.7498, 0.0002], ["a", "b", "c"], top=0.9)
    spec = chart.to_dict()
    assert spec["description"].endswith(
        "a R 50.0 %, Q 25.0 %; b R 50.0 %, Q 75.0 %; c R 0, Q < 0.1 %."
    )
    assert next(layer for layer in spec["layer"] if layer.get("name") == "bxq")["encoding"]["x"][
        "scale"
    ]["domain"] == [
        0,
        0.9,
    ]


def test_a_table_for_the_picture_needs_its_columns(widget):
    with pytest.raises(DataError, match="has no column value"):
        plot_divergences(widget.values().drop(columns="value").assign(path="", t=0.0))
    with pytest.raises(DataError, match="is nan, or there is none"):
        plot_divergences(widget.values().assign(path="", t=0.0, value=np.nan))
