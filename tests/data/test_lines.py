import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anhelpers.data import (
    load,
    load_candidates,
    read_candidate_file,
    read_lines,
    read_ratings,
    write_text,
)
from anhelpers.data.lines import lines_of
from anhelpers.data.writing import results_together
from anhelpers.errors import DataError

ODD = "a\u2028b\u2029c\x0bd\x0ce\x1cf\x85g\rh\ti 🙂"


@pytest.fixture
def file(tmp_path):
    def make(data: bytes, name: str = "a.txt"):
        path = tmp_path / name
        path.write_bytes(data)
        return path

    return make


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"", ()),
        (b"\n", ("",)),
        (b"\n\n", ("", "")),
        (b"a\nb\n", ("a", "b")),
        (b"a\nb", ("a", "b")),
        (b"a\n\n", ("a", "")),
        (b"a\r\nb\r\n", ("a", "b")),
        (b"a\r\nb", ("a", "b")),
        (b"a\r\nb\n", ("a", "b")),
        (b"a\rb\nc\n", ("a\rb", "c")),
        (b"a\r\r\nb\r\n", ("a", "b")),
        (b"\xef\xbb\xbfa\n", ("a",)),
        (b"a\n\xef\xbb\xbfb\n", ("a", "\ufeffb")),
        (f"{ODD}\n{ODD}\n".encode(), (ODD, ODD)),
    ],
)
def test_only_a_line_feed_ends_a_line(file, data, lines):
    assert read_lines(file(data)) == lines


@given(
    st.lists(
        st.text(st.characters(exclude_characters="\n\0", exclude_categories=["Cs"])), min_size=1
    )
)
def test_any_text_survives_writing_and_reading(tmp_path_factory, lines):
    path = tmp_path_factory.mktemp("lines") / "a.txt"
    write_text(path, "".join(line + "\n" for line in lines))
    assert lines[0].startswith("\ufeff") or lines_of(path.read_bytes(), path) == tuple(
        x.rstrip("\r") for x in lines
    )


def test_a_byte_that_is_not_utf8_is_named_with_line_and_column(file):
    path = file("eins\nzwä".encode() + b"\xff\ndrei\n")
    with pytest.raises(DataError) as error:
        read_lines(path)
    assert (
        str(error.value)
        == f"{path}, line 2: byte 0xff at column 4 is not UTF-8; re-save the file as UTF-8."
    )
    assert error.value.line == 2


def test_a_latin1_file_is_refused(file):
    with pytest.raises(DataError, match="line 1: byte 0xfc at column 2"):
        read_lines(file("für\n".encode("latin-1")))


def test_a_missing_file_names_the_nearest_one(file, tmp_path):
    path = file(b"", "en-de.refA.txt")
    (tmp_path / "mine").write_text("a\n")
    with pytest.raises(
        DataError, match=r"mine is one, but a kind \(:LLM\) is known to `anhelpers plane` alone\."
    ):
        read_lines(tmp_path / "mine:LLM")
    with pytest.raises(DataError, match=r"no such file; did you mean 'en-de\.refA\.txt'\?"):
        read_lines(path.with_name("en-de.refa.txt"))


def test_a_missing_file_lists_its_folder(file):
    with pytest.raises(DataError, match=r"no such file; that folder holds a\.txt\."):
        read_lines(file(b"").with_name("quite-another"))


def test_a_missing_folder_and_a_folder_are_named(tmp_path):
    with pytest.raises(DataError, match="there is no folder"):
        read_lines(tmp_path / "no" / "a.txt")
    with pytest.raises(DataError, match="this is a folder"):
        read_lines(tmp_path)


def test_writing_leaves_no_temporary_file(tmp_path):
    path = write_text(tmp_path / "a.txt", "eins\n")
    write_text(path, "zwei\n")
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]
    assert read_lines(path) == ("zwei",)


def test_half_a_surrogate_pair_or_a_missing_folder_stops_the_writer(tmp_path):
    path = write_text(tmp_path / "a.txt", "eins\n")
    with pytest.raises(DataError, match=r"U\+D800"):
        write_text(path, "\ud800")
    assert read_lines(path) == ("eins",)
    with pytest.raises(DataError, match="make it first"):
        write_text(tmp_path / "no" / "a.txt", "")


@pytest.mark.parametrize("there", [False, True])
def test_results_that_are_not_finished_leave_no_folder_of_their_own(tmp_path, there):
    folder = tmp_path / "out"
    if there:
        folder.mkdir()
        write_text(folder / "old.txt", "eins\n")

    def run(stop):
        with results_together(folder, ["new.txt", "old.txt"]) as fresh:
            write_text(fresh / "new.txt", "zwei\n")
            if stop:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(stop=True)
    assert [p.name for p in tmp_path.rglob("*")] == ["out", "old.txt"] * there
    run(stop=False)
    assert [p.name for p in folder.iterdir()] == ["new.txt"]


def test_a_failed_write_keeps_the_old_file(tmp_path, monkeypatch):
    path = write_text(tmp_path / "a.txt", "eins\n")
    monkeypatch.setattr(
        "os.replace", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device"))
    )
    with pytest.raises(DataError, match="No space left"):
        write_text(path, "zwei\n")
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]
    assert read_lines(path) == ("eins",)


@pytest.mark.parametrize("read", [read_lines, read_ratings, load, load_candidates])
def test_a_name_that_no_system_takes_is_told(tmp_path, read):
    with pytest.raises(DataError, match=r"cannot be read \(|neither a known data set nor a path"):
        read(tmp_path / ("x" * 300))


def test_a_file_is_told_that_is_not_in_a_folder_without_a_listing(tmp_path, monkeypatch):
    def closed(path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "iterdir", closed)
    with pytest.raises(DataError, match=r"typo\.txt: no such file; check its name"):
        read_lines(tmp_path / "typo.txt")


def test_a_folder_that_may_not_be_entered_is_told(tmp_path, monkeypatch):
    def closed(path, **_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "stat", closed)
    with pytest.raises(DataError, match=r"x\.txt: cannot be read \(Permission denied\)"):
        read_lines(tmp_path / "x.txt")


def test_a_text_without_line_ends_is_told_before_anything_is_computed(tmp_path):
    path = tmp_path / "one.de"
    path.write_text("kurz\n" + "ein Satz. " * 100_001 + "\n")
    with pytest.raises(
        DataError, match=r"one\.de, line 2: a text of 1,000,010 characters; one has at"
    ):
        read_lines(path)
    path.write_text("ein Satz. " * 100_000)
    assert len(read_lines(path)) == 1
    row = {"src": "One.", "refs": ["Eins."], "candidates": ["Eins.", "a" * 1_000_001]}
    (path := tmp_path / "cands.jsonl").write_text(json.dumps(row) + "\n")
    with pytest.raises(DataError, match=r'cands\.jsonl, line 1: "text" is a text of 1,000,001'):
        read_candidate_file(path)
