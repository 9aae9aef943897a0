"""Ctrl-C, SIGTERM, kill -9 and a second run beside the first, for the commands that take long: real processes."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from anhelpers.data.fetch import bundled
from anhelpers.scoring.store import Store, key

pytest.importorskip("torch", reason="pip install -c constraints.txt -e '.[neural]'")
pytest.importorskip("transformers", reason="pip install -c constraints.txt -e '.[neural]'")
nbformat = pytest.importorskip(
    "nbformat", reason="pip install -c constraints.txt -e '.[notebooks]'"
)

pytestmark = [
    pytest.mark.neural,
    pytest.mark.skipif(os.name != "posix", reason="signals are POSIX"),
]

SERVER = """
import contextlib, json, os, signal, sys
import papermill, torch, transformers
from anhelpers import cli
for line in sys.stdin:
    job = json.loads(line)
    if "wait" in job:
        print(os.waitstatus_to_exitcode(os.waitpid(job["wait"], 0)[1]), flush=True)
    elif job["here"]:
        os.chdir(job["folder"])
        exec(job["setup"])
        with open(job["log"], "w") as log, contextlib.redirect_stdout(log), contextlib.redirect_stderr(log):
            status = cli.main(job["argv"])
        print(-status, flush=True)
    elif pid := os.fork():
        print(pid, flush=True)
    else:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.chdir(job["folder"])
        os.dup2(os.open(job["log"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1), os.dup2(1, 2)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        exec(job["setup"])
        sys.exit(cli.main(job["argv"]))
"""
"""Becomes a command on order; what it runs here, once, loads all that is heavy for those to come."""


class Command:
    """A command that runs in a process of its own."""

    def __init__(
        self, server: subprocess.Popen, folder: Path, argv, setup: str, log: str, here: bool
    ):
        self.server, self.log = server, folder / log
        self.log.unlink(missing_ok=True)
        self.pid = self._asked(
            argv=[*map(str, argv)], folder=str(folder), setup=setup, log=str(self.log), here=here
        )

    def _asked(self, **job) -> int:
        print(json.dumps(job), file=self.server.stdin, flush=True)
        return int(self.server.stdout.readline())

    def send(self, number: int) -> None:
        os.kill(self.pid, number)

    def status(self) -> int:
        return self._asked(wait=self.pid) if self.pid > 0 else -self.pid

    def text(self) -> str:
        return self.log.read_text("utf-8") if self.log.exists() else ""


def until(condition, what: str) -> None:
    deadline = time.monotonic() + 90
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.005)


@pytest.fixture(scope="module")
def server():
    threads = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    with subprocess.Popen(
        [sys.executable, "-c", SERVER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | threads,
    ) as process:
        yield process
        process.stdin.close()


@pytest.fixture
def start(server, tmp_path):
    def started(argv, setup="", log="log", here=False) -> Command:
        return Command(server, tmp_path, argv, setup, log, here)

    return started


SMALL = """
from dataclasses import replace
import anhelpers.training.lm as train
small = train.LmRecipe(language="de", vocab_size=280, width=8, layers=1, heads=1, max_tokens=32, epochs=4, held_out=2)
train.LmRecipe = lambda **chosen: replace(small, **chosen)
"""
STUCK = """
import time
def stuck(function, calls=[]):
    return lambda *a: (calls.append(a), time.sleep(600 * (len(calls) > {n})), function(*a))[2]
"""
"""A function that never comes back from its call n + 1: how a command is caught in the middle of its work."""


SWALLOWED = """
import os, signal, sys, time
from anhelpers.cli.stopping import stoppable
class Cleared:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0.1)
began = time.monotonic()
try:
    with stoppable():
        try:
            Cleared()  # Python ignores what is raised there
            time.sleep(60)
        finally:
            time.sleep(5)  # the way out, during which it is told again, and goes on
            print("out")
except KeyboardInterrupt:
    print(type(sys.exc_info()[1]).__name__, time.monotonic() - began < 20)
print(signal.getsignal(signal.SIGTERM) == signal.SIG_DFL)
"""


@pytest.mark.skipif(os.name != "posix", reason="Windows has no such signal")
def test_who_is_told_to_end_where_python_ignores_it_ends_nevertheless():
    done = subprocess.run([sys.executable, "-c", SWALLOWED], capture_output=True, text=True)
    assert done.stdout.split() == ["out", "Terminated", "True", "True"], done.stderr
    assert "Exception ignored in" in done.stderr


@pytest.fixture
def text(tmp_path):
    (tmp_path / "t.txt").write_text("".join(f"Zeile {i} steht hier.\n" for i in range(12)), "utf-8")
    return ["train-lm", "t.txt", "m", "--lang", "de"]


def model(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_training_is_stopped_and_goes_on_to_the_same_bits(start, text, tmp_path):
    assert start([*text[:2], "whole", *text[3:]], SMALL, here=True).status() == 0
    for number, status in (signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -9):
        run = start(
            text, SMALL + STUCK.format(n=1) + "train._held_out_loss = stuck(train._held_out_loss)"
        )
        until((tmp_path / "m.partial" / "state.pt").exists, "an epoch")
        if number == signal.SIGINT:
            second = start(text, SMALL, "second")
            assert second.status() == 2
            assert second.text().count("\n") == 1
            assert "m.partial: another process is training into it; wait for it" in second.text()
        run.send(number)
        assert run.status() == status
        assert "Traceback" not in run.text()
        if status > 0:
            assert (
                "note: training is kept in m.partial up to its last save; the same command goes on"
                in run.text()
            )
        assert not (tmp_path / "m").exists()
        # as if it had been killed while it wrote the model
        (tmp_path / "m.partial" / "model").mkdir()
        (tmp_path / "m.partial" / "model" / "model.safetensors").write_bytes(b"a part")
        again = start(text, SMALL)
        assert again.status() == 0, again.text()
        assert "resumed after step" in again.text()
        assert model(tmp_path / "m") == model(tmp_path / "whole")
        assert sorted(path.name for path in tmp_path.glob("m*")) == ["m"]
        os.rename(tmp_path / "m", tmp_path / f"done-{status}")


LIMIT = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))\n"


def test_training_without_room_keeps_what_it_has(start, text, tmp_path):
    run = start(text, SMALL + LIMIT)
    assert run.status() == 2
    assert (
        "anhelpers train-lm: m.partial/state.pt: cannot be written (File too large); free some space"
        in run.text()
    )
    assert not list((tmp_path / "m.partial").iterdir())
    stopped = "train._write = lambda *a: (_ for _ in ()).throw(KeyboardInterrupt)\n"
    assert start(text, SMALL + stopped).status() == 130
    run = start(text, SMALL + LIMIT)  # all is trained, and the model does not fit
    assert run.status() == 2, run.text()
    assert "Traceback" not in run.text()
    assert "space" in run.text().splitlines()[-1]
    assert not (tmp_path / "m").exists()
    (tmp_path / "t.txt").write_text("".join(f"Anders {i} steht da.\n" for i in range(12)), "utf-8")
    run = start(text, SMALL)
    assert run.status() == 2
    assert (
        "m.partial: holds the state of other text or options; delete it, or name another folder."
        in run.text()
    )
    (tmp_path / "m.partial" / "state.pt").write_bytes(b"half a file")
    run = start(text, SMALL)
    assert run.status() == 2
    assert (
        "state.pt: is damaged, or of another version, so training cannot go on from it; delete it"
        in run.text()
    )


def test_drawing_is_stopped_and_goes_on_to_the_same_bytes(start, tiny_marian, tmp_path):
    (tmp_path / "src").write_text("".join(f"The dog sees {i} cats.\n" for i in range(8)), "utf-8")
    argv = [
        "generate",
        "--model",
        tiny_marian / "mt",
        "-s",
        "src",
        "-n",
        "9",
        "--max-tokens",
        "9",
        "-o",
    ]
    slowly = (
        STUCK.format(n=2)
        + "from anhelpers.candidates import resume; resume._line = stuck(resume._line)"
    )
    assert start([*argv, "whole.jsonl"], here=True).status() == 0
    partial = tmp_path / "c.jsonl.partial"
    for number, status in (signal.SIGINT, 130), (signal.SIGTERM, 143):
        have = partial.read_bytes().count(b"\n") if partial.exists() else 1
        run = start([*argv, "c.jsonl"], slowly)
        until(
            lambda have=have: partial.exists() and partial.read_bytes().count(b"\n") == have + 2,
            "two lines",
        )
        if number == signal.SIGINT:
            second = start([*argv, "c.jsonl"], log="second")
            assert second.status() == 2
            assert "another process is drawing into it; wait for that one." in second.text()
        run.send(number)
        assert run.status() == status
        assert (
            "what is finished is in c.jsonl.partial; the same command goes on from there."
            in run.text()
        )
        assert "Traceback" not in run.text()
        assert not (tmp_path / "c.jsonl").exists()
    last = start([*argv, "c.jsonl"])
    assert last.status() == 0
    assert "note: 4 of 8 sources were there already." in last.text()
    assert (tmp_path / "c.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    assert not partial.exists()


def scores_in(store: Path) -> int:
    try:
        with sqlite3.connect(f"file:{store}?mode=ro", uri=True) as connection:
            return connection.execute("SELECT COUNT(*) FROM score").fetchone()[0]
    except sqlite3.Error:
        return 0


SLOW_CALLS = f"""{STUCK.format(n=1)}
from anhelpers.scoring import memo
memo.SECONDS_BETWEEN_COMMITS, memo._fitting = 0.0, stuck(memo._fitting)
"""
SCORES = {
    "score": (["score", "-s", "src", "-t", "A=trg", "--segments", "-o"], "lm"),
    "xmi": (
        ["xmi", "-s", "src", "-t", "trg", "--draws", "9", "--save-scores", "scores.jsonl", "-o"],
        "mt",
    ),
}


@pytest.mark.parametrize("name", SCORES)
def test_scoring_is_stopped_and_goes_on_to_the_same_table(
    name, start, tiny_lm, tiny_marian, tmp_path
):
    n = 600
    (tmp_path / "src").write_text("".join(f"The dog sees {i} cats.\n" for i in range(n)), "utf-8")
    (tmp_path / "trg").write_text(
        "".join(f"Der Hund sieht {i} Katzen.\n" for i in range(n)), "utf-8"
    )
    argv, kind = SCORES[name]
    models = (
        ["--lm", tiny_lm]
        if kind == "lm"
        else ["--mt", tiny_marian / "mt", "--lm", tiny_marian / "lm"]
    )
    assert start([*argv, "whole.csv", *models, "--store", "off"], here=True).status() == 0

    def kept() -> int:
        return scores_in(tmp_path / "s")

    for number, status in (signal.SIGINT, 130), (signal.SIGKILL, -9):
        before, run = kept(), start([*argv, "x.csv", *models, "--store", "s"], SLOW_CALLS)
        until(lambda before=before: kept() > before, "a score")
        run.send(number)
        assert run.status() == status
        assert "Traceback" not in run.text()
        if status > 0:
            *_, kept_in, last = run.text().splitlines()
            assert last == f"anhelpers {name}: interrupted."
            assert (
                kept_in == "note: what was computed is kept in s; the same command goes on there."
            )
        assert not (tmp_path / "x.csv").exists()
        assert kept() < n * (2 if kind == "mt" else 1)
    # both into one store
    runs = [start([*argv, f"{i}.csv", *models, "--store", "s"], "", f"log{i}") for i in range(2)]
    for i, run in enumerate(runs):
        assert run.status() == 0, run.text()
        assert (tmp_path / f"{i}.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()


CAUGHT = """
import time
n, calls = 0, []
{caught}
def slow(*a, _first=getattr(place, name), **k):
    calls.append(a)
    if len(calls) > n:
        open("../here", "w").close(), time.sleep(600)
    return _first(*a, **k)
setattr(place, name, slow)
"""
MIDDLE = {
    "plane": (
        ["plane", "--data", "teaching/de-en", "--naturalness", "critic", "--draws", "20"],
        ["-o", "out"],
        "import anhelpers.plane as place; name = 'paired_tests'",
    ),
    "curve": (
        ["curve", "teaching/de-en", "--naturalness", "critic"],
        ["-o", "out/c.csv", "--html", "out/c.html"],
        "from anhelpers.charts import offline as place; name = 'to_svg'",
    ),
    "mqm": (
        ["mqm", "ratings.tsv"],
        ["-o", "out/m.csv"],
        "import anhelpers.mqm as place; name = 'system_table'",
    ),
    "store export": (
        ["store", "export", "--store", "../scores.sqlite"],
        ["out/s.parquet"],
        "import anhelpers.scoring.upkeep as place; name = '_table'; place.ROWS_PER_GROUP = 4; n = 2",
    ),
}
"""Command, its output, a function in the middle of its work, and n, how many of its calls come back."""


@pytest.mark.parametrize("name", MIDDLE)
def test_killed_in_the_middle_the_older_results_stay_and_a_rerun_is_byte_identical(
    name, server, tmp_path, faults
):
    argv, out, caught = MIDDLE[name]
    folders = tmp_path / "one", tmp_path / "other"
    for folder in folders:
        (folder / "out").mkdir(parents=True)
        shutil.copy(bundled("teaching/de-en/mqm.tsv"), folder / "ratings.tsv")
    store = Store(tmp_path / "scores.sqlite")
    store.put("a", [key(str(i)) for i in range(20)], np.arange(20.0)[:, None])
    store.close()

    def results(folder: Path) -> dict[str, bytes]:
        """But for PDFs, whose library orders its objects by chance."""
        return {p: data for p, data in faults.tree(folder).items() if not p.endswith(".pdf")}

    whole = Command(server, folders[0], [*argv, *out], "", "../log", True)
    assert whole.status() == 0, whole.text()
    older = dict.fromkeys(results(folders[0] / "out"), b"older")
    for path, data in older.items():
        (folders[1] / "out" / path).write_bytes(data)
    setup = CAUGHT.format(caught=caught)
    run = Command(server, folders[1], [*argv, *out], setup, "../log2", False)
    until((tmp_path / "here").exists, f"{caught} to be called: {run.text()}")
    run.send(signal.SIGKILL)
    assert run.status() == -9
    left = results(folders[1] / "out")
    made = results(folders[0] / "out")
    assert {path: data if data != made[path] else b"older" for path, data in left.items()} == older
    again = Command(server, folders[1], [*argv, *out], "", "../log3", True)
    assert again.status() == 0, again.text()
    assert results(folders[1] / "out") == made


@pytest.mark.cluster
@pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="processes are looked up in /proc"
)
def test_killed_while_two_workers_score_the_older_table_stays_and_a_rerun_is_byte_identical(
    start, tiny_lm, tmp_path, faults
):
    pytest.importorskip("distributed", reason="pip install -c constraints.txt -e '.[cluster]'")
    n = 600
    (tmp_path / "src").write_text("".join(f"The dog sees {i} cats.\n" for i in range(n)), "utf-8")
    (tmp_path / "trg").write_text(
        "".join(f"Der Hund sieht {i} Katzen.\n" for i in range(n)), "utf-8"
    )
    score = ["score", "-s", "src", "-t", "A=trg", "--segments", "--lm", tiny_lm, "-o"]
    whole = start([*score, "whole.csv", "--store", "off"])
    assert whole.status() == 0, whole.text()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "x.csv").write_bytes(b"older")
    shared = [*score, "out/x.csv", "--store", "s", "--scheduler", "local:2"]
    watched = f"""{SLOW_CALLS}
from anhelpers.scoring import cluster
def answers(self, *a, _first=cluster.Cluster.answers):
    for one in _first(self, *a):
        pids = [self._client.cluster.workers[i].pid for i in self._client.cluster.workers]
        open("pids", "w").write(" ".join(map(str, pids)))
        yield one
cluster.Cluster.answers, cluster.PER_CHUNK = answers, 64
"""
    run = start(shared, watched)
    until(lambda: scores_in(tmp_path / "s") > 0, f"a score of a worker: {run.text()}")
    run.send(signal.SIGKILL)
    assert run.status() == -9
    workers = [*map(int, (tmp_path / "pids").read_text().split())]
    assert len(workers) == 2
    until(lambda: not any(map(lives, workers)), "the workers to end")
    assert 0 < scores_in(tmp_path / "s") < n
    assert faults.tree(tmp_path / "out") == {"x.csv": b"older"}
    assert not faults.hidden(tmp_path / "out")
    again = start(shared, log="again")
    assert again.status() == 0, again.text()
    assert "of 600 distinct scores come from the store s." in again.text()
    assert (tmp_path / "out" / "x.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()
    assert scores_in(tmp_path / "s") == n


def lives(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


@pytest.mark.notebook
@pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="processes are looked up in /proc"
)
@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -9)]
)
def test_notebooks_are_stopped_with_their_kernels(number, status, start, tmp_path):
    code = "import os, time; open('pid', 'w').write(str(os.getpid())); time.sleep(600)"
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    book.metadata["kernelspec"] = {
        "name": "python3",
        "display_name": "Python 3",
        "language": "python",
    }
    nbformat.write(book, tmp_path / "slow.ipynb")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "slow.html").write_text("before", "utf-8")
    run = start(["run", "slow.ipynb", "--out", "out"])
    pid = tmp_path / "pid"
    until(lambda: pid.exists() and pid.read_text(), "a kernel")
    run.send(number)
    assert run.status() == status
    until(lambda: not lives(int(pid.read_text())), "the kernel to end")
    if status > 0:
        assert "Traceback" not in run.text(), run.text()
        assert (
            "note: 0 of 1 notebooks are done, and kept in out; run the others by name, or all again."
            in run.text()
        )
    until(
        lambda: [path.name for path in (tmp_path / "out").iterdir()] == ["slow.html"],
        "an empty folder",
    )
    assert (tmp_path / "out" / "slow.html").read_text() == "before"


@pytest.mark.notebook
def test_a_notebook_that_is_killed_in_its_middle_leaves_the_older_pages_and_a_rerun_is_byte_identical(
    start, tmp_path, faults
):
    cells = [
        "import os, time\nimport anhelpers as an\nprint(an.load('teaching').srcs[0])",
        "if os.path.exists('stop'): open('here', 'w').close(), time.sleep(600)",
        "print(an.oracle_curve([0, 0, 1], [80, 50, 60], [-4, -1, -2]))",
    ]
    book = nbformat.v4.new_notebook(cells=[*map(nbformat.v4.new_code_cell, cells)])
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    book.metadata["kernelspec"] = kernel
    nbformat.write(book, tmp_path / "own.ipynb")
    for out in ("whole", "out"):
        (tmp_path / out).mkdir()
    whole = start(["run", "own.ipynb", "--out", "whole"])
    assert whole.status() == 0, whole.text()
    made = faults.tree(tmp_path / "whole")
    assert set(made) == {"own.ipynb", "own.html"}
    for name in made:
        (tmp_path / "out" / name).write_bytes(b"older")
    (tmp_path / "stop").touch()
    run = start(["run", "own.ipynb", "--out", "out"])
    until((tmp_path / "here").exists, f"the second cell: {run.text()}")
    run.send(signal.SIGKILL)
    assert run.status() == -9
    until(lambda: not faults.hidden(tmp_path / "out"), "what was begun to be removed")
    assert faults.tree(tmp_path / "out") == dict.fromkeys(made, b"older")
    (tmp_path / "stop").unlink()
    again = start(["run", "own.ipynb", "--out", "out"], log="again")
    assert again.status() == 0, again.text()
    assert faults.tree(tmp_path / "out") == made
