"""Disks that are full, folders that are closed, homes that are absent, clocks that jump."""

from __future__ import annotations

import os
import re
import resource
import shutil
import subprocess
import sys
import time
from email.utils import formatdate

import numpy as np
import pytest

from anhelpers.data import fetch as downloading
from anhelpers.data.writing import lock, write_text
from anhelpers.errors import DataError
from anhelpers.scoring import store as store_module
from anhelpers.scoring.memo import memo
from anhelpers.scoring.store import Store, key
from anhelpers.scoring.upkeep import export_parquet, prune, sizes

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
YEARS = 20 * 365.25 * 86_400
SCORE = ["score", "-l", "en-de", "-s", "src", "-r", "src", "-t", "A=hyp"]


@pytest.fixture
def src(tmp_path):
    (tmp_path / "src").write_text("Ein Haus.\nJa.\n", "utf-8")
    (tmp_path / "hyp").write_text("Ein Hund.\nJa.\n", "utf-8")
    return tmp_path


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 256 kB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(folder)]
    if (
        os.name != "posix"
        or os.geteuid()
        or not shutil.which("mount")
        or subprocess.run(mount, check=False).returncode
    ):
        pytest.skip("only root may mount a small disk")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_disk_that_is_really_full_keeps_what_was_there(small_disk, child, src, faults):
    write_text(small_disk / "x.csv", "old\n")
    with pytest.raises(OSError), (small_disk / "filler").open("wb", buffering=0) as file:  # noqa: PT012
        while True:
            file.write(b"x" * 4096)
    run = child([*SCORE, "-o", "disk/x.csv"])
    assert run.wait() == 2
    sentence = "cannot be written (No space left on device); free some space and run again."
    assert run.text.decode() == f"anhelpers score: disk/x.csv: {sentence}\n"
    assert (small_disk / "x.csv").read_text() == "old\n"
    assert faults.hidden(small_disk) == []
    with pytest.raises(DataError, match=r"does not fit on the disk|could not be read or written"):
        Store(small_disk / "s.sqlite").put("s", [key("a")], [1.0])
    (small_disk / "filler").unlink()
    with Store(small_disk / "s.sqlite") as store:
        store.put("s", [key("a")], [1.0])
        with pytest.raises(DataError, match="does not fit on the disk; free some space"):
            store.put("s", [key(str(i)) for i in range(9000)], np.zeros(9000))
        assert store.get("s", [key("a"), key("1")])[1].tolist() == [True, False]
        with pytest.raises(DataError, match="No space left on device"):
            write_text(small_disk / "big", "x" * 300_000)
    for path in small_disk.glob("s.sqlite*"):
        path.unlink()
    assert child([*SCORE, "-o", "disk/x.csv"]).wait() == 0


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="/dev/full is Linux")
def test_a_full_standard_output_is_one_sentence(src):
    command = [sys.executable, "-m", "anhelpers", *SCORE]
    with open("/dev/full", "w") as full:
        run = subprocess.run(
            command, cwd=src, stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert run.returncode == 2
    assert (
        run.stderr
        == "anhelpers score: standard output: cannot be read or written (No space left on device).\n"
    )


def test_a_device_is_written_to_and_stays_one(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_text(pipe, "through\n")
    assert os.read(reader, 99) == b"through\n"
    os.close(reader)
    assert pipe.is_fifo()


@pytest.fixture
def closed(small_disk):
    """A disk that is read-only, with texts, an old result and a store."""
    (small_disk / "src").write_text("Ein Haus.\nJa.\n", "utf-8")
    (small_disk / "hyp").write_text("Ein Hund.\nJa.\n", "utf-8")
    (small_disk / "x.csv").write_text("old\n", "utf-8")
    with Store(small_disk / "scores.sqlite") as store:
        store.put("s", [key("a")], [1.0])
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    return small_disk


@pytest.mark.parametrize(
    "argv",
    [
        [*SCORE, "-o", "x.csv"],
        [*SCORE, "-o", "new/x.csv"],
        [*SCORE, "--mme", "set"],
        ["site", "--built", ".", "--out", "site"],
        ["store", "export", "x.parquet", "--store", "scores.sqlite"],
        ["store", "prune", "--signature", "s", "--store", "scores.sqlite"],
        ["run", "--out", "out"],
    ],
)
def test_a_closed_folder_is_told_and_stays_as_it_is(argv, closed, child):
    folder = closed
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    run = child(argv, before=lambda: os.chdir(folder))
    assert run.wait() == 2, run.text.decode()
    told = [line for line in run.lines() if not line.startswith("running ")]
    assert len(told) == 1, told
    assert told[0].startswith(f"anhelpers {argv[0]}: ")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_scores_that_a_closed_cache_cannot_keep_are_computed_all_the_same(
    closed, child, monkeypatch
):
    """Nobody asked for that file, and it must not cost the work."""
    folder = closed

    def work() -> None:
        os.environ.pop("ANHELPERS_STORE")
        os.environ["ANHELPERS_CACHE"] = str(folder)
        assert memo("s", ["a", "bc"], lambda i: np.array([7.0, 2.0])[i])[1, 0] == 2

    run = child(work)
    assert run.wait() == 0, run.text.decode()
    assert run.text.decode().count("scores are not kept: ") == 1


def test_a_cache_that_is_full_does_not_end_the_work(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("ANHELPERS_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("ANHELPERS_STORE")

    def full(*given):
        raise DataError("does not fit on the disk; free some space.", tmp_path)

    monkeypatch.setattr(Store, "put", full)
    assert memo("s", ["a", "bc"], lambda i: np.array([1.0, 2.0])[i])[:, 0].tolist() == [1, 2]
    assert capsys.readouterr().err.count("scores are not kept any more: ") == 1
    # a file that somebody asked for
    monkeypatch.setenv("ANHELPERS_STORE", str(tmp_path / "mine.sqlite"))
    with pytest.raises(DataError, match="does not fit on the disk"):
        memo("s", ["a", "bc"], lambda i: np.array([1.0, 2.0])[i])


HOMELESS = """
import os, sys
os.environ.pop("HOME", None), os.environ.pop("XDG_CACHE_HOME", None)
os.environ["TMPDIR"] = "/nowhere/at/all"
from anhelpers import cli
sys.exit(cli.main(sys.argv[1:]))
"""


@pytest.mark.skipif(os.name != "posix", reason="users are POSIX")
def test_without_home_and_temporary_folder_scores_come_all_the_same(src):
    clean = {name: value for name, value in os.environ.items() if not name.startswith("ANHELPERS_")}
    command = [sys.executable, "-c", HOMELESS, *SCORE]
    run = subprocess.run(command, cwd=src, env=clean, capture_output=True, text=True, check=False)
    assert run.returncode == 0
    assert re.fullmatch(r"made by [0-9a-f]{8}: anhelpers:.+\n", run.stderr)


@pytest.mark.parametrize("jump", [-3 * YEARS, -3600, 3600, YEARS])
def test_a_clock_that_jumps_changes_no_score_and_removes_none_by_itself(
    tmp_path, monkeypatch, jump
):
    store, real = Store(tmp_path / "s"), time.time
    store.put("s", [key("a")], [1.0])
    monkeypatch.setattr(store_module.time, "time", lambda: real() + jump)
    store.put("s", [key("a"), key("b")], [9.0, 2.0])
    assert store.get("s", [key("a"), key("b")])[0][:, 0].tolist() == [1, 2]
    assert sizes(store).scores.tolist() == [2]
    assert export_parquet(store, tmp_path / "x.parquet") == 2
    if jump < 0:
        assert prune(store, older_than=1) == 0  # by a clock that is behind, nothing is old
    monkeypatch.undo()
    assert prune(store, older_than=1) == (1 if jump < -86_400 else 0)
    values = memo("s", ["a", "b", "c"], lambda i: np.array([5.0, 6.0, 7.0])[i], store=store)
    assert values[2, 0] == 7


def test_days_that_no_calendar_has_are_shown_all_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr(store_module, "today", lambda: 10**8)
    store = Store(tmp_path / "s")
    store.put("s", [key("a")], [1.0])
    assert sizes(store).newest.tolist() == ["day 100000000"]


@pytest.mark.parametrize("jump", [-YEARS, YEARS])
def test_a_part_that_is_being_written_is_not_taken_whatever_the_clock_says(
    tmp_path, monkeypatch, jump
):
    target, real = tmp_path / "a.txt", time.time
    live, dead = (target.with_name(f".a.txt.elsewhere-{letter * 8}.part") for letter in "ab")
    with live.open("ab") as file:
        assert lock(file.fileno())
        dead.write_bytes(b"123")
        monkeypatch.setattr(downloading.time, "time", lambda: real() + jump)
        mine = downloading._claim(target)
        assert mine.read_bytes() == b"123"  # nobody has that one open
        assert not dead.exists()
        assert live.exists()


def test_the_date_of_retry_after_is_by_the_clock_of_the_server(monkeypatch):
    monkeypatch.setattr(downloading.time, "time", lambda: 0.0)  # ours says 1970
    headers = {
        "Retry-After": formatdate(1.8e9 + 7, usegmt=True),
        "Date": formatdate(1.8e9, usegmt=True),
    }
    assert downloading._seconds(headers) == 7


def test_a_clock_that_jumps_does_not_disturb_progress(capsys, monkeypatch):
    from anhelpers.progress import progress

    monkeypatch.setattr(time, "time", lambda: -YEARS)
    with progress(2, "work") as step:
        step(1)
        monkeypatch.setattr(time, "time", lambda: YEARS)
        step(1)
    assert capsys.readouterr().err == ""


def test_lines_of_progress_tell_how_long_the_rest_takes(capsys, monkeypatch):
    from anhelpers.progress import progress

    clock = iter([0.0, 5, 11, 30, 41, 71, 101])
    monkeypatch.delenv("ANX_MODE", raising=False)
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    with progress(1000, "work", "texts") as step:
        for n in (10, 10, 40, 40, 300, 600):
            step(n)
    assert capsys.readouterr().err.splitlines() == [
        "work: 20 of 1,000 texts (2%)",  # a beginning, whose pace tells little
        "work: 100 of 1,000 texts (10%), about 6 min left",
        "work: 400 of 1,000 texts (40%), about 2 min left",
        "work: 1,000 of 1,000 texts (100%)",
    ]


@pytest.mark.skipif(sys.platform == "win32", reason="needs a terminal of its own")
def test_who_waits_at_a_terminal_is_told_that_loops_are_compiled(tmp_path):
    import pty

    code = (
        "import numpy as np; from anhelpers.compiled import compiled\n"
        "@compiled\ndef f(x): return x + 1\n"
        "@compiled\ndef g(x): return x + 2\n"
        "print(f(1) + g(1))"
    )
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    ours, theirs = pty.openpty()
    call = [sys.executable, "-c", code]
    done = subprocess.run(call, stdout=subprocess.PIPE, stderr=theirs, env=env, check=True)
    os.close(theirs)
    assert done.stdout == b"5\n"
    assert os.read(ours, 10_000).decode().count("loops are compiled for this machine, once") == 1
    os.close(ours)
    done = subprocess.run(call, capture_output=True, env=env, check=True)
    assert done.stderr == b""  # nobody waits


def test_a_file_that_another_run_ended_is_not_drawn_into(tmp_path, monkeypatch):
    """Opened before the other run removes it, locked after: it would be written to a file without a name."""
    from anhelpers.candidates import resume

    partial, real, seen = tmp_path / "c.jsonl.partial", resume.lock, []

    def late(descriptor: int) -> bool:
        seen.append(descriptor)
        if len(seen) == 1:
            partial.unlink()
        return real(descriptor)

    monkeypatch.setattr(resume, "lock", late)
    with resume._opened(partial) as file:
        assert os.path.samestat(os.fstat(file.fileno()), partial.stat())
    assert len(seen) == 2


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux's limit on addresses")
def test_where_no_picture_can_be_drawn_the_numbers_are_written(tmp_path):
    """V8 reserves some hundred GB of addresses, and ends its process where it may not."""
    table, page = tmp_path / "curve.csv", tmp_path / "curve.html"
    argv = ["curve", "teaching/de-en", "--naturalness", "critic", "-o", table, "--html", page]
    limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (16 * 2**30,) * 2)  # noqa: E731
    done = subprocess.run(
        [sys.executable, "-m", "anhelpers", *map(str, argv)],
        capture_output=True,
        text=True,
        preexec_fn=limit,
    )
    assert done.returncode == 0, done.stderr
    assert len(table.read_text().splitlines()) > 50
    assert "curve.html is not written, the vertices are: no picture" in done.stderr
    assert "Traceback" not in done.stderr
    assert sorted(p.name for p in tmp_path.iterdir()) == ["curve.csv", "curve.csv.made"]
