"""Scores from elsewhere: tables, folders of WMT25 and mt-metrics-eval, and organisers' scores of systems."""

import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from anhelpers.accuracy.external import _external_metric
from anhelpers.data import TestSet, load, read_system_scores, write_mme, write_mme_scores
from anhelpers.data.external import Family, _find_segments, read_scores, read_wmt25_scores
from anhelpers.data.wmt import _language_pairs, _read_wmt
from anhelpers.errors import DataError, UnknownName
from anhelpers.plane import metric_axis, system_plane
from anhelpers.scoring import lookup, segment_rows, system_scores

TEST = TestSet(
    "set",
    "en-de",
    srcs=("One.", "One.", "Two."),
    refs={"refA": ("Eins.", "Eins.", "Zwei.")},
    systems={"A": ("Ein.", "Einer.", "Zwo."), "B": ("1", "2", "3")},
    docs=("d1", "d1", "d2"),
)
REAL = os.environ.get("ANHELPERS_DATA", "")
real = pytest.mark.skipif(not REAL, reason="ANHELPERS_DATA is not set")


@pytest.fixture
def folder(tmp_path):
    """A folder of mt-metrics-eval with a human score, a score of MetricX and one of an unknown metric."""
    place = write_mme(TEST, tmp_path / "mme")
    both = {"systems": ["A", "B"]}
    write_mme_scores(place, "en-de", "mqm", [[-1, -2], [np.nan, -4], [0, -25]], **both)
    write_mme_scores(place, "en-de", "MetricX-24", -np.arange(6).reshape(3, 2), ref="src", **both)
    write_mme_scores(place, "en-de", "mine", [[1, 5], [2, 6], [3, 7]], ref="refA", **both)
    return place


@pytest.fixture
def table(tmp_path):
    """Writes lines to a file; returns its path."""

    def write(*lines):
        name = "scores.csv" if lines and {*",;"} & {*lines[0]} else "scores.tsv"
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return tmp_path / name

    return write


def stored(place, metric, test=TEST):
    return _external_metric(f"stored:{place}#{metric}").score_systems(test).values


@pytest.mark.verifies("Stored scores of segments", by="hand")
def test_human_scores_of_mt_metrics_eval_are_an_axis(folder):
    test = load(folder, "en-de")
    metric = _external_metric(f"stored:{folder}#mqm")
    wanted = ("MQM points", False, (0, np.inf))
    assert (metric.unit, metric.higher_is_better, metric.bounds) == wanted
    found = metric.score_systems(test)
    np.testing.assert_array_equal(found.values, [[1, 2], [np.nan, 4], [0, 25]])
    assert "5 of 6" in found.notes[0]
    np.testing.assert_array_equal(metric_axis(test, metric).values[:, 1], [-2, -4, -25])
    plane = system_plane(test, metric, lookup.metric("chrf", test))
    assert len(plane) == 2
    np.testing.assert_allclose(plane.scores()[0], [-0.5, -13.5])


def test_scores_have_the_direction_of_their_metric(folder):
    test = load(folder, "en-de")
    metricx = _external_metric(f"stored:{folder}#MetricX-24-src")
    assert not metricx.higher_is_better
    np.testing.assert_array_equal(system_scores(test, metricx), np.arange(6).reshape(3, 2))
    mine = _external_metric(f"stored:{folder}#mine-refA")
    assert (mine.unit, mine.higher_is_better) == ("as stored", True)
    np.testing.assert_array_equal(system_scores(test, mine)[:, 0], [1, 2, 3])
    with pytest.raises(UnknownName, match="mine-refA"):
        stored(folder, "mine-refB", test)
    assert Family.of("wmt22-cometkiwi-da").higher_is_better


@pytest.mark.verifies("Stored scores of segments", by="property")
def test_scores_stay_with_their_texts(folder):
    test = load(folder, "en-de")
    np.testing.assert_array_equal(
        stored(folder, "mine-refA", test.subset([2, 0])), [[3, 7], [1, 5]]
    )
    other = replace(test, systems={"A": test.systems["A"], "B": ("1", "x", "3")})
    found = stored(folder, "mine-refA", other)
    np.testing.assert_array_equal(found, [[1, 5], [2, np.nan], [3, 7]])
    with pytest.raises(DataError):
        stored(folder, "mine-refA", replace(test, systems={"C": ("a", "b", "c")}, categories={}))


@pytest.mark.verifies(
    "Stored scores of segments", by="foreign", of="sacreBLEU, stored and read back"
)
def test_what_the_command_score_writes_is_read_back(tmp_path):
    metrics = [lookup.metric("chrf", TEST), lookup.metric("ter", TEST)]
    path = tmp_path / "scores.csv"
    segment_rows(TEST, metrics).to_csv(path, index=False)
    for metric in metrics:
        again = _external_metric(f"stored:{path}#{metric.name}")
        assert (again.higher_is_better, again.unit) == (metric.higher_is_better, metric.unit)
        np.testing.assert_allclose(system_scores(TEST, again), system_scores(TEST, metric))


def test_texts_decide_with_the_source_the_system_and_the_document():
    twice = replace(TEST, systems={"A": ("x", "x", "y"), "B": ("x", "z", "y")}, categories={})

    def places(**columns):
        frame = pd.DataFrame(columns).assign(value=1.0)
        found = _find_segments(twice, frame)
        return sorted(
            (s, i) for s, i in zip(found.system, found.segment, strict=True) if s != "refA"
        )

    assert places(text=["y"]) == [("A", 2), ("B", 2)]
    assert places(text=[" y "], system=["B"]) == [("B", 2)]
    assert places(text=["x"], src=["One."], system=["A"]) == [("A", 0), ("A", 1)]
    assert places(text=["x"], src=["Two."]) == []
    assert places(text=["x", "y"], doc=["d1", "d1"]) == [("A", 0), ("A", 1), ("B", 0)]


def test_a_table_of_texts_or_numbers_with_raters(table):
    head = "system\tsegment\tscore"
    np.testing.assert_array_equal(
        stored(table(head, "A\t0\t3", "A\t1\tNone"), "MetricX")[:2, 0], [3, np.nan]
    )
    rated = table(f"{head}\trater", "A\t0\t0.7\tr1", "A\t0\t0.9\tr2")
    assert stored(rated, "COMET")[0, 0] == pytest.approx(0.8)
    pairs = table("lp,src,mt,score,raw", "en-de,Two.,Zwo.,0.3,70", "en-cs,Two.,Dva.,0.1,9")
    assert stored(pairs, "esa")[2, 0] == 70
    assert len(read_scores(pairs, TEST)) == 1


@pytest.mark.parametrize(
    "lines",
    [
        ["system;segment;score", "A;0;1,5", "A;1;2", "A;2;4"],
        ["system;segment;score", "A;0;1.5", "A;1;2.0", "A;2;4"],
        [",system,segment,score", "7,A,0,1.5", "3,A,1,2", "4,A,2,4"],
        ["system\tsegment\tscore", "A\t3\t4", "A\t1\t1.5", "A\t2\t2"],
    ],
)
def test_tables_of_other_programs_are_read(table, lines, capsys):
    np.testing.assert_array_equal(stored(table(*lines), "chrF")[:, 0], [1.5, 2, 4])
    assert ("segments count from 1" in capsys.readouterr().err) == ("3\t4" in lines[1])


@pytest.mark.parametrize(
    ("segments", "values"), [((1, 2, 3), (5, 7, np.nan)), ((0, 1, 2), (5, 7, np.nan)),
                             ((2, 3), (np.nan, 5, 7)), ((1, 2), None), ((2,), None)]
)  # fmt: skip
def test_segments_count_from_0_or_1_if_that_is_certain(table, segments, values):
    rows = [f"A,{k},{value}" for k, value in zip(segments, ("5", "7", ""), strict=False)]
    path = table("system,segment,score", *rows)
    if values:
        np.testing.assert_array_equal(stored(path, "chrF")[:, 0], values)
    else:
        with pytest.raises(DataError, match="line 2: segment: got"):
            stored(path, "chrF")


def test_scores_from_0_to_6_are_those_of_psqm(table):
    rows = [f"A\td\t{i}\tr{r}\t{s}\t{t}\t{i + 2}" for r in range(4)
            for i, (s, t) in enumerate(zip(TEST.srcs, TEST.systems["A"], strict=True))]  # fmt: skip
    path = table("system\tdoc_id\tseg_id\trater\tsource\ttarget\tscore", *rows)
    for name in (f"da:{path}", f"stored:{path}#psqm"):
        metric = _external_metric(name)
        assert (metric.unit, metric.bounds) == ("points, 0 to 6", (0, 6))
        assert metric.score_systems(TEST).values[:, 0].tolist() == [2, 3, 4]


@pytest.mark.parametrize("kind", ["esa", "da"])
def test_one_negative_cell_is_refused_and_no_unit(table, kind):
    """-5 and 51 by two raters are not 23 points; 1.5 and -0.5 are standard deviations."""
    rows = [f"A,{i},r{r},{50 + i + r}" for i in range(3) for r in range(2)]
    metric = _external_metric(f"{kind}:{table('system,segment,rater,score', *rows, 'A,0,r9,-5')}")
    with pytest.raises(DataError, match="line 8: score: expected points, 0 to 100, got -5"):
        metric.score_systems(TEST)
    z = _external_metric(f"{kind}:{table('system,segment,score', 'A,0,1.5', 'A,1,-0.5')}")
    assert z.unit == "standard deviations of a rater"


@pytest.mark.parametrize(
    ("lines", "metric", "error", "named"),
    [
        (["system\tscore", "A\t1"], "chrF", DataError, "line 1"),
        (["system\tsegment\tscore", "A\t0\t1", "A\t3\t1"], "chrF", DataError, "line 3"),
        (["system\tsegment\tscore", "A\t0\t1", "A\t0\t1"], "chrF", DataError, "line 3"),
        (["system\tsegment\tscore\tdoc", "A\t1\t1\td2"], "chrF", DataError, "line 2"),
        (["system\tsegment\tscore", "C\t0\t1"], "chrF", DataError, "scores.tsv"),
        (["system\tsegment\tscore", "A\t0\t-3", "A\t1\t4"], "MetricX-23", DataError, "MetricX"),
        (["system\tsegment\tscore", "A\t0\t1"], "mine", DataError, "mine"),
        (["system\tsegment\tscore\tmetric", "A\t0\t1\tbleu"], "chrF", UnknownName, "bleu"),
        (["system,segment,score", "A,0,-2", "A,2,3"], "log_prob", DataError, "line 3: .* got 3.0"),
        (["system,segment,value,metric"], "chrF", DataError, "got no rows"),
        (
            [
                "system,segment,value,unit",
                "A,0,1,x (lower is better)",
                "A,1,1,x (higher is better)",
            ],
            "x",
            DataError,
            "got units x",
        ),
    ],
)
def test_bad_tables_are_refused(table, lines, metric, error, named):
    with pytest.raises(error, match=named):
        stored(table(*lines), metric)


@pytest.mark.parametrize("asked", ["x", "x (lower is better)"])
@pytest.mark.parametrize(
    "lines",
    [
        ("system,segment,x (lower is better)", "A,0,2"),
        ("system,segment,metric,value", "A,0,x (lower is better),2"),
        ("system,segment,value,unit", "A,0,2,points (lower is better)"),
        ("system,segment,x", "A,0,2"),
        ("system,segment,value", "A,0,2"),
    ],
)
def test_the_name_of_a_metric_may_have_its_direction(table, asked, lines):
    path = table(*lines)
    if asked == "x" and "lower" not in "".join(lines):
        with pytest.raises(DataError, match=r"no direction. Ask for '#x \(lower is better\)'"):
            stored(path, asked)
        return
    metric = _external_metric(f"stored:{path}#{asked}")
    assert (metric.higher_is_better, metric.label) == (False, "x, stored")
    assert stored(path, asked)[0, 0] == 2


def test_a_folder_of_something_else_is_refused(tmp_path):
    with pytest.raises(DataError):
        stored(tmp_path, "chrF")


# -- scores of systems -------------------------------------------------------------------------------------------------

WIDE = (
    "lp\tsystem\ttype\tmetricx\tcometkiwi",
    "en-de\tX\topen\t1.5\t.7",
    "en-fr\tX\topen\t9\t.1",
    "en-de\tY-2 $\\dagger$\topen\t3\t.5",
)
TALL = (
    "pair\tsystem\tid\tmetric\tscore",
    "en-de\tX\t1\tbleu-refA\t30.25",
    "en-de\tX\t1\tCOMET-refA\t-.5",
)


def test_both_layouts_of_system_scores(table):
    found = read_system_scores(table(*WIDE), "en-de")
    metricx, kiwi = ("MQM points, 0 to 25", False), ("about 0 to 1", True)
    assert found.values.tolist() == [
        ["X", "MetricX-23-XL", 1.5, *metricx, "scores.tsv: metricx"],
        ["X", "CometKiwi-XL", 0.7, *kiwi, "scores.tsv: cometkiwi"],
        ["Y-2", "MetricX-23-XL", 3.0, *metricx, "scores.tsv: metricx"],
        ["Y-2", "CometKiwi-XL", 0.5, *kiwi, "scores.tsv: cometkiwi"],
    ]
    found = read_system_scores(table(*TALL), "en-de")
    assert found.values.tolist() == [
        ["X", "bleu-refA", 30.25, "points, 0 to 100", True, "scores.tsv: bleu-refA"],
        ["X", "COMET-refA", -0.5, "no fixed bounds", True, "scores.tsv: COMET-refA"],
    ]


@pytest.mark.parametrize(
    ("lines", "error", "named"),
    [
        (["lp\tsystem\tbleu"], DataError, "line 1"),
        ([*TALL, "en-de\tX\t1\tbleu-refA\t30.25"], DataError, "line 4"),
        ([*TALL, "en-de\tX\t1\twer-refA\t30"], DataError, "line 4"),
        ([*WIDE, "en-de\tY-2\topen\t3\t.5"], DataError, "line 5"),
        ([WIDE[0], WIDE[2]], UnknownName, "en-fr"),
    ],
)
def test_bad_tables_of_systems_are_refused(table, lines, error, named):
    with pytest.raises(error, match=named):
        read_system_scores(table(*lines), "en-de")


# -- WMT25 -------------------------------------------------------------------------------------------------------------

OUTPUTS = {
    "B": {"news_#_n1": "Eins.\n\nZwei.", "speech_#_vid_s": "Drei.\nUnd so."},
    "A": {"speech_#_vid_s": "III", "news_#_n1": "I\n\nII"},
}
SCORES = {
    "A": {"news_#_n1": [0.1, 0.2], "speech_#_s": [0.3]},
    "B": {"speech_#_s": [0.6], "news_#_n1": [0.4, None]},
}


def score_row(doc, values):
    domain, name = doc.split("_#_")
    of = {"language_pair": "cs-de_DE", "domain": domain, "document_id": name}
    return of | {"metric_scores": {"XCOMET-XL": values}}


@pytest.fixture
def tree(tmp_path):
    """Writes outputs {system: {doc: text}} and scores {system: {doc: numbers}}; returns the folder."""

    def write(outputs=OUTPUTS, scores=SCORES):
        rows = {
            "systems": {
                s: [{"doc_id": f"cs-de_DE_#_{d}", "hypothesis": t} for d, t in docs.items()]
                for s, docs in outputs.items()
            },
            "automatic_scores": {
                s: [score_row(*one) for one in docs.items()] for s, docs in scores.items()
            },
        }
        for folder, of in rows.items():
            (tmp_path / folder).mkdir(exist_ok=True)
            for system, lines in of.items():
                text = "".join(json.dumps(line) + "\n" for line in lines)
                (tmp_path / folder / f"{system}.jsonl").write_text(text, encoding="utf-8")
        return tmp_path

    return write


def test_paragraphs_are_segments_in_any_order_of_documents(tree):
    folder = tree()
    assert _language_pairs(folder) == {"cs-de": 2025}
    test = _read_wmt(folder, "cs-de")
    assert test.systems == {"A": ("I", "II", "III"), "B": ("Eins.", "Zwei.", "Drei.\nUnd so.")}
    assert test.docs == ("cs-de_DE_#_news_#_n1",) * 2 + ("cs-de_DE_#_speech_#_s",)
    assert test.domains == ("news", "news", "speech")
    assert (test.srcs, dict(test.refs)) == (("", "", ""), {})
    assert load(folder).name == f"{folder.name}/cs-de"
    wanted = [[0.1, 0.4], [0.2, np.nan], [0.3, 0.6]]
    np.testing.assert_array_equal(stored(folder, "XCOMET-XL", test), wanted)
    with pytest.raises(UnknownName, match="XCOMET-XL"):
        read_wmt25_scores(folder, test, "XCOMET")


@pytest.mark.parametrize(
    ("outputs", "scores"),
    [
        (OUTPUTS | {"B": {"news_#_n1": "Eins.", "speech_#_s": "x"}}, SCORES),
        (OUTPUTS | {"B": {"news_#_n1": "Eins.\n\nZwei."}}, SCORES),
        (OUTPUTS | {"B": {"news_#_n1": 3}}, SCORES),
        (OUTPUTS, SCORES | {"A": {"news_#_n1": [0.1]}}),
        (OUTPUTS, SCORES | {"A": {"news_#_n1": [0.1, -np.inf], "speech_#_s": [0.3]}}),
        (OUTPUTS, SCORES | {"A": {"news_#_other": [0.1]}}),
    ],
)
def test_documents_and_paragraphs_must_be_the_same(tree, outputs, scores):
    folder = tree(outputs, scores)
    with pytest.raises(DataError):
        stored(folder, "XCOMET-XL", _read_wmt(folder, "cs-de"))


@real
@pytest.mark.real
def test_the_stored_scores_of_wmt25_by_hand():
    test = load("wmt25/cs-de")
    assert (len(test), len(test.systems), len(set(test.docs))) == (457, 5, 256)
    folder, tables = Path(REAL, "wmt25", "data", "automatic_scores"), {}
    for system in test.systems:
        rows = pd.read_json(folder / f"{system}.jsonl", lines=True)
        tables[system] = rows.query("language_pair == 'cs-de_DE'")
    signs = {"XCOMET-XL": 1, "MetricX-24-Hybrid-XL": -1, "GEMBA-ESA-GPT4.1": 1}
    for metric, sign in signs.items():
        ours = lookup.metric(f"stored:wmt25/cs-de#{metric}", test)
        assert ours.higher_is_better == (sign == 1)
        scores = system_scores(test, ours)
        for j, rows in enumerate(tables.values()):
            numbers = np.concatenate([of[metric] for of in rows.metric_scores])
            assert len(numbers) == 457
            assert scores[:, j].mean() == pytest.approx(sign * numbers.mean(), abs=1e-12)
            one = rows.iloc[17]  # a document's numbers in their places
            doc = f"cs-de_DE_#_{one.domain}_#_{one.document_id}"
            at = [i for i, name in enumerate(test.docs) if name == doc]
            np.testing.assert_allclose(sign * scores[at, j], one.metric_scores[metric])
