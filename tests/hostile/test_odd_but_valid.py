"""Files that look strange and are right: what they hold arrives unchanged."""

from __future__ import annotations

import os
import threading

import numpy as np
import pytest

from anhelpers import data
from anhelpers.data.numbers import read_logprobs
from anhelpers.data.token_scores import read_token_scores
from anhelpers.errors import one_line

from .good import CANDS, MQM

ODD = {  # a line that is one segment -> why it could be taken for another number of them
    "a\u2028b\u2029c": "separators of lines and paragraphs",
    "a\x85b": "next line",
    "a\x0bb\x0cc": "vertical tab, form feed",
    "a\x1cb\x1db\x1ec": "separators of files, groups, records",
    "a\rb": "a carriage return alone",
    "שלום \u202eעולם\u202c": "right to left",
    "e\u0301\u0327\u0300\u0323": "combining marks",
    "a\u200bb\u200d\ufeffc": "zero width",
    "👩‍👩‍👧 🇩🇪": "emoji of several characters",
    "\u3000": "a wide space",
    "<html> & &lt;": "markup within a text",
    "\U000e0041\U0010ffff": "the far end of Unicode",
    "": "nothing",
    "x" * 1_000_000: "a million characters",
}


def test_a_strange_line_stays_one_segment(tmp_path):
    lines = ["first", *ODD, "last"]
    path = tmp_path / "odd.txt"
    for end, mark in (("\n", b""), ("\r\n", b""), ("\n", b"\xef\xbb\xbf")):
        path.write_bytes(mark + "".join(line + end for line in lines).encode())
        assert data.read_lines(path) == tuple(lines)
        test = data.read_plain(path, [path], {"A": path}, "en-de")
        assert (test.srcs, test.systems["A"], len(test)) == (tuple(lines), tuple(lines), len(lines))


@pytest.mark.parametrize(
    "change", [lambda t: "\ufeff" + t, lambda t: t.replace("\n", "\r\n"), lambda t: t.rstrip("\n")]
)
def test_marks_and_line_ends_of_other_systems_change_nothing(tmp_path, change):
    def read(text: str, name: str) -> object:
        (tmp_path / name).write_bytes(text.encode())
        return tmp_path / name

    cands = [
        data.read_candidates(read(text, f"{i}.jsonl"))
        for i, text in enumerate((CANDS, change(CANDS)))
    ]
    assert cands[0].texts == cands[1].texts
    assert (cands[0].segment == cands[1].segment).all()
    assert read_logprobs(read(change("-1\nnan\n-2.5e-1\n"), "n.txt"))[[0, 2]].tolist() == [
        -1.0,
        -0.25,
    ]
    tokens = read_token_scores(
        read(change('{"logprobs": [-1, -2]}\n{"logprobs": null}\n'), "t.jsonl")
    )
    np.testing.assert_array_equal(tokens.logprobs, [-3.0, np.nan])
    ratings = [
        data.read_ratings(read(text, f"{i}.tsv")) for i, text in enumerate((MQM, change(MQM)))
    ]
    assert ratings[0].systems == ratings[1].systems
    assert len(ratings[0]) == len(ratings[1]) == 4


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_read_to_its_end_however_late_it_is_written(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    def write() -> None:
        with pipe.open("wb") as file:
            for _ in range(300):
                file.write(b"x" * 999 + b"\n")
                file.flush()

    writer = threading.Timer(0.2, write)
    writer.start()
    assert data.read_lines(pipe) == ("x" * 999,) * 300
    writer.join()


def test_what_a_file_holds_cannot_steer_the_terminal():
    assert one_line("a\x1b[2Jb\r\nc\u202ed") == "a\\x1b[2Jb c\\u202ed"
    assert len(one_line("x" * 10_000_000)) <= 2000
