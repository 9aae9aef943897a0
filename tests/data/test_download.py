"""One file from a server that cuts, stalls, lies and refuses."""

import contextlib
import errno
import hashlib
import os
import socket
import subprocess
import sys
import threading
import time
from dataclasses import replace
from email.utils import formatdate
from pathlib import Path

import pytest

from anhelpers.data import fetch as downloading
from anhelpers.data.fetch import Patience, download
from anhelpers.data.manifest import RemoteFile
from anhelpers.errors import AnhelpersError, DataError

TEXT = bytes(range(256)) * 1200  # 300 kB, several blocks
QUICK = Patience(timeout=0.3, attempts=3, pause=0.001, longest=0.01)


@pytest.fixture
def get(server, row_of, tmp_path):
    """Download TEXT from the server; get.said has what was told, get.target the file."""

    def call(row: RemoteFile | None = None, patience: Patience = QUICK):
        download(
            f"{server.url}/a.txt",
            call.target,
            row or row_of(TEXT),
            say=call.said.append,
            patience=patience,
        )

    server.files["/a.txt"] = TEXT
    call.target, call.said = tmp_path / "cache" / "set" / "a.txt", []
    call.parts = lambda: sorted(path.name for path in call.target.parent.glob(".*"))
    return call


def test_a_file_arrives_whole_and_alone(server, get):
    get()
    assert get.target.read_bytes() == TEXT
    assert (get.parts(), server.ranges, get.said) == ([], [None], [])


@pytest.mark.parametrize("fault", ["cut", "stall"])
@pytest.mark.parametrize("unknown", [{}, {"size": None, "sha256": ""}], ids=["sha256", "blob id"])
def test_a_cut_or_stalled_download_goes_on_where_it_stopped(server, get, row_of, fault, unknown):
    server.faults = [fault]
    get(replace(row_of(TEXT), **unknown))
    assert get.target.read_bytes() == TEXT
    assert server.ranges == [None, f"bytes={len(TEXT) // 2}-"]
    why = (
        "nothing came for 0.3 s"
        if fault == "stall"
        else "ended the connection after 153,600 of 307,200 bytes"
    )
    assert len(get.said) == 1
    assert why in get.said[0]
    assert "again in 0 s (2 of 3)" in get.said[0]


def test_a_server_without_ranges_is_asked_for_all_of_it(server, get):
    server.faults = ["cut", "no range"]
    get()
    assert get.target.read_bytes() == TEXT
    assert server.ranges == [None, f"bytes={len(TEXT) // 2}-"]


def test_a_range_from_elsewhere_is_not_trusted(server, get):
    server.faults = ["cut", "elsewhere"]
    get()
    assert get.target.read_bytes() == TEXT
    assert server.ranges == [None, f"bytes={len(TEXT) // 2}-", None]


def test_an_answer_without_a_length_is_read_to_its_end(server, get):
    server.faults = ["no length"]
    get()
    assert get.target.read_bytes() == TEXT


@pytest.mark.parametrize("part", [b"x" * 100, TEXT + b"x"], ids=["wrong", "too long"])
def test_a_bad_part_is_thrown_away_and_costs_one_attempt(server, get, part):
    get.target.parent.mkdir(parents=True)
    get.target.with_name(".a.txt.part").write_bytes(part)
    get()
    assert get.target.read_bytes() == TEXT
    assert server.ranges == [f"bytes={len(part)}-", None]
    assert get.parts() == []


def test_a_whole_part_needs_no_request(server, get):
    get.target.parent.mkdir(parents=True)
    get.target.with_name(".a.txt.part").write_bytes(TEXT)
    get()
    assert get.target.read_bytes() == TEXT
    assert server.ranges == []


def test_wrong_bytes_leave_the_old_file_and_no_part(server, get):
    get.target.parent.mkdir(parents=True)
    get.target.write_bytes(b"old")
    server.faults = ["wrong"]
    seen, wanted = (hashlib.sha256(b).hexdigest() for b in (TEXT[:-1] + b"!", TEXT))
    with pytest.raises(
        DataError, match=rf"/a\.txt has sha256 {seen}, {wanted} is wanted; a proxy may .*\.$"
    ):
        get()
    assert get.target.read_bytes() == b"old"
    assert get.parts() == []
    get()
    assert get.target.read_bytes() == TEXT


def test_a_missing_file_is_told_at_once_with_its_address(server, get):
    server.files.clear()
    with pytest.raises(
        AnhelpersError,
        match=rf"there is no file at {server.url}/a\.txt \(HTTP 404\); .*ANHELPERS_DATA",
    ):
        get()
    assert len(server.ranges) == 1
    server.faults = ["403"]
    with pytest.raises(AnhelpersError, match="is refused \\(HTTP 403 Forbidden\\)"):
        get()


@pytest.mark.parametrize(("header", "at_least"), [("7", 7), ("", 0), (None, 3), ("soon", 0)])
def test_a_busy_server_is_given_the_time_it_asks_for(server, get, monkeypatch, header, at_least):
    slept = []
    monkeypatch.setattr(downloading.time, "sleep", slept.append)
    server.faults = [
        f"503 {formatdate(time.time() + 5, usegmt=True) if header is None else header}"
    ]
    get(patience=replace(QUICK, longest=10))
    assert get.target.read_bytes() == TEXT
    assert len(slept) == 1
    assert at_least <= slept[0] <= 10
    assert "answers 503 Service Unavailable; again in" in get.said[0]


def test_a_server_that_asks_for_too_long_is_not_waited_for(server, get):
    server.faults = ["429 3600"]
    with pytest.raises(
        AnhelpersError,
        match=r"answers 429 Too Many Requests, and asks to wait 3600 s \(attempt 1\)",
    ):
        get()
    assert len(server.ranges) == 1


def test_pauses_double_and_end(server, get, monkeypatch):
    slept = []
    monkeypatch.setattr(downloading.time, "sleep", slept.append)
    server.faults = ["500"] * 9
    with pytest.raises(
        AnhelpersError, match=r"answers 500 .* \(attempt 6\); run the same command again later"
    ):
        get(patience=Patience(attempts=6, pause=1, longest=6))
    assert len(server.ranges) == 6
    for pause, most in zip(slept, [1, 2, 4, 6, 6], strict=True):
        assert most / 2 <= pause <= most


def test_no_network_is_one_sentence_at_once(get, monkeypatch):
    def unreachable(*args, **kwargs):
        raise fault

    for fault in (
        socket.gaierror(socket.EAI_NONAME, "Name or service not known"),
        ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused"),
        OSError(errno.ENETUNREACH, "Network is unreachable"),
    ):
        monkeypatch.setattr(socket, "create_connection", unreachable)
        with pytest.raises(
            AnhelpersError,
            match=rf"no network reaches 127\S+ \({fault.strerror}\); .*ANHELPERS_DATA",
        ):
            get()
        assert get.said == []  # no second attempt
    fault = TimeoutError("timed out")
    with pytest.raises(
        AnhelpersError, match=r"no network reaches 127\S+ \(nothing came for 0.3 s\) \(attempt 3\)"
    ):
        get()


class SmallDisk:
    """A file opened for writing on a disk with little room."""

    def __init__(self, file, room: int):
        self.file, self.room = file, room

    def __enter__(self):
        return self

    def __exit__(self, *args):
        self.file.close()

    def fileno(self):
        return self.file.fileno()

    def write(self, block):
        self.file.write(block[: self.room])
        self.room -= len(block)
        if self.room < 0:
            raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_disk_is_told_and_what_fits_is_kept(server, get, monkeypatch):
    path_open = Path.open
    monkeypatch.setattr(
        Path,
        "open",
        lambda p, mode: (
            SmallDisk(path_open(p, mode), 100_000) if mode == "wb" else path_open(p, mode)
        ),
    )
    with pytest.raises(
        DataError, match=r"cache/set: the disk is full; free some space, or set ANHELPERS_CACHE"
    ):
        get()
    assert not get.target.exists()
    assert get.parts() == [".a.txt.part"]
    monkeypatch.setattr(Path, "open", path_open)
    get()
    assert get.target.read_bytes() == TEXT
    assert server.ranges == [None, "bytes=100000-"]


def test_a_folder_that_cannot_be_written_is_told(get, tmp_path):
    (tmp_path / "cache").write_text("a file where the folder should be")
    with pytest.raises(
        DataError, match=r"cache/set: cannot be written \(.*\); set ANHELPERS_CACHE to a folder"
    ):
        get()


def test_an_interrupted_download_is_continued_by_the_next(server, get, monkeypatch):
    real, reads = downloading._read, []

    def interrupted(*args):
        reads.append(1)
        if len(reads) == 3:
            raise KeyboardInterrupt
        return real(*args)

    monkeypatch.setattr(downloading, "_read", interrupted)
    with pytest.raises(KeyboardInterrupt):
        get()
    assert not get.target.exists()
    assert get.parts() == [".a.txt.part"]
    kept = get.target.with_name(".a.txt.part").read_bytes()
    assert 0 < len(kept) < len(TEXT)
    assert TEXT.startswith(kept)
    get()
    assert get.target.read_bytes() == TEXT
    assert server.ranges == [None, f"bytes={len(kept)}-"]


def test_an_answer_of_another_size_is_refused_before_it_is_read(server, get, row_of):
    server.files["/a.txt"] = TEXT * 30
    with pytest.raises(
        DataError, match=r"/a\.txt has 9,216,000 bytes or more, 307,200 are wanted; a proxy may"
    ):
        get()
    assert get.parts() == []


@pytest.mark.parametrize("size", [len(TEXT), None], ids=["known", "not known"])
def test_an_endless_answer_ends_at_the_size_that_is_wanted(server, get, row_of, monkeypatch, size):
    """Its server tells no length and sends for ever; what was written is gone."""
    monkeypatch.setattr(downloading, "MOST_BYTES", 400_000)
    written = []
    server.faults = ["endless"]
    monkeypatch.setattr(
        downloading, "progress", lambda *_: contextlib.nullcontext(lambda n: written.append(n))
    )
    wanted = "307,200 are wanted" if size else "at most 400,000 are wanted"
    with pytest.raises(DataError, match=wanted):
        get(replace(row_of(TEXT), size=size))
    assert sum(written) < 500_000
    assert get.parts() == []


def test_a_server_that_drips_is_left_and_the_rest_comes_from_another_attempt(server, get):
    server.faults = ["drip"]
    get(patience=replace(QUICK, timeout=0.2, least=2000.0))
    assert get.target.read_bytes() == TEXT
    assert "bytes a second" in get.said[0]
    assert server.ranges[1] is not None


def test_the_part_of_a_killed_process_of_this_machine_is_continued_at_once(server, get):
    code = (
        "import sys; from pathlib import Path; from anhelpers.data import fetch; "
        "mine = fetch._claim(Path(sys.argv[1])); mine.write_bytes(b'0123'); print(mine.name)"
    )
    get.target.parent.mkdir(parents=True)
    done = subprocess.run(
        [sys.executable, "-c", code, str(get.target)], capture_output=True, text=True, check=True
    )
    left = get.target.parent / done.stdout.strip()
    assert left.exists()
    left.write_bytes(TEXT[:11])
    get()
    assert server.ranges == ["bytes=11-"]
    assert get.parts() == []
    assert get.target.read_bytes() == TEXT


def test_two_runs_at_once_do_not_mix_their_bytes(server, get):
    server.faults, errors = ["slow"] * 4, []

    def run():
        try:
            get(patience=replace(QUICK, timeout=5))
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert get.target.read_bytes() == TEXT
    assert (get.parts(), server.ranges) == ([], [None] * 4)


def test_the_part_of_a_killed_run_is_taken_over_once_nobody_writes_it(server, get):
    get.target.parent.mkdir(parents=True)
    fresh, dead = (get.target.with_name(f".a.txt.elsewhere-{c * 8}.part") for c in "ab")
    fresh.write_bytes(TEXT[:5])
    dead.write_bytes(TEXT[:7])
    os.utime(dead, (time.time() - 7200,) * 2)
    get()
    assert server.ranges == ["bytes=7-"]
    assert get.parts() == [fresh.name]
    released = get.target.with_name(".a.txt.part")
    released.write_bytes(TEXT[:9])
    os.utime(released, (time.time() - 7200,) * 2)
    mine = downloading._claim(get.target)
    assert mine.stat().st_size == 9
    # a claimed part is nobody else's, however old
    assert downloading._claim(get.target) not in (mine, fresh)
    assert mine.exists()
