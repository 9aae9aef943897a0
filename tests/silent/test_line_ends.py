"""Line ends, marks, letters, blank lines at the end, endings in capitals: nothing of a file's form reaches a score."""

import json
import unicodedata

import pytest
import sacrebleu

from anhelpers import cli
from anhelpers.cli.options import check_table_name
from anhelpers.data import (
    add_systems,
    load,
    load_candidates,
    load_mono,
    read_candidates,
    read_lines,
    read_plain,
)
from anhelpers.data.forms import habits
from anhelpers.data.lines import text_lines
from anhelpers.data.packed import stem_of, suffix_of
from anhelpers.errors import DataError

LINES = ["Der Hund schläft.", "Ja.", "Es regnet.", "Nein."]
SRCS = ["The dog sleeps.", "Yes.", "It rains.", "No."]


@pytest.fixture
def put(tmp_path):
    def make(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return make


@pytest.fixture
def read(put):
    """A function (bytes of the output) -> the test set with source and reference in clean files."""

    def make(content, name="hyp.de", ref=None):
        ref = "\n".join(LINES) + "\n" if ref is None else ref
        return read_plain(
            put("src.en", "\n".join(SRCS) + "\n"), put("ref.de", ref), put(name, content), "en-de"
        )

    return make


MIXED = {
    "all but one": "\r\n".join(LINES[:3]) + "\n" + LINES[3] + "\r\n",
    "the last one": "\n".join(LINES) + "\r\n",
    "doubled, and once alone": "\r\r\n".join(LINES) + "\n",
}


@pytest.mark.parametrize("kind", MIXED)
def test_mixed_line_ends_leave_no_carriage_return_and_are_said(read, kind):
    test = read(MIXED[kind])
    assert list(test.systems["hyp"]) == LINES
    assert [note for note in test.notes if note.startswith("hyp.de: ") and "CR LF" in note]


@pytest.mark.parametrize(
    "content",
    ["\r\n".join(LINES), "\r\n".join(LINES) + "\r\n", "\r\n".join(LINES) + "\r", "\n".join(LINES)],
)
def test_one_kind_of_line_ends_needs_no_note(read, content):
    test = read(content)
    assert (list(test.systems["hyp"]), test.notes) == (LINES, ())


def test_a_carriage_return_within_a_line_is_text_and_one_instead_of_lines_is_refused(put):
    assert read_lines(put("a.de", "a\rb\nc\n")) == ("a\rb", "c")
    with pytest.raises(DataError, match="has carriage returns and no line feed"):
        read_lines(put("mac.de", "\r".join(LINES) + "\r"))


def test_a_command_says_it_and_scores_the_same(put, capsys):
    values = []
    for name, text in {"lf": "\n".join(LINES) + "\n", "mixed": MIXED["all but one"]}.items():
        src, hyp = put("src.en", "\n".join(SRCS) + "\n"), put(f"{name}.de", text)
        assert not cli.main(["score", "-s", str(src), "-t", str(hyp), "-m", "ttr", "-l", "en-de"])
        out, err = capsys.readouterr()
        values.append(float(out.split("\n")[1].split(",")[3]))
        assert ("CR LF" in err) == (name == "mixed")
    assert values[0] == values[1]


def test_candidates_and_sources_in_json_end_in_no_line_end(put):
    flat = put(
        "c.jsonl",
        "".join(json.dumps({"segment": i, "text": f"{t}\r"}) + "\n" for i, t in enumerate(LINES)),
    )
    cands = read_candidates(flat)
    assert (list(cands.texts), cands.notes) == (
        LINES,
        ("4 of 4 candidates end in a carriage return, which is left out.",),
    )
    rows = [
        {"src": f"{s}\r\n", "refs": [f"{t}\r"], "candidates": [t], "lp": "en-de"}
        for s, t in zip(SRCS, LINES, strict=True)
    ]
    test = load(put("self.jsonl", "".join(json.dumps(row) + "\n" for row in rows)))
    assert (list(test.srcs), list(test.refs["refA"])) == (SRCS, LINES)
    assert "4 of 4 texts of refA end in a carriage return, which is left out." in test.notes


def test_a_byte_order_mark_is_left_out_and_said(read, put):
    test = read("\ufeff" + "\n".join(LINES) + "\n")
    assert list(test.systems["hyp"]) == LINES
    assert [note for note in test.notes if note.startswith("hyp.de starts with a byte-order mark")]
    marked = sacrebleu.corpus_chrf(["\ufeff" + LINES[0], *LINES[1:]], [LINES]).score
    assert marked < sacrebleu.corpus_chrf(list(test.systems["hyp"]), [LINES]).score == 100
    joined = "\n".join(LINES[:2]) + "\n\ufeff" + "\n".join(LINES[2:]) + "\n"
    _, notes = text_lines(joined.encode(), "joined.de")
    assert notes == (
        "joined.de: line 3 starts with a byte-order mark, which is left in as text; were files joined?",
    )


def test_decomposed_letters_are_named_where_files_differ(read, put):
    apart = unicodedata.normalize("NFD", "\n".join(LINES) + "\n")
    test = read(apart)
    (note,) = test.notes
    assert "Unicode's NFD" in note
    assert "hyp (1 of 4 lines)" in note
    assert "code points" in note
    assert list(test.systems["hyp"]) == apart.split("\n")[:4]  # said, and nothing changed
    assert read(apart, ref=apart).notes == ()
    assert read("\n".join(LINES)).notes == ()
    plain = read_plain(
        put("src.en", "\n".join(SRCS)), put("ref.de", "\n".join(LINES)), None, "en-de"
    )
    assert "mine (1 of 4 lines)" in add_systems(plain, [f"mine={put('x.de', apart)}"]).notes[0]


@pytest.mark.parametrize("extra", ["\n", "\n\n \n", "\r\n\n"])
def test_blank_lines_at_the_end_are_left_out_and_counted(read, put, extra):
    k = extra.count("\n")
    test = read("\n".join(LINES) + "\n" + extra)
    assert (len(test), list(test.systems["hyp"])) == (4, LINES)
    cut = f"Blank lines at the end are left out, because the other files end before them: hyp.de ({k})."
    assert cut in test.notes
    longer = read("\n".join(LINES), ref="\n".join(LINES) + "\n" + extra)
    assert longer.refs["ref"] == tuple(LINES)
    added = add_systems(longer, [f"mine={put('mine.de', chr(10).join(LINES) + chr(10) + extra)}"])
    assert added.systems["mine"] == tuple(LINES)
    assert f"mine.de ({k})" in added.notes[-1]


def test_blank_lines_that_belong_to_segments_stay(read, put):
    test = read("\n".join(LINES[:2]) + "\n\n\n")
    assert test.systems["hyp"] == (*LINES[:2], "", "")
    with pytest.raises(DataError, match="has 3 lines, expected 4"):
        read("\n".join(LINES[:3]) + "\n")
    with pytest.raises(DataError, match="has 6 lines, expected 4"):
        read("\n".join(LINES) + "\n\nx\n")
    lines = put("c.txt", "a\nb\nc\nd\n\n\n")
    cands = read_candidates(lines, ["x", "y"], 2)
    assert (cands.texts, cands.notes) == (
        ("a", "b", "c", "d"),
        ("c.txt: 2 blank lines at its end are left out.",),
    )


CAPITALS = ("C.JSONL", "C.NDJSON", "C.Json", "c.jsonl.GZ")


@pytest.mark.parametrize("name", CAPITALS)
def test_an_ending_in_capitals_is_the_same_ending(put, name):
    path = put(name, '{"segment": 0, "text": "a"}\n')
    assert read_candidates(path).texts == load_candidates(path).texts == ("a",)
    whole = put(name, '{"src": "Yes.", "refs": ["Ja."], "candidates": ["Ja!"], "lp": "en-de"}\n')
    assert load(whole).srcs == ("Yes.",)


def test_capitals_in_other_places(put, tmp_path):
    pandas = pytest.importorskip("pandas")
    pandas.DataFrame({"segment": [0], "text": ["a"]}).to_parquet(
        tmp_path / "C.Parquet", index=False
    )
    assert read_candidates(tmp_path / "C.Parquet").texts == ("a",)
    for name in ("A.CSV", "a.Parquet"):
        check_table_name(name)
    assert (suffix_of("X.TSV"), suffix_of("x.tsv.XZ"), stem_of("MINE.DE.GZ")) == (
        ".tsv",
        ".tsv",
        "MINE",
    )
    src, hyp = put("src.en", "\n".join(SRCS)), put("hyp.de", "\n".join(LINES))
    mt = put("mt.de", "\n".join(f"{line} so" for line in LINES))
    typed = [
        "score",
        "-s",
        f"{src}",
        "-r",
        f"{hyp}",
        "-t",
        f"{mt}",
        "-l",
        "en-de",
        "-o",
        f"{tmp_path / 'OUT.CSV'}",
    ]
    assert not cli.main(typed)
    assert (tmp_path / "OUT.CSV").read_text().startswith("system,")


def test_a_text_that_comes_alone_says_its_notes(put, capsys):
    path = put("alone.de", "\ufeff" + unicodedata.normalize("NFD", MIXED["all but one"]))
    load_mono(path)
    said = capsys.readouterr().err
    assert "alone.de starts with a byte-order mark" in said
    assert "alone.de: 3 of 4 lines end in CR LF" in said
    assert "alone.de: 1 of 4 lines hold decomposed letters" in said
    load_mono(path)
    assert capsys.readouterr().err == ""


@pytest.mark.real
def test_the_official_score_of_wmt23_needs_the_mark(capsys):
    test = load("wmt23/en-de")
    hyps, refs = list(test.systems["AIRC"]), [list(test.refs["refA"])]
    assert [
        note
        for note in test.notes
        if note.startswith("generaltest2023.en-de.hyp.AIRC.de starts with a byte-order")
    ]
    assert len([note for note in test.notes if "byte-order" in note]) == 1
    assert sacrebleu.corpus_chrf(hyps, refs).score == pytest.approx(52.19222809, abs=1e-8)
    assert sacrebleu.corpus_chrf(["\ufeff" + hyps[0], *hyps[1:]], refs).score == pytest.approx(
        52.19217213, abs=1e-8
    )


@pytest.mark.real
def test_real_lines_with_mixed_ends_score_as_before(put):
    test = load("wmt24/en-de")
    hyps = next(iter(test.systems.values()))
    mixed = "".join(line + ("\n" if i % 7 else "\r\n") for i, line in enumerate(hyps)) + "\n\n"
    again = read_plain(put("s", "\n".join(test.srcs) + "\n"), None, put("h", mixed), "en-de")
    assert again.systems["h"] == hyps


NAMES = [
    "Anna",
    "Bert",
    "Cora",
    "Dirk",
    "Emma",
    "Fritz",
    "Gerda",
    "Hans",
    "Ida",
    "Jonas",
    "Karla",
    "Ludwig",
    "Marta",
    "Nils",
    "Olga",
    "Peter",
    "Rosa",
    "Sven",
    "Tilda",
    "Ute",
]
PLAIN = [
    f"{name} schläft heute {i * i % 97} Stunden lang, und dann hört {name} wieder Musik."
    for i, name in enumerate(NAMES)
]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda i, line: f"{i}. {line}", "begin with a number or an id ('1. ')"),
        (lambda i, line: f"H-{i}\t-0.3\t{line}", "hold a tab"),
        (lambda i, line: f"Übersetzung: {line}", "begin alike ('Übersetzung:')"),
        (lambda i, line: f'"{line}"', "are in quotation marks"),
        (lambda i, line: f"**{line}**", "hold Markdown"),
        (lambda i, line: line.replace("ä", "&auml;"), "hold entities of HTML"),
        (lambda i, line: f"{line}</s>", "hold tags"),
        (lambda i, line: f"__de__ {line}", "begin with a code of a language"),
        (lambda i, line: line.replace(" ", " ▁"), "hold marks of sub-words"),
        (
            lambda i, line: line.replace("ä", "ä".encode().decode("latin-1")),
            "hold letters that were decoded wrongly",
        ),
        (lambda i, line: line.replace("ä", "?"), "hold question marks within words"),
        (lambda i, line: f"\u200b{line}", "hold invisible characters"),
        (lambda i, line: line.replace(",", " ,"), "have spaces before their punctuation"),
        (lambda i, line: line.lower(), "have no capital letter"),
        (lambda i, line: line.upper(), "have no small letter"),
        (lambda i, line: line[:40], "have the same length, as if they were cut ('40 characters')"),
        (
            lambda i, line: "ERROR: rate limit exceeded" if i % 2 else line,
            "are the same ('ERROR: rate limit exceeded')",
        ),
    ],
)
@pytest.mark.parametrize("side", ["system", "reference"])
def test_what_every_line_has_and_no_reference_is_told(change, told, side, put, capsys):
    """One of BLEU's points for a number before each line: the order of systems changes, and nobody sees it."""
    good = [line.replace(" und ", " aber ") for line in PLAIN]
    dirty = [change(i, line) for i, line in enumerate(PLAIN, 1)]
    src, ref, hyp = (
        put(name, "".join(f"{line}\n" for line in lines))
        for name, lines in (
            ("src", [f"Sentence {i}." for i in range(20)]),
            ("ref", good if side == "system" else dirty),
            ("hyp", dirty if side == "system" else good),
        )
    )
    assert cli.main(["score", "-s", f"{src}", "-r", f"{ref}", "-t", f"{hyp}", "-l", "en-de"]) == 0
    err = capsys.readouterr().err
    assert f"{'hyp' if side == 'system' else 'ref'}: " in err
    assert told in err, err
    assert ("ref: " in err, "hyp: " in err) == (side == "reference", side == "system"), err


def test_clean_lines_are_told_nothing(put, capsys):
    src, ref, hyp = (
        put(name, "".join(f"{line}\n" for line in lines))
        for name, lines in (
            ("src", [f"Sentence {i}." for i in range(20)]),
            ("ref", PLAIN),
            ("hyp", [line.replace(" und ", " aber ") for line in PLAIN]),
        )
    )
    assert cli.main(["score", "-s", f"{src}", "-r", f"{ref}", "-t", f"{hyp}", "-l", "en-de"]) == 0
    said = capsys.readouterr().err.splitlines()
    assert [line for line in said if not line.startswith("made by ")] == []


@pytest.mark.real
@pytest.mark.parametrize("name", ["wmt23/en-de", "wmt24/en-de", "wmt24/ja-zh", "teaching"])
def test_no_real_text_has_such_habits(name):
    test = load(name)
    assert habits({**test.refs, **test.systems}, test.refs) == ()
