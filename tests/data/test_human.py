"""Human ratings: exports of Appraise and tables, joined to the outputs that were rated."""

import json
import os
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from anhelpers.accuracy.external import _external_metric
from anhelpers.data import TestSet, find_file, load
from anhelpers.errors import DataError, UnknownName
from anhelpers.naturalness.compression import _compression_metric
from anhelpers.plane import system_plane, systems_table
from anhelpers.scoring import lookup, system_scores

TEST = TestSet(
    "mine",
    "en-cs",
    srcs=("One.", "Two.", "Three.", "Four."),
    refs={"refA": ("Jedna.", "Dva.", "Tři.", "Čtyři.")},
    systems={"A": ("Jeden.", "Dvě.", "Tři!", "Čtyři!"), "B": ("1.", "2.", "3.", "4.")},
    docs=("d1", "d1", "d2", "d2"),
)


def row(system, line, points, doc, rater="r1", kind="TGT", lang="ces"):
    return f"{rater},{system},{line},{kind},eng,{lang},{points},{doc},False,[],1e9,2e9"


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
    return _external_metric(f"{kind}:{path}").score_systems(test).values


@pytest.mark.verifies("ESA, direct assessment", by="hand")
def test_a_rating_belongs_to_its_line_and_several_are_averaged(wave):
    values = scored(wave([*ROWS, row("A", 1, 100, "d1", "r2")]))
    np.testing.assert_array_equal(values, [[50, 1], [10, 11], [20, 21], [30, 31]])


@pytest.mark.verifies("ESA, direct assessment", by="property")
def test_neither_the_order_of_rows_nor_a_part_of_the_set_matters(wave):
    again = [*ROWS, row("A", 3, 90, "d2", "r2"), row("B", 3, 90, "d2", "r2")]
    expected = scored(wave(again))
    for seed in range(3):
        rows = [again[i] for i in np.random.default_rng(seed).permutation(len(again))]
        np.testing.assert_array_equal(scored(wave(rows)), expected)
    np.testing.assert_array_equal(scored(wave(again), TEST.without(["A"]))[:, 0], expected[:, 1])


def test_controls_and_repeated_rows_do_not_count(wave):
    controls = [
        row("A", 1000001, 0, "encs-tutorial1"),
        row("A", 1, 3, "d1#bad", kind="BAD"),
        row("A", 2, 4, "d1#dup"),
        row("B", 3, 5, "d2#incomplete"),
        row("B", 3, 5, "d2", kind="BAD"),
        row("B", 3, 5, "d2", lang="jpn"),
        row("B", 3, 5, "d2").replace("False", "True"),
        ROWS[0],
    ]
    np.testing.assert_array_equal(scored(wave([*ROWS, *controls])), scored(wave(ROWS, "b.csv")))


@pytest.mark.parametrize("start", [0, 2])
def test_lines_may_count_from_0_or_behind_a_canary(wave, start):
    rows = [row(s, i + start, 10 * i + j, DOCS[i]) for j, s in enumerate("AB") for i in range(4)]
    np.testing.assert_array_equal(scored(wave(rows)), scored(wave(ROWS, "other.csv")))


def test_direct_assessment_has_no_spans(wave):
    plain = [one.replace("[],", "") for one in ROWS]
    np.testing.assert_array_equal(scored(wave(plain, "da.csv"), kind="da"), scored(wave(ROWS)))


@pytest.mark.parametrize(
    ("rows", "kind", "lp", "named"),
    [
        ([row("A", 2, 50, "d9"), *ROWS], "esa", "en-cs", "line 1"),
        ([row("A", 3, 50, "d2")], "esa", "en-cs", "mine. Name its --docs"),  # from 0 or 1
        ([*ROWS, row("A", 3, 101, "d2")], "esa", "en-cs", "line 9"),
        ([ROWS[0], "A,1"], "esa", "en-cs", "line 2"),
        (ROWS, "da", "en-cs", "line 1"),
    ],
)
def test_bad_exports_are_refused(wave, rows, kind, lp, named):
    with pytest.raises(DataError, match=named):
        scored(wave(rows), replace(TEST, lp=lp), kind)
    with pytest.raises(UnknownName):
        scored(wave(ROWS), replace(TEST, lp="en-de"))


def rated(i, add=0):
    """An item of Pearmut, and its annotation."""
    texts = {"src": TEST.srcs[i], "tgt": {s: TEST.systems[s][i] for s in "AB"}}
    return texts, {s: {"score": 10 * i + j + add} for j, s in enumerate("AB")}


def log(item_i, *segments, user="u", add=0):
    items, annotation = zip(*(rated(i, add) for i in segments), strict=True)
    return {"user_id": user, "item_i": item_i, "item": items, "annotation": annotation}


def paragraph(i):
    texts, scores = rated(i)
    scores = {s: [one | {"annotator": "x"}, {"score": float("nan")}] for s, one in scores.items()}
    own = {"src_text": texts["src"], "tgt_text": texts["tgt"], "scores": scores}
    return {"doc_id": f"en-cs_CZ_#_news_#_vid_{DOCS[i]}_#_{i % 2}"} | own


CELLS = [(one.split(","), f"{one.split(',')[7]}_#_{i % 2}") for i, one in enumerate(ROWS)]
CONTROL = log(2, 0, add=50)
CONTROL["item"][0]["validation"] = {}
RESET = {"user_id": "v", "item_i": 0, "annotation": "__RESET__"}
LOG = [log(0, 0, 1, add=9), log(0, 0, 1, user="v", add=9), RESET, log("welcome_0", 2, add=9)]
LOG += [CONTROL, log(0, 0, 1), log(1, 2, 3)]
HEAD = {"item_type": "TGT", "is_complete_document": False}


def appraised(j, i, **more):
    own = {"source_text": TEST.srcs[i], "target_id": "AB"[j], "score": 10 * i + j}
    return json.dumps(HEAD | own | {"target_text": TEST.systems["AB"[j]][i]} | more)


OTHER = paragraph(0) | {"doc_id": "en-de_DE_#_news_#_d_#_0", "scores": {"A": [{"score": 99}]}}
FOREIGN = {
    "batch.csv": [f"{one},3,77" for one in ROWS],
    "ids.csv": [",".join((*cells[:2], name, *cells[3:])) for cells, name in CELLS],
    "both.csv": [",".join((cells[0], name, *cells[1:], "3", "77")) for cells, name in CELLS],
    "log.jsonl": [*map(json.dumps, LOG)],
    "annotations.json": [json.dumps({"campaign": LOG, "other": []})],
    "appraise.jsonl": [appraised(j, i) for j in (0, 1) for i in range(4)]
    + [
        appraised(0, 0, score=7, item_type="BAD"),
        appraised(0, 0, score=7, is_complete_document=True),
    ],
    "humeval.jsonl": [json.dumps(one) for one in (*map(paragraph, range(4)), OTHER)],
}


@pytest.mark.parametrize("name", FOREIGN)
def test_exports_of_other_layouts_have_the_same_ratings(wave, name):
    np.testing.assert_array_equal(scored(wave(FOREIGN[name], name)), scored(wave(ROWS, "w.csv")))


@pytest.mark.parametrize(
    ("name", "line", "old", "new"),
    [
        ("batch.csv", 2, ",10,", ",120,"),
        ("ids.csv", 2, "d1_#_1", "d1_#_2"),
        ("both.csv", 4, "d2_#_1", "d1"),
        ("log.jsonl", 6, '"tgt"', '"target"'),
        ("appraise.jsonl", 3, '"target_id"', '"target"'),
        ("humeval.jsonl", 2, '"score": 11', '"score": -1'),
        ("annotations.json", 1, '"campaign": [', '"campaign": [0, '),
    ],
)
def test_damaged_exports_are_refused_with_their_line(wave, name, line, old, new):
    rows = [*FOREIGN[name]]
    rows[line - 1] = rows[line - 1].replace(old, new)
    assert rows != FOREIGN[name]
    with pytest.raises(DataError) as error:
        scored(path := wave(rows, name))
    assert (error.value.path, error.value.line) == (path, line)
    assert len(str(error.value)) - len(str(path.parent)) <= 140


def test_the_plane_leaves_out_unrated_systems_and_shows_people(wave):
    rows = [
        row(s, i + 1, 50 + 10 * i + j, DOCS[i])
        for j, s in enumerate(("A", "refA"))
        for i in range(4)
    ]
    esa, length = _external_metric(f"esa:{wave(rows[:-1])}"), lookup.metric("ttr", "cs")
    plane = system_plane(TEST, esa, length, naturalness_level="corpus")
    assert (plane.systems, plane.outside, len(plane)) == (("A", "refA"), {"refA": "human"}, 3)
    np.testing.assert_allclose(plane.scores()[0], [60, 61])
    # a metric that compares with a reference keeps it as one
    assert system_plane(TEST, lookup.metric("chrf", TEST), replace(esa, name="e")).systems == ("A",)
    own = system_plane(TEST, esa, lookup.metric("chrf", TEST), shared=False)
    assert own.scores()[0, 0] == 65
    with pytest.raises(DataError):
        system_plane(TEST, esa, length, "corpus", naturalness_level="corpus")


@pytest.mark.real
@pytest.mark.skipif(not os.environ.get("ANHELPERS_DATA"), reason="ANHELPERS_DATA is not set")
@pytest.mark.verifies("ESA, direct assessment", by="foreign", of="pandas")
def test_esa_of_wmt24_en_cs_is_that_of_pandas():
    test, path = load("wmt24/en-cs"), find_file("esa/wmt24")
    esa = lookup.metric("esa:esa/wmt24", test)
    values = esa.score_systems(test).values
    table = pd.read_csv(path, header=None, dtype=str, keep_default_na=False).drop_duplicates()
    table = table[(table[5] == "ces") & (table[3] == "TGT") & ~table[7].str.contains("#|tutorial")]
    table[6] = table[6].astype(float)
    table[2] = table[2].astype(int) - 1  # the canary is line 0
    means = table.groupby([1, 2])[6].mean()
    mine = {
        (system, i): values[i, j]
        for j, system in enumerate(test.systems)
        for i in np.flatnonzero(~np.isnan(values[:, j]))
    }
    assert mine == pytest.approx(means[means.index.get_level_values(0) != "refA"].to_dict())
    assert len(mine) == 4455
    by_system = means.groupby(level=0).mean()
    plane = system_plane(test, esa, lookup.metric("mattr", test), naturalness_level="corpus")
    assert (len(plane), len(plane.systems), len(set(plane.docs))) == (297, 16, 85)
    np.testing.assert_allclose(plane.scores()[0], by_system[list(plane.systems)])
    # a part of the set, in another order, has its own scores
    rows = np.random.default_rng(3).permutation(len(test))[:400]
    np.testing.assert_array_equal(system_scores(test.subset(rows), esa), values[rows])
    other = replace(test, systems={"GPT-4": test.systems["Aya23"]}, categories={})
    same = [a == b for a, b in zip(test.systems["GPT-4"], test.systems["Aya23"], strict=True)]
    assert not (~np.isnan(esa.score_systems(other).values[:, 0]) & ~np.array(same)).any()
    table = systems_table(plane, np.random.default_rng(0), 200)
    assert (table.accuracy_low < table.accuracy).all()
    assert table.accuracy_high.max() <= 100


def plane_by_text(tmp_path, systems, ref, *, leave_out=()):
    """A plane of scores that are joined by source and translation alone."""
    n = len(ref)
    srcs, docs = tuple(f"Source {i}." for i in range(n)), tuple(f"d{i % 10}" for i in range(n))
    test = TestSet("set", "en-de", srcs, {"refA": ref}, systems, docs)
    rows = {
        f"{src}\t{text}\t{50 + (7 * i + 3 * j) % 40}"
        for j, (name, hyps) in enumerate(systems.items())
        for i, (src, text) in enumerate(zip(test.srcs, hyps, strict=True))
        if (name, i) not in leave_out
    }
    path = tmp_path / "da.tsv"
    path.write_text("src\tmt\tscore\n" + "\n".join(sorted(rows)) + "\n", "utf-8")
    esa = _external_metric(f"da:{path}")
    return system_plane(test, esa, _compression_metric(), naturalness_level="corpus", shared=None)


def test_an_unrated_reference_does_not_decide_which_segments_are_compared(tmp_path):
    ref = tuple(f"Satz Nummer {i} von vielen." for i in range(40))
    systems = {
        "A": tuple(ref[i] if i == 3 else f"Der Satz {i} ist einer." for i in range(40)),
        "B": tuple(f"Ein Satz mit der Zahl {i}." for i in range(40)),
    }
    shared = plane_by_text(tmp_path, systems, ref).shared()
    assert (len(shared), shared.systems) == (40, ("A", "B"))
    means = [np.mean([50 + (7 * i + 3 * j) % 40 for i in range(40)]) for j in (0, 1)]
    np.testing.assert_allclose(shared.scores()[0], means)
