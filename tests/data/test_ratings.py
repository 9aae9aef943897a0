import csv
import gzip
import io
import os
import tarfile
from pathlib import Path

import numpy as np
import pytest

from anhelpers.data.rating_names import category_key
from anhelpers.data.ratings import Segment, pool_ratings, read_ratings
from anhelpers.errors import DataError

TED = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\tcomment"
WMT23 = (
    "system\tdoc\tdocSegId\tglobalSegId\trater\tsource\ttarget\tcategory\tseverity\tmetadata"
    "\t# Documentation: a link"
)
UNBABEL = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\tmisc"
ROW = "A\tnews_x:en-de\t1\t7\trater1\tA cat.\tEin <v>Hund</v>.\tAccuracy/Mistranslation\tMajor\t"


@pytest.fixture
def write(tmp_path):
    def make(*lines: str, name: str = "mqm.tsv") -> Path:
        path = tmp_path / name
        path.write_bytes("".join(line + "\n" for line in lines).encode("utf-8"))
        return path

    return make


def test_ted_of_2021(write):
    ratings = read_ratings(
        write(TED, ROW, 'ref\ttalk.1\t2\t10\trater2\tSay "hi".\t„Hallo"\tno error\tNo_Error\t"'),
        texts=True,
    )
    assert ratings.systems == ("A", "ref")
    assert ratings.segments == (Segment("news_x:en-de", "1", "7"), Segment("talk.1", "2", "10"))
    assert ratings.segment_names == ("7", "10")
    assert (ratings.raters, ratings.severities) == (("rater1", "rater2"), ("No-error", "Major"))
    assert ratings.categories == ("Accuracy/Mistranslation", "No-error")
    assert ratings.targets["A", ratings.segments[0]] == "Ein Hund."
    assert ratings.sources[ratings.segments[1]] == 'Say "hi".'  # quotes are text
    assert (ratings.spans, ratings.notes) == (("Hund", ""), ())
    assert ratings.frame()["line"].tolist() == [2, 3]
    assert list(ratings.frame()) == [
        "file",
        "line",
        "system",
        "segment",
        "doc",
        "rater",
        "category",
        "severity",
    ]


def test_ids_are_text_in_numeric_order_and_may_count_from_0(write):
    rows = [f"A\td\t{i}\trater{i}\ts\tt\tOther\tMinor" for i in (10, 9, 0)]
    ratings = read_ratings(
        write("system\tdoc\tseg_id\trater\tsource\ttarget\tcategory\tseverity", *rows)
    )
    assert (ratings.segment_names, ratings.raters) == (
        ("0", "9", "10"),
        ("rater0", "rater9", "rater10"),
    )
    assert ratings.segment.tolist() == [2, 1, 0]
    assert ratings.notes == ("Segment ids count from 0, and stay as in the file.",)
    assert ratings.sources == {}


def test_ids_that_do_not_tell_segments_apart_are_named_by_document(write):
    rows = [f"A\t{doc}\t1\t0\tr\ts\tt\tOther\tMinor\t" for doc in ("b", "a")]
    ratings = read_ratings(write(TED, *rows))
    assert ratings.segment_names == ("a:1", "b:1")
    assert "/" not in repr(ratings)  # a page is handed out, and no folder of its maker with it


def test_wmt23_drops_attention_checks_and_its_extra_header_cell(write):
    rows = [
        ROW + '{"a": 1}',
        ROW.replace("Accuracy/Mistranslation\tMajor", "Found\tHOTW-test") + "{}",
    ]
    rows.append(ROW.replace("Accuracy/Mistranslation", "Accuracy/Omission (Translation 2)"))
    rows.append(
        ROW.replace("Accuracy/Mistranslation", "accuracy/omission")
        .replace("<v>", "")
        .replace("</v>", "")
    )
    ratings = read_ratings(write(WMT23, *rows))
    assert ratings.categories == ("Accuracy/Mistranslation", "Accuracy/Omission")
    assert ratings.line.tolist() == [2, 4, 5]
    assert ratings.notes == ("1 row left out: attention checks (HOTW-test), which rate no system.",)


def test_wmt24_has_a_canary_lower_case_and_empty_severities(write):
    rows = [
        "A\tcanary\t1\t1\tr\tCANARY\tCANARY\tOther\tneutral\t{}",
        "A\tnews_b\t1\t2\tr\ts\tt\tNo-error\t\t{}",
    ]
    rows += [
        "A\tnews_b\t2\t3\tr\ts\tt\tFluency/Grammar\t\t{}",
        "A\tnews_b\t2\t3\tr\ts\tt\tOther\tcritical\t{}",
    ]
    rows += ["A\tnews_b\t3\t4\t\ts\tt\t\t\t{}"]
    ratings = read_ratings(write(WMT23, *rows))
    assert ratings.severities == ("No-error", "Critical")
    assert ratings.segment_names == ("2", "3")
    canary, metadata, silent = ratings.notes
    assert canary.startswith(
        "1 row left out: WMT24's canary; ids count it, so that segment i is line i"
    )
    assert metadata == "1 row left out: metadata without a rater."
    assert silent == "1 error without a severity: counted as No-error, as WMT24 does."


@pytest.mark.parametrize(
    ("header", "delimiter"), [(UNBABEL, "\t"), (WMT23.rsplit("\t", 1)[0], "\t"), (UNBABEL, ",")]
)
def test_en_es_of_2024_has_csv_quoting_and_json(write, header, delimiter):
    out = io.StringIO()
    rows = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    rows.writerow(header.split("\t"))
    for target, category in (
        ('a "b"\tc', "do_not_translate"),
        ("x\ny", "mistranslation"),
        ("ü", "Do not translate"),
    ):
        rows.writerow(
            ["A", "doc", "0", "0", "r", "s", target, category, "minor", '{"mqm": 90.5, "t": "\t"}']
        )
    name = "mqm.csv" if delimiter == "," else "mqm.tsv"
    ratings = read_ratings(
        write(*out.getvalue().removesuffix("\n").split("\n"), name=name), texts=True
    )
    assert ratings.categories == ("Do not translate", "mistranslation")
    assert ratings.line.tolist() == [2, 3, 5]  # a quoted line end is text
    assert list(ratings.targets.values()) == ['a "b"\tc']
    assert ratings.notes[1].startswith(
        "translations whose text differs between rows: 1, such as A, document doc, segment 0"
    )


def test_archives_and_line_ends(write, tmp_path):
    plain = write(TED, ROW, "", name="a.tsv")
    packed, tar = tmp_path / "a.tsv.gz", tmp_path / "a.tar.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes().replace(b"\n", b"\r\n")))
    with tarfile.open(tar, "w:gz") as archive:
        archive.add(plain, "a.tsv")
    for path in (plain, packed, tar):
        ratings = read_ratings(path)
        assert (len(ratings), ratings.severities, ratings.line.tolist()) == (1, ("Major",), [2])
    with tarfile.open(tar, "w:gz") as archive:
        archive.add(plain, "a.tsv")
        archive.add(plain, "b.tsv")
    with pytest.raises(
        DataError,
        match=r"a\.tar\.gz: one file is wanted in this archive, it holds 2 \(a\.tsv, b\.tsv\)",
    ):
        read_ratings(tar)


def test_a_mark_that_is_not_closed_is_noted(write):
    ratings = read_ratings(write(TED, ROW.replace("</v>", "")), texts=True)
    assert ratings.notes == ("line 2: <v> is not closed; the mark runs to the end of its text.",)
    assert ratings.spans == ("Hund.",)


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        ([], r"mqm\.tsv, line 1: this file is empty"),
        ([TED], "there is no rating in this file"),
        (["<!DOCTYPE html>", "<html>"], "mqm.tsv: this is a web page"),
        (
            ["a\tb", "1\t2"],
            "line 1: this header has no column system, doc, segment id, rater, category.*: it is 'a b'",
        ),
        (
            [TED.replace("rater", "annotator"), ROW],
            "line 1: this header has no column rater: it is 'system doc doc_id",
        ),
        (
            [TED, ROW, ROW[:40]],
            r"line 3: \d fields, and the header has 10 columns. Is the end of the file missing\?",
        ),
        ([TED, ROW + "\textra"], "line 2: 11 fields, and the header has 10 columns"),
        ([TED, ROW, ROW + "{}\textra"], "line 3: 11 fields"),
        (
            [TED, ROW, ROW.replace("Major", "Majr")],
            "line 3: unknown severity 'Majr'; did you mean 'Major'.*known: No-e",
        ),
        (
            [TED, ROW.replace("Ein <v>", "<v>Ein <v>")],
            "line 2: a <v> within another in '<v>Ein <v>Hund</v>.'",
        ),
        ([TED, ROW, ROW.replace("<v>", "")], "line 3: a </v> without its <v> in 'Ein Hund</v>.'"),
        ([TED, ROW.replace("A cat", "A </v>cat<v>")], "line 2: a </v> without its <v>"),
        (
            [TED, ROW.replace("news_x:en-de", " ")],
            "line 2: the system, the doc or the segment id is empty",
        ),
        ([UNBABEL, ROW + '"{""a'], "line 2: the CSV quoting is broken"),
        ([UNBABEL, ROW + '{}\t"x"'], "line 2: 11 fields"),
    ],
)
def test_what_is_wrong_is_told_in_one_sentence(write, lines, sentence):
    with pytest.raises(DataError, match=sentence) as caught:
        read_ratings(write(*lines), texts=True)
    assert str(caught.value).count("mqm.tsv") == 1


@pytest.mark.parametrize("at", [b"Hund", b"cat", b"rater1", b"Accuracy", b"news_x"])
@pytest.mark.parametrize("header", [TED, UNBABEL])
def test_bytes_that_are_not_utf8_are_told(write, at, header):
    path = write(header, ROW.replace("Hund", "Katze").replace("cat", "Cat"), ROW)
    head, found, tail = path.read_bytes().rpartition(at)
    path.write_bytes(head + b"\xfc" + found + tail)
    with pytest.raises(DataError, match=r"line 3: byte 0xfc is not UTF-8"):
        read_ratings(path, texts=True)


def test_texts_that_nobody_asked_for_are_not_looked_at(write):
    path = write(TED, ROW.replace("Ein <v>", "<v>Ein <v>"))
    path.write_bytes(path.read_bytes().replace(b"Hund", b"H\xfcnd"))
    assert len(read_ratings(path)) == 1


@pytest.mark.parametrize("suffix", [".tsv.gz", ".tar.gz"])
def test_a_truncated_archive_is_told(tmp_path, suffix):
    rng = np.random.default_rng(0)  # random comments do not compress away
    text = "\n".join([TED, *(ROW + rng.bytes(400).hex() for _ in range(2000)), ""]).encode()
    packed, path = io.BytesIO(), tmp_path / f"mqm{suffix}"
    if suffix == ".tsv.gz":
        packed.write(gzip.compress(text))
    else:
        with tarfile.open(fileobj=packed, mode="w:gz") as archive:
            member = tarfile.TarInfo("mqm.tsv")
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text))
    path.write_bytes(packed.getvalue()[: len(packed.getvalue()) // 2])
    with pytest.raises(DataError, match=r"cannot be read to its end \(.+\); download it again"):
        read_ratings(path)


def test_files_are_told_that_are_not_there(tmp_path):
    with pytest.raises(DataError, match=r"no\.tsv: no such file"):
        read_ratings(tmp_path / "no.tsv")
    with pytest.raises(DataError, match="this is a folder"):
        read_ratings(tmp_path)


def test_files_are_pooled_unless_a_rating_is_in_two(write):
    a = read_ratings(write(TED, ROW, name="a.tsv"), texts=True)
    b = read_ratings(
        write(TED, ROW.replace("rater1", "rater0").replace("Accuracy", "accuracy"), name="b.tsv"),
        texts=True,
    )
    c = read_ratings(
        write(TED, ROW.replace("1\t7", "1\t3").replace("A\t", "B\t", 1), name="c.tsv"), texts=True
    )
    pooled = pool_ratings([a, b, c])
    assert (pooled.systems, pooled.raters, pooled.segment_names) == (
        ("A", "B"),
        ("rater0", "rater1"),
        ("3", "7"),
    )
    assert pooled.categories == ("Accuracy/Mistranslation",)
    assert pooled.frame()["system"].tolist() == ["A", "A", "B"]
    assert [Path(name).name for name in pooled.frame()["file"]] == ["a.tsv", "b.tsv", "c.tsv"]
    assert (len(pooled.targets), pooled.spans) == (2, ("Hund",) * 3)
    again = pool_ratings([pool_ratings([a, b]), c])
    assert again.frame().equals(pooled.frame())
    with pytest.raises(
        DataError,
        match=r"b\.tsv, line 2: rater0's rating of A, document news_x:en-de, segment 7 is in .*b\.tsv, line 2",
    ):
        pool_ratings([a, b, read_ratings(Path(b.paths[0]))])


def test_one_file_or_none_is_pooled(write):
    one = read_ratings(
        write(TED, ROW, ROW.replace("rater1", "").replace("\tMajor", "\tHOTW-test")), texts=True
    )
    assert len(one.notes) == 1
    pooled = pool_ratings([one])
    assert pooled.frame().equals(one.frame())
    assert pooled.notes == (f"{one.paths[0]}: {one.notes[0]}",)
    with pytest.raises(DataError, match="there are no ratings to put together"):
        pool_ratings([])


def test_of_two_texts_of_a_translation_the_first_is_kept_and_told(write):
    other = ROW.replace("rater1", "rater2").replace("A cat.", "The cat.")
    files = [
        read_ratings(write(TED, row, name=f"{i}.tsv"), texts=True)
        for i, row in enumerate((ROW, other))
    ]
    pooled = pool_ratings(files)
    assert list(pooled.sources.values()) == ["A cat."]
    where = "1, such as A, document news_x:en-de, segment 1; the first is kept."
    assert pooled.notes == (f"translations whose text differs between files: {where}",)
    rows = read_ratings(write(TED, ROW, other.replace("A\t", "B\t", 1)), texts=True)
    # B's source differs, and its target is there
    assert {system for system, _ in rows.targets} == {"A", "B"}
    assert len(rows.notes) == 1


def test_names_that_tie_have_one_order(write):
    raters = [f"rater{'0' * i}1" for i in range(6)]
    rows = [ROW.replace("rater1", rater) for rater in raters]
    assert read_ratings(write(TED, *rows)).raters == tuple(sorted(raters))


def test_a_text_in_the_last_column_has_no_line_end(write):
    header = "system\tdoc\tseg_id\trater\tcategory\tseverity\tsource\ttarget"
    row = "A\td\t1\tr\tOther\tMinor\tA cat.\tEin <v>Hund"
    for end in ("", "\r"):
        ratings = read_ratings(write(header + end, row + end), texts=True)
        assert list(ratings.targets.values()) == ["Ein Hund"]
        assert ratings.spans == ("Hund",)


def test_spellings_of_a_category():
    same = [
        "Accuracy/Omission",
        "accuracy/omission (Translation 2)",
        "ACCURACY/Omission (Translation)",
    ]
    assert len({category_key(name) for name in same}) == 1
    assert category_key("Locale convention/Date-time format") == category_key(
        "locale_convention/date time_format"
    )
    assert category_key("Fluency/Grammar") != category_key("Grammar")


@pytest.mark.real
@pytest.mark.skipif(
    "ANHELPERS_DATA" not in os.environ, reason="set ANHELPERS_DATA to the shared data sets"
)
def test_the_real_files():
    folder = Path(os.environ["ANHELPERS_DATA"]) / "mqm"
    ted = read_ratings(folder / "mqm_ted_ende.tsv", texts=True)
    assert (len(ted), len(ted.systems), len(ted.segments), len(ted.raters)) == (8435, 14, 529, 4)
    assert ted.notes == ("line 6444: <v> is not closed; the mark runs to the end of its text.",)
    wmt = read_ratings(
        folder / "sxs_mqm_generalMT2023_ende.3ratingsPerSegment.tsv.tar.gz", texts=True
    )
    assert (len(wmt), len(wmt.systems), len(wmt.segments), len(wmt.raters)) == (10_725, 10, 104, 10)
    assert wmt.notes[0] == "245 rows left out: attention checks (HOTW-test), which rate no system."
    assert len(wmt.targets) == 1040
