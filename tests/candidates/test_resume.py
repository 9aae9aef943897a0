"""A run that is cut off goes on, and ends with the bytes of an unbroken one."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="pip install -c constraints.txt -e '.[neural]'")

from anhelpers import cli  # noqa: E402
from anhelpers.candidates import Drawing, draw, resume  # noqa: E402
from anhelpers.candidates.draw import draw_source  # noqa: E402
from anhelpers.candidates.drawing import read_method  # noqa: E402
from anhelpers.candidates.resume import draw_to_file  # noqa: E402
from anhelpers.data import read_candidate_file, read_candidates  # noqa: E402
from anhelpers.errors import DataError  # noqa: E402


@pytest.fixture
def drawing(mt):
    return Drawing(mt, 20, max_tokens=8)


@pytest.fixture
def whole(drawing, srcs, tmp_path):
    """The bytes of an unbroken run."""
    draw_to_file(drawing, srcs, tmp_path / "whole.jsonl")
    return (tmp_path / "whole.jsonl").read_bytes()


def stop_after(n):
    """Draws that are interrupted after n sources."""

    def draws(drawing, missing):
        for i, src in missing[:n]:
            yield draw_source(drawing, i, src)
        raise KeyboardInterrupt

    return draws


def test_the_file_holds_what_draw_gives(mt, drawing, srcs, tmp_path):
    cands, before = draw_to_file(drawing, srcs, tmp_path / "c.jsonl")
    direct = draw(mt, srcs, 20, max_tokens=8)
    assert (before, cands == direct, cands.notes) == (0, True, direct.notes)
    assert read_candidates(tmp_path / "c.jsonl", srcs) == direct
    test, again = read_candidate_file(tmp_path / "c.jsonl")
    assert (test.srcs, again) == (tuple(srcs), direct)
    lines = (tmp_path / "c.jsonl").read_bytes().splitlines()
    assert {json.loads(line)["signature"] for line in lines} == {drawing.signature}
    assert [p.name for p in tmp_path.iterdir()] == ["c.jsonl"]


def test_an_interrupted_run_goes_on_and_a_torn_line_is_drawn_again(drawing, srcs, whole, tmp_path):
    path, partial = tmp_path / "c.jsonl", tmp_path / "c.jsonl.partial"
    with pytest.raises(KeyboardInterrupt):
        draw_to_file(drawing, srcs, path, stop_after(3))
    assert not path.exists()
    lines = partial.read_bytes().splitlines(keepends=True)
    assert [line[9:] for line in lines[1:]] == whole.splitlines(keepends=True)[:3]
    seen = []

    def counted(drawing, missing):
        seen.extend(i for i, _ in missing)
        return resume._one_by_one(drawing, missing)

    for torn, wanted in [(lines[3][:-1], [2, 3, 4]), (lines[3][:20], [2, 3, 4]), (b"", [2, 3, 4])]:
        partial.write_bytes(b"".join(lines[:3]) + torn)
        seen.clear()
        assert draw_to_file(drawing, srcs, path, counted)[1] == 2
        assert seen == wanted
        assert path.read_bytes() == whole
        path.unlink()
    partial.write_bytes(b"".join(lines[:3]) + lines[3][:20])
    with pytest.raises(KeyboardInterrupt):
        draw_to_file(drawing, srcs, path, stop_after(1))
    assert partial.read_bytes() == b"".join(lines)  # nothing of the torn line is left
    for torn in (lines[0][:-1], b""):
        partial.write_bytes(torn)
        assert draw_to_file(drawing, srcs, path)[1] == 0
        assert path.read_bytes() == whole
        path.unlink()


def test_workers_may_finish_in_any_order(drawing, srcs, whole, tmp_path):
    path = tmp_path / "c.jsonl"
    backwards = lambda drawing, missing: (  # noqa: E731
        draw_source(drawing, i, src) for i, src in reversed(missing)
    )
    draw_to_file(drawing, srcs, path, backwards)
    assert path.read_bytes() == whole


@pytest.mark.parametrize(
    "error", [OSError(24, "Too many open files"), BrokenPipeError(), TimeoutError("no worker")]
)
def test_what_the_system_says_while_drawing_is_not_told_of_the_file(
    drawing, srcs, whole, tmp_path, error
):
    def draws(drawing, missing):
        yield draw_source(drawing, *missing[0])
        raise error

    with pytest.raises(type(error)) as seen:
        draw_to_file(drawing, srcs, tmp_path / "c.jsonl", draws)
    assert seen.value is error
    _, before = draw_to_file(drawing, srcs, tmp_path / "c.jsonl")
    assert (before, (tmp_path / "c.jsonl").read_bytes()) == (1, whole)


def test_a_finished_file_costs_nothing_and_another_one_is_replaced(
    mt, drawing, srcs, whole, tmp_path
):
    path = tmp_path / "whole.jsonl"

    def none(drawing, missing):
        raise AssertionError

    cands, before = draw_to_file(drawing, srcs, path, none)
    assert (before, cands) == (5, draw(mt, srcs, 20, max_tokens=8))
    for other in (b"mine\n", b"[1]\n", b"{}\n", b"\xff"):
        path.write_bytes(other)
        assert draw_to_file(drawing, srcs, path)[1] == 0
        assert path.read_bytes() == whole
    draw_to_file(Drawing(mt, 20, seed=1, max_tokens=8), srcs, path)
    assert path.read_bytes() != whole


def test_a_partial_file_of_another_draw_is_told(mt, drawing, srcs, tmp_path):
    path, partial = tmp_path / "c.jsonl", tmp_path / "c.jsonl.partial"
    with pytest.raises(KeyboardInterrupt):
        draw_to_file(drawing, srcs, path, stop_after(2))
    kept = partial.read_bytes()
    for other, sources, difference in [
        (Drawing(mt, 20, seed=4, max_tokens=8), srcs, "seed 0, not 4"),
        (Drawing(mt, 21, max_tokens=8), srcs, "k 20, not 21"),
        (
            Drawing(mt, 20, read_method("epsilon:0.1"), max_tokens=8),
            srcs,
            "method ancestral, not epsilon:0.1",
        ),
        (drawing, srcs[:4], "other sources"),
        (drawing, ["No.", *srcs[1:]], "other sources"),
    ]:
        with pytest.raises(
            DataError,
            match=rf"c\.jsonl\.partial: holds another draw that was cut off, of {difference}",
        ):
            draw_to_file(other, sources, path)
    assert partial.read_bytes() == kept
    for damaged in (b"hello\n", kept + b"{}\n"):
        partial.write_bytes(damaged)
        with pytest.raises(
            DataError,
            match=r"c\.jsonl\.partial: is damaged, so drawing cannot go on from it; delete it",
        ):
            draw_to_file(drawing, srcs, path)
    partial.write_bytes(b"[1]\n")
    with pytest.raises(DataError, match="of something else; finish that one"):
        draw_to_file(drawing, srcs, path)


def test_two_processes_do_not_draw_into_one_file(drawing, srcs, tmp_path):
    pytest.importorskip("fcntl")

    def meanwhile(_, missing):
        with pytest.raises(
            DataError, match="another process is drawing into it; wait for that one"
        ):
            draw_to_file(drawing, srcs, tmp_path / "c.jsonl")
        return resume._one_by_one(_, missing)

    draw_to_file(drawing, srcs, tmp_path / "c.jsonl", meanwhile)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("c.csv", "candidates are written as JSON lines"),
        ("no/c.jsonl", "there is no folder"),
        ("d.jsonl", "cannot be"),
    ],
)
def test_a_bad_output_is_told_before_anything_is_drawn(drawing, srcs, tmp_path, name, sentence):
    (tmp_path / "d.jsonl.partial").mkdir()
    with pytest.raises(DataError, match=sentence):
        draw_to_file(drawing, srcs, tmp_path / name, stop_after(0))


def test_a_killed_run_ends_with_the_same_file(tiny_marian, tmp_path, capsys):
    """kill -9 while the command draws, and the same command again."""
    src = tmp_path / "src.txt"
    src.write_text("".join(f"The dog sees {i} cats.\n" for i in range(20)), "utf-8")
    threads = {"OMP_NUM_THREADS": str(torch.get_num_threads())}

    def command(output):
        return [
            sys.executable,
            "-m",
            "anhelpers",
            "generate",
            "--model",
            str(tiny_marian / "mt"),
            "-s",
            str(src),
            "-n",
            "70",
            "--method",
            "epsilon:0.01",
            "--max-tokens",
            "40",
            "-o",
            str(output),
        ]

    path, partial = tmp_path / "c.jsonl", tmp_path / "c.jsonl.partial"
    running = subprocess.Popen(command(path), env=os.environ | threads, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 120
    while not (partial.exists() and partial.read_bytes().count(b"\n") > 3):
        assert running.poll() is None, running.stderr.read()
        assert time.monotonic() < deadline
        time.sleep(0.01)
    running.send_signal(signal.SIGKILL)
    running.communicate()
    assert not path.exists()
    before = partial.read_bytes().count(b"\n") - 1
    assert 0 < before < 20
    assert cli.main(command(path)[3:]) == 0
    assert f"note: {before} of 20 sources were there already." in capsys.readouterr().err
    unbroken = tmp_path / "unbroken.jsonl"
    assert cli.main(command(unbroken)[3:]) == 0
    assert rows(path) == rows(unbroken)
    cands = read_candidates(path)
    assert (np.bincount(cands.segment, cands.multiplicity) == 70).all()
    assert not partial.exists()


def rows(path):
    """The lines without made_by: this process has loaded libraries that the command by itself has not."""
    return [
        re.sub(r', "made_by": "[^"]*"', "", line) for line in path.read_text("utf-8").splitlines()
    ]
