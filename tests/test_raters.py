"""A class as raters: the sheet, the files, their agreement and their plane."""

import itertools
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anhelpers import classroom
from anhelpers.classroom.sheet import COLUMNS, _draw_sheet, rating_sheet
from anhelpers.data import CandidateSet, from_systems, load, load_ratings
from anhelpers.errors import DataError, UnknownName

NAN = np.nan


def rng():
    return np.random.default_rng(5)


@pytest.fixture(scope="module")
def teaching():
    test = load("teaching")
    return test, from_systems(test)


@pytest.fixture(scope="module")
def sheet(teaching):
    return _draw_sheet(*teaching, 5, 3, rng=rng())


def ratings_of(rows):
    """ClassRatings of (rater, segment, candidate, criterion, rating) rows."""
    table = pd.DataFrame(rows, columns=["rater", "segment", "candidate", "criterion", "rating"])
    return classroom.ClassRatings(table.assign(rating=table.rating.astype(float)))


def of(matrix, segment=None):
    """ClassRatings of (units, raters) accuracies; each unit is a segment by itself by default."""
    return ratings_of(
        [
            (f"r{k}", i if segment is None else segment[i], i, "accuracy", value)
            for i, row in enumerate(matrix)
            for k, value in enumerate(row)
        ]
    )


# ---- the sheet


def test_a_sheet_shows_different_systems_about_equally_often(teaching, sheet):
    test, cands = teaching
    assert len(sheet.segments) == 5
    assert list(sheet.segments) == sorted(set(sheet.segments))
    assert sheet.srcs == tuple(test.srcs[i] for i in sheet.segments)
    for i, ids, texts in zip(sheet.segments, sheet.candidates, sheet.texts, strict=True):
        assert [int(cands.segment[k]) for k in ids] == [i] * 3
        assert texts == tuple(cands.texts[k] for k in ids)
        assert len(set(texts)) == len({cands.tags[k] for k in ids}) == 3
    seen = pd.Series([cands.tags[k] for ids in sheet.candidates for k in ids]).value_counts()
    assert seen.max() - seen.min() <= 1
    assert len(sheet.rows) == len(set(sheet.rows)) == 30


def test_equal_texts_and_equal_systems_are_not_compared():
    test = load("teaching").subset([0])
    cands = CandidateSet([0] * 5, ["a", "a", "b", "c", "d"], ["A", "B", "C | A", "D", "D"])
    drawn = _draw_sheet(test, cands, 1, 3, rng=rng())
    assert len(set(drawn.texts[0])) == 3
    assert not {"c", "d"} <= {*drawn.texts[0]}
    with pytest.raises(DataError):
        _draw_sheet(test, cands, 1, 4, rng=rng())
    with pytest.raises(DataError):
        _draw_sheet(test, cands, 0, 2, rng=rng())


def test_the_page_names_no_system_and_an_export_no_rater(teaching):
    test, cands = teaching
    widget = rating_sheet(test, cands, rng=rng(), title="A <claim>")
    assert not [name for name in test.systems if name in str(widget.data)]
    assert len(widget.ratings) == len(widget.sheet.rows) == 30
    empty = widget.fragment()
    widget.rater, widget.ratings = "Mo", [5] * 30
    assert widget.fragment() == empty
    assert "A &lt;claim&gt;" in widget.static_html()
    assert "texts to rate are in German" in widget.static_html()


def test_every_text_is_first_alone_and_never_beside_one_of_its_source(teaching):
    data = rating_sheet(*teaching, rng=rng()).data
    alone = [tuple(one) for page in data["alone"] for one in page]
    assert sorted(alone) == [(s, k) for s in range(5) for k in range(3)]
    assert all(len({s for s, _ in page}) == len(page) for page in data["alone"])


# ---- the files

ROWS = """rater,sheet,segment,candidate,criterion,rating,seconds,version,turn
Mo,s1,0,1,accuracy,4,2.5,0.1,2
Mo,s1,0,1,fluency,,,0.1,1
"""


def test_files_are_pooled_and_what_is_missing_is_counted(tmp_path):
    (tmp_path / "a.csv").write_text(ROWS, "utf-8")
    (tmp_path / "b.CSV").write_bytes(
        b"\xef\xbb\xbfrater,sheet,segment,candidate,criterion,rating\r\nDi,s1,0,1,accuracy,5\r\n"
    )
    (tmp_path / "copy.csv").write_text(ROWS, "utf-8")
    found = classroom.read_class_ratings(tmp_path)
    assert list(found.table) == list(COLUMNS)
    assert found.raters == ("Mo", "Di")
    assert found.matrix("accuracy").to_numpy().tolist() == [[4, 5]]
    assert found.table.seconds.tolist() == pytest.approx([2.5, NAN, NAN, NAN], nan_ok=True)
    assert found.notes == ("2 of 4 ratings are missing (Mo 1, Di 1).",)


@pytest.mark.parametrize(
    ("name", "old", "new", "line"),
    [
        ("no column", "criterion", "criteria", 1),
        ("no rating", "accuracy,4", "accuracy,6", 2),
        ("no criterion", "1,fluency", "1,style", 3),
        ("no rater", "Mo,s1,0,1,fluency", ",s1,0,1,fluency", 3),
        ("a path for a name", "Mo,s1,0,1,fluency", "../Mo,s1,0,1,fluency", 3),
        ("another sheet", "Mo,s1,0,1,fluency", "Mo,s2,0,1,fluency", 3),
        ("a second rating", "1,fluency,,", "1,accuracy,3,", 3),
        ("a cell too many", "0.1,1", "0.1,1,7", 3),
    ],
)
def test_a_bad_file_is_refused_with_its_line(tmp_path, name, old, new, line):
    path = tmp_path / "a.csv"
    path.write_text(ROWS.replace(old, new), "utf-8")
    with pytest.raises(DataError) as refused:
        classroom.read_class_ratings(path)
    assert refused.value.path == path
    assert refused.value.line == line


def test_ratings_that_are_not_on_the_sheet_are_refused(tmp_path, sheet):
    segment, candidate, _ = sheet.rows[0]
    row = f"Mo,{sheet.id},{segment},{candidate},accuracy,4\n"
    head = ROWS.splitlines()[0].removesuffix(",seconds,version,turn") + "\n"
    (tmp_path / "a.csv").write_text(head + row, "utf-8")
    found = classroom.read_class_ratings(tmp_path, sheet)
    assert found.table.rating.notna().sum() == 1
    assert len(found.table) == 30
    for wrong in (row.replace(sheet.id, "s1"), row.replace(f"{candidate},a", "999,a")):
        (tmp_path / "a.csv").write_text(head + row + wrong, "utf-8")
        with pytest.raises(DataError, match="line 3"):
            classroom.read_class_ratings(tmp_path, sheet)
    with pytest.raises(DataError):
        classroom.read_class_ratings([])


def test_an_invented_class_is_written_and_read_back(tmp_path, sheet):
    invented = classroom.invented_class(sheet, rng(), 4, missing=0.1)
    assert set(invented.table.rating.dropna()) <= set(classroom.SCALE)
    assert len(invented.write(tmp_path)) == 4
    back = classroom.read_class_ratings(tmp_path, sheet)
    pd.testing.assert_frame_equal(back.table, invented.table)


def test_an_invented_class_follows_the_ratings_of_its_texts():
    test, rated = load("teaching"), load_ratings("teaching")
    cands = from_systems(test)
    drawn = _draw_sheet(test, cands, 20, 6, rng=rng())
    ratings = classroom.invented_class(drawn, rng(), 40, following=rated)
    plane = classroom.class_plane(ratings, cands, rng(), 50).set_index("system")
    place = {key: k for k, key in enumerate(zip(rated.segment.tolist(), rated.texts, strict=True))}
    for column, axis in (("accuracy", "accuracy"), ("naturalness", "naturalness")):
        means = rated.mean(axis)
        wanted = {
            name: means[[place[i, test.systems[name][i]] for i in drawn.segments]].mean()
            for name in plane.index
        }
        assert np.corrcoef(plane[column], pd.Series(wanted)[plane.index])[0, 1] > 0.8


# ---- agreement

PUBLISHED = [  # Krippendorff 2011, reliability data C: 12 units, 4 observers
    (1, 1, NAN, 1),
    (2, 2, 3, 2),
    (3, 3, 3, 3),
    (3, 3, 3, 3),
    (2, 2, 2, 2),
    (1, 2, 3, 4),
    (4, 4, 4, 4),
    (1, 1, 2, 1),
    (2, 2, 2, 2),
    (NAN, 5, 5, 5),
    (NAN, NAN, 1, 1),
    (NAN, NAN, 3, NAN),
]


A, B, C, D, E = range(5)
MEG = (0, 1, 0, 0, 0, 0, 0, 0, 1, 0), (1, 1, 1, 0, 0, 1, 0, 0, 0, 0)
BEN = (A, A, B, B, D, C, C, C, E, D, D, A), (B, A, B, B, B, C, C, C, E, D, D, D)
PAPER = [  # Krippendorff 2011, §A to §D, with α as a fraction of our own
    (zip(*MEG, strict=True), "nominal", 0.095, Fraction(2, 21)),
    (zip(*BEN, strict=True), "nominal", 0.692, Fraction(155, 224)),
    (PUBLISHED, "nominal", 0.743, Fraction(113, 152)),
    (PUBLISHED, "ordinal", 0.815, Fraction(108577, 133160)),
    (PUBLISHED, "interval", 0.849, Fraction(951, 1120)),
    # which only the definition below has
    (PUBLISHED, "ratio", 0.797, Fraction(18222619, 22852465)),
]


@pytest.mark.verifies(
    "Krippendorff's α", by="foreign", of="Krippendorff 2011, §A to §D, in fractions"
)
@pytest.mark.parametrize(
    ("matrix", "level", "printed", "exact"), [(list(m), *rest) for m, *rest in PAPER]
)
def test_the_paper_and_exact_arithmetic(matrix, level, printed, exact):
    assert slow_alpha(matrix, level) == exact
    assert round(float(exact), 3) == printed
    if level != "ratio":
        assert classroom.krippendorff_alpha(matrix, level) == pytest.approx(float(exact), abs=1e-14)


@pytest.mark.verifies("Krippendorff's α", by="foreign", of="krippendorff 0.8")
@settings(max_examples=10)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["nominal", "ordinal", "interval"]))
def test_the_library_gives_the_same(seed, level):
    library = pytest.importorskip("krippendorff")
    draws = np.random.default_rng(seed)
    values = np.where(draws.random((12, 4)) < 0.2, NAN, draws.integers(1, 6, (12, 4)))
    wanted = library.alpha(reliability_data=values.T, level_of_measurement=level)
    assert classroom.krippendorff_alpha(values, level) == pytest.approx(wanted, abs=1e-12)


@pytest.mark.verifies("Krippendorff's α", by="hand")
def test_agreement_by_hand():
    """Two raters, three translations, one disagreement: D_o = 2/6, D_e = 2·3·3/(6·5), so α = 1 − (1/3)/(3/5) = 4/9."""
    found = classroom.agreement(of([(4, 4), (5, 5), (4, 5)]), "accuracy", rng(), 300)
    assert found.value == pytest.approx(4 / 9)


def slow_alpha(matrix, level):
    """α from its definition, a fraction: distance of pairs within units over that of all pairs of pairable values."""
    units = [[int(v) for v in row if not np.isnan(v)] for row in matrix]
    units = [row for row in units if len(row) > 1]
    values = [v for row in units for v in row]
    n = {v: values.count(v) for v in range(min(values), max(values) + 1)}

    def distance(a, b):
        if level == "nominal":
            return Fraction(a != b)
        if level == "interval":
            return Fraction((a - b) ** 2)
        if level == "ratio":
            return Fraction(a - b, a + b) ** 2
        a, b = min(a, b), max(a, b)
        return (sum(n[g] for g in range(a, b + 1)) - Fraction(n[a] + n[b], 2)) ** 2

    within = sum(
        distance(a, b) / (len(row) - 1) for row in units for a, b in itertools.permutations(row, 2)
    )
    among = sum(distance(a, b) for a, b in itertools.permutations(values, 2)) / (len(values) - 1)
    return 1 - within / among


cell = st.sampled_from([1.0, 2.0, 3.0, 4.0, 5.0, NAN])


@pytest.mark.verifies("Krippendorff's α", by="property")
@settings(max_examples=10)
@given(
    st.lists(st.tuples(cell, cell, cell), min_size=2, max_size=7),
    st.sampled_from(["nominal", "ordinal", "interval"]),
)
def test_alpha_is_what_its_definition_says(matrix, level):
    found = classroom.agreement(of(matrix), "accuracy", rng(), 2, level=level)
    pairable = [v for row in matrix if np.sum(~np.isnan(row)) > 1 for v in row if not np.isnan(v)]
    if len(set(pairable)) < 2:
        assert np.isnan(found.value)
        assert np.isnan(classroom.krippendorff_alpha(matrix, level))
    else:
        assert found.value == pytest.approx(float(slow_alpha(matrix, level)), abs=1e-12)
        assert classroom.krippendorff_alpha(matrix, level) == pytest.approx(found.value, abs=1e-12)


def test_where_alpha_or_its_interval_is_undefined():
    for matrix, alpha in (
        ([(4, 4), (4, 4)], NAN),
        ([(4, NAN), (NAN, 4)], NAN),
        ([(1, 1), (1, 1), (5, 5)], 1),
    ):
        found = classroom.agreement(of(matrix), "accuracy", rng(), 50)
        assert found.value == pytest.approx(alpha, nan_ok=True)
        assert np.isnan([found.low, found.high]).all()
        assert found.caution
    with pytest.raises(UnknownName):
        classroom.agreement(of([(4, 4)]), "fluent", rng(), 10)
    with pytest.raises(UnknownName):
        classroom.krippendorff_alpha([[1, 2]], "ratio")


def test_segments_and_not_translations_are_resampled():
    matrix = [(1, 1), (5, 5), (2, 2), (1, 5), (5, 4), (2, 1)]
    one = classroom.agreement(of(matrix, segment=[0] * 6), "accuracy", rng(), 50)
    assert np.isnan([one.low, one.high]).all()
    two = classroom.agreement(of(matrix, segment=[0, 0, 0, 1, 1, 1]), "accuracy", rng(), 400)
    # all agree in one segment, hardly any in the other: nothing is known of a third
    assert (two.low, two.high, two.n_docs) == (-1, 1, 2)
    many = classroom.agreement(of(matrix * 3, segment=list(range(18))), "accuracy", rng(), 400)
    assert -1 < many.low < many.value < many.high < 1
    assert many.caution == ""


# ---- the plane

SYSTEMS = ["A", "B", "A", "B"]


def plane_of(rows, systems=SYSTEMS, n_draws=200):
    return classroom.class_plane(ratings_of(rows), systems, rng(), n_draws).set_index("system")


def test_skewed_ratings_of_a_system_are_noted():
    rows = [("r", s, s + 20 * k, "accuracy", 1 if s else 5) for s in range(20) for k in (0, 1)]
    rows[5] = (*rows[5][:4], 2)
    plane = plane_of(rows, ["A"] * 20 + ["B"] * 20).reset_index()
    assert plane.uneven.all()
    assert "skewed" in classroom.plane_notes(plane)[0]
    assert classroom.plane_notes(plane.assign(uneven=False)) == []


@pytest.mark.verifies("Plane of a class's ratings", by="hand")
def test_the_plane_by_hand():
    """A: (5 + 3) / 2 and 4, so 4; each translation counts once, however many rated it."""
    rows = [
        ("mild", 0, 0, "accuracy", 5),
        ("mild", 0, 1, "accuracy", 4),
        ("mild", 1, 2, "accuracy", 4),
        ("strict", 0, 0, "accuracy", 3),
        ("strict", 0, 1, "accuracy", 1),
        ("strict", 1, 3, "accuracy", 2),
        ("mild", 0, 0, "fluency", 2),
        ("mild", 0, 1, "fluency", 4),
    ]
    table = plane_of(rows)
    assert table.accuracy.to_dict() == {"A": 4.0, "B": 2.25}
    assert table.naturalness.to_dict() == {"A": 2.0, "B": 4.0}
    mild, strict = 13 / 3, 2
    a = ((5 - mild + 3 - strict) / 2 + 4 - mild) / 2
    b = ((4 - mild + 1 - strict) / 2 + 2 - strict) / 2
    assert table.adjusted_accuracy.to_dict() == pytest.approx({"A": a, "B": b})
    assert table.adjusted_naturalness.to_dict() == {"A": -1, "B": 1}
    assert table.n.to_dict() == {"A": 2, "B": 2}
    assert table.n_ratings.to_dict() == {"A": 4, "B": 4}
    assert table.n_raters.to_dict() == {"A": 2, "B": 2}
    # 4 and 4 say nothing of a third segment
    assert table.loc["A", ["accuracy_low", "accuracy_high"]].isna().all()
    # Student's, one degree of freedom; the standard error of the mean of 2/3 below and 0 is 1/3
    t = 12.706204736
    # not -1 / 3 - t / 3: no rating on a scale of 1 to 5 is 4.6 below the rater's mean
    ends = [-4, -1 / 3 + t / 3]
    assert table.loc[
        "B", ["adjusted_accuracy_low", "adjusted_accuracy_high"]
    ].tolist() == pytest.approx(ends)
    # a mean rating is on the scale
    assert table.loc["B", ["accuracy_low", "accuracy_high"]].tolist() == [1, 5]
    assert table.loc["A", ["naturalness_low", "naturalness_high"]].isna().all()  # one segment only


@pytest.mark.verifies("Plane of a class's ratings", by="property")
def test_a_constant_lenience_vanishes_from_the_adjusted_plane(teaching, sheet):
    one = classroom.invented_class(sheet, rng(), 6, missing=0)
    low = one.table.assign(rating=one.table.rating.clip(upper=4))
    high = low.assign(rating=low.rating + (low.rater == "invented-2"))
    planes = [
        classroom.class_plane(classroom.ClassRatings(t), teaching[1], rng(), 50)
        for t in (low, high)
    ]
    first, second = (plane.set_index("system").sort_index() for plane in planes)
    assert (second.accuracy - first.accuracy).to_numpy() == pytest.approx(1 / 6)
    for column in ("adjusted_accuracy", "adjusted_naturalness_low", "adjusted_naturalness_high"):
        assert second[column].to_numpy() == pytest.approx(first[column].to_numpy(), nan_ok=True)


def test_a_text_of_two_systems_counts_for_both():
    rows = [("r", 0, 0, "accuracy", 5), ("r", 1, 1, "accuracy", 1), ("r", 0, 0, "fluency", 5)]
    table = plane_of(rows, ["A | B", "B"])
    assert table.accuracy.to_dict() == {"A": 5, "B": 3}
    assert table.n_ratings.to_dict() == {"A": 2, "B": 3}
    table = plane_of([("r", 0, 0, "accuracy", 5), ("r", 0, 1, "accuracy", 1)], ["A | B", "C"])
    # the rater's own mean is 3
    assert table.adjusted_accuracy.to_dict() == {"A": 2, "B": 2, "C": -2}


@pytest.mark.parametrize(
    ("row", "systems"),
    [
        (("r", 0, 0, "accuracy", NAN), SYSTEMS),
        (("r", 0, 4, "accuracy", 3), SYSTEMS),
        (("r", 0, 1, "accuracy", 3), ["A", ""]),
    ],
)
def test_a_plane_of_nothing_or_of_others_is_refused(row, systems):
    with pytest.raises(DataError):
        plane_of([row], systems)


@pytest.mark.verifies("Plane of a class's ratings", by="foreign", of="pandas")
@settings(max_examples=10)
@given(
    st.lists(
        st.tuples(st.sampled_from("xy"), st.integers(0, 3), st.integers(1, 5)),
        min_size=3,
        max_size=20,
        unique_by=lambda row: row[:2],
    )
)
def test_the_plane_is_pandas_of_the_ratings(rows):
    """Candidates 0 and 1 are of segment 0, 2 and 3 of segment 1; two systems, each with one candidate a segment."""
    plane = plane_of([(rater, c // 2, c, "accuracy", v) for rater, c, v in rows], n_draws=60)
    table = pd.DataFrame(rows, columns=["rater", "candidate", "rating"])
    table["system"], table["segment"] = [SYSTEMS[c] for c in table.candidate], table.candidate // 2
    wanted = table.groupby(["system", "segment"]).rating.mean().groupby("system").mean()
    assert plane.accuracy.to_dict() == pytest.approx(wanted.to_dict(), rel=1e-12)
