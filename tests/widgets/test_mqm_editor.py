"""What the MQM editor ships: its sums are those of `mqm`."""

import re

import numpy as np
import pytest

from anhelpers.data import ratings_file
from anhelpers.data.ratings import read_ratings
from anhelpers.errors import AnhelpersError, DataError
from anhelpers.mqm import KINDS, Scheme, Weights, load_scheme, load_weights, score_ratings
from anhelpers.plane import rated_plane
from anhelpers.widgets.mqm_editor import mqm_editor

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
    widget.weights, widget.categories = (widget.data["start"][k] for k in ("weights", "categories"))
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


def test_rows_of_the_weights_that_decide_nothing_get_no_slider(read):
    one = read("A d1 1 r1 Other|Critical\nA d1 2 r1 Other|Minor")
    assert mqm_editor(one, weights="mt-metrics-eval").weights == {"Minor": 1, "all others": 0}
    assert mqm_editor(one, weights="wmt24").weights == {"Minor": 1, "Critical": 5}
    costly = Weights(
        "odd", (("No-error", "*", 2.0, ""), ("*", "No-error*", 1.0, ""), ("*", "No-erro*", 3.0, ""))
    )
    only = mqm_editor(read("A d1 1 r1 No-error|No-error"), weights=costly)
    assert (only.weights, only.categories) == ({"No-error": 2.0}, {"No-error": "neither"})
    assert only.systems()[list(KINDS)].to_numpy().tolist() == [[2, 0, 0]]


def test_what_is_set_from_python_is_checked(widget):
    for trait, value in (
        ("categories", {"Style/Awkwrd": "accuracy"}),
        ("categories", {"Style/Awkward": "acuracy"}),
        ("weights", {"Mayor": 3}),
        *(("weights", {"Major": wrong}) for wrong in (-1, np.nan, np.inf, "5", None)),
    ):
        with pytest.raises(AnhelpersError):
            setattr(widget, trait, value)
    assert widget.weights == widget.data["start"]["weights"]
    widget.weights, widget.categories = {"Major": np.float64(3)}, {"Other": "accuracy"}
    widget.weights = {"Minor": 2}
    assert (widget.weights["Major"], widget.weights["Minor"]) == (3, 2)
    assert widget.categories["Other"] == "accuracy"
    widget.weights, widget.categories = (widget.data["start"][k] for k in ("weights", "categories"))
    assert widget.state == widget.data["start"]


def test_what_it_cannot_show_is_refused(read, ratings):
    apart = read("A d1 1 r1 Other|Minor\nB d1 2 r1 Other|Minor")
    with pytest.raises(DataError):
        mqm_editor(apart)
    assert mqm_editor(apart, shared=False).systems().penalty.tolist() == [1, 1]
    odd = read("A d1 1 r1 Odd|Minor")
    with pytest.raises(DataError):
        mqm_editor(odd)
    assert mqm_editor(odd, unclassified="ignore").categories == {"Odd": "neither"}
