"""What the MQM editor ships, that its sums are those of `mqm`, and how it shows itself without a browser."""

import csv
import json
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anhelpers.charts.moves import moves_ranges, plot_moves, zoom
from anhelpers.data import ratings_file
from anhelpers.data.ratings import read_ratings
from anhelpers.errors import DataError, UnknownName
from anhelpers.mqm import KINDS, Scheme, Weights, load_scheme, load_weights, score_ratings
from anhelpers.plane import rated_plane
from anhelpers.stats import correlation_interval, pearson
from anhelpers.widgets.mqm_editor import SIDES, mqm_editor

HEADER = "system doc doc_id seg_id rater source target category severity".replace(" ", "\t")
ROWS = """<b>A</b> d1 1 r1 Accuracy/Mistranslation|Major
<b>A</b> d1 1 r1 Fluency/Punctuation|Minor
<b>A</b> d1 1 r2 No-error|No-error
<b>A</b> d1 2 r1 Other|Minor
B d1 1 r1 Non-translation!|Major
B d1 2 r1 Style/Awkward|Minor
C </script> d1 1 r1 Style/Awkward|Major
C </script> d1 2 r1 No-error|No-error
C </script> d1 3 r1 Accuracy/Omission|Major"""


@pytest.fixture(scope="module")
def read(tmp_path_factory):
    folder = tmp_path_factory.mktemp("editor")

    def make(text):
        """Ratings from lines "system doc segment rater category|severity"."""
        rows = [
            re.fullmatch(r"(.+) (d\d) (\d) (r\d) (.+)", line).groups() for line in text.splitlines()
        ]
        lines = [
            [system, doc, seg, seg, rater, "s", "t", *error.split("|")]
            for system, doc, seg, rater, error in rows
        ]
        (folder / "mqm.tsv").write_text(
            "\n".join([HEADER, *map("\t".join, lines)]) + "\n", encoding="utf-8"
        )
        return read_ratings(folder / "mqm.tsv")

    return make


@pytest.fixture(scope="module")
def ratings(read):
    return read(ROWS)


@pytest.fixture
def widget(ratings):
    return mqm_editor(ratings, title="A <claim>", kinds={"B": "MT"})


@pytest.fixture(scope="module")
def teaching():
    return read_ratings(ratings_file("teaching"))


def test_on_paper(widget):
    """Segments 1 and 2 were rated for all three systems; the first of A by two raters, of whom one finds nothing."""
    assert widget.weights == {
        "Non-translation!": 25,
        "Major": 5,
        "Minor · Fluency/Punctuation": 0.1,
        "Minor": 1,
    }
    assert list(widget.data["start"]["categories"].items()) == [
        ("Non-translation!", "accuracy"),
        ("Style/Awkward", "fluency"),
        ("Accuracy/Mistranslation", "accuracy"),
        ("Other", "neither"),
        ("Fluency/Punctuation", "fluency"),
        ("Accuracy/Omission", "accuracy"),
    ]
    assert widget.data["marks"] == [1, 2, 1, 1, 1, 0]
    table = widget.systems()
    assert table.n_segments.tolist() == [2, 2, 2]
    expected = [[(5.1 / 2 + 1) / 2, 1.25, 0.025], [13, 12.5, 0.5], [2.5, 0, 2.5]]
    assert table[list(KINDS)].to_numpy() == pytest.approx(np.array(expected), abs=1e-12)
    assert table.pareto.tolist() == [True, False, True]
    widget.weights = {"Minor · Fluency/Punctuation": 2}
    widget.categories = {"Other": "fluency", "Non-translation!": "neither"}
    expected = [[(7 / 2 + 1) / 2, 1.25, (2 / 2 + 1) / 2], [13, 0, 0.5], [2.5, 0, 2.5]]
    assert widget.systems()[list(KINDS)].to_numpy() == pytest.approx(np.array(expected), abs=1e-12)
    assert widget.systems().pareto.tolist() == [False, True, False]
    assert (
        repr(widget)
        == "MqmEditor(3 systems, 6 categories; 3 changes of scheme wmt and weights freitag2021)"
    )


def test_what_it_says(widget):
    assert widget.sentences() == {
        "over all systems": "undecided, Pearson r = −0.42, n = 3 systems",
        "pairs of systems": "1 together, 2 against each other, of 3",
        "ranks on accuracy": "no change",
        "ranks on fluency": "no change",
        "ranks on penalty": "no change",
        "on the frontier": "<b>A</b>, C </script>",
    }
    widget.categories = dict.fromkeys(widget.categories, "accuracy")
    said = widget.sentences()
    assert (
        said["over all systems"]
        == "no correlation, as all 3 systems are equal on one axis; at the start r = −0.42"
    )
    assert said["ranks on accuracy"] == "<b>A</b> 2 → 1, C </script> 1 → 2"
    assert said["ranks on fluency"] == "C </script> 3 → 1, B 2 → 1"
    assert said["ranks on penalty"] == "no change"
    assert said["on the frontier"] == "<b>A</b> (at the start <b>A</b>, C </script>)"


CHANGES = [
    ({}, {}),
    ({"Major": 10, "Minor": 0.25}, {"Style/Unnatural or awkward": "accuracy"}),
    ({"Minor": 0}, {"Accuracy/Mistranslation": "neither", "Fluency/Grammar": "accuracy"}),
    ({"Major": 1, "Minor": 1}, {"Accuracy/Omission": "fluency", "Fluency/Grammar": "neither"}),
]


@pytest.fixture(
    scope="module",
    params=[("freitag2021", True), ("mt-metrics-eval", False), ("wmt24", True)],
    ids=str,
)
def editor(request, teaching):
    weights, shared = request.param
    return mqm_editor(teaching, weights=weights, shared=shared), weights, shared


@pytest.mark.parametrize(("costs", "sides"), CHANGES)
def test_every_position_is_that_of_mqm(teaching, editor, costs, sides):
    """By hand-made tables, not by those of the editor: rows in front of the scheme, and a weight in each row."""
    widget, weights, shared = editor
    widget.reset()
    widget.weights, widget.categories = costs, sides
    dimension = {"neither": "ignored"}
    front = [(category, dimension.get(side, side), "moved") for category, side in sides.items()]
    scheme = Scheme("mine", (*front, *load_scheme("wmt").rows))
    rows = [
        (s, c, costs.get(s, w) if c == "*" else w, why)
        for s, c, w, why in load_weights(weights).rows
    ]
    scores = score_ratings(teaching, scheme, Weights("mine", tuple(rows)))
    own = scores.by("system")[list(KINDS)].to_numpy()
    both = -rated_plane(scores, "teaching", shared=shared).scores().T
    table = widget.systems()
    assert table.system.tolist() == list(scores.systems)
    assert table[["accuracy", "fluency"]].to_numpy() == pytest.approx(both, abs=1e-9)
    if not shared or len(set(scores.by("system").n_segments)) == 1:
        assert table[list(KINDS)].to_numpy() == pytest.approx(own, abs=1e-9)
    again = score_ratings(teaching, *widget.tables())
    assert again.values == pytest.approx(scores.values, abs=1e-9)


ERRORS = [
    "No-error|No-error",
    "Accuracy/Mistranslation|Major",
    "Accuracy/Omission|Minor",
    "Fluency/Punctuation|Minor",
    "Fluency/Punctuation|Major",
    "Style/Awkward|Minor",
    "Source issue|Major",
    "Other|Minor",
    "Non-translation!|Major",
    "Non-translation!|Minor",
    "Accuracy/Creative Reinterpretation|Major",
    "Other|No-error",
    "Other|Critical",
]
lines = st.lists(
    st.builds(
        "{} d{} {} r{} {}".format,
        st.sampled_from("AB"),
        st.integers(1, 2),
        st.integers(0, 3),
        st.integers(1, 2),
        st.sampled_from(ERRORS),
    ),
    min_size=1,
    max_size=30,
    unique=True,  # a file with its rows twice is refused
)


@settings(max_examples=8, deadline=None)
@given(rows=lines, data=st.data())
def test_the_tables_give_the_same_scores_whatever_was_changed(read, rows, data):
    ratings = read("\n".join(rows))
    widget = mqm_editor(
        ratings, weights=data.draw(st.sampled_from(["wmt24", "mt-metrics-eval"])), shared=False
    )
    for name in widget.weights:
        widget.weights = {name: data.draw(st.floats(0, 30))}
    for name in widget.categories:
        widget.categories = {name: data.draw(st.sampled_from(SIDES))}
    table = score_ratings(ratings, *widget.tables()).by("system")
    assert widget.systems()[list(KINDS)].to_numpy() == pytest.approx(
        table[list(KINDS)].to_numpy(), abs=1e-9
    )


def test_rows_of_the_weights_that_decide_nothing_get_no_slider(read):
    one = read("A d1 1 r1 Other|Critical\nA d1 2 r1 Other|Minor")
    assert mqm_editor(one, weights="mt-metrics-eval").weights == {"Minor": 1, "all others": 0}
    assert mqm_editor(one, weights="wmt24").weights == {"Minor": 1, "Critical": 5}
    costly = Weights(
        "odd", (("No-error", "*", 2.0, ""), ("*", "No-error*", 1.0, ""), ("*", "No-erro*", 3.0, ""))
    )
    only = mqm_editor(read("A d1 1 r1 No-error|No-error"), weights=costly)
    assert (only.weights, only.categories) == ({"No-error": 2.0}, {"No-error": "neither"})
    assert score_ratings(read("A d1 1 r1 No-error|No-error"), *only.tables()).values.tolist() == [
        [2, 0, 0]
    ]


def test_no_errors_at_all(read):
    widget = mqm_editor(read("A d1 1 r1 No-error|No-error\nB d1 1 r1 No-error|No-error"))
    assert (widget.weights, widget.categories) == ({}, {})
    assert widget.systems()[list(KINDS)].to_numpy().tolist() == [[0, 0, 0]] * 2
    assert "no correlation" in widget.sentences()["over all systems"]


def test_the_interval_is_that_of_stats(editor):
    widget = editor[0]
    widget.reset()
    x, y = widget.systems()[["accuracy", "fluency"]].to_numpy().T
    numbers = [float(pearson(x, y)), *correlation_interval(pearson(x, y), len(x))]
    found = re.findall(r"[−\d]+\.\d\d", widget.sentences()["over all systems"])
    assert [float(text.replace("−", "-")) for text in found] == pytest.approx(numbers, abs=0.00501)


def test_what_is_set_from_python_is_checked(widget):
    with pytest.raises(
        UnknownName, match="unknown MQM category 'Style/Awkwrd'; did you mean 'Style/Awkward'"
    ):
        widget.categories = {"Style/Awkwrd": "accuracy"}
    with pytest.raises(UnknownName, match="unknown side 'acuracy'; did you mean 'accuracy'"):
        widget.categories = {"Style/Awkward": "acuracy"}
    with pytest.raises(
        UnknownName, match="unknown error with a weight 'Mayor'; did you mean 'Major'"
    ):
        widget.weights = {"Mayor": 3}
    for wrong in (-1, np.nan, np.inf, "5", None, [5]):
        with pytest.raises(DataError, match="the weight of Major must be a number of at least 0"):
            widget.weights = {"Major": wrong}
    assert widget.weights == widget.data["start"]["weights"]
    widget.weights, widget.categories = {"Major": np.float64(3)}, {"Other": "accuracy"}
    widget.weights = {"Minor": 2}
    assert (widget.weights["Major"], widget.weights["Minor"], widget.categories["Other"]) == (
        3,
        2,
        "accuracy",
    )
    widget.reset()
    assert {"weights": widget.weights, "categories": widget.categories} == widget.data["start"]


def test_what_it_cannot_show_is_refused(read, ratings):
    apart = read("A d1 1 r1 Other|Minor\nB d1 2 r1 Other|Minor")
    with pytest.raises(DataError, match="no segment was rated for every system"):
        mqm_editor(apart)
    assert mqm_editor(apart, shared=False).systems().penalty.tolist() == [1, 1]
    odd = read("A d1 1 r1 Odd|Minor")
    with pytest.raises(DataError, match="scheme wmt has no row for 'Odd'"):
        mqm_editor(odd)
    assert mqm_editor(odd, unclassified="ignore").categories == {"Odd": "neither"}
    with pytest.raises(DataError, match="weights freitag2021 have no row for Critical 'Other'"):
        mqm_editor(read("A d1 1 r1 Other|Critical"))
    with pytest.raises(UnknownName, match="category of system"):
        mqm_editor(ratings, kinds={"B": "robot"})


def test_the_fallback_needs_no_script_and_escapes(widget):
    widget.weights = {"Major": 7.5}
    before, script = widget.fragment().split("<script>")
    assert before.count("<table>") == 3
    assert not re.search(r"<svg|<style", before)
    assert "<b>A &lt;claim&gt;</b>" in before
    rows = re.findall(r"<tr><th [^>]*>(.*?)</th>(.*?)</tr>", before)
    cells = {name: re.findall(r"<td [^>]*>(.*?)</td>", cells) for name, cells in rows}
    assert cells["&lt;b&gt;A&lt;/b&gt;"] == ["1.875 (2)", "0.025 (1)", "2.400 (1)"]
    assert cells["Major"] == ["7.5", "5"]
    assert cells["Style/Awkward"] == ["2", f"{(0.5 + 7.5 / 2) / 3:.3f}", "fluency", "fluency"]
    assert "n = 2 segments" in before
    assert "at the start 1.25, 0.025" in re.search(r'<img alt="([^"]+)"', before)[1]
    assert script.count("</script>") == 1


def test_the_page_stands_alone(widget, tmp_path):
    page = widget.save(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<title>A &lt;claim&gt;</title>" in page
    assert not re.search(r"""(?:src|href)=["']?https?:|@import|import\(""", page)
    state = json.loads(re.search(r"fakeModel\((\{.*\})\), el: box", page).group(1))
    assert state == {
        "data": widget.data,
        "weights": widget.weights,
        "categories": widget.categories,
    }


def test_shown_live_and_static(ratings, widget, monkeypatch):
    monkeypatch.delenv("ANX_MODE", raising=False)
    bundle, _ = widget._repr_mimebundle_()
    assert set(bundle) == {"application/vnd.jupyter.widget-view+json", "text/html", "text/plain"}
    monkeypatch.setenv("ANX_MODE", "static")
    assert set(mqm_editor(ratings)._repr_mimebundle_()) == {"text/html", "text/plain"}


def layers(chart):
    return {layer["name"]: layer for layer in chart.to_dict()["layer"] if "name" in layer}


def test_the_picture_names_what_the_script_moves(widget):
    drawn = layers(widget.chart)
    assert set(drawn) == {
        f"bx{n}" for n in ("trace", "start", "ring", "system", "leader", "halo", "label")
    }
    svg = widget.data["svg"]
    for name in drawn:
        part = re.search(rf'bx{name[2:]}_marks".*?</g>', svg)[0]
        assert len(re.findall(r"<(?:path|line|text) ", part)) == 3
    (x0, x1), (y0, y1) = ranges = moves_ranges(frame := widget.chart.layer[1].data)
    assert widget.data["box"] == [x0, x1, y0, y1, 500, 470]
    assert x0 < -2.5 < 0 < x1
    assert y0 < -12.5 < 0 < y1
    static = plot_moves(frame.assign(accuracy=[-1.25, -13.0, 0.0]), ranges=ranges)
    assert len(static.to_dict()["datasets"][layers(static)["bxtrace"]["data"]["name"]]) == 1
    assert "B (13, 0.5; at the start 12.5, 0.5)" in static.to_dict()["description"]


@pytest.mark.parametrize(
    ("worst", "factor"), [(0, 1), (4, 1), (4.01, 2), (8.1, 5), (20.1, 10), (41, 20), (4000, 1000)]
)
def test_how_far_an_axis_reaches(worst, factor):
    assert zoom(worst, -4.4) == factor


def test_a_picture_of_penalties_wants_penalties(widget):
    frame = widget.chart.layer[1].data
    with pytest.raises(DataError, match="penalties, negated"):
        plot_moves(frame.assign(accuracy=1.0))
    with pytest.raises(DataError, match="no column accuracy_start"):
        plot_moves(frame.drop(columns="accuracy_start"))


def test_saved_tables_are_read_again(teaching, tmp_path):
    widget = mqm_editor(teaching)
    widget.categories = {"Fluency/Grammar": "accuracy"}
    for table, heads in zip(widget.tables(), (3, 4), strict=True):
        names = (
            "severity category weight source" if heads == 4 else "category dimension source"
        ).split()
        with (tmp_path / f"{heads}.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([names, *table.rows])
    scores = score_ratings(teaching, tmp_path / "3.csv", tmp_path / "4.csv")
    assert widget.systems().penalty.to_numpy() == pytest.approx(
        scores.by("system").penalty.to_numpy(), abs=1e-9
    )


def test_an_r_that_rounds_to_0_has_no_sign():
    from anhelpers.widgets.mqm_editor import sentences

    start = np.array([[0, 0, 0.003], [0, 1, 1], [0, 2, 1], [0, 3, 0]], dtype=float)
    assert np.corrcoef(start[:, 1], start[:, 2])[0, 1] == pytest.approx(-0.002, abs=5e-4)
    assert (
        "undecided, Pearson r = 0.00 (95\u00a0% "
        in sentences({"systems": list("ABCD")}, start, start)["over all systems"]
    )
