import bz2
import gzip
import json
import lzma
import math
import zlib
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from anhelpers.data import io
from anhelpers.errors import DataError

ODD = "a\u2028b\u2029c\x0bd\x0ce\x1cf\x85g\rh\ti 🙂"
PACK = {".gz": gzip.compress, ".xz": lzma.compress, ".zst": zstandard.ZstdCompressor().compress}


@pytest.fixture
def file(tmp_path):
    def make(data: bytes, name: str = "a.txt"):
        (tmp_path / name).write_bytes(data)
        return tmp_path / name

    return make


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"", ()),
        (b"\n\n", ("", "")),
        (b"a\nb", ("a", "b")),
        (b"a\n\n", ("a", "")),
        (b"a\r\nb\r\n", ("a", "b")),
        (b"a\rb\nc\n", ("a\rb", "c")),
        (b"\xef\xbb\xbfa\n\xef\xbb\xbfb\n", ("a", "\ufeffb")),
        (f"{ODD}\n{ODD}\n".encode(), (ODD, ODD)),
    ],
)
def test_lines_end_at_line_feeds(file, data, lines):
    assert io.read_lines(file(data)) == lines
    for pack in PACK.values():  # recognised by the first bytes
        assert io.read_lines(file(pack(data))) == lines
        assert io.read_lines(file(pack(data) + pack(data))) == io.read_lines(file(data + data))


TABLE = {"system": str, "n": int, "score": float}
BAD = [  # reader, name, bytes, line
    ("lines", "latin1.txt", "a\nä\n".encode("latin-1"), 2),
    ("lines", "a.bz2", bz2.compress(b"a\n"), 1),
    ("lines", "a.zip", b"PK\x03\x04\n\0", 1),
    ("lines", "nul.txt", b"a\nb\nc\0\n", 3),
    ("lines", "utf16.txt", "ab\n".encode("utf-16"), 1),
    *[("lines", f"cut{end}", pack(b"text " * 99)[:-9], None) for end, pack in PACK.items()],
    ("jsonl", "array.jsonl", b"{}\n[1]\n", 2),
    ("jsonl", "blank.jsonl", b"{}\n\n{}\n", 2),
    ("jsonl", "twice.jsonl", b'{"a": 1, "a": 2}\n', 1),
    ("jsonl", "half.jsonl", b'{"a": "\\ud800"}\n', 1),
    ("jsonl", "deep.jsonl", b"[" * 100_000, 1),
    ("table", "empty.csv", b"", 1),
    ("table", "column.csv", b"system,n\na,1\n", 1),
    ("table", "twice.csv", b"system,n,score,n\na,1,2,3\n", 1),
    ("table", "float.csv", b'system,n,score\n\n"a\nb",1,2\nb,1,0.5x\n', 5),
    ("table", "comma.tsv", b"system\tn\tscore\na\t1\t0,5\n", 2),
    ("table", "infinite.csv", b"system,n,score\na,1,inf\n", 2),
    ("table", "int.csv", b"system,n,score\na,1,1\na,1.5,1\n", 3),
    ("table", "missing.csv", b"system,n,score\na,,1\n", 2),
    ("table", "short.csv", b"system,n,score\na,1,1\nb,2\n", 3),
    ("table", "long.csv", b"system,n,score\na,1,1\nb,2,3,4\n", 3),
    ("table", "quote.csv", b'system,n,score\n"a,1,1\n', 2),
    ("table", "keys.csv", b"system,n,score\na,1,1\n\na,1,2\n", 4),
]


@pytest.mark.parametrize(("kind", "name", "data", "line"), BAD, ids=[row[1] for row in BAD])
def test_malformed_files_are_refused_with_their_line(file, kind, name, data, line):
    readers = {
        "lines": io.read_lines,
        "jsonl": io._read_jsonl,
        "table": lambda path: io.read_table(path, TABLE, keys=["system", "n"]),
    }
    path = file(data, name)
    with pytest.raises(DataError) as error:
        readers[kind](path)
    assert (error.value.path, error.value.line) == (path, line)


def test_large_windows_are_unpacked(file, monkeypatch):
    """The dictionary of 4 GiB is only declared, in the header of the first block."""
    xz = bytearray(lzma.compress(b"a\nb\n"))
    xz[16] = 40
    xz[20:24] = zlib.crc32(xz[12:20]).to_bytes(4, "little")
    form = zstandard.ZstdCompressionParameters(window_log=30)
    packer = zstandard.ZstdCompressor(compression_params=form).compressobj()
    for data in (bytes(xz), packer.compress(b"a\nb\n") + packer.flush()):
        assert io.read_lines(file(data)) == ("a", "b")
    monkeypatch.setattr(io.lzma, "LZMAFile", Mock(side_effect=MemoryError))
    with pytest.raises(DataError, match="too little memory to unpack it"):
        io.read_lines(file(bytes(xz)))


def test_small_files_that_unpack_to_too_much_are_refused(file, monkeypatch):
    monkeypatch.setattr(io, "_LARGEST", 10**6)
    for end, pack in PACK.items():
        with pytest.raises(DataError):
            io.read_lines(file(pack(b"0" * 10**7), f"a{end}"))
    monkeypatch.setattr(io, "_MOST_LINES", 999)
    with pytest.raises(DataError, match="999 lines"):
        io.read_lines(file(b"\n" * 1000))


def test_tables_keep_text_and_read_missing_numbers(file):
    data = b'system,n,score,more\r\nNA,1,None,x\r\n" q\n,",2,-1e3,\r\nc,3,,nan\r\n'
    table = io.read_table(file(data), TABLE)
    assert table.system.tolist() == ["NA", " q\n,", "c"]
    assert table.more.tolist() == ["x", "", "nan"]
    assert table.n.tolist() == [1, 2, 3]
    assert table.index.tolist() == [2, 3, 5]  # lines
    assert math.isnan(table.score[2])
    assert table.score[3] == -1000


def test_tables_without_header_or_quoting(file):
    table = io.read_table(
        file(b'a "b\t1\nc\rd\t2\n'), {"x": str, "y": int}, quoted=False, names=["x", "y"]
    )
    assert table.values.tolist() == [['a "b', 1], ["c d", 2]]
    assert len(io.read_table(file(b"x,y\n"), {"x": str, "y": float, "z": int}, optional="z")) == 0


CELLS = st.text(st.characters(exclude_characters="\0\r", exclude_categories=["Cs"]), max_size=9)
NUMBERS = st.none() | st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(st.tuples(CELLS, st.integers(-(2**52), 2**52), NUMBERS), min_size=1))
def test_tables_that_pandas_wrote_are_read(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("table") / "a.csv"
    frame = pd.DataFrame(rows, columns=list(TABLE))
    frame.to_csv(path, index=False)
    read = io.read_table(path, TABLE)
    assert read.system.tolist() == frame.system.tolist()
    assert read.n.tolist() == frame.n.tolist()
    np.testing.assert_array_equal(read.score, frame.score.astype(float))


def test_files_are_written_in_one_step(tmp_path):
    path = tmp_path / "a.txt"
    assert io.write_atomic(path, "ä\n") == path
    assert io.write_atomic(path, json.dumps("é").encode()).read_bytes() == b'"\\u00e9"'
    for bad in ("\ud800", "x"):
        with pytest.raises(DataError):
            io.write_atomic(path if bad != "x" else tmp_path / "no" / "a", bad)
    with pytest.raises(RuntimeError), io.scratch_folder(tmp_path / "new") as part:  # noqa: PT012
        io.write_atomic(part / "a", "half")
        raise RuntimeError
    assert path.read_bytes() == b'"\\u00e9"'
    assert [one.name for one in tmp_path.iterdir()] == ["a.txt"]
