"""A teaching set of one's own: its skeleton, every defect that the check names, and that commands take its folder."""

import json
import lzma
import re
import shutil

import pytest

from anhelpers.cli import main
from anhelpers.data import (
    bundled,
    load,
    load_candidates,
    load_mono,
    load_ratings,
    mono_for,
    ratings_file,
    teaching_look,
    teaching_skeleton,
)
from anhelpers.data.identify import foreign_lines
from anhelpers.data.sets import minimal_pairs
from anhelpers.data.teaching import check_teaching_set
from anhelpers.data.teaching_skeleton import CORE, EXAMPLE, make_skeleton
from anhelpers.errors import DataError
from anhelpers.naturalness.prints import (
    lengthened_prints,
    line_fingerprints,
    shortened_prints,
    training_lines,
)

N = 8  # sources of the small copies
SRC = "txt/sources/en-de.txt"
REF_A = "txt/references/en-de.refA.txt"
DOCS = "txt/documents/en-de.docs"
OUT = "txt/system-outputs/en-de/MT-Base.txt"


def lines_of(path):
    return path.read_text(encoding="utf-8").splitlines()


def write(path, lines):
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """The first sources of a bundled set, with all that belongs to them."""
    folder = tmp_path_factory.mktemp("sets") / "my-de"
    shutil.copytree(bundled("teaching/en-de"), folder)
    for path in folder.glob("txt/**/*.*"):
        write(path, lines_of(path)[:N])
    kept = {
        name: lines_of(folder / name) for name in ("candidates.jsonl", "ratings.tsv", "mqm.tsv")
    }
    write(
        folder / "candidates.jsonl",
        [line for line in kept["candidates.jsonl"] if json.loads(line)["segment"] < N],
    )
    write(
        folder / "ratings.tsv",
        [line for line in kept["ratings.tsv"] if line[0] == "s" or int(line.split()[0]) < N],
    )
    write(
        folder / "mqm.tsv",
        [line for i, line in enumerate(kept["mqm.tsv"]) if not i or int(line.split("\t")[3]) <= N],
    )
    mono = "mono.de.txt", "mono.de.domains.txt"
    texts = [
        row
        for row in zip(*(lines_of(folder / name) for name in mono), strict=True)
        if row[1] == "news"
    ][:20]
    for name, column in zip(mono, zip(*texts, strict=True), strict=True):
        write(folder / name, column)
    return folder


@pytest.fixture
def own(small, tmp_path):
    return shutil.copytree(small, tmp_path / "my-de")


@pytest.mark.parametrize("name", ["teaching/en-de", "teaching/de-en"])
def test_the_bundled_sets_have_no_defect(name, capsys):
    assert main(["teaching-set", str(bundled(name))]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "Nothing is wrong with it." in said
    test, cands = load(name), load_candidates(name)
    assert (
        f"sources {len(test)}, of 12 documents (news 13, literary 13, social 13, speech 13)" in said
    )
    assert f"candidates {len(cands):,}; 27 to 28 per source" in said
    assert "calque 52, literal 52" in said


@pytest.mark.parametrize(("lp", "glosses"), [("en-es", False), ("fr-pt_BR", True)])
def test_a_skeleton_is_a_set_whose_every_file_is_still_to_be_written(lp, glosses, tmp_path, capsys):
    folder = tmp_path / "new" / "mine"
    assert main(["teaching-set", str(folder), "-l", lp]) == 0
    said = capsys.readouterr().out
    assert f"anhelpers teaching-set {folder}" in said
    assert ("the glosses" in said) == glosses
    layout = {
        str(path.relative_to(bundled("teaching/de-en")))
        .replace("de-en", lp)
        .replace("mono.en", f"mono.{lp[3:]}")
        for path in bundled("teaching/de-en").rglob("*")
        if path.is_file()
    }
    there = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    missing = {name for name in layout - there if "system-outputs" not in name}
    assert missing == (set() if glosses else {"glosses.txt"})
    assert set(CORE) == set(load_candidates(folder).tags)
    assert not list(folder.parent.glob(".*"))
    found = check_teaching_set(folder)
    still = {line.split(",")[0] for line in found.defects}
    assert all("is still a line of the skeleton" in line for line in found.defects)
    heads = (
        "ratings.tsv",
        "mqm.tsv",
        "systems.tsv",
        f"mono.{lp[3:]}.domains.txt",
        f"txt/documents/{lp}.docs",
    )
    assert still == {str(folder / name) for name in there - set(heads)}
    assert main(["teaching-set", str(folder)]) == 2


def test_a_skeleton_goes_into_an_empty_folder_and_never_over_anything(tmp_path, capsys):
    assert make_skeleton(tmp_path, "cs-de") == tmp_path
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(DataError, match="there is something already"):
        make_skeleton(tmp_path, "cs-de")
    assert sorted(tmp_path.rglob("*")) == before
    assert main(["teaching-set", str(tmp_path / "x")]) == 2
    assert "say of which pair a skeleton is wanted (-l en-es)" in capsys.readouterr().err
    assert main(["teaching-set", str(tmp_path / "x"), "-l", "en-nowhere"]) == 2
    assert not (tmp_path / "x").exists()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "letter.txt").write_text("Dear all,\n")
    assert main(["teaching-set", str(tmp_path / "other"), "-l", "en-de"]) == 2
    assert "neither sources nor txt/sources" in capsys.readouterr().err


def test_a_skeleton_that_is_interrupted_leaves_nothing(tmp_path, monkeypatch):
    written = iter(range(5))
    monkeypatch.setattr(teaching_skeleton, "write_text", lambda path, text: next(written))
    with pytest.raises(StopIteration):
        make_skeleton(tmp_path / "mine", "en-es")
    assert not list(tmp_path.iterdir())


def put(name, line, text):
    """A line of a file, from 1, written over; None takes it out, and a line after the last one is added."""

    def change(folder):
        lines = lines_of(folder / name)
        lines[line - 1 : line] = [] if text is None else [text]
        write(folder / name, lines)

    return change


def candidate(i, tag, **fields):
    """The candidate of a source with a tag gets other fields; without any it is taken out."""

    def change(folder):
        rows = list(map(json.loads, lines_of(folder / "candidates.jsonl")))
        rows = [
            row | (fields if (row["segment"], row["tag"]) == (i, tag) else {})
            for row in rows
            if fields or (row["segment"], row["tag"]) != (i, tag)
        ]
        write(folder / "candidates.jsonl", [json.dumps(row, ensure_ascii=False) for row in rows])

    return change


def without_source(folder):
    write(
        folder / "candidates.jsonl",
        [
            line
            for line in lines_of(folder / "candidates.jsonl")
            if json.loads(line)["segment"] not in (3, 5)
        ],
    )


def in_english(field, value):
    """Candidates that have this are in another language; short ones, so that only together they tell."""

    def change(folder):
        rows = list(map(json.loads, lines_of(folder / "candidates.jsonl")))
        english = iter(
            dict.fromkeys(good for _, good, _ in minimal_pairs("teaching/de-en") if len(good) < 60)
        )
        for row in rows:
            if row[field] == value:
                row["text"] = next(english)
        write(folder / "candidates.jsonl", [json.dumps(row, ensure_ascii=False) for row in rows])

    return change


S0 = bundled("teaching/en-de") / SRC
A0 = bundled("teaching/en-de") / REF_A
LONG = "The town council of Ellmoor saved the old swimming pool by a single vote after a very long debate."
DEFECTS = {
    "a reference": (
        candidate(2, "free", text=lines_of(A0)[2]),
        r"jsonl, line \d+: .* of source 2 is reference refA",
    ),
    "the source": (
        candidate(2, "free", text=lines_of(S0)[2]),
        r"jsonl, line \d+: this candidate is source 2 itself",
    ),
    "blank": (candidate(2, "free", text=" "), r"jsonl, line \d+: this candidate is blank"),
    "twice": (
        lambda folder: candidate(
            2,
            "free",
            text=next(
                row["text"]
                for row in map(json.loads, lines_of(folder / "candidates.jsonl"))
                if (row["segment"], row["tag"]) == (2, "calque")
            ),
        )(folder),
        r"of source 2 stands at line \d+ already",
    ),
    "another language": (
        candidate(2, "free", text=LONG),
        r"line \d+: this candidate reads as 'en', and not as 'de'",
    ),
    "a source in another language": (
        in_english("segment", 3),
        r"jsonl: the candidates of source 3 read as English",
    ),
    "no core tag": (
        candidate(4, "omission-2"),
        r"source 4 has no candidate with the tag omission-2; write",
    ),
    "no candidates": (without_source, r"source 5 \(line 6 of the sources\) has no candidate"),
    "no JSON": (put("candidates.jsonl", 3, "{"), r"candidates.jsonl, line 3: bad JSON"),
    "no such segment": (
        candidate(4, "free", segment=99),
        r"candidates.jsonl, line \d+: segment 99 does not exist",
    ),
    "no candidate": (
        put(OUT, 2, "Das hat niemand geschrieben."),
        r"MT-Base.txt, line 2: .* candidates of source 1",
    ),
    "a line too few": (put(OUT, 2, None), rf"MT-Base.txt: has {N - 1} lines, expected {N}"),
    "no category": (put("systems.tsv", 2, None), r"systems.tsv: system LLM-Large has no row here"),
    "no outputs": (
        put("systems.tsv", 10, "Online-Z\tonline"),
        r"systems.tsv: system Online-Z has no texts",
    ),
    "no reference": (
        lambda folder: (folder / REF_A).unlink(),
        r"en-de.refA.txt: there is no reference refA",
    ),
    "one text as both": (
        lambda folder: write(folder / REF_A.replace("refA", "refB"), lines_of(folder / REF_A)),
        r"refB.txt: \d+ of its \d+ lines are refA's as well",
    ),
    "out of range": (
        put("ratings.tsv", 2, "0\tnews-d1-1/calque\tpass1\t108\t64"),
        r"line 2: 108 is no rating",
    ),
    "no rating": (put("ratings.tsv", 2, None), r"ratings.tsv: .* has no rating in pass1"),
    "mqm of no system": (
        put("mqm.tsv", 2, "X\td\t1\t1\tr\ts\tt\tNo-error\tNo-error\t"),
        r"line 2: there is no .* X;",
    ),
    "mqm of other texts": (
        put("mqm.tsv", 2, "MT-Base\td\t1\t1\tr\ts\tt\tNo-error\tNo-error\t"),
        r"mqm.tsv, line 2: this is not source 1, or not what MT-Base made of it",
    ),
    "a pair of equals": (
        put("minimal_pairs.tsv", 3, "case\tGut so.\tGut  so."),
        r"line 3: both sentences of this",
    ),
    "a pair twice": (
        lambda folder: put("minimal_pairs.tsv", 9, lines_of(folder / "minimal_pairs.tsv")[1])(
            folder
        ),
        r"minimal_pairs.tsv, line 9: this pair stands at line 2 already",
    ),
    "no pair": (
        put("minimal_pairs.tsv", 3, "case\tGut so."),
        r"minimal_pairs.tsv, line 3: .* is no minimal pair",
    ),
    "R is a reference": (
        put("mono.de.txt", 4, lines_of(A0)[0]),
        r"mono.de.txt, line 4: this is a reference",
    ),
    "R twice": (
        lambda folder: put("mono.de.txt", 4, lines_of(folder / "mono.de.txt")[0])(folder),
        r"mono.de.txt, line 4: this text stands at line 1 already",
    ),
    "R is blank": (put("mono.de.txt", 4, ""), r"mono.de.txt, line 4: this line is blank"),
    "R lost a line": (
        put("mono.de.txt", 4, None),
        r"mono.de.domains.txt: has 20 lines, and mono.de.txt has 19",
    ),
    "no such domain": (
        put("mono.de.domains.txt", 4, "sport"),
        r"domains.txt, line 4: 'sport' is no domain",
    ),
    "a gloss too few": (
        lambda folder: write(folder / "glosses.txt", ["x"] * (N - 1)),
        rf"has {N - 1} lines",
    ),
    "a blank gloss": (
        lambda folder: write(folder / "glosses.txt", ["x", ""] * (N // 2)),
        r"line 2: there is no gloss",
    ),
    "a skeleton's line": (
        put("mono.de.txt", 4, f"{EXAMPLE} x"),
        r"mono.de.txt, line 4: this is still a line of the",
    ),
}


@pytest.mark.parametrize("name", DEFECTS)
def test_each_defect_is_told_with_its_place(name, own):
    change, sentence = DEFECTS[name]
    change(own)
    defects = check_teaching_set(own).defects
    assert any(re.search(sentence, line) for line in defects), defects
    assert all(line.endswith(".") and str(own) in line for line in defects)


def test_a_tag_in_another_language_is_told_where_its_texts_are_many(tmp_path):
    folder = shutil.copytree(bundled("teaching/en-de"), tmp_path / "my-de")
    in_english("tag", "colloquial")(folder)
    (told,) = [
        line
        for line in check_teaching_set(folder).defects
        if "MT" not in line and "LLM" not in line
    ]
    assert "candidates.jsonl: the candidates 'colloquial' read as English ('en')" in told


def test_a_small_copy_has_none_and_what_it_may_lack_is_a_remark(own):
    assert not check_teaching_set(own).defects
    for name in (
        "ratings.tsv",
        "mqm.tsv",
        "README.md",
        "minimal_pairs.tsv",
        "mono.de.txt",
        "systems.tsv",
        DOCS,
    ):
        (own / name).unlink()
    found = check_teaching_set(own)
    assert not found.defects
    assert len([line for line in found.remarks if line.startswith("there ")]) == 7


def test_candidates_are_checked_before_any_system_is_there(own):
    shutil.rmtree(own / "txt/system-outputs")
    candidate(4, "omission-2")(own)
    found = check_teaching_set(own)
    assert any("no system outputs" in line for line in found.defects)
    assert any(
        "source 4 has no candidate with the tag omission-2" in line for line in found.defects
    )
    assert ("systems", "none that can be read") in found.contents


def test_a_lost_line_is_one_defect_and_not_one_for_each_row_of_mqm(own):
    """Of the whole set there were 1,498, which told users to rename their systems."""
    put(OUT, 2, None)(own)
    found = check_teaching_set(own)
    assert len(found.defects) == 1
    assert "mqm.tsv is looked at once the systems can be read." in found.remarks


def test_lines_of_a_training_text_are_told(own, tmp_path):
    (tmp_path / "train.txt.xz").write_bytes(
        lzma.compress(f"Etwas.\n{lines_of(own / REF_A)[2]}\n".encode())
    )
    write(tmp_path / "other.txt", ["Etwas.", "Noch etwas."])
    (told,) = check_teaching_set(
        own, train=[tmp_path / "other.txt", tmp_path / "train.txt.xz"]
    ).defects
    assert re.search(
        r"refA.txt, line 3: this line stands in .*train.txt.xz as well \(1 such lines\)", told
    )
    assert main(["teaching-set", str(own), "--train", str(tmp_path / "train.txt.xz")]) == 2


def test_lines_that_the_bundled_judges_have_read_are_told(own, monkeypatch):
    assert all(training_lines(bundled(name)) is not None for name in ("lm/de-small", "critic/de"))
    prints = lengthened_prints(
        *shortened_prints(line_fingerprints(lines_of(own / "mono.de.txt")[:6]))
    )
    monkeypatch.setattr(teaching_look, "training_lines", lambda folder: prints)
    told = check_teaching_set(own).defects
    for line, judge in zip(told, ("de-small", "the critic"), strict=True):
        assert re.search(
            rf"mono.de.txt, line 1: .* in the training text of {judge} as well \(6 such lines", line
        )


def test_only_lines_in_the_source_language_are_foreign():
    assert foreign_lines(
        [
            LONG,
            "No.",
            "Das Haus ist alt, und niemand weiß, wer es gebaut hat, als es noch warm war.",
        ],
        "de",
        "en",
    ) == [0]
    assert foreign_lines([LONG], "de", "cs") == []
    assert foreign_lines([LONG], "en", "en_GB") == []


def test_a_folder_is_read_as_the_bundled_set_is(own):
    test, cands = load(own), load_candidates(own)
    assert test.reference == "refB"
    assert load(own, reference="refA").reference == "refA"
    assert len(cands) == len(lines_of(own / "candidates.jsonl"))
    assert cands.texts == load_candidates("teaching").texts[: len(cands)]
    assert load_ratings(own).n_candidates == len(cands)
    assert load_mono(own) == load_mono(own / "mono.de.txt") == mono_for(own, "de")[0]
    assert minimal_pairs(own) == minimal_pairs("teaching/en-de")
    assert ratings_file(own) == own / "mqm.tsv"
    write(own / "mqm.tsv", lines_of(own / "mqm.tsv")[:1])
    (own / "minimal_pairs.tsv").unlink()
    assert ratings_file(own) is None
    assert minimal_pairs(own) == [] == minimal_pairs("wmt24/en-de")


def test_judge_takes_a_folder_with_its_pairs_and_its_r(own, tiny_lm, capsys):
    args = ["judge", "--data", str(own), "--judge", "lpp", "--lm", str(tiny_lm), "--draws", "20"]
    assert main(args) == 0
    said = capsys.readouterr().out
    assert re.search(r"good > bad +\| \d+ of 155", said)
    assert re.search(r"bits per byte of originals +\| .* 20 texts", said)
    assert "with the ratings" in said
    assert "with MQM fluency" in said
    assert "What is wanted of the bundled judges" not in said


def test_judge_leaves_out_what_needs_a_model_where_none_is_bundled(own, capsys):
    """Ratings alone judge a set in a language that has no model here."""
    swap = {"de": "nds", "en-de": "en-nds"}
    for path in sorted(own.rglob("*"), reverse=True):
        new = path.name.replace("en-de", swap["en-de"]).replace("mono.de", "mono.nds")
        path.rename(path.with_name(new))
    assert main(["judge", "--data", str(own), "--draws", "20"]) == 0
    out, err = capsys.readouterr()
    assert "rated-naturalness" in out
    assert "naturalness by lpp is missing" in err
    assert main(["judge", "--data", str(own), "--judge", "lpp"]) == 2
    assert "no language model is bundled for 'nds'" in capsys.readouterr().err
