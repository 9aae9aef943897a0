"""A class as raters: the sheet, the students' files, their agreement and their plane."""

import itertools
import os
import threading
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anhelpers import classroom
from anhelpers.charts.systems import plot_systems
from anhelpers.classroom.alpha import _alpha, _coincidences, _counts, _of_coincidences
from anhelpers.classroom.files import RatingRow, pooled_ratings
from anhelpers.classroom.projector import page_interval
from anhelpers.classroom.rating_sheet import rating_sheet
from anhelpers.data import CandidateSet, from_systems, load, load_candidates, load_ratings
from anhelpers.errors import DataError, UnknownName

HEAD = ",".join(classroom.COLUMNS[:8])  # as files without turns have it
NAN = np.nan


def rng():
    return np.random.default_rng(5)


@pytest.fixture(scope="module")
def teaching():
    test = load("teaching")
    return test, from_systems(test)


@pytest.fixture(scope="module")
def sheet(teaching):
    return classroom.draw_sheet(*teaching, 5, 3, rng=rng())


def of(matrix, criterion="accuracy", segment=None):
    """ClassRatings of (units, raters) values of one criterion; each unit is a segment by itself unless said."""
    found = {}
    for k in range(len(matrix[0])):
        rows = {}
        for i, values in enumerate(matrix):
            cell = (i if segment is None else segment[i], i, criterion)
            rows[cell] = RatingRow(0, f"r{k}", "s", cell, values[k], NAN, "0")
        found[f"r{k}"] = rows
    return pooled_ratings(found, [])


# ---- the sheet


def test_a_sheet_shows_different_systems_about_equally_often(teaching, sheet):
    test, cands = teaching
    assert len(sheet.segments) == 5
    assert list(sheet.segments) == sorted(set(sheet.segments))
    assert sheet.srcs == tuple(test.srcs[i] for i in sheet.segments)
    assert sheet.refs == tuple(test.refs[test.reference][i] for i in sheet.segments)
    for i, ids, texts in zip(sheet.segments, sheet.candidates, sheet.texts, strict=True):
        assert [int(cands.segment[k]) for k in ids] == [i] * 3
        assert texts == tuple(cands.texts[k] for k in ids)
        assert len(set(texts)) == len({cands.tags[k] for k in ids}) == 3
    seen = pd.Series([cands.tags[k] for ids in sheet.candidates for k in ids]).value_counts()
    assert seen.max() - seen.min() <= 1
    assert len(sheet.rows) == len(set(sheet.rows)) == 30


def test_the_order_of_the_candidates_tells_nothing(teaching):
    """Over many sheets every system stands in every place about equally often: 40 · 5 · 3 / 24 = 25 each."""
    generator, counts = np.random.default_rng(1), {}
    for _ in range(40):
        drawn = classroom.draw_sheet(*teaching, 5, 3, rng=generator)
        for ids in drawn.candidates:
            for place, k in enumerate(ids):
                key = teaching[1].tags[k], place
                counts[key] = counts.get(key, 0) + 1
    assert len(counts) == 24
    assert all(8 <= n <= 45 for n in counts.values())


def test_the_id_is_of_what_is_rated_and_not_of_its_order(teaching, sheet):
    again = classroom.draw_sheet(*teaching, 5, 3, rng=rng())
    assert again == sheet
    turned = classroom.Sheet(
        sheet.segments[::-1],
        sheet.srcs[::-1],
        tuple(ids[::-1] for ids in sheet.candidates[::-1]),
        tuple(texts[::-1] for texts in sheet.texts[::-1]),
    )
    assert turned.id == sheet.id
    assert len(sheet.id) == 12
    other = classroom.Sheet(
        sheet.segments, sheet.srcs, sheet.candidates, (("x", *sheet.texts[0][1:]), *sheet.texts[1:])
    )
    assert other.id != sheet.id


def test_equal_texts_blank_texts_and_plain_sources():
    cands = CandidateSet(
        [0] * 4 + [1] * 3, list("aab ") + list("xyz"), ["A", "B", "C", "D", "A", "A", "B"]
    )
    drawn = classroom.draw_sheet(["one", "two"], cands, 2, 2, rng=rng())
    assert drawn.refs == ()
    assert set(drawn.texts[0]) == {"a", "b"}
    assert drawn.texts[1].count("z") == 1
    with pytest.raises(
        DataError,
        match="0 of 2 segments have 3 different candidates of different systems, and 1 are",
    ):
        classroom.draw_sheet(["one", "two"], cands, 1, 3, rng=rng())
    with pytest.raises(DataError, match="both must be at least 1"):
        classroom.draw_sheet(["one", "two"], cands, 0, 2, rng=rng())


def test_a_text_of_two_systems_shows_both():
    cands = CandidateSet([0] * 3 + [1] * 3, list("abcabc"), ["A | B", "B", "C"] * 2)
    drawn = classroom.draw_sheet(["one", "two"], cands, 2, 2, rng=rng())
    # "A | B" and "B" share a system
    assert all("C" in {cands.tags[k] for k in ids} for ids in drawn.candidates)
    cands = CandidateSet([0] * 4 + [1] * 4, list("abcdefgh"), ["A | B", "A", "B", "C"] * 2)
    for seed in range(20):
        drawn = classroom.draw_sheet(["one", "two"], cands, 2, 1, rng=np.random.default_rng(seed))
        first, second = (set(cands.tags[k].split(" | ")) for (k,) in drawn.candidates)
        assert not first & second  # who was seen waits until all others were


def test_untagged_candidates_may_be_rated_too():
    cands = CandidateSet([0, 0, 0], ["a", "b", "c"])
    assert sorted(classroom.draw_sheet(["one"], cands, 1, 3, rng=rng()).texts[0]) == ["a", "b", "c"]


# ---- files


def write(path, *lines, end="\n", head=HEAD, encoding="utf-8"):
    path.write_bytes((end.join([head, *lines]) + end).encode(encoding))
    return path


def rated(*ratings, rater="Mo", sheet="s1"):
    cells = itertools.product([0, 4], [7], ["accuracy", "fluency"])
    return [
        f"{rater},{sheet},{i},{k},{c},{r},2.5,0.1"
        for (i, k, c), r in zip(cells, ratings, strict=False)
    ]


def test_several_files_make_one_tidy_table_and_blanks_are_counted(tmp_path):
    write(tmp_path / "a.csv", *rated(5, 4, "", 3))
    write(tmp_path / "b.CSV", *rated(1, 2, 3, rater="Žofie Ö"))
    (tmp_path / "notes.txt").write_text("not one of them")
    found = classroom.read_class_ratings(tmp_path)
    assert list(found.table) == list(classroom.COLUMNS)
    assert found.raters == ("Mo", "Žofie Ö")
    assert found.table.rating.tolist()[:2] == [5, 4]
    assert np.isnan(found.table.rating[2])
    assert len(found.table) == 8
    assert found.notes == ("2 of 8 ratings are missing (Mo 1, Žofie Ö 1).",)
    assert repr(found) == "ClassRatings(sheet s1: 6 of 8 ratings by 2 raters)"
    wide = found.matrix("fluency")
    assert wide.loc[(0, 7)].tolist() == [4, 2]
    assert np.isnan(wide.loc[(4, 7), "Žofie Ö"])
    one = classroom.read_class_ratings([tmp_path / "a.csv", str(tmp_path / "b.CSV")])
    pd.testing.assert_frame_equal(one.table, found.table)


def test_what_excel_makes_of_a_file_is_read(tmp_path):
    plain = write(tmp_path / "plain.csv", *rated(5, 4, "", 3))
    lines = [line.replace(",", ";").replace("2.5", "2,5") for line in rated(5, 4, "", 3)]
    odd = write(
        tmp_path / "odd.csv",
        *lines,
        ";;;;;;;",
        end="\r\n",
        head="\ufeff" + HEAD.replace(",", ";").title(),
    )
    tabs = write(
        tmp_path / "tabs.csv",
        *[line.replace(",", "\t") for line in rated(5, 4, "", 3)],
        head=HEAD.replace(",", "\t"),
    )
    told = write(tmp_path / "told.csv", HEAD.replace(",", ";"), *lines, head="sep=;")
    quoted = write(
        tmp_path / "q.csv", *['"' + line.replace(",", '","') + '"' for line in rated(5, 4, "", 3)]
    )
    first = classroom.read_class_ratings(plain).table
    for path in (odd, tabs, told, quoted):
        pd.testing.assert_frame_equal(classroom.read_class_ratings(path).table, first)


def test_columns_may_stand_in_another_order_and_the_last_two_may_be_missing(tmp_path):
    path = write(
        tmp_path / "a.csv",
        "4,fluency,3,2,s1,Mo",
        head="rating,criterion,candidate,segment,sheet,rater",
    )
    row = classroom.read_class_ratings(path).table.iloc[0]
    assert (row.rater, row.segment, row.candidate, row.criterion, row.rating) == (
        "Mo",
        2,
        3,
        "fluency",
        4,
    )
    assert np.isnan(row.seconds)


def test_one_file_under_two_names_is_told_also_where_a_rating_is_lost(tmp_path):
    rows = [f"0,{k},fluency,{1 + k % 5},{2 + k}.5" for k in range(6)]
    write(tmp_path / "a.csv", *(f"Mo,s1,{row}," for row in rows))
    write(tmp_path / "b.csv", *(f"Di,s1,{row}," for row in rows[1:]))
    write(
        tmp_path / "c.csv", *(f"Al,s1,{row.rsplit(',', 1)[0]},{k}.1," for k, row in enumerate(rows))
    )
    notes = classroom.read_class_ratings(tmp_path).notes
    assert [note.split(":")[0] for note in notes if "same seconds" in note] == [
        "Mo and Di gave the same ratings in the same seconds"
    ]


def test_one_person_whose_name_is_typed_in_two_ways_is_told(tmp_path):
    for k, name in enumerate(["Amsel", "amsel.", "Star", "!", "?"]):
        write(tmp_path / f"{k}.csv", f"{name},s1,0,7,fluency,{1 + k},,")
    notes = classroom.read_class_ratings(tmp_path).notes
    assert [note for note in notes if "typed" in note] == [
        "Amsel and amsel. count as 2 people: are they one, whose name was typed in two ways?"
    ]


def test_a_copy_is_read_once_and_told(tmp_path):
    write(tmp_path / "a.csv", *rated(5, "", 3))
    write(tmp_path / "b.csv", *rated(5, "", 3))
    found = classroom.read_class_ratings(tmp_path)
    assert len(found.table) == 3
    assert "repeats the ratings of Mo" in found.notes[0]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            "Mo,s2,0,7,fluency,3,,",
            "line 3: this is of sheet 's2', and in {path} it is 's1'; only ratings of one sheet",
        ),
        ("Mo,s1,0,7,fluency,6,,", "line 3: rating '6' is none of 1, 2, 3, 4, 5; leave it blank"),
        ("Mo,s1,0,7,fluency,0,,", "line 3: rating '0' is none of"),
        ("Mo,s1,0,7,fluency,3.5,,", "line 3: rating '3.5' is none of"),
        ("Mo,s1,0,7,fluency,good,,", "line 3: rating 'good' is none of"),
        ("Mo,s1,0,7,fluency,nan,,", "line 3: rating 'nan' is none of"),
        ("Mo,s1,0,7,flency,3,,", "line 3: unknown criterion 'flency'; did you mean 'fluency'"),
        (
            "Mo,s1,0,7,accuracy,3,,",
            "line 3: Mo rates the accuracy of candidate 7 a second time, first in line 2",
        ),
        ("Mo,s1,-1,7,fluency,3,,", "line 3: segment '-1' is no whole number"),
        ("Mo,s1,0,²,fluency,3,,", "line 3: candidate '²' is no whole number"),
        (",s1,0,7,fluency,3,,", "line 3: the rater is blank"),
        ("Mo,,0,7,fluency,3,,", "line 3: the sheet is blank"),
        ("Mo,s1,0,7,fluency,3", "line 3: 6 cells, and the header has 8"),
    ],
)
def test_a_wrong_row_is_named_with_file_and_line(tmp_path, line, said):
    path = write(tmp_path / "a.csv", "Mo,s1,0,7,accuracy,5,,", line)
    with pytest.raises(DataError) as error:
        classroom.read_class_ratings(tmp_path)
    assert str(error.value).startswith(f"{path}, {said.replace('{path}', str(path))}")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "this file is empty"),
        ("\n\n", "this file is empty"),
        (HEAD + "\n", "line 1: there is a header and no rating below it"),
        ("<!doctype html>\n<html>", "line 1: this is a web page and no CSV: press Save on it"),
        (
            "name,mark\nMo,3\n",
            "line 1: there is no column rater, sheet, segment, candidate, criterion, rating; it has",
        ),
        (
            HEAD.replace("criterion,", "") + "\n",
            "line 1: there is no column criterion; it has rater, sheet",
        ),
    ],
)
def test_what_is_no_file_of_ratings_is_told(tmp_path, content, said):
    (tmp_path / "a.csv").write_text(content)
    with pytest.raises(DataError) as error:
        classroom.read_class_ratings(tmp_path / "a.csv")
    assert said in str(error.value)


def test_between_files_sheets_must_agree_and_a_rater_must_be_one(tmp_path):
    write(tmp_path / "a.csv", *rated(5, 4))
    other = write(tmp_path / "b.csv", *rated(5, 4, rater="Di", sheet="s2"))
    with pytest.raises(
        DataError, match=r"b.csv, line 2: this is of sheet 's2', and in .*a.csv it is 's1'"
    ):
        classroom.read_class_ratings(tmp_path)
    write(other, *rated(5, 3))
    with pytest.raises(
        DataError,
        match=r"b.csv, line 3: Mo has other ratings in .*a.csv: keep the file that counts",
    ):
        classroom.read_class_ratings(tmp_path)
    write(other, *rated(5))
    with pytest.raises(DataError, match="Mo has other ratings"):
        classroom.read_class_ratings(tmp_path)


def test_with_the_sheet_at_hand_all_of_it_is_asked_for(tmp_path, sheet):
    (segment, candidate, criterion), *rest = sheet.rows
    path = write(tmp_path / "a.csv", f"Mo,{sheet.id},{segment},{candidate},{criterion},4,,")
    assert len(classroom.read_class_ratings(path).table) == 1
    found = classroom.read_class_ratings(path, sheet)
    assert found.notes == ("29 of 30 ratings are missing (Mo 29).",)
    assert (
        list(found.table[["segment", "candidate", "criterion"]].itertuples(index=False, name=None))
        == sheet.rows
    )
    write(path, f"Mo,{sheet.id},{segment},{rest[-1][1]},{criterion},4,,")
    with pytest.raises(
        DataError,
        match=rf"line 2: candidate {rest[-1][1]} of segment {segment} is not on the sheet",
    ):
        classroom.read_class_ratings(path, sheet)
    write(path, f"Mo,s1,{segment},{candidate},{criterion},4,,")
    with pytest.raises(
        DataError, match=f"this is of sheet 's1', and the sheet at hand is '{sheet.id}'"
    ):
        classroom.read_class_ratings(path, sheet)


def test_no_file_at_all(tmp_path):
    with pytest.raises(DataError, match=r"this folder holds no .csv file"):
        classroom.read_class_ratings(tmp_path)
    with pytest.raises(DataError, match="no file to read"):
        classroom.read_class_ratings([])
    with pytest.raises(DataError, match="no such file"):
        classroom.read_class_ratings(tmp_path / "a.csv")


def test_an_invented_class_is_written_and_read_back(tmp_path, sheet):
    invented = classroom.invented_class(sheet, rng(), 4, missing=0.1)
    assert invented.raters == ("invented-1", "invented-2", "invented-3", "invented-4")
    assert "nobody gave them" in invented.notes[0]
    assert set(invented.table.rating.dropna()) <= set(classroom.SCALE)
    assert invented.sheet == sheet.id
    paths = classroom.write_ratings(invented, tmp_path)
    assert [p.name for p in paths] == [f"invented-{k}.csv" for k in (1, 2, 3, 4)]
    back = classroom.read_class_ratings(tmp_path)
    pd.testing.assert_frame_equal(back.table, invented.table)
    assert back.notes == invented.notes[1:]


def test_an_invented_class_follows_the_ratings_of_a_set(teaching):
    """With hardly a rater's own noise left in the mean of many, the plane is that of the set's own ratings."""
    rated, (test, cands) = load_ratings("teaching"), teaching
    sheet = classroom.draw_sheet(test, cands, 20, 6, rng=rng())
    ratings = classroom.invented_class(sheet, rng(), 40, following=rated)
    assert ratings.notes[0].endswith("nobody gave them, they follow the ratings of teaching.")
    plane = classroom.class_plane(ratings, cands, rng(), 200).set_index("system")
    keys = zip(rated.segment.tolist(), rated.texts, strict=True)
    own = {key: k for k, key in enumerate(keys)}
    for axis in ("accuracy", "naturalness"):
        merit = {
            name: np.mean([rated.mean(axis)[own[i, texts[i]]] for i in sheet.segments])
            for name, texts in test.systems.items()
        }
        best, worst = max(merit, key=merit.get), min(merit, key=merit.get)
        assert plane[axis][best] - plane[axis][worst] > 0.5
        assert np.corrcoef(plane[axis], pd.Series(merit)[plane.index])[0, 1] > 0.9
    with pytest.raises(DataError, match=r"teaching/de-en has no rating of a text of segment \d+"):
        classroom.invented_class(sheet, rng(), following=load_ratings("teaching/de-en"))


def test_a_file_says_in_which_turn_each_rating_was_asked_for(tmp_path):
    rows = [(0, 7, "accuracy", 4, 1.0, 2), (0, 7, "fluency", 3, 1.0, 1)]
    (tmp_path / "a.csv").write_text(classroom.ratings_csv("Mo", "s1", rows))
    found = classroom.read_class_ratings(tmp_path)
    assert found.table.turn.tolist() == [2, 1]
    assert found.notes == ()
    late = [(*row[:5], 3 - row[5]) for row in rows]
    (tmp_path / "b.csv").write_text(classroom.ratings_csv("Di", "s1", late))
    write(tmp_path / "c.csv", "Al,s1,0,7,accuracy,3,,0.1", head=HEAD)
    found = classroom.read_class_ratings(tmp_path)
    assert found.notes[-1] == "Di rated fluency after the sources had been shown."
    assert found.table[found.table.rater == "Al"].turn.isna().all()


def test_names_with_commas_come_back_and_names_that_are_no_files_are_refused(tmp_path):
    path = write(tmp_path / "a.csv", *rated(5, 4, rater='"Doe, Jane"'))
    found = classroom.read_class_ratings(path)
    (again,) = classroom.write_ratings(found, tmp_path)
    pd.testing.assert_frame_equal(classroom.read_class_ratings(again).table, found.table)
    folder = tmp_path / "here"
    folder.mkdir()
    for rater in ("../x", str(tmp_path / "x"), "a/b", "a\\b", ".x", 'say "hi"'):
        odd = pooled_ratings(
            {rater: {(0, 0, "fluency"): RatingRow(0, rater, "s", (0, 0, "fluency"), 4.0, NAN, "")}},
            [],
        )
        with pytest.raises(DataError, match="cannot be the name of a file"):
            classroom.write_ratings(odd, folder)
    assert not list(folder.iterdir())
    assert not (tmp_path / "x.csv").exists()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names are of Unix")
def test_a_pipe_is_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    text = "\n".join([HEAD, *rated(5, 4)])
    writer = threading.Thread(target=(tmp_path / "pipe").write_text, args=(text,))
    writer.start()
    assert classroom.read_class_ratings(tmp_path / "pipe").table.rating.tolist() == [5, 4]
    writer.join()


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


@pytest.mark.verifies("Krippendorff's α", by="foreign", of="Krippendorff 2011, reliability data C")
@pytest.mark.parametrize(
    ("level", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)]
)
def test_krippendorffs_own_example(level, alpha):
    found = classroom.agreement(of(PUBLISHED), "accuracy", rng(), 200, level=level)
    assert (
        round(found.value, 3) == round(classroom.krippendorff_alpha(PUBLISHED, level), 3) == alpha
    )
    assert round(float(slow_alpha(PUBLISHED, level)), 3) == alpha
    assert (found.n, found.n_docs, found.also) == (11, 11, ((4, "raters"), (40, "ratings")))
    assert found.low < found.value < found.high <= 1


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


@pytest.mark.verifies("Krippendorff's α", by="hand")
def test_agreement_by_hand():
    """Two raters, three translations, one disagreement: D_o = 2/6, D_e = 2·3·3/(6·5), so α = 1 − (1/3)/(3/5) = 4/9."""
    found = classroom.agreement(of([(4, 4), (5, 5), (4, 5)]), "accuracy", rng(), 300)
    assert found.value == pytest.approx(4 / 9)
    assert found.text(2).startswith("accuracy: α (ordinal) 0.44, 95 % interval")
    assert (
        "(n = 3 translations in 3 segments, 2 raters, 6 ratings). 3 segments are few: the intervals"
        in str(found)
    )


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
@settings(max_examples=60, deadline=None)
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


RELABELLED = {  # what a level of measurement does not see
    "nominal": lambda m, order: np.where(
        np.isnan(m), m, np.array(order)[np.nan_to_num(m, nan=1).astype(int) - 1]
    ),
    "ordinal": lambda m, order: np.exp(m),
    "interval": lambda m, order: 3 - 7 * m,
}


@pytest.mark.verifies("Krippendorff's α", by="property")
@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(cell, cell, cell), min_size=2, max_size=7),
    st.sampled_from(["nominal", "ordinal", "interval"]),
    st.permutations(range(5)),
)
def test_alpha_sees_neither_names_nor_lone_ratings_nor_the_order(matrix, level, order):
    values = np.array(matrix)
    alpha = classroom.krippendorff_alpha(values, level)
    assert np.isnan(alpha) or alpha <= 1
    for other in (
        RELABELLED[level](values, order),
        np.vstack([values, [(5, NAN, NAN), (NAN, NAN, NAN)]]),
        values[::-1, [2, 0, 1]],
    ):
        assert classroom.krippendorff_alpha(other, level) == pytest.approx(
            alpha, abs=1e-9, nan_ok=True
        )
    same = classroom.krippendorff_alpha(values[:, [0, 0]], level)
    assert np.isnan(same) if len({*values[:, 0][~np.isnan(values[:, 0])]}) < 2 else same == 1


def test_what_alpha_cannot_be_of():
    with pytest.raises(UnknownName, match="level of measurement"):
        classroom.krippendorff_alpha([[1, 2]], "ratio")
    for wrong in ([1, 2], [[1, np.inf]]):
        with pytest.raises(DataError, match="α is of a table of finite ratings"):
            classroom.krippendorff_alpha(wrong)
    assert np.isnan(classroom.krippendorff_alpha(np.empty((0, 2))))


def test_equal_ratings_have_no_alpha():
    found = classroom.agreement(of([(4, 4), (4, 4)]), "accuracy", rng(), 10)
    assert np.isnan([found.value, found.low, found.high]).all()
    assert str(found) == (
        "accuracy: α (ordinal) is not defined (n = 2 translations in 2 segments, 2 raters, 4 ratings). "
        "All ratings are equal, so there is no disagreement to expect."
    )
    alone = classroom.agreement(of([(4, NAN), (NAN, 4)]), "accuracy", rng(), 10)
    assert alone.caution == "No translation has two ratings."
    with pytest.raises(UnknownName, match="did you mean 'fluency'"):
        classroom.agreement(of([(4, 4)]), "fluent", rng(), 10)
    with pytest.raises(UnknownName, match="level of measurement"):
        classroom.agreement(of([(4, 4)]), "accuracy", rng(), 10, level="ratio")


def test_segments_and_not_translations_are_resampled():
    matrix = [(1, 1), (5, 5), (2, 2), (1, 5), (5, 4), (2, 1)]
    one = classroom.agreement(of(matrix, segment=[0] * 6), "accuracy", rng(), 50)
    assert np.isnan([one.low, one.high]).all()
    assert one.n_docs == 1
    assert one.caution.startswith("All translations are of one segment")
    two = classroom.agreement(of(matrix, segment=[0, 0, 0, 1, 1, 1]), "accuracy", rng(), 400)
    # in one segment all agree, in the other hardly: nothing is known of a third
    assert (two.low, two.high) == (-1, 1)
    assert two.caution.startswith(
        "2 segments are few: the intervals may be far too short or far too long. More segments would"
    )
    many = classroom.agreement(of(matrix * 3, segment=list(range(18))), "accuracy", rng(), 400)
    assert -1 < many.low < many.value < many.high < 1
    assert many.caution == ""


@pytest.mark.filterwarnings("error")
def test_where_no_two_raters_differ_there_is_no_interval():
    found = classroom.agreement(of([(1, 1), (1, 1), (5, 5)]), "accuracy", rng(), 100)
    assert found.value == 1
    assert np.isnan([found.low, found.high]).all()
    assert found.caution.startswith("No two raters differ on a translation")
    found = classroom.agreement(of([(3, 4), (4, 4), *[(3, 3)] * 18]), "accuracy", rng(), 300)
    assert found.caution.startswith(
        "2 segments with a rating other than the commonest one are few: the intervals may"
    )
    found = classroom.agreement(of([(1, 2), *[(1, 1)] * 8]), "accuracy", rng(), 300)
    assert "resamples all ratings are equal: left out of the interval." in found.caution


@pytest.mark.verifies("Krippendorff's α", by="property")
@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(cell, cell, cell), min_size=2, max_size=9),
    st.sampled_from(["nominal", "ordinal", "interval"]),
)
def test_alpha_is_a_score_of_summed_coincidences(matrix, level):
    counts = _counts(np.array(matrix))
    counts = counts[counts.sum(1) > 1]
    with np.errstate(invalid="ignore"):
        found = _of_coincidences(level, _coincidences(counts).sum(0))
    assert float(found) == pytest.approx(_alpha(counts, level), abs=1e-9, nan_ok=True)


@pytest.mark.verifies("α of two raters", by="hand")
def test_pair_by_pair():
    matrix = [(1, 1, 5), (2, 2, 4), (4, 4, 2), (5, 5, 1)]
    table = classroom.pairwise_agreement(of(matrix), "accuracy")
    assert table.loc["r0", "r1"] == 1
    assert table.loc["r0", "r2"] == table.loc["r2", "r0"] < 0
    assert np.isnan(np.diag(table)).all()


# ---- the plane

SYSTEMS = ["A", "B", "A", "B"]


def plane_of(rows, systems=SYSTEMS, n_draws=200):
    """Of (rater, segment, candidate, criterion, rating)."""
    found = {}
    for rater, *cell, rating in rows:
        found.setdefault(rater, {})[tuple(cell)] = RatingRow(
            0, rater, "s", tuple(cell), rating, NAN, ""
        )
    return classroom.class_plane(pooled_ratings(found, []), systems, rng(), n_draws).set_index(
        "system"
    )


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


def test_what_five_sentences_can_tell_is_said(teaching, sheet):
    plane = classroom.class_plane(
        classroom.invented_class(sheet, rng(), 20), teaching[1], rng(), 200
    )
    few, test = classroom.plane_notes(plane)
    least = plane.system[plane.n == plane.n.min()].tolist()
    assert plane.n.max() > plane.n.min()
    named = few[: few.index(f" {plane.n.min()} segments, which are few: the intervals may be far")]
    assert all(system in named for system in least)
    assert not any(system in named for system in set(plane.system) - {*least})
    assert named.endswith(" has" if len(least) == 1 else " have")
    same = classroom.plane_notes(plane.assign(n=3))[0]
    assert same.startswith("Each system has 3 segments, which are few: the intervals")
    assert f"no p of a paired test is below {2.0 ** (1 - plane.n.max()):.2g}" in test
    assert classroom.plane_notes(plane.assign(n=8)) == []
    assert len(classroom.plane_notes(plane.assign(n=6))) == 1


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


def test_two_translations_of_one_system_count_equally_however_many_rated_them():
    rows = [("r", 0, 0, "accuracy", 5), ("s", 0, 0, "accuracy", 5), ("r", 0, 2, "accuracy", 1)]
    assert plane_of(rows).accuracy["A"] == 3


def test_a_plane_without_one_axis_or_with_one_segment_has_nan():
    table = plane_of([("r", 0, 0, "accuracy", 5), ("r", 0, 1, "accuracy", 1)])
    assert table.accuracy.to_dict() == {"A": 5, "B": 1}
    assert (
        table[["naturalness", "naturalness_low", "accuracy_low", "accuracy_high"]]
        .isna()
        .all(axis=None)
    )


def test_a_plane_of_nothing_or_of_others_is_refused(teaching):
    with pytest.raises(DataError, match="not one rating is there"):
        plane_of([("r", 0, 0, "accuracy", NAN)])
    with pytest.raises(DataError, match="candidate 4 was rated, and there are 4"):
        plane_of([("r", 0, 4, "accuracy", 3)])
    with pytest.raises(DataError, match="candidate 1 has no tag"):
        plane_of([("r", 0, 1, "accuracy", 3)], ["A", ""])


def test_it_is_drawn_as_every_plane(teaching, sheet):
    test, cands = teaching
    plane = classroom.class_plane(
        classroom.invented_class(sheet, rng()), cands, rng(), 100, categories=test.categories
    )
    assert set(plane.category) <= {"LLM", "MT", "online", "human"}
    spec = plot_systems(plane, uncertainty="cross", title="What the class sees").to_dict()
    assert "Crosses: 95 % of each mean." in " ".join(spec["title"]["subtitle"])
    adjusted = plane.filter(like="adjusted").rename(
        columns=lambda name: name.removeprefix("adjusted_")
    )
    plot_systems(plane[["system", "category"]].join(adjusted), uncertainty="cross").to_dict()


def test_kinds_of_candidates_can_be_rated_as_well_as_systems():
    test, cands = load("teaching"), load_candidates("teaching")
    drawn = classroom.draw_sheet(test, cands, 3, 4, rng=rng())
    plane = classroom.class_plane(classroom.invented_class(drawn, rng()), cands, rng(), 20)
    assert set(plane.system) == {cands.tags[k] for ids in drawn.candidates for k in ids}


@pytest.mark.verifies("α of two raters", by="property")
@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(*[st.sampled_from([1.0, 2, 3, 4, 5])] * 3), min_size=2, max_size=6))
def test_pairs_are_the_agreement_of_two(matrix):
    table = classroom.pairwise_agreement(of(matrix), "accuracy")
    values = np.array(matrix)
    for i, j in itertools.combinations(range(3), 2):
        two = values[:, [i, j]]
        if len(set(two.ravel())) < 2:
            assert np.isnan(table.iloc[i, j])
            continue
        assert (
            table.iloc[i, j]
            == table.iloc[j, i]
            == pytest.approx(float(slow_alpha(two, "ordinal")), abs=1e-12)
        )


@pytest.mark.verifies("α of two raters", by="foreign", of="Krippendorff 2011, §A")
def test_a_pair_of_the_paper():
    """Of two values, ordinal and nominal α are the same."""
    table = classroom.pairwise_agreement(
        of([(1 + one, 1 + other) for one, other in zip(*MEG, strict=True)]), "accuracy"
    )
    assert round(table.loc["r0", "r1"], 3) == 0.095


@pytest.mark.verifies("Plane of a class's ratings", by="foreign", of="pandas")
@settings(max_examples=25, deadline=None)
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


def test_the_interval_of_the_live_page_is_students_within_the_scale():
    low, high = page_interval([2.5, 3.0, 4.0, 3.5])
    # mean 3.25, standard error sqrt(5 / 12) / 2, t with 3 degrees of freedom
    half = 3.182446305284263 * (5 / 12) ** 0.5 / 2
    assert (low, high) == pytest.approx((3.25 - half, 3.25 + half))
    assert page_interval([3.0, 4.0]) is None
    assert page_interval([3.0] * 7) is None
    assert page_interval([3.0] * 8) == (3, 3)
    assert page_interval([1.0, 5.0, 5.0]) == (1, 5)


def test_a_title_names_a_leader_only_where_the_intervals_are_apart():
    sure = pd.DataFrame({"system": ["A", "B", "C"], "n": 9, "accuracy": [4.0, 3.0, 2.0]})
    sure = sure.assign(accuracy_low=[3.6, 2.6, 1.5], accuracy_high=[4.4, 3.5, 2.5])
    for end in ("", "_low", "_high"):
        sure[f"naturalness{end}"] = sure[f"accuracy{end}"].to_numpy()[::-1]
    claim = classroom.plane_claim
    assert claim(sure) == "A is the most accurate; C is the most fluent"
    touching = sure.assign(accuracy_low=[3.4, 2.6, 1.5])
    assert (
        claim(touching) == "too few sentences to say who is the most accurate; C is the most fluent"
    )
    unknown = sure.assign(naturalness_high=[np.nan, 3.5, 4.4])
    assert (
        claim(unknown) == "A is the most accurate; too few sentences to say who is the most fluent"
    )
    assert claim(sure.assign(n=[5, 9, 9])) == "too few sentences to say who leads"
    both = sure.drop(columns=[c for c in sure if "naturalness" in c])
    for end in ("", "_low", "_high"):
        both[f"naturalness{end}"] = both[f"accuracy{end}"]
    assert claim(both) == "A leads on both axes"
    assert claim(both[:1]) == "too few sentences to say who leads"


def test_a_sheet_says_which_languages_its_texts_have_where_its_words_are_of_another():
    for data, said in (("teaching", True), ("teaching/de-en", False)):
        made = rating_sheet(load(data), from_systems(load(data)), rng=rng())
        words = "The texts to rate are in German, their sources in English; only these words"
        assert (words in made.data["languages"]) == (words in made.static_html()) == said
