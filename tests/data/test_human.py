"""Ratings of systems by people: Appraise's exports, WMT's JSON, tables; and where each of them belongs."""

import json
import os
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from anhelpers.data import TestSet, find_file, load, read_lines
from anhelpers.data.human import human_metric
from anhelpers.errors import DataError, UnknownName
from anhelpers.naturalness.compression import (
    bits_per_character,
    compression_metric,
    human_compression,
)
from anhelpers.plane import system_plane, systems_table
from anhelpers.scoring import lookup, score_all, system_rows, system_scores

TEST = TestSet(
    "mine",
    "en-cs",
    srcs=("One.", "Two.", "Three.", "Four."),
    refs={"refA": ("Jedna.", "Dva.", "Tři.", "Čtyři.")},
    systems={"A": ("Jeden.", "Dvě.", "Tři!", "Čtyři!"), "B": ("1.", "2.", "3.", "4.")},
    docs=("d1", "d1", "d2", "d2"),
)


def row(system, line, points, doc, rater="r1", kind="TGT", spans="[]", lang="ces", time=1e9):
    quoted = '"' + spans.replace('"', '""') + '"'
    return (
        f"{rater},{system},{line},{kind},eng,{lang},{points},{doc},False,{quoted},{time},{time + 5}"
    )


DOCS = ("d1", "d1", "d2", "d2")
ROWS = [row(s, i + 1, 10 * i + j, DOCS[i]) for j, s in enumerate("AB") for i in range(4)]


@pytest.fixture
def wave(tmp_path):
    """Writes rows to a file; returns its path."""

    def write(rows, name="wave.csv"):
        (tmp_path / name).write_text("".join(f"{one}\n" for one in rows), encoding="utf-8")
        return tmp_path / name

    return write


def scored(path, test=TEST, kind="esa"):
    found = human_metric(f"{kind}:{path}").score_systems(test)
    return found.values, " ".join(found.notes)


@pytest.mark.verifies("ESA, direct assessment", by="hand")
def test_a_rating_belongs_to_its_line_and_several_are_averaged(wave):
    again = row("A", 1, 100, "d1", "r2", time=2e9)
    values, notes = scored(wave([*ROWS, again]))
    np.testing.assert_array_equal(values, [[50, 1], [10, 11], [20, 21], [30, 31]])
    assert (
        "ESA: 1 of 8 scored translations have several ratings, whose mean counts (2 raters" in notes
    )
    assert "lines count from 1: all 9 ratings are of segments of their own documents" in notes


@pytest.mark.verifies("ESA, direct assessment", by="property")
def test_neither_the_order_of_rows_nor_a_part_of_the_set_matters(wave):
    again = [*ROWS, row("A", 3, 90, "d2", "r2"), row("B", 3, 90, "d2", "r2")]
    expected = scored(wave(again))[0]
    for seed in range(3):
        rows = [again[i] for i in np.random.default_rng(seed).permutation(len(again))]
        np.testing.assert_array_equal(scored(wave(rows))[0], expected)
    one = TEST.without(["A"])
    np.testing.assert_array_equal(scored(wave(again), one)[0][:, 0], expected[:, 1])


def test_controls_are_dropped_and_counted(wave):
    controls = [
        row("A", 1000001, 0, "encs-tutorial1"),
        row("A", 1, 3, "d1#bad", kind="BAD"),
        row("A", 2, 4, "d1#dup"),
        row("B", 3, 5, "d2#incomplete"),
        row("B", 3, 5, "d2", kind="BAD"),
        row("B", 3, 5, "d2", lang="jpn"),
        ROWS[0],
    ]
    values, notes = scored(wave([*ROWS, *controls]))
    np.testing.assert_array_equal(values, scored(wave(ROWS, "other.csv"))[0])
    for told in (
        "1 rows left out: tutorials.",
        "1 rows left out: controls (#bad).",
        "1 rows left out: controls (#dup).",
        "1 rows left out: controls (#incomplete).",
        "1 rows left out: controls (of type BAD).",
        "1 rows left out: the same rating again.",
        "1 rows are of other language pairs (en-ja).",
    ):
        assert told in notes, (told, notes)


@pytest.mark.parametrize("start", [0, 2])
def test_a_canary_that_was_counted_shifts_no_line(wave, start):
    rows = [row(s, i + start, 10 * i + j, DOCS[i]) for j, s in enumerate("AB") for i in range(4)]
    values, notes = scored(wave(rows))
    np.testing.assert_array_equal(values, scored(wave(ROWS, "other.csv"))[0])
    assert f"lines count from {start}" in notes


def test_shifted_lines_and_other_documents_are_refused(wave):
    with pytest.raises(
        DataError,
        match=r"wave\.csv, line 1: line 2 is rated as a part of d9, and segment 2 .* of d1",
    ):
        scored(wave([row("A", 2, 50, "d9"), *ROWS]))
    one = replace(TEST, docs=("d",) * 4)
    with pytest.raises(DataError, match="whether lines count from 0 and 1 and 2 cannot be told"):
        scored(wave([row("A", 2, 50, "d")]), one)
    marks = '[{"start_i": 0, "end_i": 6, "severity": "minor"}]'
    # "Jeden." has six characters, "Tři!" and the others fewer
    values, notes = scored(wave([row("A", 1, 50, "d", spans=marks)]), one)
    assert values[0, 0] == 50
    assert "1 of 1 marks lie within their texts" in notes
    with pytest.raises(DataError, match="marks end beyond their texts"):
        scored(wave([row("A", i + 1, 50, d, spans=marks) for i, d in enumerate(DOCS)]))


def test_waves_are_read_together_by_comma_or_folder(wave, tmp_path):
    first, second = wave(ROWS[:4], "w1.csv"), wave(ROWS[4:], "w2.csv")
    together = scored(f"{first},{second}")[0]
    np.testing.assert_array_equal(together, scored(tmp_path)[0])
    assert not np.isnan(together).any()
    assert np.isnan(scored(first)[0][:, 1]).all()
    metric = human_metric(f"esa:{tmp_path}")
    assert "files:w1.csv,w2.csv|sha256:" in metric.signature
    assert "rated:2001-09-09" in metric.signature


def test_esa_and_direct_assessment_are_not_confused(wave):
    plain = [one.replace('"[]",', "") for one in ROWS]
    np.testing.assert_array_equal(
        scored(wave(plain, "da.csv"), kind="da")[0], scored(wave(ROWS))[0]
    )
    with pytest.raises(
        DataError,
        match=r"line 1: has 11 cells, and 12 are wanted for ESA: that is DA, read",
    ):
        scored(wave(plain, "da.csv"))
    with pytest.raises(DataError, match="read it as esa:FILE"):
        scored(wave(ROWS), kind="da")
    with pytest.raises(
        DataError, match=r"no rating of en-de that is no control; language pairs: en-cs \(8 rows\)"
    ):
        scored(wave(ROWS), replace(TEST, lp="en-de"))
    with pytest.raises(DataError, match="'esa:' names no file"):
        human_metric("esa:")


def test_ratings_as_json_join_by_source_and_text(tmp_path):
    lines = [
        {
            "doc_id": f"en-cs_CZ_#_news_#_{doc}_#_{i}",
            "src_text": src,
            "tgt_text": {s: hyps[i] for s, hyps in TEST.systems.items()},
            "scores": {
                "A": {"human1": 10 * i, "annotator1": "r", "human2": 10 * i + 4, "annotator2": "q"}
            },
        }
        for i, (src, doc) in enumerate(zip(TEST.srcs, TEST.docs, strict=True))
    ]
    lines[2]["scores"] = {}
    lines[3]["tgt_text"]["A"] = "něco jiného"
    path = tmp_path / "humeval.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in reversed(lines)), encoding="utf-8")
    values, notes = scored(path)
    np.testing.assert_array_equal(values[:, 0], [2, 12, np.nan, np.nan])
    assert np.isnan(values[:, 1]).all()
    assert (
        "4 of 6 ratings of 3 segments are of translations of mine, joined by source and text."
        in notes
    )
    # the form of 2024: a list of ratings, points as text
    lines[0]["scores"] = {
        "A": [{"score": "30", "annotator": "r"}, {"score": "50", "annotator": "q"}]
    }
    path.write_text(json.dumps(lines[0]) + "\n", encoding="utf-8")
    assert scored(path)[0][0, 0] == 40


def test_a_table_joins_by_text_or_by_number(tmp_path):
    path = tmp_path / "da.csv"
    path.write_text(
        "lp,src,mt,score,raw\nen-cs,Two.,Dvě.,0.3,70\nen-de,Two.,Zwei.,0.1,9\n",
        encoding="utf-8",
    )
    values, notes = scored(path, kind="da")
    assert values[1, 0] == 70
    assert np.isnan(values).sum() == 7
    assert "1 rows are of other language pairs." in notes
    assert "1 of 1 scores are of mine, found by their texts." in notes
    path.write_text("src,mt,score\nTwo.,Dvě.,-0.5\nOne.,Jeden.,1.5\n", encoding="utf-8")
    metric = human_metric(f"da:{path}")
    assert metric.unit == "standard deviations of a rater"
    assert metric.bounds == (-np.inf, np.inf)
    path.write_text("system\tsegment\tdoc\tscore\nA\t1\td1\t70\nB\t1\td1\tNone\n", encoding="utf-8")
    assert scored(path, kind="da")[0][1, 0] == 70
    with pytest.raises(
        DataError, match="segment 1 is of document 'd1' here, and in mine of 'x': lines are shifted"
    ):
        scored(path, replace(TEST, docs=("y", "x", "y", "y")), kind="da")
    path.write_text("src,mt,score\nTen.,Deset.,70\n", encoding="utf-8")
    with pytest.raises(DataError, match="no DA score is of a translation of mine"):
        scored(path, kind="da")


def test_a_text_that_has_two_places_has_none(tmp_path):
    twice = replace(
        TEST,
        srcs=("Two.",) * 2 + TEST.srcs[2:],
        systems={"A": ("Dvě.", "Dvě.", "c", "d")},
        categories={},
    )
    path = tmp_path / "da.csv"
    path.write_text("src,mt,doc,score\nTwo.,Dvě.,,70\nThree.,c,,60\n", encoding="utf-8")
    np.testing.assert_array_equal(scored(path, twice, "da")[0][:, 0], [np.nan, np.nan, 60, np.nan])
    path.write_text("src,mt,doc,score\nTwo.,Dvě.,x2,70\n", encoding="utf-8")
    apart = replace(twice, docs=("x1", "x2", "x3", "x4"))
    np.testing.assert_array_equal(scored(path, apart, "da")[0][:2, 0], [np.nan, 70])


def test_the_plane_leaves_out_who_was_not_rated_and_shows_people(wave):
    rows = [
        row(s, i + 1, 50 + 10 * i + j, DOCS[i])
        for j, s in enumerate(("A", "refA"))
        for i in range(4)
    ]
    esa, length = human_metric(f"esa:{wave(rows[:-1])}"), lookup.metric("ttr", "cs")
    plane = system_plane(TEST, esa, length, naturalness_level="corpus")
    assert plane.systems == ("A", "refA")
    assert plane.outside == {"refA": "human"}
    assert len(plane) == 3
    assert "left out, as they have none of these scores: B." in plane.notes
    np.testing.assert_allclose(plane.scores()[0], [60, 61])
    # what compares with a reference keeps it as one
    both = system_plane(TEST, lookup.metric("chrf", TEST), replace(esa, name="e"))
    assert both.systems == ("A",)
    own = system_plane(TEST, esa, lookup.metric("chrf", TEST), shared=False)
    assert own.scores()[0, 0] == 65
    with pytest.raises(DataError, match="has no corpus score, only the mean"):
        system_plane(TEST, esa, length, "corpus", naturalness_level="corpus")


def test_candidates_have_no_ratings(wave):
    from anhelpers.data import from_systems

    esa = human_metric(f"esa:{wave(ROWS)}")
    with pytest.raises(DataError, match="no oracle curve"):
        score_all(TEST, esa, from_systems(TEST))
    table = system_rows(TEST, [esa])
    assert table[["system", "level", "value", "n"]].values.tolist() == [
        ["A", "segment-mean", 15.0, 4],
        ["B", "segment-mean", 16.0, 4],
    ]


def test_names_of_given_scores_are_found_and_listed():
    for name in ("mqm", "esa", "stored"):
        with pytest.raises(UnknownName, match=rf"{name}:"):
            lookup.metric(name, "de")
    assert lookup.row_of("esa:x.csv").sees == (lookup.GIVEN,)
    assert "esa:FILE" in lookup.listed("accuracy")
    assert "mqm-fluency" not in lookup.listed("naturalness", texts=True)


@pytest.mark.real
@pytest.mark.skipif(not os.environ.get("ANHELPERS_DATA"), reason="ANHELPERS_DATA is not set")
@pytest.mark.verifies("ESA, direct assessment", by="foreign", of="pandas")
def test_esa_of_wmt24_en_cs_is_that_of_pandas():
    test, path = load("wmt24/en-cs"), find_file("esa/wmt24")
    esa = lookup.metric("esa:esa/wmt24", test)
    found = esa.score_systems(test)
    table = pd.read_csv(path, header=None, dtype=str, keep_default_na=False).drop_duplicates()
    table = table[(table[5] == "ces") & (table[3] == "TGT") & ~table[7].str.contains("#|tutorial")]
    table[6] = table[6].astype(float)
    table[2] = table[2].astype(int) - 1  # the canary is line 0
    means = table.groupby([1, 2])[6].mean()
    mine = {
        (system, i): found.values[i, j]
        for j, system in enumerate(test.systems)
        for i in np.flatnonzero(~np.isnan(found.values[:, j]))
    }
    theirs = means[means.index.get_level_values(0) != "refA"].to_dict()
    assert mine == pytest.approx(theirs)
    assert len(mine) == 4455
    by_system = means.groupby(level=0).mean()
    plane = system_plane(test, esa, lookup.metric("mattr", test), naturalness_level="corpus")
    assert (len(plane), len(plane.systems), len(set(plane.docs))) == (297, 16, 85)
    np.testing.assert_allclose(plane.scores()[0], by_system[list(plane.systems)])
    assert "733 rows left out: controls (#bad)." in found.notes
    # a part of the set, in another order, has its own scores
    rows = np.random.default_rng(3).permutation(len(test))[:400]
    np.testing.assert_array_equal(system_scores(test.subset(rows), esa), found.values[rows])
    other = replace(test, systems={"GPT-4": test.systems["Aya23"]}, categories={})
    same = [a == b for a, b in zip(test.systems["GPT-4"], test.systems["Aya23"], strict=True)]
    borrowed = esa.score_systems(other)
    assert not (~np.isnan(borrowed.values[:, 0]) & ~np.array(same)).any()
    assert any(
        "ratings of these systems are of segments, or texts, that are not in" in n
        for n in borrowed.notes
    )
    table = systems_table(plane, np.random.default_rng(0), 200)
    assert (table.accuracy_low < table.accuracy).all()
    assert table.accuracy_high.max() <= 100


@pytest.mark.real
@pytest.mark.skipif(not os.environ.get("ANHELPERS_DATA"), reason="ANHELPERS_DATA is not set")
@pytest.mark.parametrize(("one", "other"), [("Claude-3.5", "IKUN-C"), ("Claude-3.5", "ONLINE-W")])
def test_ratings_of_two_exchanged_systems_mark_what_is_not_there(tmp_path, one, other):
    swap = {one: other, other: one}
    rows = [line.split(",", 2) for line in read_lines(find_file("esa/wmt24"))]
    changed = [",".join([a, swap.get(b, b) if ",eng,ces," in c else b, c]) for a, b, c in rows]
    (tmp_path / "esa.csv").write_text("\n".join(changed) + "\n", "utf-8")
    test = load("wmt24/en-cs")
    with pytest.raises(DataError, match="marks end beyond the texts of some systems") as told:
        human_metric(f"esa:{tmp_path / 'esa.csv'}").score_systems(test)
    assert one in str(told.value) or other in str(told.value)


def scored_by_text(tmp_path, systems, ref, *, leave_out=()):
    """A plane of scores that are joined by source and translation alone, as a table without systems has them."""
    n = len(ref)
    test = TestSet(
        "set",
        "en-de",
        srcs=tuple(f"Source {i}." for i in range(n)),
        refs={"refA": ref},
        systems=systems,
        docs=tuple(f"d{i % 10}" for i in range(n)),
    )
    rows = {
        f"{src}\t{text}\t{50 + (7 * i + 3 * j) % 40}"
        for j, (name, hyps) in enumerate(systems.items())
        for i, (src, text) in enumerate(zip(test.srcs, hyps, strict=True))
        if (name, i) not in leave_out
    }
    path = tmp_path / "da.tsv"
    path.write_text("src\tmt\tscore\n" + "\n".join(sorted(rows)) + "\n", "utf-8")
    plane = system_plane(
        test,
        human_metric(f"da:{path}"),
        compression_metric(),
        naturalness_level="corpus",
        shared=None,
    )
    return test, plane


def test_a_reference_that_nobody_rated_does_not_decide_which_segments_are_compared(tmp_path):
    ref = tuple(f"Satz Nummer {i} von vielen." for i in range(40))
    systems = {
        "A": tuple(ref[i] if i == 3 else f"Der Satz {i} ist einer." for i in range(40)),
        "B": tuple(f"Ein Satz mit der Zahl {i}." for i in range(40)),
    }
    test, plane = scored_by_text(tmp_path, systems, ref)
    shared = plane.shared()
    assert len(shared) == 40
    assert shared.systems == ("A", "B")
    assert any("refA: no human point, as only 1 of its 40 texts" in note for note in shared.notes)
    means = [np.mean([50 + (7 * i + 3 * j) % 40 for i in range(40)]) for j in (0, 1)]
    np.testing.assert_allclose(shared.scores()[0], means)
    half = np.arange(40) < 20
    told = human_compression(test, half)
    assert f"{bits_per_character(chr(10).join(ref[:20])):.4g} (refA, 20 segments)" in told
    assert "cannot be said" in human_compression(replace(test, refs={}), half)


def test_a_system_with_few_scores_is_refused_and_named(tmp_path):
    ref = tuple(f"Satz Nummer {i} von vielen." for i in range(40))
    systems = {
        name: tuple(f"{name} sagt zu {i} etwas Eigenes." for i in range(40)) for name in "ABC"
    }
    with pytest.raises(DataError, match=r"B \(15\): far fewer .* \(--exclude B\)"):
        scored_by_text(tmp_path, systems, ref, leave_out={("B", i) for i in range(25)})
    halves = {("A", i) for i in range(20)} | {("B", i) for i in range(18, 38)}
    with pytest.raises(DataError, match="only 2 segments of set have a score of da:"):
        scored_by_text(tmp_path, systems, ref, leave_out=halves)
