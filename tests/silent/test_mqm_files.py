"""MQM files that read well and are wrong: rows twice, two language pairs, other segments, another corpus' names."""

import gzip
import lzma
import os
import re
import tarfile
import unicodedata
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import zstandard
from anhelpers.data.stored import read_system_scores

from anhelpers.cli import main
from anhelpers.data import (
    bundled,
    join_ratings,
    pool_ratings,
    rated_texts,
    ratings_file,
    read_candidates,
    read_ratings,
)
from anhelpers.data.mqm_tables import RatingMap, load_map, load_scheme
from anhelpers.errors import DataError
from anhelpers.mqm import score_ratings, system_table
from anhelpers.plane import rated_plane

REAL = pytest.mark.skipif(
    "ANHELPERS_DATA" not in os.environ, reason="set ANHELPERS_DATA to the shared data sets"
)
TEACHING = bundled("teaching/en-de/mqm.tsv")
HEADER = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity"
NUMBERS = [
    "erste",
    "zweite",
    "dritte",
    "vierte",
    "fünfte",
    "sechste",
    "siebte",
    "achte",
    "neunte",
    "zehnte",
]
OTHERS = [
    "elfte",
    "zwölfte",
    "letzte",
    "alte",
    "neue",
    "lange",
    "kurze",
    "gute",
    "schlechte",
    "kleine",
    "große",
]
GERMAN = [f"Das ist der {word} Satz, und er steht in diesem Text." for word in NUMBERS + OTHERS]
FRENCH = [
    f"Voici la phrase {word} que nous avons mise dans notre texte." for word in NUMBERS + OTHERS
]
ENGLISH = [f"This is sentence number {i}, and it stands in this text." for i in range(len(GERMAN))]
CHINESE = [f"这是文本中的第{i}个句子，它在这里很久了。" for i in range(len(GERMAN))]


@pytest.fixture
def write(tmp_path):
    def make(rows, name="mqm.tsv", header=HEADER):
        """A file of rows (system, doc, segment, rater, source, target, category, severity)."""
        lines = [
            header,
            *("\t".join([*map(str, row[:3]), str(row[2]), *map(str, row[3:])]) for row in rows),
        ]
        path = tmp_path / name
        path.write_text("\n".join(lines) + "\n", "utf-8")
        return path

    return make


def sheet(targets, srcs=ENGLISH, system="ref", doc="d", rater="r1", start=1):
    """A row per text: every third one has an error."""
    return [
        (
            system,
            doc,
            i,
            rater,
            src,
            trg,
            *(("Fluency/Grammar", "Minor") if i % 3 else ("No-error", "No-error")),
        )
        for i, (src, trg) in enumerate(zip(srcs, targets, strict=True), start)
    ]


def appended(path, tmp_path, part=slice(None), name="twice.tsv"):
    """A file with some of its rows behind it once more."""
    header, *rows = Path(path).read_text("utf-8").splitlines()
    twice = tmp_path / name
    twice.write_text("\n".join([header, *rows, *rows[part]]) + "\n", "utf-8")
    return twice, len(rows)


# ---- rows that come twice within one file


def test_a_file_appended_to_itself_is_refused_with_its_lines(tmp_path):
    twice, n = appended(TEACHING, tmp_path)
    told = (
        rf"twice\.tsv, line {n + 2}: .* lines {n + 2} to {2 * n + 1} repeat rows "
        rf"from line 2 on \({n} of {2 * n} rows"
    )
    with pytest.raises(DataError, match=told):
        read_ratings(twice)
    once, every = (score_ratings(read_ratings(twice, repeated=way)) for way in ("once", "count"))
    plain = score_ratings(read_ratings(TEACHING))
    assert np.array_equal(once.values, plain.values)
    assert np.allclose(every.values, 2 * plain.values)
    assert "|repeated:once|" in once.signature
    assert "repeated" not in plain.signature + every.signature
    assert f"{n} rows are equal to an earlier one" in once.notes[0] + every.notes[0]


@pytest.mark.parametrize("part", [slice(0, 30), slice(500, 503), slice(-40, None)])
def test_a_block_that_was_pasted_twice_is_refused(tmp_path, part):
    with pytest.raises(DataError, match="a part of this file is there twice"):
        read_ratings(appended(TEACHING, tmp_path, part)[0])


def test_a_doubled_file_is_seen_when_it_is_sorted_packed_or_numbered(tmp_path):
    header, *rows = TEACHING.read_text("utf-8").splitlines()
    numbered = [f"\t{header}", *(f"{i}\t{row}" for i, row in enumerate(rows + rows))]
    contents = {
        "sorted.tsv": "\n".join([header, *sorted(rows + rows)]).encode(),
        "shuffled.tsv": "\n".join(
            [header, *np.random.default_rng(0).permutation(rows + rows)]
        ).encode(),
        "a.tsv.gz": gzip.compress("\n".join([header, *rows, *rows]).encode()),
        "a.tsv.xz": lzma.compress("\n".join([header, *rows, *rows]).encode()),
        "numbered.tsv": "\n".join(numbered).encode(),
        "crlf.tsv": "\n".join([header, *rows]).encode() + b"\n" + "\r\n".join(rows).encode(),
    }
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(DataError, match="a part of this file is there twice"):
            read_ratings(tmp_path / name)


def test_two_equal_errors_in_one_translation_are_two_errors(write):
    rows = sheet(GERMAN)
    error = rows[3]
    ratings = read_ratings(write([*rows[:4], error, *rows[4:]]))
    assert ratings.notes == (
        "1 row is equal to an earlier one (line 6 repeats line 5): each counts; --repeated once reads it once.",
    )
    assert score_ratings(ratings).by("segment").penalty.max() == 2


def test_raters_and_systems_that_say_the_same_are_no_copies(write):
    rows = [*sheet(GERMAN), *sheet(GERMAN, rater="r2"), *sheet(GERMAN, system="A")]
    assert read_ratings(write(rows)).notes == ()
    shuffled = [rows[i] for i in np.random.default_rng(1).permutation(len(rows))]
    assert read_ratings(write(shuffled)).notes == ()


COMMENT, CATEGORY, RATER, TARGET = 9, 7, 4, 6


@pytest.mark.parametrize(
    ("column", "spelled"),
    [
        (COMMENT, lambda cell: cell + " "),
        (COMMENT, lambda cell: cell or "NA"),
        (COMMENT, lambda cell: ""),
        (CATEGORY, str.lower),
        (RATER, lambda cell: cell + "\u00a0"),
        (RATER, lambda cell: f"\u200b{cell}"),
        (TARGET, lambda cell: cell + " "),
        (TARGET, lambda cell: unicodedata.normalize("NFD", cell.replace(" ", "\u00a0", 1))),
    ],
)
def test_a_copy_that_no_eye_tells_from_its_original_is_refused(tmp_path, column, spelled):
    header, *rows = TEACHING.read_text("utf-8").splitlines()
    cells = [row.split("\t") for row in rows[:300]]
    again = [[*row[:column], spelled(row[column]), *row[column + 1 :]] for row in cells]
    path = tmp_path / "twice.tsv"
    path.write_text("\n".join([header, *map("\t".join, cells + again)]) + "\n", "utf-8")
    with pytest.raises(
        DataError,
        match=r"lines 302 to 601 repeat rows from line 2 on \(300 of 600 rows are there again",
    ):
        read_ratings(path)
    once = score_ratings(read_ratings(path, repeated="once"))
    assert len(once.raters) == len({row[RATER] for row in cells})


def test_errors_without_a_mark_are_told_apart_by_what_is_said_of_them(write):
    rows = [
        (*row, f"word {i % 2}")
        for row in sheet(GERMAN)
        for i in range(2)
        if i == 0 or row[-1] == "Minor"
    ]
    header = f"{HEADER}\tcomment"
    assert read_ratings(write(rows, header=header)).notes == ()
    with pytest.raises(DataError, match="a part of this file is there twice"):
        read_ratings(write([(*row[:-1], " NA") for row in rows], header=header))


def test_one_rater_in_two_files_is_one_however_the_name_is_spaced(write):
    one = write(sheet(GERMAN, rater="Ann Lee"), "a.tsv")
    told = refused(one, write(sheet(GERMAN, rater="Ann\u00a0Lee"), "b.tsv"))
    assert "Ann Lee's rating of ref, document d, segment 1 is in" in told


def test_a_header_in_the_middle_is_told(tmp_path):
    both = tmp_path / "both.tsv"
    both.write_bytes(TEACHING.read_bytes() * 2)
    with pytest.raises(
        DataError, match=r"both\.tsv, line 1098: the header comes again: two files stand one after"
    ):
        read_ratings(both)


@REAL
@pytest.mark.real
def test_published_files_have_no_row_twice_and_are_refused_when_doubled(tmp_path, capsys):
    for name in ("mqm/ted-ende", "mqm/wmt23-ende-sxs"):
        assert not any(
            "equal to an earlier" in note for note in read_ratings(ratings_file(name)).notes
        )
    twice, _ = appended(ratings_file("mqm/ted-ende"), tmp_path)
    assert main(["mqm", str(twice)]) == 2
    assert (
        "lines 8437 to 16871 repeat rows from line 2 on (8435 of 16870 rows"
        in capsys.readouterr().err
    )
    block, _ = appended(ratings_file("mqm/ted-ende"), tmp_path, slice(4000, 4200))
    with pytest.raises(DataError, match="lines 8437 to 8636 repeat rows from line 4002 on"):
        read_ratings(block)


# ---- two language pairs in one call


def refused(*paths):
    with pytest.raises(DataError) as caught:
        pool_ratings([read_ratings(path) for path in paths])
    return str(caught.value)


def test_the_same_ids_with_other_sources_are_refused(write):
    one = write(sheet(GERMAN), "ende.tsv")
    two = write(sheet(ENGLISH, srcs=CHINESE, rater="r2"), "zhen.tsv")
    told = refused(one, two)
    assert "the source of document d, segment 1, is '这是文本中的第0个句子" in told
    assert "'This is sentence number 0" in told
    assert told.startswith(f"{two}, line 2: ")
    assert f"in {one}, line 2: are these two language pairs?" in told


def test_the_same_sources_with_other_translations_are_refused(write):
    told = refused(write(sheet(GERMAN), "ende.tsv"), write(sheet(CHINESE, rater="r2"), "enzh.tsv"))
    assert "ref's translation of document d, segment 1, is" in told


@pytest.mark.parametrize("other", [CHINESE, FRENCH])
def test_other_segments_in_another_language_are_refused(write, other):
    one = write(sheet(GERMAN), "ende.tsv")
    srcs = [f"Nobody knew what number {i} would bring to them." for i in range(len(other))]
    told = refused(one, write(sheet(other, srcs=srcs, doc="e", start=40), "other.tsv"))
    assert f"as those of {one}: they are in different languages" in told


def test_names_of_documents_tell_the_pair_within_one_file_and_between_two(write):
    rows = [
        *sheet(GERMAN[:3], ENGLISH[:3], doc="x:en-de"),
        *sheet(FRENCH[:3], ENGLISH[:3], doc="x:en-fr"),
    ]
    with pytest.raises(
        DataError,
        match=r"line 5: document x:en-fr is of en-fr, and x:en-de .* of en-de|line 2: document",
    ):
        read_ratings(write(rows))
    files = [write(part, f"{i}.tsv") for i, part in enumerate((rows[:3], rows[3:]))]
    assert "the ratings of one language pair are wanted" in refused(*files)


def test_two_pairs_in_one_file_under_the_same_ids_are_refused(write):
    both = [*sheet(GERMAN), *sheet(CHINESE, rater="r2")]
    with pytest.raises(
        DataError,
        match=r"line 23: ref's translation of document d, segment 1, is 'Das ist .* in line 2, ",
    ):
        read_ratings(write(both))
    with pytest.raises(DataError, match=r"21 of 21 sources have two texts"):
        read_ratings(write([*sheet(GERMAN), *sheet(ENGLISH, srcs=CHINESE, rater="r2")]))


def test_two_pairs_in_one_file_with_other_ids_are_refused(write):
    srcs = [f"Nobody knew what number {i} would bring to them." for i in range(len(FRENCH))]
    both = [*sheet(GERMAN), *sheet(FRENCH, srcs=srcs, doc="e", start=40)]
    with pytest.raises(
        DataError, match=r"the translations are in different languages, German .* and French"
    ):
        read_ratings(write(both))


def test_halves_of_one_test_set_and_mended_typos_are_pooled(write):
    half = len(GERMAN) // 2
    parts = [
        write(sheet(GERMAN[:half], ENGLISH[:half]), "a.tsv"),
        write(sheet(GERMAN[half:], ENGLISH[half:], start=50), "b.tsv"),
    ]
    typo = [line.replace("stands in this", "stands in that") for line in ENGLISH]
    parts.append(write(sheet(GERMAN, srcs=typo, rater="r2"), "c.tsv"))
    assert len(pool_ratings([read_ratings(path) for path in parts])) == 2 * len(GERMAN)


@REAL
@pytest.mark.real
def test_real_files_of_one_pair_are_pooled_and_of_another_refused(tmp_path, write):
    ted, wmt = (read_ratings(ratings_file(name)) for name in ("mqm/ted-ende", "mqm/wmt23-ende-sxs"))
    assert len(pool_ratings([ted, wmt])) == len(ted) + len(wmt)
    root = Path(os.environ["ANHELPERS_DATA"], "wmt24/txt")
    names = ("sources/ja-zh", "references/ja-zh.refA", "sources/en-cs", "references/en-cs.refA")
    lines = {
        name: (root / f"{name}.txt").read_text("utf-8").replace("\t", " ").split("\n")[1:200]
        for name in names
    }
    for pair in ("ja-zh", "en-cs"):
        rows = sheet(
            lines[f"references/{pair}.refA"], lines[f"sources/{pair}"], doc="test", start=900
        )
        other = read_ratings(write(rows, f"{pair}.tsv"))
        with pytest.raises(DataError, match="are in different languages"):
            pool_ratings([ted, other])


# ---- systems that were rated on different segments


def test_systems_with_other_segments_are_noted_and_can_be_restricted(write, capsys):
    rows = [*sheet(GERMAN, system="A"), *sheet(GERMAN[:6], ENGLISH[:6], system="B")]
    scores = score_ratings(read_ratings(write(rows)))
    note = scores.notes[-1]
    assert note.startswith(
        "systems were rated on different segments, of 21 in all: B on 6, A on 21; 6 for every system."
    )
    both = scores.shared()
    assert both.by().n_segments.tolist() == [6, 6]
    assert both.by().penalty.tolist() == pytest.approx([4 / 6, 4 / 6])
    assert both.signature == scores.signature + "|segments:shared"
    assert both.notes == ("15 of 21 segments are left out: not rated for every system.",)
    assert both.shared() is both
    table = system_table(scores, np.random.default_rng(0), 50).set_index("system")
    assert table.n_segments.to_dict() == {"A": 21, "B": 6}
    assert note in rated_plane(scores, "x", shared=False).notes
    kept = rated_plane(scores, "x").notes
    assert note not in kept
    assert any("15 of 21 segments are left out" in one for one in kept)
    assert main(["mqm", str(write(rows))]) == 0
    assert "B on 6, A on 21" in capsys.readouterr().err
    assert main(["mqm", str(write(rows)), "--shared"]) == 0
    said = capsys.readouterr()
    assert "15 of 21 segments are left out" in said.err
    assert "segments:shared" in said.out


def test_systems_without_a_common_segment_are_told(write):
    rows = [
        *sheet(GERMAN[:5], ENGLISH[:5], system="A"),
        *sheet(GERMAN[5:], ENGLISH[5:], system="B", start=6),
    ]
    scores = score_ratings(read_ratings(write(rows)))
    assert "; 0 for every system" in scores.notes[-1]
    with pytest.raises(DataError, match="no segment was rated for every system"):
        scores.shared()


# ---- rows that contradict themselves, or lack something


def test_rows_that_say_no_error_and_how_grave_it_is_are_noted(write):
    rows = [
        ("A", "d", i, "r", ENGLISH[i], GERMAN[i], *kind)
        for i, kind in enumerate(
            [
                ("No-error", "No-error"),
                ("No-error", "Major"),
                ("no error", "minor"),
                ("Fluency/Grammar", "No-error"),
            ],
            1,
        )
    ]
    path = write(rows)
    ratings = read_ratings(path)
    assert ratings.notes == (
        "1 row names an error and the severity No-error (first: line 5): counted by that severity; mend what is wrong.",
    )
    for weights, points in (("freitag2021", 0), ("mt-metrics-eval", 6)):
        told = "2 rows have the category No-error and the severity of an error"
        told += f" (first: {path}, line 3): counted with {points} points; mend what is wrong."
        scores = score_ratings(ratings, weights=weights)
        assert scores.notes[-1] == told
        assert scores.values[:, 0].sum() == points


def test_a_file_without_a_no_error_ranks_no_systems(write):
    rows = [*sheet(GERMAN, system="A"), *sheet(GERMAN, system="B", rater="r2")]
    whole, errors = (
        score_ratings(read_ratings(write(some)))
        for some in (rows, [(*row[:-2], "Fluency/Grammar", "Minor") for row in rows])
    )
    assert (whole.notes, "with-errors" in whole.signature) == ((), False)
    (note,) = errors.notes
    assert (
        "mqm.tsv: none of 42 ratings of translations says No-error: were segments without errors left out?"
        in note
    )
    assert errors.signature.endswith("|segments:with-errors")
    few = [(*row[:-2], "Fluency/Grammar", "Minor") for row in rows[:29]]
    assert (
        score_ratings(read_ratings(write(few, "few.tsv")))
        .notes[0]
        .startswith("systems were rated on different")
    )


def test_a_system_whose_no_errors_are_missing_is_named(write):
    srcs, trgs = ENGLISH * 3, GERMAN * 3
    rows = sheet(trgs, srcs, "A") + [row for row in sheet(trgs, srcs, "B") if row[-1] == "Minor"]
    note = score_ratings(read_ratings(write(rows))).notes[0]
    assert (
        "systems without a No-error were rated on fewer segments than others (B on 42): were segments"
        in note
    )


@REAL
@pytest.mark.real
def test_published_files_contradict_themselves_nowhere_and_are_whole(tmp_path):
    for name in ("mqm/ted-ende", "mqm/wmt23-ende-sxs"):
        scores = score_ratings(read_ratings(ratings_file(name)))
        assert not [
            note for note in scores.notes if "attention checks" not in note and note != scores.crews
        ]
    header, *rows = ratings_file("mqm/ted-ende").read_text("utf-8").splitlines()
    path = tmp_path / "errors.tsv"
    path.write_text("\n".join([header, *(row for row in rows if "o-error" not in row)]), "utf-8")
    assert (
        "none of 3,002 ratings of translations says No-error"
        in score_ratings(read_ratings(path)).notes[0]
    )


def test_rows_without_a_rater_are_noted(write):
    rows = sheet(GERMAN)
    some = [(*row[:3], "" if i > 18 else row[3], *row[4:]) for i, row in enumerate(rows)]
    assert read_ratings(write(some)).notes == (
        "2 rows have no rater (first: line 21): they count as those of one more rater, without a name; fill in who it "
        "was.",
    )


@pytest.mark.parametrize("name", ["severity", "Severity", "system", "target"])
def test_a_column_that_is_there_twice_is_refused(write, name):
    rows = [(*row, "x", "Major") for row in sheet(GERMAN)]
    first = HEADER.split("\t").index(name.lower()) + 1
    with pytest.raises(
        DataError,
        match=rf"line 1: columns {first} and 11 are both called '{name.lower()}'; delete the wrong one",
    ):
        read_ratings(write(rows, header=f"{HEADER}\tcomment\t{name}"))
    assert len(read_ratings(write(rows, header=f"{HEADER}\tcomment\tcomment"))) == len(rows)


def test_a_column_that_is_there_twice_is_refused_in_other_tables(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("pair\tsystem\tmetric\tscore\tscore\nen-de\tA\tbleu\t1\t2\n", "utf-8")
    with pytest.raises(DataError, match="line 1: columns 4 and 5 are both called 'score'"):
        read_system_scores(path, "en-de")
    frame = pd.DataFrame([[0, "Ein Satz.", "Ein anderer."]], columns=["segment", "text", "text"])
    with pytest.raises(DataError, match="DataFrame: columns 2 and 3 are both called 'text'"):
        read_candidates(frame)


def test_few_documents_are_told_of_each_system_when_files_are_pooled(write, capsys):
    few = [row for i in range(5) for row in sheet(GERMAN[:2], ENGLISH[:2], "A", f"a{i}")]
    many = [row for i in range(12) for row in sheet(GERMAN[2:4], ENGLISH[2:4], "B", f"b{i}")]
    files = [str(write(few, "a.tsv")), str(write(many, "b.tsv"))]
    told = "5 documents are few: the intervals may be far too short or far too long."
    assert main(["mqm", files[0]]) == 0
    assert f"note: {told}" in capsys.readouterr().err
    assert main(["mqm", *files]) == 0
    assert f"note: A: {told}" in capsys.readouterr().err


def test_documents_of_which_one_is_most_of_the_segments_are_few(write, capsys):
    """Twelve of them, and an interval that hangs on one: how many there are is not what counts."""
    long = [
        row
        for k in range(20)
        for row in sheet(GERMAN[:2], ENGLISH[:2], "A", "long", start=1 + 2 * k)
    ]
    rows = [
        *long,
        *(row for i in range(11) for row in sheet(GERMAN[2:3], ENGLISH[2:3], "A", f"d{i}")),
    ]
    assert main(["mqm", str(write(rows, "a.tsv"))]) == 0
    told = "12 documents, some so long that all count like 1.6, are few: the intervals may be far too short or far too "
    assert f"note: {told}" in capsys.readouterr().err


def test_ratings_packed_by_zstd_are_read(tmp_path):
    path, archive = tmp_path / "a.tsv.zst", tmp_path / "a.tar.zst"
    path.write_bytes(zstandard.compress(TEACHING.read_bytes()))
    with tarfile.open(tmp_path / "a.tar", "w") as tar:
        tar.add(TEACHING, "mqm.tsv")
    archive.write_bytes(zstandard.compress((tmp_path / "a.tar").read_bytes()))
    plain = read_ratings(TEACHING)
    assert len(read_ratings(path)) == len(read_ratings(archive)) == len(plain)
    assert score_ratings(read_ratings(path)).values.tolist() == score_ratings(plain).values.tolist()
    path.write_bytes(path.read_bytes()[:-500])
    with pytest.raises(DataError, match="is packed by zstd and damaged or cut off"):
        read_ratings(path)


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ("Major,*,1e308,x\nMinor,*,1,x\n", r"w\.csv, line 2: weight '1e308' is above 1,000,000"),
        (
            "Major,*,5,x\nMinor,*,1,x\nmajor,*,1,x\n",
            r"w\.csv, line 4: severity 'major', category '\*' is in line 2, too",
        ),
    ],
)
def test_weights_that_cannot_be_meant_are_refused(tmp_path, capsys, rows, says):
    path = tmp_path / "w.csv"
    path.write_text(f"severity,category,weight,source\n{rows}", "utf-8")
    assert main(["mqm", str(TEACHING), "--weights", str(path)]) == 2
    said = capsys.readouterr()
    assert re.search(says, said.err)
    assert len(said.err.splitlines()) == 1
    assert said.out == ""


def test_a_row_that_comes_twice_is_refused_in_schemes_and_mappings(tmp_path):
    path = tmp_path / "s.csv"
    path.write_text("category,dimension,source\nOther,ignored,x\nother,fluency,x\n", "utf-8")
    with pytest.raises(
        DataError, match="line 3: category 'other' is in line 2, too, and only the first row counts"
    ):
        load_scheme(path)
    path.write_text("kind,from,to\nseverity,Bad,Major\nseverity,bad,Minor\n", "utf-8")
    with pytest.raises(DataError, match="line 3: severity 'bad' is in line 2, too"):
        load_map(path)


# ---- other corpora


BIO = "SEG_ID\tDoc\tSource\tTagged_Source\tTarget\tMT\tTagged_Target\tError Category\tSeverity\tAnnotator_ID"
BIO_ROWS = [
    "1\tdoc1\tA dog.\t\tEin Hund.\tTMT_run1\t\t\t\t5367941",
    "2\tdoc1\tA cat\t\tEine Katze\tTMT_run1\t<tag>Eine</tag> Katze\tLinguistic Conventions - Grammar\tMinor\t5367941",
    "2\tdoc1\tA cat\t\tEine Katze\tTMT_run1\tEine <tag>Katze</tag>\tAccuracy - Mistranslation\tCritical\t5367941",
    "1\tdoc2\tNo.\t\tNein.\tTMT_run1\tNein<tag>.</tag>\tLinguistic Conventions - Punctuation\tMinor\t5367941",
]


@pytest.fixture
def bio(tmp_path):
    path = tmp_path / "bio.tsv"
    path.write_text("\n".join([BIO, *BIO_ROWS]) + "\n", "utf-8")
    return path


def test_another_corpus_is_read_by_a_mapping(bio, tmp_path):
    with pytest.raises(
        DataError,
        match=r"no column system, rater, category.*other names are told by a mapping \(--map\)",
    ):
        read_ratings(bio)
    ratings = read_ratings(bio, mapping="bio-mqm", texts=True)
    assert ratings.systems == ("TMT_run1",)
    assert ratings.raters == ("5367941",)
    assert set(ratings.categories) == {
        "No-error",
        "Fluency/Grammar",
        "Fluency/Punctuation",
        "Accuracy/Mistranslation",
    }
    assert (
        "category Accuracy - Mistranslation counts as Accuracy/Mistranslation (1 row)"
        in ratings.notes[0]
    )
    assert ratings.notes[1].startswith(
        "mapping bio-mqm, without effect in this file: category '*Addition', "
    )
    with pytest.raises(DataError) as caught:
        score_ratings(ratings)
    assert "Critical 'Accuracy/Mistranslation' (1 rating, first at line 4)" in str(caught.value)
    assert "--weights wmt24" in str(caught.value)
    assert "severity,Critical,Major" in str(caught.value)
    assert score_ratings(ratings, weights="wmt24").by().penalty.tolist() == [
        pytest.approx((0 + 6 + 0.1) / 3)
    ]
    assert "|map:bio-mqm|" in score_ratings(ratings, weights="wmt24").signature


@pytest.mark.parametrize("delimiter", [",", "\t"])
def test_a_mapping_of_ones_own_enters_the_signature_and_a_note(bio, tmp_path, delimiter, capsys):
    rows = [
        *load_map("bio-mqm").rows[:3],
        ("severity", "critical", "Major"),
        ("severity", "Blocker", "Major"),
    ]
    rows += [
        ("category", f"*{name}", f"Fluency/{name}")
        for name in ("Grammar", "Punctuation", "Mistranslation")
    ]
    rows += [("column", "Language", "doc")]
    table = tmp_path / "mine.csv"
    table.write_text(
        "\n".join(map(delimiter.join, [("kind", "from", "to"), *rows])) + "\n", "utf-8"
    )
    ratings = read_ratings(bio, mapping=table)
    assert "severity Critical counts as Major (1 row)" in ratings.notes[0]
    assert ratings.notes[1].endswith(
        "without effect in this file: column 'Language', severity 'Blocker'."
    )
    assert "Language" not in ratings.notes[0]
    signature = score_ratings(ratings).signature
    mark = signature.split("map:mine@")[1].split("|")[0]
    assert len(mark) == 8
    table.write_text(table.read_text("utf-8").replace("Blocker", "Stopper"), "utf-8")
    assert mark not in score_ratings(read_ratings(bio, mapping=table)).signature
    assert main(["mqm", str(bio), "--map", str(table)]) == 0
    assert "severity Critical counts as Major" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("from,to\n", "line 1: the header must be kind,from,to"),
        ("", "no row in this mapping"),
        ("kind,from,to\n", "no row in this mapping"),
        ("kind,from,to\ncolumn,x\n", "line 2: kind, from and to are wanted"),
        ("kind,from,to\ncolum,MT,system\n", "line 2: unknown kind 'colum'"),
        (
            "kind,from,to\ncolumn,MT,sytem\n",
            "line 2: unknown column 'sytem' under 'to'; known: system, doc",
        ),
        (
            "kind,from,to\nseverity,Critical,Mayor\n",
            "line 2: unknown severity 'Mayor' under 'to'; known: No-error",
        ),
        ("kind,from,to\nseverity,,Major\n", "line 2: kind, from and to are wanted"),
    ],
)
def test_a_mapping_that_is_wrong_is_told_with_its_line(bio, tmp_path, text, says):
    (tmp_path / "m.csv").write_text(text, "utf-8")
    with pytest.raises(DataError, match=says):
        read_ratings(bio, mapping=tmp_path / "m.csv")


def test_two_columns_for_one_are_refused_and_a_mapped_one_wins(write, tmp_path):
    table = RatingMap("m", (("column", "system", "rater"), ("column", "doc_id", "rater")))
    with pytest.raises(DataError, match="the mapping makes system and doc_id one column, 'rater'"):
        read_ratings(write(sheet(GERMAN)), mapping=table)
    mapped = read_ratings(
        write(sheet(GERMAN)),
        mapping=RatingMap("m", (("column", "system", "rater"), ("column", "rater", "system"))),
    )
    assert (mapped.systems, mapped.raters) == (("r1",), ("ref",))


def test_critical_errors_that_weigh_nothing_are_noted(bio):
    ratings = read_ratings(bio, mapping="bio-mqm")
    assert (
        score_ratings(ratings, weights="mt-metrics-eval").notes[-1]
        == "1 Critical error weighs nothing by these weights."
    )
    assert not any("weigh" in note for note in score_ratings(ratings, weights="wmt24").notes)


# ---- files that are something else


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "engdeu1,A,1,TGT,eng,deu,0,d,False,[],1.0,1.0\n",
            r"error span annotation \(ESA\).* no MQM ratings",
        ),
        ("system mqm_avg_score seg_id\nA\t-1\t1\n", "these are averages of MQM ratings"),
        ("rater,sheet,segment,candidate,criterion,rating\n", "the ratings of a class"),
        ('{"system": "A"}\n', "this is JSON"),
    ],
)
def test_other_tables_are_called_what_they_are(tmp_path, text, says):
    (tmp_path / "x.csv").write_text(text, "utf-8")
    with pytest.raises(DataError, match=says):
        read_ratings(tmp_path / "x.csv")


@REAL
@pytest.mark.real
def test_the_esa_scores_of_wmt24_are_no_mqm_ratings(capsys):
    path = Path(os.environ["ANHELPERS_DATA"], "wmt24/humeval/esa_generalMT2024_wave2.csv")
    assert main(["mqm", str(path)]) == 2
    said = capsys.readouterr().err
    assert "error span annotation (ESA)" in said
    assert len(said.splitlines()) == 1


# ---- the same causes elsewhere


def test_ids_that_count_anew_in_each_document_take_each_row_of_a_test_set_once(write):
    header = HEADER.replace("\tseg_id", "")
    rows = [
        ("A", doc, "1", "r", "Thank you.", "Danke.", "No-error", "No-error") for doc in ("d1", "d2")
    ]
    path = write([], header=header)
    path.write_text("\n".join([header, *map("\t".join, rows)]) + "\n", "utf-8")
    ratings = read_ratings(path, texts=True)
    join = join_ratings(rated_texts(ratings, "en-de", "A"), ratings)
    assert sorted(join.rows) == [0, 1]


# ---- one name in two spellings


def two_raters(write, change):
    """Two raters' ratings of the same translations, those of the second one with their rows changed."""
    rows = [(s, d, i, i, *more) for s, d, i, *more in (*sheet(GERMAN), *sheet(GERMAN, rater="r2"))]
    half = len(GERMAN)
    lines = ["\t".join(map(str, row)) for row in (*rows[:half], *map(change, rows[half:]))]
    path = write([])
    path.write_text("\n".join([HEADER, *lines]) + "\n", "utf-8")
    return path


@pytest.mark.parametrize("spelled", ["{}.0", "{}.00", "0{}"])
def test_ids_that_are_whole_numbers_are_one_however_they_are_spelled(write, spelled):
    spell = spelled.format
    path = two_raters(write, lambda row: (*row[:2], spell(row[2]), spell(row[3]), *row[4:]))
    scores = score_ratings(read_ratings(path))
    assert scores.by().n_segments.tolist() == [len(GERMAN)]
    assert scores.segments[0] == "1"
    first = f"in 21 rows (first: line 23): '{spell(1)}' is '1'."
    assert scores.notes == (f"whole numbers that name a segment are read as such {first}",)
    header, *rows = path.read_text("utf-8").splitlines()
    path.write_text(
        "\n".join([header, *(row.replace("\tr2\t", "\tr1\t") for row in rows)]) + "\n", "utf-8"
    )
    with pytest.raises(DataError, match="a part of this file is there twice"):
        read_ratings(path)


def test_ids_with_fractions_stay_as_they_are(write):
    rows = [(*row[:2], f"{i // 3}.{i % 3}", *row[3:]) for i, row in enumerate(sheet(GERMAN))]
    ratings = read_ratings(write(rows))
    assert (ratings.notes, ratings.segments[0].id) == ((), "0.0")


@pytest.mark.parametrize(
    "change",
    [
        lambda row: (row[0], "d:en-de", *row[2:]),
        lambda row: (row[0], "another name", *row[2:]),
        lambda row: (*row[:3], row[3] + 100, *row[4:]),
    ],
)
def test_sources_under_several_segments_are_noted(write, change):
    scores = score_ratings(read_ratings(two_raters(write, change)))
    assert (
        "21 of 21 source texts stand under several segments, such as document d, id 1 (1), and"
        in scores.notes[-1]
    )
    assert scores.signature.endswith("|segments:spelled-twice")


def test_short_sources_may_come_again(write):
    srcs = ["Thank you.", "Thank you.", "(Applause)", "(Applause)", *ENGLISH[4:]]
    assert score_ratings(read_ratings(write(sheet(GERMAN, srcs)))).notes == ()


@pytest.mark.parametrize(
    ("one", "other"), [("rater1", "Rater1"), ("rater1", "rater 1"), ("7", "007")]
)
def test_raters_that_differ_in_spelling_alone_are_noted(write, one, other):
    rows = [*sheet(GERMAN, rater=one), *sheet(GERMAN, rater=other)]
    scores = score_ratings(read_ratings(write(rows)))
    (note,) = scores.notes
    assert note.startswith("raters that differ in spelling alone count as two each: ")
    assert f"'{one}'" in note
    assert f"'{other}'" in note
    assert scores.signature.endswith("|raters:spelled-twice")


def test_a_rater_of_a_number_is_one_rater_and_systems_are_told_too(write):
    rows = [
        *sheet(GERMAN[:9], ENGLISH[:9], rater="1"),
        *sheet(GERMAN[9:], ENGLISH[9:], rater="1.0", start=10),
    ]
    ratings = read_ratings(write(rows))
    assert ratings.raters == ("1",)
    assert ratings.notes[0].startswith(
        "whole numbers that name a rater are read as such in 12 rows (first: line 11)"
    )
    both = [write(sheet(GERMAN, system=name, rater=name), f"{name}.tsv") for name in ("Aya", "AYA")]
    notes = score_ratings(pool_ratings([read_ratings(path) for path in both])).notes
    assert any(
        "systems that differ in spelling alone count as two each: 'AYA' and 'Aya'" in note
        for note in notes
    )


# ---- rows of tables that decide nothing, and categories that are misspelt


WEIGHED = "severity,category,weight,source\nNo-error,*,0,x\n"


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        (
            "Minor,*,1,x\nMinor,Fluency/Grammar,0.1,x\n",
            "without effect: severity 'Minor', category 'Fluency/Grammar' (an earlier row catches all of it; put it ",
        ),
        (
            "Minor,*,1,x\n*,Fluency/Grammar,2,x\n",
            "without effect: category 'Fluency/Grammar' (an earlier row",
        ),
        (
            "Minor,*,1,x\nMnior,*,3,x\n",
            "without effect: severity 'Mnior', category '*' (no severity is called so).",
        ),
        (
            "Minor,Flunecy/Grammar,0.1,x\nMinor,*,1,x\n",
            ": severity 'Minor', category 'Flunecy/Grammar' is in none of these ratings; is 'Fluency/Grammar' meant?",
        ),
        ("*,Non-translation!,25,x\nMinor,*,1,x\nMajor,*,5,x\n", ""),
        ("Minor,*Grammar*,0.1,x\nMinor,*,1,x\n*,*,2,x\n", ""),
    ],
)
def test_rows_of_weights_that_decide_nothing_are_noted(write, tmp_path, rows, says):
    table = tmp_path / "mine.csv"
    table.write_text(WEIGHED + rows, "utf-8")
    notes = score_ratings(read_ratings(write(sheet(GERMAN))), weights=table).notes
    assert len(notes) == bool(says)
    assert all(note.startswith("weights mine@") and says in note for note in notes)


def test_rows_of_schemes_and_mappings_that_decide_nothing_are_noted(write, tmp_path):
    table, path = tmp_path / "mine.csv", write(sheet(GERMAN))
    table.write_text(
        "category,dimension,source\nNo-error,none,x\n*,fluency,x\nFluency/Grammar,accuracy,x\n",
        "utf-8",
    )
    (note,) = score_ratings(read_ratings(path), scheme=table).notes
    assert "without effect: category 'Fluency/Grammar' (an earlier row catches all of it" in note
    rows = (("severity", "Min*", "Major"), ("severity", "Minor", "Critical"))
    assert read_ratings(path, mapping=RatingMap("m", rows)).notes[1] == (
        "mapping m, without effect in this file: severity 'Minor'."
    )


@pytest.mark.parametrize(
    ("seen", "meant"),
    [
        ("Fluency/Punctuations", "Fluency/Punctuation"),
        ("Fluency/Punctuation marks", "Fluency/Punctuation"),
        ("Accuracy/Non-translation", "Non-translation!"),
        ("Fluency/Grammer", ""),  # weighs what it would
    ],
)
def test_a_category_that_only_looks_like_one_with_a_weight_of_its_own_is_noted(write, seen, meant):
    rows = [(*row[:-2], seen, "Minor") if row[-1] == "Minor" else row for row in sheet(GERMAN)]
    notes = score_ratings(read_ratings(write(rows))).notes
    told = f"category '{seen}' (14 rows) does not count as '{meant}', which is close to it; if it is that, write so, "
    assert notes == (
        (f"{told}or give --map a file with category,{seen},{meant}.",) if meant else ()
    )


@REAL
@pytest.mark.real
@pytest.mark.parametrize("weights", ["freitag2021", "mt-metrics-eval", "wmt24"])
def test_published_files_need_no_note_on_names(weights):
    for name in ("mqm/ted-ende", "mqm/wmt23-ende-sxs"):
        scores = score_ratings(read_ratings(ratings_file(name)), weights=weights)
        assert not [
            note for note in scores.notes if "attention checks" not in note and note != scores.crews
        ]
        assert "spelled-twice" not in scores.signature


# ---- what programs make of a file


@pytest.mark.parametrize("rater", ["r1", "NA", ""])
def test_raters_without_names_are_no_copies(write, rater):
    rows = [*sheet(GERMAN, rater=rater), *sheet(GERMAN, rater=rater)]
    who = f"has the rater '{rater}'" if rater else "has no rater"
    told = f"line 23: every row {who}, so that rows of several raters look like copies"
    with pytest.raises(DataError, match=f"{told} .* write into the column rater who each row is "):
        read_ratings(write(rows))


def test_an_error_beside_a_no_error_of_the_same_rater_is_noted(write):
    rows = sheet(GERMAN)
    other = [(*row[:-2], "Fluency/Spelling", "Major") for row in rows if row[-1] == "No-error"]
    told = "7 ratings of a translation by one rater say No-error and name an error, too (first: line 4): the errors"
    (note,) = read_ratings(write([*rows, *other])).notes
    assert note.startswith(told)


def test_a_rater_that_is_not_available_is_no_rater(write):
    rows = sheet(GERMAN)
    ratings = read_ratings(
        write([(*row[:3], "NaN" if i else "r1", *row[4:]) for i, row in enumerate(rows)])
    )
    assert ratings.raters == ("", "r1")
    assert ratings.notes[0].startswith("20 rows have no rater (first: line 3)")


def resaved(write, tmp_path, name, **how):
    """The points of each system of a file, as it is and as pandas saves it again."""
    path, again = write([*sheet(GERMAN), *sheet(GERMAN, system="A")]), tmp_path / name
    pd.read_csv(path, sep="\t", dtype=str).to_csv(again, index=False, **how)
    return [score_ratings(read_ratings(one)).by().penalty.tolist() for one in (path, again)]


def test_semicolons_and_quotes_around_everything_are_read(write, tmp_path):
    for name, how in (
        ("a.csv", {"sep": ";"}),
        ("b.csv", {"sep": ";", "quoting": 1}),
        ("c.tsv", {"sep": "\t", "quoting": 1}),
    ):
        plain, again = resaved(write, tmp_path, name, **how)
        assert plain == again


def test_quotes_and_row_names_that_cannot_be_read_are_told(write, tmp_path):
    rows = sheet(GERMAN)
    with pytest.raises(
        DataError, match=r'line 2: the severity "Minor" stands in quotes, which are text in a TSV'
    ):
        read_ratings(write([(*row[:-1], f'"{row[-1]}"') for row in rows[:2]]))
    with pytest.raises(
        DataError,
        match=r"line 2: 10 fields, and the header has 9 columns. Are there row names without",
    ):
        read_ratings(write([(*row, "x") for row in rows]))
    quoted = write(
        [[f'"{cell}"' for cell in row] for row in rows],
        header="\t".join(f'"{n}"' for n in HEADER.split("\t")),
    )
    quoted.write_text(quoted.read_text("utf-8").replace("Satz,", r"\"Satz\","), "utf-8")
    with pytest.raises(
        DataError,
        match=r"the CSV quoting is broken .*a quote within quotes is doubled \(R: qmethod",
    ):
        read_ratings(quoted)


@pytest.mark.parametrize("delimiter", ["\t", ",", ";"])
def test_rows_without_anything_are_left_out_and_counted(write, tmp_path, delimiter):
    path = tmp_path / "mqm.csv"
    pd.read_csv(write(sheet(GERMAN)), sep="\t", dtype=str).to_csv(path, sep=delimiter, index=False)
    with path.open("a", encoding="utf-8") as file:
        file.write(f"{delimiter * 8}\n" * 3)
    ratings = read_ratings(path)
    assert len(ratings) == len(GERMAN)
    assert ratings.notes == ("3 rows left out: all cells are empty (first: line 23).",)


def test_empty_cells_that_an_editor_cut_off_are_read_as_empty(write):
    header, rows = f"{HEADER}\tcomment\tmetadata", sheet(GERMAN)
    path = write([(*row, "", "") for row in rows], header=header)
    whole = read_ratings(path)
    path.write_text(
        "\n".join(line.rstrip("\t") for line in path.read_text("utf-8").split("\n")), "utf-8"
    )
    assert score_ratings(read_ratings(path)).values.tolist() == score_ratings(whole).values.tolist()
    path.write_text(path.read_text("utf-8").removesuffix("\n"), "utf-8")
    with pytest.raises(
        DataError, match=r"line 22: 9 fields, and the header has 11 columns. Is the end of the file"
    ):
        read_ratings(path)
    # a cell before is missing
    with pytest.raises(DataError, match="line 2: 10 fields, and the header has 11 columns"):
        read_ratings(write([(*row[:-2], row[-1], "", "{}") for row in rows], header=header))


@pytest.mark.parametrize("category", ["", "None", "no errors", "NA"])
def test_no_category_beside_the_severity_no_error_is_no_error(write, category):
    rows = [
        (*row[:-2], category, row[-1]) if row[-1] == "No-error" else row for row in sheet(GERMAN)
    ]
    assert read_ratings(write(rows)).categories == ("Fluency/Grammar", "No-error")
