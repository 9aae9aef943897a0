"""The score store beside a dictionary, under several threads and processes, and on files that will not do."""

import os
import pickle
import sqlite3
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anhelpers.errors import DataError
from anhelpers.scoring import opening
from anhelpers.scoring import store as module
from anhelpers.scoring.opening import APPLICATION
from anhelpers.scoring.store import Store, key

BITS = st.integers(0, 2**64 - 1)  # any float64 at all: -0.0, subnormals, every kind of nan
KEYS = st.integers(0, 7).map(lambda i: key(str(i)))
PUT = st.tuples(
    st.just("put"),
    st.sampled_from(["chrf|a", "lpp|b"]),
    st.lists(st.tuples(KEYS, BITS, BITS), max_size=6),
)
GET = st.tuples(
    st.just("get"), st.sampled_from(["chrf|a", "lpp|b", "new"]), st.lists(KEYS, max_size=9)
)


def floats(bits) -> np.ndarray:
    return np.array(bits, np.uint64).view(np.float64)


def run(code: str, *arguments, **options) -> subprocess.Popen:
    """A fresh interpreter, as multiprocessing's spawn gives one."""
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)], text=True, **options
    )


@settings(max_examples=60, deadline=None)
@given(st.lists(PUT | GET | st.just(("reopen",)), max_size=12))
def test_any_sequence_of_puts_and_gets_equals_a_dictionary(steps):
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder, "s.sqlite")) as store:
        known: dict = {}
        for step in steps:
            if step[0] == "reopen":
                store.close()
            elif step[0] == "put":
                _, signature, rows = step
                values = floats([b for _, *b in rows]).reshape(len(rows), 2)
                store.put(signature, [k for k, *_ in rows], values)
                for one, value in zip([k for k, *_ in rows], values, strict=True):
                    known.setdefault((signature, one), value.tobytes())
            else:
                _, signature, keys = step
                values, there = store.get(signature, keys, 2)
                assert values.shape == (len(keys), 2)
                assert there.tolist() == [(signature, k) in known for k in keys]
                assert [v.tobytes() for v in values[there]] == [
                    known[signature, k] for k in keys if (signature, k) in known
                ]
                assert np.isnan(values[~there]).all()


@given(
    st.lists(st.text(alphabet="ab:1 ", max_size=4), max_size=4),
    st.lists(st.text("ab:1 ", max_size=4), max_size=4),
)
def test_a_key_stands_for_one_list_of_texts(one, other):
    assert (key(*one) == key(*other)) == (one == other)


def test_a_key_is_the_same_on_every_machine_and_takes_any_text():
    # printf '8:Das Haus9:the house' | b2sum -l 128
    assert key("Das Haus", "the house").hex() == "4a3ababa62c77b45209bcea64a68e54f"
    assert len(key("\ud800")) == 16  # a lone surrogate, as a damaged file may hold


def test_more_keys_than_a_query_takes(tmp_path):
    store, n = Store(tmp_path / "s.sqlite"), 2 * module.KEYS_PER_QUERY + 1
    keys = [key(str(i)) for i in range(n)]
    store.put("s", keys[::2], np.arange(0, n, 2))
    values, there = store.get("s", [*keys, keys[0]])
    assert there.tolist() == [*(i % 2 == 0 for i in range(n)), True]
    assert values[there, 0].tolist() == [*range(0, n, 2), 0]


def test_no_keys_at_all(tmp_path):
    store = Store(tmp_path / "s.sqlite")
    store.put("s", [], np.empty((0, 3)))
    assert store.get("s", [], 3)[0].shape == (0, 3)
    assert store.get("s", [], 5)[0].shape == (0, 5)  # nothing was kept, not even the width


def test_a_signature_has_one_width(tmp_path):
    store = Store(tmp_path / "s.sqlite")
    store.put("lpp", [key("a")], np.ones((1, 3)))
    with pytest.raises(
        DataError,
        match=r"a score of lpp is 3 numbers here, and 1 are meant.*store prune --signature",
    ):
        store.get("lpp", [key("a")])
    with pytest.raises(DataError, match="3 numbers here, and 2 are meant"):
        store.put("lpp", [key("b")], np.ones((1, 2)))
    for values in (np.ones((2, 3)), np.ones((1, 0)), np.ones((1, 1, 1))):
        with pytest.raises(DataError, match=r"1 keys and scores of shape .* do not fit"):
            store.put("lpp", [key("b")], values)
    assert not store.get("lpp", [key("b")], 3)[1].any()


def test_a_file_that_is_no_store_is_told(tmp_path):
    (tmp_path / "text").write_text("system,score\n" * 100, encoding="utf-8")
    with sqlite3.connect(tmp_path / "other") as other:
        other.execute("CREATE TABLE t (x)")
    with sqlite3.connect(tmp_path / "newer") as newer:
        newer.execute(f"PRAGMA application_id = {APPLICATION}")
        newer.execute("PRAGMA user_version = 7")
    told = {
        "text": "text: is no SQLite file, so no score store; name another file",
        "other": "other: is an SQLite file of another program; name another file",
        "newer": "newer: is a score store of version 7, and this anhelpers knows up to 2; update anhelpers",
        "": "is a folder; name a file in it",
        "text/s.sqlite": "s.sqlite: cannot be made (File exists); name another file",
    }
    for name, sentence in told.items():
        with pytest.raises(DataError) as caught:
            Store(tmp_path / name).get("s", [])
        assert sentence in str(caught.value)
    assert (tmp_path / "text").read_text(encoding="utf-8").startswith("system")


def test_a_damaged_file_is_told(tmp_path):
    path = tmp_path / "s.sqlite"
    keys = [key(str(i)) for i in range(2000)]
    with Store(path) as store:
        store.put("s", keys, np.zeros(2000))
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * (path.stat().st_size - 4096))
    with pytest.raises(DataError, match=r"s\.sqlite: is damaged, .*; move it away"):
        Store(path).get("s", keys)


def test_a_locked_file_is_told_after_waiting(tmp_path, monkeypatch):
    monkeypatch.setattr(opening, "BUSY_SECONDS", 0.05)
    store = Store(tmp_path / "s.sqlite")
    store.put("s", [key("a")], [1.0])
    other = sqlite3.connect(store.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert store.get("s", [key("a")])[0] == 1  # reading goes on
    with pytest.raises(
        DataError, match=r"s\.sqlite: has been locked by another program for 30 s; wait for it"
    ):
        store.put("s", [key("b")], [2.0])
    other.execute("ROLLBACK")
    store.put("s", [key("b")], [2.0])
    assert store.get("s", [key("b")])[0] == 2


def test_a_full_disk_is_told_and_what_was_committed_is_kept(tmp_path):
    store, keys = Store(tmp_path / "s.sqlite"), [key(str(i)) for i in range(5000)]
    store.put("s", keys[:10], np.arange(10))
    with store.connection() as connection:
        connection.execute("PRAGMA max_page_count = 20")  # SQLite's own way to run out of space
    with pytest.raises(
        DataError, match=r"does not fit on the disk; free some space .* what was committed is kept"
    ):
        store.put("s", keys, np.zeros(5000))
    values, there = store.get("s", keys)
    assert there.sum() == 10
    assert values[:10, 0].tolist() == [*range(10)]


def test_a_file_system_without_a_log_is_told(tmp_path, monkeypatch):
    real = sqlite3.connect

    def without_shared_memory(path, **options):
        return real(f"file:{path}?vfs=unix-dotfile", uri=True, **options)

    monkeypatch.setattr(opening.sqlite3, "connect", without_shared_memory)
    with pytest.raises(
        DataError, match=r"write-ahead log \(SQLite says 'delete'\), as on network file systems"
    ):
        Store(tmp_path / "s.sqlite").get("s", [])


UNPRIVILEGED = """
import os, sys
import numpy as np
from anhelpers.errors import DataError
from anhelpers.scoring.store import Store, key
if os.geteuid() == 0:
    os.setgid(65534), os.setuid(65534)
for path in sys.argv[1:]:
    try:
        Store(path).put("s", [key("b")], [1.0])
    except DataError as error:
        print(error)
"""


@pytest.mark.skipif(os.name != "posix", reason="file modes are POSIX")
def test_a_folder_or_file_without_the_right_to_write_is_told():
    with tempfile.TemporaryDirectory() as folder:
        for name in ("file", "folder"):
            with Store(Path(folder, name, "s.sqlite")) as store:
                store.put("s", [key("a")], [1.0])
        os.chmod(folder, 0o755)
        Path(folder, "file", "s.sqlite").chmod(0o444)
        Path(folder, "file").chmod(0o777)
        Path(folder, "folder", "s.sqlite").chmod(0o666)
        Path(folder, "folder").chmod(0o555)
        paths = [
            Path(folder, p)
            for p in ("file/s.sqlite", "folder/s.sqlite", "folder/new.sqlite", "folder/a/b")
        ]
        said = run(UNPRIVILEGED, *paths, stdout=subprocess.PIPE).communicate()[0].splitlines()
        Path(folder, "folder").chmod(0o755)
    assert len(said) == 4
    for path, sentence in zip(paths, said, strict=True):
        assert sentence.startswith(f"{path}: cannot be ")
        assert "writable" in sentence or "(Permission denied)" in sentence


def test_every_thread_has_its_own_connection_and_a_store_can_be_pickled(tmp_path):
    store, failed = pickle.loads(pickle.dumps(Store(tmp_path / "s.sqlite"))), []
    assert store == Store(tmp_path / "s.sqlite")

    def work(t: int) -> None:
        try:
            for i in range(20):
                keys = [key(str(i)), key(str(t), str(i))]
                store.put("s", keys, [i, t])
                assert store.get("s", keys)[0][:, 0].tolist() == [i, t]
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=[t]) for t in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    with store.connection() as connection:
        assert connection.execute("SELECT COUNT(*) FROM score").fetchone() == (20 + 4 * 20,)


def test_many_may_make_the_file_at_once(tmp_path):
    failed = []

    def work(path: Path, start: threading.Barrier) -> None:
        try:
            start.wait()
            Store(path).put("s", [key(path.name)], [1.0])
        except BaseException as error:
            failed.append(error)

    for i in range(15):
        start = threading.Barrier(4)
        threads = [threading.Thread(target=work, args=[tmp_path / str(i), start]) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not failed


FORK = """
import os, sys
from anhelpers.scoring.store import Store, key
store = Store(sys.argv[1])
store.put("s", [key("a")], [1.0])
child = os.fork()
if child == 0:
    store.put("s", [key("b")], [2.0])
    ok = store.get("s", [key("a"), key("b")])[0][:, 0].tolist() == [1, 2]
    store.close()
    os._exit(0 if ok else 1)
status = os.waitpid(child, 0)[1]
store.put("s", [key("c")], [3.0])
print(status, store.get("s", [key("a"), key("b"), key("c")])[0][:, 0].tolist())
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_store_in_use_survives_a_fork(tmp_path):
    assert (
        run(FORK, tmp_path / "s", stdout=subprocess.PIPE).communicate()[0] == "0 [1.0, 2.0, 3.0]\n"
    )


WRITER = """
import sys
from anhelpers.scoring.store import Store, key
path, me = sys.argv[1], float(sys.argv[2])
store = Store(path)
for start in range(0, 1000, 20):
    store.put("s", [key(str(i)) for i in range(start, start + 20)], [[i, me] for i in range(start, start + 20)])
"""
READER = """
import sys
from anhelpers.scoring.store import Store, key
store, keys, seen = Store(sys.argv[1]), [key(str(i)) for i in range(1000)], -1
while seen < 1000:
    values, there = store.get("s", keys, 2)
    assert (values[there, 0] == there.nonzero()[0]).all()
    assert there.sum() >= seen and there.sum() % 20 == 0, "a transaction is seen whole, and stays"
    seen = there.sum()
"""


def test_two_processes_read_while_two_write_and_nobody_fails(tmp_path):
    path = tmp_path / "s.sqlite"  # made by whoever comes first
    running = [run(READER, path), run(READER, path), run(WRITER, path, 1), run(WRITER, path, 2)]
    assert [process.wait(60) for process in running] == [0] * 4
    store = Store(path)
    values, there = store.get("s", [key(str(i)) for i in range(1000)], 2)
    assert there.all()
    assert (values[:, 0] == range(1000)).all()
    assert set(values[:, 1]) <= {1.0, 2.0}
    with store.connection() as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert connection.execute("SELECT COUNT(*) FROM score").fetchone() == (1000,)
