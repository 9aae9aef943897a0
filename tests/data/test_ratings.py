"""Files of MQM ratings: every dialect of WMT 2020 to 2024 and TED, damaged files, several files, the join to texts."""

import csv
import gzip
import io
import os
import re
import tarfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anhelpers import cli, metric
from anhelpers.data import TestSet
from anhelpers.data.ratings import _Segment, join_ratings, rated_texts, read_ratings
from anhelpers.data.sets import SETS
from anhelpers.errors import AnhelpersWarning, DataError, UnknownName

SHARED = os.environ.get("ANHELPERS_DATA")
PLAIN = "system\tdoc\tseg_id\trater\tsource\ttarget\tcategory\tseverity"
TED = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\tcomment"
WMT23 = (
    "system\tdoc\tdocSegId\tglobalSegId\trater\tsource\ttarget\tcategory\tseverity\tmetadata"
    "\t# Documentation: a link"
)
UNBABEL = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\tmisc"
ROW = "A\tnews_x:en-de\t1\t7\trater1\tA cat.\tEin <v>Hund</v>.\tAccuracy/Mistranslation\tMajor\t"


@pytest.fixture
def write(tmp_path):
    def make(*lines: str, name: str = "mqm.tsv", end: str = "\n") -> Path:
        path = tmp_path / name
        path.write_bytes("".join(line + end for line in lines).encode("utf-8"))
        return path

    return make


def test_ted_of_2021(write):
    rows = ROW, 'ref\ttalk.1\t2\t10\trater2\tSay "hi".\t„Hallo"\tno error\tNo_Error\t"'
    ratings = read_ratings(write(TED, *rows), texts=True)
    assert ratings.systems == ("A", "ref")
    assert ratings.segments == (_Segment("news_x:en-de", "1", "7"), _Segment("talk.1", "2", "10"))
    assert ratings.segment_names == ("7", "10")
    assert (ratings.raters, ratings.severities) == (("rater1", "rater2"), ("No-error", "Major"))
    assert ratings.categories == ("Accuracy/Mistranslation", "No-error")
    assert ratings.targets["A", ratings.segments[0]] == "Ein Hund."
    assert ratings.sources[ratings.segments[1]] == 'Say "hi".'  # quotes are text
    assert ratings.spans == ("Hund", "")
    frame = ratings.frame()
    assert " ".join(frame) == "file line system segment doc rater category severity"
    assert frame.line.tolist() == [2, 3]


def test_ids_are_text_in_numeric_order_and_may_start_at_0(write):
    rows = [f"A\td\t{i}\trater{i}\ts\tt\tOther\tMinor" for i in (10, 9, 0)]
    ratings = read_ratings(write(PLAIN, *rows))
    assert ratings.segment_names == ("0", "9", "10")
    assert ratings.raters == ("rater0", "rater9", "rater10")
    assert ratings.segment.tolist() == [2, 1, 0]
    assert ratings.sources == {}


def test_wmt23_has_attention_checks_and_an_extra_header_cell(write, capsys):
    rows = [
        ROW + '{"a": 1}',
        ROW.replace("Accuracy/Mistranslation\tMajor", "Found\tHOTW-test") + "{}",
        ROW.replace("Accuracy/Mistranslation", "Accuracy/Omission (Translation 2)"),
        ROW.replace("Accuracy/Mistranslation", "accuracy/omission"),
    ]
    ratings = read_ratings(write(WMT23, *rows))
    assert ratings.categories == ("Accuracy/Mistranslation", "Accuracy/Omission")
    assert ratings.line.tolist() == [2, 4, 5]
    assert "left out 1 attention checks" in capsys.readouterr().err


def test_wmt24_has_a_canary_lower_case_and_empty_severities(write, capsys):
    rows = [
        "A\tcanary\t1\t1\tr\tCANARY\tCANARY\tOther\tneutral\t{}",
        "A\tnews_b\t1\t2\tr\ts\tt\tNo-error\t\t{}",
        "A\tnews_b\t2\t3\tr\ts\tt\tFluency/Grammar\t\t{}",
        "A\tnews_b\t2\t3\tr\ts\tt\tOther\tcritical\t{}",
        "A\tnews_b\t3\t4\t\ts\tt\t\t\t{}",
    ]
    ratings = read_ratings(write(WMT23, *rows))
    assert ratings.severities == ("No-error", "Critical")
    assert ratings.segment_names == ("2", "3")
    assert ratings.frame().category.tolist() == ["No-error", "Fluency/Grammar", "Other"]
    said = capsys.readouterr().err
    assert "1 rows of WMT24's canary, 1 rows of metadata" in said
    assert "1 errors without a severity" in said


@pytest.mark.parametrize(
    ("header", "delimiter"),
    [(UNBABEL, "\t"), (WMT23.rsplit("\t", 1)[0], "\t"), (UNBABEL, ","), (UNBABEL, ";")],
)
def test_en_es_of_2024_has_csv_quoting_and_json(write, header, delimiter, capsys):
    out = io.StringIO()
    rows = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    rows.writerow(header.split("\t"))
    misc = '{"mqm": 90.5, "t": "\t"}'
    for target, category in (
        ('a "b"\tc', "do_not_translate"), ("x\ny", "mistranslation"), ("ü", "Do not translate")
    ):  # fmt: skip
        rows.writerow(["A", "doc", "0", "0", "r", "s", target, category, "minor", misc])
    ratings = read_ratings(write(out.getvalue(), end="", name="mqm.csv"), texts=True)
    assert ratings.categories == ("Do not translate", "mistranslation")
    assert ratings.line.tolist() == [2, 3, 5]  # a quoted line end is text
    assert list(ratings.targets.values()) == [
        'a "b"\tc'
    ]  # of equally frequent ones, by the alphabet
    assert "1 rated translations have several texts" in capsys.readouterr().err


def test_archives_and_line_ends(write, tmp_path):
    plain = write(TED, ROW, "", name="a.tsv")
    packed, tar = tmp_path / "a.tsv.gz", tmp_path / "a.tar.gz"
    packed.write_bytes(gzip.compress(b"\xef\xbb\xbf" + plain.read_bytes().replace(b"\n", b"\r\n")))
    with tarfile.open(tar, "w:gz") as archive:
        archive.add(plain, "a.tsv")
    for path in (plain, packed, tar):
        ratings = read_ratings(path)
        assert (len(ratings), ratings.severities, ratings.line.tolist()) == (1, ("Major",), [2])
    with tarfile.open(tar, "w:gz") as archive:
        archive.add(plain, "a.tsv")
        archive.add(plain, "b.tsv")
    for path in (tar, tmp_path / "no.tsv", tmp_path):
        with pytest.raises(DataError):
            read_ratings(path)
    packed.write_bytes(gzip.compress(plain.read_bytes())[:-9])
    with pytest.raises(DataError):
        read_ratings(packed)


@pytest.mark.parametrize(
    ("lines", "line"),
    [
        ([], 1),
        (["<!DOCTYPE html>", "<html>"], 1),
        ([TED.replace("rater", "annotator"), ROW], 1),
        ([TED.replace("comment", "rater"), ROW], 1),
        ([TED], None),
        ([TED, ROW, ROW[:40]], 3),
        ([TED, ROW, "", ROW.replace("Major", "Majr")], 4),
        ([TED, ROW, TED], 3),
        *[([TED, ROW, re.sub(rf"^((?:[^\t]*\t){{{k}}})[^\t]*", r"\1 ", ROW)], 3) for k in range(5)],
        ([UNBABEL, ROW + '"{""a'], 2),
        ([UNBABEL, ROW + '{}\t"x"'], 2),
    ],
)
def test_a_damaged_file_is_refused_with_its_line(write, lines, line):
    path = write(*lines)
    with pytest.raises(DataError) as refused:
        read_ratings(path)
    assert (refused.value.path, refused.value.line) == (str(path), line)


@pytest.mark.parametrize(
    ("header", "kind"),
    [
        ("system mqm_avg_score seg_id", "averages"),
        (TED[: TED.index("category")] + "score", "scores such as pSQM's"),
        (TED.replace("rater", "score"), "each column once: rater;"),
    ],
)
def test_files_beside_the_ratings_are_named(write, header, kind):
    with pytest.raises(DataError, match=f"line 1: (got|expected) {kind}"):
        read_ratings(write(header, ROW))


@pytest.mark.filterwarnings("default")
def test_duplicate_rows_count_with_one_warning(write, capsys):
    rows = [ROW, ROW.replace("rater1", "rater2"), ROW, ROW]
    with pytest.warns(
        AnhelpersWarning, match=r"2 duplicate rows \(first: line 4 = line 2\)"
    ) as told:
        assert len(read_ratings(write(TED, *rows))) == 4
    assert len(told) == 1
    path = str(write(TED, ROW, ROW))
    cli.main(["mqm", path])
    assert f"warning: {path}: 1 duplicate row (first" in capsys.readouterr().err


def test_several_files_are_read_as_one(write):
    b = write(TED, ROW.replace("rater1", "rater0").replace("Accuracy", "accuracy"), name="b.tsv")
    c = write(TED, ROW.replace("1\t7", "1\t3").replace("A\t", "B\t", 1), name="c.tsv")
    ratings = read_ratings(write(TED, ROW, name="a.tsv"), b, c, texts=True)
    assert (ratings.systems, ratings.raters) == (("A", "B"), ("rater0", "rater1"))
    assert ratings.segment_names == ("3", "7")
    assert ratings.categories == ("Accuracy/Mistranslation",)
    assert ratings.frame()["system"].tolist() == ["A", "A", "B"]
    assert [Path(name).name for name in ratings.frame()["file"]] == ["a.tsv", "b.tsv", "c.tsv"]
    assert (len(ratings.targets), ratings.spans) == (2, ("Hund",) * 3)
    again = write(TED, ROW.replace("A\t", "C\t", 1), ROW.replace("rater1", "rater0"), name="d.tsv")
    with pytest.raises(DataError) as refused:
        read_ratings(b, c, again)
    assert (refused.value.path, refused.value.line) == (str(again), 3)


names = st.text("ab1 -é", min_size=1, max_size=4).filter(str.strip)
cells = st.text(
    st.characters(exclude_characters="\t\n\r\0", exclude_categories=("Cs",)), max_size=8
)


@given(st.lists(st.tuples(names, names, names, names, cells, cells), min_size=1, max_size=6))
@pytest.mark.filterwarnings("ignore::anhelpers.errors.AnhelpersWarning")
def test_what_is_written_is_read(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("mqm") / "mqm.tsv"
    lines = ["\t".join([*row, "Other", "minor"]) for row in rows]
    path.write_text("\n".join([PLAIN, *lines]), encoding="utf-8", newline="")
    ratings = read_ratings(path, texts=True)
    frame = ratings.frame()
    wanted = [tuple(name.strip() for name in (row[0], row[1], row[3])) for row in rows]
    assert [*zip(frame.system, frame.doc, frame.rater, strict=True)] == wanted
    assert ratings.texts == tuple(re.sub("</?v>", "", row[5]) for row in rows)


# ---- the join to a test set (more on real texts in tests/plane/test_ratings.py)


def test_ids_that_restart_in_each_document_match_each_row_once(write):
    rows = [f"A\t{doc}\t1\tr\tThank you.\tDanke.\tNo-error\tNo-error" for doc in ("d1", "d2")]
    ratings = read_ratings(write(PLAIN, *rows), texts=True)
    test = TestSet(
        "x", "en-de", ("Thank you.",) * 2, {"refA": ("Danke.",) * 2}, {"A": ("Danke.",) * 2}
    )
    join = join_ratings(test, ratings)
    assert sorted(join.rows.tolist()) == [0, 1]
    assert join.same.all()


def test_systems_side_by_side_are_the_system_and_others_are_reported(write):
    rows = [
        f"{name}\td\t{i + 2}\tr\ts{i}\tt {i}\tNo-error\tNo-error"
        for name in ("A_with_B", "C")
        for i in range(2)
    ]
    ratings = read_ratings(write(PLAIN, *rows), texts=True)
    test = TestSet("x", "en-de", ("s0", "s1"), {"refA": ("r", "r")}, {"A": ("t  0", "other")})
    join = join_ratings(test, ratings)
    assert join.rows.tolist() == [0, 1]  # ids from 1 with a canary
    assert join.names == {"A_with_B": "A"}
    assert join.same.tolist() == [[True, False], [False, False]]
    assert join.report[-1] == "Rated, but not in x: C."


def test_a_test_set_of_the_ratings_alone(write):
    rows = [f"{name}\td\t{i}\tr\ts{i}\t{name}{i}\tNo-error\tNo-error" for name, i in
            (("ref", 1), ("ref", 2), ("A", 2), ("A", 3))]  # fmt: skip
    ratings = read_ratings(write(PLAIN, *rows), texts=True)
    test = rated_texts(ratings, "en-de", "ref")
    assert (test.srcs, test.docs) == (("s1", "s2"), ("d", "d"))
    assert test.refs == {"ref": ("ref1", "ref2")}
    assert test.systems == {"A": ("", "A2")}
    with pytest.raises(UnknownName):
        rated_texts(ratings, "en-de", "refA")


@pytest.mark.parametrize(
    ("name", "header", "reference", "last"),
    [("mqm/ted-zhen", TED, "refB", ""), ("mqm/wmt23-zhen", WMT23, "refA", '{"a": "b"}')],
)
def test_zh_en_by_name(write, tmp_path, monkeypatch, capsys, name, header, reference, last):
    marks = {"A": "the <v>wether</v>\tFluency/Spelling\tMinor", "ref": "b\tOther\tMajor"}
    marks[reference] = "c\tNo-error\tNo-error"
    units = [(s, i, r) for s in marks for i, r in ((7, "r1"), (7, "r2"), (8, "r1"))]
    rows = [f"{s}\ttalk.1\t{i}\t{i}\t{r}\t天气{i}\t{marks[s]}\t{last}" for s, i, r in units]
    plain, place = write(header, *rows, name="MANIFEST.tsv"), tmp_path / SETS[name].path
    place.parent.mkdir()
    place.write_bytes(plain.read_bytes())
    if place.suffix == ".gz":
        with tarfile.open(place, "w:gz") as archive:
            archive.add(plain, "mqm.tsv")
    monkeypatch.setenv("ANHELPERS_DATA", str(tmp_path))
    assert cli.main(["mqm", name, "--by", "rater"]) == 0
    assert "A,r2,1,1,1.0,0.0,1.0" in capsys.readouterr().out
    test = rated_texts(read_ratings(place, texts=True), "zh-en")
    assert [*test.refs] == [reference]
    assert metric(f"mqm-fluency:{name}", test).score_systems(test).values[:, 0].tolist() == [1, 1]


@pytest.mark.real
def test_the_real_files(capsys):
    ted = read_ratings(Path(SHARED, "mqm/mqm_ted_ende.tsv"), texts=True)
    assert (len(ted), len(ted.systems), len(ted.segments), len(ted.raters)) == (8435, 14, 529, 4)
    assert capsys.readouterr().err == ""
    path = Path(SHARED, "mqm/sxs_mqm_generalMT2023_ende.3ratingsPerSegment.tsv.tar.gz")
    wmt = read_ratings(path, texts=True)
    assert (len(wmt), len(wmt.systems), len(wmt.segments), len(wmt.raters)) == (10_725, 10, 104, 10)
    assert "left out 245 attention checks" in capsys.readouterr().err
    assert len(wmt.targets) == 1040
    assert np.unique(wmt.system).tolist() == list(range(10))
